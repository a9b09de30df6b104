"""The figures over many sessions, as the fleet page and its documents show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions import selectors
from sessions.engine.sweeps.fleet.groups import Added, add_up, fleet_document
from sessions.models import FiguresRun
from sessions.services import figures


@dataclass(frozen=True, slots=True)
class Fleet:
    """Sessions that have some values in common, added up; ``n_waiting`` of the library are not worked out yet."""

    sums: Added
    n_waiting: int
    run: FiguresRun | None

    @property
    def is_catching_up(self) -> bool:
        """Whether a worker has them in hand."""
        return bool(self.n_waiting) and self.run is not None and self.run.state in figures.UNFINISHED

    @property
    def document(self) -> dict[str, Any]:
        """``ctxweb.fleet/1``."""
        return fleet_document(self.sums, n_waiting=self.n_waiting)


def fleet(by: str, alike: Mapping[str, str]) -> Fleet:
    """The stored figures of the sessions that have the values of ``alike``: nothing is worked out here."""
    sums, n_waiting = add_up(selectors.fleet_parts(alike), by), selectors.n_without_figures()
    return Fleet(sums, n_waiting, figures.running() if n_waiting else None)
