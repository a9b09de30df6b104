"""How often what a compaction lost is used again, by kind, against a placebo: ``python -m tests.bench chances``.

Reads the corpora beside the repository (``CTXWEB_CORPUS``, and the folder corpus-2 beside it).  Writes
docs/benchmarks/chances.md and the chances that the product states, the second part of
sessions/engine/quality/again_table.py.
"""

from __future__ import annotations

import csv
import random
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ctxweb.commands.study import sessions_of
from sessions.engine.quality.again_table import N_CALLS
from sessions.engine.quality.auroc import MIN_CLUSTERS, N_RESAMPLES, SEED
from sessions.engine.quality.constraints import state_of
from sessions.engine.quality.generations import RULE
from sessions.engine.quality.recorded import recorded_events
from sessions.engine.quality.references import KINDS
from sessions.engine.quality.standing import GONE, standing
from tests.bench.study import TABLE, write_table
from tests.samples import find_corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from sessions.engine.quality.index import Index
    from sessions.engine.quality.standing import Standing
    from sessions.engine.weigh.calibration.weighed import Weighed

RESULTS = TABLE.parents[3] / "docs" / "benchmarks" / "chances.md"
LOST, KEPT, SHIFTED = "lost", "kept", "shifted"
FIRST_REPOSITORY = "entireio/cli"
LEAST_SESSIONS = 5
"""Sessions of each half with lost things of a kind, fewer than which say nothing of it."""
HEAD = """# Chances: is what was lost used again?

Made by `python -m tests.bench chances` on the recorded compactions of two corpora: {n_sessions} sessions with
{n_events} compactions whose originals are in the file and whose summary can be read, of {repositories}.

The unit is a thing that stood before a compaction: a path, command, error, identifier …, or a rule. It is *lost* where
no kept message and nothing that the compaction wrote names it, else *kept*. The outcome: the agent names it in its next
{n_calls} tool calls or beside them; for a rule: a call breaks it. The *placebo* is the same compaction shifted to
{n_calls} calls earlier, where nothing was dropped: all that stood there, over the {n_calls} calls up to the compaction.
Intervals (95%) draw whole sessions, {n_draws} times, from {n_clusters} sessions on. Halves are by
repository: {halves}.

The product states the share of a kind where both halves have it in at least {least} sessions, in grey: of a hundred
lost things of a kind under three are used again, fewer than would have been anyway: a summary keeps what is used.
Red is a lost rule that was broken, which is certain.

What does not hold, or is not shown: a thing lost and used again need not have been missed (a search may have brought it
back); 20 calls are the near future alone; what stood shifted was not lost, so it holds the things a summary would have
kept too. Compactions whose summary is encrypted (most of Codex) are left out.

"""

Counts = Counter[tuple[str, str, bool]]
"""(group, kind, used again) and how many things."""


class Unit(NamedTuple):
    """One session's counts, and its repository."""

    repository: str
    counts: Counts
    n_events: int


def main() -> None:
    """Count over both corpora, write the page and the table."""
    units = [unit for unit in corpora() if unit.n_events]
    RESULTS.write_text(page(units), encoding="utf-8")
    write_table(second=table_text(units))


def corpora() -> Iterator[Unit]:
    """Every session of both corpora."""
    first = find_corpus()
    if first is None:
        raise SystemExit("no corpus beside the repository; set CTXWEB_CORPUS")
    yield from units_of([first], lambda _: FIRST_REPOSITORY)
    second = first.with_name("corpus-2")
    if not (second / "INDEX.tsv").is_file():
        return
    with (second / "INDEX.tsv").open(encoding="utf-8") as index:
        rows = [row for row in csv.DictReader(index, delimiter="\t") if int(row["automatic"]) + int(row["by_hand"])]
    for row in rows:
        file = second / "sessions" / f"{row['name']}.gz"
        yield from units_of([file], lambda _, repository=row["repo"]: repository)  # type: ignore[misc]


