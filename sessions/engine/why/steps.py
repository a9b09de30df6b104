"""The account of one point in four steps: what happened, what was known, what each explanation says, what remains."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sessions.engine.why.account import FACTS, RIVALS, contradicted
from sessions.engine.why.case import Evidence
from sessions.engine.why.causes import CAUSES
from sessions.engine.why.filled import said_row
from sessions.engine.why.said import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions.engine.why.account import Explanation
    from sessions.engine.why.case import Case

HAPPENED, KNOWN, EXPLAINED, REMAINS = "happened", "known", "explained", "remains"
STEPS = {
    HAPPENED: "What happened",
    KNOWN: "What the agent knew",
    EXPLAINED: "What each explanation says",
    REMAINS: "What remains",
}
MOST = 8
"""Explanations that are told, the best first."""


def account_of(
    case: Case, found: Sequence[Explanation], lead: Explanation, left: Sequence[str]
) -> tuple[Evidence, ...]:
    """The four steps as rows, each with the step it belongs to; ``found`` are the explanations, the best first."""
    steps = {
        HAPPENED: _happened(case),
        KNOWN: _known(case),
        EXPLAINED: _explained(case, found),
        REMAINS: _remains(case, lead, left),
    }
    return tuple(replace(row, step=step) for step, rows in steps.items() for row in rows)


def _happened(case: Case) -> Iterable[Evidence]:
    """Every event recorded there, its own words quoted."""
    for error in case.refused if case.error is None else (case.error,):
        what = "A compaction failed" if error.of_compaction else "A request was refused"
        times = f" {error.count:,} times" if error.count > 1 else ""
        yield case.row(f"{what}{times}: {quoted(error) or 'no words are recorded'}", error.count, "tries")
    if case.compaction is not None:
        by = {"auto": "by itself", "manual": "by command"}.get(case.trigger or "", "who asked is not recorded")
        yield case.row(f"The agent compacted, {by}")
    elif case.error is None:
        yield case.row("No compaction is recorded here")
    yield from case.switch_rows
    if case.previous is not None:
        n = len(case.run)
        text = f"The compaction before came {n:,} request{'s' if n != 1 else ''} earlier"
        yield Evidence(text, case.previous.request, None, n, "requests", "recorded")
    if case.after is not None:
        yield case.row(f"After it the context held {case.after:,} tokens", case.after, label="measured")


def _known(case: Case) -> Iterable[Evidence]:
    """Its rule, the figure that it would have used, its window by rank, the limit that a refusal names."""
    if case.weighed.transcript.trigger_at is not None:
        yield case.row("The request gives its own trigger", case.weighed.transcript.trigger_at)
    for one in case.thresholds:
        yield case.row(f"{one.name}: {one.tokens:,} tokens", one.tokens, label="rule")
    if not case.thresholds:
        yield case.row("The agent's trigger is not known", label="")
    words = case.window_words
    yield case.row(words[0].upper() + words[1:], case.window, label="recorded" if case.window_is_known else "")
    yield from case.size_rows
    yield from said_row(case)


def _explained(case: Case, found: Sequence[Explanation]) -> Iterable[Evidence]:
    """What each predicts of this file, what of the record it accounts for, and what contradicts it."""
    for one in found[:MOST]:
        accounts = ", ".join(words for fact, words in FACTS.items() if fact & one.accounts == fact)
        out = f"Contradicted: {'; '.join(one.against)}" if one.against else f"Accounts for {accounts}"
        yield case.row(f"{_first(CAUSES[one.cause])}: {one.because}. {out}", label="")
    for rival in RIVALS.get(found[0].cause, ()) if found else ():
        out = contradicted(case, rival)
        yield case.row(f"{_first(CAUSES[rival])}: {f'contradicted, {out}' if out else 'not excluded'}", label="")


def _remains(case: Case, lead: Explanation, left: Sequence[str]) -> Iterable[Evidence]:
    beside = f"; not excluded: {', '.join(left)}" if left else ""
    yield case.row(f"{_first(CAUSES[lead.cause])}{beside}", label="")


def _first(words: str) -> str:
    return words[0].upper() + words[1:]
