"""``make fuzz``: damaged inputs through the readers, and what was found, as a page.

``python -m tests.fuzz --inputs 1000000 --seconds 2400 --out docs/benchmarks/fuzz.md``; the same first seed gives the
same inputs.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.engine.test_formats_mutations import FILES
from tests.fuzz.findings import place_of, read_as, replayed, reported, unpacked
from tests.fuzz.mutations import mutant, packed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

BATCH = 2_000
SHOWN_EVERY = 10
REPORT_EVERY = 40
"""One input in so many goes on to the documents of inspect, why and a replay, which take ten times as long."""

PACKED_EVERY = 10
"""One input in so many is an archive."""


@dataclass(slots=True)
class Tally:
    """What some inputs came to."""

    n_inputs: int = 0
    n_read: int = 0
    n_packed: int = 0
    n_reported: int = 0
    n_bytes: int = 0
    found: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    by_format: Counter[str] = field(default_factory=Counter)
    found_after: dict[str, int] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        for place in other.found:
            self.found_after.setdefault(place, self.n_inputs)
        self.n_inputs += other.n_inputs
        self.n_read += other.n_read
        self.n_packed += other.n_packed
        self.n_reported += other.n_reported
        self.n_bytes += other.n_bytes
        self.found.update(other.found)
        self.by_format.update(other.by_format)
        for place, said in other.first.items():
            self.first.setdefault(place, said)


def batch(first_seed: int) -> Tally:
    """``BATCH`` inputs from ``first_seed`` on, every fixture in turn."""
    tally = Tally()
    for seed in range(first_seed, first_seed + BATCH):
        name, path = FILES[seed % len(FILES)]
        data = mutant(name, path, seed)
        tally.n_inputs += 1
        tally.n_bytes += len(data)
        tally.by_format[name] += 1
        try:
            turn = seed // len(FILES)
            if turn % PACKED_EVERY == 0:
                tally.n_packed += unpacked(packed(path, seed))
            else:
                tally.n_read += read_as(name, data)
            if turn % REPORT_EVERY == 1:
                tally.n_reported += reported(data) and replayed(data, seed)
        except Exception as error:
            _note(tally, error, name, path, seed)
    return tally


def _note(tally: Tally, error: Exception, name: str, path: Path, seed: int) -> None:
    place = place_of(error)
    tally.found[place] += 1
    tally.first.setdefault(place, f"{name}/{path.name}, seed {seed}: {str(error)[:120]}")


def run(
    n_inputs: int, seconds: float, first_seed: int, processes: int, show: Callable[[Tally, float], None]
) -> tuple[Tally, float]:
    """Batches until there were ``n_inputs`` or the time is over; also the seconds that it took.

    ``show`` is told how it stands now and then, so that a run that is ended has its page.
    """
    total, start = Tally(), time.monotonic()
    seeds = range(first_seed, first_seed + n_inputs, BATCH)
    if processes == 1:
        results = map(batch, seeds)
        _gather(total, results, start, seconds, show)
    else:
        with multiprocessing.get_context("spawn").Pool(processes) as pool:
            _gather(total, pool.imap(batch, seeds), start, seconds, show)
    return total, time.monotonic() - start


def _gather(
    total: Tally, results: Iterable[Tally], start: float, seconds: float, show: Callable[[Tally, float], None]
) -> None:
    for tally in results:
        total.add(tally)
        took = time.monotonic() - start
        if total.n_inputs % (SHOWN_EVERY * BATCH) == 0:
            print(f"{total.n_inputs:,} inputs, {len(total.found)} places, {took:,.0f} s", file=sys.stderr, flush=True)
            show(total, took)
        if took > seconds:
            return


def page(total: Tally, took: float, command: str) -> str:
    """The findings in words."""
    n_found = sum(total.found.values())
    rows = [
        f"| {place} | {count:,} | {total.found_after[place]:,} | {total.first[place].replace('|', '∣')!r} |"
        for place, count in total.found.most_common()
    ]
    none = "No finding: every input was read, or refused with a sentence."
    table = "\n".join(("place | inputs | found after | first".join(("| ", " |")), "|---|--:|--:|---|", *rows))
    return "\n".join(
        (
            "# Damaged inputs through the readers",
            "",
            "Made by `make fuzz`. The fixtures of every format are damaged: values, texts and numbers replaced by",
            "hostile ones, parts doubled, moved, wrapped and grafted from other formats, lines and bytes lost, changed",
            "and spliced. Each input is sniffed by every format and parsed by its own; each message is read again and",
            f"must be the same. One in {REPORT_EVERY} goes on to the documents of `ctxweb inspect`, `ctxweb why` and",
            f"`ctxweb replay` under one of the policies; one in {PACKED_EVERY} is an archive to be unpacked.",
            "A finding is any exception but a typed refusal, counted by its type and place.",
            "",
            f"    {command}",
            "",
            "| what | figure |",
            "|---|--:|",
            f"| inputs | {total.n_inputs:,} |",
            f"| bytes | {total.n_bytes:,} |",
            f"| formats, fixtures | {len(total.by_format)}, {len(FILES)} |",
            f"| read as a session, the rest refused | {total.n_read:,} ({100 * total.n_read / total.n_inputs:.0f}%) |",
            f"| archives opened | {total.n_packed:,} |",
            f"| went on to the documents | {total.n_reported:,} |",
            f"| distinct findings | {len(total.found)} |",
            f"| inputs with a finding | {n_found:,} ({1_000_000 * n_found / total.n_inputs:,.1f} per million) |",
            f"| seconds, inputs per second | {took:,.0f}, {total.n_inputs / took:,.0f} |",
            f"| Python | {platform.python_version()} |",
            "",
            table if rows else none,
            "",
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, help="write the page here, too")
    chosen = parser.parse_args()
    command = f"python -m tests.fuzz --inputs {chosen.inputs} --seconds {chosen.seconds:g} --seed {chosen.seed}"

    def show(tally: Tally, took: float) -> None:
        if chosen.out:
            chosen.out.write_text(page(tally, took, command), encoding="utf-8")

    total, took = run(chosen.inputs, chosen.seconds, chosen.seed, chosen.processes, show)
    show(total, took)
    print(page(total, took, command))
    sys.exit(1 if total.found else 0)


if __name__ == "__main__":
    main()
