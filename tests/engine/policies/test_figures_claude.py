"""What Claude Code clears, puts back and keeps of a short list; the API on demand (policies 4, 5.5, 5.6)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.base import registry
from sessions.engine.policies import (
    _claude_attached,
    _claude_ladder,
    _claude_notes,
    _claude_results,
    _lists,
    anthropic_on_demand,
    claude_code,
    edits,
)
from sessions.engine.policies.params import build
from sessions.engine.policies.policy import EditFailed, LastUsage
from sessions.engine.transcript.types import Block, Kind, Media
from tests.engine.policies.listed import block, ids, lists, seen


def params_of(name="claude_code", **given):
    return build(registry.get("policies", name).params, given)


def named(items, name):
    """The list with every call's tool named so."""
    for n, item in enumerate(items):
        blocks = tuple(replace(b, name=name) if b.kind is Kind.TOOL_USE else b for b in item.message.blocks)
        items[n] = replace(item, message=replace(item.message, blocks=blocks))
    return items


def test_the_summary_call_reads_words_for_media():
    image, document = Block(Kind.IMAGE), Block(Kind.DOCUMENT, media=Media("application/pdf"))
    (item,) = lists("r3:c")
    held = replace(item.message.blocks[0], parts=(image, block(Kind.TEXT, 2)))
    made = _claude_attached.described(seen(""), [replace(item, message=replace(item.message, blocks=(held, document)))])
    (first, second) = made[0].message.blocks
    assert ([p.n_chars for p in first.parts], second.n_chars) == ([len("[image]"), 2], len("[document]"))
    assert _claude_attached.described(seen(""), [item])[0] is item


# The ladder (policies 4.1, 4.11)


def test_levels_of_the_ladder():
    """180,000 effective: warned at 147,000, compacted at 167,000, refused at 177,000, begun early at 144,000."""
    steps = _claude_ladder.ladder(params_of(), 200_000, 32_000)
    assert steps == (180_000, 147_000, 167_000, 177_000)
    assert steps.precompute == 144_000
    assert _claude_ladder.ladder(params_of(), 200_000, 20_001) == steps
    assert _claude_ladder.ladder(params_of(), 200_000, 19_999).effective == 180_001
    assert _claude_ladder.ladder(params_of(output_reserve_cap=None), 200_000, 32_000).effective == 168_000
    assert _claude_ladder.ladder(params_of(auto="off"), 200_000, 32_000).warn == 160_000
    for given, compact in ((50, 90_000), (92, 165_600), (93, 167_000), (100, 167_000)):
        assert _claude_ladder.ladder(params_of(pct_override=given), 200_000, 32_000).compact == compact
    small = _claude_ladder.ladder(params_of(), 80_000, 32_000)
    assert (small.effective, small.compact, small.precompute) == (60_000, 47_000, 47_000)


@pytest.mark.parametrize(("used", "left"), [(0, 100), (50, 50), (98, 2), (99, 1), (100, 0), (101, 0), (300, 0)])
def test_percent_left(used, left):
    steps = _claude_ladder.Ladder(effective=200, warn=80, compact=100, blocked=150)
    assert _claude_ladder.percent_left(steps, used) == left
    assert _claude_ladder.percent_left(steps, 2 * used, auto=False) == left
    assert [_claude_ladder.percent_left(steps._replace(compact=most), 0) for most in (-1, 0, 1)] == [0, 0, 100]
    assert [_claude_ladder.percent_left(steps._replace(compact=200), n) for n in (1, 2, 3)] == [100, 99, 99]


def test_what_claude_code_counts():
    usage = LastUsage(100, 20, 0, 7, written=3)
    for given, counted in (
        ({}, 127),
        ({"tail": "off"}, 120),
        ({"output": "written"}, 110),
        ({"output": "written", "tail": "off"}, 103),
    ):
        assert _claude_ladder.counted(params_of(**given), seen("u9", usage=usage)) == counted
    assert _claude_ladder.counted(params_of(output="written"), seen("u9", usage=usage._replace(written=None))) == 127
    assert _claude_ladder.counted(params_of(), seen("u9", overhead=5)) == 9


@pytest.mark.parametrize(
    ("own", "told", "measure", "is_told"),
    [
        (166_999, None, 166_999, False),
        (166_999, 167_500, 167_500, True),
        (166_999, 150_000, 166_999, False),
        (167_000, 167_500, 167_000, False),
        (150_000, 160_000, 160_000, True),
    ],
)
def test_the_client_s_own_count_stands_where_ours_falls_short(own, told, measure, is_told):
    view = seen("u9", usage=LastUsage(own, 0, 0, 0), window=200_000, told=told)
    gate = _claude_ladder.ladder_gate(params_of(max_output=32_000), view)
    assert (gate.measure, gate.is_told, gate.fires) == (measure, is_told, measure >= 167_000)
    assert ("not in the file" in gate.reason) is is_told


