"""Every shared sample of the three formats against ``truth.json``: what providers and tools recorded, nothing else."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from sessions.engine.reading.jsonio import Source
from sessions.engine.transcript.types import Kind
from tests.engine.truth_facts import all_messages, fact, leaves, one_session, parsed, place, sample_names

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Request

pytestmark = pytest.mark.samples

FOLDERS = ("claude-code", "anthropic-api", "learn-claude-code")
EMPTY = {"input": 0, "cache_creation": 0, "cache_read": 0, "output": 0}


def main_and_sidechains(name: str) -> tuple[list[Request], list[Request]]:
    """Requests of the main chain and of sub-agents, each in file order; a sub-agent's own file has only the latter."""
    transcripts = parsed(name).transcripts
    only_sidechains = fact(name, "sidechain_lines") == fact(name, "lines")
    main = [] if only_sidechains else [r for t in transcripts if t.parent_id is None for r in t.requests]
    side = [t for t in transcripts if only_sidechains or t.parent_id is not None]
    placed = [(t.messages[r.message].origins[0].line, r) for t in side for r in t.requests if r.message is not None]
    return main, [request for _, request in sorted(placed, key=lambda pair: pair[0])]


def totals(requests: list[Request]) -> dict[str, int]:
    used = [request.usage for request in requests if request.usage]
    return {
        "input": sum(u.input for u in used),
        "cache_creation": sum(u.cache_write for u in used),
        "cache_read": sum(u.cache_read for u in used),
        "output": sum(u.output for u in used),
    }


@pytest.mark.parametrize("name", sample_names("claude-code"))
@pytest.mark.parametrize("chain", ["main", "sidechain"])
def test_requests_contexts_outputs_and_usage_of_claude_code(name: str, chain: str) -> None:
    expected = fact(name, chain, {"responses": 0, "totals": EMPTY})
    requests = main_and_sidechains(name)[chain == "sidechain"]
    identified = [request for request in requests if request.response_id]

    assert len(identified) == expected["responses"]
    assert [r.usage.context if r.usage else 0 for r in identified] == expected.get("context", [])
    assert [r.usage.output if r.usage else 0 for r in identified] == expected.get("output", [])
    assert totals(requests) == expected["totals"]


@pytest.mark.parametrize("name", sample_names("claude-code"))
def test_requests_are_responses_and_replies_without_an_id(name: str) -> None:
    """No two replies without an id follow each other directly in the samples, so each is a request."""
    n_requests = sum(len(transcript.requests) for transcript in parsed(name).transcripts)
    assert n_requests == fact(name, "responses") + fact(name, "assistant_lines_without_id")
    assert all(r.on_branch for t in parsed(name).transcripts for r in t.requests), "no sample has a real rewind"


@pytest.mark.parametrize("name", sample_names("claude-code"))
def test_models_of_claude_code(name: str) -> None:
    models = Counter(r.model for t in parsed(name).transcripts for r in t.requests if r.response_id)
    assert models == fact(name, "models", {})


@pytest.mark.parametrize("name", sample_names("claude-code"))
def test_tool_calls_and_results_of_claude_code(name: str) -> None:
    calls = [block.call_id for block in leaves(name, Kind.TOOL_USE)]
    results = [block.call_id for block in leaves(name, Kind.TOOL_RESULT)]
    expected = fact(name, "tools")
    assert len(calls) == expected["tool_use"]
    assert len(results) == expected["tool_result"]
    assert sorted(set(calls) - set(results)) == sorted(expected.get("calls_without_result", []))
    assert sorted(set(results) - set(calls)) == sorted(expected.get("results_without_call", []))
    assert sum(t.n_tool_calls for t in parsed(name).transcripts) == expected["tool_use"]


