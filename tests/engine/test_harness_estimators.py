"""Each harness rule against values worked out by hand from what its source publishes; the sum stands beside each."""

from __future__ import annotations

import pytest

from sessions.engine.base.registry import plugins
from sessions.engine.models.model_info import model_info
from sessions.engine.tokens.estimators._counts import half_up, non_ascii, up
from sessions.engine.transcript.types import Block, Kind, Media, Message, Role
from sessions.engine.weigh.sizes import estimator_named, message_size
from tests.engine.test_estimators import ESTIMATORS

CLAUDE, GPT = model_info("claude-sonnet-4-5"), model_info("gpt-4o")

# 1,000 + 5 characters of ASCII; 80 of which 20 are Chinese (60 + 3 x 20 bytes).
TEXT = Block(Kind.TEXT, n_chars=1_005, n_bytes=1_005, n_tokens=250)
ESCAPED = Block(Kind.TEXT, n_chars=30, n_bytes=30, n_tokens=10, n_json=7)
MIXED = Block(Kind.TEXT, n_chars=80, n_bytes=120, n_tokens=40, n_non_ascii=20)
THINKING = Block(Kind.THINKING, n_chars=101, n_bytes=101, n_tokens=25, n_payload=1_000)
SEALED = Block(Kind.THINKING, n_payload=1_000)
# "Read" with {"path":"a.py"}-like arguments of 26 characters, call id of 10.
CALL = Block(Kind.TOOL_USE, n_chars=26, n_bytes=26, n_tokens=9, name="Read", call_id="call_00001")
IMAGE = Block(Kind.IMAGE, media=Media("image/png", n_base64=1_000_000, width=1_254, height=1_254))
WIDE = Block(Kind.IMAGE, media=Media("image/png", n_base64=40_001, width=3_008, height=2_000))
LINK = Block(Kind.IMAGE, media=Media("", n_url=40))
PDF = Block(Kind.DOCUMENT, media=Media("application/pdf", n_base64=400_000, n_pages=3))
NOTE = Block(Kind.DOCUMENT, media=Media("text/plain", n_base64=1_600))
LINKED_PDF = Block(Kind.DOCUMENT, media=Media("application/pdf", n_url=30))
OPAQUE = Block(Kind.OPAQUE, n_chars=30, n_bytes=30, n_tokens=7)
ENCRYPTED = Block(Kind.OPAQUE, n_payload=2_001)
PLAIN = Block(Kind.TOOL_RESULT, n_chars=41, n_bytes=41, n_tokens=11, call_id="call_00001")
FAILED = Block(Kind.TOOL_RESULT, n_chars=41, n_bytes=41, n_tokens=11, call_id="call_00001", is_error=True)
RESULT = Block(Kind.TOOL_RESULT, call_id="call_00001", parts=(MIXED, IMAGE))
SEALED_RESULT = Block(Kind.TOOL_RESULT, call_id="call_00001", parts=(ENCRYPTED,))
JSON_FILE = Block(Kind.TOOL_RESULT, n_chars=101, n_bytes=101, n_tokens=30, call_id="c", target="/a/b.json")


def size(name: str, *blocks: Block, model: object = None, role: Role = Role.USER) -> int:
    """Size of one block, or of a message of several."""
    known = model_info(str(model)) if model else GPT
    if len(blocks) == 1:
        return estimator_named(name).size(blocks[0], known)
    return message_size(Message(0, "m", role, blocks), estimator_named(name), known)


def whole(name: str, *blocks: Block, model: str = "gpt-4o", role: Role = Role.USER) -> int:
    """Size of a message of these blocks, however few."""
    return message_size(Message(0, "m", role, blocks), estimator_named(name), model_info(model))


