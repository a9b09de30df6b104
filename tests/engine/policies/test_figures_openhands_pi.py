"""What Gemini CLI masks, OpenHands and pi keep of a short list, at and beside each of their figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.base import registry
from sessions.engine.policies import (
    gemini,
    openhands,
    pi,
)
from sessions.engine.policies.params import build
from sessions.engine.policies.policy import LastUsage
from sessions.engine.transcript.types import Kind
from tests.engine.policies.listed import block, ids, lists, seen


def params_of(name, **given):
    return build(registry.get("policies", name).params, given)


def holding(item, *blocks):
    """A message with other blocks."""
    return replace(item, message=replace(item.message, blocks=blocks))


# Gemini CLI's masking (policies 7.2)
FOUR = "u a:a r{}:a a:b r{}:b a:c r{}:c a"


def weight(n_chars, name="Read"):
    """Tokens of an output: its JSON and the tool's name, four characters each."""
    return (len(name) + len('{"output":""}') + n_chars) // 4


@pytest.mark.parametrize(
    ("sizes", "protect", "found"),
    [
        ((2_000, 2_000, 2_000), 3 * weight(2_000), []),
        ((2_000, 2_000, 2_000), 3 * weight(2_000) - 1, ["a"]),
        ((2_000, 2_000, 2_000), 2 * weight(2_000), ["a"]),
        ((2_000, 2_000, 2_000), 2 * weight(2_000) - 1, ["b", "a"]),
        ((2_000, 2_000, 2_000), 0, ["c", "b", "a"]),
        ((1, 2_000, 1), weight(1), ["b", "a"]),
    ],
)
def test_gemini_masks_beyond_the_protected_outputs(sizes, protect, found):
    """The first that passes the protected weight, and all older."""
    params = params_of("gemini_masking", protect=protect, least=0, protect_latest="off")
    view = seen(FOUR.format(*sizes))
    made = gemini.prunable(params, view)
    outputs, tokens = made
    assert [output.call_id for output in outputs] == found
    assert tokens == sum(weight(dict(zip("abc", sizes, strict=True))[call]) for call in found)
    assert gemini.prunable(params, view) == made


@pytest.mark.parametrize(("more", "fires"), [(-1, True), (0, True), (1, False)])
def test_gemini_masks_at_the_least_weight(more, fires):
    params = params_of("gemini_masking", protect=0, least=weight(2_000) + more)
    found = gemini.masking_gate(params, seen("u a:a r2000:a a"))
    assert (found.fires, found.measure, found.operator) == (fires, weight(2_000), ">=")


@pytest.mark.parametrize(
    ("spare", "text", "n"), [("on", "u a:a r9:a a:b r9:b u", 1), ("off", "u a:a r9:a a:b r9:b a", 2)]
)
def test_gemini_looks_at_the_history_alone(spare, text, n):
    params = params_of("gemini_masking", protect=0, least=0, protect_latest=spare)
    assert len(gemini.prunable(params, seen(text))[0]) == n
    answered = params_of("gemini_masking", protect=0, least=0, protect_latest="on")
    assert len(gemini.prunable(answered, seen("a:a r9:a a"))[0]) == 1


def test_gemini_masks_what_becomes_smaller():
    """A frame and 500 characters: with 12 escapes, rounded to whole tokens."""
    frame = len(gemini.FRAME) + 500 + 12
    for n_frame in (0, 1, 2, 3):
        shrinks = [n for n in range(frame - 9, frame + 9) if gemini.saves(n, n_frame)]
        assert shrinks[0] == next(n for n in range(frame + 1, frame + 9) if (n + n_frame) % 4 == 0)
        assert shrinks == list(range(shrinks[0], frame + 9))
    view = seen(FOUR.format(2_000, 9, 2_000))
    params = params_of("gemini_masking", protect=0, least=0)
    assert gemini.masking_gate(params, view).fires
    made = gemini.masking_edit(params, view)
    assert sorted(made) == [2, 6]
    assert made[2].size == 500 + len(gemini.FRAME)
    for n, item in made.items():
        view.items[n] = item
    outputs, tokens = gemini.prunable(params, view)
    assert ([output.call_id for output in outputs], tokens) == (["b"], weight(9))
    assert not gemini.masking_gate(params, view).fires


def test_gemini_never_masks_what_it_was_told():
    items = lists("u a:a r2000:a a", name="ask_user")
    assert gemini.prunable(params_of("gemini_masking", protect=0), seen(items))[0] == []


