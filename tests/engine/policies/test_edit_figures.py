"""Edits that many policies share: sizes in proportion, and the very item where nothing changes (policies 2.5)."""

from __future__ import annotations

from dataclasses import replace

from sessions.engine.policies import edits
from sessions.engine.transcript.types import Block, Kind, Media
from tests.engine.policies.listed import block, lists, seen


def test_a_cut_keeps_sizes_in_proportion():
    image = Block(Kind.IMAGE, media=Media("image/png"), n_tokens=50)
    whole = Block(
        Kind.TOOL_RESULT, n_chars=6, n_bytes=12, n_tokens=9, n_non_ascii=3, n_json=6, parts=(image, block(Kind.TEXT, 3))
    )
    mark = edits.marker('"…')
    assert (mark.n_chars, mark.n_bytes) == (2, 4)
    for n_chars, expected in (
        (3, (5, 5 + 4, 4, 1, 2)),
        (0, (2, 4, 0, 0, 0)),
        (9, (11, 15 + 4, 12, 3, 6)),
        (99, (11, 15 + 4, 12, 3, 6)),
    ):
        made = edits.cut_text(whole, n_chars, '"…')
        n_tokens, n_json = made.n_tokens - mark.n_tokens, made.n_json - mark.n_json
        assert (made.n_chars, made.n_bytes, n_tokens, made.n_non_ascii, n_json) == expected
        assert (made.parts, made.media, made.approximate) == ((), None, True)
    empty = edits.cut_text(Block(Kind.TEXT), 5, "ab")
    assert (empty.n_chars, empty.n_bytes) == (2, 2)
    assert edits.with_text(whole, "abc").n_chars == 3
    assert (edits.with_text(whole, "abc").n_non_ascii, edits.with_text(whole, "abc").parts) == (0, ())


def test_a_block_s_share_of_its_message():
    (item,) = lists("r9:a,b")
    first, second = item.message.blocks
    assert (edits.result_tokens(item, first), edits.result_tokens(item, second)) == (8, 1)
    assert edits.result_tokens(replace(item, tokens=4), first) == 3
    empty = replace(item, message=replace(item.message, blocks=(Block(Kind.TEXT),)))
    assert edits.result_tokens(empty, empty.message.blocks[0]) == 0


def test_edits_that_change_nothing_return_the_item():
    view, (item,) = seen(""), lists("r9:a")
    assert edits.clear_results(view, item, {"b"}, "x") is item
    assert edits.drop_media(view, item, lambda _: "x") is item
    assert edits.drop_thinking(view, item) is item
    assert edits.clear_results(view, item, {"a"}, "x").size == 1
    (call,) = lists("a3:a")
    assert edits.clear_results(view, call, {"a"}, "x") is call
    (thought,) = lists("t5")
    assert edits.drop_thinking(view, thought).message.blocks == ()
    image = Block(Kind.IMAGE)
    for blocks, n in (
        ((image,), 1),
        ((replace(item.message.blocks[0], parts=(image, block(Kind.TEXT, 3))),), 9 + 1 + 3),
    ):
        held = replace(item, message=replace(item.message, blocks=blocks))
        assert edits.drop_media(view, held, lambda _: "x").size == n
