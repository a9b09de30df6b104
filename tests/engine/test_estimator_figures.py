"""Estimators where one unit more is one token more: the figures of each rule at its edges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.models.model_info import model_info
from sessions.engine.tokens.estimators import (
    _counts,
    aider,
    claude_code,
    codex,
    gemini_cli,
    inspect,
    langchain,
    letta,
    opencode,
    roo,
    serialized_chars,
    tiktoken,
    wire_bytes,
)
from sessions.engine.transcript.types import Block, Kind, Media, Message, Role
from sessions.engine.weigh.sizes import estimator_named

GPT, CLAUDE = model_info("gpt-4.1"), model_info("claude-sonnet-4-5")


def text(n, kind=Kind.TEXT, **facts):
    return Block(kind, **{"n_chars": n, "n_bytes": n, "n_tokens": n, **facts})


def picture(width=0, height=0, **facts):
    return Media("image/png", width=width, height=height, **facts)


@pytest.mark.parametrize(
    ("n_tokens", "non_ascii", "expected"), [(1_000, 0, 994), (1_000, 1_000, 1_102), (500, 0, 497), (501, 0, 498)]
)
def test_cl100k_is_derived_where_the_text_is_not_at_hand(n_tokens, non_ascii, expected):
    """0.994 × o200k + 0.108 × characters outside ASCII (estimators 4)."""
    block = text(4_000, n_tokens=n_tokens, n_non_ascii=non_ascii)
    assert tiktoken.exactly(block, GPT, lambda _: None) == expected


@pytest.mark.parametrize(
    ("amount", "up", "half"), [(0, 0, 0), (1, 1, 0), (2, 1, 1), (3, 1, 1), (4, 1, 1), (5, 2, 1), (6, 2, 2)]
)
def test_rounding(amount, up, half):
    assert (_counts.up(amount, 4), _counts.half_up(amount, 4)) == (up, half)


def test_what_names_and_ids_weigh():
    """A fifth of a token a character, five eighths; up."""
    calls = [Block(Kind.TOOL_USE, name="n" * n, call_id="i" * n) for n in (0, 1, 5, 6, 8, 9)]
    assert [_counts.name_tokens(call) for call in calls] == [0, 1, 1, 2, 2, 2]
    assert [_counts.id_tokens(call) for call in calls] == [0, 1, 4, 4, 5, 6]
    assert _counts.name_tokens(replace(calls[2], kind=Kind.TOOL_RESULT)) == 0
    assert [_counts.name_chars(replace(calls[2], kind=kind)) for kind in (Kind.TOOL_USE, Kind.TEXT)] == [5, 0]
    assert _counts.own_chars(replace(calls[2], n_chars=7, n_payload=11)) == 28
    assert _counts.own_chars(replace(calls[2], kind=Kind.TOOL_RESULT, n_chars=7, n_payload=11)) == 23
    assert _counts.media_chars(picture(n_base64=5, n_url=3)) == 17
    assert _counts.DATA_URL == 13
    assert _counts.settled(text(0)) == 0
    with pytest.raises(ValueError, match="not settled"):
        _counts.settled(text(5, n_tokens=-1))


def test_characters_outside_ascii():
    """Half of the bytes that UTF-8 adds, up, where the block does not say."""
    found = [_counts.non_ascii(text(10, n_bytes=n_bytes)) for n_bytes in (10, 11, 12, 13)]
    assert (found, _counts.non_ascii(text(10, n_bytes=30, n_non_ascii=4))) == ([0, 1, 1, 2], 4)


@pytest.mark.parametrize(
    ("n", "expected"), [(0, 0), (866, 0), (867, 0), (868, 1), (872, 1), (873, 1), (874, 2), (1_000, 25)]
)
def test_codex_s_reasoning(n, expected):
    """⌊3n/4⌋ − 650 bytes, four a token, up (policies 6.1)."""
    assert codex.reasoning_tokens(text(9, Kind.THINKING, n_payload=n)) == expected
    assert codex.reasoning_tokens(text(9, Kind.TEXT, n_payload=n)) == 0


def test_codex_s_images():
    """7,373 bytes each: with three of text 1,844 tokens, with four 1,845."""
    image = Block(Kind.IMAGE, media=picture(n_base64=9))
    for n_bytes, tokens in ((0, 1_844), (3, 1_844), (4, 1_845)):
        message = Message(0, "m", Role.USER, (text(n_bytes), image))
        assert codex.message_tokens(message, lambda media: codex.IMAGE_BYTES) == tokens
    assert codex.visible_bytes(Block(Kind.IMAGE, media=picture(n_url=40)), lambda media: 7) == 49
    assert codex.visible_bytes(image, lambda media: 7) == 7
    two = Message(0, "m", Role.ASSISTANT, (text(1), text(2), Block(Kind.TOOL_USE, n_bytes=1, name="ab", call_id="cde")))
    assert codex.message_tokens(two, lambda media: 0) == 1 + 2
    sealed = text(5, Kind.OPAQUE, n_payload=17)
    result = text(1, Kind.TOOL_RESULT, parts=(sealed, text(2)))
    assert codex.visible_bytes(result, lambda media: 0) == 1 + 10 + 2
    assert codex.visible_bytes(replace(sealed, n_payload=1_000), lambda media: 0) == 100
    assert codex.visible_bytes(replace(sealed, n_payload=0), lambda media: 0) == 5


@pytest.mark.parametrize(
    ("width", "height", "expected"),
    [(32, 32, 4), (33, 32, 8), (0, 32, 7_373), (32, 0, 7_373), (3_200, 3_200, 40_000), (3_201, 3_200, 40_000)],
)
def test_codex_s_original_images(width, height, expected):
    assert codex.original_bytes(picture(width, height, n_base64=9)) == expected


def test_bytes_on_the_wire():
    """Text, payload, id, a call's name, media and parts; UTF-8."""
    image = picture(n_base64=5, n_url=2)
    assert wire_bytes.media_bytes(image) == 5 + 2 + 9
    call = text(3, Kind.TOOL_USE, n_payload=4, call_id="ä", name="größe")
    assert wire_bytes.block_bytes(call, lambda media: 0) == 3 + 4 + 2 + 7
    assert wire_bytes.block_bytes(replace(call, kind=Kind.TOOL_RESULT), lambda media: 0) == 9
    shown = Block(Kind.IMAGE, media=image)
    assert [
        wire_bytes.block_bytes(replace(shown, kind=kind), lambda media: 99) for kind in (Kind.IMAGE, Kind.DOCUMENT)
    ] == [
        99,
        16,
    ]
    result = text(1, Kind.TOOL_RESULT, parts=(shown, text(2)))
    assert wire_bytes.block_bytes(result, lambda media: 99) == 102
    assert wire_bytes.IMAGE_BYTES == 16_384


