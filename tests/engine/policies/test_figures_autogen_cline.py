"""What AutoGen and Cline keep and drop of a short list, at and beside each of their figures."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

import pytest

from sessions.engine.base import registry
from sessions.engine.policies import (
    autogen,
    cline,
)
from sessions.engine.policies.params import build
from sessions.engine.policies.policy import LastUsage
from sessions.engine.transcript.types import Kind, Media
from tests.engine.policies.listed import block, ids, kept, lists, seen


def params_of(name, **given):
    return build(registry.get("policies", name).params, given)


def holding(item, *blocks):
    """A message with other blocks."""
    return replace(item, message=replace(item.message, blocks=blocks))


# AutoGen (policies 11.10)
@pytest.mark.parametrize(
    ("text", "size", "fires", "left"),
    [
        ("u a u", 3, False, "0 1 2"),
        ("u a u", 4, False, "0 1 2"),
        ("u a u", 2, True, "1 2"),
        ("u a:c r:c u", 2, True, "3"),
        ("u a:c r:c u", 3, True, "1 2 3"),
        ("r:c u", 5, True, "1"),
        ("u r:c", 1, True, ""),
    ],
)
def test_autogen_s_buffer(text, size, fires, left):
    params = params_of("autogen_buffered", buffer_size=size)
    found = autogen.buffered_gate(params, seen(text))
    assert (found.fires, found.measure, found.threshold) == (fires, len(text.split()), size)
    assert ids(autogen.buffered_edit(params, seen(text))) == left


@pytest.mark.parametrize(
    ("text", "head", "tail", "expected"),
    [
        ("u a u a u", 2, 2, (2, 3)),
        ("u a:c r:c a u", 2, 2, (1, 3)),
        ("u a:c r:c a u", 3, 3, (3, 3)),
        ("a:c r:c u", 1, 1, (0, 2)),
        ("u a", 5, 5, (2, 0)),
        ("", 1, 1, (0, 0)),
        ("u r:c r:d", 1, 2, (1, 3)),
    ],
)
def test_autogen_s_head_and_tail(text, head, tail, expected):
    """No open call at the head's end, no result at the tail's start."""
    assert autogen.spans(lists(text), head, tail) == expected


@pytest.mark.parametrize(("n", "fires"), [(3, False), (4, False), (5, True)])
def test_autogen_skips_over_head_and_tail(n, fires):
    params = params_of("autogen_head_tail", head_size=3, tail_size=1)
    view = seen("u " * n)
    found = autogen.head_tail_gate(params, view)
    assert (found.fires, found.measure, found.threshold) == (fires, n, 4)
    if fires:
        made = autogen.head_tail_edit(params, view)
        assert ids(made) == "0 1 2 Skipped 1 messages. 4"
        assert made[3].size == 5


@pytest.mark.parametrize(
    ("text", "limit", "left"),
    [
        ("u1 u1 u1 u1 u1", 5, "0 1 2 3 4"),
        ("u1 u1 u1 u1 u1", 4, "0 1 3 4"),
        ("u1 u1 u1 u1 u1", 3, "0 1 4"),
        ("u1 u1 u1 u1 u1", 2, "0 4"),
        ("u1 u1 u1 u1 u1", 1, "0"),
        ("u1 u1 u1 u1 u1", 0, ""),
        ("r1:c u1 u1", 2, "2"),
        ("u1 u9 u2", 3, "0 2"),
        ("u1 u9 u2", 2, "0"),
        ("r1:c u1", 2, "1"),
    ],
)
def test_autogen_takes_out_of_the_middle(text, limit, left):
    """A message leaves at ``len // 2`` while the rest is over the limit; a result does not come first."""
    items = lists(text)
    assert kept(autogen.fitting(items, list(accumulate((item.size for item in items), initial=0)), limit)) == left


@pytest.mark.parametrize(("limit", "fires", "left"), [(5, False, "0 1 2"), (4, False, "0 1 2"), (3, True, "0 2")])
def test_autogen_fires_over_its_tokens(limit, fires, left):
    for given, window in (({"token_limit": limit}, 1), ({}, limit)):
        params = params_of("autogen_token_limited", **given)
        view = seen("u1 u2 u1", window=window)
        found = autogen.token_gate(params, view)
        assert (found.fires, found.measure, found.threshold) == (fires, 4, limit)
        assert ids(autogen.token_edit(params, view)) == left


@pytest.mark.parametrize(("orphans", "left"), [("drop", "0 1"), ("keep", "0 1 3")])
def test_autogen_splits_pairs_where_asked(orphans, left):
    params = params_of("autogen_token_limited", token_limit=3, orphans=orphans)
    assert ids(autogen.token_edit(params, seen("u1 u1 a9:c r1:c"))) == left