def units_of(paths: Sequence[Path], repository_of: Callable[[Weighed], str]) -> Iterator[Unit]:
    """The sessions of some files."""
    for weighed, index in sessions_of(paths, []):
        counts, n_events = counted(weighed, index)
        yield Unit(repository_of(weighed), counts, n_events)


def counted(weighed: Weighed, index: Index) -> tuple[Counts, int]:
    """One session's things by group, kind and whether they were used again, and its compactions."""
    found: Counts = Counter()
    n_events, cut = 0, 0
    for _, event in recorded_events(weighed):
        before = standing(event.before, weighed.transcript, index, {})
        after = standing(event.after, weighed.transcript, index, {})
        since, cut = cut, before.newest + 1
        if after.n_silent:
            continue
        n_events += 1
        window = later(index, before.newest)
        found += at_event(index, before, after, window)
        calls = [call for call in index.calls if since <= call.message <= before.newest]
        if len(calls) > N_CALLS:
            at = calls[-N_CALLS - 1].message
            found += shifted(index, before, at, (at, before.newest))
    return found, n_events


def later(index: Index, newest: int) -> tuple[int, int]:
    """The messages after ``newest``, up to the last of the next calls."""
    calls = [call.message for call in index.calls if call.message > newest][:N_CALLS]
    return newest, calls[-1] if calls else newest


def at_event(index: Index, before: Standing, after: Standing, window: tuple[int, int]) -> Counts:
    """What stood before the compaction, lost or kept."""
    found: Counts = Counter()
    for number, reference in enumerate(index.references):
        if before.has(index, number):
            kept = after.has(index, number) or number in after.named
            found[KEPT if kept else LOST, reference.kind, is_used(index, number, window)] += 1
    for rule in index.constraints:
        if rule.message <= before.newest and state_of(rule, before) != GONE:
            group = LOST if state_of(rule, after) == GONE else KEPT
            found[group, RULE, rule.broken_in(window[0], window[1] + 1) is not None] += 1
    return found


def shifted(index: Index, before: Standing, at: int, window: tuple[int, int]) -> Counts:
    """What stood at an earlier message of the same list."""
    found: Counts = Counter()
    for number, reference in enumerate(index.references):
        places = index.places[number]
        if any(m in before.whole for m in places[: bisect_right(places, at)]):
            found[SHIFTED, reference.kind, is_used(index, number, window)] += 1
    for rule in index.constraints:
        if rule.message <= at and state_of(rule, before) != GONE:
            found[SHIFTED, RULE, rule.broken_in(window[0], window[1] + 1) is not None] += 1
    return found


def is_used(index: Index, number: int, window: tuple[int, int]) -> bool:
    """Whether the agent names it after the first message of the window and up to its last."""
    uses = index.uses[number]
    first = bisect_right(uses, window[0])
    return first < len(uses) and uses[first] <= window[1]


def share(counts: Counts, group: str, kind: str) -> tuple[int, int]:
    """(used again, all) of a group and kind."""
    return counts[group, kind, True], counts[group, kind, True] + counts[group, kind, False]


def total(units: Iterable[Unit]) -> Counts:
    """The counts of several sessions."""
    return sum((unit.counts for unit in units), Counter())


def drawn(units: Sequence[Unit], value: Callable[[Counts], float | None]) -> tuple[float, float] | None:
    """The interval of a figure by draws of whole sessions."""
    if len(units) < MIN_CLUSTERS:
        return None
    rng = random.Random(SEED)
    made = (value(total(rng.choices(units, k=len(units)))) for _ in range(N_RESAMPLES))
    values = sorted(one for one in made if one is not None)
    if len(values) < N_RESAMPLES / 2:
        return None
    return values[int(0.025 * len(values))], values[min(len(values) - 1, int(0.975 * len(values)))]


def only(unit: Unit, kind: str) -> Unit:
    """The unit with one kind alone."""
    return unit._replace(counts=Counter({key: n for key, n in unit.counts.items() if key[1] == kind}))


def of(counts: Counts, group: str, kind: str) -> float | None:
    """The share used again."""
    n, every = share(counts, group, kind)
    return n / every if every else None