@pytest.mark.parametrize(
    ("used", "level", "early"),
    [
        (143_999, "ok", False),
        (144_000, "ok", True),
        (146_999, "ok", True),
        (147_000, "warn", False),
        (166_999, "warn", False),
        (167_000, "compact", False),
        (176_999, "compact", False),
        (177_000, "blocked", False),
    ],
)
def test_levels_are_reached_at_them(used, level, early):
    found = _claude_ladder.ladder_gate(params_of(), seen("u", window=200_000, told=used, model="claude-sonnet-4-5"))
    assert (found.level, found.fires, found.threshold) == (level, level in {"compact", "blocked"}, 167_000)
    assert ("in the background" in found.reason) is early
    assert ("% left" in found.reason) is (level != "ok")
    assert "as the client itself counted" in found.reason
    off = _claude_ladder.ladder_gate(params_of(auto="off"), seen("u", window=200_000, told=used))
    assert not off.fires
    assert off.level in {"ok", "warn", "blocked"}
    assert "itself counted" not in _claude_ladder.ladder_gate(params_of(), seen("u9", window=200_000)).reason


# Results (policies 4.3 to 4.5)


@pytest.mark.parametrize(
    ("given", "text", "cut"),
    [
        ({"result_chars": 9}, "a:a,b r10:a r9:b", ["a"]),
        ({"result_chars": 9}, "a:a,b r8:a r9:b", []),
        ({"message_chars": 20, "preview_chars": 2}, "a:a,b r10:a r10:b", []),
        ({"message_chars": 19, "preview_chars": 2}, "a:a,b r10:a r10:b", ["a"]),
        ({"message_chars": 19, "preview_chars": 2}, "a:a,b r9:a r11:b", ["b"]),
        ({"message_chars": 11, "preview_chars": 2}, "a:a,b r10:a r10:b", ["a", "b"]),
        ({"message_chars": 12, "preview_chars": 2}, "a:a,b r10:a r10:b", ["a"]),
        ({"message_chars": 1, "preview_chars": 10}, "a:a,b r10:a r10:b", []),
        ({"message_chars": 1, "preview_chars": 9}, "a:a,b r10:a r10:b", ["a", "b"]),
        ({"message_chars": 5, "preview_chars": 2}, "a:a r10:a a:b r5:b", []),
        ({"message_chars": 7, "preview_chars": 2, "result_chars": 9}, "a:a,b r10:a r5:b", ["a"]),
        ({"message_chars": 6, "preview_chars": 2, "result_chars": 9}, "a:a,b r10:a r5:b", ["a", "b"]),
        ({}, "a:a r999:a", []),
    ],
)
def test_results_over_their_budgets_are_cut(given, text, cut):
    """Each over its cap; then the largest of the newest message until all are within theirs."""
    params = params_of(**given)
    view = seen(text)
    found = _claude_results.budget_gate(params, view)
    assert found.fires is bool(cut)
    if given:
        over = view.state.memory["over_budget"]
        assert sorted(place.block.call_id for place in over) == cut
        made = _claude_results.budget_edit(params, view)
        kept = params.preview_chars + len(_claude_results.PERSISTED) if "preview_chars" in given else None
        assert all(item.size == kept for item in made.values()) or kept is None
        assert len(made) == len(cut)
        assert not _claude_results.budget_gate(params, view).fires, "what was seen is not asked about again"
        assert found.measure == max((edits.result_chars(place.block) for place in over), default=0)
        assert found.threshold == given.get("result_chars", given.get("message_chars"))


@pytest.mark.parametrize(("keep", "n"), [(0, 2), (1, 2), (2, 1), (3, 0), (4, 0)])
def test_stale_results_are_those_of_older_calls(keep, n):
    """Of three calls; one always stays."""
    view = seen("a:a r4:a a:b r4:b a:c r4:c")
    params = params_of(micro_keep=keep, micro="time")
    assert [place.block.call_id for place in _claude_results.stale(params, view)] == ["a", "b"][:n]
    made = _claude_results.micro_edit(params, view)
    assert sorted(made) == [1, 3][:n]
    assert {item.size for item in made.values()} <= {len(_claude_results.MARKER)}
    for position, item in made.items():
        view.items[position] = item
    assert _claude_results.stale(params, view) == []
    hinted = _claude_results.micro_edit(params_of(micro_keep=keep, micro="hint"), seen("a:a r4:a a:b r4:b a:c r4:c"))
    assert {item.size for item in hinted.values()} <= {len(_claude_results.POINTER)}
    cut = seen("a:a r4:a a:b r4:b")
    cut.items[1] = replace(cut.items[1], edited=True)  # by another layer: it still is a result to clear
    assert [place.block.call_id for place in _claude_results.stale(params_of(micro_keep=1), cut)] == ["a"]
    other = seen(named(lists("a:a r4:a a:b r4:b"), "Other"))
    assert _claude_results.stale(params_of(micro_keep=1), other) == []