@pytest.mark.parametrize(
    ("width", "height", "tiles"),
    [
        (512, 512, 4),
        (1_024, 512, 6),
        (768, 768, 4),
        (2_048, 768, 8),
        (2_049, 2_049, 4),
        (4_096, 1_024, 12),
        (100, 100, 4),
        (1_000, 10, 300),
        (0, 5, 4),
        (5, 0, 4),
    ],
)
def test_aider_s_tiles(width, height, tiles):
    """The short side becomes 768, up as well as down; cut to whole pixels."""
    assert aider.image_tokens(picture(width, height)) == 85 + 170 * tiles


def test_aider_counts_texts_and_names():
    assert aider.image_tokens(None) == 85 + 170 * 4
    assert aider.FRAME_TOKENS == 11
    call = text(5, Kind.TOOL_USE, name="abcdef")
    assert aider.size(replace(call, parts=(text(3),)), GPT) == 5 + 2 + 3
    assert [aider.size(replace(call, kind=kind), GPT) for kind in (Kind.THINKING, Kind.OPAQUE, Kind.TEXT)] == [0, 0, 5]


@pytest.mark.parametrize(("n", "plain", "dense"), [(1, 0, 1), (2, 1, 1), (3, 1, 2), (5, 1, 3), (6, 2, 3)])
def test_claude_code_s_characters(n, plain, dense):
    """By four, in a JSON file by two; halves up."""
    assert claude_code.size(text(n), CLAUDE) == plain
    assert claude_code.size(text(n - 1, Kind.TOOL_USE, name="a", target="x.json"), CLAUDE) == plain
    for target in ("A.JSON", "a.jsonl", "a.jsonc"):
        result = text(0, Kind.TOOL_RESULT, target=target, parts=(text(n), text(n)))
        assert claude_code.size(result, CLAUDE) == 2 * dense
    assert claude_code.size(text(n, Kind.TOOL_RESULT, target="a.txt", parts=(text(n),)), CLAUDE) == 2 * plain
    assert [claude_code.size(text(n, kind), CLAUDE) for kind in (Kind.IMAGE, Kind.DOCUMENT)] == [2_000, 2_000]


