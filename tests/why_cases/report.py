"""One rebuilt report: where it stands, how it is rebuilt, and what the first line has to say about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.engine.weigh.calibration.weighed import Weighed

CONTROL, TOLD, UNTOLD = "control", "told", "cannot be told"


class Report(NamedTuple):
    """A session and the first line it deserves.

    ``causes`` are those that are right, the best one first; () where nothing is to be named at all.  ``what`` is the
    kind of point that leads.  ``sure``: "certain" may be said.  ``figures`` stand among the evidence of the leading
    point.  ``group``: a healthy control, a cause that the file shows, or one that it does not.
    """

    build: Callable[[], Weighed]
    what: str
    causes: tuple[str, ...]
    sure: bool = False
    group: str = TOLD
    figures: tuple[int, ...] = ()