@pytest.mark.parametrize("name", sample_names("claude-code"))
def test_thinking_and_signatures_of_claude_code(name: str) -> None:
    thinking = leaves(name, Kind.THINKING)
    expected = fact(name, "thinking")
    assert len(thinking) == expected["blocks"]
    assert sum(not block.n_chars for block in thinking) == expected["empty"]
    assert sum(block.n_payload for block in thinking) == expected["signature_chars"]


@pytest.mark.parametrize("name", [name for folder in FOLDERS for name in sample_names(folder)])
def test_images_their_sizes_and_base64_lengths(name: str) -> None:
    is_document = name.startswith("anthropic-api/")
    images = [
        (message.index if is_document else message.origins[0].line, leaf.media)
        for message in all_messages(name)
        for leaf in message.leaves()
        if leaf.kind is Kind.IMAGE and leaf.media
    ]
    inline = [(place, media) for place, media in images if media.n_base64]
    assert len(inline) == fact(name, "images", 0)
    assert len(images) - len(inline) == fact(name, "image_links", 0)
    found = [[place, m.media_type, m.n_base64, m.width, m.height] for place, m in inline]
    assert found == fact(name, "image_list", [])
    assert sum(m.n_base64 for _, m in inline) == fact(name, "image_base64_chars", 0)
    assert sum(t.n_images for t in parsed(name).transcripts) == len(images)


@pytest.mark.parametrize("name", sample_names("claude-code"))
def test_what_an_image_cost(name: str) -> None:
    """The context before and after a result with an image, and the output between, stand beside each other."""
    for line, before, output, after, n_between in fact(name, "image_steps", []):
        transcript = parsed(name).transcripts[0]
        message = next(m for m in transcript.messages if any(o.line == line for o in m.origins))
        used = {r.message: r.usage for r in transcript.requests if r.message is not None and r.usage}
        earlier = used[max(index for index in used if index < message.index)]
        later_index = min(index for index in used if index > message.index)
        assert (earlier.context, earlier.output, used[later_index].context) == (before, output, after)
        assert later_index - message.index - 1 == n_between


@pytest.mark.parametrize("name", sample_names("claude-code"))
def test_attachments_and_other_lines_of_claude_code(name: str) -> None:
    attachments = Counter(message.attachment for message in all_messages(name) if message.attachment)
    assert attachments == fact(name, "attachment_types", {})
    unread = [skipped for skipped in parsed(name).skipped if skipped.reason.startswith("not an object")]
    assert len(unread) == fact(name, "non_object_lines", 0)
    twins = fact(name, "tool_use_result")
    notes = [note for note in parsed(name).warnings if "toolUseResult" in note]
    said = [f"Lines with toolUseResult: {twins['lines']:,} ({twins['bytes']:,} bytes)"] if twins["lines"] else []
    assert [note.rpartition(",")[0] for note in notes] == said


@pytest.mark.parametrize("name", sample_names("claude-code"))
def test_compactions_of_claude_code(name: str) -> None:
    expected = fact(name, "compactions", [])
    found = [(t, c) for t in parsed(name).transcripts for c in t.compactions]
    assert len(found) == len(expected)
    assert sum(message.summary for message in all_messages(name)) == fact(name, "compact_summary_lines")
    for (transcript, compaction), facts in zip(found, expected, strict=True):
        before = transcript.requests[compaction.request - 1]
        summary = transcript.messages[compaction.message] if compaction.message is not None else None
        assert (compaction.trigger, compaction.tokens_before) == (facts["trigger"], facts["preTokens"])
        assert before.usage
        assert before.message is not None
        assert transcript.messages[before.message].origins[0].line == facts["before"]["line"]
        assert (before.usage.context, before.usage.output) == (facts["before"]["context"], facts["before"]["output"])
        assert summary
        assert summary.origins[0].line == facts["summary_line"]
        assert sum(block.n_chars for block in summary.blocks) == facts["summary_chars"]
        assert compaction.tokens_after == facts.get("after", {}).get("context")
        assert not compaction.outside