def test_gemini_cli_s_quarters():
    """Six quarters outside ASCII up to 100,000 characters; parts down to whole tokens, three levels deep."""
    quarters = [gemini_cli.quarters(text(n, n_bytes=n + 2, n_non_ascii=1), 0) for n in (99_999, 100_000, 100_001)]
    assert quarters == [100_004, 100_005, 100_001]
    assert [gemini_cli.quarters(text(n, Kind.THINKING, n_payload=7), 0) for n in (0, 1)] == [7, 1]
    assert gemini_cli.quarters(Block(Kind.IMAGE), 0) == 12_000
    pdf = [Block(Kind.DOCUMENT, media=Media(kind, n_base64=5)) for kind in ("application/pdf", "text/plain")]
    assert [gemini_cli.quarters(block, 0) for block in (*pdf, Block(Kind.DOCUMENT, n_chars=3, n_bytes=3))] == [
        103_200,
        15,
        3,
    ]
    assert gemini_cli.quarters(text(3, Kind.TOOL_USE, name="abcd", n_payload=2), 0) == 9
    for n, whole in ((3, 0), (4, 4), (7, 4), (8, 8)):
        deep = text(0, Kind.TOOL_RESULT, name="ab", parts=(text(n),))
        assert gemini_cli.quarters(deep, 0) == 2 + whole
    nested = text(4)
    for depth, expected in ((1, 4), (2, 4), (3, 4), (4, 0)):
        nested = text(0, Kind.TOOL_RESULT, parts=(nested,))
        assert gemini_cli.quarters(nested, 0) == expected, depth


def test_inspect_adds_a_tenth():
    assert [inspect.size(text(n), GPT) for n in (0, 1, 9, 10, 19, 20)] == [0, 1, 9, 11, 20, 22]
    message = Message(0, "m", Role.USER, (text(5), text(5)))
    assert inspect.of_message(message, GPT) == 11
    assert inspect.of_message(replace(message, blocks=()), GPT) == 1
    image = Block(Kind.IMAGE)
    assert inspect.of_message(replace(message, blocks=(text(5), image)), GPT) == 5 + 765
    result = text(2, Kind.TOOL_RESULT, parts=(image, text(8)))
    assert inspect.of_message(replace(message, blocks=(result,)), GPT) == 11 + 765
    assert inspect.size(result, GPT) == 11 + 765
    sealed = text(10, Kind.THINKING, n_payload=1)
    assert [
        inspect.size(block, model)
        for block, model in ((sealed, GPT), (sealed, CLAUDE), (replace(sealed, n_payload=0), GPT))
    ] == [11, 0, 0]
    assert inspect.size(text(10, Kind.OPAQUE), GPT) == 0
    assert inspect.size(text(8, Kind.TOOL_USE, name="abcdef"), GPT) == 11


