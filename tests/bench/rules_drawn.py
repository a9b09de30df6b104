"""Sentences of real sessions to be labelled, rules or not: ``python -m tests.bench draw FILE [EARLIER...]``.

Draws them at random, by source, from what users, memory files and system texts say in the corpora beside the repository
(``CTXWEB_CORPUS``, and the folder corpus-2 beside it), without the reader's answer, and writes them to FILE, which
stays outside the repository.  Only the half of the sentences that the reader is not mended on is drawn from, and none
that stands in a file of an EARLIER draw.  What came of labelling them stands here as counts, for ``tests.bench.rules``.
"""

from __future__ import annotations

import random
import sys
from hashlib import sha256
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

from ctxweb.commands.study import sessions_of
from sessions.engine.quality import index, rules
from sessions.engine.quality.rules import MEMORY, SYSTEM, USER
from sessions.engine.quality.wilson import interval
from tests.samples import find_corpus

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED = 2_031
N_TAKEN, N_LEFT = {USER: 40, MEMORY: 40, SYSTEM: 40}, {USER: 100, MEMORY: 50, SYSTEM: 50}
N_CHANCES = 4_000
"""What both shares of a source could be, by chance, for the interval of what is made of several shares."""


class Labels(NamedTuple):
    """One source: distinct sentences that the reader takes for rules and leaves; of those drawn how many are rules."""

    source: str
    taken: int
    left: int
    taken_rules: int
    taken_drawn: int
    left_rules: int
    left_drawn: int


LAST = (
    Labels("what users say or paste", 84, 2_600, 32, 40, 0, 80),
    Labels("memory files", 191, 437, 34, 35, 6, 30),
    Labels("system texts", 167, 626, 35, 35, 1, 30),
)
FIRST = (
    Labels("what users say or paste", 122, 2_682, 33, 40, 2, 80),
    Labels("memory files", 214, 479, 29, 35, 2, 30),
    Labels("system texts", 194, 664, 33, 35, 3, 30),
)
HEAD = """## Sentences of real sessions

A rule is a standing order to the agent: how it has to work or what it must not do, beyond the one step that is asked
for. 250 sentences are drawn at random by `python -m tests.bench draw FILE` from two corpora, by source, some that the
reader takes and some that it leaves, labelled before it is run on them, and then counted once.
"""
ROUNDS = """
The reader was mended twice. Before that, precision was 67% and recall 22%, on 500 sentences of an earlier draw. They
were split in two by a hash; on one half, and on the sentences of the corpora of the same half, it was mended:

| sentences | precision before | recall before | precision | recall |
|---|---|---|---|---|
| the half that was mended on | 61% | 16% | 89% | 79% |
| the other half | 72% | 32% | 91% | 87% |

Then 250 were drawn from the other half, with what stands next for a first figure. It was mended on those too, and the
250 above were drawn, none of them drawn before. Since then a few small classes are read otherwise ("run X" and
"reconcile X", "when you start a project always do X" without a comma, the noun in "Language: Go 1.25"), and sentences
of 8 to 11 characters are read ("Use pnpm"); that is not measured anew.
"""
LIMITS = """
What does not hold, or is not shown: the 500 are labelled in two passes without what stands around them, the others in
one pass with it, by the eyes that also mended the reader. What an agent quotes of a conversation to another that
reviews it (9,266 sentences) is said to nobody here, and is not drawn from; among the 500 it counts as left. Both halves
are of the same sessions, which say some things in both, and a few texts were read whole while mending. A recall is an
estimate: the shares of what was drawn, times all there is; that of users hangs on few (one rule among the 80 that are
left would make it 67%). What is wrongly taken is mostly the step at hand ("use the browser skill"), what is missed
states a fact ("wire names are snake case"). At most 200 rules of a message are tracked.
"""
TABLE = """
| source | taken for rules | of them rules (precision) | left | of them rules | rules that are read (recall) |
|---|---|---|---|---|---|
"""


