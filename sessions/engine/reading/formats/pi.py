"""pi sessions: one entry a line, linear (version 1) or a tree (version 2 and 3) (formats 11).

The context after a compaction is its summary, the entries kept before its line, and what follows.  Usage is input,
cacheRead and cacheWrite apart; replies that were aborted or failed without usage are not requests.
"""

from __future__ import annotations

from sessions.engine.reading.formats import YES, Coverage, Head, Measured, Records, Sniff, Source, each_value
from sessions.engine.reading.formats._droid_lines import is_droid_line
from sessions.engine.reading.formats._dsh_events import is_dsh_event, is_dsh_header
from sessions.engine.reading.formats._jsonl import first_objects, objects
from sessions.engine.reading.formats._pi_messages import ROLES, pi_contents
from sessions.engine.reading.formats._pi_tree import PiReading, read_entry, settle_branch
from sessions.engine.reading.formats._preview import stem_of, title_of
from sessions.engine.reading.formats._records import unread_notes
from sessions.engine.reading.formats._thread import session_of
from sessions.engine.reading.formats._values import Record, text_of
from sessions.engine.transcript.types import Parsed, Transcript

FOREIGN_KEYS = ("sessionId", "uuid", "parentUuid", "payload")


class Pi:
    """The format's entry in the registry."""

    name = "pi"
    label = "pi"
    source = "Sessions of pi, versions 1 and 3, ~/.pi/agent/sessions (JSONL)"
    coverage = Coverage(
        "1 and 3", usage=YES, images=YES, compactions=YES, refusals=YES, live=YES,
        records=Records(
            error="stopReason error, errorMessage", compaction="entry compaction",
            interruption="stopReason aborted", model="message.model",
        ),
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        """A session line, or lines of type message whose message has one of pi's roles."""
        lines = first_objects(head)
        entries = [value for value in lines if _is_message(value)]
        if any(is_droid_line(value) for value in lines):
            return Sniff(0, "lines have `type: message`, but their session or their blocks are Factory Droid's")
        if any(is_dsh_event(value) or is_dsh_header(value) for value in lines):
            return Sniff(0, "a session and its events, but DeepSeek Harness's") if not entries else None
        if any(value.get("type") == "session" and "harness" in value for value in lines):
            return Sniff(0, "lines have `type: message`, but their session names a harness: Hugging Face's")
        opened = bool(lines) and lines[0].get("type") == "session" and isinstance(lines[0].get("id"), str)
        if opened and (entries or "cwd" in lines[0]):
            return Sniff(95, f"line {head.lines[0].number} has `type: session` with an id, and entries follow")
        if entries and ("parentId" in entries[0] or any(_is_pi(value["message"]) for value in entries)):
            return Sniff(80, "lines have `type: message` and a message with pi's roles or blocks")
        return Sniff(0, "lines have a message, but nothing of pi's") if entries else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """One session: the branch that the last entry stands on."""
        reading = PiReading(measure)
        for line, value in objects(source, reading.skipped):
            read_entry(reading, line, value)
        settle_branch(reading)
        transcript = _transcript(reading, source.name)
        found = (transcript,) if transcript.messages else ()
        return Parsed(self.name, found, tuple(reading.skipped), warnings=unread_notes(reading.unknown))

    contents = each_value(pi_contents)


def _is_message(value: Record) -> bool:
    message = value.get("message")
    return (
        value.get("type") == "message"
        and isinstance(message, dict)
        and text_of(message.get("role")) in ROLES
        and not any(key in value for key in FOREIGN_KEYS)
    )


def _is_pi(message: Record) -> bool:
    return message["role"] in ("toolResult", "bashExecution") or "stopReason" in message


def _transcript(reading: PiReading, name: str) -> Transcript:
    return session_of(
        reading.thread,
        title=title_of(reading.name),
        id=text_of(reading.header.get("id")) or stem_of(name),
        format="pi",
        otherwise=text_of(reading.header.get("modelId")),
        project=text_of(reading.header.get("cwd")),
        warnings=_warnings(reading),
    )


def _warnings(reading: PiReading) -> tuple[str, ...]:
    n_failed = sum(call.failed for call in reading.thread.calls)
    n_left = sum(entry.dropped for entry in reading.thread.entries)
    notes = []
    if n_failed:
        notes.append(f"Replies aborted or failed without usage: {n_failed}; not counted as requests")
    if n_left:
        notes.append(f"Messages on branches that the session left: {n_left}; their requests are counted")
    return tuple(notes)


FORMAT = Pi()
