"""CAMEL's memories: records of an agent's memory as JsonStorage keeps them, a message a line (formats 93).

The file is what the agent still knows: a summary clears it and is written first, as the assistant's, with the last
prompt behind it in words of CAMEL's own.  Neither usage nor the model is kept.
"""

from __future__ import annotations

from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import media_link, result_of, text_blocks, tool_use
from sessions.engine.reading.formats._chat_blocks import SPEAKERS, parts_of
from sessions.engine.reading.formats._provider_errors import Refusal, failed_compaction
from sessions.engine.reading.formats._records import first_records, records, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, seconds, text_of, written
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role

ROLE = "role_at_backend"
SUMMARY = "[CONTEXT_SUMMARY]"
GOES_ON = "Based on the previous CONTEXT_SUMMARY, continue with my current message: "
"""Begins the last prompt where a summary stands for what was before it."""
EMPTY = "an empty summary: the memory was cleared, and nothing stands for what it held"
Place = tuple[Record, Origin]


def _is_record(value: Any) -> bool:
    held = as_dict(value)
    return isinstance(held.get(ROLE), str) and isinstance(as_dict(held.get("message")).get("__class__"), str)


def _role(record: Record) -> Role:
    return SPEAKERS.get(text_of(record.get(ROLE)), Role.USER)


def _contents(record: Any) -> tuple[Content, ...]:
    """The blocks of a record: a call or its result, or what was said with its thoughts and pictures."""
    message = as_dict(as_dict(record).get("message"))
    name, result = message.get("func_name"), message.get("result")
    found = (*text_blocks(text_of(message.get("reasoning_content")), Kind.THINKING), *parts_of(message.get("content")))
    links = [link for link in as_list(message.get("image_list")) if isinstance(link, str)]
    found += tuple(media_link(link, kind=Kind.IMAGE) for link in links)
    if not isinstance(name, str):
        return found
    if text_of(as_dict(record).get(ROLE)) in ("function", "tool"):
        answer = Content(Kind.TEXT, text=written(result))
        return (result_of((answer,), message.get("tool_call_id")),)
    return (*found, tool_use(message.get("args"), name, message.get("tool_call_id")))


class _Format(Format):
    label = "CAMEL"
    source = "Memories of CAMEL's agents, kept by its JsonStorage (JSONL or JSON)"
    coverage = Coverage(
        images=PARTLY, compactions=YES, refusals=PARTLY, compaction=SUMMARY, failed="a summary without a word",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        n_records = sum(map(_is_record, first_records(head)))
        return Sniff(92, f"{n_records} records of a memory, with {ROLE}") if n_records else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """A session for each agent that the records name."""
        agents: dict[str, list[Place]] = {}
        for record, origin in records(source, _is_record, "no record of a memory"):
            agents.setdefault(text_of(record.get("agent_id")), []).append((record, origin))
        stem = stem_of(source.name)
        made = [_session(found, measure).transcript(agent or stem) for agent, found in agents.items()]
        return read_as(made, "no records of CAMEL's memory")

    contents = each_value(_contents)


def _session(found: list[Place], measure: Measured) -> Assembly:
    history = Assembly(measure)
    last = max((n for n, (record, _) in enumerate(found) if _goes_on(record)), default=-1)
    for n, (record, origin) in enumerate(found):
        contents, role = _contents(record), _role(record)
        facts: dict[str, Any] = {"id": text_of(record.get("uuid")), "timestamp": seconds(record.get("timestamp"))}
        said = contents[0].text if contents else ""
        if role is Role.ASSISTANT and (said.startswith(SUMMARY) or n == last - 1):
            if not contents:
                history.refuse(failed_compaction(error=Refusal(EventKind.ERROR, words=EMPTY)))
            made = history.compaction(outside=True)
            if contents:
                history.summary(contents, [origin], made, **facts)
        elif contents:
            history.say(role, contents, [origin], **facts)
    return history


def _goes_on(record: Record) -> bool:
    said = as_dict(record.get("message")).get("content")
    return _role(record) is Role.USER and isinstance(said, str) and said.startswith(GOES_ON)