@pytest.mark.parametrize(("idle", "fires"), [(None, False), (3_599, False), (3_600, True), (3_601, True)])
def test_micro_compaction_after_an_hour(idle, fires):
    params = params_of(micro="time", micro_keep=1)
    found = _claude_results.micro_gate(params, seen("a:a r4:a a:b r4:b", idle_seconds=idle))
    assert (found.fires, found.threshold, found.measure) == (fires, 3_600, idle or 0)
    assert not _claude_results.micro_gate(params, seen("a:a r4:a", idle_seconds=idle)).fires
    off = _claude_results.micro_gate(params_of(micro="off"), seen("u", idle_seconds=9_999))
    assert (off.fires, off.measure, off.threshold) == (False, 0, 0)


@pytest.mark.parametrize(("n_chars", "fires"), [(0, False), (1, False), (2, True), (4, True), (8, True)])
def test_micro_compaction_that_saves_nothing_does_not_happen(n_chars, fires):
    """A result of a character is no token of four, of two characters one: nothing saved, nothing happens (4.4)."""
    view = seen(f"a:a r{n_chars}:a a:b r9:b", idle_seconds=3_600)
    assert _claude_results.micro_gate(params_of(micro="time", micro_keep=1), view).fires is fires


def test_micro_compaction_by_hint():
    """Over the window, or at the hint's own figure; where it saves enough: two results of 8 are 4 tokens."""
    text = "a:a r8:a a:b r8:b a:c r8:c"
    for context, refused in ((99, False), (100, False), (101, True)):
        view = seen(text, window=100, context=context)
        assert _claude_results.micro_gate(params_of(micro="hint", micro_keep=1, micro_saved=1), view).fires is refused
        at = params_of(micro="hint", micro_keep=1, micro_saved=1, hint_at=100)
        found = _claude_results.micro_gate(at, replace(view, window=999))
        assert (found.fires, found.threshold) == (context >= 100, 100)
    saved = sum(
        _claude_results.rough_size(place.block, view.model)
        for place in _claude_results.stale(params_of(micro_keep=1), view)
    )
    for least, fires in ((saved - 1, True), (saved, True), (saved + 1, False)):
        asked = _claude_results.micro_gate(params_of(micro="hint", micro_keep=1, micro_saved=least), view)
        assert asked.fires is fires
        assert ("tokens to save" in asked.reason) is not fires


# Notes (policies 4.8), refills (4.10)


@pytest.mark.parametrize(
    ("text", "covered", "given", "start"),
    [
        ("u1 a1 u1 a1", 2, {"keep_tokens": 2, "keep_messages": 0}, 2),
        ("u1 a1 u1 a1", 2, {"keep_tokens": 3, "keep_messages": 0}, 1),
        ("u1 a1 u1 a1", 2, {"keep_tokens": 0, "keep_messages": 3}, 1),
        ("u1 a1 u1 a1", 2, {"keep_tokens": 9, "keep_messages": 9, "keep_most": 3}, 1),
        ("u1 a1 u1 a1", 2, {"keep_tokens": 9, "keep_messages": 9, "keep_most": 2}, 2),
        ("u1 a1 u1 a1", 2, {"keep_tokens": 9, "keep_messages": 9}, 0),
        ("u1 z1 u1 a1", 2, {"keep_tokens": 9, "keep_messages": 9}, 2),
        ("i1 u1 u1 a1", 2, {"keep_tokens": 9, "keep_messages": 9}, 1),
        ("u1 a1:c r1:c a1", 2, {"keep_tokens": 2, "keep_messages": 0}, 1),
        ("u1 t1 t1 u1", 3, {"keep_tokens": 0, "keep_messages": 2}, 0),
    ],
)
def test_what_stays_beside_the_notes(text, covered, given, start):
    """From what they do not cover, back to the least tokens and messages, not over the most nor a compaction."""
    items = lists(text)
    view = seen(items, window=1_000)
    params = params_of(**given)
    assert _claude_notes._start(params, view, items, covered) == start


