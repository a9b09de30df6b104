"""What AG2 and Microsoft's framework keep and drop of a short list, at and beside each of their figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.base import registry
from sessions.engine.policies import ag2, agent_framework
from sessions.engine.policies.params import build
from sessions.engine.transcript.types import Kind
from tests.engine.policies.listed import block, ids, lists, planned, seen


def params_of(name, **given):
    return build(registry.get("policies", name).params, given)


# AG2 (policies 11.10)
@pytest.mark.parametrize(
    ("roles", "most", "first", "straight", "kept"),
    [
        ("uaua", 4, False, False, [0, 1, 2, 3]),
        ("uaua", 5, True, False, [0, 1, 2, 3]),
        ("uaua", 3, False, True, [1, 2, 3]),
        ("uaua", 3, False, False, [2, 1, 3]),
        ("uaua", 2, False, True, [2, 3]),
        ("uaua", 1, False, True, [3]),
        ("uaua", 3, True, True, [0, 2, 3]),
        ("uaua", 2, True, True, [0, 3]),
        ("uatua", 3, False, True, [3, 4]),
        ("uatua", 4, True, True, [0, 3, 4]),
    ],
)
def test_ag2_keeps_the_newest(roles, most, first, straight, kept):
    """No result as the oldest; in the original's order the oldest trades places with the next."""
    names = [{"u": "user", "a": "assistant", "t": "tool"}[letter] for letter in roles]
    spans = ag2.stretches(len(names), most, lambda n: names[n] == "tool", keep_first=first, straight=straight)
    assert [n for span in spans for n in range(*span)] == kept


@pytest.mark.parametrize(("n", "fires"), [(2, False), (3, False), (4, True)])
def test_ag2_fires_over_its_messages(n, fires):
    params = params_of("ag2_history_limiter", max_messages=3)
    found = ag2.history_gate(params, seen("u " * n))
    assert (found.fires, found.measure, found.threshold, found.operator) == (fires, n, 3, ">")


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({}, "3 2 4"),
        ({"order": "straight"}, "2 3 4"),
        ({"keep_first_message": "on", "order": "straight"}, "0 3 4"),
        ({"max_messages": 2}, "4 3"),
        ({"max_messages": 2, "orphans": "keep"}, "4 3"),
        ({"max_messages": 1, "orphans": "keep"}, "4"),
    ],
)
def test_ag2_sends_the_newest(given, left):
    params = params_of("ag2_history_limiter", **{"max_messages": 3, **given})
    assert ids(ag2.history_edit(params, seen("u u a u a"))) == left


def test_ag2_drops_what_is_split_unless_it_is_kept():
    for orphans, left in (("drop", "2 4"), ("keep", "2 3 4")):
        params = params_of("ag2_history_limiter", max_messages=3, order="straight", orphans=orphans)
        assert ids(ag2.history_edit(params, seen("a:c u a r:c u"))) == left


@pytest.mark.parametrize(
    ("tokens", "per", "most", "kept"),
    [
        ([5, 5], 5, 10, [(0, 5), (1, 5)]),
        ([5, 5], 5, 9, [(0, 4), (1, 5)]),
        ([5, 5], 4, 8, [(0, 4), (1, 4)]),
        ([5, 5], 6, 6, [(0, 1), (1, 5)]),
        ([1, 5, 5], 5, 5, [(1, 0), (2, 5)]),
        ([1, None, 5], 5, 10, [(0, 1), (1, None), (2, 5)]),
        ([9], 5, 4, [(0, 4)]),
        ([3], 5, 4, [(0, 3)]),
        ([], 5, 4, []),
    ],
)
def test_ag2_plans_from_the_newest(tokens, per, most, kept):
    """Where the limit of one message does not fit any more, that message gets what is left, and none before it."""
    assert planned(tokens, per, most) == kept


@pytest.mark.parametrize(
    ("given", "fires"),
    [
        ({"max_tokens": 12, "max_tokens_per_message": 4}, False),
        ({"max_tokens": 11, "max_tokens_per_message": 4}, True),
        ({"max_tokens": 12, "max_tokens_per_message": 3}, True),
        ({"max_tokens": 0, "max_tokens_per_message": 4}, True),
        ({"max_tokens": 0, "min_tokens": 12}, True),
        ({"max_tokens": 0, "min_tokens": 13}, False),
        ({"max_tokens": 0, "min_tokens": 11}, True),
        ({"max_tokens": 0, "min_tokens": 1}, True),
    ],
)
def test_ag2_fires_where_something_is_cut(given, fires):
    view = seen("u4 a4 u4")
    params = params_of("ag2_token_limiter", **given)
    for _ in range(2):
        found = ag2.token_gate(params, view)
        assert (found.fires, found.measure, found.threshold) == (fires, 12, given["max_tokens"])


