"""What a token costs: the dated list price of a model, or prices given by hand (policies 14)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sessions.engine.base.errors import BadParameter
from sessions.engine.models.model_info import ModelInfo, model_info, normalised
from sessions.engine.models.models_table import DATE
from sessions.engine.weigh.calibration.weighed import Weighed

PER_MILLION = 1_000_000
HOUR_WRITE_FACTOR = 2.0
"""A cache write kept for an hour against the input price where no list says; one of 5 minutes is 1.25 (policies 14)."""
KEYS = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
RELATIVE = {"claude": (0.1, 1.25), "gpt": (0.1, None), "gemini": (0.25, None)}
"""Cache read and write against the input price, per family, where the table has no price (policies 14)."""


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens; ``cache_write`` None: writes carry no fee, they are plain input.

    ``cache_write_1h`` is the fee of a write kept for an hour; ``source`` says where the figures are from.  ``large``
    are the prices of a request whose input, cached or not, is above so many tokens (policies 14.4), None where the
    model has none.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float | None
    cache_write_1h: float | None
    source: str
    large: tuple[int, Prices] | None = None

    def at(self, tokens: int) -> Prices:
        """What all of a request with ``tokens`` of input is charged by."""
        return self if self.large is None or tokens <= self.large[0] else self.large[1]

    def fresh(self, *, hour: bool = False) -> float:
        """What a token costs that is sent and not read from the cache: a cache write where those are billed."""
        if self.cache_write is None or self.cache_write_1h is None:
            return self.input
        return self.cache_write_1h if hour else self.cache_write


def prices_of(model: ModelInfo, given: Mapping[str, float] | None = None) -> Prices | None:
    """The list prices of ``model`` with ``given`` ones (keys of ``KEYS``) in their place; None where none is known.

    A cache price that is not given keeps its relation to the input price; prices given stand for large requests, too.
    Raises BadParameter for an unknown key, a
    price that is no finite number ≥ 0, or a model without list prices of which only one of input and output is given.
    """
    given = _checked(given or {})
    base = given.get("input", model.input_price)
    output = given.get("output", model.output_price)
    if base is None or output is None:
        if given:
            raise BadParameter(f"no list price is known for {model.name or 'this model'}: give input and output")
        return None
    read, write, hour = _relations(model)
    fee = given.get("cache_write", None if write is None else write * base)
    default_hour = None if fee is None else hour * base
    return Prices(
        base,
        output,
        given.get("cache_read", read * base),
        fee,
        given.get("cache_write_1h", default_hour),
        f"{', '.join(given)} as given, the rest follows list prices" if given else f"list prices of {DATE}",
        None if given else _large(model, base),
    )


def _large(model: ModelInfo, base: float) -> tuple[int, Prices] | None:
    """The prices of large requests; what the list leaves out keeps its relation to the input price."""
    if model.large is None or not base:
        return None
    above, price, output, *listed = model.large
    times = (price or base) / base
    usual = (model.cache_read_price, model.cache_write_price, model.cache_write_1h_price)
    told = [found or (None if plain is None else plain * times) for found, plain in zip(listed, usual, strict=True)]
    read, write, hour = told if usual[1] is not None else (told[0], None, None)
    plain = prices_of(replace(
        model, large=None, input_price=price or base, output_price=output or model.output_price, cache_read_price=read,
        cache_write_price=write, cache_write_1h_price=hour,
    ))  # fmt: skip
    return None if plain is None else (above, plain)


def model_prices(model: str, weighed: Weighed, prices: Prices | None) -> Prices | None:
    """What the model that a request names costs: ``prices`` for the session's own, list prices otherwise."""
    own = normalised(weighed.transcript.model)
    name = model or weighed.transcript.model
    if normalised(name) == own:
        return prices or prices_of(weighed.model)
    return prices_of(model_info(name))


def step_prices(weighed: Weighed, prices: Prices | None = None) -> tuple[Prices | None, ...]:
    """What each request of the branch costs by its own model, else as the session's (policies 14.4), None without."""
    own = prices or prices_of(weighed.model)
    if own is None:
        return (None,) * len(weighed.steps)
    known = {name: model_prices(name, weighed, own) or own for name in set(weighed.asked)}
    return tuple(map(known.__getitem__, weighed.asked))


def _relations(model: ModelInfo) -> tuple[float, float | None, float]:
    """Cache read, write and hour-long write against the input price; a read without a discount costs as much."""
    price = model.input_price
    if not price:
        return (*RELATIVE.get(model.family, (1.0, None)), HOUR_WRITE_FACTOR)
    read = 1.0 if model.cache_read_price is None else model.cache_read_price / price
    write = None if model.cache_write_price is None else model.cache_write_price / price
    hour = HOUR_WRITE_FACTOR if model.cache_write_1h_price is None else model.cache_write_1h_price / price
    return read, write, hour


def _checked(given: Mapping[str, float]) -> dict[str, float]:
    for key, price in given.items():
        if key not in KEYS:
            raise BadParameter(f"no price {key!r}; known: {', '.join(KEYS)}")
        if not math.isfinite(price) or price < 0:
            raise BadParameter(f"a price is a number of dollars per million tokens from 0 on, not {price!r}")
    return {key: float(given[key]) for key in KEYS if key in given}
