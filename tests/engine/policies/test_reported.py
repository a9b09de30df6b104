"""What a gate says: the trigger it reports, its measure and its threshold; asked alone, without a replay."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sessions.engine.base import registry
from sessions.engine.policies.anthropic_api import Clearing, open_results
from sessions.engine.policies.compression import level
from sessions.engine.policies.parametric import ask
from sessions.engine.policies.params import build
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Block, Kind, Message, Role
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.policies.sent import turns, user
from tests.engine.sessions import Build, empty_view, long_session
from tests.parity.lists import transcript


def asked(context=0, idle=None, *, window=1_000, overhead=0, typed=True, freed=0, since=(0, 0), **given):
    """What the parametric gate answers: fires, measure, threshold, unit."""
    params = build(registry.get("policies", "parametric").params, {"share": None, "counted": "context", **given})
    state = SimpleNamespace(messages_since_event=since[0], turns_since_event=since[1])
    view = SimpleNamespace(
        context=context, size=context, idle_seconds=idle, window=window, overhead=overhead, newest_typed=typed,
        request=3, state=state, tools=SimpleNamespace(size_by=lambda item, _: item), items=[400, 600],
    )  # fmt: skip
    gate = ask(params, view, lambda: freed)
    return gate.fires, gate.measure, gate.threshold, gate.unit


TOKENS_AND_PAUSE = {"tokens": 100, "idle_minutes": 5}


@pytest.mark.golden("parametric")
@pytest.mark.parametrize(
    ("context", "idle", "combine", "answer"),
    [
        (90, 60, "any", (False, 90, 100, "tokens")),
        (10, 240, "any", (False, 240, 300, "seconds")),
        (150, 60, "any", (True, 150, 100, "tokens")),
        (99, 300, "any", (True, 300, 300, "seconds")),
        (150, 60, "all", (False, 60, 300, "seconds")),
        (99, 400, "all", (False, 99, 100, "tokens")),
        (100, 300, "all", (True, 100, 100, "tokens")),
        (99, None, "any", (False, 99, 100, "tokens")),
    ],
)
def test_the_trigger_that_fired_is_reported_else_the_nearest(context, idle, combine, answer):
    """100 tokens, five idle minutes; where all must hold, one that does not yet."""
    assert asked(context, idle, combine=combine, **TOKENS_AND_PAUSE) == answer


@pytest.mark.golden("parametric")
@pytest.mark.parametrize(
    ("context", "given", "fires"),
    [
        (100, {"tokens": 100}, True),
        (100, {"tokens": 100, "operator": ">"}, False),
        (101, {"tokens": 100, "operator": ">"}, True),
        (949, {"reserve": 50}, False),
        (950, {"reserve": 50}, True),
        (124, {"share": 12.5}, False),
        (125, {"share": 12.5}, True),
        (0, {"turns": 3, "since": (0, 2)}, False),
        (0, {"turns": 3, "since": (0, 3)}, True),
        (0, {"kilobytes": 1}, True),
        (0, {"kilobytes": 1, "operator": ">"}, False),
        (100, {"tokens": 100, "min_messages": 10, "since": (9, 0)}, False),
        (100, {"tokens": 100, "min_messages": 10, "since": (10, 0)}, True),
        (100, {"tokens": 100, "remaining_calls": 3}, True),
        (100, {"tokens": 100, "remaining_calls": 4}, False),
        (100, {"tokens": 100, "reclaim": 20, "freed": 19}, False),
        (100, {"tokens": 100, "reclaim": 20, "freed": 20}, True),
        (100, {"tokens": 100, "moment": "turn-end", "typed": False}, False),
        (100, {"tokens": 100, "moment": "turn-end"}, True),
        (600, {"share": 50.0, "capacity": "effective", "overhead": 200, "counted": "context"}, True),
        (599, {"share": 50.0, "capacity": "effective", "overhead": 200, "counted": "context"}, False),
        (399, {"share": 50.0, "capacity": "effective", "overhead": 200, "counted": "estimate"}, False),
        (400, {"share": 50.0, "capacity": "effective", "overhead": 200, "counted": "estimate"}, True),
    ],
)
def test_every_condition_at_its_threshold(context, given, fires):
    """A window of 1,000; two messages of 400 and 600 bytes, three requests before this one."""
    assert asked(context, **given)[0] is fires


@pytest.mark.golden("anchored_iterative", "sliding_window")
@pytest.mark.parametrize(
    ("measure", "name"),
    [(599, "ok"), (600, "warn"), (699, "warn"), (700, "compact"), (899, "compact"), (900, "critical")],
)
@pytest.mark.parametrize("policy", ["anchored_iterative", "sliding_window"])
def test_the_levels_are_reached_at_their_share(policy, measure, name):
    """seeds 3.2: warning 60%, compress 70%, critical 90%, of 1,000."""
    assert level(build(registry.get("policies", policy).params, {}), measure, 1_000) == name


@pytest.mark.golden("parametric")
def test_without_times_no_pause_is_known():
    assert asked(50, None, idle_minutes=5) == (False, 0, 300, "seconds")


@pytest.mark.golden("parametric")
@pytest.mark.parametrize(("context", "fires"), [(999, False), (1_000, False), (1_001, True)])
def test_a_window_that_the_overhead_fills_has_one_token_left(context, fires):
    """Its whole is one token, so one over the overhead fills it (seeds 3.2)."""
    answer = asked(context, window=900, overhead=1_000, share=100.0, capacity="effective")
    assert answer == (fires, max(0, context - 1_000), 1, "tokens")


def gates(spec, policy, **given):
    return [
        (gate.fires, gate.measure, gate.threshold, gate.operator, gate.unit)
        for gate in replay(weigh(transcript(spec)), policy, params=given, summarizer="stub:50").gates
    ]


@pytest.mark.golden("langchain_summarization")
def test_summarization_without_any_trigger_never_fires():
    """None by default in the original (policies 10.2)."""
    spec = [user(), {"role": "assistant", "chars": 4, "thinking": 0, "calls": []}, user()]
    nothing = {"trigger_fraction": None, "keep_messages": 1, "usage": "none"}
    assert gates(spec, "langchain_summarization", **nothing)[-1] == (False, 3, 0, ">=", "messages")


@pytest.mark.golden("openhands_masking")
@pytest.mark.parametrize(("window", "answer"), [(9, (False, 0)), (7, (False, 0)), (6, (True, 1)), (4, (True, 1))])
def test_masking_waits_for_an_observation_outside_the_window(window, answer):
    """Nine messages, the first observation is the third: outside of six (policies 9.1)."""
    *_, gate = gates(turns(4), "openhands_masking", attention_window=window)
    assert (gate[0], gate[1], gate[2], gate[3]) == (*answer, 0, ">")


def shown(id_, *blocks, edited=False):
    message = Message(0, id_, Role.USER, blocks)
    return SimpleNamespace(id=id_, message=message, edited=edited)


def test_a_list_put_in_place_of_another_holds_nothing_cleared():
    """The server starts from the full history at every request (policies 5.1)."""
    block = Block(Kind.TOOL_RESULT, n_chars=40, n_bytes=40, n_tokens=10, call_id="a")
    held = Clearing(ids={"a"}, tokens=500, frontier=1, anchor="was here", n_items=1)
    view = SimpleNamespace(items=[shown("m0", block)], results=[0], state=SimpleNamespace(memory={"cleared": held}))
    assert [(f.position, f.block.call_id) for f in open_results(view)] == [(0, "a")]
    assert (held.tokens, held.frontier, held.anchor) == (0, 0, "")


@pytest.mark.golden("claude_code")
@pytest.mark.parametrize(("first", "cut"), [(500, ["m3"]), (501, ["m2", "m3"])])
def test_a_result_no_longer_than_its_preview_stays(first, cut):
    """Two parallel results, 9,000 characters and 2,000 or 2,004: a preview of 2,000 would save nothing (4.3)."""
    session = Build()
    session.prompt()
    session.reply(100, "a", "b")
    session.result("a", first)
    session.result("b", 2_250)
    session.reply(100)
    given = {"message_chars": 3_999, "preview_chars": 2_000}
    (event,) = replay(weigh(session.done()), "claude_code", params=given).events
    assert [item.id for item in event.after if item.edited] == cut


@pytest.mark.golden("buzz_truncate")
@pytest.mark.parametrize(("over", "fires"), [(-1, False), (0, False), (1, True)])
def test_the_cap_is_fired_over_its_bytes(over, fires):
    """Three messages of 30,000 bytes against 65,536, and a fourth that fills it (seeds 2.5)."""
    spec = [user(30_000), user(30_000), user(5_536 + over)]
    assert gates(spec, "buzz_truncate", max_history_bytes=65_536)[-1][:3] == (fires, 65_536 + over, 65_536)


def filling(**given):
    """Gates of the anchored summary: a window of which 100% is just what is in use at the last of six requests."""
    session = Build()
    session.prompt()
    session.turns(5)
    session.reply()
    weighed = weigh(session.done())
    whole = replay(weighed, "anchored_iterative", params={"trigger": 100}).gates[-1].measure
    given = {"trigger": 100, "min_messages": 1_000, **given}
    return lambda over: replay(weighed, "anchored_iterative", params=given, window=whole + over, summarizer="stub:50")


@pytest.mark.golden("anchored_iterative")
@pytest.mark.parametrize(("over", "waits"), [(-1, True), (0, True), (1, False)])
def test_waiting_for_new_messages_is_said_at_the_trigger(over, waits):
    """In use ≥ the trigger, but too few new messages (seeds 3.2)."""
    *_, gate = filling()(over).gates
    assert not gate.fires
    assert ("waiting for" in gate.reason) is waits


@pytest.mark.golden("anchored_iterative")
@pytest.mark.parametrize(("cycles", "said"), [(0, False), (9, False), (10, True), (11, True)])
def test_a_new_session_is_advised_after_so_many_cycles(cycles, said):
    """seeds 3.2: after 10."""
    policy = registry.get("policies", "anchored_iterative")
    view = empty_view(weigh(long_session(1)), policy.estimator, 60_000)
    view.state.n_events = cycles
    asked = policy.drawn.gate(build(policy.params, {}), view)
    assert ("a new session is advised" in asked.reason) is said


def test_nothing_sent_is_nothing_in_use():
    session = Build(usage=False)
    session.prompt(0)
    session.reply()
    (gate,) = replay(weigh(session.done()), "anchored_iterative", params={"capacity": "effective"}).gates
    assert gate.measure == 0
