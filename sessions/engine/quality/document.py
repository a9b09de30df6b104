"""The JSON document ``ctxweb.probe/1``."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from sessions.engine.errors import BadParameter
from sessions.engine.quality.asked import AS_GENERATED, Question
from sessions.engine.quality.assess import assess_recorded, assess_replay, warnings_of
from sessions.engine.quality.carry import working_set
from sessions.engine.quality.oracle import compact_instructions
from sessions.engine.quality.probes import advice
from sessions.engine.quality.recorded import rereads
from sessions.engine.quality.standing import GONE, MENTIONED, VERBATIM

if TYPE_CHECKING:
    from sessions.engine.quality.assess import Assessment
    from sessions.engine.quality.carry import WorkingSet
    from sessions.engine.quality.index import Index
    from sessions.engine.quality.oracle import Oracle
    from sessions.engine.quality.probes import Answer, Score
    from sessions.engine.quality.recorded import Reread
    from sessions.engine.quality.refetch import Refetch
    from sessions.engine.quality.survival import Survival
    from sessions.engine.replay import Replay

MOST_IDLE = 20
"""Blocks listed with the largest bill after their last use."""


def probe_document(
    replay: Replay,
    index: Index,
    *,
    horizon: int | None = None,
    event: int | None = None,
    asked: Question = AS_GENERATED,
) -> dict[str, Any]:
    """``ctxweb.probe/1`` of a replay; raises BadParameter where it has no event ``event``.

    ``horizon`` is in requests after each event, null for all; ``asked`` are the probes; messages and requests are
    indices.  ``recorded`` judges the recording's own compactions in the same shape, with what was really fetched again.
    """
    if event is not None and not 0 <= event < len(replay.events):
        have = f"this replay has {len(replay.events)} events, numbered from 0" if replay.events else "there are none"
        raise BadParameter(f"no event {event}: {have}")
    found = assess_replay(replay, index, horizon=horizon, only=event, asked=asked)
    recorded = assess_recorded(replay.weighed, index, horizon=horizon, asked=asked)
    again = {reread.compaction: reread for reread in rereads(replay.weighed, index)}
    return {
        "schema": "ctxweb.probe/1",
        "session": replay.weighed.transcript.id,
        "policy": replay.policy.name,
        "base": replay.base,
        "summarizer": replay.summarizer,
        "horizon": horizon,
        "events": [event_document(a) for a in found],
        "working_set": working_set_document(working_set(replay.weighed, index, base=replay.base)),
        "recorded": [event_document(a) | {"fetched_again": reread_document(again[a.number])} for a in recorded],
        "warnings": list(dict.fromkeys((*replay.warnings, *warnings_of(found, index, replay.summarizer)))),
    }


def event_document(assessment: Assessment) -> dict[str, Any]:
    """One entry of ``events[]``: ``needed`` = ``verbatim`` + ``mentioned`` + the length of ``gone``, rules included."""
    event = assessment.event
    return {
        "event": assessment.number,
        "request": event.request,
        "message": event.message,
        "summary_source": event.summary_source,
        "constraints": [dataclasses.asdict(c) for c in assessment.constraints],
        "needed": assessment.needed,
        "verbatim": assessment.count(VERBATIM),
        "mentioned": assessment.count(MENTIONED),
        "gone": _gone(assessment),
        "by_kind": assessment.by_kind(),
        "probes": [_probe(answer) for answer in assessment.answers],
        "score": score_document(assessment.score),
        "first_event_probes": score_document(assessment.telephone),
        "targets": [target._asdict() for target in assessment.targets],
        "artifacts": [dataclasses.asdict(a) for a in assessment.artifacts],
        "refetch": _refetch(assessment.refetch),
    }


def _gone(assessment: Assessment) -> list[dict[str, Any]]:
    """Rules first: their loss has the clearest harm; then needs in the order in which they are missed."""
    rules = [
        {
            "kind": "constraint", "text": c.text, "source_message": c.source_message, "needed_at": c.broken_at,
            "needed_request": None, "distance": None,
        }
        for c in assessment.constraints
        if c.state == GONE
    ]  # fmt: skip
    needs = [
        {
            "kind": n.reference.kind, "text": n.reference.text, "source_message": n.source_message,
            "needed_at": n.needed_at, "needed_request": n.needed_request, "distance": n.distance,
        }
        for n in assessment.needs
        if n.state == GONE
    ]  # fmt: skip
    return [*rules, *needs]


def _probe(answer: Answer) -> dict[str, Any]:
    probe = answer.probe
    return {
        "kind": probe.kind,
        "question": probe.question,
        "keywords": list(probe.keywords),
        "source_message": probe.source_message,
        "critical": probe.critical,
        "state": answer.state,
        "passed": answer.passed,
    }


def score_document(score: Score) -> dict[str, Any]:
    """Counts by state, the skill's score (0 to 1) and what it says to do."""
    rate = None if score.score is None else round(score.score, 4)
    return dataclasses.asdict(score) | {"score": rate, "accepted": score.accepted, "advice": advice(score)}


def _refetch(refetch: Refetch) -> dict[str, Any]:
    calls = [{"message": c.message, "tool": c.name, "target": c.key} for c in refetch.calls]
    return {"tokens": refetch.tokens, "calls": calls, "not_in_a_tool_result": refetch.n_elsewhere}


def reread_document(reread: Reread) -> dict[str, Any]:
    """What was fetched again after a recorded compaction, beside the session's own baseline."""
    again = [
        {"message": old.message, "tool": old.name, "target": old.key, "again_at": new.message}
        for old, new in reread.again
    ]
    fields = ("definition", "n_calls", "n_dropped", "n_again", "n_baseline", "n_baseline_again")
    rates = {
        name: None if value is None else round(value, 4)
        for name, value in (("rate", reread.rate), ("baseline", reread.baseline))
    }
    return {name: getattr(reread, name) for name in fields} | rates | {"again": again}


def working_set_document(found: WorkingSet) -> dict[str, Any]:
    """Tokens carried, needed and unknown at each request; the blocks that cost most after their last use."""
    idle = sorted(found.blocks, key=lambda block: (-block.idle_token_requests, block.message, block.block))
    fields = ("message", "block", "kind", "tokens", "entered", "last_use", "left", "idle_requests")
    usd = None if found.usd is None else round(found.usd, 6)
    return {
        "requests": list(found.requests),
        "carried_tokens": list(found.carried),
        "needed_tokens": list(found.needed),
        "unknown_tokens": list(found.unknown),
        "idle_token_requests": sum(block.idle_token_requests for block in found.blocks),
        "idle_cost_usd": usd,
        "most_idle": [
            {name: getattr(block, name) for name in fields} for block in idle[:MOST_IDLE] if block.idle_token_requests
        ],
    }


def oracle_document(assessment: Assessment, found: Oracle) -> dict[str, Any]:
    """The oracle hand-off of an event beside what its summary covers; ``instructions`` is text for `/compact`."""
    return dataclasses.asdict(found) | {"instructions": compact_instructions(assessment, found)}


def survival_document(found: Survival) -> dict[str, Any]:
    """Where a text stands, its state around every event, and the event that lost it."""
    return dataclasses.asdict(found)