# OpenHands (policies 9.1, 9.2)
@pytest.mark.parametrize(
    ("text", "size", "first", "left"),
    [
        ("u a u a u a", 4, 0, "4 5"),
        ("u a u a u a", 5, 0, "4 5"),
        ("u a u a u a", 4, 1, "0 5"),
        ("u a u a u a", 4, 2, "0 1 5"),
        ("u a u a u a", 4, 5, "0 1 2 3 4 5"),
        ("u a:c r:c a", 2, 0, "3"),
        ("u a a:c r:c", 2, 0, ""),
    ],
)
def test_openhands_forgets_the_older_half(text, size, first, left):
    params = params_of("openhands_amortized", max_size=size, keep_first=first)
    assert ids(openhands.amortized_edit(params, seen(text))) == left
    kept = params_of("openhands_amortized", max_size=2, keep_first=0, orphans="keep")
    assert ids(openhands.amortized_edit(kept, seen("u a a:c r:c"))) == "3"


@pytest.mark.parametrize(
    ("size", "head", "tail"), [(120, 4, 55), (8, 1, 2), (9, 1, 2), (8, 2, 1), (8, 3, 1), (8, 4, 1)]
)
def test_openhands_keeps_a_tail_of_half_less_the_head(size, head, tail):
    assert openhands.tail(size, head) == tail


def test_openhands_summarises_between_head_and_tail():
    view = seen("u a z u a u a u")
    params = params_of("openhands_llm_summarizing", max_size=8, keep_first=1)
    assert ids(openhands.summarizing_edit(params, view)) == "0 new 6 7"
    assert view.tools.asked[0] == (["1", "3", "4", "5"], {"mode": "merge", "attachments": []})
    params = params_of("openhands_llm_summarizing", max_size=6, keep_first=7)
    assert ids(openhands.summarizing_edit(params, seen("u a u a u a u a"))) == "0 1 2 3 4 5 6 new 7"
    split = "u a u a:c r:c"
    params = params_of("openhands_llm_summarizing", max_size=4, keep_first=0)
    assert ids(openhands.summarizing_edit(params, seen(split))) == "new"
    params = params_of("openhands_llm_summarizing", max_size=4, keep_first=0, orphans="keep")
    assert ids(openhands.summarizing_edit(params, seen(split))) == "new 4"


@pytest.mark.parametrize(("window", "due"), [(1, [4, 2]), (2, [4, 2]), (3, [2]), (4, [2]), (5, []), (6, [])])
def test_openhands_masks_outside_the_window(window, due):
    """Of seven events the last ``window`` stay."""
    params = params_of("openhands_masking", attention_window=window)
    view = seen("u a:c r5:c a:d r5:d a u")
    assert openhands.due(params, view) == due
    found = openhands.masking_gate(params, view)
    assert (found.fires, found.measure) == (bool(due), len(due))
    assert sorted(openhands.masking_edit(params, view)) == sorted(due)
    view.items[2] = replace(view.items[2], edited=True)
    assert openhands.due(params, view) == [n for n in due if n != 2]


@pytest.mark.parametrize(
    ("most", "first", "fires", "left"),
    [
        (5, 1, False, ""),
        (4, 1, True, "0 2 3 4"),
        (4, 0, True, "1 2 3 4"),
        (3, 2, True, "0 1 4"),
        (3, 3, False, ""),
        (1, 0, True, "4"),
    ],
)
def test_openhands_sends_the_first_and_the_newest(most, first, fires, left):
    params = params_of("openhands_recent", max_events=most, keep_first=first)
    view = seen("u a u a u")
    found = openhands.recent_gate(params, view)
    assert (found.fires, found.measure, found.threshold) == (fires, 5, most)
    if fires:
        assert ids(openhands.recent_edit(params, view)) == left
    for orphans, expected in (("drop", "0"), ("keep", "0 3")):
        params = params_of("openhands_recent", max_events=2, keep_first=1, orphans=orphans)
        assert ids(openhands.recent_edit(params, seen("u u a:c r:c"))) == expected


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a a a", [0, 1, 2]),
        ("u", [0]),
        ("u a", [0, 1]),
        ("u a u a", [0, 3]),
        ("u a u a u", [0, 3, 4]),
        ("s u a u a u", [0, 1, 4, 5]),
        ("s s u a a a", [0, 2, 4, 5]),
        ("a u a a a a", [1, 4, 5]),
        ("u a a:c r:c a", [0, 4]),
    ],
)
def test_openhands_keeps_the_essential_and_the_newest_half(text, kept):
    """Half of what is not essential, down; no result comes first."""
    assert openhands.kept(lists(text)) == kept


