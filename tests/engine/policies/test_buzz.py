"""buzz-agent's guard and its ladder: golden values at their thresholds (seeds 2.4 to 2.6)."""

from __future__ import annotations

import pytest

from sessions.engine.calibration.calibrate import weigh
from sessions.engine.policies import buzz_recovery
from sessions.engine.replay import replay
from tests.engine.sessions import Build, image, long_session

MIB = 1024 * 1024


def turns(n, each):
    """``n`` turns of about ``each`` wire bytes of picture."""
    build = Build(usage=False)
    for _ in range(n):
        build.prompt(10)
        build.add("user", image(each, 500))
        build.reply(10)
    build.prompt(1)
    build.reply()
    return weigh(build.done())


def test_truncate_drops_the_oldest_turns_until_under_the_cap():
    """Five turns of 4 MB and the live prompt: at most 16 MiB stand, so the first one or two go, turn by turn."""
    made = replay(turns(5, 4_000_000), "buzz_truncate")
    event = made.events[0]
    sizes = [item.size for item in event.after]
    assert sum(sizes) <= 16 * MIB < sum(sizes) + 4_000_000
    assert event.after[0].message.typed
    assert event.dropped % 3 == event.inserted == 0


@pytest.mark.golden("buzz_truncate")
@pytest.mark.parametrize(("extra", "fires"), [(0, False), (1, True)])
def test_truncate_over_the_cap_and_not_at_it(extra, fires):
    weighed = turns(3, 400_000)
    at_last = replay(weighed, "buzz_truncate").gates[-1].measure
    made = replay(weighed, "buzz_truncate", params={"max_history_bytes": at_last - extra})
    assert bool(made.events) is fires


def test_truncate_does_nothing_for_a_history_far_over_the_window():
    made = replay(weigh(long_session(600)), "buzz_truncate", window=200_000)
    assert not made.events
    assert max(made.context_tokens) > 500_000


def test_the_last_turn_is_never_dropped():
    made = replay(weigh(long_session(100)), "buzz_truncate", params={"max_history_bytes": 65_536})
    assert len(made.events) + len(made.attempts) == 0


@pytest.mark.golden("buzz_recovery")
@pytest.mark.parametrize(
    ("rejected", "floor", "expected"),
    [
        (800_000, 16_384, [400_000, 200_000, 100_000]),
        (100_000, 16_384, [50_000, 25_000]),
        (131_072, 16_384, [65_536, 32_768, 16_384]),
        (131_071, 16_384, [65_535, 32_767]),
        (30_000, 16_384, []),
    ],
)
def test_budgets_halve_down_to_the_floor(rejected, floor, expected):
    assert buzz_recovery.budgets(buzz_recovery.Params(floor=floor), rejected) == expected


def test_recovery_waits_for_the_refusal_and_gives_up_below_the_floor():
    weighed = weigh(long_session(120))
    made = replay(weighed, "buzz_recovery", window=60_000, summarizer="stub:1000")
    assert made.events[0].before_tokens > 60_000 >= made.context_tokens[made.events[0].request - 1]
    assert made.events[0].n_after == 2
    hopeless = replay(weighed, "buzz_recovery", params={"floor": 16 * MIB}, window=60_000)
    assert not hopeless.events
    assert "gave up" in hopeless.attempts[0].reason


def test_recovery_tries_smaller_budgets_when_calls_fail():
    weighed = weigh(long_session(120))
    made = replay(weighed, "buzz_recovery", window=60_000, summarizer="stub:1000", fail="first:2")
    assert made.events[0].summary_calls == 3


def test_a_failed_handoff_truncates_instead():
    """Every summary fails: whole turns go while over 16 MiB; where none can, the attempt has failed."""
    build = Build(usage=False)
    for _ in range(3):
        build.prompt(10)
        build.add("user", image(8_000_000, 500))
        build.reply(10)
    build.prompt(1)
    build.reply()
    params = {"measure": "wire_bytes"}
    made = replay(weigh(build.done()), "buzz_handoff", params=params, fail="always")
    assert made.events, "the guard acted"
    assert all(event.inserted == 0 for event in made.events)
    small = replay(weigh(long_session(300, usage=False)), "buzz_handoff", fail="always")
    assert not small.events
    assert len(small.attempts) == 3
