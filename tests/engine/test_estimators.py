from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.base.errors import BadParameter, UnknownName
from sessions.engine.base.registry import plugins
from sessions.engine.models.model_info import model_info
from sessions.engine.replays.replay import replay
from sessions.engine.tokens.estimators import _images as rules
from sessions.engine.transcript.types import NOT_IN_FILE, Block, Kind, Media, Message, Role, Transcript
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.sizes import estimator_named, message_size, message_sizes
from tests.engine.sessions import Build, image

OPUS = model_info("claude-opus-4-8")
SONNET = model_info("claude-sonnet-4-5")
ESTIMATORS = ["wire_bytes", "pressure_bytes", "tiktoken_o200k", "claude_code"]
SCREENSHOT = Media("image/png", n_base64=3_118_884, width=1254, height=1254)

TEXT = Block(Kind.TEXT, n_chars=10, n_bytes=12, n_tokens=3)
THINKING = Block(Kind.THINKING, n_chars=8, n_bytes=8, n_tokens=2, n_payload=500)
USE = Block(Kind.TOOL_USE, n_chars=20, n_bytes=20, n_tokens=9, name="Read", call_id="call_1")
IMAGE = Block(Kind.IMAGE, media=SCREENSHOT)
LINK = Block(Kind.IMAGE, media=Media("", n_url=40))
PDF = Block(Kind.DOCUMENT, media=Media("application/pdf", n_base64=1_000, n_pages=2))
NOTE = Block(Kind.DOCUMENT, media=Media("text/plain", n_base64=1_600))
RESULT = Block(Kind.TOOL_RESULT, call_id="call_1", parts=(TEXT, IMAGE))
JSON = Block(Kind.TOOL_RESULT, n_chars=101, n_bytes=101, n_tokens=30, call_id="c", target="/a/B.JSON")
OPAQUE = Block(Kind.OPAQUE, n_chars=30, n_bytes=33, n_tokens=7, n_payload=1_000)
BLOCKS = {
    "text": TEXT, "thinking": THINKING, "use": USE, "image": IMAGE, "link": LINK, "pdf": PDF, "note": NOTE,
    "result": RESULT, "json": JSON, "opaque": OPAQUE,
}  # fmt: skip
GOLDEN = {
    "wire_bytes": (12, 508, 30, 3_118_893, 40, 1_015, 1_610, 3_118_911, 102, 1_033),
    "pressure_bytes": (12, 508, 30, 16_393, 16_384, 1_015, 1_610, 16_411, 102, 1_033),
    "tiktoken_o200k": (3, 2, 9, 2_025, 1_369, 2 * (2_250 + 2_145), 300, 2_028, 30, 7),
    "claude_code": (3, 2, 6, 2_000, 2_000, 2_000, 2_000, 2_003, 51, 8),
}


def test_the_issue_s_estimators_are_registered() -> None:
    assert set(ESTIMATORS) <= set(plugins("estimators"))


@pytest.mark.parametrize("name", sorted(plugins("estimators")))
def test_contract(name: str) -> None:
    estimator = plugins("estimators")[name]
    assert estimator.name == name
    assert estimator.label
    assert estimator.source
    assert estimator.unit in {"bytes", "tokens", "chars"}
    seen = [leaf.kind for block in BLOCKS.values() for leaf in block.leaves()]
    assert set(seen) == set(Kind)
    for model in (OPUS, SONNET, model_info("gpt-4o"), model_info("gemini-2.5-pro"), model_info("no such model")):
        for block in (*BLOCKS.values(), *(Block(kind) for kind in Kind)):
            size = estimator.size(block, model)
            assert isinstance(size, int)
            assert size >= 0
            assert estimator.size(block, model) == size


@pytest.mark.parametrize("name", ESTIMATORS)
def test_golden_values(name: str) -> None:
    estimator = estimator_named(name)
    assert tuple(estimator.size(block, OPUS) for block in BLOCKS.values()) == GOLDEN[name]


