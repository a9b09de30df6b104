"""Policies that leave a part of the list: a jump says what the walk says, field by field."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.calibration.calibrate import weigh
from sessions.engine.registry import plugins
from sessions.engine.sweeps.fast.table import PARTS, TAILS, steps_of
from tests.engine.jumping import (
    ALWAYS,
    COMPACTING,
    MOST_TURNS,
    OWN_LIMIT,
    SETTINGS,
    chat,
    compared,
    recorded_sessions,
    rows_compared,
    talks,
)
from tests.engine.sessions import Build
from tests.every import examples
from tests.recordings import recordings

PARTLY = sorted(SETTINGS)
STUBS = ["recorded", "stub:50", "stub:500", "stub:3000"]


@st.composite
def settings_of(draw, policy):
    """Some of its parameters."""
    names = draw(st.sets(st.sampled_from(sorted(SETTINGS[policy])), max_size=4))
    names |= ALWAYS.get(policy, set())
    return {name: draw(st.sampled_from(SETTINGS[policy][name]), label=name) for name in sorted(names)}


def test_every_policy_that_leaves_a_part_is_drawn():
    assert {steps_of(plugins("policies")[name]) for name in SETTINGS} == PARTS.keys() | TAILS.keys()


@pytest.mark.parametrize("policy", PARTLY)
@examples(200)
@given(
    data=st.data(),
    transcript=talks(),
    window=st.one_of(st.integers(3_000, 9_000), st.integers(4_000, 30_000)),
    summarizer=st.sampled_from(STUBS),
)
def test_a_jump_that_leaves_a_part_says_what_the_walk_says(policy, data, transcript, window, summarizer):
    """Whatever was drawn; some settings do not jump, which is right too."""
    weighed, params = weigh(transcript), data.draw(settings_of(policy))
    compared(weighed, policy, params=params, window=window, summarizer=summarizer)
    rows_compared(weighed, policy, [params], summarizer, window)


@pytest.mark.parametrize("policy", PARTLY)
@pytest.mark.parametrize("summarizer", ["recorded", "stub:900"])
@pytest.mark.parametrize("every", [3, 40])
def test_a_session_is_jumped_over(policy, summarizer, every):
    """Not only where the draw has it: each of them jumps, and compacts more than once."""
    options = {"params": COMPACTING.get(policy, {}), "window": 60_000, "summarizer": summarizer}
    weighed = weigh(chat(every=min(every, MOST_TURNS.get(policy, every))))
    has_jumped, n_events = compared(weighed, policy, **options)
    assert has_jumped
    assert n_events > 1


@pytest.mark.parametrize("policy", PARTLY)
def test_windows_are_swept_together_as_they_are_walked(policy):
    """Settings with one edit share what they leave and what is fetched again, wherever each of them cuts."""
    windows = [23_000, 27_500, 31_000, 44_000, 60_000, 61_000, 90_000]
    rows_compared(weigh(chat(every=7)), policy, [COMPACTING.get(policy, {})], "stub:300", *windows)


@pytest.mark.parametrize("policy", PARTLY)
def test_recorded_sessions_are_jumped_over_as_they_are_walked(policy):
    """Every small recording at hand, at a window that makes it compact where the policy can."""
    n_jumped = 0
    for weighed, top in recorded_sessions():
        window = max(2_000, top * 3 // 5)
        own = {OWN_LIMIT[policy]: window // 2} if policy in OWN_LIMIT else COMPACTING.get(policy, {})
        has_jumped, n_events = compared(weighed, policy, params=own, window=window, summarizer="stub:50")
        n_jumped += has_jumped and n_events > 0
    assert n_jumped or not recordings()


def test_results_that_stay_before_the_first_prompt_are_not_fetched_again():
    """A recording that was cut at its beginning; Inspect keeps all up to the first message of the user's."""
    session = Build(overhead=500)
    for turn in range(12):
        name, number = ("edit", 0) if turn == 11 else ("read", turn)
        session.reply(100, f"c{turn}", name=name, target=f"/src/{number}.py")
        session.result(f"c{turn}", 900)
        if turn == 2:
            session.prompt()
    session.reply()
    weighed = weigh(session.done())
    _, n_events = compared(weighed, "inspect_summary", window=8_000, summarizer="stub:50", params={})
    assert n_events
    rows_compared(weighed, "inspect_summary", [{}], "stub:50", 8_000)
