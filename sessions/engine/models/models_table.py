"""Context windows, output limits and prices of model families, reviewed by hand.

Figures are those of ``models_listed``, which ``scripts/models_table.py`` makes from a maintained list; what is not
listed there, or listed otherwise than it is, stands in ``HAND`` with the reason.  Token priors and image rules come
from estimators 6, 9, 10 and 11.  What was not found is None.  A window is the most *input* a request may carry.

Windows of Claude before Opus 4.8 are the 200,000 that clients work with unless the name ends in ``[1m]`` (policies
4.1), although the API takes ``long_window`` tokens from the models that have one.  Later ones take all of it from the
start; what a client or a seller makes of a model stands in ``model_info``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sessions.engine.models.models_listed import LARGE, LISTED, Figures

DATE = "2026-11-22"
"""When the figures were last reviewed."""
OLD_CLAUDE, NEW_CLAUDE = 1.18, 1.53
"""Tokens per o200k token of the Claude tokenizers before, and since, Opus 4.7 (estimators 6)."""

Prices = tuple[float | None, float | None, float | None, float | None, float | None]
UNPRICED: Prices = (None, None, None, None, None)
Large = tuple[int, float | None, float | None, float | None, float | None, float | None]
"""The input in tokens above which all of a request has other prices, and those."""
NOT_LISTED: Figures = (200_000, 32_000, None, None, None, None, None)
LONG = 1_000_000

_RETIRED = "no longer listed: the last list prices"
HAND: dict[str, tuple[Figures, str]] = {
    "claude-3-haiku": ((200_000, 4_096, *UNPRICED), "no longer listed, prices not at hand"),
    "claude-3-sonnet": ((200_000, 4_096, *UNPRICED), "no longer listed, prices not at hand"),
    "claude-3-opus": ((200_000, 4_096, 15, 75, 1.5, 18.75, 30), _RETIRED),
    "claude-3-5-haiku": ((200_000, 8_192, 0.8, 4, 0.08, 1, 1.6), _RETIRED),
    "claude-3-5-sonnet": ((200_000, 8_192, 3, 15, 0.3, 3.75, 6), _RETIRED),
    "claude-3-7-sonnet": ((200_000, 64_000, 3, 15, 0.3, 3.75, 6), _RETIRED),
    "claude-sonnet-4": ((LONG, 64_000, 3, 15, 0.3, 3.75, 6), _RETIRED),
    "claude-opus-4": ((200_000, 32_000, 15, 75, 1.5, 18.75, 30), _RETIRED),
    "claude-opus-4-1": ((200_000, 32_000, 15, 75, 1.5, 18.75, 30), _RETIRED),
    "claude-sonnet-4-5": ((LONG, 64_000, 3, 15, 0.3, 3.75, 6), "the long window, behind a beta header, is not listed"),
    "gpt-5.1-codex-mini": ((272_000, 128_000, 0.25, 2, 0.025, None, None), "listed with its output in the window"),
    "gpt-5.3": ((272_000, 128_000, 1.75, 14, 0.175, None, None), "only its chat and Codex variants are listed"),
    "gemini-2.0-flash": ((1_048_576, 8_192, *UNPRICED), "retired, only its image variant is listed"),
    "gemini-3-pro": ((1_048_576, 65_536, 2, 12, 0.2, None, None), "retired, only its image variant is listed"),
}
"""Figures by hand, and why the list is not followed.  Cache writes kept for an hour cost twice the input."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One family; ``prefix`` is matched against the normalised name, the longest one wins."""

    prefix: str
    window: int
    max_output: int
    image_tier: str
    text_prior: float
    prices: Prices = UNPRICED
    """Input, output, cache read, cache write kept for 5 minutes, and for an hour."""
    long_window: int | None = None
    keeps_thinking: bool = False
    large: Large | None = None
    note: str = ""
    """Why its figures are not those of the list, "" where they are."""


