"""What opencode and Roo Code keep and drop of a short list, at and beside each of their figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.base import registry
from sessions.engine.policies import opencode, roo_code
from sessions.engine.policies.params import build
from sessions.engine.policies.policy import EditFailed, LastUsage, State
from sessions.engine.transcript.types import Kind, Media
from tests.engine.policies.listed import Desk, block, ids, lists, seen


def params_of(name, **given):
    return build(registry.get("policies", name).params, given)


# opencode (policies 8.1 to 8.4)


@pytest.mark.parametrize(("total", "fires"), [(79, False), (80, True), (81, True)])
def test_opencode_overflows_at_what_is_usable(total, fires):
    params = params_of("opencode_compaction", max_output=20)
    found = opencode.v1_gate(params, seen("u", window=100, usage=LastUsage(total - 9, 9, 0, 50)))
    assert (found.fires, found.measure, found.threshold, found.operator) == (fires, total, 80, ">=")
    limited = params_of("opencode_compaction", max_output=20, input_limit=100)
    assert opencode.v1_gate(limited, seen("u", window=999, usage=LastUsage(total, 0, 0, 0))).fires is fires
    bare = seen(f"u{total - 3}", window=100, overhead=3, context=9)
    assert opencode.v1_gate(params_of("opencode_compaction", max_output=20, usage="none"), bare).fires is fires
    assert opencode.v1_gate(params, bare).measure == 0
    refused = opencode.v1_gate(params, replace(bare, context=101))
    assert (refused.fires, "refuses" in refused.reason) == (True, True)
    assert "refuses" not in opencode.v1_gate(params, replace(bare, context=100)).reason


@pytest.mark.parametrize(
    ("limit", "budget"),
    [(0, 2_000), (8_003, 2_000), (8_004, 2_001), (59_999, 14_999), (60_000, 15_000), (60_004, 15_000), (10**6, 15_000)],
)
def test_opencode_keeps_a_quarter_between_two_bounds(limit, budget):
    assert opencode.recent_budget(params_of("opencode_compaction"), limit) == budget
    assert opencode.recent_budget(params_of("opencode_compaction", preserve_recent_tokens=7), limit) == 7


def test_opencode_goes_on_or_asks_again():
    params = params_of("opencode_compaction", preserve_recent_tokens=2, tail_turns=1)
    view = seen("s u1 a1 u1 a1", tools=Desk())
    made = opencode.v1_edit(params, view)
    assert ids(made) == f"0 new 3 4 {opencode.GO_ON}"
    assert made[-1].tokens == 20
    assert view.tools.asked[0][1]["mode"] == "fresh"
    again = seen("s u1 a1 u1 a1", window=3, state=State(last_summary=(made[1],)))
    assert ids(opencode.v1_edit(params, again)) == "0 new 3"
    assert again.tools.asked[0] == (["1", "2", "4"], {"mode": "merge", "role": "assistant", "attachments": []})
    image = block(Kind.IMAGE, 0, media=Media("image/png"))
    items = lists("u1 a1 u1 a1")
    items[2] = replace(items[2], message=replace(items[2].message, blocks=(*items[2].message.blocks, image)))
    assert opencode.v1_edit(params, seen(items, window=3))[-1].edited
    first = opencode.v1_edit(params, seen("u1 a9", window=3))
    assert ids(first) == f"new {opencode.GO_ON}"
    assert ids(opencode.v1_edit(params, seen("s"))) == "0"


@pytest.mark.parametrize(
    ("context", "output", "limited", "expected"),
    [
        (100_000, 19_999, None, 80_000),
        (100_000, 20_000, None, 80_000),
        (100_000, 20_001, None, 79_999),
        (100_000, 20_000, 99_999, 79_999),
        (100_000, 20_000, 100_001, 80_000),
    ],
)
def test_opencode_v2_s_threshold(context, output, limited, expected):
    params = params_of("opencode_compaction_v2")
    assert opencode.threshold(params, context, output, limited) == expected


@pytest.mark.parametrize(("total", "fires"), [(79, False), (80, True), (81, True)])
def test_opencode_v2_does_not_compact_twice_in_a_row(total, fires):
    params = params_of("opencode_compaction_v2", max_output=20, buffer=1)
    usage = LastUsage(total - 10, 7, 0, 3)
    for events, since, twice in ((0, 0, False), (1, 0, True), (1, 1, True), (1, 2, False)):
        state = State(n_events=events, requests_since_event=since)
        found = opencode.v2_gate(params, seen("u", window=100, usage=usage, state=state))
        assert (found.fires, found.measure, found.threshold) == (fires and not twice, total, 80)
        assert ("twice" in found.reason) is twice


@pytest.mark.parametrize(
    ("text", "keep", "start"),
    [
        ("u1 a1 u1 a1", 2, 2),
        ("u1 a1 u1 a1", 1, 2),
        ("u1 a1 u1 a1", 3, 2),
        ("u1 a1 u1 a1", 4, 2),
        ("u1 a1 u1 a9", 1, 2),
        ("u1 a1 u1 a1 u1 a1", 4, 2),
        ("u1 a1 u1 a1 u1 a1", 3, 2),
        ("u1 a1 u1 a1 u1 a1", 2, 4),
        ("u1 a1", 5, 2),
        ("i1 u1 a1", 5, 1),
        ("z1 i1", 5, 2),
        ("z1 u1 a1 u1", 1, 3),
        ("", 5, 0),
    ],
)
def test_opencode_v2_keeps_whole_turns(text, keep, start):
    """Back to the prompt of the message that still fits; the newest turn where all would be kept."""
    params = params_of("opencode_compaction_v2", keep_tokens=keep)
    assert opencode.start_of_tail(params, seen(""), lists(text)) == start


@pytest.mark.parametrize(("n", "size"), [(9, 9), (10, 10), (11, 10 + len("\n[truncated]"))])
def test_opencode_v2_cuts_tool_outputs(n, size):
    params = params_of("opencode_compaction_v2", tool_output_chars=10, keep_tokens=0)
    (item,) = lists(f"r{n}:c")
    assert opencode.as_text(params, seen(""), item).size == size
    view = seen(f"s u1 a1 u1 a1:c r{n}:c")
    made = opencode.v2_edit(params, view)
    assert ids(made) == "0 new [3 recent messages, as text]"
    assert made[-1].tokens == 2 + size
    view.state.last_summary = (made[1],)
    opencode.v2_edit(params, view)
    assert [how["mode"] for _, how in view.tools.asked] == ["fresh", "merge"]
    assert ids(opencode.v2_edit(params, seen("u a"))) == "new"


PRUNED = "u a:a r5:a u a:b r5:b u a:c r5:c u"


@pytest.mark.parametrize(
    ("given", "marked"),
    [
        ({"protect": 0, "turns": 3}, []),
        ({"protect": 0, "turns": 2}, ["a"]),
        ({"protect": 0, "turns": 1}, ["b", "a"]),
        ({"protect": 0, "turns": 0}, ["c", "b", "a"]),
        ({"protect": 4, "turns": 1}, ["b", "a"]),
        ({"protect": 5, "turns": 1}, ["a"]),
        ({"protect": 9, "turns": 1}, ["a"]),
        ({"protect": 10, "turns": 1}, []),
        ({"protect": 0, "turns": 1, "protected_tools": "Read"}, []),
    ],
)
def test_opencode_prunes_beyond_the_protected(given, marked):
    """The newest message is the next turn's; a turn skipped ends at its prompt."""
    found = opencode.marked(params_of("opencode_prune", **given), seen(PRUNED))
    assert [place.block.call_id for place in found] == marked