def test_the_image_charge_is_tunable() -> None:
    lower = estimator_named("pressure_bytes:8192")
    assert (lower.name, lower.unit) == ("pressure_bytes:8192", "bytes")
    assert [lower.size(block, OPUS) for block in (TEXT, IMAGE, LINK, PDF, RESULT)] == [12, 8_201, 8_192, 1_015, 8_219]
    assert estimator_named("pressure_bytes:16384").name == "pressure_bytes"
    assert estimator_named("pressure_bytes:1073741824").size(LINK, OPUS) == 1_073_741_824
    for argument in ("", "-1", "1.5", "x", "1073741825", "9999999999"):
        with pytest.raises(BadParameter, match="whole number"):
            estimator_named(f"pressure_bytes:{argument}")
    with pytest.raises(UnknownName):
        estimator_named("wire_bytes:5")


def test_a_policy_measures_at_its_image_charge() -> None:
    """Two images and no usage: the gate sees two charges more or less."""
    session = Build(usage=False)
    session.prompt()
    session.reply(10, "a")
    session.result("a", 5, image(900_000, 1_000), image(900_000, 1_000))
    session.reply()
    weighed = weigh(session.done())
    plain, lower = (replay(weighed, "buzz_handoff", params=p) for p in ({}, {"image_charge": "1024"}))
    assert (plain.estimator, lower.estimator) == ("pressure_bytes", "pressure_bytes:1024")
    sizes = [message_sizes(weighed, estimator_named(r.estimator))[2] for r in (plain, lower)]
    assert sizes[0] - sizes[1] == 2 * (16_384 - 1_024)
    assert replay(weighed, "buzz_handoff", params={"measure": "wire_bytes"}).estimator == "wire_bytes"
    assert replay(weighed, "buzz_recovery", params={"image_charge": "8192"}).estimator == "pressure_bytes:8192"


def test_unsettled_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="not settled"):
        estimator_named("tiktoken_o200k").size(Block(Kind.TEXT, n_tokens=-1), OPUS)


def test_messages() -> None:
    message = Message(0, "m", Role.USER, (TEXT, RESULT))
    transcript = Transcript("s", "f", (message, message), model="claude-sonnet-4-5")
    assert message_size(message, estimator_named("wire_bytes"), SONNET) == 12 + 3_118_911
    assert message_sizes(weigh(transcript), estimator_named("tiktoken_o200k")) == [3 + 3 + 1_521] * 2


# Estimators 9.2: original, standard size and tokens, high-resolution size and tokens.
CLAUDE_IMAGES = [
    ((256, 256), (256, 256), 100, (256, 256), 100),
    ((512, 512), (512, 512), 361, (512, 512), 361),
    ((768, 768), (768, 768), 784, (768, 768), 784),
    ((1024, 768), (1024, 768), 1_036, (1024, 768), 1_036),
    ((1024, 1024), (1024, 1024), 1_369, (1024, 1024), 1_369),
    ((1280, 720), (1280, 720), 1_196, (1280, 720), 1_196),
    ((1254, 1254), (1092, 1092), 1_521, (1254, 1254), 2_025),
    ((1920, 1080), (1456, 819), 1_560, (1920, 1080), 2_691),
    ((1075, 1520), (924, 1307), 1_551, (1075, 1520), 2_145),
    ((2000, 1500), (1270, 952), 1_564, (2000, 1500), 3_888),
    ((2560, 1440), (1456, 819), 1_560, (2560, 1440), 4_784),
    ((3840, 2160), (1456, 819), 1_560, (2576, 1449), 4_784),
    ((4032, 3024), (1270, 952), 1_564, (2212, 1659), 4_740),
]


@pytest.mark.parametrize(("size", "standard", "low", "high_res", "high"), CLAUDE_IMAGES)
def test_claude_images(
    size: tuple[int, int], standard: tuple[int, int], low: int, high_res: tuple[int, int], high: int
) -> None:
    assert rules.claude_image_size(*size, "standard") == standard
    assert rules.claude_image_tokens(*size, "standard") == low
    assert rules.claude_image_size(*size, "high-res") == high_res
    assert rules.claude_image_tokens(*size, "high-res") == high


@given(st.integers(1, 65_535), st.integers(1, 65_535), st.sampled_from(sorted(rules.TIERS)))
def test_claude_images_respect_the_tier(width: int, height: int, tier: str) -> None:
    side, most = rules.TIERS[tier]
    new_width, new_height = rules.claude_image_size(width, height, tier)
    assert 1 <= new_width <= width
    assert 1 <= new_height <= height
    assert max(new_width, new_height) <= side
    assert 1 <= rules.claude_image_tokens(width, height, tier) <= most
    assert rules.claude_image_tokens(height, width, tier) == rules.claude_image_tokens(width, height, tier)