# Cline (policies 11.2, 11.3)
@pytest.mark.parametrize(
    ("text", "budget", "kept"),
    [
        ("u1 a2 u1 a3", 7, [0, 1, 2, 3]),
        ("u1 a2 u1 a3", 6, [0, 2, 3]),
        ("u1 a2 u1 a3", 5, [0, 2, 3]),
        ("u1 a2 u1 a3", 4, [0, 1, 2]),
        ("u1 a2 u1 a3", 3, [0, 2]),
        ("u1 a2 u1 a3", 0, [0, 2]),
        ("u1 a1 u1 a2:c r2:c a1", 7, [0, 2, 3, 4, 5]),
        ("u1 a1 u1 a2:c r2:c a1", 8, [0, 1, 2, 3, 4, 5]),
        ("u1 a1 u1 a2:c r2:c a1", 6, [0, 1, 2, 5]),
        ("u1 a1:c r1:c a1 a1:d u1", 3, [0, 3, 5]),
        ("u1 a1 a2 u1 a1 u1", 6, [0, 2, 3, 4, 5]),
        ("u1 a1 a2 u1 a1 u1", 5, [0, 3, 4, 5]),
        ("u1 a1 a2 u1 a4 u1", 6, [0, 2, 3, 5]),
        ("u1 t1 u1", 9, [0, 2]),
        ("a1 a1", 1, [1]),
    ],
)
def test_cline_basic_keeps_within_a_budget(text, budget, kept):
    """Prompts, the newest replies that fit, then answers of earlier turns, newest first."""
    assert sorted(cline.survivors(lists(text), budget)) == kept


def test_cline_basic_drops_old_attachments():
    items = lists("s1 u1 a1 u1 a2 u1 a1")
    image = block(Kind.IMAGE, 0, media=Media("image/png"))
    items[1] = holding(items[1], *items[1].message.blocks, image)
    items[5] = holding(items[5], *items[5].message.blocks, image)
    # Trigger ⌈.9·18⌉ = 17, seven tenths of it 11, less 2 of overhead and 4 of the notice: 5 are left.
    params = params_of("cline_basic", notice_tokens=4)
    made = cline.basic_edit(params, seen(items, window=20, overhead=2))
    assert ids(made) == f"0 1 2 3 5 {cline.NOTICE} 6"
    assert [item.id for item in made if item.edited] == ["1"]
    assert made[5].tokens == 4
    assert ids(cline.basic_edit(params_of("cline_basic", notice_tokens=2), seen(items, window=20, overhead=2))) == (
        "0 1 2 3 4 5 6"
    )


@pytest.mark.parametrize(("context", "fires"), [(99, False), (100, False), (101, True)])
def test_cline_basic_waits_for_a_refusal_where_asked(context, fires):
    found = cline.basic_gate(params_of("cline_basic", when="overflow"), seen("u", context=context, window=100))
    assert (found.fires, found.measure, found.threshold) == (fires, context, 100)


@pytest.mark.parametrize(
    ("text", "keep", "cut"),
    [
        ("u1 a1 u1 a1", 1, 2),
        ("u1 a1 u1 a1", 3, 1),
        ("u1 a1 u1 a1", 2, 2),
        ("u1 a1 u1 a1", 4, 0),
        ("u1 a1:c r2:c u1", 2, 1),
        ("u1 a1 n2 u1", 2, 1),
        ("u1 a1 n2 u1", 0, 3),
        ("z1 u1 a1 u1", 1, 3),
        ("z1 u1 a1", 1, 0),
        ("u1 a1", 1, 0),
        ("a1 a1", 1, 0),
    ],
)
def test_cline_agentic_cuts_at_a_prompt_or_a_reply(text, keep, cut):
    """At most at the newest prompt, before which something that is no summary stands."""
    params = params_of("cline_agentic", preserve_recent_tokens=keep)
    assert cline.cut_at(params, seen(""), lists(text)) == cut


def test_cline_agentic_keeps_no_more_than_its_target():
    """⌊.7 · ⌈.9 · ⌊.9 · 10⌋⌉⌋ = 6 of a window of 10, whatever is to stay."""
    params = params_of("cline_agentic", preserve_recent_tokens=100)
    assert cline.cut_at(params, seen("", window=10), lists("u9 a9 u1 a1 a1 u3 a1")) == 3
    assert cline.cut_at(params, seen("", window=10), lists("u9 a9 u1 a1 a1 u4 a1")) == 4