@pytest.mark.parametrize(
    ("n_base64", "tokens"), [(1, 100), (13_438, 100), (13_439, 101), (133_305, 999), (133_306, 1_000)]
)
def test_inspect_s_documents(n_base64, tokens):
    """A page of 100,000 bytes is 1,000 tokens, 100 at least: 28 characters of ``data:application/pdf;base64,`` too."""
    media = Media("application/pdf", n_base64=n_base64)
    assert inspect.size(Block(Kind.DOCUMENT, media=media), GPT) == tokens
    assert inspect.size(Block(Kind.DOCUMENT, media=Media("application/pdf", n_url=9)), GPT) == 5_000
    assert inspect.size(Block(Kind.DOCUMENT, media=Media("application/pdf")), GPT) == 0


def test_langchain_s_characters():
    """By four, by 3.3 for Claude, up; results are messages of their own at three tokens each."""
    assert [langchain.size(text(n), GPT) for n in (4, 5)] == [1, 2]
    assert [langchain.size(text(n), CLAUDE) for n in (3, 4, 6, 7, 33, 34)] == [1, 2, 2, 3, 10, 11]
    result = text(4, Kind.TOOL_RESULT)
    for blocks, expected in (
        ((text(4),), 2),
        ((text(5),), 3),
        ((result,), 2),
        ((result, result), 7),
        ((result, text(4)), 7),
        ((), 1),
        ((replace(result, n_chars=5),), 3),
    ):
        assert langchain.of_message(Message(0, "m", Role.USER, blocks), GPT) == expected
    image = Block(Kind.IMAGE, n_chars=99)
    assert langchain.size(image, GPT) == 85
    assert langchain.size(text(4, Kind.TOOL_RESULT, parts=(image, text(4), image)), GPT) == 2 + 170
    assert langchain.of_message(Message(0, "m", Role.USER, (text(4), image)), GPT) == 87
    call = text(3, Kind.TOOL_USE, name="ab", call_id="cd", n_json=1)
    assert langchain.size(replace(call, n_json=1), GPT) == -(-(3 + 2 + 2 + 1 + 55) // 4)
    frames = {Kind.TOOL_USE: 55, Kind.THINKING: 53, Kind.DOCUMENT: 47}
    for more in range(4):
        for kind in (Kind.TOOL_USE, Kind.THINKING, Kind.DOCUMENT):
            assert langchain.size(text(more, kind), GPT) == -(-(more + frames[kind]) // 4)
    assert langchain.size(Block(Kind.DOCUMENT, media=Media("a/b", n_base64=5)), GPT) == -(
        -(frames[Kind.DOCUMENT] + 8) // 4
    )


def test_letta_s_bytes():
    """Six bytes an escape, a data URL's 13 beside base64; ⌈n/4⌉ × 1.3, down."""
    assert letta.n_bytes(text(5), GPT) == 5
    assert letta.n_bytes(text(5, n_bytes=9, n_non_ascii=2), GPT) == 15
    assert letta.n_bytes(text(5, n_non_ascii=2), GPT) == 5
    shown = Block(Kind.IMAGE, media=picture(n_base64=7))
    assert letta.n_bytes(shown, GPT) == 7 + 9 + 13
    assert letta.n_bytes(Block(Kind.IMAGE, media=picture(n_url=7)), GPT) == 16
    assert letta.n_bytes(text(1, Kind.TOOL_RESULT, parts=(shown, text(2))), GPT) == 32
    tokens = estimator_named("letta").size
    assert [tokens(text(n), GPT) for n in (4, 5, 8, 9, 12, 13, 40, 41)] == [1, 2, 2, 3, 3, 5, 13, 14]


def test_opencode_s_second_estimate():
    assert [opencode.size_v2(text(n), GPT) for n in (1, 2, 5, 6)] == [0, 1, 1, 2]
    assert opencode.size_v2(text(1, Kind.TOOL_USE, name="a"), GPT) == 1
    assert opencode.size_v2(Block(Kind.IMAGE), GPT) == 1_500
    pdfs = [Block(Kind.DOCUMENT, n_chars=4, media=Media(kind)) for kind in ("Application/PDF", "text/plain")]
    assert [opencode.size_v2(block, GPT) for block in (*pdfs, text(4, Kind.DOCUMENT))] == [2_001, 1, 1]
    assert opencode.size_v2(text(4, Kind.TOOL_RESULT, parts=(Block(Kind.IMAGE), text(4))), GPT) == 1_502


def test_roo_s_tokens():
    """√base64 an image, up; a call's frame of 5, a result's of 4, commas between its parts; half as much again, up."""
    images = [Block(Kind.IMAGE, media=picture(n_base64=n)) for n in (1, 4, 5, 9, 10)]
    assert [roo.tokens(block, GPT) for block in images] == [1, 2, 3, 3, 4]
    assert [roo.tokens(block, GPT) for block in (Block(Kind.IMAGE), Block(Kind.IMAGE, media=picture(n_url=5)))] == [
        300,
        300,
    ]
    assert roo.tokens(text(7, Kind.TOOL_USE, name="abcdef"), GPT) == 14
    result = text(7, Kind.TOOL_RESULT, call_id="c" * 8)
    assert roo.tokens(result, GPT) == 4 + 5 + 7
    assert roo.tokens(replace(result, is_error=True), GPT) == 19
    assert roo.tokens(replace(result, parts=(text(3),)), GPT) == 19
    assert roo.tokens(replace(result, parts=(text(3), images[0], text(1, Kind.OPAQUE))), GPT) == 16 + 3 + 4 + 7 + 2
    assert roo.tokens(text(7, Kind.THINKING), GPT) == 0
    assert [estimator_named("roo").size(text(n), GPT) for n in (0, 1, 2, 3, 4)] == [0, 2, 3, 5, 6]


def test_serialised_characters():
    """As json.dumps writes them: frames, brackets, commas."""
    assert serialized_chars.written(text(3, n_json=2)) == len('{"type": "text", "text": "abcde"}')
    call = Block(Kind.TOOL_USE, call_id="c", name="Read")
    frame = '{"type": "tool_use", "id": "c", "name": "Read", "input": {}}'
    assert [serialized_chars.written(replace(call, n_chars=n)) for n in (0, 1, 2, 3)] == [len(frame)] * 3 + [
        len(frame) + 1
    ]
    result = '{"type": "tool_result", "tool_use_id": "c", "content": "xxx"}'
    block = text(3, Kind.TOOL_RESULT, call_id="c")
    assert serialized_chars.written(block) == len(result)
    assert serialized_chars.written(replace(block, is_error=True)) == len(result) + len(', "is_error": true')
    parts = (
        '{"type": "tool_result", "tool_use_id": "c", "content": '
        '[{"type": "text", "text": "xxx"}, {"type": "text", "text": "yy"}]}'
    )
    assert serialized_chars.written(replace(block, parts=(text(2),))) == len(parts)
    alone = parts.replace('{"type": "text", "text": "xxx"}, ', "")
    assert serialized_chars.written(replace(block, n_chars=0, parts=(text(2),))) == len(alone)
    shown = '{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "xxxxx"}}'
    linked = '{"type": "image", "source": {"type": "url", "url": "xxxxx"}}'
    for media, expected in (
        (picture(n_base64=5), shown),
        (picture(n_base64=5, n_url=9), shown),
        (picture(n_url=5), linked),
    ):
        assert serialized_chars.written(Block(Kind.IMAGE, media=media)) == len(expected)
    assert serialized_chars.written(Block(Kind.IMAGE)) == len(linked) - 5
    assert serialized_chars.written(Block(Kind.IMAGE, media=picture())) == len(shown) - 5
    for role, blocks, expected in (
        (Role.USER, (text(3),), '{"role": "user", "content": "xxx"}, '),
        (Role.ASSISTANT, (text(3),), '{"role": "assistant", "content": [{"type": "text", "text": "xxx"}]}, '),
        (
            Role.USER,
            (text(3), text(1)),
            '{"role": "user", "content": [{"type": "text", "text": "xxx"}, {"type": "text", "text": "x"}]}, ',
        ),
        (Role.USER, (), '{"role": "user", "content": []}, '),
    ):
        assert serialized_chars.of_message(Message(0, "m", role, blocks), GPT) == len(expected)
