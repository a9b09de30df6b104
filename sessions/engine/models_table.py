"""Context windows, output limits and prices of model families, reviewed by hand.

As of 2026-11-21.  Windows, output limits and prices (USD per million tokens) are those of litellm 1.109.1's
``model_prices_and_context_window`` (MIT); token priors and image rules come from
estimators 6, 9, 10 and 11.  What was not found is None.  A window is the most *input* a request may carry.

Claude windows are the 200,000 that Claude Code works with unless the name ends in ``[1m]`` (policies 4.1), although
the API takes ``long_window`` tokens from the models that have one.
"""

from __future__ import annotations

from dataclasses import dataclass

DATE = "2026-11-21"
OLD_CLAUDE, NEW_CLAUDE = 1.18, 1.53
"""Tokens per o200k token of the Claude tokenizers before, and since, Opus 4.7 (estimators 6)."""


Prices = tuple[float | None, float | None, float | None, float | None]
UNPRICED: Prices = (None, None, None, None)


@dataclass(frozen=True, slots=True)
class Row:
    """One family; ``prefix`` is matched against the normalised name, the longest one wins."""

    prefix: str
    window: int
    max_output: int
    image_tier: str
    text_prior: float
    prices: Prices = UNPRICED
    """Input, output, cache read, cache write (5 minutes)."""
    long_window: int | None = None
    keeps_thinking: bool = False


def _claude(prefix: str, max_output: int, prices: Prices, *, long: bool = False, keeps: bool = False) -> Row:
    return Row(prefix, 200_000, max_output, "standard", OLD_CLAUDE, prices, 1_000_000 if long else None, keeps)


def _new_claude(prefix: str, prices: Prices, *, keeps: bool = True) -> Row:
    return Row(prefix, 200_000, 128_000, "high-res", NEW_CLAUDE, prices, 1_000_000, keeps)


def _gpt(prefix: str, window: int, max_output: int, image_tier: str, *prices: float | None, keeps: bool = False) -> Row:
    price_in, price_out, read, write = (*prices, None, None, None, None)[:4]
    return Row(prefix, window, max_output, image_tier, 1.0, (price_in, price_out, read, write), keeps_thinking=keeps)


def _gemini(prefix: str, image_tier: str, price_in: float | None, price_out: float | None, read: float | None) -> Row:
    return Row(prefix, 1_048_576, 65_536, image_tier, 1.0, (price_in, price_out, read, None))


CLAUDE = (
    _claude("claude-3-haiku", 4_096, UNPRICED),
    _claude("claude-3-sonnet", 4_096, UNPRICED),
    _claude("claude-3-opus", 4_096, (15, 75, 1.5, 18.75)),
    _claude("claude-3-5-haiku", 8_192, (0.8, 4, 0.08, 1)),
    _claude("claude-3-5-sonnet", 8_192, (3, 15, 0.3, 3.75)),
    _claude("claude-3-7-sonnet", 64_000, (3, 15, 0.3, 3.75)),
    _claude("claude-sonnet-4", 64_000, (3, 15, 0.3, 3.75), long=True),
    _claude("claude-opus-4", 32_000, (15, 75, 1.5, 18.75)),
    _claude("claude-opus-4-1", 32_000, (15, 75, 1.5, 18.75)),
    _claude("claude-haiku-4-5", 64_000, (1, 5, 0.1, 1.25)),
    _claude("claude-sonnet-4-5", 64_000, (3, 15, 0.3, 3.75), long=True),
    _claude("claude-opus-4-5", 64_000, (5, 25, 0.5, 6.25), keeps=True),
    _claude("claude-sonnet-4-6", 128_000, (3, 15, 0.3, 3.75), long=True, keeps=True),
    _claude("claude-opus-4-6", 128_000, (5, 25, 0.5, 6.25), long=True, keeps=True),
    _new_claude("claude-opus-4-7", (5, 25, 0.5, 6.25)),
    _new_claude("claude-opus-4-8", (5, 25, 0.5, 6.25)),
    _new_claude("claude-opus-5", (5, 25, 0.5, 6.25)),
    _new_claude("claude-opus-5-5", (4, 20, 0.2, 5)),
    _new_claude("claude-sonnet-5", (2, 10, 0.2, 2.5)),
    _new_claude("claude-sonnet-5-5", (2, 10, 0.1, 2.5)),
    _new_claude("claude-haiku-5-5", (0.1, 0.5, 0.01, 0.125), keeps=False),
    _new_claude("claude-fable-5", (10, 50, 1, 12.5)),
    _new_claude("claude-fable-5-1", (10, 50, 0.25, 12.5)),
    _new_claude("claude-mythos-5", (10, 50, 1, 12.5)),
    _new_claude("claude-mythos-5-1", (10, 50, 0.25, 12.5)),
)

