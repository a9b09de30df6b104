"""Did a forecast come true: older Claude Code sessions under the newer threshold, against newer sessions.

``python -m tests.bench forecast`` reads the corpora beside the repository (``CTXWEB_CORPUS``, and the folder corpus-2
beside it).  Writes docs/benchmarks/forecast.md.
"""

from __future__ import annotations

import random
import re
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from ctxweb.commands.study import sessions_of
from sessions.engine.agents.agent import writer_of
from sessions.engine.costs.cost import totals
from sessions.engine.quality.auroc import MIN_CLUSTERS, N_RESAMPLES, SEED
from sessions.engine.quality.baseline import as_recorded, baseline
from sessions.engine.replays.replay import replay
from sessions.engine.sweeps.advice import LEAST_REQUESTS
from tests.samples import find_corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sessions.engine.costs.cost import Totals
    from sessions.engine.weigh.calibration.weighed import Weighed

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "forecast.md"
POLICY, WINDOW = "claude_code", 200_000
OLDER, NEWER = (2, 1, 20), (2, 1, 22)
"""The last version that compacts at 155,000, and the first that surely does at 167,000."""
REACHED = 120_000
"""A session below this says nothing of either threshold."""
HEAD = """# Did a forecast come true?

Made by `python -m tests.bench forecast`. Claude Code up to 2.1.20 compacts at 155,000 tokens of a window of 200,000,
from 2.1.22 on at 167,000. The older sessions are replayed under the newer threshold, as anybody would who asks what the
change brings: that is the forecast. What came are the newer sessions of the same repository, as recorded. Only sessions
of at least {least} requests whose recorded context reached {reached:,} tokens:
{counts}.

Compactions are the automatic ones, over all requests; the peak is the median of the sessions that compacted; the cost
is list price over all requests. Intervals (95%): {n_draws:,} draws of whole sessions, from {n_clusters} on.

"""
TAIL = """
What holds: {holds}

What does not hold, or is not shown: the newer sessions are other work, with other models and another length, so a
difference between them and the forecast is not the forecast's alone. *Replayed* on the newer sessions has the same
threshold as they had: what it is off there is the replay's own error. Summaries at compactions that are not recorded
are extracts of the recorded size. {misses}
"""


class Session(NamedTuple):
    """One session: what its client is, and its figures as recorded and replayed at the newer threshold."""

    version: tuple[int, ...]
    is_first: bool
    requests: int
    recorded: Figures
    replayed: Figures
    growth: float


class Figures(NamedTuple):
    """Automatic compactions, peak context in tokens, dollars (None without a price)."""

    compactions: int
    peak: int
    cost: float | None


class Measure(NamedTuple):
    """One line of the table: how it is worked out over sessions, and how it is written."""

    name: str
    of: Callable[[Sequence[tuple[Session, Figures]]], float | None]
    text: str


def main() -> None:
    """Replay every session and write the page."""
    RESULTS.write_text(page(list(sessions())), encoding="utf-8")


def sessions() -> Iterator[Session]:
    """Every Claude Code session of both corpora that says something."""
    first = find_corpus()
    if first is None:
        raise SystemExit("no corpus beside the repository; set CTXWEB_CORPUS")
    for folder in (first, first.with_name("corpus-2")):
        for weighed, _ in sessions_of([folder], []) if folder.is_dir() else ():
            found = session_of(weighed, is_first=folder == first)
            if found is not None:
                yield found


def session_of(weighed: Weighed, *, is_first: bool) -> Session | None:
    """One session's figures; None where it is another agent's, has another window, or is too short."""
    agent, version = writer_of(weighed.transcript), re.search(r"(\d+)\.(\d+)\.(\d+)", weighed.transcript.client or "")
    n = len(weighed.steps)
    if POLICY not in agent.policies or version is None or weighed.window != WINDOW or n < LEAST_REQUESTS:
        return None
    sent = as_recorded(weighed)
    held = baseline(weighed, sent=sent)
    if held.peak_context_tokens < REACHED:
        return None
    made = totals(replay(weighed, POLICY, start="defaults"))
    automatic = sum(one.trigger != "manual" for one in weighed.transcript.compactions)
    sizes = weighed.recorded.context
    growth = median([max(after - before, 0) for before, after in pairwise(sizes)])
    return Session(
        tuple(map(int, version.groups())), is_first, n,
        figures(held)._replace(compactions=automatic), figures(made), growth,
    )  # fmt: skip


def figures(sums: Totals) -> Figures:
    """The three of a replay's totals."""
    return Figures(sums.compactions, sums.peak_context_tokens, None if sums.cost is None else sums.cost.low)


def rate(pairs: Sequence[tuple[Session, Figures]]) -> float | None:
    """Compactions per 100 requests."""
    requests = sum(session.requests for session, _ in pairs)
    return 100 * sum(one.compactions for _, one in pairs) / requests if requests else None


