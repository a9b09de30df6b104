"""Studies a corpus: sessions come in one by one, the result as a document or as Markdown."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine.quality.recorded import DEFAULT_CALLS, DEFAULT_DEFINITION, DEFINITIONS, memory_lines, rereads
from sessions.engine.quality.study import Study, study, units_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.quality.auroc import Interval
    from sessions.engine.quality.index import Index
    from sessions.engine.quality.recorded import Reread
    from sessions.engine.quality.study import Predictor


class CorpusFindings(NamedTuple):
    """Studies by definition of "again", the default first, and lines proposed for a memory file by the default."""

    studies: tuple[Study, ...]
    memory_lines: tuple[str, ...]


def study_corpus(sessions: Iterable[tuple[Weighed, Index]], *, n_calls: int = DEFAULT_CALLS) -> CorpusFindings:
    """One study for each definition of "again" of the same sessions, which come one by one."""
    names = (DEFAULT_DEFINITION, *(name for name in DEFINITIONS if name != DEFAULT_DEFINITION))
    units: dict[str, list[Any]] = {name: [] for name in names}
    repeated: list[tuple[Reread, ...]] = []
    n_compactions = 0
    for weighed, index in sessions:
        again = rereads(weighed, index, n_calls=n_calls)
        repeated += [again] if again else []
        n_compactions += len(again)
        for name in names:
            units[name].append(units_of(weighed, index, definition=name, n_calls=n_calls))
    studies = tuple(study(units[name], name, n_calls, n_compactions) for name in names)
    return CorpusFindings(studies, memory_lines(repeated))


def study_document(result: CorpusFindings) -> dict[str, Any]:
    """``ctxweb.study/1``: one entry per definition of "again"; AUROC from 0 to 1, null where it cannot be had."""
    return {
        "schema": "ctxweb.study/1",
        "definitions": [dataclasses.asdict(found) for found in result.studies],
        "memory_lines": list(result.memory_lines),
    }


def markdown(result: CorpusFindings) -> str:
    """Tables of every definition, with n and intervals; then what a memory file could say."""
    parts: list[str] = []
    for found in result.studies:
        parts += [*_facts(found), "", *_predictors(found), "", *_reliability(found), ""]
    if result.memory_lines:
        parts += ["## Lines proposed for a memory file", "", *result.memory_lines, ""]
    return "\n".join(parts)


def _facts(found: Study) -> list[str]:
    dropped = _share(found.n_again, found.n_units)
    others = _share(found.n_placebo_again, found.n_placebo)
    sentences = (
        f"{found.n_sessions} sessions, {found.n_compactions} recorded compactions whose originals are in the file,",
        f"sessions in which one dropped a target: {found.n_with_compactions}.",
        f"Dropped: {found.n_units} targets, fetched again within {found.n_calls} calls: {dropped}.",
        f"Where nothing was dropped: {found.n_placebo} targets, fetched again: {others}.",
    )
    return [f'## "Again" by {found.definition}', "", *sentences, "", f"**{reading(found)}**"]


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
    head = ["| predictor | AUROC [95 %] | within session, point and earlier fetches |", "|---|---|---|"]
    return head + [f"| {row.name} | {_interval(row.raw)} | {_interval(row.adjusted)} |" for row in _rows(found)]


def _rows(found: Study) -> tuple[Predictor, ...]:
    return (*found.rows, found.placebo)


def _reliability(found: Study) -> list[str]:
    head = [
        "| needed and gone | dropped | fetched again | not dropped, needed | fetched again |",
        "|---|---|---|---|---|",
    ]
    lines = []
    for group in found.bins:
        many = "or more" if group.high is None else f"to {group.high}"
        name = str(group.low) if group.low == group.high else f"{group.low} {many}"
        here, there = _share(group.n_again, group.n), _share(group.n_placebo_again, group.n_placebo)
        lines.append(f"| {name} | {group.n} | {here} | {group.n_placebo} | {there} |")
    return head + lines


def _share(n: int, of: int) -> str:
    return f"{n} ({n / of:.0%})" if of else "0"


def _interval(interval: Interval) -> str:
    if interval.value is None:
        return "one outcome only"
    if interval.low is None or interval.high is None:
        return f"{interval.value:.2f} [too few for an interval]"
    return f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
