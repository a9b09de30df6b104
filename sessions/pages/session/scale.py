"""The byte axis of the pressure chart: linear to the floor, logarithmic under it (design: Charts, Pressure)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.pages.ui.chart import nice_top

if TYPE_CHECKING:
    from sessions.pages.session.bars import Bar

LEAST_BOTTOM = 1_000_000


@dataclass(frozen=True, slots=True)
class ByteScale:
    """Where a byte count stands on the axis, in units of the linear part's height (0 baseline, 1 the floor).

    ``floor`` is B0 = T·k in bytes, T the top of the token axis and k the session's own bytes per token of text;
    ``bottom`` is Bmax in bytes; ``zone`` the height of the logarithmic part in the same unit.
    """

    floor: float
    bottom: float
    zone: float

    def place(self, n_bytes: float) -> float:
        """b/B0 up to the floor, then 1 + zone·log(b/B0)/log(Bmax/B0)."""
        if n_bytes <= self.floor:
            return n_bytes / self.floor
        return 1 + self.zone * math.log(n_bytes / self.floor) / math.log(self.bottom / self.floor)

    def ticks(self) -> list[int]:
        """One tick in the linear part, then the powers of ten in the zone that do not crowd the floor."""
        inside = [10**power for power in range(2, 13) if 0.2 * self.floor <= 10**power <= 0.8 * self.floor]
        inside += [2 * power for power in inside if not inside[1:] and 2 * power <= 0.4 * self.floor]
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


def token_top(largest: float) -> int:
    """The top of the token axis for the heaviest message."""
    return nice_top(largest)
