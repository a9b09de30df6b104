"""ChatGPT's data export, ``conversations.json``: a tree of messages for every conversation (formats 45).

The branch is the way from ``current_node`` up to the root.  No usage is recorded, and pictures are pointers to files
that are not in it.
"""

from __future__ import annotations

from typing import Any

from sessions.engine.reading.formats import PARTLY, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import is_prompt, opaque, result_of
from sessions.engine.reading.formats._branch import way_to
from sessions.engine.reading.formats._records import first_records, inside, records, stem_of
from sessions.engine.reading.formats._values import ROLES, Record, as_dict, as_list, seconds, text_of
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Transcript

NOT_SENT = frozenset({"reasoning_recap"})
"""Content types that are shown alone."""
TEXT_KEYS = ("text", "result", "user_profile", "user_instructions", "model_set_context")


def _contents(node: Any) -> tuple[Content, ...]:
    """A node's blocks: what is said to a tool is a call, what a tool says the result of the node above it."""
    message = _message_of(node)
    content = as_dict(message.get("content"))
    if not message or text_of(content.get("content_type")) in NOT_SENT:
        return ()
    said = tuple(_said(content))
    role, recipient = as_dict(message["author"])["role"], text_of(message.get("recipient")) or "all"
    if role == "tool" and said:
        return (result_of(said, as_dict(node).get("parent")),)
    if role == "assistant" and recipient != "all" and said:
        text = "\n".join(part.text for part in said)
        call_id = text_of(as_dict(node).get("id")) or text_of(message.get("id"))
        return (Content(Kind.TOOL_USE, text=text, name=recipient, call_id=call_id),)
    return said


class _Format(Format):
    label = "ChatGPT export"
    source = "conversations.json of ChatGPT's data export"
    coverage = Coverage(images=PARTLY, model="metadata.model_slug")

    def sniff(self, head: Head) -> Sniff | None:
        found = [record for record in first_records(head) if _is_conversation(record)]
        trees = [record for record in found if any(_message_of(node) for node in record["mapping"].values())]
        if trees:
            return Sniff(95, f"{len(trees)} conversations with a mapping of messages with parents")
        return Sniff(0, "it has a mapping, but no node with an author's message") if found else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        held = records(source, _is_conversation, "no conversation: it has no mapping")
        found = [_session(*one, stem_of(source.name), measure) for one in held]
        return read_as(found, "no conversation with messages")

    contents = each_value(_contents)


def _is_conversation(record: Record) -> bool:
    return isinstance(record.get("mapping"), dict)


def _session(record: Record, origin: Origin, stem: str, measure: Measured) -> Transcript:
    history, mapping = Assembly(measure), record["mapping"]
    branch = way_to(mapping, text_of(record.get("current_node")), "parent", "children")
    for key in branch:
        if contents := _contents(mapping[key]):
            _add(history, _message_of(mapping[key]), contents, inside(origin, "mapping", key))
    left = [key for key, node in mapping.items() if key not in branch and _contents(node)]
    history.note(left, f"Messages on branches that the conversation left: {len(left)}")
    return history.transcript(
        text_of(record.get("conversation_id")) or text_of(record.get("id")) or stem,
        title=text_of(record.get("title")),
        model=text_of(record.get("default_model_slug")) if not any(r.model for r in history.requests) else "",
    )


def _add(history: Assembly, message: Record, contents: tuple[Content, ...], origin: Origin) -> None:
    author, metadata = as_dict(message.get("author")), as_dict(message.get("metadata"))
    role = ROLES.get(text_of(author.get("role")), Role.USER)
    facts: dict[str, Any] = {"id": text_of(message.get("id")), "timestamp": seconds(message.get("create_time"))}
    if role is Role.ASSISTANT:
        history.reply(contents, [origin], model=text_of(metadata.get("model_slug")), **facts)
        return
    hidden = metadata.get("is_visually_hidden_from_conversation") is True
    typed = author.get("role") == "user" and not hidden and is_prompt(contents)
    history.add(role, contents, [origin], typed=typed, meta=role is Role.USER and hidden, **facts)


def _message_of(node: Any) -> dict[str, Any]:
    """A node's message, an empty one where it has none with an author."""
    message = as_dict(as_dict(node).get("message"))
    return message if isinstance(as_dict(message.get("author")).get("role"), str) else {}


def _said(content: Record) -> list[Content]:
    kind = text_of(content.get("content_type"))
    if kind == "thoughts":
        thoughts = [as_dict(thought) for thought in as_list(content.get("thoughts"))]
        texts = [text_of(one.get("content")) or text_of(one.get("summary")) for one in thoughts]
        return [Content(Kind.THINKING, text=text) for text in texts if text]
    if isinstance(content.get("parts"), list):
        return [_part(part) for part in content["parts"] if part not in ("", None)]
    found = [Content(Kind.TEXT, text=text) for text in [text_of(content.get(key)) for key in TEXT_KEYS] if text]
    return found or ([opaque(content, kind)] if kind and kind not in ("text", "code", "execution_output") else [])


def _part(part: Any) -> Content:
    if isinstance(part, str):
        return Content(Kind.TEXT, text=part)
    held = as_dict(part)
    kind, pointer = text_of(held.get("content_type")), text_of(held.get("asset_pointer"))
    if kind == "image_asset_pointer" and pointer:
        return Content(Kind.IMAGE, url=pointer)
    if kind == "audio_transcription" and isinstance(held.get("text"), str):
        return Content(Kind.TEXT, text=held["text"])
    return opaque(part, kind)
