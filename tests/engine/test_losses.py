"""What left a recorded context beside its compactions: of which messages, and what of that a replay still holds."""

from __future__ import annotations

import dataclasses
import json
from io import BytesIO

import pytest

from sessions.engine.reading.reading import read_transcripts
from sessions.engine.replays.replay import replay, walk_of
from sessions.engine.reports.report import replay_document
from sessions.engine.transcript.types import RecordedClearing, Role
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.series import Ledger, MayLeave
from sessions.engine.why.overcount import over_count
from tests.engine.sessions import Build, text

RESULTS = {"c0": 6_000, "c1": 5_000, "c2": 4_000, "c3": 3_000}


def session(lost, *named, overhead=10_000, n_after=12, recorded=True):
    """Four large results, of which ``lost`` tokens leave after the last; the record names some calls, or none."""
    build = Build(overhead=overhead)
    build.prompt(50)
    for call, tokens in RESULTS.items():
        build.reply(100, call, target=f"/src/{call}.py")
        build.result(call, tokens)
    build.reply(100, "c4", target="/src/c4.py")
    place = len(build.requests), len(build.messages)
    build.result("c4", 200)
    build.context -= lost
    build.turns(n_after, tokens=300, start=5)
    build.reply()
    clearing = RecordedClearing("results", *place, "auto", len(named) or None, lost, named)
    return weigh(dataclasses.replace(build.done(), clearings=(clearing,) if recorded else ()))


def parts_of(weighed):
    """Tokens lost by call."""
    messages = weighed.transcript.messages
    (loss,) = weighed.recorded.losses
    return {call: tokens for index, tokens in loss.parts for call in messages[index].result_ids()}


def test_what_the_record_names_lost():
    """The named results, not the oldest."""
    assert parts_of(session(8_000, "c1", "c3")) == {"c1": 5_000, "c3": 3_000}


def test_without_names_the_oldest_results_lost():
    """As much as left: all of the first, the rest of the second."""
    found = parts_of(session(8_000, recorded=False))
    whole = session(0, recorded=False)
    assert set(found) == {"c0", "c1"}
    assert found["c0"] == whole.tokens[2]
    assert sum(found.values()) == 8_000


def test_thinking_goes_where_a_turn_ends():
    """The newest first, before any result; then the oldest results, then what else stands; never a system prompt."""
    build = Build()
    build.add(Role.SYSTEM, text(300))
    prompt, reply = build.prompt(50), build.reply(400, "a")
    result, last = build.result("a", 2_000), build.reply(500)
    ledger = Ledger()
    held = [(message, tokens, thought) for message, tokens, thought in zip(
        build.messages, (300, 50, 400, 2_000, 500), (0, 0, 100, 0, 200), strict=True)]  # fmt: skip
    ledger.add(0, 350, held[:2])
    ledger.add(1, 2_900, held[2:])
    assert ledger.lose(2, 250, MayLeave({}, ends_turn=True, takes_history=False)).parts == ((2, 50), (4, 200))
    assert ledger.lose(3, 2_500, MayLeave({}, ends_turn=False, takes_history=False)).parts == (
        (prompt.index, 50), (reply.index, 350), (result.index, 2_000), (last.index, 100),
    )  # fmt: skip
    assert ledger.lose(4, 9_000, MayLeave({}, ends_turn=True, takes_history=True)).tokens == 200


@pytest.mark.parametrize("named", [(), ("c0", "c1", "c2")])
def test_nothing_leaves_of_what_is_gone(named):
    """A compaction had dropped the results before they were cleared: the replay's list loses nothing."""
    weighed = session(14_000, *named)
    made = replay(weighed, "parametric", params={"tokens": 27_000, "keep_last": 0}, summarizer="stub:500")
    assert made.events[0].request <= 4
    assert [cleared.tokens for cleared in made.cleared] == [0]
    assert min(made.context_tokens) >= weighed.overhead + 50
    (warning,) = [words for words in made.warnings if "cleared in place" in words]
    assert warning == "request 5: of 14,000 tokens that the recording cleared in place, 0 still stood here"
    document = replay_document(made)
    assert document["cleared_in_place"] == [{"request": 5, "tokens": 0}]