def test_cline_agentic_needs_something_before_the_cut():
    params = params_of("cline_agentic", preserve_recent_tokens=1)
    assert cline.agentic_gate(params, seen("u80 a1 u1", window=100)).fires
    assert not cline.agentic_gate(params, seen("u79 u1", window=100)).fires
    assert not cline.agentic_gate(params, seen("u80 a1 a1", window=100)).fires
    assert not cline.agentic_gate(params, seen("s u80 z1 a1", window=100)).fires
    view = seen("s u80 a1 u1", window=100)
    assert ids(cline.agentic_edit(params, view)) == "0 new 3"
    assert view.tools.asked[0][1]["mode"] == "fresh"
    view.state.last_summary = (view.items[1],)
    cline.agentic_edit(params, view)
    assert view.tools.asked[1][1]["mode"] == "merge"


@pytest.mark.parametrize(("total", "fires"), [(99, False), (100, True), (101, True)])
def test_cline_classic_counts_the_last_request(total, fires):
    params = params_of("cline_classic", max_allowed=100)
    found = cline.classic_gate(params, seen("u", usage=LastUsage(total - 9, 9, 0, 7)))
    assert (found.fires, found.measure, found.threshold, found.operator) == (fires, total, 100, ">=")
    assert not cline.classic_gate(params, seen("u500")).fires
    alone = params_of("cline_classic", max_allowed=100, usage="none")
    assert cline.classic_gate(alone, seen(f"u{total - 9}", overhead=9)).fires is fires


@pytest.mark.parametrize(
    ("n", "three_quarters", "left"),
    [
        (2, False, 2), (3, False, 3), (5, False, 5), (6, False, 4), (9, False, 7), (10, False, 6), (14, False, 8),
        (4, True, 4), (5, True, 3), (6, True, 4), (7, True, 5), (8, True, 4), (10, True, 4), (18, True, 6),
    ],
)  # fmt: skip
def test_cline_classic_takes_an_even_number_after_the_first_pair(n, three_quarters, left):
    """Of the rest ⌊r/4⌋·2, or ⌊⌊3r/4⌋/2⌋·2; replies stand at odd places."""
    items = lists(" ".join("ua"[k % 2] for k in range(n)))
    made = cline.truncated(items, three_quarters=three_quarters)
    assert ids(made) == " ".join(["0", "1", *map(str, range(2 + n - left, n))])


def test_cline_classic_ends_on_a_reply():
    """The last message to go is the user's: it stays."""
    assert ids(cline.truncated(lists("u a u u a u"), three_quarters=False)) == "0 1 3 4 5"
    assert ids(cline.truncated(lists("u a a:c r:c u a"), three_quarters=False)) == "0 1 4 5"


@pytest.mark.parametrize(("total", "left"), [(199, 6), (200, 6), (201, 4)])
def test_cline_classic_takes_three_quarters_over_twice_its_limit(total, left):
    params = params_of("cline_classic", max_allowed=100)
    view = seen("s " + "u a " * 5, usage=LastUsage(total, 0, 0, 0))
    assert len(cline.classic_edit(params, view)) == 1 + left


def test_cline_classic_is_content_with_what_it_was_asked_to_save():
    """Of 200 characters a read again saves 100 less the note's 44: at 28% that is enough, at 29% it is not."""
    items = lists("u10 a0:c r100:c a0:d r80:d u5 a5")
    for k in (1, 3):
        calls = [replace(b, target="/same", name="read_file") for b in items[k].message.blocks]
        items[k] = holding(items[k], *calls)
    saved = 100 - len(cline.NOTE)
    assert (len(cline.NOTE), saved) == (44, 56)
    lean, n_saved = cline.without_repeats(params_of("cline_classic"), seen(""), items)
    assert n_saved == saved
    assert [item.id for item in lean if item.edited] == ["2"]
    enough = params_of("cline_classic", max_allowed=10, enough=28)
    assert len(cline.classic_edit(enough, seen(items))) == 7
    more = params_of("cline_classic", max_allowed=10, enough=29)
    assert len(cline.classic_edit(more, seen(items))) == 3


@pytest.mark.parametrize(("size", "n_saved"), [(43, 0), (44, 0), (45, 1)])
def test_cline_classic_notes_only_what_is_longer_than_the_note(size, n_saved):
    items = lists(f"a0:c r{size}:c a0:d r1:d")
    for k in (0, 2):
        items[k] = holding(items[k], *[replace(b, target="/same", name="Read") for b in items[k].message.blocks])
    assert cline.without_repeats(params_of("cline_classic"), seen(""), items)[1] == n_saved
    items[2] = holding(items[2], *[replace(b, name="Bash") for b in items[2].message.blocks])
    assert cline.without_repeats(params_of("cline_classic"), seen(""), items)[1] == 0
    items[2] = holding(items[2], *[replace(b, name="Read", target="/other") for b in items[2].message.blocks])
    assert cline.without_repeats(params_of("cline_classic"), seen(""), items)[1] == 0
