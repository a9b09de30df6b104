"""What many policies ask of a message list, at each boundary: one table a rule, worked out from the rule's words."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from sessions.engine.policies import _client, _lists, _looked, _pairs, anthropic_api, gemini
from sessions.engine.policies.policy import LastUsage, ResultPlace, cut_to, pair_safe_cut
from sessions.engine.transcript.types import Block, Kind
from tests.engine.policies.listed import block, ids, lists, seen

USAGE = LastUsage(100, 20, 90, 5)


@pytest.mark.parametrize(
    ("text", "starts"),
    [("u", [0]), ("u a u u", [0, 2, 3]), ("n a u", [0, 2]), ("n n", [0]), ("a u", [0, 1]), ("i u", [0, 1])],
)
def test_a_turn_starts_at_the_first_message_and_at_every_prompt(text, starts):
    assert _lists.turn_starts(lists(text)) == starts


@pytest.mark.parametrize(
    ("most", "left"),
    [(16, "0 1 2 3 4 5"), (15, "2 3 4 5"), (13, "2 3 4 5"), (12, "4 5"), (9, "4 5"), (8, "4 5"), (0, "4 5")],
)
def test_the_oldest_turns_go_while_the_rest_is_larger(most, left):
    """Turns of 3, 4 and 9: at what two of them weigh they stay, one under it the next goes; the last never does."""
    assert ids(_lists.without_oldest_turns(lists("u1 a2 u1 a3 u4 a5"), lambda item: item.size, most)) == left


def test_no_list_has_no_turns():
    assert _lists.without_oldest_turns([], lambda item: item.size, 0) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [("s u n a r:x z", "system user user assistant tool user"), ("a:c n0:c", "assistant user")],
)
def test_a_result_has_a_role_of_its_own(text, expected):
    assert [_lists.role_of(item) for item in lists(text)] == expected.split()


def test_calls_have_names():
    items = lists("u a:c,d r:c a", name="Bash")
    assert _lists.tool_names(items) == {"c": "Bash", "d": "Bash"}
    assert [_lists.has_calls(item) for item in items] == [False, True, False, False]


def test_what_a_message_holds():
    """An answer holds results alone; nothing in a message is no answer."""
    mixed = replace(lists("r:c")[0].message, blocks=(block(Kind.TEXT, 1), block(Kind.TOOL_RESULT, 1, call_id="c")))
    items = [*lists("u a:c r:c n0"), replace(lists("n")[0], message=mixed)]
    assert [_lists.is_answer(item) for item in items] == [False, False, True, False, False]
    assert [_lists.has_tools(item) for item in items] == [False, True, True, False, True]


def test_what_is_used():
    """Input, output and what came after; without usage the estimate, with the system prompt unless left out."""
    assert _lists.used(seen("u7", usage=USAGE)) == 125
    assert (_lists.used(seen("u7", overhead=3)), _lists.used(seen("u7", overhead=3), overhead=False)) == (10, 7)


@pytest.mark.parametrize(("text", "place"), [("u", -1), ("", -1), ("a", 0), ("a u a n", 2), ("a u", 0)])
def test_the_newest_reply(text, place):
    assert _lists.last_assistant(lists(text)) == place
    assert gemini.n_history(lists(text)) == place + 1


def test_pairs_are_of_calls_that_are_answered():
    items = lists("a:c,d r:c a:e r:d n a:x r:y")
    assert _lists.pairs(items) == [{0, 1}, {0, 3}]
    nameless = [Block(Kind.TOOL_USE), Block(Kind.TOOL_RESULT), block(Kind.TEXT, 1, call_id="c")]
    assert (
        _lists.pairs(
            [*(replace(i, message=replace(i.message, blocks=(b,))) for i, b in zip(items, nameless, strict=False))]
        )
        == []
    )
    assert _lists.only_whole(items, {0, 1, 3, 4}) == {0, 1, 3, 4}
    assert _lists.only_whole(items, {0, 1, 2, 4}) == {2, 4}
    assert _lists.only_whole(items, {1, 4}) == {4}
    assert _lists.only_whole(items, {4, 5, 6}) == {4, 5, 6}


def test_a_pair_that_breaks_another_goes_with_it():
    """Of d only the call would stay, in the message of c's; then c is broken."""
    assert _lists.only_whole(lists("a:c r:c a:d r:d"), {0, 1, 2}) == {0, 1}
    assert _lists.only_whole(lists("a:c,d r:c r:d"), {0, 1}) == set()


def test_names_of_calls_are_looked_for_in_what_is_new():
    view = seen("u a:c r:c")
    assert _lists.call_names(view) == {"c": "Read"}
    view.items[1] = lists("u a:other")[1]
    view.items += [replace(item, id=f"n{item.id}") for item in lists("a:d r:d", name="Bash")]
    assert _lists.call_names(view) == {"c": "Read", "d": "Bash"}
    assert _lists.call_names(seen("")) == {}


