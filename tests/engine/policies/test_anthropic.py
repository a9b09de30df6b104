"""The Messages API's edits: triggers, what is kept, what the parameters change."""

from __future__ import annotations

import pytest

from sessions.engine.base.errors import BadParameter
from sessions.engine.policies.anthropic_api import UsesParams
from sessions.engine.policies.params import build
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Kind
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.policies.asked import fires_at, ids, reply_of, session_of
from tests.engine.sessions import Build, long_session, text

CLEAR = "anthropic_clear_tool_uses"


def cleared(weighed, **params):
    """Ids of the messages with cleared results at the end of the last event."""
    result = replay(weighed, CLEAR, params=params)
    return result, [item.id for item in result.events[-1].after if item.edited] if result.events else []


def tools(*names, tokens=1_000, args=0):
    """A prompt and a tool round for each name, results of ``tokens``, arguments of ``args`` tokens."""
    session = Build()
    session.prompt(100)
    for n, name in enumerate(names):
        session.reply(100, f"c{n}", name=name)
        if args:
            reply = session.messages[-1]
            call = text(args, Kind.TOOL_USE, name=name, call_id=f"c{n}")
            session.messages[-1] = type(reply)(reply.index, reply.id, reply.role, (reply.blocks[0], call))
        session.result(f"c{n}", tokens)
    session.reply(100)
    return weigh(session.done())


@pytest.mark.golden("anthropic_clear_tool_uses")
@pytest.mark.parametrize(("size", "fires"), [(99_999, False), (100_000, False), (100_001, True)])
def test_clear_tool_uses_fires_above_the_trigger(size, fires):
    """Exceeds: >."""
    assert fires_at(session_of(size), CLEAR, params={"keep": 0}) == (fires, size, 100_000, ">")


def test_the_newest_three_stay():
    _, gone = cleared(tools(*["Read"] * 8), trigger=0)
    assert gone == ["m2", "m4", "m6", "m8", "m10"]


@pytest.mark.parametrize(("uses", "fires"), [(8, False), (7, True)])
def test_triggered_by_tool_uses(uses, fires):
    """Exceeds the number of tool uses."""
    result, _ = cleared(tools(*["Read"] * 8), trigger_tool_uses=uses, keep=0)
    assert bool(result.events) is fires


@pytest.mark.parametrize(("least", "n"), [(5_000, 5), (5_001, 0)])
def test_clear_at_least(least, n):
    """Five results of 1,000 tokens could go: fewer than asked for, and nothing does."""
    _, gone = cleared(tools(*["Read"] * 8), trigger=0, clear_at_least=least)
    assert len(gone) == n


def test_clear_at_least_counts_from_the_full_history():
    """The API starts from all results at every request: once enough can go, one more goes with each tool use."""
    result, _ = cleared(tools(*["Read"] * 12), trigger=0, clear_at_least=3_000)
    assert [event.edited for event in result.events] == [3, 1, 1, 1, 1, 1, 1]


def test_stop_early():
    """No more than is asked for."""
    result, gone = cleared(tools(*["Read"] * 12), trigger=0, clear_at_least=3_000, stop_early="on")
    assert len(result.events) == 1
    assert gone == ["m2", "m4", "m6"]


def test_excluded_tools_beside_keep():
    """Excluded ones stay; they use up keep only where that is asked for."""
    weighed = tools("Read", "Bash", "Read", "Bash", "Read", "Bash")
    assert cleared(weighed, trigger=0, keep=2, exclude_tools="Bash")[1] == ["m2"]
    given = {"trigger": 0, "keep": 2, "exclude_tools": "Bash", "exclude_counts_in_keep": "on"}
    assert cleared(weighed, **given)[1] == ["m2", "m6"]


@pytest.mark.parametrize(
    ("inputs", "named", "blank"), [("off", "", []), ("on", "", ["m1", "m3"]), ("named", "Bash", ["m3"])]
)
def test_arguments_are_cleared_where_asked(inputs, named, blank):
    weighed = tools("Read", "Bash", "Read", args=500)
    result, gone = cleared(weighed, trigger=0, keep=1, clear_tool_inputs=inputs, input_tools=named)
    assert [i for i in gone if i in {"m1", "m3", "m5"}] == blank
    after = {item.id: item for item in result.events[-1].after}
    assert all(after[i].tokens < 600 for i in blank)


def test_claude_codes_own_use():
    """Policies 4.7: trigger 180,000 and at least 140,000 cleared."""
    given = {"trigger": 180_000, "clear_at_least": 140_000}
    result = replay(weigh(long_session(300)), CLEAR, params=given, window=1_000_000)
    first = result.events[0]
    assert first.gate.measure > 180_000
    assert first.before_tokens - first.after_tokens > 100_000


