"""Sentences of real sessions to be labelled, rules or not: ``python -m tests.bench draw FILE [EARLIER...]``.
What came of it: ``python -m tests.bench labels FILE FIRST SECOND [EARLIER...]``.

Draws them at random, by source, from what users, memory files and system texts say in the corpora beside the repository
(``CTXWEB_CORPUS``, and the folder corpus-2 beside it), without the reader's answer, and writes them to FILE, which
stays outside the repository.  Only the half of the sentences that the reader is not mended on is drawn from, and none
that stands in a file of an EARLIER draw.  FIRST and SECOND have a line for each sentence, its number, a tab, and 1 for
a rule or 0.  What came of labelling them stands here as counts, for ``tests.bench.rules``.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

from ctxweb.commands.study import sessions_of
from sessions.engine.quality import index, rules
from sessions.engine.quality.auroc import interval
from sessions.engine.quality.rules import MEMORY, SYSTEM, USER
from tests.samples import find_corpus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SEED = 51_007
CHANCE_SEED = 2_031
N_TAKEN, N_LEFT = {USER: 40, MEMORY: 40, SYSTEM: 40}, {USER: 100, MEMORY: 50, SYSTEM: 50}
ASKED = """\
# Each line below is one sentence of what people, their memory files or a system prompt say to a coding agent, alone.
# Which are rules?
# A rule is a standing order to the agent: how it has to work, or what it must not do, beyond the one step that is asked
# for. It binds whenever its case comes up ("when you weigh anchor, ring the bell first"), in whatever words, also as a
# fact that plainly orders ("charts without a date are thrown away").
# No rules are: a step of the task at hand or of a plan ("now fix the login page"), how a thing is installed or used,
# facts, descriptions (of skills and tools, too), questions, headings, examples, code, what somebody says of themselves.
# Judge each by itself, by what it says. Where you doubt, take the likelier. Use no program, and look nothing up.
# Write a file with a line for each sentence: its number, a tab, 1 (a rule) or 0 (none).
"""
"""What those who label are told, all of it."""
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


SOURCES = {USER: "what users say or paste", MEMORY: "memory files", SYSTEM: "system texts"}
LAST = (
    Labels(SOURCES[USER], 90, 2_841, 19, 22, 2, 118),
    Labels(SOURCES[MEMORY], 257, 485, 34, 40, 4, 50),
    Labels(SOURCES[SYSTEM], 224, 674, 39, 40, 1, 50),
)
"""The seventh draw."""
FIRST = (
    Labels(SOURCES[USER], 135, 2_796, 26, 40, 1, 100),
    Labels(SOURCES[MEMORY], 245, 497, 33, 40, 6, 50),
    Labels(SOURCES[SYSTEM], 225, 673, 38, 40, 3, 50),
)
HEAD = """## Sentences of real sessions

A rule is a standing order to the agent: how it has to work or what it must not do, beyond the one step that is asked
for. Sentences are drawn at random by `python -m tests.bench draw FILE` from two corpora, by source, some that the
reader takes and some that it leaves: 320. Two people who know nothing of the reader label each by itself, without the
answer of the other or of the reader; `python -m tests.bench labels` counts. They agree on 99% (kappa 0.98); counted
here are the labels of the first.
"""
ROUNDS = """
By the labels of the second, precision is 89% and recall 83%. This is the seventh draw (seed 51,007), without the
sentences of the fifth and the sixth. Six draws came before, of 311 to 382 sentences, each with two people of its own
(they agreed on 96% to 99%; kappa 0.92 to 0.99) and each after the reader was mended on the one before: precision 83%
and recall 80%, then 86% and 78%, 91% and 70%, 83% and 83%, 87% and 86%, 86% and 75%. This is the first of the draws:
"""
LIMITS = """
After the sixth draw (seed 41,006) the reader was mended by class on its labels and on the half that may be mended on.
What is missed no longer: "No X" under a heading over what is not done, "if ..., it's a Y", "X uses `y`", what is
acceptable, an order behind a dash, in a line with a colon at its end, or in a bold sentence beside what explains it.
What is taken no longer: when a skill of a list is used, what follows "When to apply:", the orders of a long text that
says "you" but once or twice. 36 of the 4,571 sentences are read otherwise. A change that the sixth was drawn to judge,
that a bare step of a memory file ("open the report") is no rule, bought nothing and was taken back.

