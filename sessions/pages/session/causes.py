"""The table of causes beside the chart: why it compacted, equal causes together, and what leads the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.why.case import COMPACTION, ERROR
from sessions.engine.why.causes import CAUSES, REACHED
from sessions.engine.why.headline import leading
from sessions.engine.why.verdicts import is_false
from sessions.pages.ui import figures
from sessions.pages.ui.addresses import session_urls
from sessions.pages.ui.causes import named_message
from sessions.runs.replay_state import own_state

if TYPE_CHECKING:
    from sessions.engine.why.verdicts import Verdict
    from sessions.pages.session.harm import Harm
    from sessions.runs.overview import Overview

MOST = 40
"""Rows of the table; the page of all evidence has every verdict."""


@dataclass(frozen=True, slots=True)
class CauseRow:
    """One verdict, or several of one plain cause: ``requests`` in order, ``message`` what it names (-1: none).

    ``number`` is the compaction's place in the record (-1: none); ``then`` and ``harm`` are told where they are asked.
    """

    requests: tuple[int, ...]
    what: str
    cause: str
    badge: str
    alarm: bool
    certainty: str
    because: str
    after: str
    message: int
    href: str
    number: int = -1
    then: str = ""
    harm: Harm | None = None

    @property
    def first(self) -> int:
        """The first request it stands for."""
        return self.requests[0]

    @property
    def n(self) -> int:
        """How many verdicts the row stands for."""
        return len(self.requests)


@dataclass(frozen=True, slots=True)
class Lead:
    """What the page's first button does: show the worst point in a replay, or try a threshold."""

    does: str
    href: str
    certainty: str


def build_causes(session_id: str, view: Overview) -> tuple[CauseRow, ...]:
    """Every point in order, plain ones of one cause as one row; the first ``MOST`` rows."""
    groups: dict[tuple[str, str, str] | int, list[Verdict]] = {}
    for place, verdict in enumerate(view.verdicts):
        plain = verdict.cause == REACHED and verdict.what == COMPACTION
        groups.setdefault(("", verdict.what, verdict.cause) if plain else place, []).append(verdict)
    return tuple(_row(session_id, view, found) for found in list(groups.values())[:MOST])


def worst(view: Overview) -> Verdict | None:
    """The verdict that the headline is about."""
    return leading(view.verdicts, len(view.weighed.transcript.requests))


def build_lead(session_id: str, view: Overview) -> Lead:
    """Where the first button leads."""
    found, urls, own = worst(view), session_urls(session_id), own_state(view.weighed)
    if found is None or found.what != COMPACTION:
        return Lead("Try a threshold", urls.to_replay(own), "" if found is None else found.certainty)
    return Lead("Show it happen", urls.to_replay(own, request=found.request), found.certainty)


def _row(session_id: str, view: Overview, found: list[Verdict]) -> CauseRow:
    first = found[0]
    named = named_message(first)
    false = first.what == COMPACTION and is_false(first)
    badge = "false alarm" if false else {ERROR: "refused", COMPACTION: ""}.get(first.what, "missing")
    return CauseRow(
        requests=tuple(one.request for one in found),
        what=first.what,
        cause=CAUSES[first.cause],
        badge=badge,
        alarm=false or first.what == ERROR,
        certainty=first.certainty,
        because=first.because if len(found) == 1 else _span(found),
        after=_after(view, first) if len(found) == 1 else "",
        message=-1 if named is None else named,
        href=session_urls(session_id).to_replay(own_state(view.weighed), request=first.request),
        number=first.number if first.what == COMPACTION and len(found) == 1 else -1,
    )


def _span(found: list[Verdict]) -> str:
    seen = [one.saw or one.true or 0 for one in found]
    low, high = figures.count(min(seen)), figures.count(max(seen))
    return f"{low if low == high else f'{low} to {high}'} tokens reached the threshold"


def _after(view: Overview, verdict: Verdict) -> str:
    """The context before and after a recorded compaction."""
    if verdict.what != COMPACTION:
        return ""
    compaction = view.weighed.transcript.compactions[verdict.number]
    after = compaction.tokens_after
    if after is None:
        after = next((t for _, (request, t, _) in sorted(view.contexts.items()) if request >= compaction.request), None)
    if verdict.true is None or after is None:
        return ""
    return f"{figures.count(verdict.true)} → {figures.count(after)} tokens"
