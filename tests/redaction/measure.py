"""Recall and precision of redaction: over a list by strangers, and over our own secrets and look-alikes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from sessions.engine.redact import Hit, redact
from tests.redaction.corpus import Planted, look_alikes, planted
from tests.redaction.strangers import Case, cases

NOT_CLAIMED = frozenset({"seed-phrase"})
"""Kinds of the strangers' list that are not looked for: shown, and not counted."""


@dataclass(slots=True)
class Measured:
    """Counts, and what was missed or taken wrongly."""

    n_planted: int = 0
    n_look_alikes: int = 0
    n_right: int = 0
    n_hits: int = 0
    missed: list[Planted] = field(default_factory=list)
    wrong: list[tuple[str, str]] = field(default_factory=list)
    by_kind: Counter[str] = field(default_factory=Counter)
    missed_by_kind: Counter[str] = field(default_factory=Counter)

    @property
    def recall(self) -> float:
        """Share of planted secrets of which nothing is left."""
        return self.n_right / self.n_planted

    @property
    def precision(self) -> float:
        """Share of what was taken out that lies over a planted secret."""
        return 1 - len(self.wrong) / self.n_hits


def measured(seed: int = 1) -> Measured:
    """Redact every text of the corpus."""
    found = Measured()
    for item in planted(seed):
        _planted(found, item)
    for text in look_alikes(seed + 1):
        found.n_look_alikes += 1
        hits = redact(text).hits
        found.n_hits += len(hits)
        found.wrong += [(text, text[hit.start : hit.end]) for hit in hits]
    return found


def _planted(found: Measured, item: Planted) -> None:
    found.n_planted += 1
    found.by_kind[item.kind] += 1
    at = item.text.index(item.secret)
    end = at + len(item.secret)
    done = redact(item.text)
    found.n_hits += len(done.hits)
    found.wrong += [(item.text, item.text[h.start : h.end]) for h in done.hits if h.end <= at or h.start >= end]
    covered = any(h.start <= at and h.end >= end for h in done.hits)
    if covered:
        found.n_right += 1
    else:
        found.missed.append(item)
        found.missed_by_kind[item.kind] += 1


@dataclass(slots=True)
class Counted:
    """Of one kind of the list: cases with secrets and those found whole, hits and those over no secret."""

    n: int = 0
    n_found: int = 0
    n_hits: int = 0
    n_wrong: int = 0


@dataclass(slots=True)
class OfStrangers:
    """Counts by kind, and what was missed or taken wrongly."""

    by_kind: dict[str, Counted] = field(default_factory=dict)
    missed: list[Case] = field(default_factory=list)
    wrong: list[tuple[Case, str]] = field(default_factory=list)

    @property
    def claimed(self) -> Counted:
        """All kinds that are looked for, together."""
        kinds = [counted for kind, counted in self.by_kind.items() if kind not in NOT_CLAIMED]
        columns = ([getattr(kind, name) for kind in kinds] for name in ("n", "n_found", "n_hits", "n_wrong"))
        return Counted(*map(sum, columns))

    @property
    def recall(self) -> float:
        """Share of the cases with secrets of which nothing is left."""
        return self.claimed.n_found / self.claimed.n

    @property
    def precision(self) -> float:
        """Share of what was redacted that lies over a secret."""
        return 1 - self.claimed.n_wrong / self.claimed.n_hits


def of_strangers(seed: int = 0) -> OfStrangers:
    """Redact every case of the list; one counts as found where all of its pieces are covered, wherever they stand."""
    found = OfStrangers()
    for case in cases(seed):
        counted = found.by_kind.setdefault(case.kind, Counted())
        hits = redact(case.text).hits
        spans = [span for secret in case.secrets for span in _places(case.text, secret)]
        wrong = [hit for hit in hits if not any(hit.start < end and hit.end > start for start, end in spans)]
        counted.n_hits += len(hits)
        counted.n_wrong += len(wrong)
        found.wrong += [(case, case.text[hit.start : hit.end]) for hit in wrong]
        if case.secrets:
            counted.n += 1
            is_found = all(_is_covered(start, end, hits) for start, end in spans)
            counted.n_found += is_found
            found.missed += [] if is_found else [case]
    return found


def _places(text: str, secret: str) -> list[tuple[int, int]]:
    places, at = [], text.find(secret)
    while at >= 0:
        places.append((at, at + len(secret)))
        at = text.find(secret, at + 1)
    return places


def _is_covered(start: int, end: int, hits: tuple[Hit, ...]) -> bool:
    return all(any(hit.start <= place < hit.end for hit in hits) for place in range(start, end))
