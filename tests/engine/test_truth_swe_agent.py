"""Every SWE-agent and mini-swe-agent sample against ``truth.json``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.reading.jsonio import Source
from sessions.engine.transcript.types import Kind
from tests.engine.truth_facts import fact, leaves, one_session, parsed, place, sample_names

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Block

pytestmark = pytest.mark.samples

SWE, MINI = sample_names("swe-agent"), sample_names("mini-swe-agent")


def raw_entries(name: str) -> list[dict[str, Any]]:
    with place(name).open("rb") as file:
        source = Source(file)
        return [source.read(message.origins[0]) for message in one_session(name).messages]


def text_chars(name: str) -> int:
    """Characters of texts and plain results; calls stand beside the content, not in it."""

    def said(block: Block) -> bool:
        return block.kind in (Kind.TEXT, Kind.TOOL_RESULT)

    return sum(leaf.n_chars for m in one_session(name).messages for leaf in m.leaves() if said(leaf))


@pytest.mark.parametrize("name", SWE)
def test_history_roles_and_demonstrations_of_swe_agent(name: str) -> None:
    session, entries = one_session(name), raw_entries(name)
    assert len(session.messages) == fact(name, "history")
    assert Counter(entry["role"] for entry in entries) == fact(name, "history_by_role")
    assert text_chars(name) == fact(name, "history_chars")
    assert sum(bool(entry.get("is_demo")) for entry in entries) == fact(name, "demonstrations")
    assert session.n_images == fact(name, "images")
    assert parsed(name).skipped == ()


@pytest.mark.parametrize("name", SWE)
def test_calls_and_results_of_swe_agent(name: str) -> None:
    calls, results = leaves(name, Kind.TOOL_USE), leaves(name, Kind.TOOL_RESULT)
    assert (len(calls), len(results)) == (fact(name, "tool_calls"), fact(name, "tool_results"))
    assert Counter(b.call_id for b in calls) == Counter(b.call_id for b in results)


@pytest.mark.parametrize("name", SWE)
def test_replies_are_requests_and_totals_are_no_usage(name: str) -> None:
    session = one_session(name)
    assert len(session.requests) == fact(name, "history_by_role")["assistant"]
    if fact(name, "steps"):
        assert len(session.requests) == fact(name, "steps")
    assert not any(request.usage for request in session.requests)
    stats = fact(name, "model_stats", {"tokens_sent": 0})
    said = [note for note in session.warnings if "totals of the run only" in note]
    if not stats["tokens_sent"]:
        assert said == []
        return
    assert f"{stats['tokens_sent']:,} tokens sent and {stats['tokens_received']:,} received" in said[0]
    assert f"in {stats['api_calls']:,} calls" in said[0]
    assert len(session.requests) == stats["api_calls"]


@pytest.mark.parametrize("name", MINI)
def test_messages_of_mini_swe_agent(name: str) -> None:
    session = one_session(name)
    assert len(session.messages) == fact(name, "messages")
    assert Counter(entry["role"] for entry in raw_entries(name)) == fact(name, "messages_by_role")
    assert Counter(str(message.role) for message in session.messages) == fact(name, "messages_by_role")
    assert text_chars(name) == fact(name, "content_chars")
    assert session.n_images == fact(name, "images")
    assert len(session.requests) == fact(name, "messages_by_role")["assistant"]
    assert parsed(name).skipped == ()
