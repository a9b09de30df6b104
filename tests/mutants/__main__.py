"""``python -m tests.mutants [--share S] [--seed N] [--only WORD] [--out FILE]``: how many mutants the tests kill."""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.mutants.collected import Asked
from tests.mutants.equivalent import EQUIVALENT
from tests.mutants.mutations import mutant, n_mutants
from tests.mutants.report import Result, report
from tests.mutants.runner import FOUNDING, ROOT, reached

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.mutants.mutations import Mutant

FOLDERS = ("sessions/engine/policies", "sessions/engine/tokens/estimators")
FILES = ("sessions/engine/policies/edits.py",)
SEED = 13
FOUNDING_TIMES = 3


def modules(only: str) -> list[Path]:
    """The modules to be changed."""
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.py"))] + [ROOT / f for f in FILES]
    return [path for path in found if only in path.as_posix() and n_mutants(path)]


def sampled(paths: Iterable[Path], share: float, seed: int = SEED) -> list[Mutant]:
    """A share of every module's mutants, of the founding systems' three times it: the same ones for a seed.

    The founding systems come first, all others in a random order: a run that is stopped has seen some of each.
    """
    first: list[Mutant] = []
    others: list[Mutant] = []
    for path in paths:
        name, n = path.relative_to(ROOT).as_posix(), n_mutants(path)
        is_first = any(word in name for word in FOUNDING)
        size = min(n, max(1, round(share * n * (FOUNDING_TIMES if is_first else 1))))
        numbers = random.Random(f"{seed} {name}").sample(range(n), size)
        (first if is_first else others).extend(mutant(path, name, number) for number in sorted(numbers))
    random.Random(seed).shuffle(others)
    return first + others


def main() -> None:
    """Make every mutant of the sample, run its tests, write what survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--share",
        type=float,
        default=0.1,
        help="share of every module's mutants; three times it of the founding systems'",
    )
    parser.add_argument("--seed", type=int, default=SEED, help="another one: other places")
    parser.add_argument("--only", default="", help="modules whose path holds this word")
    parser.add_argument("--seconds", type=float, default=3_600, help="stop after so long")
    parser.add_argument("--reached", type=Path, help="a file that keeps which tests run which lines between runs")
    parser.add_argument("--out", type=Path, help="where to write the report")
    given = parser.parse_args()
    paths = modules(given.only)
    chosen = sampled(paths, given.share, given.seed)
    started = time.monotonic()
    known = reached(modules(""), given.reached)
    results: list[Result] = []

    def work(asked: Asked) -> None:
        for one in chosen:
            if time.monotonic() - started > given.seconds:
                break
            tests = known.tests_of(one)
            is_killed = bool(tests) and asked.kills(one, tests, known.seconds_of(tests))
            results.append(Result(one, is_killed, len(tests), EQUIVALENT.get(one.key, "")))
            if not is_killed:
                print(
                    f"{time.monotonic() - started:,.0f} s:",
                    f"{'equivalent' if one.key in EQUIVALENT else 'survived'} {one.line} {one.key}",
                    flush=True,
                )

    Asked(work).ask()
    text = report(results, n_all=sum(map(n_mutants, paths)), n_chosen=len(chosen), share=given.share, seed=given.seed)
    if given.out:
        given.out.write_text(text, encoding="utf-8")
    print(text.split("\n## ")[0])


if __name__ == "__main__":
    sys.exit(main())
