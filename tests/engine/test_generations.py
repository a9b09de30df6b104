"""What is left after each of several compactions: states, where a value breaks off, how soon half is gone."""

from __future__ import annotations

import pytest

from sessions.engine.quality.assess import assess_recorded
from sessions.engine.quality.generations import generations, generations_assessed, generations_document, half_life
from sessions.engine.quality.recorded import recorded_events
from tests.engine.told import Told


def story() -> Told:
    """Two compactions: the first keeps a path and a rule in its summary, the second the path alone."""
    told = Told()
    told.prompt("Never touch a.lock. See src/kept.py, src/gone.py and src/late.py.")
    told.reply("I read src/kept.py, src/gone.py and src/late.py.")
    told.compact("Never touch a.lock. The work is in src/kept.py and src/late.py.")
    told.reply("Going on.")
    told.compact("The work is in src/kept.py.")
    told.reply("I open src/gone.py and src/late.py again.")
    return told


def test_each_value_is_followed_until_it_breaks_off() -> None:
    weighed, index = story().done()
    found = generations(weighed, index, recorded_events(weighed), {})
    states = {one.text: (one.states, one.lost_at) for one in found.values}
    assert states["src/kept.py"] == (("mentioned", "mentioned"), None)
    assert states["src/late.py"] == (("mentioned", "gone"), 1)
    assert states["src/gone.py"] == (("gone", "gone"), 0)
    assert states["Never touch a.lock."] == (("mentioned", "gone"), 1)
    assert [one.text for one in found.values[:2]] == ["src/gone.py", "src/late.py"], "lost and used later come first"
    assert all(one.used_at is not None for one in found.values[:2])
    n = len(found.values)
    assert all(sum(one.counts.values()) == n for one in found.events)
    assert found.events[1].share == pytest.approx(1 / n)
    document = generations_document(found, "s", "")
    assert document["schema"] == "ctxweb.generations/1"
    assert document["compactions"][0]["gone"] == found.events[0].counts["gone"]
    assert len(document["values"]) == n


def test_without_a_compaction_there_is_nothing_to_follow() -> None:
    told = Told()
    told.prompt("See src/kept.py.")
    told.reply("fine")
    weighed, index = told.done()
    found = generations(weighed, index, recorded_events(weighed), {})
    assert (found.events, found.values, found.half_life) == ((), (), None)


@pytest.mark.parametrize(
    ("shares", "half"),
    [([1, 0.6, 0.4], 1.5), ([1, 0.5], 1.0), ([1, 0.75, 0.7], None), ([1, 0.0], 0.5), ([1], None)],
)
def test_half_life_is_read_off_the_curve(shares: list[float], half: float | None) -> None:
    assert half_life(shares) == (None if half is None else pytest.approx(half))


def test_each_kind_has_its_own_course() -> None:
    weighed, index = story().done()
    found = generations(weighed, index, recorded_events(weighed), {})
    kinds = {one.kind: one for one in found.kinds}
    assert kinds["rule"].shares == (1, 0)
    assert kinds["rule"].half_life == pytest.approx(1.5)
    paths = [one for one in found.values if one.kind == "path"]
    assert kinds["path"].n == len(paths)
    assert kinds["path"].shares[1] == sum(one.states[1] == "mentioned" for one in paths) / len(paths)
    assert sum(one.n for one in found.kinds) == len(found.values)
    judged = tuple(assess_recorded(weighed, index))
    assert generations_assessed(index, judged) == found, "the page's way and the command's are one"
