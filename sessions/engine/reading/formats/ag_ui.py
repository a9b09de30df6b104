"""Events of the Agent User Interaction Protocol, AG-UI: what an agent sends to an editor or a page (formats 69).

Events in a list, one a line, or as the server sent them (``data: {…}``).  Texts, reasoning and calls between two
results are one reply.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sessions.engine.base.words import words
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, all_values
from sessions.engine.reading.formats import _records as files
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import result_of, tool_use
from sessions.engine.reading.formats._chat_blocks import ROLES, chat_contents, plain_keys
from sessions.engine.reading.formats._counts import usage_at
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role

EVENTS = words("""
    TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END TEXT_MESSAGE_CHUNK THINKING_START THINKING_END
    THINKING_TEXT_MESSAGE_START THINKING_TEXT_MESSAGE_CONTENT THINKING_TEXT_MESSAGE_END TOOL_CALL_START
    TOOL_CALL_ARGS TOOL_CALL_END TOOL_CALL_CHUNK TOOL_CALL_RESULT STATE_SNAPSHOT STATE_DELTA MESSAGES_SNAPSHOT
    ACTIVITY_SNAPSHOT ACTIVITY_DELTA RAW CUSTOM RUN_STARTED RUN_FINISHED RUN_ERROR STEP_STARTED STEP_FINISHED
    REASONING_START REASONING_MESSAGE_START REASONING_MESSAGE_CONTENT REASONING_MESSAGE_END REASONING_MESSAGE_CHUNK
    REASONING_END REASONING_ENCRYPTED_VALUE
""")
SAID = re.compile(r"(TEXT_MESSAGE|THINKING_TEXT_MESSAGE|REASONING_MESSAGE|TOOL_CALL)_(?:START|CONTENT|ARGS|CHUNK)")
SHOWN = re.compile(r"(?:STEP|STATE|ACTIVITY|MESSAGES|THINKING|REASONING)_.*|RAW|CUSTOM|.*_END")
"""Events for the screen, or that open and close what others hold."""
RESULT = "TOOL_CALL_RESULT"


class _Format(Format):
    label = "AG-UI"
    source = "Events of the Agent User Interaction Protocol, AG-UI (JSON or JSONL)"
    coverage = Coverage(usage=PARTLY, live=YES, error="RUN_ERROR")

    def sniff(self, head: Head) -> Sniff | None:
        found = files.first_records(head) or files.streamed(head)
        kinds = [kind for value in found if (kind := text_of(value.get("type"))) in EVENTS]
        if 10 * len(kinds) < 9 * len(found) or not kinds:
            return None
        if opened := next((kind for kind in kinds if kind == "RUN_STARTED" or SAID.fullmatch(kind)), ""):
            return Sniff(93, f"{len(kinds)} of the first {len(found)} records are events of AG-UI, as {opened}")
        return Sniff(0, "events of AG-UI, but none of a run or a message")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """One session: the runs of a thread, one after another."""
        reading = _Reading(Assembly(measure))
        is_stream = bool(files.streamed(source.head()))
        for event, origin in files.events(source) if is_stream else files.records(source):
            reading.take(event, origin)
        reading.end()
        transcript = reading.history.transcript(reading.thread or files.stem_of(source.name))
        notes = files.unread_notes(reading.unknown)
        return read_as([transcript], "no message of a run", warnings=notes)

    contents = all_values(lambda values, _: _contents(values))


class _Reading:
    """One thread in the making; ``said`` are the events of the reply that is being read."""

    def __init__(self, history: Assembly) -> None:
        self.history, self.thread = history, ""
        self.said: list[Record] = []
        self.places: list[Origin] = []
        self.known: set[str] = set()
        self.first = 0
        self.unknown: Counter[str] = Counter()

    def take(self, event: Record, origin: Origin) -> None:
        kind = text_of(event.get("type"))
        if said := SAID.fullmatch(kind):
            if said[1] == "TEXT_MESSAGE" and text_of(event.get("role")) not in ("", "assistant"):
                self.end()
            self.said.append(event)
            self.places.append(origin)
            self.known.add(text_of(event.get("messageId")))
        elif kind == RESULT:
            self.end()
            self.known.add(text_of(event.get("messageId")))
            self.history.add(Role.USER, _contents([event]), [origin], typed=False)
        elif kind == "RUN_STARTED":
            self.end()
            self.thread, self.first = text_of(event.get("threadId")) or self.thread, len(self.history.requests)
            for position, entry in enumerate(map(as_dict, as_list(as_dict(event.get("input")).get("messages")))):
                # A message that a run was started with, unless an earlier run told it.
                native, role = text_of(entry.get("id")), ROLES.get(text_of(entry.get("role")))
                contents, place = _contents([entry]), files.inside(origin, "input", "messages", position)
                if role is not None and contents and not (native and native in self.known):
                    self.known.add(native)
                    self.history.say(role, contents, [place], id=native)
        elif kind == "RUN_FINISHED":
            self.end()
            requests, told = self.history.requests, as_list(event.get("usage"))
            if len(told) == 1 and len(requests) == self.first + 1:
                # A run's usage is a request's where it made one.
                requests[-1] = replace(requests[-1], usage=usage_at(as_dict(told[0]), "ag_ui"))
        elif kind == "RUN_ERROR":
            self.end()
            self.history.fail(event)
        elif not SHOWN.fullmatch(kind):
            self.unknown[kind] += 1

    def end(self) -> None:
        said, places, self.said, self.places = self.said, self.places, [], []
        contents = _contents(said)
        role = ROLES.get(next((text_of(event["role"]) for event in said if event.get("role")), "assistant"), Role.USER)
        if contents:
            self.history.end_run()
            self.history.say(role, contents, places)


def _contents(values: Sequence[Any]) -> tuple[Content, ...]:
    """The blocks of events that are one message, in the order in which they began; of an entry, its own."""
    pieces: dict[tuple[str, str], list[str]] = {}
    names: dict[tuple[str, str], str] = {}
    for event in map(as_dict, values):
        said = SAID.fullmatch(text_of(event.get("type")))
        if event.get("type") == RESULT:
            return (result_of((Content(Kind.TEXT, text=text_of(event.get("content"))),), event.get("toolCallId")),)
        if said is None:
            return chat_contents(plain_keys(event))
        key = said[1], text_of(event.get("toolCallId" if said[1] == "TOOL_CALL" else "messageId"))
        pieces.setdefault(key, []).append(text_of(event.get("delta")))
        names[key] = text_of(event.get("toolCallName")) or names.get(key, "")
    found = []
    for (kind, native), texts in pieces.items():
        text = "".join(texts)
        if kind == "TOOL_CALL":
            found.append(tool_use(text, names[kind, native], native))
        elif text:
            found.append(Content(Kind.TEXT if kind == "TEXT_MESSAGE" else Kind.THINKING, text=text))
    return tuple(found)
