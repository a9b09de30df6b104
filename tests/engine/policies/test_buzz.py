"""buzz-agent's guard and its ladder: golden values at their thresholds (seeds 2.4 to 2.6)."""

from __future__ import annotations

import pytest

from sessions.engine.policies import buzz
from sessions.engine.policies._lists import without_oldest_turns
from sessions.engine.policies.buzz import newest_within, snippet_bytes
from sessions.engine.policies.policy import Item
from sessions.engine.replays.context import message_items
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Block, Kind, Message, Role
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.sizes import estimator_named
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
    assert buzz.budgets(buzz.RecoveryParams(floor=floor), rejected) == expected


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


def pictures(n, each, **options):
    """Turns with a picture each; pressure is small, the body is not."""
    build = Build(**options)
    for _ in range(n):
        build.prompt(10)
        build.add("user", image(each, 500))
        build.reply(10)
    build.prompt(1)
    build.reply()
    return weigh(build.done())


@pytest.mark.golden("buzz_handoff")
@pytest.mark.parametrize(("under", "fires"), [(-1, False), (0, False), (1, True)])
def test_the_body_cap_acts_in_a_round_without_a_handoff(under, fires):
    """Usage is far under the threshold; wire bytes at the cap do nothing, one over and the oldest turn goes."""
    weighed = pictures(4, 400_000)
    wire = replay(weighed, "buzz_truncate").gates[-1].measure
    made = replay(weighed, "buzz_handoff", params={"max_history_bytes": wire - under})
    assert [[layer.name for layer in event.layers] for event in made.events] == (
        [["truncate_history"]] if fires else []
    )
    assert [event.dropped for event in made.events] == ([3] if fires else [])


def test_the_body_cap_rests_where_the_list_was_handed_over():
    """One request: a handoff leaves one message and the live prompt, both over the cap, and nothing is cut."""
    build = Build(usage=False)
    build.prompt(10)
    build.reply(10, "c0")
    build.result("c0", 60_000)
    build.prompt(20_000)
    build.reply()
    made = replay(weigh(build.done()), "buzz_handoff", params={"max_history_bytes": 65_536}, summarizer="stub:10")
    assert [[layer.name for layer in event.layers] for event in made.events] == [["buzz_handoff"]]


@pytest.mark.golden("buzz_handoff")
def test_no_more_handoffs_than_allowed():
    """Under, at and over the number that are due; ten at most unless asked."""
    weighed = weigh(long_session(400))

    def n_handoffs(n_turns=0, **params):
        session = weigh(long_session(n_turns)) if n_turns else weighed
        return len(replay(session, "buzz_handoff", params=params, window=120_000, summarizer="stub:500").events)

    due = n_handoffs()
    assert due >= 3
    assert [n_handoffs(max_handoffs=due + n) for n in (-1, 0, 1)] == [due - 1, due, due]
    assert n_handoffs(max_handoffs=0) == 0
    assert n_handoffs(2_000) == 10 < n_handoffs(2_000, max_handoffs=1_000)
    gates = replay(weighed, "buzz_handoff", params={"max_handoffs": 1}, window=120_000, summarizer="stub:500").gates
    assert "1 handoffs so far: only the body's cap acts" in gates[-1].reason


@pytest.mark.golden("buzz_handoff")
@pytest.mark.parametrize(("most", "events"), [(0, False), (1, True)])
def test_the_later_release_knows_no_number_but_none(most, events):
    build = Build(overhead=10_000)
    for n in range(12):
        build.prompt(10_000)
        build.turns(1, tokens=10, start=n)
        build.reply()
    params = {"growth": "off", "max_handoffs": most}
    made = replay(weigh(build.done()), "buzz_handoff", params=params, window=45_000, summarizer="stub:500").events
    assert (len(made) > 1) is events


def item(ident, n_bytes, kind=Kind.TEXT, role=Role.USER, **facts):
    block = Block(kind, n_chars=n_bytes, n_bytes=n_bytes, n_tokens=1, **facts)
    return Item(ident, Message(0, ident, role, (block,)), 1, 1, 0)


@pytest.mark.parametrize(
    ("held", "size"),
    [
        (item("prompt", 10), len("[user] \n") + 10),
        (item("reply", 10, role=Role.ASSISTANT), len("[assistant] \n") + 10),
        (item("call", 99, Kind.TOOL_USE, Role.ASSISTANT, name="Read"), len("[assistant]  tool:Read\n")),
        (item("thought", 99, Kind.THINKING, Role.ASSISTANT), len("[assistant] \n")),
        (item("result", 10, Kind.TOOL_RESULT), len("[tool] \n") + 10),
        (item("failed", 10, Kind.TOOL_RESULT, is_error=True), len("[tool_err] \n") + 10),
    ],
    ids=lambda value: value.id if isinstance(value, Item) else "",
)
def test_a_snippet_names_who_says_it(held, size):
    assert snippet_bytes(held) == size


@pytest.mark.golden("buzz_handoff")
@pytest.mark.parametrize(("over", "read"), [(-1, ["b", "d"]), (0, ["b", "d"]), (1, ["a", "d"])])
def test_snippets_go_on_after_one_that_does_not_fit(over, read):
    """108 of d and 58 of b are the budget; c is passed over, b stands; one byte less and a alone fits beside d."""
    items = [item("a", 2), item("b", 50), item("c", 5_000), item("d", 100)]
    assert [i.id for i in newest_within(items, 108 + 58 - over)] == read


def test_a_newest_snippet_that_does_not_fit_is_cut_and_alone():
    assert [i.id for i in newest_within([item("a", 1), item("b", 500)], 100)] == ["b"]


@pytest.mark.golden("buzz_truncate")
@pytest.mark.parametrize(("over", "dropped"), [(-1, 3), (0, 3), (1, 6)])
def test_truncate_stops_at_the_cap(over, dropped):
    """With one turn gone the body is one under, at or one over the cap."""
    weighed = turns(4, 400_000)
    items = message_items(weighed, estimator_named("wire_bytes"))[:-1]
    cap = sum(item.size for item in items[3:]) - over
    left = without_oldest_turns(items, lambda held: held.size, cap)
    assert len(items) - len(left) == dropped
