"""Transcripts from the records of one Claude Code session: messages, requests, compactions (replay-semantics 1)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sessions.engine.formats._claude_chain import off_branch, preserved_uuids, without_copies
from sessions.engine.formats._claude_usage import Unit, message_of, reply_usage, units_of
from sessions.engine.formats._preview import title_of
from sessions.engine.types import RecordedCompaction, Request, Role, Transcript

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessions.engine.formats._claude_lines import Record
    from sessions.engine.types import Message


@dataclass(slots=True)
class Mark:
    """A recorded compaction in the making: its boundary line, or its summary where there is no boundary."""

    record: Record
    summary: Unit | None = None


def transcript_of(records: Sequence[Record], *, native_id: str, title: str = "", client: str = "") -> Transcript:
    """One session of the given lines, main or sub-agent."""
    kept, copies = without_copies(records)
    off = off_branch(kept)
    units = units_of(kept)
    on_branch = [unit for unit in units if unit.first.order not in off]
    marks = _marks([record for record in kept if record.order not in off], on_branch)
    messages = _messages(on_branch, marks)
    requests = _requests(units, off, {unit.first.order: i for i, unit in enumerate(on_branch)})
    compactions = _compactions(marks, on_branch, requests, units, copies, kept)
    times = [record.timestamp for record in kept if record.is_message and record.timestamp is not None]
    models = Counter(request.model for request in requests if request.model)
    return Transcript(
        id=native_id,
        format="claude_code",
        messages=messages,
        requests=tuple(requests),
        compactions=compactions,
        title=title or _prompt_title(on_branch),
        model=models.most_common(1)[0][0] if models else "",
        client=client,
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
        warnings=_warnings(units, off, copies, kept),
    )


def linked(
    children: Sequence[tuple[Transcript, list[Record]]], parents: Sequence[tuple[Transcript, list[Record]]]
) -> list[Transcript]:
    """Sub-agents with their parent session, and the call that started them where it can be told.

    The link is the agent id in the result of the call, else the prompt that both share.
    """
    agents: dict[str, tuple[str, str]] = {}
    prompts: dict[int, list[tuple[str, str]]] = {}
    for transcript, records in [*parents, *children]:
        for record in records:
            agents.update({f"agent-{agent}": (transcript.id, call) for agent, call in record.agents})
            for call, prompt in record.prompts:
                prompts.setdefault(prompt, []).append((transcript.id, call))
    found = []
    for transcript, records in children:
        home = next((p.id for p, lines in parents if lines[0].session == records[0].session), parents[0][0].id)
        parent, call = agents.get(transcript.id, (home, ""))
        prompt = next((record.prompt for record in records if record.prompt), 0)
        options = [option for option in prompts.get(prompt, []) if option[0] != transcript.id]
        if not call and prompt and options:
            parent, call = options[0]
            prompts[prompt].remove(options[0])
        found.append(replace(transcript, parent_id=parent, parent_call_id=call))
    return found


def _messages(units: Sequence[Unit], marks: Sequence[Mark]) -> tuple[Message, ...]:
    made = _made_by(units, marks)
    taken: set[str] = set()
    messages = []
    for index, unit in enumerate(units):
        native_id = unit.first.response_id or unit.first.uuid
        if not native_id or native_id in taken:
            native_id = f"L{unit.first.origin.line}"
        taken.add(native_id)
        messages.append(message_of(unit, index, native_id, made.get(index)))
    return tuple(messages)


def _made_by(units: Sequence[Unit], marks: Sequence[Mark]) -> dict[int, int]:
    """Message index to the compaction that made it: the summary, and the attachments directly after it."""
    made: dict[int, int] = {}
    places = {unit.first.order: index for index, unit in enumerate(units)}
    for k, mark in enumerate(marks):
        if mark.summary is None:
            continue
        index = places[mark.summary.first.order]
        made[index] = k
        while index + 1 < len(units) and units[index + 1].first.attachment:
            index += 1
            made[index] = k
    return made


def _marks(records: Sequence[Record], units: Sequence[Unit]) -> list[Mark]:
    by_order = {unit.first.order: unit for unit in units}
    marks: list[Mark] = []
    waiting = False
    for record in records:
        if record.boundary is not None:
            marks.append(Mark(record))
            waiting = True
        elif record.summary and record.order in by_order:
            if not waiting:
                marks.append(Mark(record))
            marks[-1].summary = by_order[record.order]
            waiting = False
        elif record.role is Role.ASSISTANT:
            waiting = False
    return marks


def _requests(units: Sequence[Unit], off: frozenset[int], places: Mapping[int, int]) -> list[Request]:
    return [
        Request(
            index=index,
            message=places.get(unit.first.order),
            usage=reply_usage(unit),
            on_branch=unit.first.order not in off,
            response_id=unit.first.response_id,
            model=unit.first.model,
            timestamp=unit.first.timestamp,
        )
        for index, unit in enumerate(unit for unit in units if unit.is_reply)
    ]


def _compactions(
    marks: Sequence[Mark],
    units: Sequence[Unit],
    requests: Sequence[Request],
    all_units: Sequence[Unit],
    copies: Sequence[Record],
    records: Sequence[Record],
) -> tuple[RecordedCompaction, ...]:
    orders = [unit.first.order for unit in all_units if unit.is_reply]
    places = {record.uuid: index for index, unit in enumerate(units) for record in unit.records if record.uuid}
    summaries = {unit.first.order: index for index, unit in enumerate(units)}
    found = []
    for mark in marks:
        order = mark.record.order
        boundary = sum(unit.first.order < order for unit in units)
        later = (i for i, o in enumerate(orders) if o > order and requests[i].on_branch)
        request = next(later, len(requests))
        before = [requests[i].usage for i, o in enumerate(orders) if o < order and requests[i].on_branch]
        after = requests[request].usage if request < len(requests) else None
        kept = {places[u] for u in preserved_uuids(mark.record, copies, records) if u in places}
        facts: Mapping[str, Any] = mark.record.boundary or {}
        found.append(
            RecordedCompaction(
                boundary=boundary,
                request=request,
                message=summaries[mark.summary.first.order] if mark.summary else None,
                trigger=facts["trigger"] if facts.get("trigger") in ("auto", "manual") else None,
                tokens_before=_tokens_before(facts, before),
                tokens_after=after.context if after else None,
                preserved=tuple(sorted(index for index in kept if index < boundary)),
                outside=boundary == 0,
            )
        )
    return tuple(found)


def _tokens_before(facts: Mapping[str, Any], before: Sequence[Any]) -> int | None:
    recorded = facts.get("preTokens")
    if isinstance(recorded, int) and not isinstance(recorded, bool):
        return recorded
    return before[-1].context + before[-1].output if before and before[-1] else None


def _prompt_title(units: Sequence[Unit]) -> str:
    return next((title for unit in units if unit.first.typed and (title := title_of(unit.first.title))), "")


def _warnings(
    units: Sequence[Unit], off: frozenset[int], copies: Sequence[Record], records: Sequence[Record]
) -> tuple[str, ...]:
    left = sum(unit.is_reply and unit.first.order in off for unit in units)
    cleared = sum(record.cleared for record in records)
    notes = []
    if left:
        notes.append(f"A rewind left a branch with {left} requests behind: counted, not in the messages")
    if copies:
        notes.append(f"{len(copies)} lines are copies of earlier lines with the same uuid, counted once")
    if cleared:
        notes.append(f"{cleared} tool results were cleared before recording: their content is not in this session")
    return tuple(notes)
