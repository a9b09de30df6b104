"""Every OpenHands sample against ``truth.json``."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.reading.jsonio import Source
from sessions.engine.transcript.types import Kind
from tests.engine.truth_facts import fact, leaves, parsed, place, sample_names

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

pytestmark = pytest.mark.samples

NAMES = sample_names("openhands")


def runs(name: str) -> list[tuple[Transcript, dict[str, Any]]]:
    """Each session of a V0 file with what is true of it; none for V1."""
    expected = fact(name, "runs", [])
    return list(zip(parsed(name).transcripts, expected, strict=True)) if expected else []


def events_of(name: str, transcript: Transcript) -> list[dict[str, Any]]:
    with place(name).open("rb") as file:
        source = Source(file)
        return [source.read(message.origins[0]) for message in transcript.messages]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_skipped_and_every_line_is_used(name: str) -> None:
    assert parsed(name).skipped == ()
    n_unused = sum(int(note.split(": ")[1].split(" ")[0]) for note in parsed(name).warnings)
    n_messages = sum(len(transcript.messages) for transcript in parsed(name).transcripts)
    n_events = sum(run["events"] for run in fact(name, "runs", [])) or fact(name, "lines")
    assert n_messages + n_unused == n_events


@pytest.mark.parametrize("name", NAMES)
def test_events_by_what_they_are(name: str) -> None:
    """Each is a message; recalls too, which the agent counts (policies 9)."""
    for transcript, expected in runs(name):
        events = events_of(name, transcript)
        actions = Counter(event["action"] for event in events if event.get("action"))
        observations = Counter(event["observation"] for event in events if event.get("observation"))
        sources = Counter(event["source"] for event in events)
        assert actions == expected["actions"]
        assert observations == expected["observations"]
        assert sources == expected["events_by_source"]
        ids = {int(message.id) for message in transcript.messages}
        n_unused = expected["events"] - len(transcript.messages)
        assert max(ids) + 1 - len(ids) - n_unused == expected["ids_missing"]
        assert len(transcript.compactions) == expected["condensations"]
        assert transcript.n_images == expected["images"]


@pytest.mark.parametrize("name", NAMES)
def test_each_response_is_one_request_with_its_own_usage(name: str) -> None:
    for transcript, expected in runs(name):
        usages = [request.usage for request in transcript.requests if request.usage]
        assert len(transcript.requests) == len(usages) == expected["model_responses"]
        assert [usage.context for usage in usages] == expected["input_each"]
        totals = [sum(u.context for u in usages), sum(u.output for u in usages)]
        assert totals == expected["sum_of_responses"] == expected["accumulated_usage"]


@pytest.mark.parametrize("name", NAMES)
def test_kinds_calls_and_running_totals_of_v1(name: str) -> None:
    kinds = fact(name, "events_by_kind")
    if kinds is None:
        assert runs(name), "a V0 file has runs"
        return
    (session,) = parsed(name).transcripts
    assert Counter(event["kind"] for event in events_of(name, session)) == {
        kind: n for kind, n in kinds.items() if kind != "ConversationStateUpdateEvent"
    }
    calls = [leaf.call_id for leaf in leaves(name, Kind.TOOL_USE)]
    results = [leaf.call_id for leaf in leaves(name, Kind.TOOL_RESULT)]
    expected = fact(name, "tools")
    assert (len(calls), len(results)) == (expected["calls"], expected["results"])
    assert sorted(set(results) - set(calls)) == expected["results_without_call"]
    assert not set(calls) - set(results)
    assert len(session.compactions) == fact(name, "condensations")
    totals = fact(name, "accumulated_usage")
    grown = {(b[0] - a[0], b[1] - a[1], b[2] - a[2]) for a, b in pairwise(totals)}
    for request in session.requests:
        assert request.usage
        assert (request.usage.context, request.usage.cache_read, request.usage.output) in grown
    assert session.requests[-1].usage
    assert session.requests[-1].usage.context == totals[-1][0] - totals[-2][0]
