"""What a pressure chart shows: one bar per message, binned above 1,500, and the byte axis it stands on.

The axis grows with the square root to the floor, so that ordinary messages show beside giants, and with the logarithm
under it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sessions.engine.sweeps.fleet.values import OVERCOUNTED
from sessions.pages.ui.chart import spans

MOST_BARS, BINS = 1_500, 800
"""So many messages have a bar each; of more there are so many bins, about one for each pixel, and more at a zoom."""
MOST_ALONE = 400
"""So many over-counted messages and summaries each have a bar of their own; of more, the worst of every span has."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One message, or a bin of neighbours shown by its heaviest.

    ``tokens`` by kind; ``bytes`` on the wire, in a bin the most of any message; ``overcount`` the worst factor of a
    block in it; ``last`` the last message of a bin, -1 for one message; ``heaviest`` the message of a bin with most
    tokens, whose tokens it shows; ``said`` who it is from and what is in it; ``weight`` tokens and bytes of its most
    over-counted block.
    """

    index: int
    tokens: Mapping[str, int] = field(default_factory=dict)
    n_bytes: int = 0
    overcount: float | None = None
    what: str = ""
    last: int = -1
    heaviest: int = -1
    said: str = ""
    weight: tuple[int, int] | None = None

    @property
    def total(self) -> int:
        return sum(self.tokens.values())

    @property
    def flagged(self) -> bool:
        """Over-counted by bytes ten times or more: drawn in red, and alone as long as such bars are few."""
        return self.overcount is not None and self.overcount >= OVERCOUNTED

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


class Mark(NamedTuple):
    """A refusal, a clearing or a fall on the context's line; ``fell``: by how many tokens, where it did."""

    at: float
    tokens: int
    words: str
    fell: int = 0
    is_recorded: bool = True


class Cut(NamedTuple):
    """A recorded compaction on the message axis, and the ``threshold`` that was passed; tokens, None where unknown."""

    at: float
    before: int | None
    after: int | None
    is_false: bool = False
    threshold: int | None = None


@dataclass(frozen=True, slots=True)
class Pressure:
    """What the chart shows: a bar per message, (message, tokens, request) of each request in message order.

    ``measure`` is the name of the byte measure.  Falls without a record are among the ``cleared`` marks.  ``layers``
    is what fills each of the contexts, of ``LAYERS``.  ``told`` gives a bar that is shown its words: a long session
    has many more bars than that.
    """

    bars: Sequence[Bar]
    contexts: Sequence[tuple[int, int, int]]
    compactions: Sequence[Cut]
    window: int
    bytes_per_token: float
    measure: str = "bytes"
    refused: Sequence[Mark] = ()
    cleared: Sequence[Mark] = ()
    told: Callable[[Bar], Bar] = field(default=lambda bar: bar)
    layers: Sequence[tuple[int, ...]] = ()


def binned(bars: Sequence[Bar], most: int = MOST_BARS, near: tuple[int, int] | None = None) -> list[Bar]:
    """At most about ``most`` bars: neighbours give way to their heaviest, in tokens and in bytes each.

    Stacking the maximum of every kind would draw messages that never were, so a bin shows the kinds of its heaviest
    message.  Flagged messages and summaries keep their own bar while they are few.  ``near`` are two messages between
    which the bars are finer, down to one for each message.
    """
    if len(bars) <= most:
        return list(bars)
    alone = [bar for bar in bars if bar.flagged or "summary" in bar.tokens]
    parts = spans(len(bars), min(most, BINS), near, min(most, BINS))
    if len(alone) > MOST_ALONE:
        worst = (_worst([bars[at] for at in span]) for span in spans(len(bars), MOST_ALONE // 2, near))
        alone = [bar for pair in worst for bar in pair]
    left = {bar.index for bar in alone}
    groups = ([bars[at] for at in span if at not in left] for span in parts)
    return sorted([*map(_bin, filter(None, groups)), *alone], key=lambda bar: bar.centre)


def _worst(bars: Sequence[Bar]) -> Iterable[Bar]:
    """The most over-counted and the heaviest summary, as far as there are any."""
    flagged = max((bar for bar in bars if bar.flagged), key=lambda bar: bar.overcount or 0, default=None)
    summary = max((bar for bar in bars if "summary" in bar.tokens), key=lambda bar: bar.total, default=None)
    return {bar.index: bar for bar in (flagged, summary) if bar is not None}.values()


def _bin(group: list[Bar]) -> Bar:
    if len(group) == 1:
        return group[0]
    heaviest = max(group, key=lambda bar: bar.total)
    n_bytes = max(bar.n_bytes for bar in group)
    first, last = group[0].index, group[-1].index
    return Bar(first, heaviest.tokens, n_bytes, heaviest.overcount, heaviest.what, last, heaviest.index, heaviest.said)


LEAST_BOTTOM = 1_000_000


@dataclass(frozen=True, slots=True)
class ByteScale:
    """Where a byte count stands on the axis, in units of the upper part's height (0 baseline, 1 the floor).

    ``floor`` is B0 = T·k in bytes, T the top of the token axis and k the session's own bytes per token of text;
    ``bottom`` is Bmax in bytes; ``zone`` the height of the logarithmic part in the same unit.
    """

    floor: float
    bottom: float
    zone: float

    def place(self, n_bytes: float) -> float:
        """√(b/B0) up to the floor, then 1 + zone·log(b/B0)/log(Bmax/B0)."""
        if n_bytes <= self.floor:
            return math.sqrt(max(n_bytes, 0) / self.floor)
        return 1 + self.zone * math.log(n_bytes / self.floor) / math.log(self.bottom / self.floor)

    def ticks(self) -> list[int]:
        """One tick in the upper part, then the powers of ten in the zone that do not crowd the floor."""
        inside = [10**power for power in range(2, 13) if 0.1 * self.floor < 10**power <= self.floor]
        zone = [10**power for power in range(3, 13) if self.floor * 1.5 < 10**power <= self.bottom]
        return [*inside[-1:], *zone]


def byte_scale(top_tokens: float, bytes_per_token: float, largest: float, zone: float) -> ByteScale:
    """The scale of a session: ``largest`` is its heaviest message in bytes; Bmax is twice that, at least 1 MB."""
    floor = max(top_tokens, 1) * bytes_per_token
    bottom = max(2 * largest, LEAST_BOTTOM, 10 * floor)
    return ByteScale(floor=floor, bottom=bottom, zone=zone)


def placed(scale: ByteScale, bar: Bar) -> float:
    """Where the foot of a bar stands, rounded to what a screen can show."""
    return round(scale.place(bar.n_bytes), 4)


def raised(bar: Bar, kind: str, top: int) -> float:
    """How high one kind of a bar stands: its share of the bar, which grows with the square root; the top is 1."""
    return round(bar.tokens[kind] / bar.total * math.sqrt(bar.total / top), 4)
