"""What a ``ctxweb.probe/1`` document has when it is asked for: oracle hand-offs, and the fate of a text."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from sessions.engine.quality.assess import assess_recorded, assess_replay
from sessions.engine.quality.document import oracle_document
from sessions.engine.quality.oracle import oracle
from sessions.engine.quality.survival import survival

if TYPE_CHECKING:
    from sessions.engine.quality.index import Index, Read
    from sessions.engine.replays.replay import Replay


def add_extras(
    document: dict[str, Any], replay: Replay, index: Index, read: Read, *, oracles: bool, find: str | None
) -> None:
    """Add the oracle hand-off of every event, and what became of the text ``find``, in replay and recording."""
    weighed = replay.weighed
    sides = {
        "events": assess_replay(replay, index, horizon=document["horizon"]),
        "recorded": assess_recorded(weighed, index, horizon=document["horizon"]),
    }
    for side, found in sides.items():
        if find is not None:
            fate = survival(find, weighed.transcript, read, found)
            document.setdefault("survival", {})[side] = dataclasses.asdict(fate)
        by_number = {assessment.number: assessment for assessment in found}
        for entry in document[side] if oracles else ():
            assessment = by_number[entry["event"]]
            entry["oracle"] = oracle_document(assessment, oracle(assessment, weighed, index, read))
