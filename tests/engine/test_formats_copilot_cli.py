"""Copilot CLI: every shared sample against its truth; compactions, refusals and sub-agents on our own fixtures."""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.costs.cost_report import cost_document, cost_sentences
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.sweeps.fleet.part import part_of
from sessions.engine.transcript.types import Kind, Role, Usage
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.truth_facts import FIXTURES, facts, fixture, n_of, parsed, place, sample_names

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

NAMES = sample_names("copilot-cli", ".jsonl")


def check_calls(session: Transcript, said: dict[str, Any]) -> None:
    """Requests, tool calls, thoughts, models and outputs of one conversation."""
    requests = [request for request in session.requests if request.on_branch]
    assert len(requests) == said["assistant_messages"]
    known = {r.response_id for r in requests} - {""}
    assert len(known) == (said["distinct_apiCallId"] if known else 0), "old files have no id of a call"
    assert n_of(session, Kind.TOOL_USE) == said["toolRequests"]
    assert (
        sum(b.n_chars > 0 for m in session.messages for b in m.blocks if b.kind is Kind.THINKING)
        == (said["reasoning_text"])
    )
    told = f"Only outputs are reported: {said['output_tokens']:,} tokens over {len(requests):,} requests"
    assert (told in session.warnings) is (said["output_tokens"] > 0)
    assert all(request.usage is None for request in requests)


@pytest.mark.samples
@pytest.mark.parametrize("name", NAMES)
def test_a_sample_equals_its_truth(name: str) -> None:
    said, whole = facts(name), parsed(name)
    main = whole.transcripts[0]
    assert (whole.format, whole.skipped, whole.warnings) == ("copilot_cli", (), ())
    assert len(whole.transcripts) == 1 + ("subagent" in said)
    assert main.client == said["versions"][0]
    check_calls(main, said["main"])
    if "subagent" in said:
        check_calls(whole.transcripts[1], said["subagent"])
        assert whole.transcripts[1].parent_id == main.id
    models = [m for m in said["main"]["models"] if m != "null"]
    assert {r.model for r in main.requests} >= set(models)
    assert sum(m.typed for m in main.messages) == said["user_messages"]
    assert bool(main.system) is bool(said["system_messages"])
    results = [b for t in whole.transcripts for m in t.messages for b in m.blocks if b.kind is Kind.TOOL_RESULT]
    assert len(results) == said["tools"]["completed"]
    assert sum(b.is_error for b in results) == said["tools"]["failed"]
    assert main.n_images == said["images"]
    cut = [t for _, t in said["truncations"] if t.get("droppedTokens") or t.get("tokensRemovedDuringTruncation")]
    assert len(main.compactions) == len(said["compactions"]) + len(cut)
    assert not main.errors, "the recorded errors are not for size"


@pytest.mark.samples
def test_a_compaction_beside_the_work_equals_its_truth() -> None:
    name = "copilot-cli/wasa-compaction.events.jsonl"
    (session,), (said,) = parsed(name).transcripts, facts(name)["compactions"]
    (compaction,) = session.compactions
    assert (compaction.trigger, compaction.unseen) == ("auto", True)
    assert compaction.tokens_before == said["preCompactionTokens"]
    assert compaction.tokens_after is said["postCompactionTokens"] is None
    assert session.messages[compaction.boundary].origins[0].line > said["start_line"]
    assert session.messages[compaction.boundary - 1].origins[0].line < said["start_line"]
    assert compaction.message is not None
    summary = session.messages[compaction.message]
    assert (summary.origins[0].line, summary.blocks[0].n_chars) == (said["complete_line"], said["summary_chars"])
    between = session.messages[compaction.boundary : compaction.message]
    assert sum(m.role is Role.ASSISTANT for m in between) == said["assistant_messages_between"]
    (cost,) = [request for request in session.requests if not request.on_branch]
    billed = said["call_tokenDetails"]
    assert cost.usage
    assert [cost.usage.context, cost.usage.output, cost.usage.cache_read] == said["call"][:3]
    assert (cost.usage.input, cost.usage.cache_write) == (billed["input"], billed["cache_write"])
    (told,) = [w for w in session.warnings if w.startswith("Before a compaction")]
    assert told.endswith("160,194 tokens by Copilot's own estimate: system 10,968, tools 11,901, conversation 137,325")
    started = {b.call_id for m in session.messages for b in m.blocks if b.kind is Kind.TOOL_USE}
    answered = {b.call_id for m in session.messages for b in m.blocks if b.kind is Kind.TOOL_RESULT}
    assert started - answered == set(facts(name)["tools"]["started_without_completion"])


@pytest.mark.samples
def test_what_the_client_counts_at_its_end_and_for_a_sub_agent() -> None:
    shut = facts("copilot-cli/as-small.jsonl")["shutdown"]
    told = parsed("copilot-cli/as-small.jsonl").transcripts[0].warnings[0]
    assert told == (
        f"At its end the context had {shut['currentTokens']} tokens by Copilot's own estimate: "
        f"system {shut['systemTokens']}, "
        f"tools {shut['toolDefinitionsTokens']}, conversation {shut['conversationTokens']}"
    )
    name = "copilot-cli/wasa-subagent-enveloped-first692.jsonl"
    ((_, _, model, n_calls, total),) = facts(name)["subagents"]
    helper = parsed(name).transcripts[1]
    assert (helper.model, helper.n_tool_calls) == (model, n_calls)
    assert f"Copilot counted {total:,} tokens over all requests of this sub-agent" in helper.warnings


