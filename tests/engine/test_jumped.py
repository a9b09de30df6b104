"""A replay made by jumping says what the walk says, field by field, and makes lists only as far as somebody looks."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.calibration.calibrate import weigh
from sessions.engine.cost import totals
from sessions.engine.cost_fit import replay_range
from sessions.engine.prices import prices_of
from sessions.engine.replay import replay
from sessions.engine.sweeps.fast.jumped import jumped
from tests.engine.sessions import long_session
from tests.engine.test_jump import transcripts
from tests.engine.test_jump_policies import DRAWN, JUMPING, WHOLES, given_params
from tests.every import examples

SEQUENCES = ("gates", "sent")


def assert_same(weighed, policy, **options):
    """Everything that the two replays say; False where there is nothing to jump."""
    prices = prices_of(weighed.model)
    fast = jumped(weighed, policy, prices=prices, **options)
    slow = replay(weighed, policy, **options)
    if fast is None:
        return False
    made = fast.replay
    for field in fields(slow):
        mine, other = getattr(made, field.name), getattr(slow, field.name)
        if field.name != "outlines":
            assert (tuple(mine) if field.name in SEQUENCES else mine) == other, field.name
    assert fast.totals == totals(slow, prices=prices)
    assert replay_range(made, fast.totals, prices=prices) == replay_range(slow, fast.totals, prices=prices)
    assert made.fits == slow.fits
    for mine, other in zip(reversed(made.events), reversed(slow.events), strict=True):
        assert (mine.before, mine.after, mine.changes_at) == (other.before, other.after, other.changes_at)
    assert dict(made.outlines) == dict(slow.outlines)
    return True


@pytest.mark.parametrize("policy", JUMPING)
@examples(50)
@given(data=st.data(), transcript=transcripts(), window=st.integers(20_000, 60_000),
       summarizer=st.sampled_from(["recorded", "stub:500", "stub:20000"]))  # fmt: skip
def test_a_jumped_replay_with_a_tail_says_what_the_walk_says(policy, data, transcript, window, summarizer):
    """Whatever was drawn; some settings do not jump, which is right too."""
    params = dict(data.draw(given_params(policy)))
    assert_same(weigh(transcript), policy, params=params, window=window, summarizer=summarizer)


@pytest.mark.parametrize("policy", WHOLES)
@examples(80)
@given(data=st.data(), transcript=transcripts(n_turns=40), window=st.integers(2_000, 60_000),
       summarizer=st.sampled_from(["recorded", "stub:500", "stub:20000"]))  # fmt: skip
def test_a_jumped_replay_of_whole_lists_says_what_the_walk_says(policy, data, transcript, window, summarizer):
    """Whatever was drawn; some settings do not jump, which is right too."""
    names = data.draw(st.sets(st.sampled_from(sorted(DRAWN[policy])), max_size=6))
    params = {name: data.draw(DRAWN[policy][name], label=name) for name in sorted(names)}
    assert_same(weigh(transcript), policy, params=params, window=window, summarizer=summarizer)


@pytest.mark.parametrize(
    ("policy", "params"),
    [
        ("claude_code", {}),
        ("claude_code", {"max_files": 3, "tail": "off"}),
        ("crush", {}),
        ("anthropic_compact", {"trigger": 50_000}),
        ("openai_compact_threshold", {"compact_threshold": 45_000}),
        ("parametric", {"share": 60}),
    ],
)
@pytest.mark.parametrize("summarizer", ["recorded", "stub:900"])
def test_a_session_with_compactions_is_jumped_over(policy, params, summarizer):
    """Not only where the draw has it: each of them jumps, and compacts more than once."""
    weighed = weigh(long_session(200))
    assert assert_same(weighed, policy, params=params, window=60_000, summarizer=summarizer)
    assert len(replay(weighed, policy, params=params, window=60_000, summarizer=summarizer).events) > 1


def test_the_line_without_compaction_is_jumped_over_too():
    weighed = weigh(long_session(200))
    assert assert_same(weighed, "none", params={}, window=60_000)
    assert not replay(weighed, "none", window=60_000).fits
