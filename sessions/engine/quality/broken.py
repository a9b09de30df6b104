"""Rules said before a recorded compaction, lost by it and broken after, and what could steer it (verdicts 6.1, 6.2).

Only a rule that names a command or a path that is not to be used can be held against a call; of others nothing is
claimed, nor of one that was broken before it was lost,
nor where only a summary without text may hold it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sessions.engine.quality.assess import Assessor
from sessions.engine.quality.constraints import constraints_at
from sessions.engine.quality.index import Index, Read, build_index
from sessions.engine.quality.recorded import recorded_events
from sessions.engine.quality.rules import MEMORY
from sessions.engine.quality.standing import GONE
from sessions.engine.quality.steering import Steering, steering
from sessions.engine.weigh.calibration.weighed import Weighed


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule of message ``said_at``, and the call of message ``broken_at`` that does what it forbids: ``broken_by``.

    ``may_stand``: it is a memory file's, which the agent may send again where no transcript shows it.
    """

    text: str
    source: str
    said_at: int
    broken_at: int
    broken_by: str
    may_stand: bool


@dataclass(frozen=True, slots=True)
class RulesAfter:
    """What became of the rules at one recorded compaction: ``n_lost`` of ``n_rules`` stand nowhere after it."""

    compaction: int
    n_rules: int
    n_lost: int
    broken: tuple[Broken, ...]
    steering: tuple[Steering, ...]


def rules_after(weighed: Weighed, read: Read, index: Index | None = None) -> tuple[RulesAfter, ...]:
    """One entry for each recorded compaction whose originals are in the session; reads every message."""
    if not weighed.transcript.compactions:
        return ()
    index = index or build_index(weighed.transcript, read)
    said = steering(weighed.transcript, read)
    assessor = Assessor(weighed, index)
    events = recorded_events(weighed)
    n_messages = len(weighed.transcript.messages)
    ends = [event.message for _, event in events[1:]]
    stops = [*(n_messages if end is None else end + 1 for end in ends), n_messages]
    found = []
    for (number, event), stop in zip(events, stops[: len(events)], strict=True):
        before, after = assessor.look(event, {})
        fates = constraints_at(before, after, index, stop)
        broken = tuple(
            Broken(f.text, f.source, f.source_message, f.broken_at, f.broken_by, f.source == MEMORY)
            for f in fates
            if f.state == GONE and f.broken_at is not None and not f.broken_before
        )
        steered = tuple(one for one in said if one.message in before.whole)
        found.append(RulesAfter(number, len(fates), sum(f.state == GONE for f in fates), broken, steered))
    return tuple(found)


def rules_document(one: RulesAfter) -> dict[str, Any]:
    """``rules`` of a compaction in ``ctxweb.aftermath/1``."""
    kept = asdict(one)
    return {key: kept[key] for key in ("n_rules", "n_lost", "broken")} | {
        "steering": [row._asdict() for row in one.steering]
    }
