"""Claude.ai's data export, ``conversations.json``: the messages of every conversation (formats 46).

A message's ``text`` repeats its content; what was extracted from attachments was sent besides.  Results of tools stand
in the assistant's own message and divide its requests.  No usage is recorded, and files are names alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from sessions.engine.reading.formats import PARTLY, Coverage, Format, Head, Measured, Sniff, Source, each_place
from sessions.engine.reading.formats._anthropic_blocks import block_of
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._branch import way_to
from sessions.engine.reading.formats._records import first_records, inside, records, stem_of
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, seconds, text_of
from sessions.engine.reading.json_values import follow
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Transcript

SENDERS = {"human": Role.USER, "assistant": Role.ASSISTANT}
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")


class _Format(Format):
    label = "Claude.ai export"
    source = "conversations.json of Claude.ai's data export"
    coverage = Coverage(images=PARTLY)

    def sniff(self, head: Head) -> Sniff | None:
        found = [record for record in first_records(head) if _is_conversation(record)]
        if held := [record for record in found if any(_is_entry(entry) for entry in record["chat_messages"])]:
            return Sniff(95, f"{len(held)} conversations with chat_messages of human and assistant")
        return Sniff(0, "it has chat_messages, but none of human or assistant") if found else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        held = records(source, _is_conversation, "no conversation: it has no chat_messages")
        found = [_session(*one, stem_of(source.name), measure, source) for one in held]
        return read_as(found, "no conversation with messages")

    contents = each_place(lambda value, origin, _: [_content(value, origin.path)])


def _is_conversation(record: Record) -> bool:
    return isinstance(record.get("chat_messages"), list)


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and text_of(entry.get("sender")) in SENDERS


def _session(record: Record, origin: Origin, stem: str, measure: Measured, source: Source) -> Transcript:
    history, entries = Assembly(measure), record["chat_messages"]
    # Of a conversation that names no leaf all messages are read.
    leaf = text_of(record.get("current_leaf_message_uuid"))
    places = {uuid: n for n, entry in enumerate(entries) if (uuid := text_of(as_dict(entry).get("uuid")))}
    nodes = {uuid: entries[place] for uuid, place in places.items()} if leaf in places else {}
    branch = {places[uuid] for uuid in way_to(nodes, leaf, "parent_message_uuid", "")}
    for position, entry in enumerate(entries):
        if not _is_entry(entry):
            source.skip(f"message {position} has no sender", origin)
        elif not branch or position in branch:
            _add(history, entry, inside(origin, "chat_messages", position))
    n_left = sum(n not in branch and _is_entry(entry) for n, entry in enumerate(entries)) if branch else 0
    history.note(n_left, f"Messages on branches that the conversation left: {n_left}")
    return history.transcript(
        text_of(record.get("uuid")) or stem,
        title=text_of(record.get("name")),
        model=text_of(record.get("model")),
    )


def _add(history: Assembly, entry: Record, origin: Origin) -> None:
    """A message; an assistant's is divided where results of tools stand."""
    role, time, native = SENDERS[entry["sender"]], seconds(entry.get("created_at")), text_of(entry.get("uuid"))

    def speaker(path: Path) -> Role:
        is_result = path[0] == "content" and text_of(as_dict(follow(entry, path)).get("type")).endswith("tool_result")
        return Role.USER if is_result else role

    for number, (who, run) in enumerate(groupby(_paths(entry), speaker)):
        paths = list(run)
        contents = tuple(_content(follow(entry, path), path) for path in paths)
        places = [inside(origin, *path) for path in paths]
        facts: dict[str, Any] = {"id": f"{native}.{number}" if number and native else native, "timestamp": time}
        history.end_run()
        history.say(who, contents, places, **facts)


def _paths(entry: Record) -> Iterator[Path]:
    """Where the parts of a message stand, in the order in which they were sent."""
    attachments = as_list(entry.get("attachments"))
    for position, attachment in enumerate(attachments):
        if text_of(as_dict(attachment).get("extracted_content")):
            yield "attachments", position, "extracted_content"
    extracted = {text_of(as_dict(attachment).get("file_name")) for attachment in attachments}
    for position, file in enumerate(as_list(entry.get("files"))):
        if text_of(as_dict(file).get("file_name")) not in {"", *extracted}:
            yield "files", position
    content = as_list(entry.get("content"))
    for position, part in enumerate(content):
        if part not in ("", None) and as_dict(part).get("text") != "":
            yield "content", position
    if not content and text_of(entry.get("text")):
        yield ("text",)


def _content(value: Any, path: Path) -> Content:
    if isinstance(value, dict) and len(path) > 1 and path[-2] == "files":
        name = text_of(value.get("file_name"))
        picture = value.get("file_kind") == "image" or name.lower().endswith(PICTURES)
        return Content(Kind.IMAGE if picture else Kind.DOCUMENT, url=name, name=name)
    return block_of(value)
