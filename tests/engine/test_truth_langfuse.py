"""Every shared Langfuse trace against ``truth.json``, and how single calls become sessions, on our own fixtures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.reading.jsonio import Source
from sessions.engine.transcript.types import Kind
from tests.engine.test_formats_contract import FIXTURES, read
from tests.engine.truth_facts import fact, facts, n_of, parsed, place, sample_names
from tests.samples import find_samples

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Request, Transcript

NAMES = sample_names("otel-langfuse")
BY_HAND = [name for name in NAMES if find_samples() and "calls_by_hand" in facts(name)] or ["(no samples)"]
samples = pytest.mark.samples


def requests_of(name: str) -> list[Request]:
    found = [request for transcript in parsed(name).transcripts for request in transcript.requests]
    return sorted(found, key=lambda request: request.timestamp or 0)


def by_hand(name: str) -> dict[str, Any]:
    """The calls that were really made; in samples without such a count every generation is one."""
    every = {"real_calls": fact(name, "generations"), "real_usage": None, "wrappers": 0}
    return every | fact(name, "calls_by_hand", {})


@samples
@pytest.mark.parametrize("name", NAMES)
def test_calls_are_requests_and_no_other_observation_is(name: str) -> None:
    assert parsed(name).format == "langfuse"
    assert f"{fact(name, 'observations')} observations" in parsed(name).reason
    requests, said = requests_of(name), by_hand(name)
    assert fact(name, "generations") == fact(name, "by_type")["GENERATION"]
    assert len(requests) == said["real_calls"] == fact(name, "generations") - said["wrappers"]
    assert {r.model for r in requests} == set(fact(name, "models"))
    others = {kind: n for kind, n in fact(name, "by_type").items() if kind != "GENERATION"}
    named = ", ".join(f"{n} {kind}" for kind, n in sorted(others.items()))
    assert parsed(name).warnings[0].startswith(f"Observations that are no generations: {named};")
    assert any("around another one" in note for note in parsed(name).warnings) is bool(said["wrappers"])


@samples
@pytest.mark.parametrize(
    "name", [name for name in NAMES if "calls_by_hand" in facts(name)] if find_samples() else NAMES
)
def test_tool_calls_and_results_are_kept_whichever_framework_wrote_them(name: str) -> None:
    said = fact(name, "calls_by_hand")
    (session,) = parsed(name).transcripts
    assert [[r.usage.context, r.usage.output] for r in session.requests if r.usage] == said["real_usage"]
    assert (n_of(session, Kind.TOOL_USE), n_of(session, Kind.TOOL_RESULT)) == (said["tool_calls"], said["tool_results"])
    assert n_of(session, Kind.OPAQUE) == 0
    calls = {call for message in session.messages for call in message.call_ids()}
    assert {call for message in session.messages for call in message.result_ids()} == calls
    assert sum(block.name != "" for block in session.system) >= said.get("tool_definitions_among_messages", 0)


@samples
@pytest.mark.parametrize("name", NAMES)
def test_usage_of_generations_is_counted_once(name: str) -> None:
    used = [request.usage for request in requests_of(name) if request.usage]
    real = by_hand(name)["real_usage"]
    assert [use.context for use in used] == ([sent for sent, _ in real] if real else fact(name, "input_each"))
    if by_hand(name)["wrappers"]:
        return
    sent, made = sum(use.context for use in used), sum(use.output for use in used)
    assert {"input": sent, "output": made, "total": sent + made} == fact(name, "totals_of_generations")
    everything = fact(name, "totals_of_everything")
    more = (everything["input"] - sent, everything["output"] - made)
    said = f"{more[0]:,} input and {more[1]:,} output, not counted"
    assert any(said in note for note in parsed(name).warnings) == (more != (0, 0))


@samples
@pytest.mark.parametrize("name", NAMES)
def test_the_prompt_that_generations_repeat_is_counted_once(name: str) -> None:
    """No two messages of a session hold the same thing; together they hold less than the file repeats."""
    with place(name).open("rb") as file:
        n_sent = sum(len(str(o["input"])) for o in Source(file).document()["observations"] if o["type"] == "GENERATION")
    blocks = [b for t in parsed(name).transcripts for m in t.messages for b in m.leaves()]
    assert sum(block.n_chars for block in blocks) < n_sent
    for transcript in parsed(name).transcripts:
        calls = [call for message in transcript.messages for call in message.call_ids()]
        assert len(calls) == len(set(calls))
        assert transcript.n_images == fact(name, "images") == 0
        assert not any(compaction for compaction in transcript.compactions)


FRAMEWORKS = {session.id: session for session in read(FIXTURES / "langfuse/frameworks.jsonl").transcripts}
SHAPES = {
    "agno": "system: text | user: text | assistant: tool_use weigh | user: tool_result | assistant: text",
    "adk": "user: text | assistant: tool_use wave | user: tool_result | assistant: text",
    "koog": "system: text | user: text | assistant: tool_use greet | assistant: tool_use part"
    " | user: tool_result | user: tool_result | assistant: text",
    "langgraph": "user: text | assistant: tool_use look | user: tool_result | assistant: text",
    "aisdk": "user: text | assistant: tool_use weather | user: tool_result",
    "agents": "user: text | assistant: thinking, tool_use count, tool_use count"
    " | user: tool_result | user: tool_result | assistant: text",
}
USED = {
    "agno": [(40, 8), (70, 6)],
    "adk": [(20, 3), (31, 2)],
    "koog": [(25, 12), (60, 7)],
    "langgraph": [(22, 5), (48, 6)],
    "aisdk": [(52, 40)],
    "agents": [(30, 20), (64, 4)],
}


def shape(session: Transcript) -> str:
    """Roles, kinds of blocks and names of tools, in order."""
    return " | ".join(
        f"{m.role}: {', '.join(f'{b.kind} {b.name}'.strip() for b in m.blocks)}" for m in session.messages
    )


@pytest.mark.parametrize("framework", SHAPES)
def test_every_framework_keeps_its_calls_and_each_model_call_counts_once(framework: str) -> None:
    session = FRAMEWORKS[framework]
    assert shape(session) == SHAPES[framework]
    assert [(r.usage.context, r.usage.output) for r in session.requests if r.usage] == USED[framework]
    calls = [call for message in session.messages for call in sorted(message.call_ids())]
    assert [call for message in session.messages for call in sorted(message.result_ids())] == calls
    named = [block.name for block in session.system if block.name]
    assert named == {"agno": ["weigh"], "adk": ["wave"], "langgraph": ["look"], "aisdk": ["weather"]}.get(framework, [])
    assert not session.warnings


def test_a_trace_of_ours_has_a_session_and_its_sub_agent() -> None:
    parsed_file = read(FIXTURES / "langfuse/trace.json")
    main, sub = parsed_file.transcripts
    assert [(str(m.role), [str(b.kind) for b in m.blocks]) for m in main.messages] == [
        ("system", ["text"]),
        ("user", ["text"]),
        ("assistant", ["thinking", "tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["text"]),
    ]
    assert [(r.message, r.usage.context if r.usage else None) for r in main.requests] == [(2, 60), (4, 94)]
    second = main.requests[1].usage
    assert second
    assert (second.input, second.cache_read, second.output) == (30, 64, 4)
    assert [block.name for block in main.system] == ["gardener"]
    assert (sub.parent_id, sub.parent_call_id, sub.n_images, sub.model) == (main.id, "k1", 1, "gpt-4o-mini")
    assert [r.usage.context for r in sub.requests if r.usage] == [40]


def test_a_shorter_prompt_is_a_compaction_and_another_way_a_branch() -> None:
    parsed_file = read(FIXTURES / "langfuse/observations.jsonl")
    (session,) = parsed_file.transcripts
    assert [skipped.reason for skipped in parsed_file.skipped] == ["not an object but null"]
    (compaction,) = session.compactions
    assert (compaction.boundary, compaction.preserved, compaction.request) == (6, (4, 5), 3)
    assert (compaction.tokens_before, compaction.tokens_after) == (32, 16)
    assert compaction.message == 6
    assert session.messages[6].summary
    assert [m.preview for m in session.messages] == [
        "Count to three",
        "One.",
        "Next",
        "Two.",
        "And?",
        "Three.",
        "Summary: counted to two",
        "Stop",
        "Stopped.",
    ]
    assert [(r.message, r.on_branch) for r in session.requests] == [
        (1, True),
        (3, True),
        (5, True),
        (None, False),
        (8, True),
    ]
    third = session.requests[2].usage
    assert third
    assert (third.input, third.cache_read) == (15, 15), "the total says that the input includes the cache"
    assert any("branch that was left: 1" in note for note in session.warnings)
