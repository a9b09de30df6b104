"""Studies a corpus: sessions come in one by one, the result as a document or as Markdown."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sessions.engine.base.words import counted
from sessions.engine.quality.auroc import Interval
from sessions.engine.quality.dose_tables import Dose, DoseTable
from sessions.engine.quality.index import Index
from sessions.engine.quality.recorded import (
    DEFAULT_CALLS,
    DEFAULT_DEFINITION,
    DEFINITIONS,
    Reread,
    memory_lines,
    rereads,
)
from sessions.engine.quality.study import Study, rules_after, study, units_of
from sessions.engine.weigh.calibration.weighed import Weighed

AGAIN = {
    "range": "the same target (of a file: some of the same lines)",
    "path": "the same target, whatever its lines",
    "exact": "the same call: the same target and the same lines",
}


class CorpusFindings(NamedTuple):
    """Studies by definition of "again", the default first; lines for a memory file; rules by (lost, broken after)."""

    studies: tuple[Study, ...]
    memory_lines: tuple[str, ...]
    rules: Counter[tuple[bool, bool]]


def study_corpus(sessions: Iterable[tuple[Weighed, Index]], *, n_calls: int = DEFAULT_CALLS) -> CorpusFindings:
    """One study for each definition of "again" of the same sessions, which come one by one."""
    names = (DEFAULT_DEFINITION, *(name for name in DEFINITIONS if name != DEFAULT_DEFINITION))
    units: dict[str, list[Any]] = {name: [] for name in names}
    repeated: list[tuple[Reread, ...]] = []
    rules: Counter[tuple[bool, bool]] = Counter()
    n_compactions = 0
    for weighed, index in sessions:
        again = rereads(weighed, index, n_calls=n_calls)
        repeated += [again] if again else []
        n_compactions += len(again)
        rules += rules_after(weighed, index)
        for name in names:
            units[name].append(units_of(weighed, index, definition=name, n_calls=n_calls))
    studies = tuple(study(units[name], name, n_calls, n_compactions) for name in names)
    return CorpusFindings(studies, memory_lines(repeated), rules)


def study_document(result: CorpusFindings) -> dict[str, Any]:
    """``ctxweb.study/1``: one entry per definition of "again"; AUROC from 0 to 1, null where it cannot be had."""
    names = {(True, True): "lost_broken", (True, False): "lost", (False, True): "kept_broken", (False, False): "kept"}
    return {
        "schema": "ctxweb.study/1",
        "definitions": [dataclasses.asdict(found) for found in result.studies],
        "rules": {name: result.rules[key] for key, name in names.items()},
        "memory_lines": list(result.memory_lines),
    }


def markdown(result: CorpusFindings) -> str:
    """What the default says in plain words and by dose; the other definitions; rules; what a memory file could say."""
    first, *others = result.studies
    parts = ["## In plain words", "", *(f"* {sentence}" for sentence in plain(result)), ""]
    parts += ["## By dose", "", *_doses(first.tables[0]), ""]
    for table in (*first.tables[1:], *first.needs):
        kind = "" if table in first.tables else "Files read, "
        parts += [f"### {kind}{table.name if kind else table.name.capitalize()}", "", *_doses(table), ""]
    for found in others:
        parts += [f'## "Again" as {AGAIN[found.definition]}', "", *_doses(found.tables[0]), "", "Files read:", ""]
        parts += [*_doses(found.tables[1]), ""]
    parts += ["## As a score", "", f"**{reading(first)}**", "", *_predictors(first), ""]
    if result.memory_lines:
        parts += ["## Lines proposed for a memory file", "", *result.memory_lines, ""]
    return "\n".join(parts)


def plain(result: CorpusFindings) -> Iterator[str]:
    """What was found, a sentence each: how much there was, every kind of result, every kind of need, rules."""
    found = result.studies[0]
    yield (
        f"{counted(found.n_sessions, 'session')}, {counted(found.n_compactions, 'recorded compaction')} whose "
        f"originals are in the file, in {found.n_with_compactions:,} of them with a dropped result."
    )
    yield (
        f"{found.n_units:,} results were dropped; {_share(found.n_again, found.n_units)} were fetched again within "
        f"{found.n_calls} tool calls. Where nothing was dropped: {_share(found.n_placebo_again, found.n_placebo)} of "
        f"{found.n_placebo:,}."
    )
    for table in found.tables:
        yield f"{table.name.capitalize()} with something lost that is used later: {_said(table)}"
    for table in found.needs:
        yield f"Files read in which {table.name} are lost: {_said(table)}"
    yield _rules(result.rules)


def _said(table: DoseTable) -> str:
    """One sentence on a table: both shares, the difference, whether it holds."""
    lost = table.lost
    if not lost.n or not lost.n_placebo:
        return "too few to say anything."
    facts = (
        f"{_share(lost.n_again, lost.n)} of {lost.n:,} are fetched again, "
        f"{_share(lost.n_placebo_again, lost.n_placebo)} where nothing was dropped"
    )
    if lost.least is None or lost.most is None:
        return f"{facts}; too few sessions to say whether the loss does that."
    if table.holds:
        return f"{facts}; the loss adds {_points(lost)}, in both halves of the sessions."
    return f"{facts}; the loss adds {_points(lost)}: that does not hold, so nothing is predicted."


def _rules(rules: Counter[tuple[bool, bool]]) -> str:
    lost, kept = (rules[side, True] + rules[side, False] for side in (True, False))
    if not lost + kept:
        return "Rules: none stood before a compaction."
    return (
        f"Rules: of {lost:,} lost by a compaction {rules[True, True]:,} were broken later, of {kept:,} that it kept "
        f"{rules[False, True]:,}; only rules that name a file or a command can be checked."
    )


def _doses(table: DoseTable) -> list[str]:
    head = [
        "| lost, used later | dropped | fetched again | not dropped | fetched again | difference [95%] | sessions |",
        "|---|---|---|---|---|---|---|",
    ]
    sides = "; ".join("–" if half.difference is None else f"{100 * half.difference:+.1f}" for half in table.halves)
    return [*head, *map(_dose, table.doses), _dose(table.lost, f"; by halves {sides}")]


def _dose(one: Dose, beside: str = "") -> str:
    """One row; ``beside`` the difference what else is told of it."""
    more = "or more" if one.high is None else f"to {one.high}"
    name = str(one.low) if one.low == one.high else f"{one.low} {more}"
    return (
        f"| {name} | {one.n:,} | {_share(one.n_again, one.n)} | {one.n_placebo:,} | "
        f"{_share(one.n_placebo_again, one.n_placebo)} | {_points(one)}{beside} | {one.n_sessions} |"
    )


def _points(one: Dose) -> str:
    """A difference in points with its interval."""
    if one.difference is None:
        return "–"
    if one.least is None or one.most is None:
        return f"{100 * one.difference:+.1f} [too few for an interval]"
    return f"{100 * one.difference:+.1f} [{100 * one.least:+.1f}, {100 * one.most:+.1f}]"


def reading(found: Study) -> str:
    """What the figures allow to be said about the first predictor, in one sentence."""
    raw, adjusted = found.rows[0].raw, found.rows[0].adjusted
    if raw.value is None or raw.low is None or raw.high is None:
        outcomes = f"{found.n_again} of {found.n_units} fetched again"
        return f"Too few outcomes ({outcomes}) to say whether the warnings come true."
    if raw.low <= 0.5 <= raw.high:
        return "The warnings tell nothing: chance lies within the interval."
    if raw.high < 0.5:
        return "What the warnings name is fetched again less often than the rest."
    if adjusted.low is None or adjusted.low <= 0.5:
        return "Better than chance, but not among targets that were fetched equally often before."
    return "Better than chance, also among targets that were fetched equally often before."


def _predictors(found: Study) -> list[str]:
    head = ["| predictor | AUROC [95%] | within session, point and earlier fetches |", "|---|---|---|"]
    rows = (*found.rows, found.placebo)
    return head + [f"| {row.name} | {_interval(row.raw)} | {_interval(row.adjusted)} |" for row in rows]


def _share(n: int, of: int) -> str:
    return f"{n:,} ({n / of:.1%})" if of else "0"


def _interval(interval: Interval) -> str:
    if interval.value is None:
        return "one outcome only"
    if interval.low is None or interval.high is None:
        return f"{interval.value:.2f} [too few for an interval]"
    return f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
