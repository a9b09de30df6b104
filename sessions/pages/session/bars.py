"""What a pressure chart shows: one bar per message, binned above 1,500, and what stands around them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sessions.runs.overview import FLAGGED_FROM

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_BARS = 1_500


@dataclass(frozen=True, slots=True)
class Bar:
    """One message, or a bin of neighbours shown by its heaviest.

    ``tokens`` by kind; ``bytes`` on the wire; ``overcount`` the worst factor of a block in it; ``last`` the last
    message of a bin (equal to ``index`` for one message); ``heaviest`` the message whose figures the bin shows.
    """

    index: int
    tokens: Mapping[str, int] = field(default_factory=dict)
    n_bytes: int = 0
    overcount: float | None = None
    what: str = ""
    last: int = -1
    heaviest: int = -1

    @property
    def total(self) -> int:
        """Tokens of the message, all kinds."""
        return sum(self.tokens.values())

    @property
    def flagged(self) -> bool:
        """Over-counted by bytes ten times or more: drawn in red and never binned."""
        return self.overcount is not None and self.overcount >= FLAGGED_FROM

    @property
    def centre(self) -> float:
        """Where the bar stands on the message axis."""
        return self.index if self.last < 0 else (self.index + self.last) / 2

    @property
    def width(self) -> int:
        """How many messages the bar stands for."""
        return 1 if self.last < 0 else self.last - self.index + 1

    @property
    def message(self) -> int:
        """The message that a click on the bar opens."""
        return self.index if self.heaviest < 0 else self.heaviest


@dataclass(frozen=True, slots=True)
class Pressure:
    """What the chart shows.

    ``bars`` one per message; ``contexts`` (message, tokens) of each request in message order, ``context_label`` how
    they are known; ``compactions`` (message, tokens before, tokens after), None where unknown; ``window`` and
    ``bytes_per_token`` of the session; ``measure`` the name of the byte measure.
    """

    bars: Sequence[Bar]
    contexts: Sequence[tuple[int, int]]
    context_label: str
    compactions: Sequence[tuple[float, int | None, int | None]]
    window: int
    bytes_per_token: float
    measure: str = "wire bytes"


def binned(bars: Sequence[Bar], most: int = MOST_BARS) -> list[Bar]:
    """At most about ``most`` bars: neighbours give way to their heaviest, in tokens and in bytes each.

    Stacking the maximum of every kind would draw messages that never were, so a bin shows the kinds of its heaviest
    message.  Flagged messages and summaries keep their own bar.
    """
    if len(bars) <= most:
        return list(bars)
    size = math.ceil(len(bars) / most)
    kept = [bar for bar in bars if bar.flagged or "summary" in bar.tokens]
    out: list[Bar] = []
    for start in range(0, len(bars), size):
        group = [bar for bar in bars[start : start + size] if not (bar.flagged or "summary" in bar.tokens)]
        if group:
            out.append(_bin(group))
    return sorted(out + kept, key=lambda bar: bar.centre)


def _bin(group: list[Bar]) -> Bar:
    heaviest = max(group, key=lambda bar: bar.total)
    n_bytes = max(bar.n_bytes for bar in group)
    first, last = group[0].index, group[-1].index
    return Bar(first, heaviest.tokens, n_bytes, heaviest.overcount, heaviest.what, last, heaviest.index)
