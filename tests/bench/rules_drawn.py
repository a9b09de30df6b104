"""Sentences of real sessions to be labelled, rules or not: ``python -m tests.bench draw FILE``.

Draws them at random from what users, memory files and system texts say in the corpora beside the repository
(``CTXWEB_CORPUS``, and the folder corpus-2 beside it), without the reader's answer, and writes them to FILE, which
stays outside the repository.  What came of labelling them stands here as counts, for ``tests.bench.rules``.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

from ctxweb.commands.study import sessions_of
from sessions.engine.quality import index, rules
from sessions.engine.quality.wilson import interval
from tests.samples import find_corpus

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED, N_TAKEN, N_LEFT = 2_026, 150, 350
AGREED, LABELLED = 496, 500


class Labels(NamedTuple):
    """One source: distinct sentences that the reader takes for rules and leaves; of those drawn how many are rules."""

    source: str
    taken: int
    left: int
    taken_rules: int
    taken_drawn: int
    left_rules: int
    left_drawn: int


LABELS = (
    Labels("what users say or paste", 287, 14_969, 27, 71, 7, 283),
    Labels("memory files", 161, 1_622, 29, 32, 12, 40),
    Labels("system texts", 155, 1_671, 44, 47, 8, 27),
)
HEAD = """
## Sentences of real sessions

{drawn} sentences drawn at random by `python -m tests.bench draw FILE` from two corpora, {n_taken} of those that the
reader takes for rules and {n_left} of those that it leaves, labelled without its answer: a rule is a standing order to
the agent, how it has to work or what it must not do, beyond the one step that is asked for. The reader was not adapted
on them. Labelled twice in two orders; {agreed} of {drawn} labels are the same, the others count as none.

What does not hold, or is not shown: both passes are of one pair of eyes. A recall is an estimate: the shares of what
was drawn, times all there is. What is wrongly taken describes a program ("the worker never retries"), mostly in what
users paste; what is missed has no marker ("answer in short paragraphs").

| source | taken for rules | of them rules (precision) | left | of them rules | rules that are read (recall) |
|---|---|---|---|---|---|
"""


def main() -> None:
    """Draw and write, a line each."""
    if not sys.argv[1:]:
        raise SystemExit("python -m tests.bench draw FILE")
    Path(sys.argv[1]).write_text("".join(f"{n}\t{text}\n" for n, text in enumerate(drawn())), encoding="utf-8")


def drawn() -> list[str]:
    """The sentences, in an order that says nothing."""
    taken: dict[str, bool] = {}
    first = find_corpus()
    if first is None:
        raise SystemExit("no corpus beside the repository; set CTXWEB_CORPUS")
    real = index.rules_in

    def heard(text: str, source: str) -> Iterator[rules.Rule]:
        for sentence in rules.sentences(rules.prose(text)):
            taken.setdefault(sentence, any(real(sentence, source)))
        return real(text, source)

    with patch("sessions.engine.quality.index.rules_in", heard):
        for _ in sessions_of([first], []):
            pass
        for _ in sessions_of([first.with_name("corpus-2")], []):
            pass
    chance = random.Random(SEED)
    chosen = [
        *chance.sample(sorted(text for text, is_rule in taken.items() if is_rule), N_TAKEN),
        *chance.sample(sorted(text for text, is_rule in taken.items() if not is_rule), N_LEFT),
    ]
    chance.shuffle(chosen)
    return chosen


def section() -> str:
    """The part of the page: precision and recall by source and in all."""
    head = HEAD.format(drawn=LABELLED, n_taken=N_TAKEN, n_left=N_LEFT, agreed=AGREED)
    whole = Labels("all", *(sum(one[k] for one in LABELS) for k in range(1, 7)))
    return head + "\n".join(map(row, (*LABELS, whole))) + "\n"


def row(one: Labels) -> str:
    """One source with its intervals (95%)."""
    right, missed = one.taken * one.taken_rules / one.taken_drawn, one.left * one.left_rules / one.left_drawn
    least, most = interval(one.left_rules, one.left_drawn) or (0.0, 1.0)
    recall = f"{right / (right + missed):.0%} [{right / (right + one.left * most):.0%}, "
    recall += f"{right / (right + one.left * least):.0%}]"
    return (
        f"| {one.source} | {one.taken:,} | {share(one.taken_rules, one.taken_drawn)} | {one.left:,} | "
        f"{share(one.left_rules, one.left_drawn)} | {recall} |"
    )


def share(n: int, of: int) -> str:
    """A share with its interval."""
    low, high = interval(n, of) or (0.0, 1.0)
    return f"{n} of {of}, {n / of:.0%} [{low:.0%}, {high:.0%}]"
