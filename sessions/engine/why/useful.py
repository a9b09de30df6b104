"""The most useful thing that a file holds of a point whose cause it does not tell (verdicts 3.26)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.why.case import COMPACTION
from sessions.engine.why.causes import SUMMARY_LONG
from sessions.engine.why.causes_plain import alike
from sessions.engine.why.filled import heaviest_words
from sessions.engine.why.said import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.engine.why.account import Explanation
    from sessions.engine.why.case import Case

LARGE, LEAST = 0.2, 1_000
"""Share of the context, and tokens, from which one message or one source is named."""
HELD = 0.7
"""Share of the tokens that a refusal names from which the file holds what was refused."""


def most_useful(case: Case, contradicted: Iterable[Explanation]) -> str:
    """Its own words, the limit and what was over it, what speaks against its words, the largest growth, the figure."""
    error = case.error or next(iter(case.refused[-1:]), None)
    words = quoted(error) if error is not None else ""
    against = next((one.against[0] for one in contradicted if one.cause == SUMMARY_LONG), "")
    over = _over(case, words)
    figure = f"{against}: its size does not explain it" if against else _figure(case) if over is None else over
    clauses = (words, figure, _growth(case))
    return "; ".join(clause for clause in clauses if clause) or "the file holds no figure of it"


def _over(case: Case, words: str) -> str | None:
    """The limit that a refusal names and what was over it, where its words hide that; None where it names none."""
    error = case.error
    if error is None or error.kind not in ("context", "body") or not (error.tokens or error.limit):
        return None
    unit = "bytes" if error.kind == "body" else "tokens"
    plain = words.replace(",", "").replace(".", "")
    new = [figure for figure in (error.tokens, error.limit) if figure and str(figure) not in plain]
    said = f"{error.tokens:,} {unit}" if error.tokens else ""
    allowed = f"{error.limit:,} {unit} allowed" if error.limit else ""
    named = f"{error.tokens:,} of {allowed}" if said and allowed else said or allowed
    held = error.kind == "context" and error.tokens and case.true < HELD * error.tokens
    rest = f"the file holds {case.true:,} of them" if held else ""
    return "; ".join(part for part in (named if new else "", rest) if part)


def _figure(case: Case) -> str:
    """The size of the context, with its share where the window is known, and the threshold that it was under."""
    figure = case.said if case.said is not None and case.error is None else case.true
    if not figure:
        return ""
    told = case.window_is_known and 100 * figure >= case.window
    share = f", {100 * figure / case.window:.0f}% of the window" if told else ""
    under = case.thresholds[0] if case.thresholds and case.what == COMPACTION and case.window_is_known else None
    limit = f", under {under.name}, {under.tokens:,}" if under and figure < under.tokens else ""
    n, least, _ = alike(case.shared.figures, figure)
    again = f", {n} compactions at about {least:,}" if n > 1 and case.what == COMPACTION else ""
    return f"{figure:,} tokens{share}{limit}{again}"


def _growth(case: Case) -> str:
    """The largest growth before it: one message, or one source, that is a good part of the context."""
    found, least = case.filled, max(LEAST, LARGE * case.true)
    if found.heaviest is None:
        return ""
    if found.heaviest_tokens >= least:
        return heaviest_words(case)
    name, tokens, n = found.by_source[0]
    return f"most of it {name}, {tokens:,} in {n:,} message{'s' if n > 1 else ''}" if tokens >= least else ""