@pytest.mark.parametrize("name", sample_names("anthropic-api"))
def test_messages_tools_and_model_of_anthropic(name: str) -> None:
    is_request = fact(name, "side") == "request"
    session = one_session(name)
    roles = Counter(str(message.role) for message in session.messages)
    assert roles == (fact(name, "messages_by_role") if is_request else {"assistant": 1})
    assert session.model == fact(name, "model")
    if is_request:
        assert len(session.messages) == fact(name, "messages")
        assert sum(bool(block.name) for block in session.system) == fact(name, "tools")


@pytest.mark.parametrize("name", sample_names("anthropic-api"))
def test_blocks_of_anthropic_by_type(name: str) -> None:
    found = Counter(
        "compaction" if leaf.name == "compaction" else str(leaf.kind)
        for message in all_messages(name)
        for leaf in message.leaves()
    )
    assert found == fact(name, "blocks_by_type")


@pytest.mark.parametrize("name", sample_names("anthropic-api"))
def test_usage_of_anthropic(name: str) -> None:
    session = one_session(name)
    last = session.requests[-1]
    if fact(name, "side") == "request":
        assert last.message is None, "a request without its response is pending"
        assert last.usage is None
        return
    assert len(session.requests) == 1
    assert totals(list(session.requests)) == fact(name, "usage")
    spent = [step for step in fact(name, "iterations", []) if step[0] == "compaction"]
    assert [c.tokens_before for c in session.compactions] == [step[1] + step[2] + step[3] for step in spent]


@pytest.mark.parametrize("name", sample_names("anthropic-api"))
def test_compaction_blocks_and_documents_of_anthropic(name: str) -> None:
    session = one_session(name)
    assert len(session.compactions) == fact(name, "compaction_blocks")
    documents = [
        [message.index, leaf.media.media_type, leaf.media.n_base64]
        for message in session.messages
        for leaf in message.leaves()
        if leaf.kind is Kind.DOCUMENT and leaf.media
    ]
    assert documents == fact(name, "documents", [])


@pytest.mark.parametrize("name", sample_names("learn-claude-code"))
def test_messages_and_tools_of_role_content(name: str) -> None:
    session = one_session(name)
    assert len(session.messages) == fact(name, "lines")
    assert Counter(str(message.role) for message in session.messages) == fact(name, "messages_by_role")
    assert len(leaves(name, Kind.TOOL_USE)) == session.n_tool_calls == fact(name, "tools")["calls"]
    assert len(leaves(name, Kind.TOOL_RESULT)) == fact(name, "tools")["results"]
    assert not leaves(name, Kind.OPAQUE)
    assert not any(request.usage for request in session.requests)


@pytest.mark.parametrize("name", sample_names("learn-claude-code"))
def test_blocks_of_role_content(name: str) -> None:
    found: Counter[str] = Counter()
    path = place(name)
    with path.open("rb") as file:
        source = Source(file)
        for message in one_session(name).messages:
            raw = source.read(message.origins[0])["content"]
            for block in message.blocks:
                written = {"text": "TextBlock", "tool_use": "ToolUseBlock"}.get(str(block.kind), str(block.kind))
                found[f"{message.role}/{'string' if isinstance(raw, str) else written}"] += 1
    assert found == fact(name, "blocks")


@pytest.mark.parametrize("name", sample_names("learn-claude-code"))
def test_compactions_and_cleared_results_of_role_content(name: str) -> None:
    session = one_session(name)
    expected = fact(name, "compactions", [])
    summaries = [message for message in session.messages if message.summary]
    assert [message.origins[0].line for message in summaries] == [facts[0] for facts in expected]
    assert [facts[1] in message.preview for message, facts in zip(summaries, expected, strict=True)] == [True] * len(
        expected
    )
    assert [c.outside for c in session.compactions] == [True] * len(expected)
    n_cleared = fact(name, "cleared_results")
    warned = [int(note.split(": ")[1].split(";")[0]) for note in session.warnings if "cleared" in note]
    assert warned == ([n_cleared] if n_cleared else [])