def test_notes_stand_for_what_they_cover():
    params = params_of(session_memory="on", keep_tokens=0, keep_messages=0)
    for covers, written, threshold, left in (
        ("2", True, 100, "0 new 3 4"),
        ("2", False, 100, None),
        ("9", True, 100, None),
        ("2", True, 9, None),
        ("2", True, 10, "0 new 3 4"),
        ("2", True, 2, None),
        ("4", True, 100, "0 new"),
    ):
        view = seen("s0 u1 a1 u1 a1")
        view.state.memory["notes"] = _claude_notes.Notes(written, 5, covers)
        made = _claude_notes.from_notes(params, view, threshold)
        assert (None if made is None else ids(made)) == left
    assert view.tools.asked[0][1] == {"calls": 0, "most": 12_000, "attachments": []}


@pytest.mark.parametrize(
    ("before", "request_", "refills", "expected"),
    [(None, 9, 0, 0), (7, 9, 0, 1), (6, 9, 0, 0), (7, 9, 1, 2), (7, 9, 2, None), (6, 9, 2, 0)],
)
def test_three_rapid_refills_stop_it(before, request_, refills, expected):
    """Under three requests since the one before, three times in a row."""
    view = seen("s u a", request=request_)
    if before is not None:
        view.state.memory.update(compacted_at=before, refills=refills)
    if expected is None:
        with pytest.raises(EditFailed):
            claude_code.edit(params_of(), view)
        assert "3 times" in view.state.stopped
    else:
        assert ids(claude_code.edit(params_of(), view)) == "0 new"
        assert view.state.memory["refills"] == expected
        assert view.state.memory["compacted_at"] == request_
    assert ids(claude_code.edit(params_of(rapid_refills=None), view)) == "0 new"
    assert ids(claude_code.full(params_of(), seen("s"))) == "0"


def test_claude_code_after_a_refusal():
    for on in ("off", "on"):
        for context in (99, 100, 101):
            found = claude_code.reactive_gate(params_of(reactive=on), seen("u", window=100, context=context))
            assert found.fires is (on == "on" and context > 100)


@pytest.mark.parametrize(
    ("direction", "turns", "left"),
    [("from", 1, "0 1 2 new 5"), ("from", 2, None), ("up_to", 1, "0 new 3 4 5"), ("from", 3, None)],
)
def test_partial_compaction_at_a_pivot(direction, turns, left):
    params = params_of("claude_code_partial", at=3, turns=turns, direction=direction)
    for request_, fires in ((2, False), (3, True), (4, True)):
        view = seen("s u a u a u", request=request_, newest_typed=True)
        assert claude_code.partial_gate(params, view).fires is (fires and left is not None)
        assert not claude_code.partial_gate(params, replace(view, newest_typed=False)).fires
    view.state.n_events = 1
    assert not claude_code.partial_gate(params, view).fires
    if left is not None:
        assert ids(claude_code.partial_edit(params, seen("s u a u a u"))) == left


# On demand and in the background (policies 5.5, 5.6)


@pytest.mark.parametrize(
    ("text", "said", "live"),
    [
        ("u a u", "0 1", "2"),
        ("u a:c r:c u", "0 1 2", "3"),
        ("u a", "0 1", ""),
        ("u u", "", "0 1"),
        ("u a u n", "0 1", "2 3"),
        ("", "", ""),
    ],
)
def test_what_was_said_and_what_was_typed_since(text, said, live):
    assert tuple(map(ids, anthropic_on_demand._split(lists(text)))) == (said, live)


def test_a_summary_arrives_after_some_requests():
    params = params_of("anthropic_background", start_at=100, arrives_after=2)
    for total, asked in ((99, False), (100, False), (101, True)):
        view = seen("s u a", request=5, usage=LastUsage(total - 9, 9, 0, 0))
        assert not anthropic_on_demand.background_gate(params, view).fires
        assert (view.state.memory.get("awaited") is not None) is asked
    for request_, fires in ((6, False), (7, True), (8, True)):
        later = replace(view, request=request_)
        assert anthropic_on_demand.background_gate(params, later).fires is fires
    later.items = [*lists("s u a"), replace(lists("u")[0], id="new one")]
    assert ids(anthropic_on_demand.background_edit(params, later)) == "0 new new one"
    assert later.state.memory["swapped"] == 8
    assert not anthropic_on_demand.background_gate(params, later).fires
    assert later.state.memory.get("awaited") is None
    anthropic_on_demand.background_gate(params, replace(later, request=9))
    assert later.state.memory["awaited"].request == 9
    gone = replace(later, items=lists("s u"), request=20)
    assert not anthropic_on_demand.background_gate(params, gone).fires
    assert anthropic_on_demand.background_edit(params, seen("u")) is None
    bare = seen("u", context=101)
    assert _lists.last_spent(params, bare, 101) == 0
    assert _lists.last_spent(params_of("anthropic_background", usage="none"), bare, 101) == 101