@pytest.mark.parametrize(
    ("size", "rule", "tokens"),
    [
        ((1024, 1024), "tiles-85-170", 765),
        ((1920, 1080), "tiles-85-170", 1_105),
        ((3008, 2000), "tiles-85-170", 1_105),
        ((1500, 1434), "patches-1536-1", 1_520),
        ((1800, 2400), "patches-1536-1", 1_452),
        ((1920, 1080), "patches-10000-1.2", 2_448),
        ((3840, 2160), "patches-10000-1.2", 9_792),
        ((3840, 2160), "patches-2500-1.2", 2_931),
        ((597, 566), "patches-1536-1.2", 411),
        ((597, 566), "patches-1536-1.62", 555),
        ((384, 384), "gemini-2", 258),
        ((385, 10), "gemini-2", 258),
        ((768, 768), "gemini-2", 258),
        ((769, 768), "gemini-2", 3 * 258),
        ((3008, 2000), "gemini-2", 3_354),  # 4 x 3 tiles and the overview, as recorded
        ((30_720, 7_680), "gemini-2", 5 * 258),  # 3,072 x 768
        ((30_720, 7_681), "gemini-2", 9 * 258),  # 3,072 x 768.1
        ((10_000, 1_000), "gemini-2", 5 * 258),  # 3,072 x 307.2: 4 x 1 tiles and the overview
        ((3008, 2000), "gemini-3", 1_120),
    ],
)
def test_other_providers(size: tuple[int, int], rule: str, tokens: int) -> None:
    assert rules.tokens_of_size(*size, rule) == tokens


