"""Golden values of presets: each trigger under, at and over its threshold."""

from __future__ import annotations

import dataclasses

import pytest

from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Kind
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.policies.asked import fires_at, session_of
from tests.engine.sessions import Build, text

WINDOW = 200_000
MODEL = "gpt-4.1"
"""A token of text weighs one token of its tokenizer, so the overhead comes out as it was put in."""


@pytest.mark.golden("mini_swe_agent_summary", "effective_window", "head_and_tail", "crush")
@pytest.mark.parametrize("over", [-1, 0, 1])
@pytest.mark.parametrize(
    ("policy", "context", "threshold"),
    [
        ("mini_swe_agent_summary", 28_000, 28_000),
        ("effective_window", 143_000, 133_000),
        ("head_and_tail", 160_000, 160_000),
        ("crush", 160_000, 160_000),
    ],
)
def test_fires_from_its_threshold_on(policy, context, threshold, over):
    """≥; of the effective window: 70% of 200,000 − 10,000, against the context without those 10,000."""
    expected = (over >= 0, threshold + over, threshold, ">=")
    assert fires_at(session_of(context + over, model=MODEL), policy, window=WINDOW) == expected


@pytest.mark.golden("copilot_chat")
@pytest.mark.parametrize("over", [-1, 0, 1])
def test_copilot_fires_over_its_budget(over):
    """⌊0.85 · (200,000 − 10,000)⌋ against what is beside the 10,000; at the budget nothing happens."""
    found = fires_at(session_of(171_500 + over, model=MODEL), "copilot_chat", window=WINDOW)
    assert found == (over > 0, 161_500 + over, 161_500, ">")


@pytest.mark.golden("copilot_cli")
@pytest.mark.parametrize("over", [-1, 0, 1])
def test_copilot_cli_fires_from_eight_tenths_of_its_window_on(over):
    """160,000 of 200,000 by its own count: the list and 10,000 before it, whatever the provider reports."""
    build = Build(overhead=10_000, model=MODEL)
    build.prompt(1_000)
    build.reply(100, "c0")
    build.result("c0", 148_906 + over)
    build.reply(100)
    weighed = weigh(build.done())
    expected = (over >= 0, 160_000 + over, 160_000, ">=")
    assert weighed.overhead == 9_994, "6 tokens are around a prompt of this provider's"
    assert fires_at(weighed, "copilot_cli", window=WINDOW) == expected
    share = fires_at(weighed, "copilot_cli", window=WINDOW, params={"share": 81})
    assert share == (False, 160_000 + over, 162_000, ">=")


@pytest.mark.golden("letta")
@pytest.mark.parametrize(("window", "threshold", "fires"), [(111, 99, True), (112, 100, True), (113, 101, False)])
def test_letta_fires_over_nine_tenths_rounded_down(window, threshold, fires):
    """A prompt of 311 bytes: ⌊⌈311 ÷ 4⌉ × 1.3⌋ = 101 is over int(0.9 × 112) = 100, not over int(0.9 × 113) = 101."""
    build = Build(overhead=0, usage=False)
    build.add("user", dataclasses.replace(text(78), n_chars=311, n_bytes=311), typed=True)
    build.reply()
    made = replay(weigh(build.done()), "letta", window=window, summarizer="stub:1").gates[0]
    assert (made.fires, made.measure, made.threshold, made.operator) == (fires, 101, threshold, ">")


@pytest.mark.golden("aider")
@pytest.mark.parametrize("over", [-1, 0, 1])
def test_aider_summarises_over_its_budget(over):
    """8,000 of 128,000: two messages of finished turns, each with a frame of 11 tokens, then the next prompt."""
    build = Build(overhead=0)
    build.prompt(4_000 - 11)
    build.reply(4_000 - 11 + over)
    build.prompt(50)
    build.reply()
    assert fires_at(weigh(build.done()), "aider", window=128_000) == (over > 0, 8_000 + over, 8_000, ">")


