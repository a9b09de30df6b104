"""Records of a Gemini CLI session file: what each says, and what the log does to those before it (formats 8).

A record holds a reply, its tool calls and their results: it is the reply's message and, where there are results, a
second one.  The newer log writes a record again under its id when it changes; ``$rewindTo`` takes off everything from
that id on, ``$set`` with messages replaces the whole list (a session that goes on, a compression, a roll-back, or
results that the client masked: those are cleared in place, and the messages keep what they were sent with).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sessions.engine.reading.formats import _gemini_parts as gemini
from sessions.engine.reading.formats._blocks import is_prompt, opaque
from sessions.engine.reading.formats._branch import RESULTS, Clearing
from sessions.engine.reading.formats._provider_errors import MAX_WORDS, Refusal, error_of
from sessions.engine.reading.formats._thread import Call, Entry, Mark, Thread, entry_of
from sessions.engine.reading.formats._values import Measured, Record, as_dict, as_list, count_of, seconds, text_of
from sessions.engine.transcript.recorded_events import CUT_OFF, EventKind
from sessions.engine.transcript.types import Content, Kind, Origin, Role, Usage

_COMPRESSED = re.compile(r"compressed from:? ([\d,]*\d) to ([\d,]*\d) tokens", re.IGNORECASE)
_BY_ITSELF = "approached the input token limit"
TYPES = frozenset({"user", "gemini"})
SCREEN_TYPES = frozenset({"info", "error", "warning"})
UNSENT = "Sending this message"
"""Begins the note about a message that the client holds back: by its own count it does not fit."""
NOTED_ENDS = {"response truncated": f"{CUT_OFF}: ", "loop was detected": ""}
"""Notes that end a turn, in the client's words, and what stands before them here."""


@dataclass(frozen=True, slots=True)
class Compressed:
    """A compression as a note tells it: tokens before and after it, "auto" where the client began it by itself."""

    before: int
    after: int
    trigger: str | None


def compressed(text: str) -> Compressed | None:
    """The compression that a note tells with both figures, None where it tells none."""
    note = _COMPRESSED.search(text)
    if note is None:
        return None
    before, after = (int(figure.replace(",", "")) for figure in note.groups())
    return Compressed(before, after, "auto" if _BY_ITSELF in text else None)


def mark_shown(thread: Thread, kept: list[int]) -> None:
    """A compression shown by the list that follows it; one that a note told just before is the same."""
    mark = Mark(len(thread.entries), len(thread.calls), kept, outside=False)
    if thread.marks and thread.marks[-1].tokens_after is not None and thread.marks[-1].n_calls == mark.n_calls:
        told = thread.marks.pop()
        mark.trigger, mark.tokens_before, mark.tokens_after = told.trigger, told.tokens_before, told.tokens_after
    thread.marks.append(mark)


def mark_told(thread: Thread, note: Compressed) -> None:
    """A compression told by a note: the one just shown, else one before the prompts that wait for their reply."""
    if not (thread.marks and thread.marks[-1].n_calls == len(thread.calls)):
        boundary = len(thread.entries)
        while boundary and thread.entries[boundary - 1].typed:
            boundary -= 1
        thread.marks.append(Mark(boundary, len(thread.calls), outside=False))
    mark = thread.marks[-1]
    mark.trigger, mark.tokens_before, mark.tokens_after = note.trigger, note.before, note.after


@dataclass(slots=True)
class GeminiRecord:
    """A record as last written."""

    ident: str
    entries: list[Entry]
    is_reply: bool
    usage: Usage | None
    model: str
    timestamp: float | None
    key: int = 0
    said: int = 0
    """What the record says without its results, as a hash."""
    masked: tuple[str, ...] = ()
    dropped: bool = False


@dataclass(slots=True)
class Replacement:
    """Where the list was replaced: ``kept`` stayed; what came new follows in the log."""

    kept: list[GeminiRecord]
    n_made: int = 0