def test_the_trigger_looks_at_the_uncleared_history():
    """After clearing, the context is far below the trigger; the gate still measures what the client holds."""
    result = replay(weigh(long_session(200)), CLEAR, window=1_000_000)
    late = result.events[-1]
    assert late.gate.measure > 100_000 > late.after_tokens
    assert late.edited == 1


def thinking_session(model="claude-opus-4-6"):
    session = Build(model=model)
    for turn in range(4):
        session.prompt(50)
        for round_ in range(2):
            reply = session.reply(140, f"c{turn}{round_}")
            session.messages[-1] = type(reply)(
                reply.index, reply.id, reply.role, (text(90, Kind.THINKING), text(50), *reply.blocks[1:])
            )
            session.result(f"c{turn}{round_}", 50)
    session.reply(100)
    return weigh(session.done())


@pytest.mark.golden("anthropic_clear_thinking")
@pytest.mark.parametrize(("keep", "n"), [(1, 6), (2, 4), (3, 2), (4, 0)])
def test_clear_thinking_keeps_turns(keep, n):
    """A turn with a tool loop is one turn: two messages with thinking each."""
    result = replay(thinking_session(), "anthropic_clear_thinking", params={"keep": keep})
    assert (sum(item.edited for item in result.events[-1].after) if result.events else 0) == n


def test_clear_thinking_by_default():
    """All is kept on a model that keeps thinking; an older one drops it itself, as its recording shows."""
    for model in ("claude-opus-4-6", "claude-sonnet-4-5"):
        assert replay(thinking_session(model), "anthropic_clear_thinking").events == ()
    assert replay(thinking_session("claude-sonnet-4-5"), "anthropic_clear_thinking", params={"keep": 1}).events == ()


@pytest.mark.golden("anthropic_compact")
@pytest.mark.parametrize(("size", "fires"), [(149_999, False), (150_000, True), (150_001, True)])
def test_compact_fires_at_the_trigger(size, fires):
    """≥."""
    assert fires_at(session_of(size), "anthropic_compact") == (fires, size, 150_000, ">=")


def test_compact_takes_no_less_than_50_000():
    assert fires_at(session_of(50_000), "anthropic_compact", params={"trigger": 50_000})[0]
    with pytest.raises(BadParameter, match="from 50,000"):
        replay(session_of(50_000), "anthropic_compact", params={"trigger": 49_999})


def test_compact_ignores_everything_before_the_block():
    """One block from the assistant; where the client pauses, its newest messages after it."""
    weighed = weigh(long_session(100))
    event = replay(weighed, "anthropic_compact", params={"trigger": 50_000}, summarizer="stub:300").events[0]
    assert ids(event.after) == ["e0.0"]
    assert event.after[0].message.role == "assistant"
    paused = replay(
        weighed, "anthropic_compact", summarizer="stub:300",
        params={"trigger": 50_000, "pause_after_compaction": "on", "keep_last": 3},
    ).events[0]  # fmt: skip
    assert ids(paused.after)[1:] == ids(paused.before)[-4:], "the call of the oldest result kept comes along"


@pytest.mark.golden("anthropic_sdk_compaction")
@pytest.mark.parametrize(("total", "fires"), [(99_999, False), (100_000, True), (100_001, True)])
def test_sdk_compaction_fires_at_the_threshold(total, fires):
    """≥; input, cache and output of the last response, not what came after."""
    assert fires_at(reply_of(total), "anthropic_sdk_compaction") == (fires, total, 100_000, ">=")


def test_sdk_compaction_is_one_user_message():
    """The results of the calls it skips go too; a prompt typed since stays."""
    event = replay(reply_of(100_000), "anthropic_sdk_compaction", summarizer="stub:300").events[0]
    assert ids(event.after) == ["e0.0"]
    session = Build()
    session.prompt(100_000)
    session.reply(100)
    session.prompt(10)
    session.reply(100)
    event = replay(weigh(session.done()), "anthropic_sdk_compaction", summarizer="stub:300").events[0]
    assert ids(event.after) == ["e0.0", "m2"]


def test_along_the_recording_clearing_is_shown_and_not_carried():
    """One event; until the next recorded compaction the list stands as recorded, and every gate says so."""
    result = replay(weigh(long_session(200)), CLEAR, base="recorded", window=1_000_000)
    (event,) = result.events
    assert result.context_tokens[-1] > 200_000
    assert all(gate.fires for gate in result.gates[event.request + 1 :])


def test_names_are_separated_by_commas_or_spaces():
    given = {"exclude_tools": " Bash,Read  Read;", "input_tools": None}
    built = build(UsesParams, given)
    assert (built.exclude_tools, built.input_tools) == ("Bash Read Read;", "")
    with pytest.raises(BadParameter, match="at most 100 names"):
        build(UsesParams, {"exclude_tools": "x" * 121})
