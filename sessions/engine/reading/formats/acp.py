"""Logs of the Agent Client Protocol: the messages between an editor and an agent, one a line (formats 61).

A line is a JSON-RPC message, its ``params``, a session's update, or what acpx tells of one; a recorder may keep the
message under a key of its own, as an object or as its text.  What the agent says
between two results is one reply.  ``usage_update`` says how full the context is, not what a call was sent: it dates
compactions, and is no usage.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sessions.engine.base.words import words
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, all_values
from sessions.engine.reading.formats._assembly import Assembly, Piece, read_as
from sessions.engine.reading.formats._blocks import blocks_of, joined, media_link, opaque, target_of
from sessions.engine.reading.formats._chat_blocks import part_of
from sessions.engine.reading.formats._records import first_objects, noted, objects, stem_of, unread_notes
from sessions.engine.reading.formats._traces import decoded
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, text_of, written
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Transcript

SAID = {"agent_message_chunk", "agent_thought_chunk", "tool_call"}
CALLED = ("tool_call", "tool_call_update")
ENDED = ("completed", "failed")
TOLD = ("text_delta", "tool_call", "status")
SHOWN = words("""
    plan plan_update plan_removed available_commands_update current_mode_update config_option_update
    session_info_update tool_call_update
""")
"""Updates for the editor's screen (the protocol's schema, version 1: SessionUpdate)."""
PROMPT = "session/prompt"
WRAPPERS = ("json", "message", "msg", "payload", "frame", "data", "raw")
"""Where a recorder puts a message beside what it writes of its own."""
METHODS = ("session/update", PROMPT, "session/new", "session/load", "initialize")
TITLES_ALONE = "What acpx tells of a call is its title: arguments and results are not in the file"


class _Session:
    """One session in the making."""

    def __init__(self, measure: Measured) -> None:
        self.history = Assembly(measure)
        self.piece: Piece | None = None
        self.window: int | None = None
        self.used = 0
        self.compacted: set[str] = set()
        self.chunks: dict[str, Piece] = {}
        self.answered: set[str] = set()
        self.begun: set[str] = set()
        self.unknown: Counter[str] = Counter()

    def prompt(self, blocks: Sequence[Any], origin: Origin) -> None:
        self._end()
        self.piece = Piece(Role.USER, [list(blocks)], [origin])
        self._end()

    def take(self, update: Record, origin: Origin) -> None:
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
            self.used = used = count_of(update.get("used")) or self.used
            self.window = count_of(update.get("size")) or self.window
            newest = self.history.compactions[-1:]
            if count_of(update.get("used")) and newest and newest[0].tokens_after is None:
                self.history.compactions[-1] = replace(newest[0], tokens_after=used)
        elif kind == "compaction_summary_chunk":
            self.chunks.setdefault(text_of(update.get("compactionId")), Piece(Role.USER)).add(update, origin)
        elif kind == "compaction_update":
            self._compaction(update, origin)
        elif kind not in SHOWN:
            self.unknown[kind] += 1

    def failed(self, error: Record) -> None:
        self._end()
        self.history.fail(error)

    def finish(self, native_id: str) -> Transcript:
        """The session; what its context is measured by is no usage of calls."""
        self._end()
        self.history.warnings += unread_notes(self.unknown)
        for _ in self.begun:
            self.history.event(EventKind.COMPACTION_STARTED)
        self.history.note(self.used, "The log says how full the context is, not what each call was sent: no usage")
        return self.history.transcript(native_id, window=self.window)

    def _extend(self, role: Role, update: Record, origin: Origin) -> None:
        if self.piece is None or self.piece.role is not role:
            self._end()
            self.piece = Piece(role)
        self.piece.add(update, origin)

    def _end(self) -> None:
        piece, self.piece = self.piece, None
        if piece and (contents := update_contents(piece.values)):
            self.history.end_run()
            self.history.say(piece.role, contents, piece.origins)

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
        self.compacted.add(key)
        number = self.history.compaction(tokens_before=self.used or None, outside=True)
        told = Piece(Role.USER, [update], [origin]) if update_contents([update]) else self.chunks.get(key)
        if told is not None:
            self.history.summary(update_contents(told.values), told.origins, number)


def update_contents(values: Sequence[Any]) -> tuple[Content, ...]:
    """The blocks of updates that are one message: chunks of the same kind joined; of a prompt, its blocks."""
    return joined(piece for value in values for piece in _contents(value))


def told(value: Record) -> Record:
    """The update that an event of acpx tells: ``tag`` names it, ``text`` is what it says, or shows of a call."""
    said = [{"type": "text", "text": text_of(value.get("text"))}] if value["type"] == TOLD[0] else []
    return {**value, "sessionUpdate": value["tag"], "content": said}


def _contents(value: Any) -> tuple[Content, ...]:
    if isinstance(value, str):
        message = as_dict(decoded(value))
        prompt = as_dict(message.get("params")).get("prompt")
        value = prompt if message.get("method") == PROMPT else _update(message)[0]
    if isinstance(value, list):
        return blocks_of(value, _block)
    update: Record = as_dict(value)
    update = told(update) if update.get("type") in TOLD and "tag" in update else update
    kind = text_of(update.get("sessionUpdate"))
    if kind in CALLED:
        return (_result(update),) if kind == CALLED[1] else (_call(update),)
    blocks = blocks_of(update.get("summary" if kind == "compaction_update" else "content"), _block)
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
    return part_of(block)


def _call(update: Record) -> Content:
    arguments = update.get("rawInput")
    name = text_of(update.get("kind")) or text_of(update.get("title")) or "tool"
    text = dumps(arguments) if arguments is not None else ""
    return Content(Kind.TOOL_USE, text=text, name=name, call_id=_key(update), target=target_of(arguments))


def _result(update: Record) -> Content:
    """What a call gave out: what the model got where the agent tells it, else what the editor was shown."""
    raw, failed = update.get("rawOutput"), update.get("status") == "failed"
    parts = () if raw is not None else tuple(_shown(as_dict(item)) for item in as_list(update.get("content")))
    return Content(Kind.TOOL_RESULT, text=written(raw), call_id=_key(update), is_error=failed, parts=parts)


def _shown(item: Record) -> Content:
    if item.get("type") == "content":
        return _block(item.get("content"))
    if item.get("type") == "diff":
        return Content(Kind.TEXT, text=text_of(item.get("newText")), target=text_of(item.get("path")))
    return opaque(item)


def _key(update: Record) -> str:
    return text_of(update.get("toolCallId"))


class _Format(Format):
    label = "ACP log"
    source = "Messages of the Agent Client Protocol, one a line: session/prompt and session/update"
    coverage = Coverage(
        images=PARTLY, compactions=YES, refusals=YES, live=YES,
        error="error in place of an answer", compaction="compaction_update completed",
        failed="compaction_update failed", begun="compaction_update in_progress or cancelled, and no end",
        window="usage_update size",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        lines = [_message(value)[0] for value in first_objects(head)]
        if found := [kind for value in lines if (kind := text_of(_update(value)[0].get("sessionUpdate")))]:
            return Sniff(
                93, f"{len(found)} of the first {len(lines)} lines are updates of a session, such as {found[0]}"
            )
        if any(value.get("method") in METHODS for value in lines):
            return Sniff(0, "messages of the Agent Client Protocol, but no update of a session")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        sessions: dict[str, _Session] = defaultdict(lambda: _Session(measure))
        asked: dict[str, str] = {}
        newest = ""
        for line, held in objects(source):
            value, outer = _message(held)
            is_text = bool(outer) and isinstance(held[outer[0]], str)
            origin = line.at(*outer)
            params = as_dict(value.get("params")) or value
            newest = text_of(params.get("sessionId")) or newest
            update, path = _update(value)
            if update:
                sessions[newest].take(update, origin if is_text else line.at(*outer, *path))
            elif value.get("method") == PROMPT:
                asked[str(value.get("id"))] = newest
                at = origin if is_text else line.at(*outer, "params", "prompt")
                sessions[newest].prompt(as_list(params.get("prompt")), at)
            elif isinstance(value.get("error"), dict):
                sessions[asked.get(str(value.get("id")), newest)].failed(value["error"])
            elif "method" not in value and "result" not in value:
                source.skip("neither a message nor an update of the protocol", origin)
        found = [session.finish(key or stem_of(source.name)) for key, session in sessions.items()]
        notes = noted((any("tag" in value for value in first_objects(source.head())), TITLES_ALONE))
        return read_as(found, "no prompts or updates of a session", warnings=notes)

    contents = all_values(lambda values, _: update_contents(values))


def _message(line: Record) -> tuple[Record, tuple[str, ...]]:
    """The protocol's message that a line is, or that its recorder keeps in it, and the path to it."""
    for key in WRAPPERS:
        held = as_dict(decoded(line.get(key)))
        if "jsonrpc" in held:
            return held, (key,)
    return line, ()


def _update(value: Record) -> tuple[Record, tuple[str, ...]]:
    """The update in a line and the path to it; empty where there is none."""
    params = as_dict(value.get("params"))
    places = ((params.get("update"), ("params", "update")), (value.get("update"), ("update",)), (value, ()))
    for held, path in places:
        if isinstance(held, dict) and isinstance(held.get("sessionUpdate"), str):
            return held, path
    return (told(value), ()) if value.get("type") in TOLD and isinstance(value.get("tag"), str) else ({}, ())