def _row(prefix: str, image_tier: str, text_prior: float, *, keeps: bool = False, most: int | None = None) -> ModelRow:
    """A row with its figures; ``most`` bounds the plain window, what goes beyond it is the long one."""
    figures, note = HAND[prefix] if prefix in HAND else (LISTED.get(prefix, NOT_LISTED), "")
    listed, max_output, *prices = figures
    window = min(listed, most or listed)
    price_in, price_out, read, write, write_1h = prices
    return ModelRow(
        prefix, window, max_output, image_tier, text_prior, (price_in, price_out, read, write, write_1h),
        listed if listed > window else None, keeps, LARGE.get(prefix), note,
    )  # fmt: skip


def _claude(*names: str, keeps: bool = False) -> Iterator[ModelRow]:
    return (_row(f"claude-{name}", "standard", OLD_CLAUDE, keeps=keeps, most=200_000) for name in names)


def _new_claude(*names: str, keeps: bool = True, most: int | None = None) -> Iterator[ModelRow]:
    return (_row(f"claude-{name}", "high-res", NEW_CLAUDE, keeps=keeps, most=most) for name in names)


def _others(image_tier: str, *names: str, keeps: bool = False) -> Iterator[ModelRow]:
    return (_row(name, image_tier, 1.0, keeps=keeps) for name in names)