CHARS_PER_4 = [
    ((TEXT,), 252),  # 1,005 / 4 = 251.25
    ((MIXED,), 20),  # 80 characters, not bytes
    ((THINKING,), 276),  # (101 + 1,000) / 4 = 275.25
    ((CALL,), 10),  # (26 + 4 name + 10 id) / 4
    ((IMAGE,), 250_003),  # (1,000,000 + 9 "image/png") / 4 = 250,002.25
    ((LINK,), 10),  # 40 / 4
    ((PDF,), 100_004),  # (400,000 + 15 "application/pdf") / 4 = 100,003.75
    ((OPAQUE,), 8),  # 30 / 4 = 7.5
    ((RESULT,), 250_025),  # (10 id + 80 + 1,000,009) / 4 = 250,024.75
    ((TEXT, IMAGE), 252 + 250_003),  # block by block
]
CLAW_CODE = [
    ((TEXT,), 252),  # 1,005 / 4 = 251.25 -> 251; + 1
    ((MIXED,), 31),  # 120 bytes, not characters: 30; + 1
    ((THINKING,), 276),  # 1,101 / 4 -> 275; + 1
    ((CALL,), 11),  # 40 / 4; + 1
    ((IMAGE,), 250_003),  # 1,000,009 / 4 -> 250,002; + 1
    ((PDF,), 100_004),  # 400,015 / 4 -> 100,003; + 1
    ((OPAQUE,), 8),  # 30 / 4 -> 7; + 1
    ((RESULT,), 250_035),  # 10 + 120 + 1,000,009 = 1,000,139; / 4 -> 250,034; + 1
    ((TEXT, CALL), 252 + 11),  # block by block
]
CHARS = [
    ((TEXT,), 1_005),
    ((MIXED,), 80),  # characters, not bytes
    ((THINKING,), 1_101),  # 101 and its signature
    ((CALL,), 40),  # 26 arguments + 4 name + 10 id
    ((IMAGE,), 1_000_009),  # base64 and "image/png"
    ((PDF,), 400_015),  # base64 and "application/pdf"
    ((OPAQUE,), 30),
    ((RESULT,), 1_000_099),  # 10 id + 80 + 1,000,009
]
SERIALIZED = [  # as the chars above, and the length of each block's keys and punctuation in json.dumps
    ((TEXT,), 1_033),  # {"type": "text", "text": ""} has 28
    ((MIXED,), 108),  # characters, not bytes
    ((ESCAPED,), 65),  # 30 and 7 escapes
    ((THINKING,), 1_154),  # 53: its signature too
    ((CALL,), 93),  # 53
    ((IMAGE,), 1_000_086),  # 72 + "image"
    ((PDF,), 400_095),  # 72 + "document"
    ((OPAQUE,), 30),  # JSON already
    ((RESULT,), 1_000_263),  # 55 + 10, and 108 + 2 and 1,000,086 + 2 in brackets
]
CL100K = [
    ((TEXT,), 249),  # 0.994 x 250 = 248.5, halves up
    ((MIXED,), 42),  # 0.994 x 40 + 0.108 x 20 = 39.76 + 2.16 = 41.92
    ((THINKING,), 25),  # 0.994 x 25 = 24.85; the signature nothing
    ((SEALED,), 0),
    ((CALL,), 9),  # 0.994 x 9 = 8.946
    # gpt-4o: 1,254 square fits 2,048, short side to 768: 768 x 768, 2 x 2 tiles of 512: 85 + 4 x 170
    ((IMAGE,), 765),
    ((RESULT,), 807),  # 42 + 765
    ((OPAQUE,), 7),  # 0.994 x 7 = 6.958
    # A page of 1,075 x 1,520: short side to 768, 768 x 1,086: 2 x 3 tiles: 85 + 6 x 170 = 1,105; + 2,250 of text
    ((PDF,), 10_065),  # 3 x 3,355
    ((NOTE,), 300),  # 1,600 x 3 / 4 = 1,200 bytes; / 4
]
PADDED = [
    ((TEXT,), 335),  # round(251.25) = 251; 4/3 x 251 = 334.67
    ((IMAGE,), 2_667),  # 4/3 x 2,000 = 2,666.67
    ((PDF,), 2_667),
    ((JSON_FILE,), 68),  # 101 / 2 = 50.5, halves up 51; 4/3 x 51 = 68
    ((CALL,), 11),  # (26 + 4) / 4 = 7.5 -> 8; 4/3 x 8 = 10.67
    ((THINKING,), 34),  # 101 / 4 = 25.25 -> 25; 33.33
    ((TEXT, IMAGE), 3_002),  # 4/3 x (251 + 2,000) = 3,001.33: once per message, not 335 + 2,667
    ((RESULT,), 2_694),  # 20 + 2,000 = 2,020; 2,693.33
    ((OPAQUE,), 11),  # 7.5 -> 8; 10.67
]
CODEX = [
    ((TEXT,), 252),  # 1,005 / 4 = 251.25
    ((MIXED,), 30),  # 120 bytes / 4
    ((IMAGE,), 1_844),  # 7,373 / 4 = 1,843.25
    ((LINK,), 10),  # the URL's 40 bytes
    ((SEALED,), 25),  # 1,000 x 3 / 4 - 650 = 100; / 4
    ((THINKING,), 25),  # the summary's text does not count beside the payload
    ((ENCRYPTED,), 213),  # 2,001 x 3 // 4 = 1,500; - 650 = 850; / 4 = 212.5
    ((Block(Kind.THINKING, n_payload=800),), 0),  # 600 - 650 < 0
    ((CALL,), 10),  # (26 + 4 + 10) / 4
    ((PDF,), 100_004),  # no rule: 400,015 / 4
    ((RESULT,), 1_876),  # (10 + 120 + 7,373) / 4 = 1,875.75
    ((SEALED_RESULT,), 284),  # 2,001 x 9 / 16 = 1,125.56 up 1,126; + 10 = 1,136; / 4
    ((TEXT, IMAGE), 2_095),  # one item: (1,005 + 7,373) / 4 = 2,094.5
    ((TEXT, THINKING, CALL), 252 + 25 + 10),  # three items
]
CODEX_ORIGINAL = [
    ((IMAGE,), 1_600),  # ceil(1,254 / 32) = 40; 40 x 40
    ((WIDE,), 5_922),  # 94 x 63
    ((Block(Kind.IMAGE, media=Media("image/png", 8, width=8_000, height=8_000)),), 10_000),  # 250 x 250 = 62,500
    ((Block(Kind.IMAGE, media=Media("image/png", 8)),), 1_844),  # size unknown: 7,373 bytes
    ((LINK,), 10),
    ((TEXT,), 252),
    ((RESULT,), 1_633),  # (10 + 120 + 6,400) / 4 = 1,632.5
    ((THINKING,), 25),  # 1,000 x 3 / 4 - 650 = 100; / 4
    ((CALL,), 10),  # (26 + 4 + 10) / 4
    ((PDF,), 100_004),
    ((OPAQUE,), 8),  # 30 / 4 = 7.5
    ((TEXT, IMAGE), 1_852),  # (1,005 + 6,400) / 4 = 1,851.25
]
LONG = Block(Kind.TEXT, n_chars=100_001, n_bytes=300_003, n_tokens=80_000, n_non_ascii=100_001)
GEMINI_CLI = [
    ((TEXT,), 251),  # 251.25, floor
    ((MIXED,), 45),  # 60 / 4 + 20 x 1.5
    ((LONG,), 25_000),  # over 100,000: 25,000.25, whatever the script
    ((Block(Kind.TEXT, n_chars=100_000, n_bytes=300_000, n_non_ascii=100_000),), 150_000),
    ((IMAGE,), 3_000),
    ((LINK,), 3_000),
    ((PDF,), 25_800),
    ((NOTE,), 402),  # (1,600 + 10 "text/plain") / 4 = 402.5
    ((CALL,), 7),  # (26 + 4) / 4 = 7.5; ids are not sent
    ((THINKING,), 25),  # a text part: 25.25
    ((SEALED,), 250),  # a part of JSON: 1,000 / 4
    ((PLAIN,), 10),  # 41 / 4 = 10.25
    ((RESULT,), 3_045),  # nested parts: floor(45 + 3,000)
    ((OPAQUE,), 7),  # 7.5
    ((TEXT, CALL), 258),  # 251.25 + 7.5 = 258.75: one floor, not 251 + 7
]
OPENCODE = [
    ((TEXT,), 251),  # 251.25
    ((Block(Kind.TEXT, n_chars=10, n_bytes=10),), 3),  # 2.5, halves up
    ((CALL,), 8),  # 7.5
    ((THINKING,), 25),  # 25.25
    ((IMAGE,), 0),
    ((PDF,), 0),
    ((PLAIN,), 10),  # 10.25
    ((RESULT,), 20),  # 80 / 4
    ((OPAQUE,), 8),  # 7.5, halves up
    ((TEXT, CALL), 259),  # 251 + 8
]
OPENCODE_V2 = [
    ((TEXT,), 251),
    ((CALL,), 8),  # 7.5, halves up
    ((IMAGE,), 1_500),
    ((PDF,), 2_000),
    ((NOTE,), 0),
    ((ENCRYPTED,), 0),
    ((RESULT,), 1_520),  # 80 / 4 + 1,500
    ((THINKING,), 25),  # 25.25, without the signature
    ((OPAQUE,), 8),  # 7.5, halves up
    ((TEXT, IMAGE), 1_751),
]
PI = [
    ((TEXT,), 252),  # 251.25
    ((IMAGE,), 1_200),  # 4,800 / 4
    ((CALL,), 8),  # (26 + 4) / 4 = 7.5
    ((THINKING,), 26),  # 25.25, without the signature
    ((RESULT,), 1_220),  # (80 + 4,800) / 4
    ((PDF,), 0),
    ((OPAQUE,), 0),
    ((TEXT, CALL), 259),  # (1,005 + 30) / 4 = 258.75: not 252 + 8
]
CLINE = [
    ((TEXT,), 335),  # 1,005 / 3
    ((MIXED,), 27),  # 80 / 3 = 26.67
    ((IMAGE,), 333_337),  # 1,000,009 / 3 = 333,336.33
    ((THINKING,), 367),  # 1,101 / 3
    ((CALL,), 14),  # (26 + 4 + 10) / 3 = 13.33
    ((Block(Kind.TEXT),), 1),  # at least 1
    ((PDF,), 133_339),  # 400,015 / 3 = 133,338.33
    ((RESULT,), 333_367),  # (10 + 80 + 1,000,009) / 3 = 333,366.33
    ((OPAQUE,), 10),  # 30 / 3
    ((TEXT, MIXED), 362),  # 1,085 / 3 = 361.67
]
ROO = [
    ((TEXT,), 375),  # 250 x 1.5
    ((CALL,), 23),  # "Tool: Read\nArguments: …" 5 + 1 + 9 = 15; x 1.5 = 22.5
    ((IMAGE,), 1_500),  # sqrt(1,000,000) x 1.5
    ((WIDE,), 302),  # sqrt(40,001) = 200.002 -> 201; x 1.5 = 301.5
    ((LINK,), 450),  # 300 x 1.5
    ((THINKING,), 0),
    ((PDF,), 0),
    ((PLAIN,), 33),  # frame 4 + id 10 x 5/8 = 6.25 -> 7 + 11 = 22; x 1.5
    ((FAILED,), 38),  # 22 + "[Error]" 3 = 25; 37.5
    ((OPAQUE,), 0),
    ((RESULT,), 84),  # 4 + 7 + 40 + newline 1 + "[Image content]" 4 = 56; x 1.5
    ((CALL, CALL), 45),  # 30 x 1.5: not 23 + 23
]
LANGCHAIN = [
    ((TEXT,), 252),  # a block: 1,005 / 4 = 251.25
    ((IMAGE,), 85),
    ((CALL,), 24),  # the repr's frame 53 + 26 + 4 + 10 = 93; / 4 = 23.25
    ((THINKING,), 289),  # the repr's frame 53 + 101 + 1,000 = 1,154; / 4 = 288.5
    ((OPAQUE,), 8),  # 30 / 4 = 7.5
    ((PDF,), 100_016),  # no rule for documents: frame 47 + 400,015 = 400,062; / 4 = 100,015.5
    ((TEXT, IMAGE), 341),  # (1,005 + "user" 4) / 4 = 252.25 -> 253; + 85 + 3
    ((PLAIN, PLAIN), 34),  # two tool messages: (41 + 10 + "tool" 4) / 4 = 13.75 -> 14; 2 x (14 + 3)
    ((PLAIN, TEXT), 273),  # 14 + 3, then 1,009 / 4 -> 253 + 3
    ((RESULT, MIXED), 136),  # (80 + 10 + 4) / 4 = 23.5 -> 24 + 85 + 3; (80 + 4) / 4 = 21 + 3
]
INSPECT = [
    ((TEXT,), 275),  # 250 x 1.1 = 275.00000000000006
    ((MIXED,), 44),  # 40 x 1.1
    ((CALL,), 11),  # (9 + 1) x 1.1
    ((IMAGE,), 765),
    ((LINK,), 765),
    # "data:application/pdf;base64,": 28 + 400,000; x 3 // 4 = 300,021 bytes; 3.00021 pages
    ((PDF,), 3_000),
    ((NOTE,), 100),  # (23 + 1,600) x 3 // 4 = 1,217 bytes = 12 tokens: at least 100
    ((LINKED_PDF,), 5_000),
    ((THINKING,), 27),  # the summary of sealed reasoning: 25 x 1.1 = 27.5
    ((OPAQUE,), 0),
    ((RESULT,), 809),  # 44 + 765
    ((TEXT, MIXED), 319),  # 290 x 1.1 = 319.00000000000006
]
LETTA = [
    ((TEXT,), 327),  # ceil(251.25) = 252; x 1.3 = 327.6
    ((MIXED,), 58),  # 60 + 20 x 6 (escaped) = 180 bytes = 45; x 1.3 = 58.5
    ((IMAGE,), 325_007),  # 13 "data:;base64," + 9 + 1,000,000 = 1,000,022; / 4 -> 250,006; x 1.3 = 325,007.8
    ((CALL,), 13),  # 40 / 4 = 10; x 1.3
    ((THINKING,), 358),  # 1,101 / 4 -> 276; x 1.3 = 358.8
    ((LINK,), 13),  # 40 / 4 = 10; x 1.3
    ((OPAQUE,), 10),  # 30 / 4 -> 8; x 1.3 = 10.4
    ((PDF,), 130_009),  # 13 + 15 + 400,000 = 400,028; / 4 = 100,007; x 1.3 = 130,009.1
    ((RESULT,), 325_068),  # 10 + 180 + 1,000,022 = 1,000,212; / 4 = 250,053; x 1.3 = 325,068.9
    ((TEXT, CALL), 340),  # 1,045 / 4 -> 262; x 1.3 = 340.6
]
AIDER = [
    ((TEXT,), 250),
    ((IMAGE,), 765),  # short side to 768: 768 x 768; 4 tiles
    # 2,048 / 3,008: 2,048 x 1,361; 768 / 1,361: 1,155 x 768; 3 x 2 tiles
    ((WIDE,), 1_105),
    # 100 x 50 is scaled *up*: 1,536 x 768; 3 x 2 tiles
    ((Block(Kind.IMAGE, media=Media("image/png", 8, width=100, height=50)),), 1_105),
    ((LINK,), 765),  # taken as 1,024 x 1,024
    ((CALL,), 10),  # 9 + 1
    ((THINKING,), 0),
    ((RESULT,), 805),  # 40 + 765
    ((PDF,), 0),
    ((OPAQUE,), 0),
    ((TEXT, IMAGE), 1_026),  # 250 + 765 + 11 of JSON frame
]
GOLDEN = {
    "claw_code": CLAW_CODE,
    "chars": CHARS,
    "serialized_chars": SERIALIZED,
    "chars_per_4": CHARS_PER_4, "tiktoken_cl100k": CL100K, "claude_code_padded": PADDED, "codex": CODEX,
    "codex_original": CODEX_ORIGINAL, "gemini_cli": GEMINI_CLI, "opencode": OPENCODE, "opencode_v2": OPENCODE_V2,
    "pi": PI, "cline": CLINE, "roo": ROO, "langchain": LANGCHAIN, "inspect": INSPECT, "letta": LETTA, "aider": AIDER,
}  # fmt: skip
CASES = [(name, blocks, expected) for name, cases in GOLDEN.items() for blocks, expected in cases]


