"""One chat of the Cursor agent: a store of blobs, of which the newest root lists the messages (formats 49.1).

A root is a protobuf message: field 1, repeated, names a message's blob by its 32 bytes, field 5 holds what Cursor
counts of the context.  A message's blob is JSON in the AI SDK's shape.  What else a root holds is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.formats._ai_sdk_parts import parts_of
from sessions.engine.reading.formats._assembly import Assembly
from sessions.engine.reading.formats._blocks import is_prompt
from sessions.engine.reading.formats._preview import title_of
from sessions.engine.reading.formats._records import inside
from sessions.engine.reading.formats._rows import rows_of
from sessions.engine.reading.formats._times import seconds
from sessions.engine.reading.formats._trace_dialects import decoded
from sessions.engine.reading.formats._values import Measured, Record, as_dict, text_of
from sessions.engine.transcript.types import Content, Kind, Role, Transcript

if TYPE_CHECKING:
    from sessions.engine.reading.jsonio import Source

BLOBS = "blobs"
ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.USER}
MESSAGES, CONTEXT = 1, 5
QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)


class Wire(NamedTuple):
    """A field of a protobuf message: its number, and a whole number or bytes."""

    number: int
    value: int | bytes


def chat_of(source: Source, measure: Measured, form: str) -> Transcript:
    """The chat in the store; raises UnreadableInput where its root or its messages are not as they are known."""
    facts = _facts(source)
    root = wires(_blob(source, text_of(facts.get("latestRootBlobId"))))
    names = [wire.value.hex() for wire in root if wire.number == MESSAGES and isinstance(wire.value, bytes)]
    reading, n_missing = Assembly(measure), 0
    for name in names:
        found = next(rows_of(source, BLOBS, "WHERE id = ?", (name,)), None)
        value = as_dict(decoded(found[0].get("data"))) if found else {}
        if found is None or text_of(value.get("role")) not in ROLES:
            n_missing += 1
            continue
        role, place = ROLES[value["role"]], inside(found[1], "data")
        contents = message_contents(value, role)
        if role is Role.ASSISTANT:
            reading.reply(contents, (place,))
        elif contents:
            words = "\n".join(content.text for content in contents if content.kind is Kind.TEXT)
            query = match[1] if (match := QUERY.search(words)) else ""
            reading.add(
                role,
                contents,
                (place,),
                typed=role is Role.USER and is_prompt(contents) and (bool(query) or "<user_info>" not in words),
            )
            reading.title = reading.title or title_of(query)
    if not reading.messages:
        raise _unknown(facts, len(names))
    if n_missing:
        reading.warnings.append(f"Messages of the chat that its store does not hold in a known form: {n_missing:,}")
    used, window = context_of(root)
    if used:
        reading.warnings.append(f"Cursor's own count of its context at the end: {used:,} tokens")
    return reading.transcript(
        text_of(facts.get("agentId")), form, title=text_of(facts.get("name")) or reading.title, window=window or None,
        model=text_of(facts.get("lastUsedModel")), started_at=seconds(facts.get("createdAt")),
    )  # fmt: skip


def message_contents(value: Record, role: Role) -> tuple[Content, ...]:
    """The blocks of a message's blob."""
    return parts_of(value.get("content"), role)


def wires(data: bytes) -> list[Wire]:
    """The fields of a protobuf message, () where ``data`` is none."""
    try:
        return list(_wires(data))
    except IndexError:
        return []


def context_of(root: list[Wire]) -> tuple[int, int]:
    """Tokens of the context and the window as Cursor states them; zeros where the parts do not make the sum."""
    for wire in root:
        held = wires(wire.value) if wire.number == CONTEXT and isinstance(wire.value, bytes) else []
        stated = {number: value for number, value in held if isinstance(value, int)}
        parts = [wires(value) for number, value in held if number == 3 and isinstance(value, bytes)]
        n_tokens = sum(value for part in parts for number, value in part if number == 3 and isinstance(value, int))
        if n_tokens and stated.get(1) == n_tokens:
            return n_tokens, stated.get(2, 0)
    return 0, 0


def _wires(data: bytes) -> Iterator[Wire]:
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _number(data, at)
            yield Wire(key >> 3, value)
        elif kind == 2:
            length, at = _number(data, at)
            if at + length > len(data):
                raise IndexError
            yield Wire(key >> 3, data[at : at + length])
            at += length
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise IndexError


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A varint and where it ends; raises IndexError where the data ends first or it is longer than 64 bits."""
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise IndexError


def _blob(source: Source, name: str) -> bytes:
    """The bytes of a blob, which the rows of a database would give as text."""
    database = source.database()
    found = database.rows(f"SELECT hex(data) AS data FROM {BLOBS} WHERE id = ?", (name,)) if database else iter(())  # noqa: S608
    return bytes.fromhex(text_of(next(found, {}).get("data")))


def _facts(source: Source) -> Record:
    """What the store says of its chat: JSON in hexadecimal digits."""
    for row, _ in rows_of(source, "meta", "LIMIT 1"):
        try:
            return as_dict(decoded(bytes.fromhex(text_of(row.get("value"))).decode("utf-8", errors="replace")))
        except ValueError:
            break
    return {}


def _unknown(facts: Record, n_named: int) -> UnreadableInput:
    name, model = text_of(facts.get("name")) or "without a name", text_of(facts.get("lastUsedModel")) or "unknown"
    held = (
        f"its newest root names {n_named:,} blobs, none of them a message in JSON"
        if n_named
        else "its newest root names no message"
    )
    reason = f"the store of a Cursor chat ({name}, model {model}) in a form that is not known: {held}"
    return UnreadableInput(reason, next_step="Use the chat's transcript under ~/.cursor/projects, or state.vscdb")