@pytest.mark.golden("browser_use")
@pytest.mark.parametrize(("n_steps", "short", "fires"), [(24, 0, False), (25, 1, False), (25, 0, True), (26, 0, True)])
def test_browser_use_at_both_of_its_thresholds(n_steps, short, fires):
    """The 25th request, with 40,000 characters; one step or one character fewer, and nothing happens."""
    build = Build(usage=False)
    for _ in range(n_steps - 1):
        build.prompt(1)
        build.reply(1)
    n_chars = 40_000 - short - 8 * (n_steps - 1)
    build.add("user", dataclasses.replace(text(1), n_chars=n_chars, n_bytes=n_chars), typed=True)
    build.reply(1)
    asked = replay(weigh(build.done()), "browser_use", summarizer="stub:1").gates[-1]
    assert asked.fires is fires
    assert asked.threshold == (25 if n_steps < 25 else 40_000)
    assert asked.measure == (24 if n_steps < 25 else 40_000 - short)


def paused(seconds: float, context: int):
    """Two requests; the second is sent after a pause of ``seconds`` with ``context`` tokens."""
    weighed = session_of(context)
    done = weighed.transcript
    times = {1: 1_000.0, 2: 1_000.0 + seconds}
    messages = tuple(dataclasses.replace(m, timestamp=times.get(m.index, m.timestamp)) for m in done.messages)
    return weigh(dataclasses.replace(done, messages=messages))


@pytest.mark.golden("cold_cache")
@pytest.mark.parametrize(
    ("seconds", "context", "fires"),
    [(299, 80_000, False), (300, 79_999, False), (300, 80_000, True), (301, 80_001, True)],
)
def test_cold_cache_needs_five_minutes_and_two_fifths(seconds, context, fires):
    """≥ on both: 300 seconds and 80,000 of 200,000."""
    assert fires_at(paused(seconds, context), "cold_cache", window=WINDOW)[0] is fires


@pytest.mark.golden("turn_summaries")
@pytest.mark.parametrize(("n_prompts", "fires"), [(9, False), (10, True)])
def test_turn_summaries_from_the_tenth_prompt_on(n_prompts, fires):
    build = Build()
    for _ in range(n_prompts):
        build.prompt()
        build.reply()
    assert fires_at(weigh(build.done()), "turn_summaries", -1) == (fires, n_prompts, 10, ">=")


def thought(n_replies: int):
    """Replies with thinking of 60 tokens, on a model that keeps it."""
    build = Build(model="claude-opus-4-6")
    build.prompt()
    for n in range(n_replies):
        reply = build.reply(160, f"c{n}")
        build.messages[-1] = dataclasses.replace(reply, blocks=(text(60, Kind.THINKING), text(100), *reply.blocks[1:]))
        build.result(f"c{n}", 10)
    build.reply()
    return weigh(build.done())


@pytest.mark.golden("no_old_thinking")
@pytest.mark.parametrize("over", [-1, 0, 1])
def test_no_old_thinking_at_half_of_the_window(over):
    """≥; all but the newest three replies lose their thinking."""
    weighed = thought(6)
    context = replay(weighed, "none").context_tokens[-1]
    made = replay(weighed, "no_old_thinking", window=2 * (context - over))
    assert (made.gates[-1].measure, made.gates[-1].threshold) == (context, context - over)
    assert ([item.id for item in made.events[-1].after if item.edited] if made.events else []) == (
        ["m1", "m3", "m5"] if over >= 0 else []
    )


@pytest.mark.golden("batched_masking")
@pytest.mark.parametrize(("more", "fires"), [(0, True), (1, False)])
def test_batched_masking_from_a_fifth_of_the_context_on(more, fires):
    """Thirteen results of 1,000, the newest ten stay: three less markers of 7 are 2,979, a fifth of 14,899, down."""
    build = Build(overhead=0)
    build.prompt(1_249 + more)
    for n in range(13):
        build.reply(50, f"c{n}")
        build.result(f"c{n}", 1_000)
    build.reply()
    made = replay(weigh(build.done()), "batched_masking", window=2 * (14_899 + more))
    assert made.gates[-1].measure == 14_899 + more
    assert [event.edited for event in made.events] == ([3] if fires else [])


@pytest.mark.golden("none")
@pytest.mark.parametrize("over", [-1, 0, 1])
def test_none_never_fires(over):
    """Not at the window and not over it: such a request could not have been sent."""
    assert fires_at(session_of(WINDOW + over), "none", window=WINDOW) == (False, WINDOW + over, WINDOW, ">")
