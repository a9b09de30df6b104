"""The policy of one's own: each trigger, guard, keep-unit and edit at its figure, one under and one over (its help)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.base import registry
from sessions.engine.policies import anthropic_on_demand, buzz, compression, parametric
from sessions.engine.policies.params import build
from sessions.engine.policies.policy import EditFailed, LastUsage, State
from sessions.engine.transcript.types import Block, Kind
from tests.engine.policies.listed import ids, lists, seen, told


def params_of(name="parametric", **given):
    return build(registry.get("policies", name).params, given)


def only(**given):
    """No share of the window: these triggers alone."""
    return params_of(share=None, **given)


@pytest.mark.parametrize(("operator", "holds"), [(">=", [False, True, True]), (">", [False, False, True])])
def test_a_condition_holds_at_or_over(operator, holds):
    params = only(tokens=5, operator=operator)
    assert [parametric.ask(params, seen("u", context=n)).fires for n in (4, 5, 6)] == holds


def test_what_is_in_use():
    usage = LastUsage(100, 20, 0, 7)
    view = seen("u9", context=55, overhead=4, usage=usage)
    for counted, n in (("context", 55), ("usage", 127), ("estimate", 9)):
        assert parametric.in_use(params_of(counted=counted), view) == n
        left = n - 4 if counted != "estimate" else n
        assert parametric.filled(params_of(counted=counted, capacity="effective"), view) == left
        assert parametric.filled(params_of(counted=counted), view) == n
    assert parametric.in_use(params_of(counted="usage"), replace(view, usage=None)) == 9
    assert parametric.filled(params_of(capacity="effective"), replace(view, context=3)) == 0
    for window, full in ((3, 1), (4, 1), (5, 1), (6, 2)):
        assert parametric.capacity(params_of(capacity="effective"), replace(view, window=window)) == full
        assert parametric.capacity(params_of(), replace(view, window=window)) == window


@pytest.mark.parametrize(
    ("params", "facts", "expected"),
    [
        (params_of(share=12.5), {"window": 1_007}, (1, 125, "tokens")),
        (params_of(share=50.0), {"window": 101}, (1, 50, "tokens")),
        (only(tokens=7), {}, (1, 7, "tokens")),
        (only(reserve=7), {"window": 100}, (1, 93, "tokens")),
        (only(kilobytes=2), {}, (1, 2_000, "bytes")),
        (only(messages=3), {}, (1, 3, "messages")),
        (only(turns=3), {"state": State(turns_since_event=2)}, (2, 3, "turns")),
        (only(idle_minutes=2), {"idle_seconds": 119.9}, (119, 120, "seconds")),
        (only(idle_minutes=2), {}, (0, 120, "seconds")),
    ],
)
def test_every_trigger(params, facts, expected):
    (found,) = parametric.triggers(params, seen("u1", **facts))
    assert (found.measure, found.threshold, found.unit) == expected


@pytest.mark.parametrize(
    ("params", "facts", "fires"),
    [
        (only(tokens=5, min_messages=3), {"state": State(messages_since_event=2)}, False),
        (only(tokens=5, min_messages=3), {"state": State(messages_since_event=3)}, True),
        (only(tokens=5, remaining_calls=4), {"request": 3}, False),
        (only(tokens=5, remaining_calls=4), {"request": 4}, True),
        (only(tokens=5, moment="turn-end"), {}, False),
        (only(tokens=5, moment="turn-end"), {"newest_typed": True}, True),
        (only(tokens=5), {"newest_typed": True}, True),
        (only(tokens=6), {}, False),
        (only(tokens=5, operator=">"), {}, False),
        (only(tokens=4, operator=">"), {}, True),
        (only(tokens=5, messages=2), {}, True),
        (only(tokens=5, messages=2, combine="all"), {}, False),
        (only(tokens=5, messages=1, combine="all"), {}, True),
        (only(), {}, False),
    ],
)
def test_triggers_and_guards(params, facts, fires):
    assert parametric.ask(params, seen("u5", **facts), lambda: 0).fires is fires


@pytest.mark.parametrize(("freed", "fires"), [(19, False), (20, True), (21, True)])
def test_it_has_to_be_worth_it(freed, fires):
    """A fifth of 104, rounded down."""
    found = parametric.ask(only(tokens=1, reclaim=20), seen("u5", context=104), lambda: freed)
    assert found.fires is fires
    assert ("would go: " in found.reason) is not fires


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"tokens": 10, "messages": 10}, (5, 10, "tokens")),
        ({"tokens": 100, "messages": 10}, (1, 10, "messages")),
        ({"tokens": 4, "messages": 10, "combine": "all"}, (1, 10, "messages")),
        ({"tokens": 4, "messages": 10}, (5, 4, "tokens")),
        ({"tokens": 4, "messages": 1}, (5, 4, "tokens")),
        ({"tokens": 5, "messages": 1, "combine": "all"}, (5, 5, "tokens")),
        ({"tokens": 1, "reserve": 1_000}, (5, 0, "tokens")),
    ],
)
def test_the_trigger_shown_is_the_nearest(given, shown):
    found = parametric.ask(only(**given), seen("u5", window=1_000), lambda: 0)
    assert (found.measure, found.threshold, found.unit) == shown


@pytest.mark.parametrize(
    ("text", "unit", "n", "position"),
    [
        ("u1 a2 u3 a4", "messages", 2, 2),
        ("u1 a2 u3 a4", "messages", 0, 4),
        ("u1 a2 u3 a4", "messages", 9, 0),
        ("u1 a2 u3 a4", "tokens", 7, 2),
        ("u1 a2 u3 a4", "tokens", 6, 3),
        ("u1 a2 u3 a4", "tokens", 3, 4),
        ("u1 a2 u3 a4", "turns", 1, 2),
        ("u1 a2 u3 a4", "turns", 2, 0),
        ("u1 a2 u3 a4", "turns", 3, 0),
        ("u1 a2 u3 a4", "turns", 0, 4),
        ("u1 a2 u3 a4", "replies", 1, 3),
        ("u1 a2 u3 a4", "replies", 2, 1),
        ("u1 a2 u3 a4", "replies", 3, 1),
        ("u1 a2 u3 a4", "replies", 0, 4),
        ("u1 u1", "replies", 1, 0),
        ("i1 u3 a4", "messages", 3, 1),
        ("i1 u3 a4", "turns", 2, 1),
        ("u1 i1 u3 i1", "replies", 2, 4),
        ("", "turns", 2, 0),
    ],
)
def test_what_is_kept_by_each_unit(text, unit, n, position):
    """What an earlier event inserted is not kept."""
    assert parametric.kept_from(params_of(keep_unit=unit, keep_last=n), lists(text)) == position


@pytest.mark.parametrize(
    ("text", "first", "last", "parts"),
    [
        ("s u a u a", 1, 1, ("0 1", "2 3", "4")),
        ("s u a u a", 0, 0, ("0", "1 2 3 4", "")),
        ("s u a u a", 9, 1, ("0 1 2 3", "", "4")),
        ("u a:c r:c u a", 2, 1, ("0 1 2", "3", "4")),
        ("u a:c r:c u a", 1, 1, ("0", "1 2 3", "4")),
        ("u a:c r:c u a", 1, 3, ("0", "", "1 2 3 4")),
        ("a:c r:c a:d r:d u", 1, 1, ("0 1", "2 3", "4")),
    ],
)
def test_front_middle_and_tail(text, first, last, parts):
    params = params_of(keep_first=first, keep_last=last)
    assert tuple(map(ids, parametric.parts(params, seen(text)))) == parts
    middle = sum(item.tokens for item in parametric.parts(params, seen(text))[1])
    assert parametric.reclaimable(params, seen(text)) == middle


@pytest.mark.parametrize(
    ("given", "editable", "freed"),
    [
        ({"keep_last": 1}, [2, 4], 2 * (140 - 7)),
        ({"keep_last": 3}, [2], 133),
        ({"keep_first": 2, "keep_last": 1}, [2, 4], 266),
        ({"keep_first": 3, "keep_last": 1}, [4], 133),
        ({"keep_last": 1, "min_chars": 139}, [2, 4], 266),
        ({"keep_last": 1, "min_chars": 140}, [], 0),
    ],
)
def test_masking_finds_what_is_long(given, editable, freed):
    """A marker of 33 characters."""
    params = params_of(edit="mask results", **given)
    view = seen("u1 a1:a r140:a a1:b r140:b a1")
    saved = 140 - len(parametric.CLEARED)
    assert parametric.editable(params, view) == editable
    assert parametric.reclaimable(params, view) == len(editable) * saved
    assert parametric.reclaimable(params, view) == len(editable) * saved
    made = parametric.edit(params, view)
    assert sorted(made) == editable
    assert len(editable) * 133 == freed
    for n, item in made.items():
        view.items[n] = item
        view.state.cleared |= item.message.result_ids()
    assert parametric.editable(params, view) == []
    view.items += [replace(item, id=f"n{item.id}") for item in lists("a1:x r140:x u u u")]
    assert [n for n in parametric.editable(params, view) if n > 5] == ([7] if params.min_chars < 140 else [])


def test_what_was_edited_is_not_looked_at_again():
    """As long as the newest message edited stands where it stood."""
    params = params_of(edit="mask results", keep_last=1)
    view = seen("u1 a1:a r140:a a1:b r140:b a1")
    parametric.edit(params, view)
    assert parametric.editable(params, view) == []
    view.items[3] = replace(view.items[3], id="other")
    view.items[5] = replace(view.items[5], id="last")
    assert parametric.editable(params, view) == []
    moved = seen([*view.items[:4], replace(view.items[4], id="moved"), view.items[5]], state=view.state)
    assert parametric.editable(params, moved) == [2, 4]
    short = seen(view.items[:4], state=view.state)
    assert parametric.editable(params, short) == [2]


def test_thinking_and_images_are_edited_in_place():
    view = seen("u1 t5 u1 a1")
    assert parametric.editable(params_of(edit="clear thinking", keep_last=1), view) == [1]
    assert sorted(parametric.edit(params_of(edit="clear thinking", keep_last=1), view)) == [1]
    items = lists("u1 r5:a u1")
    picture = replace(items[1].message.blocks[0], parts=(Block(Kind.IMAGE),))
    items[1] = replace(items[1], message=replace(items[1].message, blocks=(picture,)))
    assert parametric.editable(params_of(edit="drop images", keep_last=1), seen(items)) == [1]
    made = parametric.edit(params_of(edit="drop images", keep_last=1), seen(items))
    assert made[1].size == 5 + len(parametric.DROPPED)
    assert parametric.editable(params_of(edit="mask results", keep_last=1), seen(items)) == [1]
    cleared = seen(items, state=State(cleared={"a"}))
    assert parametric.editable(params_of(edit="mask results", keep_last=1), cleared) == []


def test_an_edit_in_place_needs_something_to_edit():
    for text, fires in (("u9 a1:a r140:a a1", True), ("u9 a1:a r120:a a1", False)):
        found = parametric.gate(params_of(share=None, tokens=5, edit="mask results", keep_last=1), seen(text))
        assert found.fires is fires
        assert ("nothing left to edit" in found.reason) is not fires
    assert parametric.gate(only(tokens=5), seen("u9")).fires


@pytest.mark.parametrize(
    ("target", "left"),
    [
        (None, "0 5"),
        (16, "0 1 2 3 4 5"),
        (15, "0 2 3 4 5"),
        (13, "0 3 4 5"),
        (12, "0 3 4 5"),
        (11, "0 4 5"),
        (0, "0 5"),
    ],
)
def test_truncating_down_to_a_target(target, left):
    """Messages of 1, 2, 2, 2 and 3 beside a system message of 3 and 2 of overhead, of a window of 100."""
    params = params_of(edit="truncate", keep_last=1, target=target)
    view = seen("s3 u2 a2 u2 a2 u3", window=100, overhead=2)
    assert ids(parametric.edit(params, view)) == left


def test_a_summary_of_the_middle_merged_where_asked():
    view = seen("s u a u a")
    assert ids(parametric.edit(params_of(keep_last=1), view)) == "0 new 4"
    assert view.tools.asked[0] == (["1", "2", "3"], {"mode": "fresh", "most": None, "attachments": []})
    merged = seen("s i u a u", state=State(last_summary=(lists("s i")[1],)))
    assert ids(parametric.edit(params_of(keep_last=1, merge="on", summary_cap=9), merged)) == "0 new 4"
    assert merged.tools.asked[0] == (["2", "3"], {"mode": "merge", "most": 9, "attachments": []})
    for nothing in ("s i u", "u", "s"):
        with pytest.raises(EditFailed):
            parametric.edit(params_of(keep_last=1), seen(nothing))


@pytest.mark.parametrize(("total", "fires"), [(99, False), (100, False), (101, True)])
def test_compaction_on_demand_over_one_s_own_limit(total, fires):
    params = params_of("anthropic_on_demand", compact_at=100)
    view = seen("u a u", usage=LastUsage(total - 9, 9, 0, 0), newest_typed=True)
    found = anthropic_on_demand.on_demand_gate(params, view)
    assert (found.fires, found.measure, found.threshold, found.operator) == (fires, total, 100, ">")
    for keep, left in ((0, "new 4"), (1, "new 2 3 4"), (2, None)):
        made = anthropic_on_demand.on_demand_edit(
            replace(params, keep_turns=keep), seen("u a u a u", newest_typed=True)
        )
        assert (None if made is None else ids(made)) == left


@pytest.mark.parametrize(("most", "left"), [(12, "0 1 2 3 4"), (11, "0 3 4"), (7, "0 3 4"), (6, "0 3 4")])
def test_buzz_truncates_whole_turns_beside_the_system_messages(most, left):
    """2 of them: at 12 in all nothing goes, at 11 the first turn does; the last one stays (seeds 2.6)."""
    view = seen("s2 u2 a3 u2 a3")
    assert ids(buzz.truncate_edit(told(max_history_bytes=most), view)) == left


def test_results_without_a_target_are_not_read_again():
    """Two calls that name nothing, and two of one file: the older of those (seeds 3.1)."""
    items = lists("a1:a r1:a a1:b r1:b")
    assert compression._repeated(items) == set()
    for n, target in ((0, "/same"), (2, "/same")):
        calls = tuple(replace(b, target=target) if b.call_id else b for b in items[n].message.blocks)
        items[n] = replace(items[n], message=replace(items[n].message, blocks=calls))
    assert compression._repeated(items) == {"1"}
    for n in (0, 2):
        calls = tuple(replace(b, target="") for b in items[n].message.blocks)
        items[n] = replace(items[n], message=replace(items[n].message, blocks=calls))
    assert compression._repeated(items) == set()
    both = lists("a1:a,b r1:b r1:a")
    for n, item in enumerate(both):
        named = tuple(replace(b, target="/same") if b.call_id else b for b in item.message.blocks)
        both[n] = replace(item, message=replace(item.message, blocks=named))
    assert compression._repeated(both) == {"2"}, "a call counts by its own place, not by its result's"
