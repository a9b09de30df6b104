"""Cline and Roo: ``api_conversation_history.json``, Cline's session messages file, ``ui_messages.json`` (formats 17).

The three say different things: the API history has the blocks and Roo's marks, the session file usage with the cached
tokens inside, the ui messages usage without them, and truncation ranges.

Roo hides messages instead of deleting them: ``condenseParent`` names the summary, ``truncationParent`` the marker
that replaced them.  Both stand before the messages that were kept, so the next request is further on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_place
from sessions.engine.reading.formats._anthropic_blocks import contents_of
from sessions.engine.reading.formats._assembly import Assembly
from sessions.engine.reading.formats._blocks import opaque
from sessions.engine.reading.formats._chat_blocks import part_of, parts_of, role_of
from sessions.engine.reading.formats._cline_ui import kind_of, read_ui, sold_by, ui_contents
from sessions.engine.reading.formats._counts import usage_at
from sessions.engine.reading.formats._records import misread, objects_in, stem_of
from sessions.engine.reading.formats._values import Path, Record, as_dict, seconds, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role

KEPT_BY_ROO = 3
"""Messages behind an assistant summary that were there before it (Roo's N_MESSAGES_TO_KEEP)."""
ROO_KEYS = ("isSummary", "condenseId", "condenseParent", "truncationId", "truncationParent", "isTruncationMarker")
OPENINGS = ("<task>", "<user_message>", "<environment_details>", "<feedback>")
UI_PATHS = ("request", "images", "screenshot", "summary")
SESSION_KEYS = ("metrics", "modelInfo", "ts")


@dataclass(frozen=True, slots=True)
class CompactionMark:
    """The message that stands for a compaction, what it hid, and how many messages behind it were there before it."""

    index: int
    is_summary: bool
    hidden: Sequence[int]
    n_kept: int


def entry_contents(entry: Record) -> tuple[Content, ...]:
    """The blocks of one entry of the history."""
    content = entry.get("content")
    if isinstance(content, list):
        return tuple(_block(block) for block in content)
    if content is None and "type" in entry:
        return (opaque({key: value for key, value in entry.items() if key not in ("role", "ts", "id")}),)
    return parts_of(content)


def read_history(entries: Sequence[Any], path: Path, source: Source, assembly: Assembly) -> None:
    """Every entry a message; a reply is a request where it has metrics or begins a run and made no summary."""
    kept = list(objects_in(entries, Origin(1, 0, source.size, path), source, "message"))
    marks = _marks([entry for entry, _ in kept])
    mark_numbers = {mark.index: number for number, mark in enumerate(marks)}
    for index, (entry, origin) in enumerate(kept):
        _add(assembly, entry, origin, mark_numbers.get(index))
    replies = [(r.message, r.index) for r in assembly.requests if r.message is not None]
    for mark in marks:
        at = bisect_left(replies, (mark.index + mark.n_kept + 1,))
        request = replies[at][1] if at < len(replies) else len(assembly.requests)
        before = assembly.requests[request - 1].usage if request else None
        # Without hidden messages what it removed was deleted, so it is outside.
        assembly.forget(
            mark.hidden,
            mark.index,
            message=mark.index if mark.is_summary else None,
            request=request,
            tokens_before=before.context + before.output if before else None,
            outside=not mark.hidden,
        )


def _add(assembly: Assembly, entry: Record, origin: Origin, compaction_number: int | None) -> None:
    role, in_run = role_of(entry), assembly.follows_reply()
    index = assembly.add(
        role,
        entry_contents(entry),
        (origin,),
        id=text_of(entry.get("id")),
        typed=None if compaction_number is None else False,
        timestamp=seconds(entry.get("ts")),
        summary=compaction_number is not None and entry.get("isSummary") is True,
        compaction=compaction_number,
    )
    # ``inputTokens`` includes what the cache read or wrote (formats 1.1).
    metrics = as_dict(entry.get("metrics"))
    usage = usage_at(metrics, "cline history") or usage_at(as_dict(metrics.get("tokens")), "cline tokens")
    if role is Role.ASSISTANT and compaction_number is None and (usage or not in_run):
        assembly.request(index, usage, **sold_by(entry))


def _marks(entries: Sequence[Record]) -> list[CompactionMark]:
    marks = []
    condensed, truncated = _hidden(entries, "condenseParent"), _hidden(entries, "truncationParent")
    for index, entry in enumerate(entries):
        if entry.get("isSummary") is True:
            hidden = condensed.get(text_of(entry.get("condenseId")), [])
            marks.append(CompactionMark(index, True, hidden, KEPT_BY_ROO if role_of(entry) is Role.ASSISTANT else 0))
        elif entry.get("isTruncationMarker") is True:
            hidden = truncated.get(text_of(entry.get("truncationId")), [])
            marks.append(CompactionMark(index, False, hidden, len(hidden)))
    return marks


def _hidden(entries: Sequence[Record], key: str) -> dict[str, list[int]]:
    """The messages that each compaction hides, by its id."""
    hidden: dict[str, list[int]] = {}
    for index, entry in enumerate(entries):
        if native_id := text_of(entry.get(key)):
            hidden.setdefault(native_id, []).append(index)
    return hidden


def _block(block: Any) -> Content:
    """One block; a file is sent as its text, results without types as their JSON."""
    held = as_dict(block)
    kind, said = held.get("type"), held.get("content")
    if kind == "file" and isinstance(said, str):
        return Content(Kind.TEXT, text=said, name="file", target=text_of(held.get("path")))
    if kind == "tool_result" and isinstance(said, list) and all(isinstance(i, dict) and "type" not in i for i in said):
        return part_of({**held, "content": dumps(said) if said else ""})
    return part_of(block)


class _Format(Format):
    label = "Cline or Roo"
    source = "api_conversation_history.json, ui_messages.json, session messages of Cline, Roo; not context_history.json"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES, refusals=YES, live=PARTLY,
        error="api_req_failed, error, streamingFailedMessage",
        compaction="conversationHistoryDeletedRange, condense_context", failed="condense_context_error",
        who="sliding_window_truncation: auto", retry="api_req_retry_delayed, error_retry",
        interruption="cancelReason user_cancelled", model="modelInfo",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        document = head.document
        if isinstance(document, dict):
            return _sniff_session(document)
        if not isinstance(document, list):
            return None
        entries = [entry for entry in document if isinstance(entry, dict)]
        if any(kind_of(entry) and "ts" in entry for entry in entries):
            return Sniff(95, "a list of entries with type say or ask and a ts")
        messages = [e for e in entries if e.get("role") in ("user", "assistant") and "content" in e]
        messages = [e for e in messages if e.get("type", "reasoning") == "reasoning"]
        for entry in messages:
            if own_key := next((key for key in (*ROO_KEYS, "ts") if key in entry), ""):
                return Sniff(90, f"a list of messages with {own_key!r} beside role and content")
        first = contents_of(messages[0].get("content")) if messages else ()
        if any(content.text.lstrip()[:40].startswith(OPENINGS) for content in first):
            return Sniff(85, "a list of messages that starts with a task in Cline's tags")
        return Sniff(0, "a list of messages, but without ts, Roo's marks or Cline's tags") if messages else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        document = source.document()
        assembly, native_id, system = Assembly(measure), stem_of(source.name), ""
        if isinstance(document, dict) and isinstance(document.get("messages"), list):
            native_id = text_of(document.get("sessionId")) or native_id
            system = text_of(document.get("system_prompt"))
            read_history(document["messages"], ("messages",), source, assembly)
        elif not isinstance(document, list):
            raise misread("no messages of Cline or Roo")
        elif any(map(kind_of, document)):
            read_ui(document, source, assembly)
        else:
            read_history(document, (), source, assembly)
        transcript = assembly.transcript(native_id, system=measure(contents_of(system)))
        return Parsed((transcript,))

    contents = each_place(lambda value, origin, _: _contents(value, origin.path))


def _contents(value: Any, path: Path) -> tuple[Content, ...]:
    """The blocks of an entry of the history, or of a ui entry that is part of a message."""
    is_ui = kind_of(value) or (path and path[-1] in UI_PATHS)
    return ui_contents(value, path) if is_ui else entry_contents(value)


def _sniff_session(document: dict[str, Any]) -> Sniff | None:
    messages = document.get("messages")
    if not isinstance(messages, list) or "sessionId" not in document:
        return None
    own_key = next((key for m in messages if isinstance(m, dict) for key in SESSION_KEYS if key in m), "")
    if isinstance(document["sessionId"], str) and own_key:
        return Sniff(90, f"sessionId and messages with {own_key!r}")
    return Sniff(0, "sessionId and messages, but none with metrics, modelInfo or ts")
