"""The prices of the models in use, as the settings page shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.model_info import model_info
from sessions.engine.prices import KEYS, prices_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LABELS = {
    "input": "Input",
    "output": "Output",
    "cache_read": "Cache read",
    "cache_write": "Cache write",
    "cache_write_1h": "Cache write for an hour",
}


@dataclass(frozen=True, slots=True)
class PriceCell:
    """One price: what is given and the list price, in dollars per million tokens, "" where there is none."""

    key: str
    label: str
    given: str
    listed: str


@dataclass(frozen=True, slots=True)
class PricedModel:
    """One model's prices; ``known`` where it has list prices."""

    model: str
    known: bool
    cells: tuple[PriceCell, ...]


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
    prices = {key: getattr(listed, key) if listed else None for key in KEYS}
    cells = tuple(PriceCell(key, LABELS[key], given.get(key, ""), _written(prices[key])) for key in KEYS)
    return PricedModel(name, listed is not None, cells)


def _written(price: float | None) -> str:
    return "none" if price is None else f"{price:g}"
