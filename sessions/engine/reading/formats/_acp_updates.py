"""Updates of an ACP session put together: chunks to messages, tool calls to results, compactions (formats 61)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sessions.engine.base.words import words
from sessions.engine.reading.formats._assembly import Assembly
from sessions.engine.reading.formats._blocks import blocks_of, opaque, target_of
from sessions.engine.reading.formats._chat_blocks import part_of
from sessions.engine.reading.formats._counts import count_of
from sessions.engine.reading.formats._media_links import media_link
from sessions.engine.reading.formats._records import unread_notes
from sessions.engine.reading.formats._values import Measured, Record, as_dict, as_list, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Content, Kind, Origin, Role, Transcript

SAID = {"agent_message_chunk", "agent_thought_chunk", "tool_call"}
CALLED = ("tool_call", "tool_call_update")
ENDED = ("completed", "failed")


TOLD = ("text_delta", "tool_call", "status")
SHOWN = frozenset(
    words("""
    plan plan_update plan_removed available_commands_update current_mode_update config_option_update
    session_info_update tool_call_update
""")
)
"""Updates for the editor's screen (the protocol's schema, version 1: SessionUpdate)."""


@dataclass(slots=True)
class Piece:
    """Updates that are one message so far."""

    role: Role
    values: list[Any] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)


class AcpSession:
    """One session in the making."""

    def __init__(self, measure: Measured) -> None:
        self.history = Assembly(measure)
        self.piece: Piece | None = None
        self.window: int | None = None
        self.used = 0
        self.compacted: dict[str, int] = {}
        self.chunks: dict[str, Piece] = {}
        self.answered: set[str] = set()
        self.begun: set[str] = set()
        self.unknown: Counter[str] = Counter()

    def prompt(self, blocks: Sequence[Any], origin: Origin) -> None:
        """What the user sent."""
        self._end()
        self.piece = Piece(Role.USER, [list(blocks)], [origin])
        self._end()

    def take(self, update: Record, origin: Origin) -> None:
        """One update of the session."""
        kind = update["sessionUpdate"]
        if kind in SAID:
            self._extend(Role.ASSISTANT, update, origin)
        elif kind == "user_message_chunk":
            self._extend(Role.USER, update, origin)
        elif kind == "tool_call_update" and update.get("status") in ENDED and _key(update) not in self.answered:
            self.answered.add(_key(update))
            self._end()
            self.history.add(Role.USER, update_contents([update]), [origin], typed=False)
        elif kind == "usage_update":
            self._usage(count_of(update.get("used")), count_of(update.get("size")))
        elif kind == "compaction_summary_chunk":
            piece = self.chunks.setdefault(text_of(update.get("compactionId")), Piece(Role.USER))
            piece.values.append(update)
            piece.origins.append(origin)
        elif kind == "compaction_update":
            self._compaction(update, origin)
        elif kind not in SHOWN:
            self.unknown[kind] += 1

    def failed(self, error: Record) -> None:
        """An error in place of an answer."""
        self._end()
        self.history.fail(error)

    def finish(self, native_id: str, format_name: str) -> Transcript:
        """The session; what its context is measured by is no usage of calls."""
        self._end()
        self.history.warnings += unread_notes(self.unknown)
        for _ in self.begun:
            self.history.event(EventKind.COMPACTION_STARTED)
        if self.used:
            self.history.warnings.append("The log says how full the context is, not what each call was sent: no usage")
        return self.history.transcript(native_id, format_name, window=self.window)

    def _extend(self, role: Role, update: Record, origin: Origin) -> None:
        if self.piece is None or self.piece.role is not role:
            self._end()
            self.piece = Piece(role)
        self.piece.values.append(update)
        self.piece.origins.append(origin)

    def _end(self) -> None:
        piece, self.piece = self.piece, None
        contents = update_contents(piece.values) if piece else ()
        if piece is None or not contents:
            return
        if piece.role is Role.ASSISTANT:
            self.history.end_run()
            self.history.reply(contents, piece.origins)
        else:
            self.history.add(Role.USER, contents, piece.origins)

    def _usage(self, used: int, size: int) -> None:
        self.used, self.window = used or self.used, size or self.window
        newest = len(self.history.compactions) - 1
        if used and newest >= 0 and self.history.compactions[newest].tokens_after is None:
            made = self.history.compactions[newest]
            self.history.compactions[newest] = replace(made, tokens_after=used)

    def _compaction(self, update: Record, origin: Origin) -> None:
        """Completed or failed, once for each id; which messages left is not recorded."""
        key, status = text_of(update.get("compactionId")), update.get("status")
        if status == "failed":
            self._end()
            self.history.fail(update.get("error") or status, of_compaction=True)
        if status == "in_progress":
            self.begun.add(key)
            return
        self.begun.discard(key)
        if status == "cancelled":
            self._end()
            self.history.event(EventKind.COMPACTION_CANCELLED)
        if status != "completed" or key in self.compacted:
            return
        self._end()
        number = self.history.compaction(tokens_before=self.used or None, outside=True)
        self.compacted[key] = number
        told = Piece(Role.USER, [update], [origin]) if update_contents([update]) else self.chunks.get(key)
        if told is not None:
            self.history.summary(update_contents(told.values), told.origins, number)


def update_contents(values: Sequence[Any]) -> tuple[Content, ...]:
    """The blocks of updates that are one message: chunks of the same kind joined; of a prompt, its blocks."""
    found: list[Content] = []
    for value in values:
        for piece in _contents(value):
            last = found[-1] if found else None
            if last is not None and last.kind is piece.kind and piece.kind in (Kind.TEXT, Kind.THINKING):
                found[-1] = Content(last.kind, text=last.text + piece.text)
            else:
                found.append(piece)
    return tuple(found)


def told(value: Record) -> Record:
    """The update that an event of acpx tells: ``tag`` names it, ``text`` is what it says, or shows of a call."""
    said = [{"type": "text", "text": text_of(value.get("text"))}] if value["type"] == TOLD[0] else []
    return {**value, "sessionUpdate": value["tag"], "content": said}


def _contents(value: Any) -> tuple[Content, ...]:
    if isinstance(value, list):
        return blocks_of(value, _block)
    update: Record = as_dict(value)
    update = told(update) if update.get("type") in TOLD and "tag" in update else update
    kind = text_of(update.get("sessionUpdate"))
    if kind in CALLED:
        return (_result(update),) if kind == CALLED[1] else (_call(update),)
    if kind == "compaction_update":
        summary = update.get("summary")
        return blocks_of(summary, _block)
    blocks = blocks_of(update.get("content"), _block)
    if kind == "agent_thought_chunk":
        return tuple(Content(Kind.THINKING, text=block.text) for block in blocks)
    return blocks


def _block(block: Any) -> Content:
    """A content block of the protocol, which are MCP's."""
    held = as_dict(block)
    resource = as_dict(held.get("resource"))
    if held.get("type") == "resource" and isinstance(resource.get("text"), str):
        return Content(Kind.TEXT, text=resource["text"], target=text_of(resource.get("uri")))
    if held.get("type") == "resource_link":
        return media_link(text_of(held.get("uri")), text_of(held.get("mimeType")), Kind.DOCUMENT)
    if held.get("type") == "image" and text_of(held.get("data")):
        return Content(Kind.IMAGE, media_type=text_of(held.get("mimeType")), data=held["data"])
    return part_of(block)


def _call(update: Record) -> Content:
    arguments = update.get("rawInput")
    name = text_of(update.get("kind")) or text_of(update.get("title")) or "tool"
    text = dumps(arguments) if arguments is not None else ""
    return Content(Kind.TOOL_USE, text=text, name=name, call_id=_key(update), target=target_of(arguments))


def _result(update: Record) -> Content:
    """What a call gave out: what the model got where the agent tells it, else what the editor was shown."""
    raw, failed = update.get("rawOutput"), update.get("status") == "failed"
    if raw is not None:
        text = raw if isinstance(raw, str) else dumps(raw)
        return Content(Kind.TOOL_RESULT, text=text, call_id=_key(update), is_error=failed)
    parts = tuple(_shown(as_dict(item)) for item in as_list(update.get("content")))
    return Content(Kind.TOOL_RESULT, call_id=_key(update), is_error=failed, parts=parts)


def _shown(item: Record) -> Content:
    if item.get("type") == "content":
        return _block(item.get("content"))
    if item.get("type") == "diff":
        return Content(Kind.TEXT, text=text_of(item.get("newText")), target=text_of(item.get("path")))
    return opaque(item)


def _key(update: Record) -> str:
    return text_of(update.get("toolCallId"))
