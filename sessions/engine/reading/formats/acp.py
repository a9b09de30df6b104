"""Logs of the Agent Client Protocol: the messages between an editor and an agent, one a line (formats 61).

A line is a JSON-RPC message, its ``params``, a session's update, or what acpx tells of one.  What the agent says
between two results is one reply.  ``usage_update`` says how full the context is, not what a call was sent: it dates
compactions, and is no usage.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Head, Measured, Records, Sniff, Source
from sessions.engine.reading.formats._acp_updates import TOLD, AcpSession, told, update_contents
from sessions.engine.reading.formats._assembly import with_unique_ids
from sessions.engine.reading.formats._jsonl import objects
from sessions.engine.reading.formats._preview import stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.transcript.types import Content, Message, Origin, Parsed, Skipped

METHODS = ("session/update", "session/prompt", "session/new", "session/load", "initialize")

TITLES_ALONE = "What acpx tells of a call is its title: arguments and results are not in the file"


class Acp:
    """The format's entry in the registry."""

    name = "acp"
    label = "ACP log"
    source = "Messages of the Agent Client Protocol, one a line: session/prompt and session/update"
    coverage = Coverage(
        images=PARTLY, compactions=YES, refusals=YES, live=YES,
        records=Records(
            error="error in place of an answer", compaction="compaction_update completed",
            failed="compaction_update failed", begun="compaction_update in_progress or cancelled, and no end",
            window="usage_update size",
        ),
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        """Updates of a session, as JSON-RPC messages or alone."""
        lines = [value for value in head.values if isinstance(value, dict)]
        found = [kind for value in lines if (kind := text_of(_update(value)[0].get("sessionUpdate")))]
        if found:
            return Sniff(
                93, f"{len(found)} of the first {len(lines)} lines are updates of a session, such as {found[0]}"
            )
        if any(value.get("method") in METHODS for value in lines):
            return Sniff(0, "messages of the Agent Client Protocol, but no update of a session")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """One session for each session id."""
        skipped: list[Skipped] = []
        sessions: dict[str, AcpSession] = defaultdict(lambda: AcpSession(measure))
        asked: dict[str, str] = {}
        newest = ""
        for line, value in objects(source, skipped):
            origin = Origin(line.number, line.offset, line.length)
            params = as_dict(value.get("params")) or value
            newest = text_of(params.get("sessionId")) or newest
            update, path = _update(value)
            if update:
                sessions[newest].take(update, Origin(line.number, line.offset, line.length, path))
            elif value.get("method") == "session/prompt":
                asked[str(value.get("id"))] = newest
                place = Origin(line.number, line.offset, line.length, ("params", "prompt"))
                sessions[newest].prompt(as_list(params.get("prompt")), place)
            elif isinstance(value.get("error"), dict):
                sessions[asked.get(str(value.get("id")), newest)].failed(value["error"])
            elif "method" not in value and "result" not in value:
                skipped.append(Skipped(origin.line, origin.offset, "neither a message nor an update of the protocol"))
        stem = stem_of(source.name)
        found = [session.finish(key or stem, self.name) for key, session in sessions.items()]
        found = [transcript for transcript in found if transcript.messages]
        if not found:
            raise UnreadableInput("no prompts or updates of a session", next_step="Check the file's format")
        by_acpx = any("tag" in value for value in source.head().values if isinstance(value, dict))
        return Parsed(self.name, with_unique_ids(found), tuple(skipped), warnings=(TITLES_ALONE,) if by_acpx else ())

    def contents(self, values: Sequence[Any], message: Message) -> tuple[Content, ...]:
        """The blocks of the updates that make up a message, or of a prompt."""
        del message
        return update_contents(values)


def _update(value: Record) -> tuple[Record, tuple[str, ...]]:
    """The update in a line and the path to it; empty where there is none."""
    for path in (("params", "update"), ("update",), ()):
        held: Any = value
        for step in path:
            held = as_dict(held).get(step)
        if isinstance(held, dict) and isinstance(held.get("sessionUpdate"), str):
            return held, path
    return (told(value), ()) if value.get("type") in TOLD and isinstance(value.get("tag"), str) else ({}, ())


FORMAT = Acp()
