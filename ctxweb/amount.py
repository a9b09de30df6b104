"""Numbers on the command line as people write them: 200k, 1M, 200,000."""

from __future__ import annotations

import math
from typing import Any

import click

from sessions.engine.base.amounts import read_amount


class Amount(click.ParamType[float | int]):
    """A number from ``least`` to ``most``, whole unless ``whole`` is False; ``share_of`` says what 100% stands for."""

    name = "number"

    def __init__(
        self, least: float | None = None, most: float | None = None, *, whole: bool = True,
        share_of: float | None = None,
    ) -> None:  # fmt: skip
        self.least, self.most, self.whole, self.share_of = least, most, whole, share_of

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | int:
        """The number that ``value`` writes; wrong usage for everything else."""
        try:
            number = read_amount(str(value), share_of=self.share_of)
        except ValueError:
            self.fail(f"{value!r} is not a number. Write 200000, 200,000, 200k or 1M.", param, ctx)
        if not math.isfinite(number) or (self.whole and number != int(number)):
            self.fail(f"{value!r} is not a {'whole' if self.whole else 'finite'} number.", param, ctx)
        if self.least is not None and number < self.least:
            self.fail(f"{value} is less than {self.least:,}.", param, ctx)
        if self.most is not None and number > self.most:
            self.fail(f"{value} is more than {self.most:,}.", param, ctx)
        return int(number) if self.whole else number


TOKENS = Amount(1)
"""A number of tokens."""
