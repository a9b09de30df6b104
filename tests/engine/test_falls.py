"""A context that fell without a word: at its boundary and on both sides, and what says why."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.transcript.types import ProviderError, RecordedClearing
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.document import session_why
from sessions.engine.why.falls import falls_of
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.sessions import Build

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

BEFORE, AT = 40_000, 20


def fallen(to: int, *, before: int = BEFORE, after: int = 10, back: bool = False) -> Transcript:
    """A session whose context falls from ``before`` to ``to`` at request ``AT``; ``after`` requests follow."""
    build = Build(overhead=before - 12_000)
    build.prompt()
    build.turns(AT)
    last = build.requests[-1].usage
    assert last
    build.overhead += before - last.context
    build.requests = [_higher(request, before - last.context) for request in build.requests]
    lost = build.overhead + build.context - to
    build.context -= lost
    build.turns(1, start=AT)
    build.context += lost if back else 0
    build.turns(after, start=AT + 1)
    return build.done()


def _higher(request: Any, by: int) -> Any:
    usage = dataclasses.replace(request.usage, cache_read=request.usage.cache_read + by)
    return dataclasses.replace(request, usage=usage)


def told(transcript: Transcript) -> list[tuple[int, int, int]]:
    return [(fall.request, fall.before, fall.after) for fall in falls_of(weigh(transcript), frozenset())]


@pytest.mark.parametrize(
    ("to", "is_told"), [(BEFORE * 3 // 4 - 1, True), (BEFORE * 3 // 4, True), (BEFORE * 3 // 4 + 1, False)]
)
def test_a_fall_of_a_quarter_or_more_is_told(to: int, is_told: bool) -> None:
    assert told(fallen(to)) == ([(AT, BEFORE, to)] if is_told else [])


@pytest.mark.parametrize(("to", "is_told"), [(11_999, True), (12_000, True), (12_001, False)])
def test_a_fall_of_less_than_4_000_tokens_is_not(to: int, is_told: bool) -> None:
    assert told(fallen(to, before=16_000)) == ([(AT, 16_000, to)] if is_told else [])


def test_a_call_beside_the_session_that_comes_back_at_once_is_no_fall() -> None:
    assert told(fallen(10_000, back=True)) == []
    assert told(fallen(10_000, after=0)) == []


def test_what_the_file_tells_explains_a_fall() -> None:
    plain = fallen(20_000)
    cut = plain.requests[AT].message
    assert cut is not None
    other = [dataclasses.replace(r, model="claude-opus-4-6") if r.index >= AT else r for r in plain.requests]
    left = [dataclasses.replace(r, on_branch=r.index != AT - 1, message=None) if r.index == AT - 1 else r
            for r in plain.requests]  # fmt: skip
    changes: list[dict[str, Any]] = [
        {"clearings": (RecordedClearing("results", AT, cut),)},
        {"errors": (ProviderError("context", AT, cut),)},
        {"requests": tuple(other)},
        {"requests": tuple(left)},
    ]
    assert told(plain)
    for change in changes:
        assert told(dataclasses.replace(plain, **change)) == [], change


def test_a_compaction_explains_a_fall() -> None:
    build = Build(overhead=10_000)
    build.prompt()
    build.turns(40)
    build.compact()
    assert told(build.turns(5, start=40).done()) == []


def test_the_first_line_tells_the_fall_in_the_place_of_the_peak() -> None:
    weighed = weigh(fallen(20_000))
    assert headline(weighed, verdicts_of(weighed)) == (
        "The context fell from 40,000 to 20,000 at request 20; nothing in the file says why."
    )
    (entry,) = session_why(weighed)["falls"]
    assert (entry["request"], entry["before"], entry["after"], entry["restarted"]) == (20, 40_000, 20_000, False)


def test_a_session_that_did_not_fall_keeps_its_first_line() -> None:
    build = Build(overhead=10_000)
    build.prompt()
    weighed = weigh(build.turns(30).done())
    assert headline(weighed, verdicts_of(weighed)).startswith("No compaction. Peak ")
    assert session_why(weighed)["falls"] == []


def test_a_client_that_was_started_again_is_named() -> None:
    transcript = fallen(20_000)
    first = transcript.requests[AT].message
    assert first is not None
    messages = [dataclasses.replace(m, resumed=m.index == first - 1) for m in transcript.messages]
    weighed = weigh(dataclasses.replace(transcript, messages=tuple(messages)))
    assert headline(weighed, verdicts_of(weighed)).endswith("at request 20; the client was started again there.")
