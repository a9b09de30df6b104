"""Every policy that can jump does what its replay does."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.calibration.calibrate import weigh
from sessions.engine.params import specs
from sessions.engine.registry import plugins
from sessions.engine.sweeps.fast.table import RULES, WHOLE, steps_of
from sessions.engine.sweeps.sweep import Setting, sweep
from tests.engine.sessions import long_session
from tests.engine.test_jump import transcripts
from tests.every import examples

JUMPING = sorted(name for name, policy in plugins("policies").items() if (policy.gate, policy.edit) in RULES)
CHOICES = {
    "tokens": st.integers(1_000, 40_000),
    "share": st.sampled_from([1, 2.5, 5, 10, 50]),
    "reserve": st.integers(1_000, 40_000),
    "operator": st.sampled_from([">=", ">"]),
    "keep_last": st.integers(0, 30),
    "keep_unit": st.sampled_from(["messages", "tokens"]),
    "edit": st.sampled_from(["summarise", "truncate"]),
    "breaker": st.sampled_from([None, 1, 3]),
}
TRIGGERS = ("tokens", "share", "reserve")


@st.composite
def given_params(draw, policy):
    """Some of its parameters, one trigger at a time where it has any."""
    has = {spec.name: spec for spec in specs(plugins("policies")[policy].params)}
    triggers = [name for name in TRIGGERS if name in has]
    chosen = {name: None for name in triggers if has[name].optional}
    if triggers:
        trigger = draw(st.sampled_from(triggers))
        chosen[trigger] = draw(CHOICES[trigger])
    for name in sorted(CHOICES.keys() - set(TRIGGERS) & has.keys()):
        if name in has and draw(st.booleans()):
            chosen[name] = draw(CHOICES[name])
    return tuple(chosen.items())


@pytest.mark.parametrize("policy", JUMPING)
@examples(50)
@given(data=st.data(), transcript=transcripts(), window=st.integers(20_000, 60_000),
       summarizer=st.sampled_from(["recorded", "stub:500", "stub:20000"]))  # fmt: skip
def test_a_jump_equals_the_replay(policy, data, transcript, window, summarizer):
    """Row by row, whatever was drawn; some settings do not jump, which is right too."""
    setting = Setting(policy, data.draw(given_params(policy)), window)
    weighed = weigh(transcript)
    (fast,) = sweep(weighed, [setting], summarizer=summarizer).rows
    (slow,) = sweep(weighed, [setting], summarizer=summarizer, columns=lambda _replay: {}).rows
    assert dataclasses.replace(fast, jumped=False) == slow


WHOLES = sorted(name for name, policy in plugins("policies").items() if steps_of(policy) in WHOLE)
LIMITS = st.integers(1_000, 40_000)
DRAWN = {
    "claude_code": {
        "pct_override": st.sampled_from([None, 20, 60]), "buffer": st.sampled_from([0, 3_000, 13_000]),
        "output_reserve_cap": st.sampled_from([0, 5_000]), "blocked_buffer": st.sampled_from([0, 3_000, 30_000]),
        "max_files": st.integers(0, 6), "file_tokens": st.sampled_from([0, 300, 5_000]),
        "files_budget": st.sampled_from([0, 1_000, 50_000]), "skills_budget": st.sampled_from([0, 25_000]),
        "tail": st.sampled_from(["on", "off"]), "output": st.sampled_from(["real", "written"]),
        "breaker": st.sampled_from([None, 1, 3]), "rapid_refills": st.sampled_from([None, 1, 3]),
        "rapid_turns": st.integers(0, 12), "reactive": st.sampled_from(["off", "on"]),
        "usage": st.sampled_from(["recorded", "none"]),
    },
    "crush": {"small_share": st.sampled_from([0, 20, 50]), "usage": st.sampled_from(["recorded", "none"])},
    "openai_compact_threshold": {"compact_threshold": LIMITS, "crosses": st.sampled_from(["reached", "exceeded"])},
    "anthropic_compact": {"trigger": st.just(50_000), "pause_after_compaction": st.sampled_from(["off", "on"])},
}  # fmt: skip
"""Parameters to draw: those that move what a jump goes by, and those with which it must not jump."""


def test_every_policy_that_leaves_a_summary_of_everything_is_drawn():
    assert set(WHOLES) == set(DRAWN)


@pytest.mark.parametrize("policy", WHOLES)
@examples(80)
@given(data=st.data(), transcript=transcripts(n_turns=40), window=st.integers(2_000, 60_000),
       summarizer=st.sampled_from(["recorded", "stub:500", "stub:20000"]))  # fmt: skip
def test_a_jump_over_whole_lists_equals_the_replay(policy, data, transcript, window, summarizer):
    """Row by row, whatever was drawn; some settings do not jump, which is right too."""
    names = data.draw(st.sets(st.sampled_from(sorted(DRAWN[policy])), max_size=6))
    params = tuple((name, data.draw(DRAWN[policy][name], label=name)) for name in sorted(names))
    weighed, setting = weigh(transcript), Setting(policy, params, window)
    (fast,) = sweep(weighed, [setting], summarizer=summarizer).rows
    (slow,) = sweep(weighed, [setting], summarizer=summarizer, columns=lambda _replay: {}).rows
    assert dataclasses.replace(fast, jumped=False) == slow


def test_a_sweep_of_claude_code_jumps():
    """At its defaults and with files put back; not where a layer besides acts."""
    weighed = weigh(long_session(100))
    plain = Setting("claude_code", (("max_files", 3),), 60_000)
    layered = plain._replace(params=(("micro", "time"),))
    first, second = sweep(weighed, [plain, layered]).rows
    assert (first.jumped, second.jumped) == (True, False)
    assert first.totals.compactions > 0


def test_plain_settings_of_the_parametric_policy_jump():
    """One threshold and a tail; a gate with a condition besides is replayed."""
    weighed = weigh(long_session(100))
    plain = Setting("parametric", (("share", None), ("tokens", 40_000), ("keep_last", 6)))
    guarded = plain._replace(params=(*plain.params, ("min_messages", 20)))
    first, second = sweep(weighed, [plain, guarded]).rows
    assert (first.jumped, second.jumped) == (True, False)
    assert first.totals.compactions > 0