def added(counts: Counts, kind: str) -> float | None:
    """What the loss adds: the share of lost things minus that of the placebo."""
    lost, anyway = of(counts, LOST, kind), of(counts, SHIFTED, kind)
    return None if lost is None or anyway is None else lost - anyway


def halves(units: Sequence[Unit]) -> tuple[list[Unit], list[Unit]]:
    """The first repository, and all others."""
    return (
        [unit for unit in units if unit.repository == FIRST_REPOSITORY],
        [unit for unit in units if unit.repository != FIRST_REPOSITORY],
    )


def stated(units: Sequence[Unit], kind: str) -> bool:
    """Whether the product may state the chance of a kind."""
    return all(sum(share(unit.counts, LOST, kind)[1] > 0 for unit in half) >= LEAST_SESSIONS for half in halves(units))


def page(units: Sequence[Unit]) -> str:
    """The benchmark's page."""
    repositories = sorted({unit.repository for unit in units})
    first, second = halves(units)
    lines = [HEAD.format(
        n_sessions=len(units), n_events=sum(unit.n_events for unit in units), n_calls=N_CALLS,
        repositories=f"{len(repositories)} repositories", n_draws=f"{N_RESAMPLES:,}", n_clusters=MIN_CLUSTERS,
        halves=f"{FIRST_REPOSITORY} ({len(first)} sessions), all others ({len(second)})", least=LEAST_SESSIONS,
    ).rstrip(), "", "| kind | lost | used again | kept | used again | placebo | used again | lost − placebo, points |"
             " by halves | lost, by halves | stated |", "|---|---|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    lines += [row(units, kind) for kind in (*KINDS, RULE)]
    return "\n".join(lines) + "\n"


def row(units: Sequence[Unit], kind: str) -> str:
    """One kind's line."""
    mine = [only(unit, kind) for unit in units]
    counts, parts = total(mine), [total(half) for half in halves(mine)]
    with_any = [unit for unit in mine if share(unit.counts, LOST, kind)[1]]
    cells = []
    for group in (LOST, KEPT, SHIFTED):
        n, every = share(counts, group, kind)
        ends = drawn(with_any, lambda c, group=group: of(c, group, kind)) if group == LOST else None  # type: ignore[misc]
        cells += [f"{every:,}", f"{n:,} ({percent(n / every if every else None)})" + span(ends)]
    more = points(added(counts, kind)) + span(drawn(with_any, lambda c: added(c, kind)), signed=True)
    by_half = "; ".join(points(added(part, kind)) for part in parts)
    lost = "; ".join(percent(of(part, LOST, kind)) for part in parts)
    return f"| {kind} | {' | '.join(cells)} | {more} | {by_half} | {lost} | {'yes' if stated(units, kind) else 'no'} |"


def percent(value: float | None) -> str:
    """A share."""
    return "–" if value is None else f"{value:.1%}"


def points(value: float | None) -> str:
    """A difference in points."""
    return "–" if value is None else f"{100 * value:+.1f}".replace("-", "−")


def span(ends: tuple[float, float] | None, *, signed: bool = False) -> str:
    """An interval in brackets."""
    if ends is None:
        return ""
    return f" [{', '.join(points(end) if signed else f'{100 * end:.1f}' for end in ends)}]"


def table_text(units: Sequence[Unit]) -> str:
    """The product's table of chances."""
    counts = total(units)
    lines = "".join(
        f'    "{kind}": ({of(counts, LOST, kind) or 0.0:.3f}, {of(counts, SHIFTED, kind) or 0.0:.3f}),\n'
        for kind in (*KINDS, RULE) if stated(units, kind)
    )  # fmt: skip
    n, n_repositories = sum(unit.n_events for unit in units), len({unit.repository for unit in units})
    return (
        f"CHANCES: dict[str, tuple[float, float]] = {{\n{lines}}}\n"
        '"""By kind of what a compaction lost: the share named again within ``N_CALLS`` calls, and the same where\n'
        'nothing was dropped; made by ``python -m tests.bench chances``."""\n'
        f'CHANCES_SOURCE = "{n} compactions of {n_repositories} repositories"\n'
    )