GPT = (
    _gpt("gpt-3.5-turbo", 16_385, 4_096, "tiles-85-170", 0.5, 1.5),
    _gpt("gpt-4", 8_192, 4_096, "tiles-85-170", 30, 60),
    _gpt("gpt-4-turbo", 128_000, 4_096, "tiles-85-170", 10, 30),
    _gpt("gpt-4o", 128_000, 16_384, "tiles-85-170", 2.5, 10, 1.25),
    _gpt("gpt-4o-mini", 128_000, 16_384, "tiles-2833-5667", 0.15, 0.6, 0.075),
    _gpt("gpt-4.1", 1_047_576, 32_768, "tiles-85-170", 2, 8, 0.5),
    _gpt("gpt-4.1-mini", 1_047_576, 32_768, "patches-1536-1.62", 0.4, 1.6, 0.1),
    _gpt("gpt-4.1-nano", 1_047_576, 32_768, "patches-1536-2.46", 0.1, 0.4, 0.025),
    _gpt("gpt-5", 272_000, 128_000, "tiles-70-140", 1.25, 10, 0.125),
    _gpt("gpt-5-mini", 272_000, 128_000, "patches-1536-1.2", 0.25, 2, 0.025),
    _gpt("gpt-5-nano", 272_000, 128_000, "patches-1536-2.46", 0.05, 0.4, 0.005),
    _gpt("gpt-5.1", 272_000, 128_000, "tiles-70-140", 1.25, 10, 0.125),
    _gpt("gpt-5.1-codex-mini", 272_000, 128_000, "patches-1536-1.2", 0.25, 2, 0.025),
    _gpt("gpt-5.2", 272_000, 128_000, "tiles-70-140", 1.75, 14, 0.175),
    _gpt("gpt-5.3", 272_000, 128_000, "tiles-70-140", 1.75, 14, 0.175),
    _gpt("gpt-5.4", 1_050_000, 128_000, "patches-10000-1.2", 2.5, 15, 0.25),
    _gpt("gpt-5.4-mini", 272_000, 128_000, "patches-10000-1.2", 0.75, 4.5, 0.075),
    _gpt("gpt-5.4-nano", 272_000, 128_000, "patches-10000-1.2", 0.2, 1.25, 0.02),
    _gpt("gpt-5.5", 1_050_000, 128_000, "patches-10000-1.2", 5, 30, 0.5),
    _gpt("gpt-5.6", 922_000, 128_000, "patches-10000-1.2", 4, 20, 0.4, 5, keeps=True),
    _gpt("gpt-5.6-terra", 922_000, 128_000, "patches-10000-1.2", 2, 12, 0.2, 2.5, keeps=True),
    _gpt("gpt-5.6-luna", 922_000, 128_000, "patches-10000-1.2", 0.2, 1.2, 0.02, 0.25, keeps=True),
    _gpt("o1", 200_000, 100_000, "tiles-75-150", 15, 60, 7.5),
    _gpt("o3", 200_000, 100_000, "tiles-75-150", 2, 8, 0.5),
    _gpt("o3-mini", 200_000, 100_000, "tiles-75-150", 1.1, 4.4, 0.55),
    _gpt("o4-mini", 200_000, 100_000, "patches-1536-1.72", 1.1, 4.4, 0.275),
)

GEMINI = (
    Row("gemini-2.0-flash", 1_048_576, 8_192, "gemini-2", 1.0),
    _gemini("gemini-2.5-flash", "gemini-2", 0.3, 2.5, 0.03),
    _gemini("gemini-2.5-flash-lite", "gemini-2", 0.1, 0.4, 0.01),
    _gemini("gemini-2.5-pro", "gemini-2", 1.25, 10, 0.125),
    _gemini("gemini-3-flash", "gemini-3", 0.5, 3, 0.05),
    _gemini("gemini-3-pro", "gemini-3", 2, 12, 0.2),
    _gemini("gemini-3.1-pro", "gemini-3", 2, 12, 0.2),
    _gemini("gemini-3.1-flash-lite", "gemini-3", 0.25, 1.5, 0.025),
    _gemini("gemini-3.5-flash", "gemini-3", 1.5, 9, 0.15),
    _gemini("gemini-3.5-flash-lite", "gemini-3", 0.3, 2.5, 0.03),
    _gemini("gemini-3.6-flash", "gemini-3", 0.75, 3.75, 0.075),
    _gemini("gemini-3.7-flash", "gemini-3", 0.75, 3.75, 0.075),
    _gemini("gemini-3.8-flash", "gemini-3", 0.75, 3.75, 0.075),
)

FAMILIES = {"claude": CLAUDE, "gpt": GPT, "gemini": GEMINI}
