"""How long judging takes on a session of 10,000 messages: ``python -m tests.bench quality``.

Processor seconds of this process alone.  Writes docs/benchmarks/quality.md.
"""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessions.engine.quality.assess import assess_replay
from sessions.engine.quality.carry import working_set
from sessions.engine.quality.columns import loss_columns
from sessions.engine.quality.index import build_index
from sessions.engine.replays.replay import replay
from tests.engine.told import Told

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "quality.md"
N_TURNS, N_POINTS, SEED = 5_000, 50, 3
WORDS = ("row", "button", "total", "while", "others", "wait", "for", "one", "more", "line", "of", "plain", "text")


def main() -> None:
    """Measure and write the table."""
    told = _session()
    weighed, _ = told.done()
    n_chars = sum(len(content.text) for contents in told.contents for content in contents)
    build, index = _timed(lambda: build_index(weighed.transcript, lambda m: told.contents[m.index]))
    one = replay(weighed, "sliding_window", window=200_000, params={"trigger": 90, "target": 30})
    judge, judged = _timed(lambda: tuple(assess_replay(one, index)))
    carry, _ = _timed(lambda: working_set(weighed, index))
    points = [
        replay(weighed, "sliding_window", window=200_000, params={"trigger": 40 + n, "target": 20})
        for n in range(N_POINTS)
    ]
    columns = loss_columns(weighed, index)
    sweep, _ = _timed(lambda: [columns(point) for point in points])
    n_events = sum(len(point.events) for point in points)
    rows = (
        (f"index {len(weighed.transcript.messages):,} messages, {n_chars / 1e6:.1f} M characters", build, "≤ 2 s"),
        (f"judge {len(judged)} events", judge, "≤ 1 s for 20"),
        ("working set and carry bill", carry, "–"),
        (f"losses of {N_POINTS} settings of a sweep, {n_events:,} events", sweep, "≤ 5 s"),
    )
    made = "Made by `python -m tests.bench quality`: processor seconds on a generated session."
    lines = ["# What judging a session costs", "", made]
    lines += ["", "| what | seconds | target |", "|---|---|---|"]
    lines += [f"| {what} | {seconds:.2f} | {target} |" for what, seconds, target in rows]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def _session() -> Told:
    """Reads of 400 files, a thousand characters each, with names that come back."""
    rng = random.Random(SEED)
    names = [f"name{n}Of_{n * 7 % 991}" for n in range(8_000)]
    told = Told()
    told.prompt("Never touch package-lock.json here.")
    for n in range(N_TURNS):
        told.reply(
            f"Looking at {rng.choice(names)} and {rng.choice(names)}.",
            **{f"c{n}": ("Read", {"file_path": f"/srv/app/src/module{rng.randrange(400)}.py"})},
        )
        words = (rng.choice(names) if rng.random() < 0.1 else rng.choice(WORDS) for _ in range(180))
        told.result(f"c{n}", " ".join(words))
    told.reply("done")
    return told


if __name__ == "__main__":
    main()
