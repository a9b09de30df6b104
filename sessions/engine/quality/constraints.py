"""What became of each rule at an event, and whether a later tool call did what a lost rule forbade."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from operator import itemgetter

from sessions.engine.quality.index import Constraint, Index
from sessions.engine.quality.rules import ASKS, NEGATION, Rule, content_words
from sessions.engine.quality.standing import GONE, MENTIONED, OPEN, RE_INJECTED, VERBATIM, Standing, flat

MIN_LINE = 8
MENTION_SHARE = 0.5
"""A line mentions a rule when it has this share of its words, two at least, and, for a prohibition, says no; one that
chooses, when it has all that is chosen and asks for it."""


@dataclass(frozen=True, slots=True)
class RuleFate:
    """One rule at one event.

    ``state`` is "verbatim", "re-injected" (word for word in something the harness put back), "mentioned" (in the
    summary), "gone", or "open" (in no message, and a summary's text is not known); ``source_message`` is where it was
    said first; ``lost_before`` that it was already gone from the list before the event.  ``restated_at`` is the first
    later message that says it again, ``broken_at`` the first later tool call that does what it forbids while it is gone
    or open, ``broken_by`` what that call names; ``broken_before`` that such a call stands before the event too, so that
    its loss explains nothing.  All message indices, None for never.
    """

    text: str
    state: str
    source: str
    source_message: int
    lost_before: bool
    restated_at: int | None
    broken_at: int | None
    broken_by: str
    broken_before: bool

    @property
    def is_lost(self) -> bool:
        """Whether this event lost it: what was gone before is not lost again."""
        return self.state == GONE and not self.lost_before


def constraints_at(before: Standing, after: Standing, index: Index, stop: int) -> tuple[RuleFate, ...]:
    """Every rule said up to the event, in the order said; calls are looked at up to message ``stop`` (exclusive)."""
    return tuple(_kept(c, stop, before, after) for c in index.constraints if c.message <= before.newest)


def _kept(c: Constraint, stop: int, before: Standing, after: Standing) -> RuleFate:
    newest = before.newest
    state = state_of(c, after)
    if state == OPEN and state_of(c, before) == GONE:
        state = GONE
    at = bisect_right(c.places, newest, key=itemgetter(0))
    restated = c.places[at][0] if at < len(c.places) else None
    lost = state == GONE
    broken = None
    if lost or state == OPEN:
        end = stop if restated is None else min(stop, restated)
        broken = c.broken_in(newest, end)
    already = broken is not None and c.broken_in(c.message, newest + 1) is not None
    return RuleFate(
        c.rule.text, state, c.rule.source, c.message, lost and state_of(c, before) == GONE, restated,
        broken.message if broken else None, broken.key if broken else "", already,
    )  # fmt: skip


def state_of(constraint: Constraint, list_: Standing) -> str:
    """A rule's state in a list: its sentence in a kept message, put back, meant by the summary, gone, or open."""
    if any(list_.has_block(m, b) for m, b in constraint.places):
        return VERBATIM
    if any(place in inserted.holds for inserted in list_.inserted for place in constraint.places):
        return RE_INJECTED
    wanted = flat(constraint.rule.text)
    if any(wanted in text for text in list_.put_back):
        return RE_INJECTED
    if any(mentions(inserted.text, constraint.rule) for inserted in list_.inserted):
        return MENTIONED
    return list_.missing


def mentions(text: str, rule: Rule) -> bool:
    """Whether one line of a text says a rule again in other words."""
    if not rule.words:
        return False
    wanted = max(MENTION_SHARE * len(rule.words), min(2, len(rule.words)))
    lines, numbers = _lines_of(text)
    # A line with that many of the words has one of the rarest few: the others need not be looked for.
    rarest = sorted(rule.words, key=lambda word: len(numbers.get(word, ())))[: len(rule.words) - ceil(wanted) + 1]
    near = (lines[number] for word in rarest for number in numbers.get(word, ()))
    if rule.chooses:
        return any(rule.words <= words and asks for words, _, asks in near)
    return any(len(rule.words & words) >= wanted and (negated or not rule.prohibits) for words, negated, _ in near)


@lru_cache(maxsize=32)
def _lines_of(text: str) -> tuple[tuple[tuple[frozenset[str], bool, bool], ...], dict[str, list[int]]]:
    """The content words of each line, whether it says no, whether it asks for something; and the lines by word."""
    lines = tuple(_meaning(line) for line in text.splitlines() if len(line) >= MIN_LINE)
    numbers: dict[str, list[int]] = {}
    for number, (words, *_) in enumerate(lines):
        for word in words:
            numbers.setdefault(word, []).append(number)
    return lines, numbers


@lru_cache(maxsize=8_000)
def _meaning(line: str) -> tuple[frozenset[str], bool, bool]:
    """The content words of a line, whether it says no, whether it asks: extracts of one session share most lines."""
    return content_words(line), bool(NEGATION.search(line)), bool(ASKS.search(line))