def test_ag2_counts_anew_where_the_list_was_replaced():
    params = params_of("ag2_token_limiter", max_tokens=100)
    view = seen("u4 a4 u4", request=1)
    assert ag2.token_gate(params, view).measure == 12
    other = seen([replace(item, id=f"n{item.id}") for item in lists("u3 a2")], request=2, state=view.state)
    assert ag2.token_gate(params, other).measure == 5


def test_ag2_cuts_what_does_not_fit():
    """A reply without text has none to cut; the oldest kept gets what is left, its sizes in proportion."""
    view = seen("u9 a8 a0:c r4:c u4", window=14)
    params = params_of("ag2_token_limiter", max_tokens_per_message=6)
    made = ag2.token_edit(params, view)
    assert [(item.id, item.size) for item in made] == [("0", 0), ("1", 6), ("2", 0), ("3", 4), ("4", 4)]
    assert made[1].message.blocks[0].n_tokens == 6
    params = params_of("ag2_token_limiter", max_tokens_per_message=6, max_tokens=9)
    assert ids(ag2.token_edit(params, seen("u9 a8 a0:c r4:c u4"))) == "4"
    params = params_of("ag2_token_limiter", max_tokens_per_message=4, max_tokens=5)
    assert ids(ag2.token_edit(params, seen("a0:c u4 r4:c u4"))) == "3"
    params = params_of("ag2_token_limiter", max_tokens_per_message=4, max_tokens=5, orphans="keep")
    assert ids(ag2.token_edit(params, seen("a0:c u4 r4:c u4"))) == "2 3"


def test_ag2_cuts_the_texts_of_a_message_from_their_start():
    blocks = (
        block(Kind.TEXT, 4),
        block(Kind.THINKING, 9),
        replace(block(Kind.TEXT, 4), n_chars=8, n_bytes=12),
        block(Kind.TEXT, 2),
    )
    (item,) = lists("u1")
    item = replace(item, message=replace(item.message, blocks=blocks))
    made = ag2._cut(seen(""), item, 7).message.blocks
    assert [(b.n_tokens, b.n_chars, b.n_bytes) for b in made] == [(4, 4, 4), (9, 9, 9), (3, 6, 9), (0, 0, 0)]
    assert [b.n_tokens for b in ag2._cut(seen(""), item, 8).message.blocks] == [4, 9, 4, 0]
    assert ag2.text_tokens(item) == 10
    assert [ag2.text_tokens(i) for i in lists("a0:c t5 n0 r3:c")] == [None, None, 0, 3]


# Microsoft Agent Framework (policies 11.13)
def test_agent_framework_s_limits():
    assert agent_framework.limits(128_000, 4_096) == (123_904, 61_952, 99_123)
    assert [agent_framework.limits(w, 10).budget for w in (10, 11, 12)] == [1, 1, 2]
    view = seen("u", window=17_384)
    params = params_of("agent_framework")
    assert agent_framework._limits(params, replace(view, model=replace(view.model, max_output=0))).budget == 1_000
    assert agent_framework._limits(params, replace(view, model=replace(view.model, max_output=384))).budget == 17_000
    params = params_of("agent_framework", max_output=84, eviction=0.9)
    assert agent_framework._limits(params, view) == (17_300, 15_570, 15_570)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s u a", ["system 0", "user 1", "assistant 2"]),
        ("u a:c r:c a", ["user 0", "tool 1 2", "assistant 3"]),
        ("a:c,d r:c u r:d", ["tool 0 1 3", "user 2"]),
        ("a:c r:x r:y", ["tool 0 1 2"]),
        ("u r:x r:y", ["user 0", "tool 1 2"]),
        ("u r:x u r:y", ["user 0", "tool 1", "user 2", "tool 3"]),
        ("t t a:c r:c", ["tool 0 1 2 3"]),
        ("u t a", ["user 0", "assistant 1", "assistant 2"]),
        ("a t a:c r:c", ["assistant 0", "tool 1 2 3"]),
        ("a0 a:c", ["assistant 0", "tool 1"]),
        ("u a:c a:d r:d r:c", ["user 0", "tool 1 4", "tool 2 3"]),
    ],
)
def test_agent_framework_s_groups(text, expected):
    """A reply with its calls, results and the thinking before it go together; a stray result joins the tool before."""
    found = agent_framework.groups(lists(text))
    assert [f"{group.kind} {' '.join(map(str, group.positions))}" for group in found] == expected


