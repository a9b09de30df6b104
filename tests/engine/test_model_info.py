from __future__ import annotations

import pytest

from sessions.engine.models.model_info import model_info, normalised
from sessions.engine.models.models_listed import LISTED
from sessions.engine.models.models_table import FAMILIES, HAND


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("claude-opus-4-8", "claude-opus-4-8"),
        ("us.anthropic.claude-opus-4-8-20260801-v1:0[1m]", "claude-opus-4-8"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("claude-sonnet-4@20250514", "claude-sonnet-4"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet"),
        ("claude-3-sonnet-20240229", "claude-3-sonnet"),
        ("openai/gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("gpt-4-0613", "gpt-4"),
        ("o3-2025-04-16", "o3"),
    ],
)
def test_names_as_transcripts_write_them(name: str, plain: str) -> None:
    assert normalised(name) == plain
    assert model_info(name).known


@pytest.mark.parametrize(
    ("name", "tier", "prior", "window", "keeps"),
    [
        ("claude-3-opus-20240229", "standard", 1.18, 200_000, False),
        ("claude-opus-4-20250514", "standard", 1.18, 200_000, False),
        ("claude-haiku-4-5-20251001", "standard", 1.18, 200_000, False),
        ("claude-opus-4-6", "standard", 1.18, 200_000, True),
        ("claude-sonnet-4-6[1m]", "standard", 1.18, 1_000_000, True),
        ("claude-opus-4-7", "high-res", 1.53, 200_000, True),
        ("claude-opus-4-8", "high-res", 1.53, 1_000_000, True),
        ("claude-sonnet-5", "high-res", 1.53, 1_000_000, True),
        ("claude-fable-5", "high-res", 1.53, 1_000_000, True),
        ("gpt-4o", "tiles-85-170", 1.0, 128_000, False),
        ("gpt-5.2-codex", "tiles-70-140", 1.0, 272_000, False),
        ("gpt-5-mini", "patches-1536-1.2", 1.0, 272_000, False),
        ("gemini-2.5-flash", "gemini-2", 1.0, 1_048_576, False),
    ],
)
def test_families(name: str, tier: str, prior: float, window: int, keeps: bool) -> None:
    info = model_info(name)
    assert (info.image_tier, info.text_prior, info.window, info.keeps_thinking) == (tier, prior, window, keeps)
    assert info.known
    assert not info.note


def test_prices() -> None:
    info = model_info("claude-opus-4-8")
    assert (info.input_price, info.output_price, info.cache_read_price, info.cache_write_price) == (5, 25, 0.5, 6.25)
    pro = model_info("gpt-5-pro")
    assert pro.known
    assert pro.input_price is None
    assert "without prices" in pro.note
    assert model_info("claude-3-haiku-20240307").input_price is None


@pytest.mark.parametrize(
    "name", ["", "<synthetic>", "minimax-m9", "devstral-2512x", "gpt-50", "claude-opus-4-2", "claude", "a/b/c"]
)
def test_unknown_models_say_what_is_assumed(name: str) -> None:
    info = model_info(name)
    assert not info.known
    assert (info.window, info.image_tier, info.text_prior, info.input_price) == (200_000, "standard", 1.18, None)
    assert "200,000" in info.note
    assert "1.18" in info.note


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("deepseek/deepseek-v4-pro", 1_000_000),
        ("deepseek-v4-flash-free", 200_000),
        ("zai-org/GLM-4.5", 131_072),
        ("glm-4.7", 204_800),
        ("glm-5.1", 200_000),
        ("glm-4.5v", 65_536),
        ("glm-4.6v-flash", 131_072),
        ("qwen3-vl-plus-2025-12-19", 262_144),
        ("qwen3.5-plus", 1_000_000),
        ("grok-4-0709", 256_000),
        ("grok-4-fast-reasoning", 2_000_000),
        ("openrouter/z-ai/glm-5.2:free", 1_000_000),
        ("moonshotai/kimi-k2.6", 262_144),
        ("kimi-k2.7-code", 262_144),
        ("kimi-k3", 1_048_576),
        ("x-ai/grok-4.20", 1_000_000),
        ("grok-4.6", 500_000),
        ("MiniMax-M2.7", 204_800),
        ("minimax-m3", 1_000_000),
        ("qwen/qwen3-coder", 262_144),
        ("qwen3-coder-plus", 1_048_576),
        ("mistralai/devstral-2512", 262_144),
        ("mistral-medium-2604", 262_144),
        ("step-3.5-flash", 256_000),
    ],
)
def test_models_of_which_a_window_is_established(name: str, window: int) -> None:
    """Text counts as an unlisted model's; no price is made up."""
    info = model_info(name)
    assert (info.known, info.window, info.text_prior) == (True, window, 1.18)
    assert (info.input_price, info.family, info.note) == (None, "unknown", "")


def test_a_newer_claude_gets_the_newest_rules_and_says_so() -> None:
    info = model_info("claude-opus-6-1")
    assert not info.known
    assert info.note
    assert (info.family, info.image_tier, info.text_prior, info.window) == ("claude", "high-res", 1.53, 200_000)


def test_table_is_coherent() -> None:
    rows = [row for family in FAMILIES.values() for row in family]
    assert len({row.prefix for row in rows}) == len(rows)
    for row in rows:
        assert model_info(row.prefix).max_output == row.max_output
        assert 0 < row.max_output <= row.window
        price_in, price_out, read, write, write_1h = row.prices
        if price_in is not None and price_out is not None:
            assert price_out > price_in
            assert read is None or read < price_in
            assert write is None or write >= price_in
            assert (write is None) or row.prefix.startswith("gpt") or write_1h == 2 * price_in


def test_every_row_is_as_listed_or_says_why_not() -> None:
    for row in (row for family in FAMILIES.values() for row in family):
        figures = (row.long_window or row.window, row.max_output, *row.prices)
        if row.prefix in HAND:
            assert row.note
            assert figures == HAND[row.prefix][0]
            assert figures != LISTED.get(row.prefix), f"{row.prefix} is listed as it stands by hand"
        else:
            assert not row.note
            assert figures == LISTED[row.prefix]
    assert set(HAND) | set(LISTED) == {row.prefix for family in FAMILIES.values() for row in family}


def test_figures_stay_what_was_reviewed() -> None:
    """A few rows by hand: a list that changes one of them is to be looked at."""

    def figures(name: str) -> tuple[object, ...]:
        info = model_info(name)
        prices = (info.input_price, info.output_price, info.cache_read_price, info.cache_write_price)
        return (info.window, info.long_window, info.max_output, *prices, info.cache_write_1h_price)

    assert figures("claude-opus-4-8") == (1_000_000, None, 128_000, 5, 25, 0.5, 6.25, 10)
    assert figures("claude-sonnet-4-5") == (200_000, 1_000_000, 64_000, 3, 15, 0.3, 3.75, 6)
    assert figures("claude-haiku-4-5") == (200_000, None, 64_000, 1, 5, 0.1, 1.25, 2)
    assert figures("gpt-4o") == (128_000, None, 16_384, 2.5, 10, 1.25, None, None)
    assert figures("gpt-5.6-sol") == (922_000, None, 128_000, 4, 20, 0.4, 5, None)
    assert figures("gemini-2.5-pro") == (1_048_576, None, 65_535, 1.25, 10, 0.125, None, None)
