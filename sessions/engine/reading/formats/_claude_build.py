"""Transcripts from the records of one Claude Code session: messages, requests, compactions.

Rules: formats 3.6, replay-semantics 1.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sessions.engine.packing import packed_sequence
from sessions.engine.packing.memory import give_back
from sessions.engine.reading.formats import _claude_lines as claude
from sessions.engine.reading.formats._assembly import Kept, transcript_of
from sessions.engine.reading.formats._blocks import first_title, title_of
from sessions.engine.reading.formats._branch import clearing_at, next_on_branch
from sessions.engine.reading.formats._claude_lines import ClaudeMessage, ClaudeRecord
from sessions.engine.reading.formats._claude_ways import Way, preserved_uuids, ways_of, without_copies
from sessions.engine.reading.formats._provider_errors import settled
from sessions.engine.reading.formats._records import cleared_before, noted
from sessions.engine.reading.formats._values import Record, text_of
from sessions.engine.transcript.lazy_messages import LazyMessages
from sessions.engine.transcript.session_links import SessionLinks, Spawn
from sessions.engine.transcript.types import Branch, Message, RecordedCompaction, Request, Role, Transcript, Usage

Chain = Sequence[ClaudeRecord]
MOST_BRANCHES = 20
"""Branches that can be selected beside the latest one: each is held with all its messages."""


class Lines:
    """The lines of one session without copies, as messages in the making: all, and those of the selected branch."""

    def __init__(self, records: Chain, copies: Chain, units: Sequence[ClaudeMessage], off: frozenset[int]) -> None:
        self.records, self.copies, self.units, self.off = records, copies, units, off
        self.on_branch = [unit for unit in units if unit.first.order not in off]
        self.orders = [unit.first.order for unit in self.on_branch]
        self.reply_orders = [unit.first.order for unit in units if unit.is_reply]

    def standing(self) -> Iterator[ClaudeRecord]:
        """Those on the branch."""
        return (record for record in self.records if record.order not in self.off)

    def before(self, order: int) -> tuple[int, int]:
        """How many messages of the branch and how many replies begin before a line."""
        return bisect_left(self.orders, order), bisect_left(self.reply_orders, order)


@dataclass(slots=True)
class Boundary:
    """A recorded compaction in the making: its boundary line, or its summary where there is no boundary."""

    record: ClaudeRecord
    summary: ClaudeMessage | None = None


def transcripts_of(records: Chain, native_id: str, title: str = "", **of_file: str) -> list[Transcript]:
    """One session: its latest branch, then the ``MOST_BRANCHES`` newest that a rewind left; all are listed."""
    kept, copies = without_copies(records)
    units = claude.units_of(kept)
    ways = ways_of(kept, units)
    split = [Lines(kept, copies, units, way.off) for way in ways]
    branches = _branches(ways, split) if len(ways) > 1 else ()
    found = []
    for number, lines in enumerate(split[: MOST_BRANCHES + 1]):
        listed = tuple(replace(branch, selected=number == at) for at, branch in enumerate(branches))
        found.append(_transcript(lines, title, id=native_id, branches=listed, **of_file))
    return found


def _transcript(lines: Lines, title: str, **facts: Any) -> Transcript:
    """The session as it stands on one branch; ``facts`` are other fields of Transcript."""
    marks = _marks(lines)
    replies = enumerate(unit for unit in lines.units if unit.is_reply)
    known: dict[int, int] = {}  # equal figures, as one object
    requests = [_request(unit, n, lines, known.setdefault) for n, unit in replies]
    told = ((r.rare.refusal, *lines.before(r.order)) for r in lines.standing() if r.rare.refusal is not None)
    errors, events = settled(told, requests, {bisect_left(lines.orders, mark.record.order) for mark in marks})
    cleared = ((r.rare.clearing, *lines.before(r.order)) for r in lines.standing() if r.rare.clearing is not None)
    prompts = (unit for unit in lines.on_branch if unit.first.facts.typed)
    left = sum(unit.is_reply and unit.first.order in lines.off for unit in lines.units)
    times = array("d")
    times.extend(time for r in lines.records if r.is_message and (time := r.facts.timestamp) is not None)
    return transcript_of(
        _messages(lines, marks),
        requests,
        list(_compactions(marks, lines, requests)) if marks else (),
        title=title or first_title(title_of(unit.first.body.title) for unit in prompts),
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
        warnings=noted(
            (left, f"Requests on a branch that a rewind left: {left}, counted but not among the messages"),
            (lines.copies, f"Copies of earlier lines with the same uuid: {len(lines.copies)}, counted once"),
            cleared_before(sum(record.rare.cleared for record in lines.records)),
        ),
        errors=errors,
        events=events,
        clearings=tuple(clearing_at(*one, requests) for one in cleared),
        **facts,
    )


def _branches(ways: Sequence[Way], split: Sequence[Lines]) -> tuple[Branch, ...]:
    """Facts of every branch; a leaf without an id is named by its line."""
    shared = set.intersection(*(set(lines.orders) for lines in split))
    found = []
    for way, lines in zip(ways, split, strict=True):
        leaf = next((record for record in lines.records if record.order == way.leaf), None)
        own = [unit for unit in lines.on_branch if unit.first.order not in shared]
        first = next((unit.first for unit in own if unit.first.facts.typed), own[0].first if own else None)
        times = [unit.first.facts.timestamp for unit in own if unit.first.facts.timestamp is not None]
        found.append(
            Branch(
                leaf=(leaf.uuid or f"L{leaf.facts.origin.line}") if leaf else "",
                preview=(title_of(first.body.title) or first.body.preview) if first else "",
                n_messages=len(lines.on_branch),
                n_requests=sum(unit.is_reply for unit in lines.on_branch),
                timestamp=max(times, default=None),
            )
        )
    return tuple(found)


def linked(
    children: Sequence[tuple[Transcript, list[ClaudeRecord]]], parents: Sequence[tuple[Transcript, list[ClaudeRecord]]]
) -> list[Transcript]:
    """Sub-agents with the session and the call that started them: by the id in its result, else by their prompt."""
    agents: dict[str, tuple[str, str]] = {}
    prompts: dict[str, list[tuple[str, str]]] = {}
    for transcript, records in [*parents, *children]:
        for record in records:
            agents.update({f"agent-{agent}": (transcript.id, call) for agent, call in record.rare.agents})
            for call, prompt in record.rare.prompts:
                prompts.setdefault(prompt, []).append((transcript.id, call))
    found = []
    for transcript, records in children:
        home = next((p.id for p, lines in parents if lines[0].session == records[0].session), parents[0][0].id)
        parent, call = agents.get(transcript.id, (home, ""))
        prompt = next((record.rare.prompt for record in records if record.rare.prompt), "")
        options = [option for option in prompts.get(prompt, []) if option[0] != transcript.id]
        if not call and prompt and options:
            parent, call = options[0]
            prompts[prompt].remove(options[0])
        found.append(replace(transcript, parent_id=parent, parent_call_id=call))
    return found


def kin_of(transcript: Transcript, records: Sequence[ClaudeRecord]) -> SessionLinks:
    """What links a session with the files of its parent and of its sub-agents.

    The home of a sub-agent is the session named on its lines, whichever agent of that session started it.
    """
    agents = {call: f"agent-{agent}" for record in records for agent, call in record.rare.agents}
    prompts = {call: prompt for record in records for call, prompt in record.rare.prompts}
    first = records[0]
    return SessionLinks(
        session=transcript.id,
        home=first.session if first.sidechain and first.session != transcript.id else "",
        prompt=next((record.rare.prompt for record in records if record.rare.prompt), ""),
        spawns=tuple(Spawn(call, agents.get(call, ""), prompts.get(call, "")) for call in {**prompts, **agents}),
    )


def _messages(lines: Lines, marks: Sequence[Boundary]) -> Sequence[Message]:
    """The messages of the branch; those of a very long one are made when they are walked over."""
    made = _made_by(lines, marks)
    started, begun = _next(lines, "resumed"), _next(lines, "afresh") - {0}
    if len(lines.on_branch) >= packed_sequence.PACKED_FROM:
        give_back()
    nameless = _nameless(lines.on_branch)

    def walk(units: Iterator[ClaudeMessage]) -> Iterator[Message]:
        for index, unit in enumerate(units):
            line = f"L{unit.first.facts.origin.line}"
            native_id = line if index in nameless else unit.first.response_id or unit.first.uuid
            yield claude.message_of(
                unit, index, native_id, made.get(index), resumed=index in started, afresh=index in begun
            )

    messages = LazyMessages(
        lines.on_branch, walk, claude.blocks_of, lambda unit: unit.first.shelves.let_go(unit.first.order)
    )
    return messages if len(messages) >= packed_sequence.PACKED_FROM else tuple(messages)


def _next(lines: Lines, mark: str) -> set[int]:
    """Indices of the messages that follow a line of the branch with this mark, or are it."""
    return {bisect_left(lines.orders, record.order) for record in lines.standing() if getattr(record.rare, mark)}


def _nameless(units: Sequence[ClaudeMessage]) -> set[int]:
    """Indices of the messages that are named by their line: they have no id, or one that an earlier one has."""
    taken: set[str] = set()
    found: set[int] = set()
    for index, unit in enumerate(units):
        native_id = unit.first.response_id or unit.first.uuid
        if not native_id or native_id in taken:
            native_id = f"L{unit.first.facts.origin.line}"
            found.add(index)
        taken.add(native_id)
    return found


def _made_by(lines: Lines, marks: Sequence[Boundary]) -> dict[int, int]:
    """Message index to the compaction that made it: the summary, and the attachments directly after it."""
    made: dict[int, int] = {}
    units = lines.on_branch
    for k, mark in enumerate(marks):
        if mark.summary is None:
            continue
        index = bisect_left(lines.orders, mark.summary.first.order)
        made[index] = k
        while index + 1 < len(units) and units[index + 1].first.attachment:
            index += 1
            made[index] = k
    return made


def _marks(lines: Lines) -> list[Boundary]:
    marks: list[Boundary] = []
    waiting = False
    for record in lines.standing():
        if record.rare.boundary is not None:
            marks.append(Boundary(record))
            waiting = True
        elif record.summary and (place := _place(lines, record.order)) is not None:
            if not waiting:
                marks.append(Boundary(record))
            marks[-1].summary = lines.on_branch[place]
            waiting = False
        elif record.role is Role.ASSISTANT:
            waiting = False
    return marks


def _place(lines: Lines, order: int) -> int | None:
    """The index of the message that begins with a line; None where it is not on the branch."""
    index = bisect_left(lines.orders, order)
    return index if index < len(lines.orders) and lines.orders[index] == order else None


def _request(unit: ClaudeMessage, index: int, lines: Lines, number: Callable[[int, int], int]) -> Request:
    first, facts, u = unit.first, unit.first.facts, claude.reply_usage(unit)
    if u is not None:
        u = Usage(
            number(u.input, u.input), number(u.cache_read, u.cache_read), number(u.cache_write, u.cache_write),
            number(u.output, u.output), u.placeholder, number(u.reasoning, u.reasoning),
            number(u.cache_write_1h, u.cache_write_1h), number(u.last_input, u.last_input),
        )  # fmt: skip
    return Request(
        index=index,
        message=_place(lines, first.order),
        usage=u,
        on_branch=first.order not in lines.off,
        response_id=first.response_id,
        model=facts.model,
        timestamp=facts.timestamp,
        aborted=claude.is_cut_thinking(unit),
    )


def _compactions(marks: Sequence[Boundary], lines: Lines, requests: Sequence[Request]) -> Iterator[RecordedCompaction]:
    # The first line of an id without copies, and the branch's message that it is part of.
    records = {record.uuid: record for record in reversed(lines.records) if record.uuid}
    messages: dict[str, int] = {}
    for index, unit in enumerate(lines.on_branch):
        for record in unit.records:
            messages.setdefault(record.uuid, index)
    known, kept = records.keys() | {record.uuid for record in lines.copies}, Kept()
    for mark in marks:
        boundary, n_before = lines.before(mark.record.order)
        request = next_on_branch(requests, n_before)
        before = next((requests[i].usage for i in range(n_before - 1, -1, -1) if requests[i].on_branch), None)
        after = requests[request].usage if request < len(requests) else None
        answered = lines.reply_orders[n_before] if n_before < len(lines.reply_orders) else None
        uuids = preserved_uuids(mark.record, lines.copies, records, answered) & messages.keys()
        facts: Record = mark.record.rare.boundary or {}
        trigger, recorded = text_of(facts.get("trigger")), facts.get("preTokens")
        own_count = recorded if isinstance(recorded, int) and not isinstance(recorded, bool) else None
        # A boundary that names a line before it that the file does not have follows what is not seen (formats 3.6).
        follows_unseen = bool(mark.record.parent) and mark.record.parent not in known
        yield RecordedCompaction(
            boundary=boundary,
            request=request,
            message=bisect_left(lines.orders, mark.summary.first.order) if mark.summary else None,
            trigger=trigger if trigger in {"auto", "manual"} else None,
            tokens_before=before.context + before.output if own_count is None and before else own_count,
            unseen=boundary > 0 and own_count is not None and follows_unseen,
            tokens_after=after.context if after else None,
            preserved=kept.of(sorted({index for uuid in uuids if (index := messages[uuid]) < boundary})),
            outside=boundary == 0,
        )
