"""What LangChain and Letta keep and drop of a short list, at and beside each of their figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.base import registry
from sessions.engine.policies import (
    langchain,
    letta,
)
from sessions.engine.policies.params import build
from sessions.engine.policies.policy import LastUsage
from sessions.engine.transcript.types import Kind
from tests.engine.policies.listed import block, ids, kept, lists, seen


def params_of(name, **given):
    return build(registry.get("policies", name).params, given)


def holding(item, *blocks):
    """A message with other blocks."""
    return replace(item, message=replace(item.message, blocks=blocks))


# LangChain (policies 10.1 to 10.3)
def waits(view, **given):
    found = langchain.waiting(params_of("langchain_clear_tool_uses", **given), view)
    return [f"{position}<{reply}:{call}" for position, reply, call in found]


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("u a:a r:a a:b r:b a:c r:c", {"keep": 0}, ["2<1:a", "4<3:b", "6<5:c"]),
        ("u a:a r:a a:b r:b a:c r:c", {"keep": 1}, ["2<1:a", "4<3:b"]),
        ("u a:a r:a a:b r:b a:c r:c", {"keep": 2}, ["2<1:a"]),
        ("u a:a r:a a:b r:b a:c r:c", {"keep": 3}, []),
        ("u a:a r:a a:b r:b a:c r:c", {"keep": 4}, []),
        ("a:a,b r:a,b a:c r:c", {"keep": 2}, ["1<0:a"]),
        ("a:a,b r:a,b a:c r:c", {"keep": 1}, ["1<0:a", "1<0:b"]),
        ("a:a,b r:a r:b", {"keep": 0}, ["1<0:a", "2<0:b"]),
        ("r:x a:a r:a", {"keep": 0}, ["2<1:a"]),
        ("a:b r:a", {"keep": 0}, []),
        ("a:a r:a", {"keep": 0, "exclude_tools": "Read"}, []),
        ("a:a r:a", {"keep": 0, "exclude_tools": "Bash"}, ["1<0:a"]),
    ],
)
def test_langchain_clears_all_but_the_newest(text, given, expected):
    view = seen(text)
    assert waits(view, **given) == expected
    assert waits(view, **given) == expected


def test_langchain_does_not_clear_twice():
    view = seen("a:a r9:a a:b r9:b a:c r9:c")
    params = params_of("langchain_clear_tool_uses", keep=1)
    made = langchain.clear_edit(params, view)
    assert sorted(made) == [1, 3]
    for n, item in made.items():
        view.items[n] = item
    assert view.state.memory["saved"] == 2 * (9 - len("[cleared]"))
    assert waits(view, keep=1) == []
    assert waits(view, keep=0) == ["5<4:c"]


@pytest.mark.parametrize(("size", "fires"), [(99, False), (100, False), (101, True)])
def test_langchain_clears_over_the_trigger(size, fires):
    """Of the history as it would be had nothing been cleared; until enough is."""
    params = params_of("langchain_clear_tool_uses", trigger=100, keep=0)
    found = langchain.clear_gate(params, seen(f"u1 a1:a r{size - 2}:a"))
    assert (found.fires, found.measure, found.threshold, found.operator) == (fires, size, 100, ">")
    assert not langchain.clear_gate(params, seen(f"u{size}")).fires
    view = seen(f"u1 a1:a r{size - 12}:a", unedited=1_000)
    view.state.memory["saved"] = 10
    assert langchain.clear_gate(params, view).fires is fires
    for least, more in ((10, False), (11, True)):
        enough = params_of("langchain_clear_tool_uses", trigger=1, keep=0, clear_at_least=least)
        assert langchain.clear_gate(enough, view).fires is more
    assert langchain.saved(replace(view, unedited=view.context)) == 0
    assert langchain.saved(replace(view, unedited=view.context + 1)) == 10


@pytest.mark.parametrize(
    ("least", "cleared"), [(0, [1, 3, 5]), (1, [1]), (11, [1]), (12, [1, 3]), (22, [1, 3]), (23, [1, 3, 5])]
)
def test_langchain_stops_when_enough_is_cleared(least, cleared):
    """Each takes 20 less nine of the placeholder."""
    params = params_of("langchain_clear_tool_uses", keep=0, clear_at_least=least)
    view = seen("a:a r20:a a:b r20:b a:c r20:c")
    assert sorted(langchain.clear_edit(params, view)) == cleared
    assert view.state.memory["saved"] == 11 * len(cleared)


def test_langchain_empties_arguments_where_asked():
    items = lists("a1:a r20:a")
    for n_chars, left in ((9, 2), (3, 2), (2, 2), (1, 1)):
        call = replace(block(Kind.TOOL_USE, n_chars), call_id="a", name="Read")
        items[0] = replace(holding(items[0], items[0].message.blocks[0], call), size=1 + n_chars)
        view = seen(items)
        made = langchain.clear_edit(params_of("langchain_clear_tool_uses", keep=0, clear_tool_inputs="on"), view)
        assert made[0].message.blocks[1].n_chars == left
        assert view.state.memory["saved"] == 11 + n_chars - left
        assert sorted(langchain.clear_edit(params_of("langchain_clear_tool_uses", keep=0), seen(items))) == [1]


@pytest.mark.parametrize(
    ("given", "text", "usage", "expected"),
    [
        ({}, "u79", None, (False, 79, 80)),
        ({}, "u80", None, (True, 80, 80)),
        ({}, "u81", None, (True, 81, 80)),
        ({}, "u1", (79, 1), (True, 80, 80)),
        ({}, "u1", (78, 1), (False, 79, 80)),
        ({"trigger_tokens": 50}, "u50", None, (True, 50, 50)),
        ({"trigger_tokens": 50}, "u49", None, (False, 49, 50)),
        ({"trigger_tokens": 50, "combine": "all"}, "u79", None, (False, 79, 80)),
        ({"trigger_tokens": 50, "combine": "all"}, "u80", None, (True, 80, 80)),
        ({"trigger_messages": 3}, "u1 u1", None, (True, 2, 80)),
        ({"trigger_messages": 4}, "u1 u1", None, (False, 2, 80)),
        ({"trigger_messages": 3, "combine": "all"}, "u79 u1", None, (True, 80, 80)),
        ({"trigger_messages": 4, "combine": "all"}, "u79 u1", None, (False, 80, 80)),
    ],
)
def test_langchain_summarises_at_its_triggers(given, text, usage, expected):
    """A prompt of nothing stands last and stays; something has to be before it."""
    params = params_of("langchain_summarization", keep_messages=1, **given)
    view = seen(f"{text} u0", window=100, usage=LastUsage(*usage, 0, 0) if usage else None)
    found = langchain.summarization_gate(params, view)
    assert (found.fires, found.measure, found.threshold) == expected
    if given == {}:
        alone = params_of("langchain_summarization", keep_messages=2)
        assert not langchain.summarization_gate(alone, view).fires


def test_langchain_without_limits_in_tokens():
    for n, fires in ((2, False), (3, True), (4, True)):
        params = params_of("langchain_summarization", trigger_fraction=None, trigger_messages=3, keep_messages=1)
        found = langchain.summarization_gate(params, seen("u " * n))
        assert (found.fires, found.measure, found.threshold, found.unit) == (fires, n, 3, "messages")
    params = params_of("langchain_summarization", trigger_fraction=None)
    assert not langchain.summarization_gate(params, seen("u " * 30)).fires
    assert langchain.summarization_gate(params, seen("u")).threshold == 0


@pytest.mark.parametrize(
    ("given", "cut"),
    [
        ({"keep_messages": 2}, 2),
        ({"keep_messages": 1, "keep_tokens": 3}, 2),
        ({"keep_messages": 1, "keep_tokens": 2}, 3),
        ({"keep_tokens": 1, "keep_fraction": 0.03}, 2),
        ({"keep_tokens": 1, "keep_fraction": 0.06}, 1),
    ],
)
def test_langchain_keeps_messages_tokens_or_a_share(given, cut):
    view = seen("u4 u3 u2 u1", window=100)
    assert langchain.cut(params_of("langchain_summarization", **given), view, view.items) == cut


@pytest.mark.parametrize(
    ("text", "most", "usage", "expected"),
    [
        ("u5 a5", 10, None, True),
        ("u5 a5", 9, None, False),
        ("u5 a5", 5, None, False),
        ("u5 a5", 4, None, False),
        ("a5 a5", 10, None, False),
        ("u4 a4", 10, LastUsage(0, 0, 0, 0), True),
        ("u4 a5", 10, LastUsage(0, 0, 0, 0), False),
        ("u4 a5", 12, LastUsage(0, 0, 0, 0), True),
        ("u5", 5, None, True),
        ("u5 a5", None, None, True),
        ("a5", None, None, True),
        ("z22", 10, None, True),
        ("z23", 10, None, False),
        ("z20", 10, LastUsage(0, 0, 0, 0), True),
        ("z21", 10, LastUsage(0, 0, 0, 0), False),
        ("", 5, None, False),
    ],
)
def test_langchain_shows_the_summary_call_its_end(text, most, usage, expected):
    """By 1.25 where usage is known, up; a summary without its frame of twelve tokens."""
    params = params_of("langchain_summarization", summary_input=most)
    assert (langchain.FRAME_TOKENS, len(langchain.FRAME)) == (12, 48)
    assert bool(langchain.seen(params, seen("u", usage=usage), lists(text))) is expected


def test_langchain_says_where_it_cannot_summarise():
    params = params_of("langchain_summarization", keep_messages=1, summary_input=5)
    made = langchain.summarization_edit(params, seen("s u9 a9 u1"))
    assert [item.inserted for item in made] == [False, True, False]
    assert made[1].id == langchain.FRAME + langchain.UNSEEN
    assert ids(langchain.summarization_edit(params, seen("s u9 u5 u1"))) == "0 new 3"


@pytest.mark.parametrize(
    ("given", "budget", "left"),
    [
        ({}, 10, "0 1 2 3"),
        ({}, 9, "1 2 3"),
        ({}, 7, "2 3"),
        ({}, 6, "3"),
        ({}, 3, ""),
        ({"include_system": "off"}, 9, "1 2 3"),
        ({"strategy": "first"}, 6, "0 1 2"),
        ({"strategy": "first"}, 5, "0 1"),
        ({"strategy": "first"}, 0, ""),
        ({"end_on": "user"}, 10, "0 1"),
        ({"strategy": "first", "end_on": "user"}, 6, "0 1"),
        ({"start_on": "assistant"}, 10, "2 3"),
        ({"start_on": "user"}, 6, ""),
        ({"end_on": "tool"}, 10, ""),
    ],
)
def test_langchain_trims_to_its_budget(given, budget, left):
    params = params_of("langchain_trim", **given)
    assert kept(langchain.trimmed(params, lists("u1 u2 a3 a4"), [0, 1, 3, 6, 10], budget)) == left


@pytest.mark.parametrize(
    ("given", "budget", "left"),
    [
        ({}, 10, "0 1 2 3"), ({}, 9, "0 2 3"), ({}, 8, "0 2 3"), ({}, 7, "0 3"), ({}, 5, "0 3"), ({}, 4, "0"),
        ({}, 0, "0"),
        ({"include_system": "off"}, 9, "1 2 3"), ({"end_on": "tool"}, 9, ""), ({"start_on": "user"}, 10, "0 1 2 3"),
        ({"start_on": "assistant"}, 10, "0 2 3"), ({"strategy": "first"}, 9, "0 1 2"),
    ],
)  # fmt: skip
def test_langchain_keeps_a_leading_system_message(given, budget, left):
    params = params_of("langchain_trim", **given)
    assert kept(langchain.trimmed(params, lists("s1 u2 a3 a4"), [0, 1, 3, 6, 10], budget)) == left


@pytest.mark.parametrize(("size", "fires"), [(79, False), (80, False), (81, True)])
def test_langchain_trims_over_four_fifths(size, fires):
    for given, window in (({}, 100), ({}, 101), ({"max_tokens": 80}, 9)):
        found = langchain.trim_gate(params_of("langchain_trim", **given), seen(f"u{size}", window=window))
        assert (found.fires, found.measure, found.threshold) == (fires, size, 80)
    for given, other in (({"end_on": "user"}, False), ({"end_on": "assistant"}, True), ({"start_on": "tool"}, True)):
        asked = langchain.trim_gate(params_of("langchain_trim", **given), seen("u5", window=100))
        assert asked.fires is other
    for orphans, left in (("drop", ""), ("keep", "1")):
        params = params_of("langchain_trim", max_tokens=2, orphans=orphans)
        assert ids(langchain.trim_edit(params, seen("a9:c r2:c"))) == left


# Letta (policies 11.9)
@pytest.mark.parametrize(
    ("text", "cuts"),
    [
        ("u a u a u a u a u a", [3, 5, 5, 7, 7, 9]),
        ("u a u u u u u u u u", [1, 1, 1, 1, 1, 1]),
        ("u u u u", []),
        ("a u u u", []),
        ("u a", [1, 1, 1, 1, 1, 1]),
        ("u a a:c r:c", [2, 2, 2, 2, 2, 2]),
    ],
)
def test_letta_evicts_four_tenths_and_more(text, cuts):
    """round(share × N), at the last reply at or before it."""
    assert list(letta.cuts(params_of("letta"), lists(text))) == cuts


@pytest.mark.parametrize(("over", "left"), [(-1, "0 new 3 4 5"), (0, "0 new 5"), (1, "0 new 5")])
def test_letta_stays_under_seven_tenths(over, left):
    """System message and tail of 70 in all: not under 70% of 100."""
    view = seen(f"s10 u5 a5 a{20 + over} u30 a10", window=100)
    assert ids(letta.edit(params_of("letta", step=20), view)) == left
    assert view.tools.asked[0][1]["most"] == 12_500
    assert ids(letta.edit(params_of("letta", step=20), seen("s u a90", window=100))) == "0 new"