@pytest.mark.parametrize(
    ("model", "size", "tokens"),
    [
        # Qwen: 64 x 40 cells are the most; one row more is scaled into √(2,560 · 41 / 64) x √(2,560 · 64 / 41).
        ("qwen3-vl-plus", (2048, 1280), 64 * 40 + 2),
        ("qwen3-vl-plus", (2048, 1312), 40 * 63 + 2),
        ("qwen3.6-plus", (1024, 1024), 32 * 32 + 2),
        ("qwen3.6-plus", (1040, 1024), 32 * 32 + 2),  # 32.5 cells are the even 32
        ("qwen3.6-plus", (1041, 1024), 33 * 32 + 2),
        ("qwen3.6-plus", (64, 64), 4 + 2),
        ("qwen3.6-plus", (47, 64), 6 + 2),  # 1 x 2 cells are too few: ⌈√(4 · 47 / 64)⌉ x ⌈√(4 · 64 / 47)⌉ = 2 x 3
        ("qwen3.6-plus", (32, 96), 2 * 4 + 2),  # three cells, one too few: ⌈√(4 · 32 / 96)⌉ x ⌈√(4 · 96 / 32)⌉
        ("qwen3.6-plus", (32, 128), 4 + 2),  # four cells, the fewest
        ("qwen3.6-plus", (32, 160), 5 + 2),
        ("qwen3.6-plus", (2, 2), 2 * 2 + 2),  # ⌈√4⌉ a side
        ("qwen3.6-plus", (1, 6), 1 * 5 + 2),  # ⌈√(4 / 6)⌉ x ⌈√24⌉
        ("qwen3.6-plus", (2060, 1280), 64 * 40 + 2),  # 64.4 x 40 cells: 64 x 40 are the most, and stay
        ("qwen2.5-vl-72b", (1120, 896), 40 * 32 + 2),
        ("qwen2.5-vl-72b", (1120, 924), 39 * 32 + 2),
        # Kimi: what llama.cpp and vLLM counted with the published weights, then the limits.
        ("kimi-k3", (1500, 500), 972),
        ("kimi-k3", (2875, 1500), 5_562),
        ("kimi-k3", (2800, 2800), 10_000),
        ("kimi-k2.5", (1500, 500), 972),
        ("kimi-k2.5", (448, 448), 256),
        ("kimi-k2.5", (448, 449), 16 * 17),
        ("kimi-k2.6", (1792, 1792), 64 * 64),  # 128 x 128 patches, the limit
        ("kimi-k2.6", (1806, 1806), 64 * 64),  # 129 x 129: scaled to 1,792
        ("kimi-k2.7-code", (14_336, 28), 256),  # the longest side is 7,168
        ("kimi-k3", (14_336, 448), 256 * 8),  # 7,168 x 224
        ("kimi-k3", (14_336, 450), 256 * 9),  # 7,168 x 225
        ("kimi-k3", (7_200, 1), 256),  # 7,168 x 0.996: no side is under a pixel
        ("kimi-k3", (1, 7_200), 256),
        ("kimi-k2.5", (13, 448), 16),  # a side under 14 pixels is one patch
        ("kimi-k2.5", (448, 13), 16),
        ("kimi-k2.5", (4, 4), 1),
        # GLM: 96 x 64 cells are the most, 8 the fewest.
        ("glm-4.6v", (2688, 1792), 96 * 64),
        ("glm-4.6v", (2688, 1820), 95 * 64),  # √(6,144 · 2688 / 1820) = 95.3, √(6,144 · 1820 / 2688) = 64.5
        ("glm-4.5v", (1, 1), 3 * 3),  # scaled to 28 x 28, one cell: ⌈√8⌉ a side
        ("glm-4.5v", (14, 112), 8),  # scaled to 28 x 224
        ("glm-4.5v", (28, 196), 2 * 8),  # 7 cells: ⌈√(8 · 28 / 196)⌉ x ⌈√(8 · 196 / 28)⌉
        ("glm-4.5v", (28, 238), 8),  # 1 x 8.5 cells, the even 8: the fewest, and stay
        ("glm-4.5v", (28, 252), 9),
        ("glm-4.5v", (1, 10), 10),  # scaled to 28 x 280
        ("glm-4.5v", (10, 1), 10),
        ("glm-4.5v", (27, 280), 10),  # scaled to 28 x 290
        ("glm-4.5v", (28, 280), 10),
        ("glm-4.5v", (1, 9_000), 7_436),  # 28 x 252,000: √0.7 is at least one cell, √(6,144 · 9,000) = 7,436.1
        ("glm-4.5v", (9_000, 1), 7_436),
        ("z-ai/glm-4.6v-flash", (1024, 1024), 37 * 37),
        # Grok: six tiles and one more.
        ("grok-4.5", (1, 1), 512),
        ("grok-4.5", (448, 448), 512),
        ("grok-4.5", (449, 448), 768),
        ("grok-4-0709", (896, 896), 1_280),
        ("grok-4-fast-reasoning", (1344, 896), 1_792),
        ("x-ai/grok-4.20", (4096, 4096), 1_792),
    ],
)
def test_image_rules_that_their_makers_publish(model: str, size: tuple[int, int], tokens: int) -> None:
    """At the limits and on both sides of them (estimators 18.1 to 18.4)."""
    assert rules.image_tokens(Media("image/png", width=size[0], height=size[1]), model_info(model)) == tokens


@pytest.mark.parametrize(
    ("model", "words", "own"),
    [
        ("claude-opus-4-8", "Claude's: patches of 28 pixels", True),
        ("gpt-4o", "OpenAI's: tiles of 512 pixels", True),
        ("gpt-5-mini", "OpenAI's: patches of 32 pixels", True),
        ("gemini-2.5-pro", "Gemini's: tiles of 768 pixels", True),
        ("gemini-3-pro", "Gemini's: one figure for every size", True),
        ("qwen3.6-plus", "Qwen's: cells of 32 pixels, at most 2,560 unless the agent asks for high resolution", True),
        ("kimi-k2.6", "Kimi's published image processor: cells of 28 pixels", True),
        ("glm-4.6v", "GLM's published image processor: cells of 28 pixels", True),
        ("grok-4.5", "xAI's of 2025: tiles of 448 pixels, an upper bound for over 6 tiles", True),
        ("glm-5v-turbo", "none known for this model: Claude's patches of 28 pixels stand in for it", False),
        ("minimax-m3", "none known for this model: Claude's patches of 28 pixels stand in for it", False),
        ("never-heard-of", "none known for this model: Claude's patches of 28 pixels stand in for it", False),
    ],
)
def test_whose_image_rule_it_is_is_told(model: str, words: str, own: bool) -> None:
    assert rules.image_rule_words(model_info(model)) == words
    assert rules.has_own_image_rule(model_info(model)) == own