def test_a_position_is_remembered_for_one_list():
    view = seen("s u a u")
    assert (_looked.looked_at(view, "x"), _looked.looked(view, "x", 3), _looked.looked_at(view, "x")) == (0, None, 3)
    other = replace_items(view, "s u")
    assert _looked.looked_at(other, "x") == 0


def replace_items(view, text):
    """The view of another list with the same memory."""
    return replace(seen(text), state=view.state)


def test_messages_are_counted_once():
    view = seen("s u a")
    assert (_looked.n_conversation(view), _looked.n_conversation(view)) == (2, 2)
    view.items += lists("s u a")
    assert _looked.n_conversation(view) == 4
    assert _looked.n_conversation(replace_items(view, "u")) == 1


@pytest.mark.parametrize(
    ("text", "found"),
    [("", False), ("u", False), ("s u", False), ("u a", False), ("u u", True), ("s u a u", True), ("a u", True)],
)
def test_a_later_prompt(text, found):
    """The first message that is no system message is not one, whatever it is."""
    view = seen(text)
    assert (_looked.has_later_prompt(view), _looked.has_later_prompt(view)) == (found, found)
    if view.items:
        view.items += lists("a u")
        assert _looked.has_later_prompt(view)


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        ("u a:c r:c", "u a:c r:c", "0 1 2"),
        ("a:c r:c u", "n0 r:c u", "0 2"),
        ("a:c r:c u", "a0:c n u", "1 2"),
        ("a:c u", "a:c u", "0 1"),
        ("r:c u", "r:c u", "0 1"),
        ("a:c,d r:c r:d", "a:c,d r:c u", "0 1 2"),
    ],
)
def test_a_half_that_is_left_goes(before, after, left):
    """Only where the other half was there; a message of which nothing is left goes, too."""
    assert ids(_pairs.mended(seen(""), lists(before), lists(after))) == left


def test_what_else_is_in_a_message_stays():
    items = _pairs.mended(seen(""), lists("a:c,d r:c r:d"), lists("a:c,d r:c u"))
    assert [b.call_id for b in items[0].message.blocks] == ["", "c"]


@pytest.mark.parametrize("far", [1, 64])
def test_stretches_lose_what_lists_lose(far, monkeypatch):
    """Whatever a client's list repeats, leaves open or answers late, cut anywhere: as ``mended`` leaves it."""
    monkeypatch.setattr(_pairs, "FAR", far)
    draw = random.Random(5)
    for n in range(300):
        words = [f"{draw.choice('ar')}:{','.join(draw.sample('cdefg', draw.choice((1, 1, 2))))}" for _ in range(12)]
        view = seen(" ".join([*words, "u", "a"]), request=n)
        cuts = sorted(draw.randrange(15) for _ in range(4))
        spans = [(cuts[0], cuts[1]), (cuts[2], cuts[3])]
        whole = [item for start, stop in spans for item in view.items[start:stop]]
        left = _client.shown_cut(view, spans)
        assert [(i.id, i.message) for i in left] == [(i.id, i.message) for i in _pairs.mended(view, view.items, whole)]
        assert _client.shown_cut(view, spans, orphans="keep") == whole


@pytest.mark.parametrize(
    ("text", "cut", "latest", "expected"),
    [
        ("u a:c r:c u", 1, 4, 1),
        ("u a:c r:c u", 2, 4, 3),
        ("u a:c r:c u", 2, 3, 3),
        ("u a:c r:c u", 2, 2, 1),
        ("u a:c r:c u", 3, 3, 3),
        ("a:c a:d r:c r:d u", 1, 4, 4),
        ("a:c a:d r:c r:d u", 3, 3, 0),
        ("a:c,d r:c r:d u", 2, 2, 0),
    ],
)
def test_a_cut_leaves_pairs_whole(text, cut, latest, expected):
    """Forward over the results; back to the call where that is too far (policies 2.5)."""
    assert pair_safe_cut(lists(text), cut, latest) == expected


@pytest.mark.parametrize(
    ("goal", "latest", "cut"),
    [(10, 4, 0), (9, 4, 1), (8, 4, 2), (7, 4, 3), (6, 4, 3), (5, 4, 4), (3, 4, 4), (0, 4, 4), (0, 2, 2)],
)
def test_the_oldest_go_down_to_a_goal(goal, latest, cut):
    """Messages of 1, 1, 2 and 4 beside 2 that stay, under a system prompt of 5."""
    kept, items = lists("s2"), lists("u1 a1 u2 a4")
    assert cut_to(seen([*kept, *items], overhead=5), kept, items, latest, goal) == cut


def test_a_client_holds_what_it_was_sent():
    """What is new is added once a request; what a shown list left out is still held."""
    view = seen("u1 a2", request=1)
    held = _client.client(view)
    assert (ids(held.items), held.size) == ("0 1", 3)
    later = replace(seen("u1 a2 u4", request=1), state=view.state)
    assert _client.client(later).size == 3, "asked twice at one request"
    later.request = 2
    assert (ids(_client.client(later).items), _client.client(later).size) == ("0 1 2", 7)
    assert ids(_client.shown_cut(later, [(1, 3)])) == "1 2"
    third = replace(seen([*later.items[1:], replace(lists("a8")[0], id="3")], request=3), state=view.state)
    assert (ids(_client.client(third).items), held.size) == ("0 1 2 3", 15)
    assert (held.pairs.calls, held.pairs.results) == ({}, {})