def test_openhands_keeps_the_first_recall():
    items = [*lists("u a u"), *lists("u a u a:r r:r a:q r:q a a a", name="recall")[3:]]
    assert openhands._recall(items, 0) == [3, 4]
    assert openhands._recall(items, 3) == [5, 6]
    assert openhands._recall(items[:4], 0) == [3]
    assert openhands._recall(lists("u a:r r:r"), 0) == []
    assert openhands.kept(items) == [0, 3, 4, 7, 8, 9]
    for context, fires in ((99, False), (100, False), (101, True)):
        assert openhands.WINDOW.gate(None, seen("u", context=context, window=100)).fires is fires
    assert ids(openhands.window_edit(None, seen("u a a:c r:c a"))) == "0 4"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("", [0]),
        ("u a u", [0, 1, 2, 3]),
        ("u a:c r:c u", [0, 1, 3, 4]),
        ("a:c,d r:c r:d u", [0, 3, 4]),
        ("u a:c u r:c", [0, 1, 4]),
        ("t a:c r:c", [0, 1, 3]),
    ],
)
def test_openhands_cuts_between_whole_calls(text, places):
    assert openhands.places(lists(text)) == places


def test_openhands_keeps_a_thinking_loop_together():
    items = lists("u a:c r:c a:d r:d u a:e r:e")
    items[1] = holding(items[1], block(Kind.THINKING, 1), *items[1].message.blocks)
    assert openhands.places(items) == [0, 1, 5, 6, 8]
    items = lists("u a:c r:c a:d r:d")
    items[3] = replace(items[3], step=1)
    items[2] = replace(items[2], step=1)
    assert openhands.places(items) == [0, 1, 3, 5]
    same = lists("u a:c a:d r:c r:d")
    same[2] = replace(same[2], step=1)
    assert openhands._same_reply(same[1], same[2])
    assert not openhands._same_reply(replace(same[1], inserted=True), same[2])
    assert not openhands._same_reply(same[0], replace(same[2], step=0))