@pytest.mark.samples
@pytest.mark.parametrize("name", NAMES)
def test_every_event_is_accounted_for(name: str) -> None:
    """Messages are the events of their types; what is left is no message."""
    said = facts(name)["events_by_type"]
    with place(name).open("rb") as file:
        source = Source(file)
        read = [source.read(m.origins[0]) for t in parsed(name).transcripts for m in t.messages if not m.summary]
    kinds = Counter(event["type"] for event in read)
    assert kinds == {k: said[k] for k in ("user.message", "assistant.message", "tool.execution_complete")}


def test_what_was_written_while_a_compaction_ran_stays() -> None:
    session = fixture("copilot_cli/compaction.jsonl").transcripts[0]
    first, cut = session.compactions
    assert [m.preview for m in session.messages[first.boundary : first.boundary + 2]] == [
        "The first coat.",
        "The fence gets two coats.",
    ]
    assert (first.request, first.tokens_before, first.trigger) == (3, 160000, "auto")
    cost = session.requests[2]
    assert cost.usage
    assert (cost.on_branch, cost.usage.context, cost.usage.cache_write) == (False, 170000, 159998)
    assert (cut.boundary, cut.trigger, cut.outside, cut.tokens_before) == (0, "auto", True, None)
    assert session.window == 200000
    assert "Truncations: 1, which removed 300 tokens; which messages is not recorded" in session.warnings


def test_one_by_hand_is_told_by_its_instructions() -> None:
    (session,) = fixture("copilot_cli/enveloped.jsonl").transcripts
    (compaction,) = session.compactions
    assert (compaction.trigger, compaction.tokens_before, compaction.tokens_after) == ("manual", 35, 12)
    assert len(session.requests) == 3, "each reply without an id of its call is a request"


def test_refusals_results_and_what_was_sent() -> None:
    session, helper = fixture("copilot_cli/compaction.jsonl").transcripts
    assert [(e.request, e.tokens, e.limit, e.status) for e in session.errors] == [
        (1, 205000, 200000, 400),
        (4, None, None, 0),
    ]
    assert "Pictures in results: 1; whether the model got them is not recorded" in session.warnings
    assert session.n_images == 1, "the attached one"
    prompt, call, seen, failed = session.messages[:4]
    assert session.title == "Paint the fence"
    assert prompt.preview.startswith("<now>noon</now> Paint the fence")
    assert [b.media.n_url for b in prompt.blocks if b.media] == [len("/garden/fence.png")]
    assert [b.target for b in call.blocks if b.kind is Kind.TOOL_USE] == ["fence.md", "ls"]
    assert seen.preview == "Two coats."
    assert (failed.preview, failed.blocks[0].is_error) == ("no such folder", True)
    assert (helper.parent_id, helper.parent_call_id, len(helper.requests)) == ("fence-1", "c3", 2)
    assert [b.n_chars for b in session.system] == [len("You paint fences.")]


def test_a_file_without_its_first_line_is_still_copilots() -> None:
    lines = (FIXTURES / "copilot_cli" / "compaction.jsonl").read_bytes().splitlines(keepends=True)
    assert read_transcripts(io.BytesIO(b"".join(lines[3:])), "events.jsonl").format == "copilot_cli"


def ended(n_replies: int, count: int) -> Transcript:
    """A session of so many replies whose end reports the usage of ``count`` requests."""
    start = ("session.start", {"sessionId": "s", "producer": "copilot-agent", "copilotVersion": "1.0.68"})
    events = [start, ("user.message", {"content": "Go."})]
    for n in range(n_replies):
        calls = [{"toolCallId": f"c{n}", "name": "view", "arguments": {}}] if n + 1 < n_replies else []
        said = {"content": "", "toolRequests": calls, "model": "gpt-5.4-mini", "apiCallId": f"a{n}"}
        events += [("assistant.message", said)]
        events += (
            [("tool.execution_complete", {"toolCallId": f"c{n}", "success": True, "result": "x"})] if calls else []
        )
    used = {"inputTokens": 15_534, "outputTokens": 30, "cacheReadTokens": 14_848, "reasoningTokens": 15}
    metrics = {"gpt-5.4-mini": {"requests": {"count": count}, "usage": used}, "idle": {"usage": {"inputTokens": 0}}}
    events.append(("session.shutdown", {"modelMetrics": metrics}))
    at = "2026-07-05T04:00:41Z"
    lines = [
        {"type": k, "data": d, "id": f"e{n}", "parentId": None, "timestamp": at} for n, (k, d) in enumerate(events)
    ]
    return read_transcripts(io.BytesIO("\n".join(map(json.dumps, lines)).encode()), "events.jsonl").transcripts[0]


def test_the_usage_of_a_session_of_one_request_is_that_request_s() -> None:
    (request,) = ended(1, 1).requests
    assert request.usage == Usage(686, 14_848, 0, 30, reasoning=15)


@pytest.mark.parametrize(("n_replies", "count"), [(3, 3), (1, 2)])
def test_the_usage_of_several_requests_is_told_as_their_sum(n_replies: int, count: int) -> None:
    session = ended(n_replies, count)
    assert not any(request.usage for request in session.requests)
    assert session.warnings[0] == (
        f"Copilot reported of {count} requests to gpt-5.4-mini together: 15,534 tokens of input, 14,848 of them "
        "cached, and 30 of output"
    )


def test_a_cost_says_which_requests_it_covers_and_a_small_part_is_no_sum_of_many() -> None:
    """The usage is that of the compaction's own call alone."""
    file = (FIXTURES / "copilot_cli" / "compaction.jsonl").read_bytes()
    weighed = weigh(read_transcripts(io.BytesIO(file), "events.jsonl").transcripts[0])
    document, n = cost_document(weighed), len(weighed.transcript.requests)
    assert document is not None
    assert document["is_lower_bound"]
    assert f"{n - 1} requests of {n} without usage." in cost_sentences(document)
    assert part_of(weighed).dollars is None