def test_a_client_starts_anew_where_the_list_was_replaced():
    view = seen("u1 a2:c r3:c", request=1)
    _client.client(view)
    other = replace(seen("z1 r2:d", request=2), state=view.state)
    other.items[0] = replace(other.items[0], id="summary")
    other.items[1] = replace(other.items[1], id="later")
    held = _client.client(other)
    assert (ids(held.items), held.size, held.known) == ("summary later", 3, {"summary", "later"})
    assert (held.pairs.calls, held.pairs.results) == ({}, {"d": [1]})


def test_an_api_clears_what_is_still_open():
    """What was cleared is remembered by call; a shorter list starts anew (policies 5.1)."""
    view = seen("u a:c,d r:c r:d a:e r:e")
    assert [found.block.call_id for found in anthropic_api.open_results(view)] == ["c", "d", "e"]
    held = anthropic_api.cleared(view)
    assert (held.frontier, held.n_items) == (0, 6)
    held.ids, held.tokens = {"c"}, 7
    assert not anthropic_api.is_carried(view)
    view.items[2] = replace(view.items[2], edited=True)
    assert anthropic_api.is_carried(view)
    assert [found.block.call_id for found in anthropic_api.open_results(view)] == ["d", "e"]
    assert (held.frontier, held.anchor, held.tokens) == (1, "2", 7)
    held.ids.add("d")
    assert not anthropic_api.is_carried(view)
    view.items[3] = replace(view.items[3], edited=True)
    assert [found.block.call_id for found in anthropic_api.open_results(view)] == ["e"]
    assert (held.frontier, held.anchor) == (2, "3")
    view.items[3] = replace(view.items[3], id="other")
    assert [found.block.call_id for found in anthropic_api.open_results(view)] == ["e"]
    assert (held.frontier, held.anchor, held.tokens) == (2, "other", 0)
    shorter = replace_items(view, "u a:c r:c")
    assert anthropic_api.cleared(shorter).ids == set()


def test_an_api_clears_no_excluded_tool():
    items = [*lists("u a:c", name="Keep"), *lists("u u r:c a:d r:d")[2:]]
    assert [f.block.call_id for f in anthropic_api.open_results(seen(items), frozenset({"Keep"}))] == ["d"]
    assert [f.block.call_id for f in anthropic_api.open_results(seen(items), frozenset({"Read"}))] == ["c", "d"]


def test_what_was_cleared_is_looked_for_beside_the_frontier():
    """The last one left behind, and the first that is open."""
    for position, carried in ((1, True), (3, False), (5, False), (7, True)):
        view = seen("a:c r:c a:d r:d a:e r:e a:f r:f")
        held = anthropic_api.cleared(view)
        held.frontier, held.ids = 2, {"c", "d", "e", "f"}
        view.items = [replace(item, edited=n != position) for n, item in enumerate(view.items)]
        assert anthropic_api.is_carried(view) is carried


def test_a_message_with_one_open_result_holds_the_frontier():
    view = seen("a:c,d r:c,d a:e r:e")
    anthropic_api.cleared(view).ids = {"c", "d", "e"}
    view.items[3] = replace(view.items[3], edited=True)
    assert [f.block.call_id for f in anthropic_api.open_results(view)] == ["c", "d"]
    view.items[1] = replace(view.items[1], edited=True)
    anthropic_api.cleared(view).ids = {"c", "e"}
    assert [f.block.call_id for f in anthropic_api.open_results(view)] == ["d"]
    anthropic_api.cleared(view).ids.add("d")
    assert anthropic_api.open_results(view) == []
    held = anthropic_api.cleared(view)
    assert held.frontier == 2
    held.tokens = 9
    assert (anthropic_api.open_results(view), held.tokens) == ([], 9), "it stands at the end of the list"
    view.results = view.results[:1]
    assert (anthropic_api.open_results(view), held.frontier, held.tokens) == ([], 1, 0)


def test_where_a_result_was_called():
    mixed = lists("a:c")[0]
    mixed = replace(
        mixed, message=replace(mixed.message, blocks=(*mixed.message.blocks, *lists("r:c")[0].message.blocks))
    )
    found = ResultPlace(0, mixed.message.blocks[-1])
    assert anthropic_api.call_position(seen([mixed]), found) == 0
    view = seen("a:c a:d r:c r:d r:x")
    places = _lists.found_results(view)
    assert [(place.position, place.block.call_id) for place in places] == [(2, "c"), (3, "d"), (4, "x")]
    assert [anthropic_api.call_position(view, place) for place in places] == [0, 1, None]
