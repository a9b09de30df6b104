"""A reader's own probes, which kinds are critical, and the interval of a counted share."""

from __future__ import annotations

import pytest

from sessions.engine.base.errors import BadParameter
from sessions.engine.quality.assess import assess_replay
from sessions.engine.quality.auroc import interval
from sessions.engine.quality.index import build_index
from sessions.engine.quality.probes import Question, critical_kinds, own_probes
from sessions.engine.replays.replay import replay
from tests.engine.told import Told


def session():
    """A port said once early, a moon said once late, and filler between that pushes the port out."""
    told = Told()
    told.prompt("Fix it.")
    told.reply("Looking.", c0=("Read", {"file_path": "/srv/a.py"}))
    told.result("c0", "the tests listen on 5433 here " + "word " * 400)
    for n in range(1, 20):
        told.reply("Next.", **{f"c{n}": ("Read", {"file_path": f"/srv/{n}.py"})})
        told.result(f"c{n}", f"{'Ganymede ' if n == 19 else ''}" + "word " * 400)
    told.reply("done")
    weighed, _ = told.done()
    return weighed, lambda m: told.contents[m.index]


def events(*lines, critical=None):
    weighed, read = session()
    own = own_probes(lines, weighed.transcript, read)
    asked = Question(own) if critical is None else Question(own, critical)
    run = replay(weighed, "sliding_window", window=4_000)
    return own, tuple(assess_replay(run, build_index(weighed.transcript, read), asked=asked))


def test_an_own_probe_is_verbatim_while_its_message_stands_and_gone_after():
    own, found = events("! Which port? 5433, PORT")
    assert (own[0].question, own[0].keywords, own[0].critical) == ("Which port?", ("5433", "PORT"), True)
    assert own[0].places == ((2, 0),)
    states = [next(a.state for a in one.answers if a.probe.kind == "own") for one in found]
    assert {"gone"} <= set(states) <= {"verbatim", "gone"}
    assert states == sorted(states, reverse=True)


def test_it_is_asked_only_once_its_answer_has_been_said():
    _, found = events("Which moon? Ganymede")
    asked = [any(a.probe.kind == "own" for a in one.answers) for one in found]
    assert not asked[0]


def test_without_a_question_mark_the_line_is_the_keyword():
    own, _ = events("listen on 5433")
    assert own[0].keywords == ("listen on 5433",)
    assert not own[0].critical


def test_what_no_message_says_is_left_out():
    own, _ = events("Which moon? Callisto", "!", "")
    assert own == ()


def test_kinds_can_be_critical_or_not():
    _, plain = events()
    _, none = events(critical=critical_kinds("none"))
    _, paths = events(critical=critical_kinds("file_path"))
    last = [one[-1].score.critical_failed for one in (plain, none, paths)]
    assert last[1] == 0 < last[0] < last[2]


def test_wrong_questions_are_refused():
    with pytest.raises(BadParameter, match="'moon'"):
        critical_kinds("intent,moon")
    with pytest.raises(BadParameter, match="at most 20"):
        events(*(f"word{n}" for n in range(21)))
    with pytest.raises(BadParameter, match="300 characters"):
        events("x" * 301)


@pytest.mark.parametrize(
    ("n", "of", "low", "high"),
    [(0, 10, 0.0, 0.2775), (7, 9, 0.4526, 0.9368), (5, 10, 0.2366, 0.7634), (1, 1, 0.2065, 1.0)],
)
def test_wilson(n, of, low, high):
    """Values worked out from the formula: 0 of n is z² / (n + z²) above, n of n is n / (n + z²) below."""
    found = interval(n, of)
    assert found is not None
    assert found == pytest.approx((low, high), abs=5e-5)


def test_no_interval_of_nothing():
    assert interval(0, 0) is None