@given(st.integers(1, 65_535), st.integers(1, 65_535))
def test_patches_stay_within_their_budget(width: int, height: int) -> None:
    patches = rules.openai_patches(width, height, 1_536)
    assert 1 <= patches <= 1_536


def test_every_rule_in_the_table_exists() -> None:
    for name in (
        "claude-3-opus",
        "claude-opus-5",
        "gpt-4o-mini",
        "gpt-4.1-nano",
        "o4-mini",
        "gpt-5.6",
        "gemini-3-flash",
    ):
        assert rules.image_tokens(SCREENSHOT, model_info(name)) > 0


@pytest.mark.parametrize(
    ("size", "tokens"),
    [
        ((384, 384), 258), ((385, 385), 258), ((768, 768), 258), ((769, 10), 3 * 258), ((10, 769), 3 * 258),
        ((769, 769), 5 * 258), ((3_008, 2_000), 3_354), ((6_144, 3_072), 9 * 258), ((3_072, 10), 5 * 258),
    ],
)  # fmt: skip
def test_gemini_tiles_of_768_pixels_and_an_overview(size: tuple[int, int], tokens: int) -> None:
    """One tile is the overview itself; over 3,072 pixels a side it is scaled first (estimators 11)."""
    assert rules.tokens_of_size(*size, "gemini-2") == tokens
    assert rules.tokens_of_size(*size, "gemini-3") == 1_120


@pytest.mark.parametrize(
    ("tier", "family", "pages", "tokens"),
    [
        ("gemini-2", "gemini", 0, 258), ("gemini-2", "gemini", 1, 258), ("gemini-2", "gemini", 3, 774),
        ("gemini-3", "gemini", 2, 2_240), ("standard", "claude", 0, 2_250 + 1_551),
        ("standard", "claude", 2, 2 * (2_250 + 1_551)), ("high-res", "claude", 1, 2_250 + 2_145),
        ("qwen-32-2560", "qwen", 1, 2_250 + 34 * 48 + 2),  # 33.6 x 47.5 cells, halves to the even number
    ],
)  # fmt: skip
def test_pages_of_a_document(tier: str, family: str, pages: int, tokens: int) -> None:
    """258 a page; the middle of 1,500 to 3,000 and the page image; unknown pages are one (estimators 9.2, 11)."""
    model = SimpleNamespace(family=family, image_tier=tier)
    assert rules.document_tokens(Media("application/pdf", n_pages=pages), model) == tokens
    assert rules.document_tokens(Media("", n_pages=pages), model) == tokens


@pytest.mark.parametrize(("n_base64", "tokens"), [(0, 0), (16, 3), (17, 4), (32, 6)])
def test_other_documents_are_text(n_base64: int, tokens: int) -> None:
    """Three bytes for four characters, a token for four bytes."""
    model = SimpleNamespace(family="claude", image_tier="standard")
    assert rules.document_tokens(Media("text/plain", n_base64=n_base64), model) == tokens


@pytest.mark.parametrize(("size", "tokens"), [((256, 256), 100), ((0, 0), 1_369), ((0, 256), 1_369), ((256, 0), 1_369)])
def test_a_picture_of_unknown_size_is_a_square_of_1024(size: tuple[int, int], tokens: int) -> None:
    """⌈1024 / 28⌉ = 37 patches a side (estimators 9.1); one that is not in the file weighs nothing."""
    model = SimpleNamespace(family="claude", image_tier="standard")
    assert rules.image_tokens(Media("image/png", width=size[0], height=size[1]), model) == tokens
    gone = Media("image/png", width=size[0], height=size[1], problem=NOT_IN_FILE)
    assert rules.image_tokens(gone, model) == 0


@pytest.mark.parametrize(("n_bytes", "tokens"), [(3, 1_844), (4, 1_845)])
def test_a_picture_is_7373_bytes_to_codex(n_bytes: int, tokens: int) -> None:
    """⌈(7,373 + text) / 4⌉ of one item (policies 2.4)."""
    text = Block(Kind.TEXT, n_chars=n_bytes, n_bytes=n_bytes, n_tokens=1)
    message = Message(0, "m0", Role.USER, (text, Block(Kind.IMAGE, media=SCREENSHOT)))
    assert message_size(message, estimator_named("codex"), OPUS) == tokens
