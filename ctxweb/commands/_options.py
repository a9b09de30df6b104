"""Options that several commands take, each declared once; ``takes`` gives a command its own choice of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click

from sessions.engine.base.amounts import read_amount

Option = Callable[..., Any]


class Amount(click.ParamType[float | int]):
    """A number as people write it: 200k, 1M, 200,000; ``share_of`` says what 100% stands for."""

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

POLICY_HELP = "Compaction policy; see `ctxweb policies`."
POLICY = click.option("--policy", help=POLICY_HELP)
SETTINGS = click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="A parameter of the policy.")
WINDOW = click.option("--window", type=TOKENS, help="Context window in tokens.")
ESTIMATOR = click.option("--estimator", help="Estimator the trigger counts with; see `ctxweb estimators`.")
FORMAT = click.option("--format", "format_name", help="Transcript format, instead of sniffing.")
SESSION = click.option("--session", help="Session id; default: the root session with most requests.")
BRANCH = click.option("--branch", metavar="LEAF", help="A branch that a rewind left; default: the latest.")
LATEST = click.option(
    "--latest", type=click.IntRange(1, 10_000), metavar="N", help="The newest N sessions on this machine."
)
CORPUS = click.argument("corpus", nargs=-1, required=True, type=click.Path())
PRICES = click.option(
    "--price", "prices", multiple=True, metavar="KEY=USD",
    help="Dollars per million tokens instead of the list price: input, output, cache_read, cache_write, "
    "cache_write_1h.",
)  # fmt: skip
AS_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
PRINTS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document to standard output.")


def takes(*options: Option) -> Option:
    """The options in the order of ``--help``."""

    def added(command: Option) -> Option:
        for option in reversed(options):
            command = option(command)
        return command

    return added


def files_argument(*, required: bool = True) -> Option:
    """The argument of a command of class ``EachFile``, which gives its callback one ``file`` at a time."""
    return click.argument("files", nargs=-1, required=required, metavar="FILE...", type=click.Path())