def peak(pairs: Sequence[tuple[Session, Figures]]) -> float | None:
    """Median peak of the sessions that compacted."""
    found = [one.peak for _, one in pairs if one.compactions]
    return median(found) if found else None


def cost(pairs: Sequence[tuple[Session, Figures]]) -> float | None:
    """Cents per request, of sessions with a price."""
    priced = [(session.requests, one.cost) for session, one in pairs if one.cost is not None]
    requests = sum(n for n, _ in priced)
    return 100 * sum(dollars for _, dollars in priced) / requests if requests else None


def growth(pairs: Sequence[tuple[Session, Figures]]) -> float | None:
    """Median over sessions of the median growth of a request."""
    return median([session.growth for session, _ in pairs]) if pairs else None


def share(pairs: Sequence[tuple[Session, Figures]]) -> float | None:
    """Sessions that compacted, in percent."""
    return 100 * sum(one.compactions > 0 for _, one in pairs) / len(pairs) if pairs else None


MEASURES = (
    Measure("compactions per 100 requests", rate, "{:.2f}"),
    Measure("sessions that compacted, %", share, "{:.0f}"),
    Measure("peak context, tokens", peak, "{:,.0f}"),
    Measure("cost per request, cents", cost, "{:.2f}"),
    Measure("growth of a request, tokens (the work, not the threshold)", growth, "{:,.0f}"),
)
Column = list[tuple[Session, Figures]]


def columns(found: Sequence[Session]) -> dict[str, Column]:
    """The groups that are compared."""
    older = [one for one in found if one.version <= OLDER and one.is_first]
    newer = [one for one in found if one.version >= NEWER and one.is_first]
    others = [one for one in found if one.version >= NEWER and not one.is_first]
    return {
        "older, as recorded": [(one, one.recorded) for one in older],
        "**forecast**: older, replayed": [(one, one.replayed) for one in older],
        "**what came**: newer, as recorded": [(one, one.recorded) for one in newer],
        "newer, replayed": [(one, one.replayed) for one in newer],
        "newer of other repositories": [(one, one.recorded) for one in others],
    }


def page(found: Sequence[Session]) -> str:
    """The benchmark's page."""
    groups = columns(found)
    counts = ", ".join(f"{len(group)} {name}" for name, group in (
        ("older", groups["older, as recorded"]), ("newer", groups["newer, replayed"]),
        ("newer of other repositories", groups["newer of other repositories"]),
    ))  # fmt: skip
    lines = [HEAD.format(
        least=LEAST_REQUESTS, reached=REACHED, counts=counts, n_draws=N_RESAMPLES, n_clusters=MIN_CLUSTERS
    ).rstrip(), "", f"| | {' | '.join(groups)} |", "|---|" + "---|" * len(groups)]  # fmt: skip
    lines += [f"| {one.name} | {' | '.join(cell(one, group) for group in groups.values())} |" for one in MEASURES]
    holds, misses = verdict(groups)
    return "\n".join(lines) + "\n" + TAIL.format(holds=holds, misses=misses).rstrip() + "\n"


def verdict(groups: dict[str, Column]) -> tuple[str, str]:
    """Which measures' intervals hold the forecast, in words."""
    older, forecast, came, *_ = groups.values()
    inside, outside = [], []
    for measure in MEASURES[:4]:
        value, ends = measure.of(forecast), interval(measure, came)
        if value is None or ends is None:
            continue
        (inside if ends[0] <= value <= ends[1] else outside).append(measure.name.rstrip(", %").split(",")[0])
    told, was = rate(forecast), rate(older) or 1.0
    changes = [100 * ((one or 0.0) / was - 1) for one in (told, rate(came))]
    holds = f"the forecast lies within the interval of what came for {' and '.join(inside) or 'nothing'}.\n"
    holds += "Compactions per 100 requests: forecast {:+.0f}%, came {:+.0f}%.".format(*changes).replace("-", "−")
    return holds, f"The forecast lies\noutside it for {' and '.join(outside)}." if outside else ""


def cell(measure: Measure, group: Column) -> str:
    """A figure with its interval."""
    value, ends = measure.of(group), interval(measure, group)
    if value is None:
        return "–"
    told = measure.text.format(value)
    return told if ends is None else f"{told} [{', '.join(measure.text.format(end) for end in ends)}]"


def interval(measure: Measure, group: Column) -> tuple[float, float] | None:
    """The interval by draws of whole sessions."""
    if len(group) < MIN_CLUSTERS:
        return None
    rng = random.Random(SEED)
    made = (measure.of(rng.choices(group, k=len(group))) for _ in range(N_RESAMPLES))
    values = sorted(one for one in made if one is not None)
    return values[int(0.025 * len(values))], values[min(len(values) - 1, int(0.975 * len(values)))]
