"""Policies that clear old tool results at every request: a sweep says what the replays say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.calibration.calibrate import weigh
from sessions.engine.registry import plugins
from sessions.engine.sweeps.fast.table import CLEARS, steps_of
from tests.engine.jumping import ALWAYS, CLEARED, chat, recorded_sessions, rows_compared, talks
from tests.every import examples
from tests.recordings import recordings

CLEARING = sorted(name for name, policy in plugins("policies").items() if steps_of(policy) in CLEARS)


def drawn(draw, policy):
    """Some of its parameters."""
    names = draw(st.sets(st.sampled_from(sorted(CLEARED[policy])), max_size=3)) | ALWAYS[policy]
    return {name: draw(st.sampled_from(CLEARED[policy][name]), label=name) for name in sorted(names)}


def test_every_policy_that_clears_is_drawn():
    assert set(CLEARING) == set(CLEARED)


@pytest.mark.parametrize("policy", CLEARING)
@examples(200)
@given(data=st.data(), transcript=talks(n_calls=1))
def test_a_sweep_of_clearings_says_what_the_walk_says(policy, data, transcript):
    """Whatever was drawn; some settings do not jump, which is right too."""
    settings = [drawn(data.draw, policy) for _ in range(3)]
    rows_compared(weigh(transcript), policy, settings, "recorded", 200_000)


@pytest.mark.parametrize("policy", CLEARING)
@pytest.mark.parametrize("keep", [0, 1, 4])
def test_a_session_is_swept_without_a_walk(policy, keep):
    """Each trigger jumps, also one that is never reached."""
    settings = [{"trigger": trigger, "keep": keep} for trigger in (0, 9_000, 30_000, 60_000, 2_000_000)]
    assert all(rows_compared(weigh(chat()), policy, settings, "recorded", 200_000))


@pytest.mark.parametrize("policy", CLEARING)
def test_recorded_sessions_are_swept_as_they_are_walked(policy):
    """Every small recording at hand."""
    n_jumped = 0
    for weighed, top in recorded_sessions():
        settings = [{"trigger": top * share // 10, "keep": keep} for share in (3, 6, 9) for keep in (0, 3)]
        n_jumped += sum(rows_compared(weighed, policy, settings, "recorded", 200_000))
    assert n_jumped or not recordings()
