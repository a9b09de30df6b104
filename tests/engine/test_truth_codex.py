"""Every shared Codex rollout against ``truth.json``."""

from __future__ import annotations

from collections import Counter

import pytest

from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Kind
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.truth_facts import (
    all_messages,
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
NAMES = sample_names("codex")


@pytest.mark.parametrize("name", NAMES)
def test_calls_and_totals_of_codex(name: str) -> None:
    expected = fact(name, "token_count")
    usages = [request.usage for request in used(name) if request.usage]
    assert len(usages) == expected["calls"]
    assert [usage.context for usage in usages] == expected["input"]
    assert [usage.cache_read for usage in usages] == expected["cached"]
    assert [usage.output for usage in usages] == expected["output"]
    assert {
        "input_tokens": sum(usage.context for usage in usages),
        "cached_input_tokens": sum(usage.cache_read for usage in usages),
        "output_tokens": sum(usage.output for usage in usages),
        "reasoning_output_tokens": sum(usage.reasoning for usage in usages),
    } == fact(name, "totals")
    assert fact(name, "sum_of_calls_equals_totals")
    repeats = [int(note.split(": ")[1].split(",")[0]) for note in parsed(name).warnings if "repeat" in note]
    assert repeats == ([expected["repeats"]] if expected["repeats"] else [])
    estimates = [note for note in parsed(name).warnings if "estimate" in note]
    assert len(estimates) == len(expected["estimates"])


@pytest.mark.parametrize("name", NAMES)
def test_items_and_messages_of_codex(name: str) -> None:
    session = one_session(name)
    items = raw_values(name, session.messages)
    assert len(items) == fact(name, "lines_by_type").get("response_item", 0)
    assert Counter(item["type"] for item in items) == fact(name, "response_items", {})
    roles = Counter(item["role"] for item in items if item["type"] == "message")
    assert roles == fact(name, "messages_by_role", {})
    developers = sum(message.role == "system" for message in session.messages)
    assert developers == fact(name, "messages_by_role", {}).get("developer", 0)
    hidden = [block for message in session.messages for block in message.blocks if block.kind is Kind.THINKING]
    assert len(hidden) == fact(name, "response_items", {}).get("reasoning", 0)
    assert not any(block.kind is Kind.OPAQUE for message in session.messages for block in message.blocks)
    assert not parsed(name).skipped
    assert not parsed(name).warnings or "unknown" not in " ".join(parsed(name).warnings)


@pytest.mark.parametrize("name", NAMES)
def test_model_window_and_prompts_of_codex(name: str) -> None:
    session = one_session(name)
    recorded = fact(name, "context_window")
    assert session.window == (round(recorded * 100 / 95) if recorded else None)
    assert session.model in fact(name, "models")
    assert sum(message.typed for message in session.messages) == fact(name, "events").get("user_message", 0)


@pytest.mark.parametrize("name", NAMES)
def test_pairs_images_and_compactions_of_codex(name: str) -> None:
    check_call_pairs(name, fact(name, "tools"))
    check_images(name)
    assert len(one_session(name).compactions) == fact(name, "context_compacted_events")


@pytest.mark.parametrize("name", NAMES)
def test_a_reply_belongs_to_the_usage_that_follows_it(name: str) -> None:
    """The items of a call stand before its ``token_count`` and after the one before; only a live call has none."""
    session = one_session(name)
    lines = [0, *fact(name, "token_count")["line"]]
    replies = [request for request in session.requests if request.message is not None]
    for request in replies:
        first = session.messages[request.message or 0].origins[0].line
        last = session.messages[(request.message or 0) + request.n_messages - 1].origins[0].line
        if request.usage:
            assert lines[request.index] < first <= last < lines[request.index + 1]
    assert [r.index for r in session.requests if not r.usage] in ([], [len(session.requests) - 1])
    assert len(all_messages(name)) >= sum(request.n_messages for request in replies)


def test_the_trigger_of_codex_never_fires_on_a_recording_that_never_compacted() -> None:
    """Policies 6.1: last usage, what came after it and the stored reasoning of earlier turns stay below the limit."""
    gates = [g for g in replay(weigh(one_session("codex/edgerunner.jsonl")), "codex_local", base="recorded").gates if g]
    assert not any(gate.fires for gate in gates)
    assert [gate.measure for gate in gates[-2:]] == [322_226, 323_937]
    assert max(gate.measure for gate in gates) == 323_937
    assert {gate.threshold for gate in gates} == {334_800}
