"""Every replay is sound: contexts never below what cannot leave, lists that add up, totals that are sums of rows."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.transcript.types import RecordedClearing
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.invariants import POLICIES, settings_of, violations
from tests.engine.sessions import Build
from tests.every import EVERY, examples
from tests.recordings import recordings, transcripts

FIXTURES = Path(__file__).parents[1] / "fixtures" / "transcripts"
FOLDERS = ("samples", "samples-2026", "corpus/claude-code", "corpus-2/sessions")
SHARES = 16
ONE_IN = 1 if EVERY else 251
"""Of all sessions' settings under all policies one in so many is replayed."""


def checked(paths, one_in=ONE_IN):
    """How many replays were made of these files, and what is not so of them."""
    n, made, wrong = 0, 0, []
    for name, parsed in transcripts(paths):
        for weighed in map(weigh, parsed.transcripts):
            for policy in POLICIES:
                for options in [*settings_of(policy, weighed), {"base": "recorded"}]:
                    n += 1
                    if n % one_in:
                        continue
                    made += 1
                    found = violations(weighed, policy, **options)
                    wrong += [f"{name} {weighed.transcript.id} {policy} {options}: {one}" for one in found[:2]]
    return made, wrong


@st.composite
def shrinking(draw):
    """Sessions whose contexts shrink: named clearings, thinking and others that nothing records, retries, compactions.

    The clearings name what they cleared, or not.
    """
    session = Build(overhead=draw(st.integers(0, 3_000)), model=draw(st.sampled_from(["claude-sonnet-4-5", "gpt-5"])))
    session.prompt(draw(st.integers(1, 500)))
    clearings, called = [], []
    for _ in range(draw(st.integers(3, 25))):
        calls = [f"c{len(called) + n}" for n in range(draw(st.integers(0, 2)))]
        session.reply(draw(st.integers(1, 400)), *calls, target=f"/f{len(called) % 4}.py")
        for call in calls:
            session.result(call, draw(st.integers(0, 2_500)))
        called += calls
        if draw(st.integers(0, 5)) == 0:
            session.prompt(draw(st.integers(1, 300)))
        if draw(st.integers(0, 4)) == 0:
            session.context = max(0, session.context - draw(st.integers(1, 6_000)))
            if draw(st.booleans()):
                named = tuple(draw(st.lists(st.sampled_from(called), max_size=5, unique=True))) if called else ()
                place = len(session.requests), len(session.messages)
                clearings.append(RecordedClearing("results", *place, "auto", len(named) or None, None, named))
        if draw(st.integers(0, 9)) == 0:
            session.context += draw(st.integers(0, 900))
            session.reply(5)
        if draw(st.integers(0, 20)) == 0:
            session.compact(draw(st.integers(1, 900)))
    session.reply()
    return dataclasses.replace(session.done(), clearings=tuple(clearings))


@examples(600)
@given(
    transcript=shrinking(),
    policy=st.sampled_from(POLICIES),
    number=st.integers(0, 3),
    base=st.sampled_from(["full", "full", "recorded"]),
    summarizer=st.sampled_from(["recorded", "stub:50", "extractive"]),
)
def test_every_replay_of_a_session_that_shrinks_is_sound(transcript, policy, number, base, summarizer):
    """Whatever left on the way."""
    weighed = weigh(transcript)
    found = settings_of(policy, weighed)
    options = found[number % len(found)]
    assert violations(weighed, policy, base=base, summarizer=summarizer, **options) == []


def test_fixtures_are_replayed_soundly():
    """Our own files of every format, one setting in some."""
    made, wrong = checked(sorted(path for path in FIXTURES.rglob("*") if path.is_file()), 1 if EVERY else 397)
    assert made
    assert wrong == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("share", range(SHARES))
def test_recordings_are_replayed_soundly(share):
    """Every policy over every session at hand, at its defaults and at low thresholds."""
    found = recordings(*FOLDERS)
    made, wrong = checked(found[share::SHARES])
    print(f"share {share}: {made:,} replays, {len(wrong)} violations")
    assert made or not found
    assert wrong == []


def test_a_context_too_small_for_its_system_message_shows_a_smaller_overhead():
    """Nothing else may give way: a system message never leaves."""
    (found,) = transcripts([FIXTURES / "langchain" / "messages_to_dict.json"])
    (weighed,) = map(weigh, found[1].transcripts)
    smallest = min(weighed.recorded.context)
    assert weighed.overhead + weighed.tokens[0] <= smallest
    assert violations(weighed, "layered_v2") == []