@pytest.mark.parametrize(("name", "blocks", "expected"), CASES)
def test_golden_values(name: str, blocks: tuple[Block, ...], expected: int) -> None:
    assert size(name, *blocks) == expected


def test_every_estimator_has_golden_values() -> None:
    assert set(plugins("estimators")) == {*GOLDEN, *ESTIMATORS}
    assert all(len(cases) >= 5 for cases in GOLDEN.values())
    for name, cases in GOLDEN.items():
        seen = {block.kind for blocks, _ in cases for block in blocks}
        assert seen == set(Kind), f"{name}: no golden value for {set(Kind) - seen}"


def test_langchain_takes_claude_s_characters_and_the_role() -> None:
    assert size("langchain", TEXT, model="claude-sonnet-4-5") == 305  # 1,005 / 3.3 = 304.55
    assert whole("langchain", TEXT) == 256  # (1,005 + 4) / 4 = 252.25 -> 253; + 3
    assert whole("langchain", TEXT, role=Role.ASSISTANT) == 257  # (1,005 + 9) / 4 = 253.5 -> 254; + 3
    assert whole("langchain") == 4  # "user" / 4 = 1; + 3


def test_inspect_counts_claude_s_thinking_as_nothing_and_a_message_as_something() -> None:
    assert size("inspect", THINKING, model="claude-sonnet-4-5") == 0
    assert size("inspect", Block(Kind.THINKING, n_chars=8, n_bytes=8, n_tokens=2)) == 0  # no summary
    assert whole("inspect", SEALED) == 1