@dataclass(slots=True)
class Log:
    """The records in the order they came, and those of the list as it is now."""

    measure: Measured
    items: list[GeminiRecord | Replacement | Refusal | Clearing | Compressed] = field(default_factory=list)
    live: list[GeminiRecord] = field(default_factory=list)
    by_id: dict[str, GeminiRecord] = field(default_factory=dict)
    n_screen: int = 0

    def accept(self, value: Record, origin: Origin) -> None:
        """Take a record, new or written again."""
        record = _record(value, origin, self.measure)
        known = self.by_id.get(record.ident) if record.ident else None
        if known is None:
            self.items.append(record)
            self.live.append(record)
            self.by_id[record.ident] = record
        elif not self._mask([known], [record]):
            known.usage, known.model = record.usage, record.model
            if known.key != record.key:
                known.entries, known.is_reply = record.entries, record.is_reply
                known.key, known.said = record.key, record.said

    def told(self, value: Record) -> None:
        """Take a record for the screen: an error may say that a request was too large."""
        self.n_screen += 1
        text = " ".join(content.text for content in gemini.parts_of(value.get("content")))
        if note := compressed(text):
            self.items.append(note)
            return
        refusal = error_of(text)
        if (end := next((end for mark, end in NOTED_ENDS.items() if mark in text.lower()), None)) is not None:
            refusal = Refusal(EventKind.SESSION_END, words=f"{end}{text}"[:MAX_WORDS])
        elif refusal and value.get("type") != "error" and not (refusal.of_compaction or text.startswith(UNSENT)):
            # Among the client's notes only what it did not send, and a compression that failed, are told.
            refusal = None
        self.items += [refusal] if refusal else []

    def rewind(self, ident: str) -> None:
        """Take off everything from the record ``ident`` on; everything where it is not known."""
        # A rewind goes back a little: the record is looked for from the end on.
        start = next((n for n in range(len(self.live) - 1, -1, -1) if self.live[n].ident == ident), 0)
        for record in self.live[start:]:
            record.dropped = True
            self.by_id.pop(record.ident, None)
        del self.live[start:]

    def replace(self, values: Sequence[tuple[Record, Origin]]) -> None:
        """Make the list what ``values`` are: records that it already has stay the same messages."""
        records = [_record(value, origin, self.measure) for value, origin in values]
        if self._mask(self.live, records):
            return
        waiting: dict[tuple[str, int], deque[GeminiRecord]] = {}
        for record in self.live:
            waiting.setdefault((record.ident, record.key), deque()).append(record)
        kept, made = [], []
        for record in records:
            if twins := waiting.get((record.ident, record.key)):
                kept.append(twins.popleft())
            else:
                made.append(record)
        left = [record for twins in waiting.values() for record in twins]
        if left and not made:
            for record in left:
                record.dropped = True
        elif left:
            self.items.append(Replacement(kept, len(made)))
        self.items += made
        self.live = kept + made
        self.by_id = {record.ident: record for record in self.live}

    def _mask(self, known: Sequence[GeminiRecord], records: Sequence[GeminiRecord]) -> bool:
        """Note a clearing where ``records`` are the ``known`` ones with more of their results masked."""
        if [(r.ident, r.said) for r in known] != [(r.ident, r.said) for r in records]:
            return False
        changed = [(old, new) for old, new in zip(known, records, strict=True) if old.key != new.key]
        if not changed or any(len(new.masked) <= len(old.masked) for old, new in changed):
            return False
        calls = tuple(call for old, new in changed for call in new.masked if call and call not in old.masked)
        n = sum(len(new.masked) - len(old.masked) for old, new in changed)
        self.items.append(Clearing(RESULTS, "auto", n, calls=calls))
        for old, new in changed:
            old.key, old.masked = new.key, new.masked
        return True

    def thread(self) -> Thread:
        """The session in the making."""
        thread = Thread()
        places: dict[int, range] = {}
        n_left = 0
        for item in self.items:
            if isinstance(item, Refusal):
                thread.refuse(item)
            elif isinstance(item, Clearing):
                thread.clear(item)
            elif isinstance(item, Compressed):
                mark_told(thread, item)
            elif isinstance(item, Replacement):
                mark_shown(thread, sorted(place for record in item.kept for place in places[id(record)]))
                n_left = item.n_made
            else:
                places[id(item)] = range(len(thread.entries), len(thread.entries) + len(item.entries))
                _place(thread, item, made=n_left > 0)
                n_left = max(0, n_left - 1)
        return thread


