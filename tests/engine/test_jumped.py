"""A replay made by jumping says what the walk says, field by field, and makes lists only as far as somebody looks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.calibration.calibrate import weigh
from sessions.engine.replay import replay
from tests.engine.jumping import compared
from tests.engine.sessions import long_session
from tests.engine.test_jump import transcripts
from tests.engine.test_jump_policies import DRAWN, JUMPING, WHOLES, given_params
from tests.every import examples


@pytest.mark.parametrize("policy", JUMPING)
@examples(50)
@given(data=st.data(), transcript=transcripts(), window=st.integers(20_000, 60_000),
       summarizer=st.sampled_from(["recorded", "stub:500", "stub:20000"]))  # fmt: skip
def test_a_jumped_replay_with_a_tail_says_what_the_walk_says(policy, data, transcript, window, summarizer):
    """Whatever was drawn; some settings do not jump, which is right too."""
    params = dict(data.draw(given_params(policy)))
    compared(weigh(transcript), policy, params=params, window=window, summarizer=summarizer)


@pytest.mark.parametrize("policy", WHOLES)
@examples(80)
@given(data=st.data(), transcript=transcripts(n_turns=40), window=st.integers(2_000, 60_000),
       summarizer=st.sampled_from(["recorded", "stub:500", "stub:20000"]))  # fmt: skip
def test_a_jumped_replay_of_whole_lists_says_what_the_walk_says(policy, data, transcript, window, summarizer):
    """Whatever was drawn; some settings do not jump, which is right too."""
    names = data.draw(st.sets(st.sampled_from(sorted(DRAWN[policy])), max_size=6))
    params = {name: data.draw(DRAWN[policy][name], label=name) for name in sorted(names)}
    compared(weigh(transcript), policy, params=params, window=window, summarizer=summarizer)


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
    assert compared(weighed, policy, params=params, window=60_000, summarizer=summarizer)[0]
    assert len(replay(weighed, policy, params=params, window=60_000, summarizer=summarizer).events) > 1


def test_the_line_without_compaction_is_jumped_over_too():
    weighed = weigh(long_session(200))
    assert compared(weighed, "none", params={}, window=60_000)[0]
    assert not replay(weighed, "none", window=60_000).fits
