"""How long sweeps take in the engine: ``python -m tests.bench sweep``.

A generated session of 50,000 messages (34 million tokens) under 200 thresholds from 60,000 to 1,000,000 tokens, and
under 200 × 10 settings with 0 to 640 messages kept; a session of 10,000 messages replayed request by request.  CPU
time of one process, the best of five: other load on the machine does not count.  Writes docs/benchmarks/sweep.md.
"""

from __future__ import annotations

import platform
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sessions.engine.calibration.calibrate import weigh
from sessions.engine.prices import prices_of
from sessions.engine.registry import plugins
from sessions.engine.replay import replay
from sessions.engine.sweeps.fast.jump import Jump
from sessions.engine.sweeps.fast.jumper import Jumper
from sessions.engine.sweeps.fast.refetch import refetched
from sessions.engine.sweeps.fast.table import RULES
from sessions.engine.sweeps.fast.track import new_track, track_of
from sessions.engine.sweeps.regret import optimum
from sessions.engine.sweeps.sweep import Over, grid, sweep
from tests.engine.sessions import Build
from tests.engine.test_jump import SHARED
from tests.engine.test_jump import jump as rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.engine.calibration.weighed import Weighed

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "benchmarks" / "sweep.md"
N_THRESHOLDS, LOW, HIGH, SUMMARY = 200, 60_000, 1_000_000, "stub:3000"
KEEPS = (0, 1, 2, 5, 10, 20, 40, 160, 320, 640)
TIMES = 5


def main() -> None:
    """Measure and write the table."""
    plugins("policies")[SHARED.name] = SHARED
    RULES[SHARED.gate, SHARED.edit] = rule
    rows = [*_sweeps(session_of(25_000, tools=("Read",)), "each file by one tool"),
            *_sweeps(session_of(25_000, tools=("Read", "Read", "Edit", "Bash")), "each file by several tools"),
            *_replays(session_of(5_000, tools=("Read", "Read", "Edit", "Bash")))]  # fmt: skip
    RESULTS.write_text(_report(rows), encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


def session_of(n_turns: int, *, tools: tuple[str, ...]) -> Weighed:
    draw = random.Random(17)
    session = Build(overhead=8_000)
    session.prompt()
    for turn in range(n_turns):
        session.reply(draw.randrange(50, 300), f"c{turn}", name=draw.choice(tools), target=f"/{draw.randrange(2_000)}")
        session.result(f"c{turn}", draw.randrange(100, 2_260))
    session.reply()
    weighed = weigh(session.done())
    assert weighed.recorded
    assert weighed.target_uses
    return weighed


def _sweeps(weighed: Weighed, kind: str) -> list[tuple[str, float, str]]:
    """Name, milliseconds, budget."""
    build = _best(lambda: new_track(weighed), 2)
    track = track_of(weighed)
    assert track is not None
    assert track.uses is not None
    points = [LOW + (HIGH - LOW) * i // (N_THRESHOLDS - 1) for i in range(N_THRESHOLDS)]
    one = [[Jump(point, keep_messages=20) for point in points]]
    many = [[Jump(point, keep_messages=keep) for point in points] for keep in KEEPS]
    axes, settings = grid([SHARED.name], [Over("threshold", LOW, HIGH, N_THRESHOLDS)], params={"keep_messages": 20})
    jumper, n_events = Jumper(weighed, track, SUMMARY), _count(Jumper(weighed, track, SUMMARY), one)
    return [
        (f"track of 50,000 messages, once for a session ({kind})", build, ""),
        (f"200 thresholds, {n_events:,} compactions ({kind})", _best(lambda: _run(jumper, one)), "≤ 50 ms"),
        (f"the same as rows with their front ({kind})",
         _best(lambda: sweep(weighed, settings, axes, summarizer=SUMMARY)), ""),
        (f"200 × 10 grid, {_count(Jumper(weighed, track, SUMMARY), many):,} compactions ({kind})",
         _best(lambda: _run(jumper, many), 3), "≤ 300 ms"),
        (f"the cheapest schedule ({kind})", _best(lambda: optimum(weighed, summarizer=SUMMARY, window=HIGH), 1), ""),
    ]  # fmt: skip


def _run(jumper: Jumper, tails: list[list[Jump]]) -> None:
    """Compactions, every field of the totals and the cost range."""
    prices = prices_of(jumper.weighed.model)
    for jumps in tails:
        courses = [course for jump in jumps if (course := jumper.course(jump))]
        counts = refetched(jumper.track, courses)
        for jump, course, again in zip(jumps, courses, counts, strict=True):
            jumper.totals(course, jump, summary_calls=True, shares_prefix=True, prices=prices, again=again)


def _count(jumper: Jumper, tails: list[list[Jump]]) -> int:
    return sum(len(course.steps) for jumps in tails for jump in jumps if (course := jumper.course(jump)))


def _replays(weighed: Weighed) -> list[tuple[str, float, str]]:
    params = {"threshold": 160_000, "keep_messages": 20}
    found = [("replay of 10,000 messages, a threshold policy",
              _best(lambda: replay(weighed, SHARED.name, params=params, summarizer=SUMMARY)), "≤ 50 ms")]  # fmt: skip
    for name in ("claude_code", "sliding_window", "none"):

        def run(name: str = name) -> object:
            return replay(weighed, name, summarizer=SUMMARY, window=200_000)

        budget = "≤ 200 ms (edits results too)" if name == "claude_code" else "≤ 50 ms"
        found.append((f"replay of 10,000 messages, {name}", _best(run), budget))
    return found


def _best(run: Callable[[], object], times: int = TIMES) -> float:
    taken = []
    for _ in range(times):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return 1000 * min(taken)


def _report(rows: list[tuple[str, float, str]]) -> str:
    lines = [
        "# Sweeps",
        "",
        "Made by `python -m tests.bench sweep`: CPU time in milliseconds, the best of several runs, on Python "
        f"{platform.python_version()}. The session is generated: 50,000 messages, 34 million tokens, 2,000 files; "
        "thresholds from 60,000 to 1,000,000 tokens, 20 messages kept, summaries of 3,000 tokens. Where files are used "
        "by several tools, what a compaction drops and another tool uses again is counted for the upper end "
        "of the cost: the worst case.",
        "",
        "| what | CPU time | budget |",
        "|---|---|---|",
    ]
    lines += [f"| {name} | {taken:,.1f} ms | {budget} |" for name, taken, budget in rows]
    return "\n".join(lines) + "\n"
