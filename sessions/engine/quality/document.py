"""The JSON document ``ctxweb.probe/1``, with oracle hand-offs and the fate of a text where they are asked for."""

from __future__ import annotations

import dataclasses
from typing import Any

from sessions.engine.costs.prices import Prices
from sessions.engine.quality.again_table import SOURCE
from sessions.engine.quality.assess import Assessment, assess_recorded, assess_replay, warnings_of
from sessions.engine.quality.calls import ToolCall
from sessions.engine.quality.carry import WorkingSet, working_set
from sessions.engine.quality.doses import Likely
from sessions.engine.quality.index import Index, Read
from sessions.engine.quality.oracle import compact_instructions, oracle
from sessions.engine.quality.probes import AS_GENERATED, Question, Score, advice
from sessions.engine.quality.recorded import Reread, rereads
from sessions.engine.quality.standing import GONE, MENTIONED, OPEN, VERBATIM
from sessions.engine.quality.survival import survival
from sessions.engine.replays.replay import Replay

OF_PROBE = ("kind", "question", "keywords", "source_message", "critical")
MOST_IDLE = 20
"""Blocks listed with the largest bill after their last use."""


def probe_document(
    replay: Replay,
    index: Index,
    *,
    horizon: int | None = None,
    event: int | None = None,
    asked: Question = AS_GENERATED,
    prices: Prices | None = None,
) -> dict[str, Any]:
    """``ctxweb.probe/1`` of a replay; raises BadParameter where it has no event ``event``.

    ``horizon`` is in requests after each event, null for all; ``asked`` are the probes; messages and requests are
    indices.  ``recorded`` judges the recording's own compactions in the same shape, with what was really fetched again.
    """
    if event is not None:
        replay.event(event)
    found = tuple(assess_replay(replay, index, horizon=horizon, only=event, asked=asked))
    recorded = tuple(assess_recorded(replay.weighed, index, horizon=horizon, asked=asked))
    again = {reread.compaction: reread for reread in rereads(replay.weighed, index)}
    return {
        "schema": "ctxweb.probe/1",
        "session": replay.weighed.transcript.id,
        "policy": replay.policy.name,
        "base": replay.base,
        "summarizer": replay.summarizer,
        "horizon": horizon,
        "events": [event_document(a, prices) for a in found],
        "working_set": working_set_document(working_set(replay.weighed, index, base=replay.base)),
        "recorded": [event_document(a, prices) | {"fetched_again": reread_document(again[a.number])} for a in recorded],
        "warnings": list(dict.fromkeys((*replay.warnings, *warnings_of(found, index, replay.summarizer)))),
    }


def event_document(assessment: Assessment, prices: Prices | None = None) -> dict[str, Any]:
    """One entry of ``events[]``: ``needed`` are ``verbatim``, ``mentioned`` and all of ``gone`` and ``open``."""
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
        "gone": _missing(assessment, GONE),
        "open": _missing(assessment, OPEN),
        "by_kind": assessment.by_kind(),
        "probes": [
            {name: getattr(a.probe, name) for name in OF_PROBE} | {"state": a.state, "passed": a.passed}
            for a in assessment.answers
        ],
        "score": score_document(assessment.score),
        "first_event_probes": score_document(assessment.telephone),
        "targets": [target._asdict() for target in assessment.targets],
        "artifacts": [dataclasses.asdict(a) for a in assessment.artifacts],
        "refetch": {
            "tokens": assessment.refetch.tokens,
            "calls": [_call(call) for call in assessment.refetch.calls],
            "not_in_a_tool_result": assessment.refetch.n_elsewhere,
        },
        "likely_again": likely_document(assessment.likely, prices),
    }


def _missing(assessment: Assessment, state: str) -> list[dict[str, Any]]:
    """Rules first: their loss has the clearest harm; then needs in the order in which they are missed."""
    rules = (c for c in assessment.constraints if c.state == state)
    needs = (n for n in assessment.needs if n.state == state)
    rows: list[tuple[Any, ...]] = [("constraint", c.text, c.source_message, c.broken_at, None, None) for c in rules]
    rows += [(*n.reference, n.source_message, n.needed_at, n.needed_request, n.distance) for n in needs]
    names = ("kind", "text", "source_message", "needed_at", "needed_request", "distance")
    return [dict(zip(names, row, strict=True)) for row in rows]


def score_document(score: Score) -> dict[str, Any]:
    """Counts by state, the skill's score (0 to 1) and what it says to do."""
    rate = None if score.score is None else round(score.score, 4)
    return dataclasses.asdict(score) | {"score": rate, "accepted": score.accepted, "advice": advice(score)}


def likely_document(likely: Likely, prices: Prices | None) -> dict[str, Any]:
    """Dropped results that may be fetched again: shares from 0 to 1, from recordings; null where there are none."""
    usd = likely.dollars(prices)
    return {
        "results": likely.n,
        "share": round(likely.share, 3) if likely.n else None,
        "share_anyway": round(likely.anyway, 3) if likely.n else None,
        "tokens": likely.tokens,
        "usd": None if usd is None else round(usd, 4),
        "calls": [_call(call) for call in likely.calls],
        "words": likely.words(prices),
        "source": SOURCE,
    }


def _call(call: ToolCall) -> dict[str, Any]:
    return {"message": call.message, "tool": call.name, "target": call.key}


def reread_document(reread: Reread) -> dict[str, Any]:
    """What was fetched again after a recorded compaction, beside the session's own baseline."""
    again = [_call(old) | {"again_at": new.message} for old, new in reread.again]
    fields = ("definition", "n_calls", "n_dropped", "n_again", "n_baseline", "n_baseline_again", "rate", "baseline")
    facts = {name: getattr(reread, name) for name in fields}
    rates = {name: round(facts[name], 4) for name in ("rate", "baseline") if facts[name] is not None}
    return facts | rates | {"again": again}


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


def add_extras(
    document: dict[str, Any], replay: Replay, index: Index, read: Read, *, oracles: bool, find: str | None
) -> None:
    """Add the oracle hand-off of every event, and what became of the text ``find``, in replay and recording."""
    weighed = replay.weighed
    sides = {
        "events": tuple(assess_replay(replay, index, horizon=document["horizon"])),
        "recorded": tuple(assess_recorded(weighed, index, horizon=document["horizon"])),
    }
    for side, found in sides.items():
        if find is not None:
            fate = survival(find, weighed.transcript, read, found)
            document.setdefault("survival", {})[side] = dataclasses.asdict(fate)
        by_number = {assessment.number: assessment for assessment in found}
        for entry in document[side] if oracles else ():
            assessment = by_number[entry["event"]]
            handed = oracle(assessment, weighed, index, read)
            entry["oracle"] = dataclasses.asdict(handed) | {"instructions": compact_instructions(assessment, handed)}
