"""Accuracy by repository, agent and client over both corpora, the worst group first.

No session is estimated by a prior that was fitted on sessions of its own repository: the one that is shipped comes from
the first corpus's repository, whose sessions are held against one fitted on the other repositories.
"""

from __future__ import annotations

import csv
import statistics
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

from sessions.engine.agents.agent import writer_of
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.bench.corpus import outcome, recorded_sessions
from tests.bench.corpus_report import N_CAUSES, shares_of, table_of
from tests.bench.prior_fit import fit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.bench.corpus import Outcome, Recorded

FIRST = "entireio/cli"
"""The repository of the first corpus."""
LEAST_REQUESTS, LEAST_SESSIONS = 20, 5
TARGETS = {"growth_median": 4.0, "growth_weighted": 6.0, "context_median": 1.0, "context_p95": 2.5}
"""Per cent, of the median session; a group of five sessions may have twice that."""
HEAD = ("group", "sessions", "growth: median", "growth: weighted", "context: median", "context: p95", "bias",
        "where its error stands")  # fmt: skip
Group = tuple[str, list["Outcome"]]


def report(first: Path) -> str:
    """The section, as markdown; ``first`` is the first corpus, the second is the folder beside it."""
    second = first.with_name("corpus-2")
    with (second / "INDEX.tsv").open(encoding="utf-8") as rows:
        repositories = {row["name"]: row["repo"] for row in csv.DictReader(rows, delimiter="\t")}
    own = recorded_sessions(sorted((first / "claude-code").glob("*.jsonl.gz")))
    others = {path.name: recorded_sessions([path]) for path in sorted((second / "sessions").glob("*.gz"))}
    prior = fit([s.transcript for some in others.values() for s in some if s.transcript.format == "claude_code"])
    found = [(FIRST, s, outcome(s, partial(weigh, prior=prior))) for s in own if _counts(s)]
    found += [
        (repositories[name.removesuffix(".gz")], s, outcome(s))
        for name, some in others.items()
        for s in some
        if _counts(s)
    ]
    return "\n".join(_lines([one for one in found if one[2].grown])) + "\n"


def _counts(session: Recorded) -> bool:
    return len(session.measured) >= LEAST_REQUESTS


def _lines(found: Sequence[tuple[str, Recorded, Outcome]]) -> Iterator[str]:
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for repository, session, one in found:
        agent = writer_of(session.transcript).label
        for name in (repository, agent, f"{agent}, {repository}", f"{agent} {one.client}"):
            groups[name].append(one)
    every = ("all", [one for _, _, one in found])
    rows = sorted(((n, some) for n, some in groups.items() if len(some) >= LEAST_SESSIONS), key=_worst, reverse=True)
    yield "## By repository, agent and client\n"
    yield f"Sessions of both corpora with {LEAST_REQUESTS} measured requests or more, by the usage of each one's first"
    yield "third; no prior was fitted on the repository that it is held against. Figures of the median session; groups"
    yield f"of {LEAST_SESSIONS} sessions or more, the worst first; one above twice a target is marked. Targets of all:"
    yield ", ".join(f"{key.replace('_', ' ')} ≤ {value:g}%" for key, value in TARGETS.items()) + ".\n"
    yield from table_of(HEAD, [_row(*every), *(_row(*group) for group in rows)])
    yield ""


def _figure(some: Sequence[Outcome], key: str) -> float:
    return 100 * statistics.median(float(getattr(one, key)) for one in some)


def _worst(group: Group) -> float:
    """By how much it misses the target that it misses most, as a factor."""
    return max(_figure(group[1], key) / target for key, target in TARGETS.items())


def _row(name: str, some: list[Outcome]) -> list[str]:
    figures = [f"{_figure(some, key):.1f}%" for key in TARGETS]
    marked = f"**{name}**" if _worst((name, some)) > 2 else name
    causes = "; ".join(f"{share} {sort}" for sort, _, share, _ in shares_of(some, lambda _, g: g.sort)[:N_CAUSES])
    n_fallen = sum(one.fallen for one in some)
    fallen = f"; contexts that fell untold: {n_fallen}" if n_fallen else ""
    return [marked, str(len(some)), *figures, f"{_figure(some, 'bias'):+.1f}%", causes + fallen]
