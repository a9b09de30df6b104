"""The prices of the models in use, as the settings page shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.costs.prices import KEYS, prices_of
from sessions.engine.models.model_info import OwnModel, model_info

if TYPE_CHECKING:
    from sessions.engine.costs.prices import Prices

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
    """One model's prices; ``known`` where it has list prices.

    ``large`` says what large requests cost where the list says so and nothing is given, "" elsewhere.
    """

    model: str
    known: bool
    cells: tuple[PriceCell, ...]
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
    prices = {key: getattr(listed, key) if listed else None for key in KEYS}
    cells = tuple(PriceCell(key, LABELS[key], given.get(key, ""), _written(prices[key])) for key in KEYS)
    return PricedModel(name, listed is not None, cells, "" if any(given.values()) else _large(listed))


def _large(listed: Prices | None) -> str:
    """The prices of large requests in words: "above 200,000 tokens of input: $2.5 input, $15 output"."""
    if listed is None or listed.large is None:
        return ""
    above, prices = listed.large
    return f"above {above:,} tokens of input: ${prices.input:g} input, ${prices.output:g} output"


def _written(price: float | None) -> str:
    return "none" if price is None else f"{price:g}"


@dataclass(frozen=True, slots=True)
class TableModel:
    """A model with its window and output limit in tokens, the one it counts like; ``is_own``: of the user's table."""

    name: str
    window: int
    max_output: int
    like: str
    is_own: bool
    known: bool
    label: str = "estimated"


@dataclass(frozen=True, slots=True)
class ModelTable:
    """The models in use and the user's own; ``place`` is the file, which the page edits where ``is_named`` is false."""

    rows: tuple[TableModel, ...]
    place: str
    is_named: bool
    problem: str


def model_table(
    names: Iterable[str], own: Mapping[str, OwnModel], place: str, *, is_named: bool, problem: str
) -> ModelTable:
    """Every model of ``names`` and of the user's ``own`` table."""
    every = sorted({*names, *own})
    return ModelTable(tuple(_table_row(name, own.get(name)) for name in every), place, is_named, problem)


def _table_row(name: str, own: OwnModel | None) -> TableModel:
    info = model_info(name)
    return TableModel(name, info.window, info.max_output, own.like if own else "", own is not None, info.known)
