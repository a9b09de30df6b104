"""The events of a session as a table has them: equal ones together, in the order of their consequence (verdicts 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions.engine.why.causes import CAUSES
from sessions.engine.why.headline import weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.why.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Group:
    """Events of one kind, cause, trigger and certainty, as positions among the verdicts; ``lead`` is the first.

    ``tries`` counts a request that was refused three times as three.
    """

    lead: Verdict
    places: tuple[int, ...]
    requests: tuple[int, ...]
    tries: int

    @property
    def n(self) -> int:
        """At how many points of the session they stand."""
        return len(self.places)


def grouped(verdicts: Sequence[Verdict], n_requests: int) -> tuple[Group, ...]:
    """Equal events together, the group of the headline first."""
    found: dict[tuple[str, str, str, str | None], list[int]] = {}
    for place, verdict in enumerate(verdicts):
        found.setdefault((verdict.what, verdict.cause, verdict.certainty, verdict.trigger), []).append(place)
    groups = [
        Group(
            verdicts[places[0]],
            tuple(places),
            tuple(verdicts[place].request for place in places),
            sum(verdicts[place].count for place in places),
        )
        for places in found.values()
    ]
    return tuple(sorted(groups, key=lambda group: -max(weight(verdicts[place], n_requests) for place in group.places)))


def group_document(group: Group) -> dict[str, Any]:
    """One entry of ``events[]`` in ``ctxweb.why/1``."""
    lead = group.lead
    return {
        "what": lead.what,
        "trigger": lead.trigger,
        "cause": lead.cause,
        "cause_label": CAUSES[lead.cause],
        "certainty": lead.certainty,
        "n": group.n,
        "tries": group.tries,
        "requests": list(group.requests),
        "verdicts": list(group.places),
        "because": lead.because,
        "change": lead.change,
    }
