"""Every shared pi session against ``truth.json``."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from sessions.engine.transcript.types import Kind, Role
from tests.engine.truth_facts import (
    check_call_pairs,
    check_images,
    fact,
    one_session,
    parsed,
    raw_values,
    sample_names,
    used,
)

pytestmark = pytest.mark.samples
NAMES = sample_names("pi")


@pytest.mark.parametrize("name", NAMES)
def test_calls_contexts_outputs_and_totals_of_pi(name: str) -> None:
    session, requests = one_session(name), used(name)
    usages = [request.usage for request in requests if request.usage]
    assert len(session.requests) == len(usages) == fact(name, "calls")
    lines = [session.messages[r.message].origins[0].line for r in requests if r.message is not None]
    assert lines == fact(name, "line")
    assert [usage.context for usage in usages] == fact(name, "context")
    assert [usage.output for usage in usages] == fact(name, "output")
    assert {
        "input": sum(usage.input for usage in usages),
        "output": sum(usage.output for usage in usages),
        "cacheRead": sum(usage.cache_read for usage in usages),
        "cacheWrite": sum(usage.cache_write for usage in usages),
    } == fact(name, "totals")
    assert session.warnings == (
        f"Replies aborted or failed without usage: {fact(name, 'calls_without_usage')}; not counted as requests",
    )
    assert all(request.on_branch for request in requests) is (fact(name, "forks") == 0)


@pytest.mark.parametrize("name", NAMES)
def test_messages_and_blocks_of_pi(name: str) -> None:
    session = one_session(name)
    raw = [value for value in raw_values(name, session.messages) if isinstance(value, dict)]
    assert len(raw) == fact(name, "entries_by_type")["message"]
    assert len(session.messages) - len(raw) == fact(name, "entries_by_type")["compaction"]
    assert Counter(value["role"] for value in raw) == fact(name, "messages_by_role")
    assert Counter(v["stopReason"] for v in raw if v["role"] == "assistant") == fact(name, "stop_reasons")
    words = {Kind.TEXT: "text", Kind.THINKING: "thinking", Kind.TOOL_USE: "toolCall", Kind.IMAGE: "image"}
    blocks: Counter[str] = Counter()
    originals = [message for message in session.messages if not message.summary]
    for message, value in zip(originals, raw, strict=True):
        if value["role"] != "bashExecution":
            inner = message.blocks[0].parts if value["role"] == "toolResult" else message.blocks
            blocks.update(f"{value['role']}/{words.get(block.kind, 'opaque')}" for block in inner)
    assert blocks == fact(name, "blocks")
    assert sum(message.typed for message in session.messages) == fact(name, "messages_by_role")["user"]
    assert not parsed(name).skipped
    assert not parsed(name).warnings


@pytest.mark.parametrize("name", NAMES)
def test_pairs_and_images_of_pi(name: str) -> None:
    check_call_pairs(name, fact(name, "tools"))
    check_images(name)


@pytest.mark.parametrize("name", NAMES)
def test_compactions_of_pi(name: str) -> None:
    session = one_session(name)
    expected = fact(name, "compactions")
    assert len(session.compactions) == len(expected)
    for compaction, facts in zip(session.compactions, expected, strict=True):
        assert compaction.message is not None
        summary = session.messages[compaction.message]
        assert summary.origins[0].line == facts["line"]
        assert (summary.role, sum(block.n_chars for block in summary.blocks)) == (Role.USER, facts["summary_chars"])
        assert compaction.tokens_before == facts["tokensBefore"] == facts["usage_total_before"]
        before, after = (session.requests[i].usage for i in (compaction.request - 1, compaction.request))
        assert before
        assert after
        assert before.context + before.output == facts["usage_total_before"]
        assert compaction.tokens_after == after.context == facts["context_after"]
        assert after.context + after.output == facts["usage_total_after"]
        kept_lines = [session.messages[index].origins[0].line for index in compaction.preserved]
        assert (kept_lines[0], len(kept_lines)) == (facts["first_kept_line"], facts["entries_kept"])
        assert compaction.preserved[-1] == compaction.boundary - 1


@pytest.mark.parametrize("name", [name for name in NAMES if "before-compaction" in name] or NAMES[:1])
def test_where_the_compactions_stand(name: str) -> None:
    """Recorded at request 171 by hand and at 294 (replay-semantics 2)."""
    assert len(fact(name, "compactions")) == 2
    assert [compaction.request for compaction in one_session(name).compactions] == [171, 294]


@pytest.mark.parametrize("name", NAMES)
def test_falls_of_pi(name: str) -> None:
    """Calls whose context is a quarter or more below the call before are those after a compaction."""
    session = one_session(name)
    found = []
    contexts = [(r.message, r.usage.context) for r in used(name) if r.usage]
    for (_, earlier), (message, later) in itertools.pairwise(contexts):
        if later <= 0.75 * earlier and message is not None:
            found.append([session.messages[message].origins[0].line, earlier, later])
    assert found == fact(name, "falls")