@pytest.mark.parametrize(("size", "fires"), [(49, False), (50, False), (51, True)])
def test_agent_framework_collapses_over_half_of_its_budget(size, fires):
    for n_groups, any_ in ((4, False), (5, True)):
        calls = "".join(f" a0:c{n} r0:c{n}" for n in range(n_groups))
        view = seen(f"u{size}{calls}", window=100)
        params = params_of("agent_framework", max_output=0)
        view.size = size
        found = agent_framework.collapse_gate(params, view)
        assert (found.fires, found.threshold, found.operator) == (fires and any_, 50, ">")
        params = params_of("agent_framework", max_output=0, phases="budget")
        assert agent_framework.collapse_gate(params, view).fires is fires


@pytest.mark.parametrize(("size", "fires"), [(79, False), (80, False), (81, True)])
def test_agent_framework_truncates_over_four_fifths(size, fires):
    found = agent_framework.truncate_gate(params_of("agent_framework", max_output=0), seen(f"u{size}", window=100))
    assert (found.fires, found.measure, found.threshold, found.operator) == (fires, size, 80, ">")


@pytest.mark.parametrize(("keep", "left"), [(0, "0 1 3"), (1, "0 1 3 4"), (2, "0 1 2 3 4"), (3, "0 1 2 3 4")])
def test_agent_framework_leaves_the_newest_groups_whole(keep, left):
    params = params_of("agent_framework", keep_last=keep, max_output=0)
    made = agent_framework.collapse(params, seen("u1 a1:c r9:c a1:d r9:d"))
    assert ids(made) == left
    assert [item.id for item in made if item.edited] == ["1", "3"][: max(0, 2 - keep)]
    params = params_of("agent_framework", keep_last=2, max_output=0, phases="budget")
    assert ids(agent_framework.collapse(params, seen("u1 a1:c r9:c a1:d r9:d", window=22))) == "3 4"


@pytest.mark.parametrize(
    ("target", "given", "left"),
    [
        (11, {}, "0 1 2 3 4"),
        (10, {}, "0 2 3 4"),
        (9, {}, "0 3 4"),
        (8, {}, "0 4"),
        (6, {}, "0 4"),
        (5, {}, "4"),
        (0, {}, "4"),
        (0, {"strict": False}, "0 4"),
        (10, {"first_user": True}, "0 1 3 4"),
        (9, {"first_user": True}, "0 1 4"),
        (0, {"first_user": True}, "1 4"),
    ],
)
def test_agent_framework_drops_the_oldest_groups(target, given, left):
    """System messages last; the newest group stays, and the first prompt where asked for."""
    assert ids(agent_framework.dropped(lists("s2 u1 a1 u3 a4"), target, **given)) == left


def test_agent_framework_truncates_to_half():
    params = params_of("agent_framework", max_output=0)
    assert ids(agent_framework.truncate(params, seen("s9 u1 a1 u3", window=8))) == "0 3"
    params = params_of("agent_framework", max_output=0, first_user="on")
    assert ids(agent_framework.truncate(params, seen("s9 u1 a1 u3", window=8))) == "0 1 3"
    params = params_of("agent_framework", max_output=0, phases="budget")
    assert ids(agent_framework.truncate(params, seen("s9 u1 a1 u3", window=8))) == "3"
    assert ids(agent_framework.dropped(lists("s1 s1"), 0)) == "1"


@pytest.mark.parametrize(
    ("results", "text"),
    [
        ([], "no results"),
        ([("Read", 3)], "Read: xxx"),
        ([("Read", 0)], "Read:"),
        ([("", 3)], "xxx"),
        ([("Read", 1), ("", 2), ("Bash", 0)], "Read: x; xx; Bash:"),
    ],
)
def test_agent_framework_s_label(results, text):
    assert agent_framework.label_length(results) == len(text)


@pytest.mark.parametrize(("n", "kept"), [(4_074, 4_074), (4_075, 4_075), (4_076, 4_076), (9_000, 4_096)])
def test_agent_framework_writes_a_line_of_results(n, kept):
    """``[Tool results: Read: …]`` is 22 characters more, 4,096 in all at most: sizes of the text in proportion."""
    found = agent_framework.collapsed(seen(""), lists(f"a5:c r{n}:c"))
    (made,) = found.message.blocks
    n_chars = min(4_096, n + 22)
    assert (found.id, made.n_chars) == ("0", n_chars)
    n_kept = min(n, n_chars)
    assert kept == n_kept
    assert (made.n_bytes, made.n_tokens) == (n_chars, (n_chars - n_kept) // 4 + n_kept)
    (empty,) = agent_framework.collapsed(seen(""), lists("a5:c r0:c")).message.blocks
    assert (empty.n_chars, empty.n_bytes, empty.n_tokens) == (len("[Tool results: Read:]"), 20, 5)
