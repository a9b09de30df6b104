"""Records of a Qwen Code session: what one line is, its blocks, and the branch of the last turn (formats 22).

Two records with one uuid are one message.  The branch is the way from the last record of the conversation up to the
root; a parent that is not in the file is replaced by the record before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sessions.engine.reading.formats._blocks import is_prompt, preview_of, prompt_words, title_of
from sessions.engine.reading.formats._branch import branch
from sessions.engine.reading.formats._counts import inclusive_usage
from sessions.engine.reading.formats._gemini_parts import parts_of
from sessions.engine.reading.formats._provider_errors import Refusal, error_of, failed_compaction
from sessions.engine.reading.formats._values import Measured, Record, as_dict, as_list, count_of, seconds, text_of
from sessions.engine.reading.jsonio import Line
from sessions.engine.transcript.types import Block, Content, Kind, Origin, Role, Usage

ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool_result": Role.USER}
COMPRESSION, FAILED_STATUS = "chat_compression", (2, 3)
"""A compression, and how the client numbers one whose result was larger, or could not be counted."""
TURNS = frozenset({*ROLES, "rewind", COMPRESSION})
"""What the branch may end at: a title or a snapshot that is written later is no turn of the conversation."""
HISTORY = ("systemPayload", "compressedHistory")


@dataclass(slots=True)
class QwenMessage:
    """A message, of a record or of a compressed history; two with the same ``key`` say the same."""

    origins: list[Origin]
    role: Role
    blocks: tuple[Block, ...]
    preview: str
    key: int
    typed: bool = False
    meta: bool = False
    title: str = ""


@dataclass(slots=True)
class QwenRecord:
    """One record; ``history`` is the whole list after a compression, None for every other record."""

    kind: str
    uuid: str
    parent: str
    session: str
    agent: str
    timestamp: float | None
    message: QwenMessage | None = None
    model: str = ""
    usage: Usage | None = None
    window: int = 0
    refusal: Refusal | None = None
    history: list[QwenMessage] | None = None
    tokens_before: int | None = None
    name: str = ""


def is_qwen_record(value: Record) -> bool:
    """A chained line whose message is Gemini's content, or a system record with a payload."""
    if not isinstance(value.get("uuid"), str) or not isinstance(value.get("sessionId"), str):
        return False
    message = value.get("message")
    if isinstance(message, dict):
        return isinstance(message.get("parts"), list) and "content" not in message
    return value.get("type") == "system" and "systemPayload" in value


def qwen_contents(value: Any) -> tuple[Content, ...]:
    """The blocks of a record, or of an item of a compressed history."""
    message = as_dict(value).get("message")
    return parts_of(as_dict(message if isinstance(message, dict) else value).get("parts"))


def record_of(line: Line, value: Record, measure: Measured) -> QwenRecord:
    """The record of a line, measured where it holds messages."""
    kind, payload = text_of(value.get("type")), as_dict(value.get("systemPayload"))
    record = QwenRecord(
        kind=text_of(value.get("subtype")) or kind if kind == "system" else kind,
        uuid=text_of(value.get("uuid")),
        parent=text_of(value.get("parentUuid")),
        session=text_of(value.get("sessionId")),
        agent=text_of(value.get("agentId")) or ("sidechain" if value.get("isSidechain") is True else ""),
        timestamp=seconds(value.get("timestamp")),
        model=text_of(value.get("model")),
        window=max(0, count_of(value.get("contextWindowSize"))),
    )
    origin = line.at()
    role = ROLES.get(kind)
    if role is not None and isinstance(value.get("message"), dict):
        record.message = _message(qwen_contents(value), origin, role, measure)
        if kind == "user":
            _user(record.message, value, payload)
        record.usage = qwen_usage(value.get("usageMetadata"))
    elif record.kind == COMPRESSION:
        _compression(record, payload, line, measure)
    elif record.kind == "custom_title":
        record.name = title_of(text_of(payload.get("customTitle")))
    elif record.kind == "slash_command":
        told = [error_of(as_dict(item).get("text")) for item in as_list(payload.get("outputHistoryItems"))]
        record.refusal = next((error for error in told if error and error.of_compaction), None)
    elif record.kind == "ui_telemetry":
        event = as_dict(payload.get("uiEvent"))
        record.refusal = error_of(event.get("error_message"), count_of(event.get("status_code")))
    return record


def qwen_usage(usage: Any) -> Usage | None:
    """Usage of a reply: the prompt includes cached tokens, and the candidates include the thoughts.

    Only where the total says that thoughts come on top, as Gemini's own API counts, are they added.
    """
    usage = as_dict(usage)
    sent, said = count_of(usage.get("promptTokenCount")), count_of(usage.get("candidatesTokenCount"))
    thoughts, cached = count_of(usage.get("thoughtsTokenCount")), count_of(usage.get("cachedContentTokenCount"))
    if thoughts and count_of(usage.get("totalTokenCount")) == sent + said + thoughts:
        said += thoughts
    return inclusive_usage(sent, said, cache_read=cached, reasoning=thoughts) if sent else None


def merged(first: QwenRecord, second: QwenRecord) -> None:
    """Add to a record what another one with its uuid says."""
    if first.message and second.message:
        said, more = first.message, second.message
        said.origins += more.origins
        said.blocks += more.blocks
        said.key = hash((said.key, more.key))
        said.preview = said.preview or more.preview
    first.model, first.usage = second.model or first.model, second.usage or first.usage
    first.window = second.window or first.window


def branch_of(records: Sequence[QwenRecord]) -> list[int]:
    """Positions of the records on the branch of the last turn, ascending."""
    leaf = max((place for place, record in enumerate(records) if record.kind in TURNS), default=-1)
    return branch([(record.uuid, record.parent) for record in records], leaf)


def _message(contents: tuple[Content, ...], origin: Origin, role: Role, measure: Measured) -> QwenMessage:
    said = tuple(content for content in contents if content.kind is not Kind.THINKING)
    return QwenMessage([origin], role, measure(contents), preview_of(contents), hash((role, said)))


def _user(message: QwenMessage, value: Record, payload: Record) -> None:
    """What the user typed stands in the payload; a notification is a message that nobody typed."""
    contents = qwen_contents(value)
    message.meta = value.get("subtype") == "notification"
    message.typed = is_prompt(contents) and not message.meta
    if message.typed:
        texts = [content.text for content in contents if content.kind is Kind.TEXT]
        message.title = title_of(text_of(payload.get("displayText")) or prompt_words(texts))


def _compression(record: QwenRecord, payload: Record, line: Line, measure: Measured) -> None:
    """The list after the compression; one that failed or came to nothing records no list."""
    info, history = as_dict(payload.get("info")), payload.get("compressedHistory")
    if not isinstance(history, list):
        before, after = (count_of(info.get(key)) for key in ("originalTokenCount", "newTokenCount"))
        words = f"compression did not shrink the list: from {before} to {after} tokens" if before and after else ""
        failed = failed_compaction()._replace(words=words)
        record.refusal = failed if info.get("compressionStatus") in FAILED_STATUS else None
        return
    record.tokens_before = count_of(info.get("originalTokenCount")) or None
    record.history = []
    for position, item in enumerate(as_list(history)):
        if isinstance(item, dict):
            role = Role.ASSISTANT if item.get("role") == "model" else Role.USER
            origin = Origin(line.number, line.offset, line.length, (*HISTORY, position))
            record.history.append(_message(qwen_contents(item), origin, role, measure))