def test_per_message_is_charged_once() -> None:
    assert whole("aider", TEXT, TEXT) == 511  # 250 + 250 + 11
    assert whole("aider") == 11
    assert whole("pi", TEXT) == size("pi", TEXT) == 252


@pytest.mark.parametrize("name", ["tiktoken_cl100k", "roo", "inspect", "aider"])
def test_unsettled_counts_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not settled"):
        estimator_named(name).size(Block(Kind.TEXT, n_tokens=-1), CLAUDE)


def test_gemini_cli_stops_after_three_levels() -> None:
    block = MIXED
    for _ in range(3):
        block = Block(Kind.TOOL_RESULT, parts=(block,))
    assert size("gemini_cli", block) == 45
    assert size("gemini_cli", Block(Kind.TOOL_RESULT, parts=(block,))) == 0


def test_characters_outside_ascii_are_guessed_where_a_block_does_not_say() -> None:
    assert non_ascii(MIXED) == 20
    assert non_ascii(Block(Kind.TEXT, n_chars=80, n_bytes=120)) == 20  # 40 more bytes, three-byte characters
    assert non_ascii(TEXT) == 0


def test_rounding() -> None:
    assert [up(n, 4) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert [half_up(n, 4) for n in (0, 1, 2, 5, 6)] == [0, 0, 1, 1, 2]