@pytest.mark.parametrize(("least", "fires"), [(9, True), (10, False), (11, False)])
def test_opencode_prunes_over_the_minimum(least, fires):
    params = params_of("opencode_prune", protect=0, minimum=least, turns=1)
    view = seen(PRUNED, newest_typed=True)
    found = opencode.prune_gate(params, view)
    assert (found.fires, found.measure, found.threshold, found.operator) == (fires, 10, least, ">")
    waiting = opencode.prune_gate(params, seen(PRUNED))
    assert (waiting.fires, waiting.measure) == (False, 0)
    made = opencode.prune_edit(params, view)
    assert sorted(made) == [2, 5]
    for n, item in made.items():
        view.items[n] = item
    assert opencode.marked(params, view) == []
    assert [p.block.call_id for p in opencode.marked(replace(params, turns=0), view)] == ["c"]


def test_opencode_looks_no_further_than_a_summary():
    params = params_of("opencode_prune", protect=0, turns=1)
    found = opencode.marked(params, seen("u a:a r5:a z a:b r5:b u u"))
    assert [place.block.call_id for place in found] == ["b"]


def test_opencode_weighs_outputs_beside_others_by_their_characters():
    """By four, halves up."""
    for n, size in ((1, 0), (2, 1), (5, 1), (6, 2)):
        (item,) = lists(f"r{n + 1}:c,d")
        assert opencode._size(item, item.message.blocks[0]) == size
    (item,) = lists("r9:c")
    assert opencode._size(replace(item, size=77), item.message.blocks[0]) == 77


