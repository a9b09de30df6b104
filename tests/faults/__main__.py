"""``python -m tests.faults``: all scenarios at length, and docs/reliability.md from their figures (``make faults``)."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from tests.faults import report
from tests.faults.figures import LONG, SHORT, Figure
from tests.faults.grounds import GROUNDS, has_own_redis
from tests.faults.scenarios import SCENARIOS

if TYPE_CHECKING:
    from tests.faults.figures import Size
    from tests.faults.grounds import Ground
    from tests.faults.scenarios import Scenario


def main() -> int:
    """Run what is asked for, write after each scenario; the number of figures that are not as wanted."""
    given = _parser().parse_args()
    size = _size(given)
    command = shlex.join(["python", "-m", "tests.faults", *sys.argv[1:]])
    n_wrong = 0
    for name in given.only or SCENARIOS:
        scenario, load = SCENARIOS[name], os.getloadavg()[0]
        grounds = [ground for ground in scenario.grounds if given.grounds is None or _name(ground) in given.grounds]
        with ThreadPoolExecutor(len(scenario.grounds) if given.together else 1) as pool:
            found = pool.map(lambda ground, one=scenario: _figures(one, ground, size), grounds)
            columns = {ground.name: figures for ground, figures in zip(grounds, found, strict=True)}
        n_wrong += sum(not figure.holds for figures in columns.values() for figure in figures)
        if columns and not given.no_report:
            report.write({scenario.title: report.section(scenario, columns, command, load)})
    print(f"{n_wrong} figures are not as wanted.")
    return min(n_wrong, 1)


def _name(ground: Ground) -> str:
    return next(name for name, known in GROUNDS.items() if known == ground)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=list(SCENARIOS), help="these scenarios only")
    parser.add_argument("--grounds", nargs="*", choices=list(GROUNDS), help="these installations only")
    parser.add_argument(
        "--together", action="store_true", help="all installations of a scenario at once: times mean less"
    )
    parser.add_argument("--short", action="store_true", help="as small as the tests run them")
    parser.add_argument("--no-report", action="store_true", help="print only")
    for field in fields(LONG):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(getattr(LONG, field.name)))
    return parser


def _size(given: argparse.Namespace) -> Size:
    chosen = {field.name: getattr(given, field.name) for field in fields(LONG)}
    return replace(
        SHORT if given.short else LONG, **{name: value for name, value in chosen.items() if value is not None}
    )


def _figures(scenario: Scenario, ground: Ground, size: Size) -> list[Figure]:
    """The scenario's figures on one installation; what is missing or breaks is a figure, too."""
    print(f"== {scenario.title}: {ground.name}", flush=True)
    missing = ground.missing() + ([] if has_own_redis() or scenario is not SCENARIOS["broker"] else ["redis-server"])
    begun = time.monotonic()
    try:
        if missing:
            figures = [Figure("not run: missing", ", ".join(missing), "nothing", holds=False)]
        else:
            figures = scenario.run(size, ground)
    except Exception as error:
        traceback.print_exc()
        figures = [Figure("the scenario broke", f"{type(error).__name__}: {error}"[:300], "–", holds=False)]
    lines = [f"{'  ' if f.holds else '✗ '}{f.what}: {f.value} (wanted: {f.wanted})" for f in figures]
    took = time.monotonic() - begun
    print("\n".join([f"-- {scenario.title}: {ground.name}, {took:.0f} s", *lines]), flush=True)
    return figures


if __name__ == "__main__":
    sys.exit(main())
