"""Windows, output limits and prices as litellm 1.109.1 lists them (MIT); made by scripts/models_table.py."""

from __future__ import annotations

SOURCE = "litellm 1.109.1"

Figures = tuple[int, int, float | None, float | None, float | None, float | None, float | None]
"""Most input and most output tokens; USD per million tokens of input, output, cache read and cache write
(kept for 5 minutes, for an hour), None where not listed."""

LISTED: dict[str, Figures] = {
    "claude-haiku-4-5": (200_000, 64_000, 1, 5, 0.1, 1.25, 2),
    "claude-sonnet-4-5": (200_000, 64_000, 3, 15, 0.3, 3.75, 6),
    "claude-opus-4-5": (200_000, 64_000, 5, 25, 0.5, 6.25, 10),
    "claude-sonnet-4-6": (1_000_000, 128_000, 3, 15, 0.3, 3.75, 6),
    "claude-opus-4-6": (1_000_000, 128_000, 5, 25, 0.5, 6.25, 10),
    "claude-opus-4-7": (1_000_000, 128_000, 5, 25, 0.5, 6.25, 10),
    "claude-opus-4-8": (1_000_000, 128_000, 5, 25, 0.5, 6.25, 10),
    "claude-opus-5": (1_000_000, 128_000, 5, 25, 0.5, 6.25, 10),
    "claude-opus-5-5": (1_000_000, 128_000, 4, 20, 0.2, 5, 8),
    "claude-sonnet-5": (1_000_000, 128_000, 2, 10, 0.2, 2.5, 4),
    "claude-sonnet-5-5": (1_000_000, 128_000, 2, 10, 0.1, 2.5, 4),
    "claude-haiku-5-5": (1_000_000, 128_000, 0.1, 0.5, 0.01, 0.125, 0.2),
    "claude-fable-5": (1_000_000, 128_000, 10, 50, 1, 12.5, 20),
    "claude-fable-5-1": (1_000_000, 128_000, 10, 50, 0.25, 12.5, 20),
    "claude-mythos-5": (1_000_000, 128_000, 10, 50, 1, 12.5, 20),
    "claude-mythos-5-1": (1_000_000, 128_000, 10, 50, 0.25, 12.5, 20),
    "gpt-3.5-turbo": (16_385, 4_096, 0.5, 1.5, None, None, None),
    "gpt-4": (8_192, 4_096, 30, 60, None, None, None),
    "gpt-4-turbo": (128_000, 4_096, 10, 30, None, None, None),
    "gpt-4o": (128_000, 16_384, 2.5, 10, 1.25, None, None),
    "gpt-4o-mini": (128_000, 16_384, 0.15, 0.6, 0.075, None, None),
    "gpt-4.1": (1_047_576, 32_768, 2, 8, 0.5, None, None),
    "gpt-4.1-mini": (1_047_576, 32_768, 0.4, 1.6, 0.1, None, None),
    "gpt-4.1-nano": (1_047_576, 32_768, 0.1, 0.4, 0.025, None, None),
    "gpt-5": (272_000, 128_000, 1.25, 10, 0.125, None, None),
    "gpt-5-mini": (272_000, 128_000, 0.25, 2, 0.025, None, None),
    "gpt-5-nano": (272_000, 128_000, 0.05, 0.4, 0.005, None, None),
    "gpt-5.1": (272_000, 128_000, 1.25, 10, 0.125, None, None),
    "gpt-5.1-codex-mini": (400_000, 128_000, 0.25, 2, 0.025, None, None),
    "gpt-5.2": (272_000, 128_000, 1.75, 14, 0.175, None, None),
    "gpt-5.4": (1_050_000, 128_000, 2.5, 15, 0.25, None, None),
    "gpt-5.4-mini": (272_000, 128_000, 0.75, 4.5, 0.075, None, None),
    "gpt-5.4-nano": (272_000, 128_000, 0.2, 1.25, 0.02, None, None),
    "gpt-5.5": (1_050_000, 128_000, 5, 30, 0.5, None, None),
    "gpt-5.6": (922_000, 128_000, 4, 20, 0.4, 5, None),
    "gpt-5.6-terra": (922_000, 128_000, 2, 12, 0.2, 2.5, None),
    "gpt-5.6-luna": (922_000, 128_000, 0.2, 1.2, 0.02, 0.25, None),
    "o1": (200_000, 100_000, 15, 60, 7.5, None, None),
    "o3": (200_000, 100_000, 2, 8, 0.5, None, None),
    "o3-mini": (200_000, 100_000, 1.1, 4.4, 0.55, None, None),
    "o4-mini": (200_000, 100_000, 1.1, 4.4, 0.275, None, None),
    "gemini-2.5-flash": (1_048_576, 65_535, 0.3, 2.5, 0.03, None, None),
    "gemini-2.5-flash-lite": (1_048_576, 65_535, 0.1, 0.4, 0.01, None, None),
    "gemini-2.5-pro": (1_048_576, 65_535, 1.25, 10, 0.125, None, None),
    "gemini-3-flash": (1_048_576, 65_535, 0.5, 3, 0.05, None, None),
    "gemini-3.1-pro": (1_048_576, 65_536, 2, 12, 0.2, None, None),
    "gemini-3.1-flash-lite": (1_048_576, 65_536, 0.25, 1.5, 0.025, None, None),
    "gemini-3.5-flash": (1_048_576, 65_535, 1.5, 9, 0.15, None, None),
    "gemini-3.5-flash-lite": (1_048_576, 65_536, 0.3, 2.5, 0.03, None, None),
    "gemini-3.6-flash": (1_048_576, 65_536, 0.75, 3.75, 0.075, None, None),
    "gemini-3.7-flash": (1_048_576, 65_536, 0.75, 3.75, 0.075, None, None),
    "gemini-3.8-flash": (1_048_576, 65_536, 0.75, 3.75, 0.075, None, None),
}

LARGE: dict[str, tuple[int, float | None, float | None, float | None, float | None, float | None]] = {
    "claude-haiku-5-5": (100_000, 0.5, 2.5, 0.05, 0.625, 1),
    "gpt-5.4": (272_000, 5, 22.5, 0.5, None, None),
    "gpt-5.5": (272_000, 10, 45, 1, None, None),
    "gpt-5.6": (272_000, 8, 30, 0.8, 10, None),
    "gpt-5.6-terra": (272_000, 4, 18, 0.4, 5, None),
    "gpt-5.6-luna": (272_000, 0.4, 1.8, 0.04, 0.5, None),
    "gemini-2.5-pro": (200_000, 2.5, 15, 0.25, 0.25, None),
    "gemini-3.1-pro": (200_000, 4, 18, 0.4, 0.25, None),
}
"""Of models with other prices for large requests: the input in tokens above which all of a request has them,
and those prices, in the order above."""