@pytest.mark.parametrize(
    ("n", "size", "window", "expected"),
    [
        (8, 1, 99, None), (9, 1, 99, 2), (10, 1, 99, 2), (9, 1, 9, 2), (9, 1, 8, 2), (8, 1, 8, None), (8, 1, 7, 1),
        (8, 2, 15, 2), (20, 1, 12, 2),
    ],
)  # fmt: skip
def test_openhands_condenses_for_a_reason(n, size, window, expected):
    """More than eight events: 8 // 2 − 1 − 1 stay; over its tokens, what brings it to half."""
    params = params_of("openhands_sdk", max_size=8, keep_first=1)
    view = seen(f"u{size} " * n, window=window, context=0)
    assert openhands.sdk_tail(params, view) == expected
    refused = seen(f"u{size} " * n, window=10_000, context=10_001)
    assert openhands.sdk_tail(params, refused) == min([n // 2 - 2, *([2] if n > 8 else [])])


@pytest.mark.parametrize(("reduction", "tail"), [(0, 3), (1, 2), (2, 2), (3, 1), (5, 1), (6, 0), (9, 0), (10, 0)])
def test_openhands_takes_the_shortest_beginning_over_the_reduction(reduction, tail):
    assert openhands.token_tail(lists("u1 u2 u3 u4"), reduction) == tail


@pytest.mark.parametrize(
    ("text", "first", "tail", "progress", "expected"),
    [
        ("u a u a u a u a u a", 1, 3, 0.1, (1, 7)),
        ("u a u a u a u a u a", 1, 8, 0.1, (1, 2)),
        ("u a u a u a u a u a", 1, 9, 0.1, None),
        ("u a u a u a u a u a", 1, 8, 0.11, None),
        ("u a u a u a u a u a", 1, 7, 0.2, (1, 3)),
        ("u a u a u a u a u a", 1, 7, 0.21, None),
        ("s u a u a", 0, 1, 0.1, (1, 4)),
        ("u a:c r:c a u", 2, 1, 0.1, (3, 4)),
        ("u a a:c r:c u", 1, 2, 0.1, (1, 4)),
        ("u a a:c", 1, 0, 0.1, None),
        ("u a u", 9, 0, 0.1, None),
    ],
)
def test_openhands_forgets_a_tenth_at_least(text, first, tail, progress, expected):
    params = params_of("openhands_sdk", keep_first=first, minimum_progress=progress)
    assert openhands.sdk_span(params, seen(text), tail) == expected


def test_openhands_resets_where_nothing_else_can_be_forgotten():
    params = params_of("openhands_sdk", max_size=80, keep_first=4)
    small = "s1 u1 u9"
    assert openhands.sdk_plan(params, seen(small, window=11)) is None
    assert openhands.sdk_plan(params, seen(small, window=10)) == (1, 3)
    assert openhands.sdk_plan(params, seen("u1 u9", window=9)) == (0, 2)
    assert openhands.sdk_plan(params, seen(small, window=11, context=12)) == (1, 3)
    found = openhands.sdk_gate(params, seen(small, window=10))
    assert (found.fires, found.measure, found.threshold, found.unit) == (True, 11, 10, "tokens")
    found = openhands.sdk_gate(params, seen(small, window=11))
    assert (found.fires, found.measure, found.threshold, found.unit) == (False, 3, 80, "events")
    assert ids(openhands.sdk_edit(params, seen(small, window=10))) == "0 new"
    assert ids(openhands.sdk_edit(params, seen(small, window=11))) == "0 1 2"
    few = params_of("openhands_sdk", max_size=4, keep_first=1)
    assert ids(openhands.sdk_edit(few, seen("u1 u1 u1 u1 u1"))) == "0 new"
    capped = params_of("openhands_sdk", max_tokens=10)
    assert [openhands._limit(capped, seen("u", window=window)) for window in (9, 10, 11)] == [9, 10, 10]


# pi (policies 11.1)
@pytest.mark.parametrize(
    ("sizes", "kinds", "keep", "cut"),
    [
        ([5, 5, 5, 5], "uaua", 5, (3, 2)),
        ([5, 5, 5, 5], "uaua", 6, (2, -1)),
        ([5, 5, 5, 5], "uaua", 10, (2, -1)),
        ([5, 5, 5, 5], "uaua", 11, (1, 0)),
        ([5, 5, 5, 5], "uaua", 20, (0, -1)),
        ([5, 5, 5, 5], "uaua", 21, (0, -1)),
        ([5, 5, 5], "uat", 5, (0, -1)),
        ([5, 5, 5, 5], "uata", 6, (3, 0)),
        ([5, 5], "tt", 5, (0, -1)),
        ([5, 5, 5], "taa", 99, (1, -1)),
        ([5, 5], "aa", 5, (1, -1)),
    ],
)
def test_pi_keeps_what_reaches_its_figure(sizes, kinds, keep, cut):
    """At the message that reaches it, after results; with the turn's start where it cuts inside one."""
    names = [{"u": "user", "a": "assistant", "t": "tool"}[kind] for kind in kinds]
    assert pi.find_cut(sizes, names, keep) == cut


@pytest.mark.parametrize(("used", "fires"), [(83, False), (84, False), (85, True)])
def test_pi_compacts_over_the_window_less_its_reserve(used, fires):
    params = params_of("pi", reserve=16)
    for text, asked in (("u a u", True), ("u a", True), ("u a:c r:c", False)):
        view = seen(text, window=100, context=0, usage=LastUsage(used - 9, 9, 0, 50))
        found = pi.gate(params, view)
        assert (found.fires, found.measure, found.threshold) == (fires and asked, used, 84)
        requests = params_of("pi", reserve=16, when="requests")
        found = pi.gate(requests, replace(view, usage=LastUsage(used - 20, 9, 0, 11)))
        assert (found.fires, found.measure) == (fires, used)
    bare = seen(f"u{used - 3}", window=100, overhead=3)
    assert (pi.gate(params, bare).fires, pi.gate(params, bare).measure) == (False, used)
    assert pi.gate(params_of("pi", reserve=16, usage="none"), bare).fires is fires
    assert pi.gate(params_of("pi", reserve=16, when="requests"), bare).fires is fires
    assert pi.gate(params, seen("u", window=100, context=101)).fires
    assert not pi.gate(params, seen("u", window=100, context=100)).fires


@pytest.mark.parametrize(
    ("text", "keep", "used", "left", "calls"),
    [
        ("s u5 a5 u5 a5 u5", 5, 100, "0 new 4 5", 2),
        ("s u5 a5 u5 a5 u5", 6, 100, "0 new 3 4 5", 1),
        ("s u5 a5 u5 a5 u5", 5, 84, "0 new 5", 1),
        ("z u5 a5 a5", 5, 100, "new 3", 1),
        ("z u5 u5 a5 a5", 5, 100, "new 4", 2),
        ("s", 5, 100, "0", 0),
    ],
)
def test_pi_summarises_what_is_before_the_cut(text, keep, used, left, calls):
    """Two calls where it cuts inside a turn that is not the first; a new prompt waits."""
    params = params_of("pi", reserve=16, keep_recent=keep)
    view = seen(text, window=100, usage=LastUsage(used, 0, 0, 0))
    assert ids(pi.edit(params, view)) == left
    assert [how["calls"] for _, how in view.tools.asked] == ([calls] if calls else [])


def test_pi_names_the_files():
    items = lists("u5 a1:a a1:b a1:c u5 a5")
    for n, name in ((1, "read"), (2, "Write"), (3, "edit")):
        items[n] = holding(items[n], *[replace(b, name=name) for b in items[n].message.blocks])
    view = seen(items)
    (draft,) = pi._files(view, items)
    assert draft.text == "<read-files>\n/a\n</read-files>\n\n<modified-files>\n/b\n/c\n</modified-files>"
    assert draft.preview == "<read-files>"
    (again,) = pi._files(view, lists("a:b", name="read"))
    assert again.text == draft.text
    assert pi._files(seen(""), lists("u a")) == ()
