"""The prices of the models in use, as the settings page shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sessions.engine.costs.prices import KEYS, Prices, prices_of
from sessions.engine.models.model_info import ModelInfo, OwnModel, model_info

LABELS = {
    "input": "Input",
    "output": "Output",
    "cache_read": "Cache read",
    "cache_write": "Cache write",
    "cache_write_1h": "Cache write for an hour",
}


@dataclass(frozen=True, slots=True)
class PricedModel:
    """One model's prices in dollars per million tokens: name, label, what is given, the list price; "" for none.

    ``known`` where it has list prices; ``large`` says what large requests cost where the list does and nothing is
    given, "" elsewhere.
    """

    model: str
    known: bool
    cells: tuple[tuple[str, str, str, str], ...]
    large: str = ""


def priced_models(
    names: Iterable[str], given: Mapping[str, Mapping[str, float]], wrong: str, posted: Mapping[str, str]
) -> tuple[PricedModel, ...]:
    """Every model of ``names`` with the prices ``given``; ``posted`` are the refused entries of the model ``wrong``."""
    return tuple(
        _model(name, posted if name == wrong else {k: f"{v:g}" for k, v in given.get(name, {}).items()})
        for name in names
    )


def _model(name: str, given: Mapping[str, str]) -> PricedModel:
    listed = prices_of(model_info(name))
    known = {key: getattr(listed, key) if listed else None for key in KEYS}
    prices = {key: "none" if price is None else f"{price:g}" for key, price in known.items()}
    cells = tuple((key, LABELS[key], given.get(key, ""), prices[key]) for key in KEYS)
    return PricedModel(name, listed is not None, cells, "" if any(given.values()) else _large(listed))


def _large(listed: Prices | None) -> str:
    """The prices of large requests in words: "above 200,000 tokens of input: $2.5 input, $15 output"."""
    if listed is None or listed.large is None:
        return ""
    above, prices = listed.large
    return f"above {above:,} tokens of input: ${prices.input:g} input, ${prices.output:g} output"


def model_rows(names: Iterable[str], own: Mapping[str, OwnModel]) -> list[tuple[str, ModelInfo, OwnModel | None]]:
    """Every model of ``names`` and of the user's ``own`` table, with what is known of it and what that table says."""
    return [(name, model_info(name), own.get(name)) for name in sorted({*names, *own})]
