"""The oracle hand-off: with hindsight, the few lines of the old context that would have covered most later needs."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sessions.engine.quality.assess import Assessment
from sessions.engine.quality.calls import arguments_of, strings_of
from sessions.engine.quality.index import Index, Read, flat_text
from sessions.engine.quality.standing import GONE, MENTIONED, OPEN, RETURNED, VERBATIM
from sessions.engine.tokens.tokenizer import count
from sessions.engine.transcript.types import Content, Kind
from sessions.engine.weigh.calibration.weighed import Weighed

MOST_CHARS = 240
"""A longer line is cut to this many characters around what it is wanted for."""
SHARE = 0.9
MOST_LINES = 40
ITEM_TOKENS = 3
"""What a line of a list costs beside its text: one line with three facts beats three lines."""


@dataclass(frozen=True, slots=True)
class OracleLine:
    """One chosen line: its message, its display tokens as an item of a list, how many needs it adds."""

    text: str
    message: int
    tokens: int
    covers: int


@dataclass(frozen=True, slots=True)
class Oracle:
    """The hand-off of one event.

    ``lines`` come in the order chosen (most needs for a token first); they weigh ``tokens`` and cover ``covered`` of
    ``wanted`` needs: those neither verbatim in a kept message nor given again before their first use.  The summary and
    what was re-attached weigh ``summary_tokens`` and mention ``summary_covered`` of the same.
    """

    lines: tuple[OracleLine, ...]
    tokens: int
    wanted: int
    covered: int
    summary_tokens: int
    summary_covered: int


def oracle(assessment: Assessment, weighed: Weighed, index: Index, read: Read) -> Oracle:
    """A greedy cover of ``SHARE`` of an event's needs by lines of the old context."""
    wanted = {need.id: need for need in assessment.needs if need.state != VERBATIM and need.how != RETURNED}
    candidates = _candidates(wanted, index, weighed, read, assessment)
    lines, covered = _greedy(candidates, len(wanted))
    inserted = sum(item.tokens for item in assessment.event.after if item.inserted)
    mentioned = sum(assessment.after.mentions(reference) is not None for reference in wanted)
    return Oracle(tuple(lines), sum(line.tokens for line in lines), len(wanted), covered, inserted, mentioned)


def _candidates(
    wanted: Mapping[int, object], index: Index, weighed: Weighed, read: Read, assessment: Assessment
) -> list[tuple[str, int, int, frozenset[int]]]:
    """(line, message, tokens, needs in it) of the messages of the before list that hold a need."""
    messages = sorted(
        {m for reference in wanted for m in index.places[reference] if m in assessment.before.whole}
        - assessment.after.whole
    )
    found: dict[str, tuple[str, int, int, frozenset[int]]] = {}
    for m in messages:
        for number, content in enumerate(read(weighed.transcript.messages[m])):
            if number >= len(index.blocks[m]) or wanted.keys().isdisjoint(index.blocks[m][number]):
                continue
            for line in _lines(content):
                needs = index.found_in(line) & wanted.keys()
                for text, covers in _cut(line, needs, index):
                    tokens = ITEM_TOKENS + round(count(text).n_tokens * weighed.ratio)
                    found[text] = (text, m, tokens, covers)
    return list(found.values())


def _lines(content: Content) -> Iterator[str]:
    if content.kind is Kind.THINKING:
        return
    texts = strings_of(arguments_of(content)) if content.kind is Kind.TOOL_USE else [flat_text(content)]
    for text in texts:
        for line in text.splitlines():
            if stripped := " ".join(line.split()):
                yield stripped


def _cut(line: str, needs: frozenset[int], index: Index) -> Iterator[tuple[str, frozenset[int]]]:
    """The line where it is short; else, for each need in it, the part of it around that need."""
    if not needs:
        return
    if len(line) <= MOST_CHARS:
        yield line, needs
        return
    for reference in sorted(needs):
        at = max(0, line.find(index.references[reference].text))
        start = max(0, at - MOST_CHARS // 3)
        part = line[start : start + MOST_CHARS]
        yield part, index.found_in(part) & needs


def _greedy(candidates: list[tuple[str, int, int, frozenset[int]]], n_wanted: int) -> tuple[list[OracleLine], int]:
    """Lines by needs added per token, until the share is covered; a lazy greedy cover, ties by message and text."""
    heap = [
        (-len(needs) / tokens, message, text, tokens, needs) for text, message, tokens, needs in candidates if needs
    ]
    heapq.heapify(heap)
    covered: set[int] = set()
    chosen: list[OracleLine] = []
    while heap and len(covered) < SHARE * n_wanted:
        _, message, text, tokens, needs = heapq.heappop(heap)
        fresh = needs - covered
        if not fresh:
            continue
        value = -len(fresh) / tokens
        if heap and value > heap[0][0]:
            heapq.heappush(heap, (value, message, text, tokens, fresh))
            continue
        chosen.append(OracleLine(text, message, tokens, len(fresh)))
        covered |= fresh
    return chosen, len(covered)


def compact_instructions(assessment: Assessment, found: Oracle) -> str:
    """Text to give to `/compact`: the rules first, then the lines, to be kept word for word."""
    rules = [kept.text for kept in assessment.constraints if kept.state in {GONE, OPEN, MENTIONED}]
    parts = ["Keep word for word:"]
    if rules:
        parts += ["Rules:", *(f"- {rule}" for rule in rules)]
    if found.lines:
        parts += ["Facts:", *(f"- {line.text}" for line in found.lines[:MOST_LINES])]
    return "\n".join(parts) if len(parts) > 1 else ""
