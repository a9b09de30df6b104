"""Hugging Face's session traces: a header and a message a line, and rows that name a harness (formats 53)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sessions.engine.reading.formats import PARTLY, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._chat_blocks import ROLES, chat_contents, plain_keys
from sessions.engine.reading.formats._records import first_records, inside, records, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, seconds, text_of
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Transcript


def _contents(value: Any) -> tuple[Content, ...]:
    """The blocks of a message whose keys are in camelCase or with underscores."""
    return chat_contents(plain_keys(as_dict(value)))


class _Format(Format):
    label = "HF session traces"
    source = "Hugging Face session traces (STS) and rows of trace data sets, by any harness (JSONL or JSON)"
    coverage = Coverage(usage=PARTLY, images=PARTLY, compactions=PARTLY, refusals=PARTLY, model="message.model")

    def sniff(self, head: Head) -> Sniff | None:
        found = first_records(head)
        headers = [record for record in found if _is_header(record)]
        if headers and any(_is_message(record) for record in found):
            return Sniff(97, f"a session of the harness {headers[0]['harness']}, and messages follow")
        rows = [record for record in found if _is_row(record)]
        if rows:
            return Sniff(96, f"{len(rows)} of the first {len(found)} records are rows with a harness and messages")
        return Sniff(0, "a session of a harness, but no messages") if headers else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        found = [_session(record, said, source, measure) for record, said in _sessions(source)]
        return read_as(found)

    contents = each_value(_contents)


def _is_header(record: Record) -> bool:
    return record.get("type") == "session" and isinstance(record.get("harness"), str)


def _is_message(record: Record) -> bool:
    said = as_dict(record.get("message"))
    return record.get("type") == "message" and text_of(said.get("role")) in ROLES


def _is_row(record: Record) -> bool:
    named = isinstance(record.get("harness"), str) and "session_id" in record
    return named and any(text_of(as_dict(said).get("role")) in ROLES for said in as_list(record.get("messages")))


def _sessions(source: Source) -> Iterator[tuple[Record, list[tuple[Record, Origin]]]]:
    """Each session's own facts, and its messages with their origins."""
    header: Record = {}
    said: list[tuple[Record, Origin]] = []
    for record, origin in records(source):
        if _is_header(record):
            yield header, said
            header, said = record, []
        elif _is_message(record):
            said.append((record["message"], inside(origin, "message")))
        elif _is_row(record):
            listed = [(as_dict(one), inside(origin, "messages", n)) for n, one in enumerate(record["messages"])]
            yield record, [(one, place) for one, place in listed if text_of(one.get("role")) in ROLES]
        else:
            source.skip("neither a session, a message nor a row", origin)
    yield header, said


def _session(record: Record, said: list[tuple[Record, Origin]], source: Source, measure: Measured) -> Transcript:
    history = Assembly(measure)
    for message, origin in said:
        role, contents, time = ROLES[message["role"]], _contents(message), seconds(message.get("timestamp"))
        if contents and role is Role.ASSISTANT:
            history.reply(contents, (origin,), model=text_of(message.get("model")), timestamp=time)
            if any(content.kind is Kind.TOOL_USE for content in contents):
                history.end_run()
        elif contents:
            history.add(role, contents, (origin,), timestamp=time)
    native = text_of(record.get("id", record.get("session_id"))) or stem_of(source.name)
    title, client, model = (text_of(record.get(key)) for key in ("name", "harness", "model"))
    return history.transcript(native, title=title, client=client, model=model)
