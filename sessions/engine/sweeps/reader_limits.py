"""The limits that a reader sets on the settings of a sweep."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sessions.engine.base.amounts import read_amount
from sessions.engine.base.errors import BadParameter
from sessions.engine.sweeps.floors import SWEPT

if TYPE_CHECKING:
    from sessions.engine.sweeps.sweep import Row


def read_floors(pairs: Mapping[str, object]) -> dict[str, float]:
    """``max_compactions=3`` and the like as numbers; raises BadParameter for a name or a value that is none."""
    floors: dict[str, float] = {}
    for name, value in pairs.items():
        side, _, field = name.partition("_")
        if side not in {"max", "min"} or field not in SWEPT:
            raise BadParameter(f"Unknown limit {name!r}. Known: max_ or min_ with {', '.join(SWEPT)}")
        try:
            floors[name] = read_amount(str(value))
        except ValueError:
            raise BadParameter(f"{name} is a number, not {value!r}") from None
        if math.isnan(floors[name]):
            raise BadParameter(f"{name} is a number, not {value!r}")
    return floors


def keeps(row: Row, floors: Mapping[str, float]) -> bool:
    """Whether a row fits into its window and keeps every floor; a cost that is not known keeps none."""
    if not row.fits:
        return False
    for name, limit in floors.items():
        side, _, field = name.partition("_")
        known = row.totals.cost
        if field == "cost":
            value = None if known is None else known.middle
        else:
            value = row.more.get(field, getattr(row.totals, SWEPT.get(field, field), None))
        if value is None or (value > limit if side == "max" else value < limit):
            return False
    return True
