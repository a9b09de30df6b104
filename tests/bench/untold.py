"""How much one growth may tell of what no line tells: halves of the corpus drawn at random, one of them held out."""

from __future__ import annotations

import random
import statistics
from typing import TYPE_CHECKING

from sessions.engine.weigh.calibration.hidden import LARGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.bench.corpus import Grown, Outcome

CAPS = (0, 500, 1_000, 1_500, 2_500)
"""Tokens of one growth that count at most; 0 fits no share."""
N_DRAWN = 60
MOST_BIAS, MOST_WEIGHTED = 0.01, 0.06


def share_of(grown: Sequence[Grown], cap: int) -> float:
    """What growths hold beyond their estimates, ``cap`` tokens each at most, as a share of the large ones."""
    large = sum(g.estimated for g in grown if g.estimated > LARGE)
    return max(0.0, sum(min(-g.error, cap) for g in grown) / large) if large else 0.0


def held_out(plain: Sequence[Outcome]) -> Iterator[list[str]]:
    """By cap: mean and spread of the bias of the half that was held out, its weighted error, and how often both fit.

    ``plain`` are outcomes without any share; halves are drawn by session.
    """
    for cap in CAPS:
        biases, errors = [], []
        for number in range(N_DRAWN):
            drawn = random.Random(number).sample(plain, len(plain))
            one, other = ([g for o in half for g in o.grown] for half in (drawn[::2], drawn[1::2]))
            for fitted, tested in ((one, other), (other, one)):
                share = share_of(fitted, cap)
                rests = [g.error + (share * g.estimated if g.estimated > LARGE else 0) for g in tested]
                whole = sum(g.measured for g in tested)
                biases.append(sum(rests) / whole)
                errors.append(sum(map(abs, rests)) / whole)
        fit = [abs(b) <= MOST_BIAS and e <= MOST_WEIGHTED for b, e in zip(biases, errors, strict=True)]
        yield [
            f"{cap:,}", f"{statistics.fmean(biases):+.1%}", f"{statistics.pstdev(biases):.1%}",
            f"{statistics.fmean(errors):.1%}", f"{statistics.fmean(abs(b) <= MOST_BIAS for b in biases):.0%}",
            f"{statistics.fmean(fit):.0%}",
        ]  # fmt: skip