CLAUDE = (
    *_claude("3-haiku", "3-sonnet", "3-opus", "3-5-haiku", "3-5-sonnet", "3-7-sonnet"),
    *_claude("sonnet-4", "opus-4", "opus-4-1", "haiku-4-5", "sonnet-4-5"),
    *_claude("opus-4-5", "sonnet-4-6", "opus-4-6", keeps=True),
    *_new_claude("opus-4-7", most=200_000),
    *_new_claude("opus-4-8", "opus-5", "opus-5-5", "sonnet-5", "sonnet-5-5"),
    *_new_claude("haiku-5-5", keeps=False),
    *_new_claude("fable-5", "fable-5-1", "mythos-5", "mythos-5-1"),
)
GPT = (
    *_others("tiles-85-170", "gpt-3.5-turbo", "gpt-4", "gpt-4-turbo", "gpt-4o"),
    *_others("tiles-2833-5667", "gpt-4o-mini"),
    *_others("tiles-85-170", "gpt-4.1"),
    *_others("patches-1536-1.62", "gpt-4.1-mini"),
    *_others("patches-1536-2.46", "gpt-4.1-nano"),
    *_others("tiles-70-140", "gpt-5"),
    *_others("patches-1536-1.2", "gpt-5-mini"),
    *_others("patches-1536-2.46", "gpt-5-nano"),
    *_others("tiles-70-140", "gpt-5.1"),
    *_others("patches-1536-1.2", "gpt-5.1-codex-mini"),
    *_others("tiles-70-140", "gpt-5.2", "gpt-5.3"),
    *_others("patches-10000-1.2", "gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano", "gpt-5.5"),
    *_others("patches-10000-1.2", "gpt-5.6", "gpt-5.6-terra", "gpt-5.6-luna", keeps=True),
    *_others("tiles-75-150", "o1", "o3", "o3-mini"),
    *_others("patches-1536-1.72", "o4-mini"),
)
GEMINI = (
    *_others("gemini-2", "gemini-2.0-flash", "gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-2.5-pro"),
    *_others("gemini-3", "gemini-3-flash", "gemini-3-pro", "gemini-3.1-pro", "gemini-3.1-flash-lite"),
    *_others("gemini-3", "gemini-3.5-flash", "gemini-3.5-flash-lite"),
    *_others("gemini-3", "gemini-3.6-flash", "gemini-3.7-flash", "gemini-3.8-flash"),
)
OTHERS = "unknown"
"""The family of models whose tokenizer is not established here."""
NO_RULE = "standard"
"""The rule that stands in where a model's own is not established: Claude's."""
QWEN_28, QWEN_32 = "qwen-28-1280", "qwen-32-2560"
KIMI, KIMI_3, GLM, GROK = "kimi-16384", "kimi-65536", "glm-6144", "xai"
WINDOWS: tuple[tuple[str, int, str], ...] = (
    ("deepseek-v4-pro", 1_000_000, NO_RULE), ("deepseek-v4-flash", 1_000_000, NO_RULE),
    ("deepseek-v4-flash-free", 200_000, NO_RULE), ("deepseek-chat", 1_000_000, NO_RULE),
    ("glm-4.5", 131_072, NO_RULE), ("glm-4.6", 204_800, NO_RULE), ("glm-4.7", 204_800, NO_RULE),
    ("glm-5", 204_800, NO_RULE), ("glm-5.1", 200_000, NO_RULE), ("glm-5.2", 1_000_000, NO_RULE),
    ("glm-5.3", 1_000_000, NO_RULE), ("glm-4.5v", 65_536, GLM), ("glm-4.6v", 131_072, GLM),
    ("glm-4.6v-flash", 131_072, GLM), ("glm-5v-turbo", 200_000, NO_RULE),
    ("kimi-k2.5", 262_144, KIMI), ("kimi-k2.6", 262_144, KIMI), ("kimi-k2.7-code", 262_144, KIMI),
    ("kimi-k3", 1_048_576, KIMI_3), ("kimi-k3.1-pro", 1_000_000, NO_RULE),
    ("grok-2-vision", 32_768, GROK), ("grok-4", 256_000, GROK), ("grok-4-fast", 2_000_000, GROK),
    ("grok-4-fast-reasoning", 2_000_000, GROK), ("grok-4-fast-non-reasoning", 2_000_000, GROK),
    ("grok-4.3", 1_000_000, GROK), ("grok-4.20", 1_000_000, GROK), ("grok-4.5", 500_000, GROK),
    ("grok-4.6", 500_000, GROK), ("grok-build-0.1", 256_000, GROK),
    ("minimax-m2", 204_800, NO_RULE), ("minimax-m2.1", 204_800, NO_RULE), ("minimax-m2.5", 204_800, NO_RULE),
    ("minimax-m2.7", 204_800, NO_RULE), ("minimax-m3", 1_000_000, NO_RULE),
    ("qwen3-coder", 262_144, NO_RULE), ("qwen3-coder-plus", 1_048_576, NO_RULE),
    ("qwen2.5-vl-7b", 131_072, QWEN_28), ("qwen2.5-vl-32b", 131_072, QWEN_28), ("qwen2.5-vl-72b", 131_072, QWEN_28),
    ("qwen3-vl-plus", 262_144, QWEN_32), ("qwen3-vl-flash", 262_144, QWEN_32),
    ("qwen3-vl-235b-a22b", 262_144, QWEN_32), ("qwen3-vl-32b", 262_144, QWEN_32),
    ("qwen3.5-plus", 1_000_000, QWEN_32), ("qwen3.6-plus", 1_000_000, QWEN_32),
    ("qwen3.7-max", 1_000_000, NO_RULE), ("qwen3.7-plus", 1_000_000, NO_RULE),
    ("mimo-v2.5", 1_048_576, NO_RULE), ("devstral-2512", 262_144, NO_RULE), ("mistral-medium-2604", 262_144, NO_RULE),
    ("step-3.5-flash", 256_000, NO_RULE),
)  # fmt: skip
"""Windows (models.dev, 2026-07; docs.x.ai; docs.z.ai; Model Studio) and image rules of models of which no more is
established: their text counts as an unlisted model's, and they have no price."""

FAMILIES = {"claude": CLAUDE, "gpt": GPT, "gemini": GEMINI}
BY_WINDOW = tuple(ModelRow(name, window, NOT_LISTED[1], tier, OLD_CLAUDE) for name, window, tier in WINDOWS)
