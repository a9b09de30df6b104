"""What the agent's own words settle, by markers (seeds 3.4): decisions, reasons, errors, fixes, blockers, plans."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sessions.engine.quality.references import all_references
from sessions.engine.quality.rules import FENCE, STOP, sentences

INTENT, DECISION, RATIONALE, RESOLUTION = "intent", "decision", "rationale", "resolution"
ERROR, BLOCKER, NEXT_STEPS, PROGRESS = "error", "blocker", "next_steps", "progress"
_MARKERS = {
    kind: re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for kind, words in (
        (DECISION, "decided|decision|chose|chosen|(?:I|we)['’]?(?: wi)?ll use|going with|selected|opted"),
        (RESOLUTION, "fixed|resolved|solved|the fix (?:is|was)|root cause|works now|now (?:works|passes)"),
        (BLOCKER, "blocked|blocker|waiting (?:for|on)|unclear|cannot proceed|can['’]t proceed|needs? (?:your|access)"),
        (ERROR, "error|failed|failing|fails|exception|traceback|crash(?:es|ed)?"),
        (NEXT_STEPS, "next(?: step)?s?(?:,|:| is| are| I)|remaining|todo|still (?:need|have) to|then I['’]?ll"),
        (PROGRESS, "done|completed?|finished|implemented|created|added|updated|passe[sd]"),
    )
}
_REASON = re.compile(r"\b(?:because|since|so that|due to|in order to|as it)\b", re.IGNORECASE)
_LONG_WORD = re.compile(r"[A-Za-z][A-Za-z-]{5,}")
N_KEYWORDS = 5
MIN_CHARS, MAX_CHARS = 25, 240
MAX_PER_MESSAGE = 6


class Fact(NamedTuple):
    """Something settled in a block of a message; ``keywords``: its references or, if ``plain``, its longest words."""

    kind: str
    text: str
    keywords: tuple[str, ...]
    plain: bool
    message: int
    block: int


def facts_in(text: str, message: int, block: int) -> Iterator[Fact]:
    """The facts that a text of the agent settles, the first marker of a sentence deciding; at most six."""
    found = 0
    for sentence in sentences(FENCE.sub("\n", text)):
        kind = next((kind for kind, marker in _MARKERS.items() if marker.search(sentence)), None)
        if kind is None or sentence.endswith("?") or len(sentence) < MIN_CHARS:
            continue
        fact = make_fact(kind, sentence, message, block)
        if not fact.keywords:
            continue
        yield fact
        if kind == DECISION and _REASON.search(sentence):
            yield fact._replace(kind=RATIONALE)
        found += 1
        if found == MAX_PER_MESSAGE:
            return


def make_fact(kind: str, text: str, message: int, block: int) -> Fact:
    """A fact with its keywords, the first of the references in its text."""
    named = {reference.text for reference in all_references(text)}
    keywords = sorted(named, key=lambda word: (text.find(word) % len(text), word))[:N_KEYWORDS]
    if not named:
        words = {word.lower() for word in _LONG_WORD.findall(text)} - STOP
        keywords = sorted(sorted(words, key=lambda word: (-len(word), word))[:N_KEYWORDS])
    return Fact(kind, text[:MAX_CHARS], tuple(keywords), not named, message, block)
