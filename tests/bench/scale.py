"""How a replay grows with its session, and what sweeps take: ``python -m tests.bench scale``.

Generated sessions of 2,500, 5,000 and 10,000 messages under every policy, with the page's own sweep of the longest;
200 settings and the cheapest schedule on 50,000 messages.  CPU time of one process: what other processes do still slows
it, so the ratios count.  Writes docs/benchmarks/scale.md; its section on figures from before stays as it is.
"""

from __future__ import annotations

import os
import platform
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sessions.engine.base.registry import plugins
from sessions.engine.costs.cost import totals
from sessions.engine.replays.replay import replay
from sessions.engine.sweeps.regret import optimum
from sessions.engine.sweeps.sweep import Over, grid, sweep
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.engine.weigh.calibration.weighed import Weighed

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "benchmarks" / "scale.md"
TOOLS = ("Read", "Read", "Edit", "Bash")
N_TURNS = (1_250, 2_500)
SUMMARY, WINDOW = "stub:3000", 200_000
N_SETTINGS, LOW, HIGH = 200, 60_000, 1_000_000
PAGE_SETTINGS = 14
"""Settings of the page's own sweep."""
MOVE_MS, EDITING_MS, PAGE_MS = 150, 350, 600
"""What a slider may take; the same where a policy edits at nearly each request; what the page's own sweep may take."""
LONG = ("claude_code", "sliding_window", "pi")
BEFORE = "## Before"


def main() -> None:
    """Measure and write the tables."""
    small, large = (session_of(n, tools=TOOLS) for n in N_TURNS)
    replays = [row for name in sorted(plugins("policies")) if (row := _replays(name, small, large))]
    long = session_of(5_000, tools=TOOLS)
    sweeps = [_sweep(name, long, PAGE_SETTINGS) for name in sorted(plugins("policies"))]
    longest = session_of(25_000, tools=TOOLS)
    sweeps_of_long = [_sweep(name, longest, N_SETTINGS) for name in LONG]
    schedule = _best(lambda: optimum(longest, summarizer=SUMMARY, window=HIGH))
    moves = sorted(((*_replay(name, long), name) for name in plugins("policies")), reverse=True)
    held = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    kept = held[held.index(BEFORE) :] if BEFORE in held else ""
    RESULTS.write_text(
        _report(replays, sweeps, [*sweeps_of_long, f"| the cheapest schedule |  | {schedule:,.0f} |"], moves) + kept,
        encoding="utf-8",
    )
    print(RESULTS.read_text(encoding="utf-8"))


def _replays(name: str, small: Weighed, large: Weighed) -> str:
    first, second = (_replay(name, weighed) for weighed in (small, large))
    taken = f"| {first[1]:,} | {first[0]:,.0f} | {second[1]:,} | {second[0]:,.0f} | {second[0] / first[0]:.1f} |"
    return f"| `{name}` {taken}"


def _replay(name: str, weighed: Weighed) -> tuple[float, int]:
    """Milliseconds of a replay with its totals, the better of two, and its compactions."""

    def run() -> int:
        made = replay(weighed, name, summarizer=SUMMARY, window=WINDOW)
        totals(made)
        return len(made.events)

    return _best(run), run()


def session_of(n_turns: int, *, tools: tuple[str, ...]) -> Weighed:
    """A session of two messages a turn, 34 million tokens in 50,000; files are used again by other tools."""
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


def _sweep(name: str, weighed: Weighed, n: int) -> str:
    """A sweep of ``n`` windows: the policy, compactions over all settings, milliseconds."""
    axes, settings = grid([name], [Over("window", LOW, HIGH, n)])
    n_events = sum(row.totals.compactions for row in sweep(weighed, settings, axes, summarizer=SUMMARY).rows)
    taken = _best(lambda: sweep(weighed, settings, axes, summarizer=SUMMARY))
    return f"| `{name}` | {n_events:,} | {taken:,.0f} |"


def _best(run: Callable[[], object]) -> float:
    taken = []
    for _ in range(2):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
        if taken[0] > 1:
            break
    return 1000 * min(taken)


def _report(replays: list[str], sweeps: list[str], longest: list[str], moves: list[tuple[float, int, str]]) -> str:
    within = sum(taken <= MOVE_MS for taken, _, _ in moves)
    lines = [
        "# How replays and sweeps grow",
        "",
        "Made by `python -m tests.bench scale`: CPU time in milliseconds on Python "
        f"{platform.python_version()}, of one process; others that run at the same time slow it. The sessions are "
        f"generated; a replay includes its totals, at a window of {WINDOW:,} tokens. How the work grows is counted "
        "by `tests/engine/test_growth.py`: twice the messages take at most 2.3 times the work, from 512 to 1,024.",
        "",
        f"## The page's own sweep: {PAGE_SETTINGS} windows on 10,000 messages",
        "",
        f"At most {PAGE_MS} ms for every policy that compacts.",
        "",
        "| policy | compactions | ms |",
        "|---|---|---|",
        *sweeps,
        "",
        f"## {N_SETTINGS} windows on 50,000 messages, in the background",
        "",
        "| policy | compactions | ms |",
        "|---|---|---|",
        *longest,
        "",
        "## A replay of 10,000 messages",
        "",
        f"What a slider asks for, the slowest policy first; {within} of {len(moves)} take {MOVE_MS} ms or less "
        f"({EDITING_MS} where a policy edits at nearly each request). "
        f"Load of the {os.cpu_count()} cores when it ended: {os.getloadavg()[0]:.1f}.",
        "",
        "| policy | compactions | ms |",
        "|---|---|---|",
        *(f"| `{name}` | {n:,} | {taken:,.0f} |" for taken, n, name in moves),
        "",
        "## A replay of 2,500 and of 5,000 messages",
        "",
        "| policy | compactions | ms | compactions, twice the length | ms | times |",
        "|---|---|---|---|---|---|",
        *replays,
        "",
    ]
    return "\n".join(lines) + "\n"