What does not hold, or is not shown: precision stands at the 90% that it is to reach, by the second a point under it,
and its interval reaches from 82% to 94%; recall hangs on few: 2 rules among 118 that are left of users count for a
twelfth of all. Of what is taken of users only 22 sentences stand in neither the fifth nor the sixth draw. The sentences
of the first four draws are not kept, so that some may have been drawn again. Both halves of the corpora are of the same
sessions. The people who labelled are alike: what all of them take for a rule may be none to others; they were told what
a rule is in ten lines. What an agent quotes of a conversation to another that reviews it is said to nobody here, and is
not drawn from. What is wrongly taken is mostly what a user forbids in one plan, and a note of how a thing was done;
what is missed states a fact. At most 200 rules of a message are tracked.
"""
TABLE = """
| source | taken for rules | of them rules (precision) | left | of them rules | rules that are read (recall) |
|---|---|---|---|---|---|
"""


def main() -> None:
    """Draw and write, a line each."""
    if not sys.argv[1:]:
        raise SystemExit("python -m tests.bench draw FILE [EARLIER...]")
    lines = [f"{n}\t{text}\n" for n, text in enumerate(drawn(heard(_sentences(sys.argv[2:]))))]
    Path(sys.argv[1]).write_text(ASKED + "".join(lines), encoding="utf-8")


def labels() -> None:
    """Print what each of two who labelled a draw makes of the reader, and how far they agree."""
    if not sys.argv[3:]:
        raise SystemExit("python -m tests.bench labels FILE FIRST SECOND [EARLIER...]")
    file, first, second, *earlier = sys.argv[1:]
    read, texts = heard(_sentences(earlier)), _lines(file)
    both = [{n: text.strip() == "1" for n, text in _lines(name).items()} for name in (first, second)]
    for said in both:
        if missing := texts.keys() - said.keys():
            raise SystemExit(f"no label for {', '.join(sorted(missing, key=int)[:5])}")
        print(table(counted(read, [(text, said[n]) for n, text in texts.items()])))
    agreed, kappa = agreement([(both[0][n], both[1][n]) for n in texts])
    print(f"Of {len(texts):,} they agree on {agreed:.0%} (kappa {kappa:.2f}).")


def _lines(name: str) -> dict[str, str]:
    """What follows each number in a file."""
    lines = Path(name).read_text(encoding="utf-8").splitlines()
    return {n: text for n, tab, text in (line.partition("\t") for line in lines) if tab and n.isdecimal()}


def _sentences(names: list[str]) -> set[str]:
    return {text for name in names for text in _lines(name).values()}


def heard(known: set[str]) -> dict[str, tuple[str, bool]]:
    """Every sentence of the half that is drawn from: who says it, and whether the reader takes it anywhere."""
    found: dict[str, tuple[str, bool]] = {}
    first = find_corpus()
    if first is None:
        raise SystemExit("no corpus beside the repository; set CTXWEB_CORPUS")
    real = index.rules_in

    def hear(text: str, source: str) -> Iterator[rules.Rule]:
        for sentence, is_rule in rules.judged(text, source):
            if sentence not in known and sha256(sentence.encode()).digest()[0] % 2:
                found[sentence] = (source, found.get(sentence, (source, False))[1] or is_rule)
        return real(text, source)

    with patch("sessions.engine.quality.index.rules_in", hear):
        for folder in (first, first.with_name("corpus-2")):
            for _ in sessions_of([folder], []):
                pass
    return found


def drawn(found: Mapping[str, tuple[str, bool]]) -> list[str]:
    """The sentences, in an order that says nothing; as many more that are left as too few are taken."""
    chance = random.Random(SEED)
    chosen: list[str] = []
    for source in (USER, MEMORY, SYSTEM):
        n = 0
        for is_rule, wanted in ((True, N_TAKEN[source]), (False, N_LEFT[source])):
            every = sorted(text for text, kind in found.items() if kind == (source, is_rule))
            n += wanted
            some = chance.sample(every, min(n, len(every)))
            n -= len(some)
            chosen += some
    chance.shuffle(chosen)
    return chosen


def counted(found: Mapping[str, tuple[str, bool]], said: Sequence[tuple[str, bool]]) -> tuple[Labels, ...]:
    """What is taken and left in all, and of what was drawn how many were ``said`` to be rules, by source."""
    rows = []
    for source, name in SOURCES.items():
        kinds = Counter(is_rule for by, is_rule in found.values() if by == source)
        of = Counter((found[text][1], is_rule) for text, is_rule in said if found[text][0] == source)
        taken, left = ((of[kind, True], of[kind, True] + of[kind, False]) for kind in (True, False))
        rows.append(Labels(name, kinds[True], kinds[False], *taken, *left))
    return tuple(rows)


def agreement(pairs: Sequence[tuple[bool, bool]]) -> tuple[float, float]:
    """The share on which two agree, and Cohen's kappa (1960); 1 where both always say the same one thing."""
    share = sum(a == b for a, b in pairs) / len(pairs)
    first, second = (sum(side) / len(pairs) for side in zip(*pairs, strict=True))
    chance = first * second + (1 - first) * (1 - second)
    return share, 1.0 if chance == 1 else (share - chance) / (1 - chance)


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
    chance = random.Random(CHANCE_SEED)
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