# Roo Code (policies 11.4)


@pytest.mark.parametrize(
    ("given", "window", "expected"),
    [
        ({}, 200_000, 171_808), ({}, 200_001, 171_808), ({}, 200_010, 171_817), ({"max_tokens": 1}, 100, 89),
        ({"max_tokens": 0}, 200_000, 171_808), ({"buffer_percent": 0, "max_tokens": 1}, 100, 99),
    ],
)  # fmt: skip
def test_roo_allows_nine_tenths_less_the_reply(given, window, expected):
    assert roo_code.allowed(params_of("roo_code", **given), window) == expected


@pytest.mark.parametrize(
    ("given", "used", "expected"),
    [
        ({"condense_percent": 80}, 79, (False, 80, ">=")),
        ({"condense_percent": 80}, 80, (True, 80, ">=")),
        ({"condense_percent": 81}, 80, (False, 80, ">")),
        ({"condense_percent": 81}, 81, (True, 80, ">")),
        ({"condense_percent": 5, "auto_condense": "off"}, 80, (False, 80, ">")),
        ({"condense_percent": 5, "auto_condense": "off"}, 81, (True, 80, ">")),
    ],
)
def test_roo_fires_at_the_lower_of_two(given, used, expected):
    params = params_of("roo_code", max_tokens=10, **given)
    found = roo_code.gate(params, seen(f"u{used - 3}", window=100, overhead=3))
    assert (found.fires, found.threshold, found.operator) == expected
    assert found.measure == used
    small = roo_code.gate(params_of("roo_code", max_tokens=1, condense_percent=5), seen("u1", window=101))
    assert small.threshold == 6


@pytest.mark.parametrize(
    ("n", "percent", "hidden"),
    [(1, 50, 0), (4, 50, 0), (5, 50, 2), (6, 50, 2), (8, 50, 2), (9, 50, 4), (3, 100, 2), (4, 100, 2)],
)
def test_roo_hides_an_even_half_after_the_first(n, percent, hidden):
    params = params_of("roo_code", hide_percent=percent)
    made = roo_code.slide(params, seen(""), lists("u " * n))
    word = f"[Sliding window truncation: {hidden} messages hidden to reduce context]"
    left = [str(k) for k in range(n) if not 1 <= k <= hidden]
    assert [item.id for item in made] == (["0", word, *left[1:]] if hidden else left)
    if hidden:
        assert made[1].tokens == 14


def test_roo_counts_no_marker_as_visible():
    params = params_of("roo_code", hide_percent=50)
    made = roo_code.slide(params, seen(""), lists("u i u u u u"))
    assert [item.id[:8] for item in made] == ["0", "1", "[Sliding", "4", "5"]
    assert [item.id[:8] for item in roo_code.slide(params, seen(""), lists("u a:c u u r:c"))][:2] == ["0", "[Sliding"]


@pytest.mark.parametrize(
    ("text", "given", "fails", "left"),
    [
        ("s u50 a50", {}, False, "0 new"),
        ("s z u50 a50", {}, False, "0 new"),
        ("s a9 z u50", {}, True, None),
        ("s a99 z u50", {}, False, "0 1 2 3"),
        ("s u50 u50 u50 u u", {"auto_condense": "off"}, False, "0 1 [Sliding 4 5"),
        ("s u50", {"auto_condense": "off"}, True, None),
    ],
)
def test_roo_condenses_or_slides(text, given, fails, left):
    params = params_of("roo_code", max_tokens=10, **given)
    view = seen(text, window=100)
    if fails:
        with pytest.raises(EditFailed):
            roo_code.edit(params, view)
    else:
        assert " ".join(item.id.split(" ")[0] for item in roo_code.edit(params, view)) == left


def test_roo_slides_where_the_summary_failed():
    params = params_of("roo_code", max_tokens=10, hide_percent=100)
    for size, fails in ((78, True), (79, False)):
        view = seen(f"u{size} u u", window=100, tools=Desk(fails=True))
        if fails:
            with pytest.raises(EditFailed, match="no answer"):
                roo_code.edit(params, view)
        else:
            assert [item.id[:8] for item in roo_code.edit(params, view)] == ["0", "[Sliding"]