def test_only_what_still_stands_leaves():
    """Two results were cleared; the older of them had been dropped."""
    weighed = session(9_000, "c0", "c3")
    made = replay(weighed, "parametric", params={"tokens": 27_000, "keep_last": 2}, summarizer="stub:500")
    assert [event.request for event in made.events] == [4]
    assert [cleared.tokens for cleared in made.cleared] == [3_000]


def test_what_was_cleared_does_not_come_back():
    """A client that shortens a copy of its list, and remembers all of it, sends no cleared result again."""
    weighed = session(9_000, "c0", "c3")
    walk = walk_of(weighed, "autogen_head_tail", params={"head_size": 4, "tail_size": 6})
    walk.run()
    assert walk.events
    at = {item.id: item.tokens for event in walk.events if event.request > 5 for item in event.after}
    cleared = [m.id for m in weighed.transcript.messages if m.result_ids() & {"c0", "c3"}]
    assert all(at.get(name, 0) < 100 for name in cleared)


def test_a_session_that_is_not_changed_sends_what_was_measured():
    """Without a compaction all that left leaves."""
    weighed = session(14_000, "c0", "c1", "c2")
    made = replay(weighed, "none")
    assert made.context_tokens == weighed.recorded.context
    assert [cleared.tokens for cleared in made.cleared] == [14_000]
    assert all(words.find("cleared in place") < 0 for words in made.warnings)


def test_a_retry_that_grew_takes_its_own_growth_back():
    """Requests without messages between: what they added is what leaves again."""
    build = Build()
    build.prompt()
    build.turns(3)
    build.reply(20)
    request = build.requests[-1]
    usage = dataclasses.replace(request.usage, cache_write=request.usage.cache_write + 900)
    again = dataclasses.replace(request, index=len(build.requests), message=len(build.messages), usage=usage)
    build.requests[-1] = dataclasses.replace(request, n_messages=1)
    build.requests.append(dataclasses.replace(again, message=request.message))
    build.add(Role.USER, text(30))
    build.reply()
    weighed = weigh(build.done())
    assert replay(weighed, "none").context_tokens == weighed.recorded.context
    assert [loss.beside for loss in weighed.recorded.losses] == [900]


def test_what_gates_saw_is_never_below_what_a_compaction_leaves():
    """The same where every agent's trigger goes over the session."""
    weighed = session(14_000, recorded=False, n_after=40)
    made = over_count(weighed, window=30_000)
    firings = [firing for result in made.results for firing in (*result.firings, *filter(None, [result.missed]))]
    assert firings
    assert all(firing.reference >= weighed.overhead for firing in firings)


def test_an_export_names_the_calls_again():
    """What the record names is kept in ctxweb's own format, and only names are read."""
    clearing = {"what": "results", "request": 1, "message": 1, "calls": ["a", 3]}
    lines = {"ctxweb": "session/1", "clearings": [clearing]}, {"role": "user", "content": "x"}
    file = BytesIO("\n".join(map(json.dumps, lines)).encode())
    (made,) = read_transcripts(file, "x.jsonl").transcripts
    assert [one.calls for one in made.clearings] == [("a",)]


class Counted(list):
    """A list that counts what is looked at from its end."""

    seen = 0

    def __reversed__(self):
        for item in super().__reversed__():
            Counted.seen += 1
            yield item


def test_what_left_is_looked_for_from_the_end_of_the_list():
    """A policy that has stopped holds every message: looking through all of them at each loss took seconds."""
    weighed = session(8_000, "c1", "c3", n_after=200)
    walked = walk_of(weighed, "none")
    walked.run()
    context, (loss,) = walked.context, weighed.recorded.losses
    places = {item.message.index: at for at, item in enumerate(context.items) if item.message.index >= 0}
    context.items, Counted.seen = Counted(context.items), 0
    wanted = {index for index, _ in loss.parts}
    assert context._places(wanted) == {index: places[index] for index in wanted}
    assert Counted.seen == len(context.items) - min(places[index] for index in wanted)
    assert context._places({weighed.steps[-1].stop}) == {}