def record_contents(value: Record, role: Role) -> tuple[Content, ...]:
    """The blocks of one of a record's messages: of a reply, or of the results that its calls have."""
    if value.get("type") != "gemini":
        return gemini.parts_of(value.get("content"))
    calls = as_list(value.get("toolCalls"))
    if role is not Role.ASSISTANT:
        return tuple(content for call in calls for content in _results(call))
    made = (gemini.call_of(call) if isinstance(call, dict) else opaque({"toolCall": call}) for call in calls)
    return (*_thoughts(value), *gemini.parts_of(value.get("content")), *made)


def _place(thread: Thread, record: GeminiRecord, *, made: bool) -> None:
    place = len(thread.entries)
    for entry in record.entries:
        entry.dropped = record.dropped
        if made:
            entry.compaction, entry.typed = len(thread.marks) - 1, False
            if entry.summary:
                thread.marks[-1].summary = len(thread.entries)
        thread.entries.append(entry)
    if record.is_reply and not made:
        thread.calls.append(Call(place, place + 1, record.model, record.timestamp, record.usage))


def _record(value: Record, origin: Origin, measure: Measured) -> GeminiRecord:
    is_reply = value.get("type") == "gemini"
    ident, timestamp = text_of(value.get("id")), seconds(value.get("timestamp"))
    role = Role.ASSISTANT if is_reply else Role.USER
    contents, results = record_contents(value, role), record_contents(value, Role.USER) if is_reply else ()
    summary = not is_reply and bool(contents) and contents[0].text.startswith(gemini.SNAPSHOT)
    prompt = not is_reply and not summary and is_prompt(contents)
    meta = prompt and contents[0].text.lstrip().startswith(gemini.CLIENT_WORDS)
    facts: dict[str, Any] = {"prompt": prompt, "meta": meta, "native_id": ident, "timestamp": timestamp}
    entries = [entry_of(contents, role, origin, measure, summary=summary, **facts)]
    if results:
        facts |= {"prompt": False, "native_id": f"{ident}.results" if ident else ""}
        entries.append(entry_of(results, Role.USER, origin, measure, **facts))
    tokens = as_dict(value.get("tokens"))
    usage = gemini.usage_from(*(count_of(tokens.get(key)) for key in ("input", "cached", "output", "thoughts")))
    masked = tuple(r.call_id for r in results if any(gemini.MASKED in leaf.text for leaf in (r, *r.parts)))
    return GeminiRecord(
        ident, entries, is_reply, usage, text_of(value.get("model")), timestamp,
        hash((role, contents, results)), hash((role, contents, len(results))), masked,
    )  # fmt: skip


def _thoughts(value: Record) -> Iterator[Content]:
    for thought in as_list(value.get("thoughts")):
        if isinstance(thought, dict):
            said = [text_of(thought.get("subject")), text_of(thought.get("description"))]
            yield Content(Kind.THINKING, text="\n".join(filter(None, said)))
        else:
            yield from gemini.parts_of(thought)


def _results(call: Any) -> Iterator[Content]:
    """One result of a call, made of all its parts; none where the call has not come back."""
    result = as_dict(call).get("result")
    if result is None or result == []:
        return
    call_id = text_of(call.get("id")) or text_of(call.get("name"))
    failed = text_of(call.get("status")) in ("error", "cancelled")
    flat: list[Content] = []
    for part in result if isinstance(result, list) else [result]:
        held = as_dict(part)
        is_result = isinstance(held.get("functionResponse", held.get("function_response")), dict)
        flat += [gemini.result_of(held)] if is_result else gemini.parts_of(part)
    failed = failed or any(content.is_error for content in flat)
    if len(flat) == 1 and flat[0].kind in (Kind.TOOL_RESULT, Kind.TEXT):
        text, parts = flat[0].text, flat[0].parts
    else:
        text, parts = "", tuple(part for content in flat for part in _said(content))
    yield Content(Kind.TOOL_RESULT, text=text, call_id=call_id, is_error=failed, parts=parts)


def _said(content: Content) -> tuple[Content, ...]:
    """A block, or what a result among the blocks holds."""
    if content.kind is not Kind.TOOL_RESULT:
        return (content,)
    return ((Content(Kind.TEXT, text=content.text),) if content.text else ()) + content.parts
