"""The figures over many sessions, as the fleet page and its documents show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions import selectors
from sessions.engine.fleet.groups import Group, Threshold, fleet_document, grouped, thresholds, together
from sessions.services import figures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.engine.fleet.values import Part
    from sessions.models import FiguresRun


@dataclass(frozen=True, slots=True)
class Fleet:
    """Sessions that have some values in common, grouped; ``n_waiting`` of the library are not worked out yet."""

    by: str
    total: Group
    groups: tuple[Group, ...]
    thresholds: tuple[Threshold, ...]
    n_replayed: int
    n_waiting: int
    run: FiguresRun | None
    parts: tuple[Part, ...]

    @property
    def is_catching_up(self) -> bool:
        """Whether a worker has them in hand."""
        return bool(self.n_waiting) and self.run is not None and self.run.state in figures.UNFINISHED

    @property
    def document(self) -> dict[str, Any]:
        """``ctxweb.fleet/1``."""
        return fleet_document(self.parts, self.by, n_waiting=self.n_waiting)


def fleet(by: str, alike: Mapping[str, str]) -> Fleet:
    """The stored figures of the sessions that have the values of ``alike``: nothing is worked out here."""
    parts, n_waiting = selectors.fleet_parts(alike)
    return Fleet(
        by, together("", parts), grouped(parts, by), thresholds(parts), sum(bool(part.tried) for part in parts),
        n_waiting, figures.running() if n_waiting else None, tuple(parts),
    )  # fmt: skip
