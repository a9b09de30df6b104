"""A model table of the user's own: a TOML file of windows, output limits and prices that stands above the built-in one.

    [models."glm-5.2"]
    window = 1_000_000      # tokens of input at most; needed
    max_output = 131_072    # tokens
    like = "claude-opus-4-8"  # a listed model whose tokens and pictures it counts like
    input = 0.6             # US dollars per million tokens; output, cache_read, cache_write, cache_write_1h likewise

A name with a provider ("openrouter/z-ai/glm-5.2") is that seller's model alone; one without is every seller's.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from sessions.engine.base.errors import BadParameter
from sessions.engine.base.limits import MAX_TOKENS
from sessions.engine.models.model_info import OwnModel

TOKENS = ("window", "max_output")
PRICES = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
MOST_USD = 100_000
MOST_MODELS, MOST_NAME = 1_000, 100


def read_models(text: str, place: str = "the model table") -> dict[str, OwnModel]:
    """The models of a table by name; raises BadParameter, which says where and what is wrong."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadParameter(f"{place}: {error}") from error
    models = found.get("models", {})
    if not isinstance(models, dict) or set(found) - {"models"}:
        raise BadParameter(f'{place}: models are tables named [models."NAME"], and nothing stands beside them')
    if len(models) > MOST_MODELS:
        raise BadParameter(f"{place}: {len(models):,} models are more than {MOST_MODELS:,}")
    return {name.strip().lower(): one_model(name, facts, place) for name, facts in models.items()}


def write_models(models: Mapping[str, OwnModel]) -> str:
    """The table as TOML."""
    lines: list[str] = []
    for name, model in sorted(models.items()):
        lines += [f"[models.{_quoted(name)}]", f"window = {model.window}"]
        lines += [f"max_output = {model.max_output}"] if model.max_output else []
        lines += [f"like = {_quoted(model.like)}"] if model.like else []
        lines += [f"{key} = {price!r}" for key, price in zip(PRICES, model.prices, strict=True) if price is not None]
        lines.append("")
    return "\n".join(lines)


def one_model(name: str, facts: Any, place: str = "this model") -> OwnModel:
    """One model of its facts by key; raises BadParameter."""
    where = f"{place}, model {name[:60]!r}"
    if not name.strip() or len(name) > MOST_NAME or any(ord(c) < 32 or c in '"\\' for c in name):
        raise BadParameter(f"{where}: a name is 1 to {MOST_NAME} characters without quotes")
    if not isinstance(facts, dict):
        raise BadParameter(f"{where}: a table of window, max_output, like and prices")
    unknown = sorted(set(facts) - {*TOKENS, "like", *PRICES})
    if unknown:
        raise BadParameter(f"{where}: no key {unknown[0]!r}; known: {', '.join((*TOKENS, 'like', *PRICES))}")
    if "window" not in facts:
        raise BadParameter(f"{where}: window is missing: the tokens of input that a request may have")
    window, most = (_tokens(facts.get(key), f"{where}, {key}") for key in TOKENS)
    like = facts.get("like", "")
    if not isinstance(like, str) or len(like) > MOST_NAME or any(c in '"\\' for c in like):
        raise BadParameter(f"{where}, like: the name of a listed model")
    prices = [_price(facts.get(key), f"{where}, {key}") for key in PRICES]
    if any(price is not None for price in prices) and None in prices[:2]:
        raise BadParameter(f"{where}: prices need input and output")
    return OwnModel(window or 0, most, like.strip(), tuple(prices))


def _tokens(value: Any, where: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1_000 <= value <= MAX_TOKENS:
        raise BadParameter(f"{where}: a whole number of tokens from 1,000 to {MAX_TOKENS:,}, not {value!r}")
    return value


def _price(value: Any, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_USD:
        raise BadParameter(f"{where}: US dollars per million tokens from 0 on, not {value!r}")
    return float(value)


def _quoted(text: str) -> str:
    return f'"{text}"'