def main() -> None:
    """Draw and write, a line each."""
    if not sys.argv[1:]:
        raise SystemExit("python -m tests.bench draw FILE [EARLIER...]")
    earlier = [Path(name).read_text(encoding="utf-8").splitlines() for name in sys.argv[2:]]
    known = {line.partition("\t")[2] for lines in earlier for line in lines}
    Path(sys.argv[1]).write_text("".join(f"{n}\t{text}\n" for n, text in enumerate(drawn(known))), encoding="utf-8")


def drawn(known: set[str]) -> list[str]:
    """The sentences, in an order that says nothing."""
    found: dict[str, tuple[str, bool]] = {}
    first = find_corpus()
    if first is None:
        raise SystemExit("no corpus beside the repository; set CTXWEB_CORPUS")
    real = index.rules_in

    def heard(text: str, source: str) -> Iterator[rules.Rule]:
        for sentence, is_rule in rules.judged(text, source):
            if sentence not in known and sha256(sentence.encode()).digest()[0] % 2:
                found[sentence] = (source, found.get(sentence, (source, False))[1] or is_rule)
        return real(text, source)

    with patch("sessions.engine.quality.index.rules_in", heard):
        for folder in (first, first.with_name("corpus-2")):
            for _ in sessions_of([folder], []):
                pass
    chance = random.Random(SEED)
    chosen: list[str] = []
    for source in (USER, MEMORY, SYSTEM):
        for is_rule, n in ((True, N_TAKEN[source]), (False, N_LEFT[source])):
            every = sorted(text for text, kind in found.items() if kind == (source, is_rule))
            chosen += chance.sample(every, min(n, len(every)))
    chance.shuffle(chosen)
    return chosen


def section() -> str:
    """The part of the page: precision and recall by source and in all, of the last draw and of the one before."""
    return HEAD + table(LAST) + ROUNDS + table(FIRST) + LIMITS


def table(draw: tuple[Labels, ...]) -> str:
    """One draw: a row for each source, and one for all."""
    rows = [
        f"| {one.source} | {one.taken:,} | {share(one.taken_rules, one.taken_drawn)} | {one.left:,} | "
        f"{share(one.left_rules, one.left_drawn)} | {made((one,))[1]} |"
        for one in draw
    ]
    precision, recall = made(draw)
    taken, left = sum(one.taken for one in draw), sum(one.left for one in draw)
    return TABLE + "\n".join([*rows, f"| all | {taken:,} | {precision} | {left:,} | | {recall} |"]) + "\n"


def made(draw: tuple[Labels, ...]) -> tuple[str, str]:
    """Precision and recall over sources, each with the interval that chance leaves (95%)."""
    chance = random.Random(SEED)
    shares = [(one.taken_rules / one.taken_drawn, one.left_rules / one.left_drawn) for one in draw]
    cases = [figures(draw, shares)]
    for _ in range(N_CHANCES):
        shares = [
            (
                chance.betavariate(one.taken_rules + 0.5, one.taken_drawn - one.taken_rules + 0.5),
                chance.betavariate(one.left_rules + 0.5, one.left_drawn - one.left_rules + 0.5),
            )
            for one in draw
        ]
        cases.append(figures(draw, shares))
    texts = []
    for values in zip(*cases, strict=True):
        cuts = quantiles(values[1:], n=40)
        texts.append(f"{values[0]:.0%} [{cuts[0]:.0%}, {cuts[-1]:.0%}]")
    return texts[0], texts[1]


def figures(draw: tuple[Labels, ...], shares: list[tuple[float, float]]) -> tuple[float, float]:
    """Precision and recall where these are the shares of rules among what is taken and what is left."""
    right = sum(one.taken * taken for one, (taken, _) in zip(draw, shares, strict=True))
    missed = sum(one.left * left for one, (_, left) in zip(draw, shares, strict=True))
    return right / sum(one.taken for one in draw), right / (right + missed)


def share(n: int, of: int) -> str:
    """A share with its interval."""
    low, high = interval(n, of) or (0.0, 1.0)
    return f"{n} of {of}, {n / of:.0%} [{low:.0%}, {high:.0%}]"
