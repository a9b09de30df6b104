"""A transcript as a compact byte string and back, exactly; what a stored session is replayed from.

JSON rows, one array per message and block, every string once in a table, in sealed sections of a few hundred messages
or requests: what is looked at is what is unpacked.  A byte string of another version raises UnreadablePack, and the
session is read again from its upload.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, fields
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar

from sessions.engine.base.errors import EngineError
from sessions.engine.packing.packed_sequence import SIZE, PackedMessages, PackedSequence
from sessions.engine.packing.section_file import Damaged, Kept, Sections, TempSpool, packed, seal, unseal
from sessions.engine.transcript.parts import Parts
from sessions.engine.transcript.recorded_events import RecordedEvent
from sessions.engine.transcript.types import (
    Block,
    Branch,
    Gap,
    Kind,
    Media,
    Message,
    Origin,
    ProviderError,
    RecordedClearing,
    RecordedCompaction,
    Request,
    Role,
    Transcript,
    Usage,
)

KEY = "pack 1"
MESSAGES, REQUESTS = SIZE, 1_024
"""How many stand in a section."""
Row = list[Any]
V = TypeVar("V", Media, Request, RecordedCompaction)

_KINDS, _ROLES = tuple(Kind), tuple(Role)
_KIND_INDEX = {kind: index for index, kind in enumerate(_KINDS)}
_ROLE_INDEX = {role: index for index, role in enumerate(_ROLES)}


_TEXTS: dict[type, tuple[int, ...]] = {Media: (0, 6, 7), Request: (4, 5, 9), RecordedCompaction: (3, 9, 11)}
"""Values that are packed field by field, and which of their fields are texts."""
_FIELDS = {kind: attrgetter(*(f.name for f in fields(kind))) for kind in _TEXTS}
_USAGE, _PRESERVED = 2, 6


class UnreadablePack(EngineError):
    """What is stored of a session is missing, damaged or packed otherwise: read its upload again."""

    def __init__(self, how: str) -> None:
        super().__init__(
            f"What was stored of this session cannot be used: {how}. "
            "`ctxweb doctor --deep --mend` reads it again from its upload."
        )


def pack(transcript: Transcript) -> bytes:
    """The transcript with everything it holds; token counts must be settled if they are to mean anything."""
    t, table = transcript, Table()
    text = table.index
    head = [
        text(t.id), text(t.format), text(t.parent_id), text(t.parent_call_id), text(t.title), text(t.model),
        text(t.client), t.window, t.started_at, t.ended_at, [text(warning) for warning in t.warnings],
        t.stated_usd,
    ]  # fmt: skip
    value = [
        head,
        len(t.messages),
        len(t.requests),
        [_row(compaction, table) for compaction in t.compactions],
        [block_row(block, table) for block in t.system],
        list(map(astuple, t.branches)),
        list(map(astuple, t.errors)),
        list(map(astuple, t.clearings)),
        list(map(astuple, t.gaps)),
        t.trigger_at,
        t.project,
        t.events_at,
        list(map(astuple, t.events)),
        table.media,
        table.strings,
        table.classes,
    ]
    sections: dict[str, bytes | Kept] = {"head": _written(value)}
    sections |= {f"messages {number}": section for number, section in enumerate(_message_sections(t.messages))}
    for start in range(0, len(t.requests), REQUESTS):
        table = Table()
        rows = [_row(request, table) for request in t.requests[start : start + REQUESTS]]
        sections[f"requests {start // REQUESTS}"] = _written([rows, table.strings])
    return seal(KEY, sections)


def folded(messages: Iterable[Message]) -> PackedMessages:
    """The messages of a very long session, whose packed sections are made here, each when it is full."""
    spool = TempSpool()
    shelf: PackedSequence[Message, Kept] = PackedSequence(
        lambda some: spool.put(packed(_written_messages(some))),
        lambda part: _messages(zlib.decompress(part.read())),
        n_kept=MESSAGES,
    )
    return PackedMessages.of(messages, shelf)


def is_folded(transcript: Transcript) -> bool:
    """Whether its messages are packed already, all but the last few."""
    return isinstance(transcript.messages, PackedMessages)


def ids_of(messages: Sequence[Message]) -> Iterator[str]:
    """The native id of every message, without making those that are packed."""
    if not isinstance(messages, PackedMessages):
        yield from (message.id for message in messages)
        return
    for part in messages.shelf.parts():
        rows, _, strings, _ = _read(zlib.decompress(part.read()))
        yield from (strings[row[1]] for row in rows)


def _message_sections(messages: Sequence[Message]) -> Iterator[bytes | Kept]:
    if isinstance(messages, PackedMessages):
        yield from messages.shelf.parts()
        return
    for start in range(0, len(messages), MESSAGES):
        yield _written_messages(messages[start : start + MESSAGES])


def _written_messages(messages: Sequence[Message]) -> bytes:
    table = Table()
    rows = [_pack_message(message, table) for message in messages]
    return _written([rows, table.media, table.strings, table.classes])


def unpack(data: bytes) -> Transcript:
    """The transcript that ``pack`` was given, its messages and requests in ``Parts``; raises UnreadablePack."""
    try:
        sections = unseal(data)
    except Damaged as error:
        raise UnreadablePack(str(error)) from error
    if sections.key != KEY:
        raise UnreadablePack(f"it is packed as {sections.key!r}")
    try:
        return _opened(sections)
    except (ValueError, TypeError, IndexError) as error:  # a head of other parts: another version's
        raise UnreadablePack("its parts are not those of this version") from error


def _written(value: Row) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _read(data: bytes) -> Any:
    return json.JSONDecoder().decode(data.decode("ascii"))


def _opened(sections: Sections) -> Transcript:
    """The head of a transcript, whose messages and requests wait in their sections."""
    (
        head, n_messages, n_requests, compactions, system, branches, errors, clearings, gaps, trigger_at, project,
        events_at, events, media_rows, s, classes,
    ) = _read(sections["head"])  # fmt: skip
    media, each = [media_of(row, s) for row in media_rows], iter(classes)
    ident, form, parent, call, title, model, client, window, started, ended, warnings, stated = head
    return Transcript(
        s[ident], s[form],
        Parts(n_messages, MESSAGES, lambda part: _messages(sections[f"messages {part}"])),
        Parts(n_requests, REQUESTS, partial(_requests, sections)),
        tuple([_value(RecordedCompaction, row, s) for row in compactions]),
        s[parent], s[call], s[title], s[model], s[client], window,
        tuple([block_of(row, s, media, each) for row in system]),
        started, ended, tuple([s[warning] for warning in warnings]),
        tuple(Branch(*row) for row in branches),
        tuple(ProviderError(*row) for row in errors),
        tuple(RecordedClearing(*row[:6], *map(tuple, row[6:])) for row in clearings),
        gaps=tuple(Gap(*row) for row in gaps),
        trigger_at=trigger_at,
        project=project,
        events_at=events_at,
        events=tuple(RecordedEvent(*row) for row in events),
        stated_usd=stated,
    )  # fmt: skip


def _messages(section: bytes) -> tuple[Message, ...]:
    rows, media_rows, s, classes = _read(section)
    media, each = [media_of(row, s) for row in media_rows], iter(classes)
    return tuple([_unpack_message(row, s, media, each) for row in rows])


def _requests(sections: Sections, part: int) -> tuple[Request, ...]:
    rows, s = _read(sections[f"requests {part}"])
    return tuple([_value(Request, row, s) for row in rows])


def _row(value: Media | Request | RecordedCompaction, table: Table) -> Row:
    """The fields of a value in their order, a text as its place in the table."""
    kind = type(value)
    row = list(_FIELDS[kind](value))
    for place in _TEXTS[kind]:
        row[place] = table.index(row[place])
    if isinstance(value, Request):
        row[_USAGE] = value.usage and astuple(value.usage)
    return row


def _value(kind: type[V], row: Row, s: list[str]) -> V:
    """The value of a row, which is used up."""
    for place in _TEXTS[kind]:
        row[place] = s[row[place]]
    if kind is Request:
        row[_USAGE] = Usage(*row[_USAGE]) if row[_USAGE] else None
    elif kind is RecordedCompaction:
        row[_PRESERVED] = tuple(row[_PRESERVED])
    return kind(*row)


class Table:
    """Strings and media, each once; index 0 is None.  ``classes`` are those of every block as packed, 0 for none."""

    def __init__(self) -> None:
        self.strings: list[str | None] = [None]
        self.media: list[Row | None] = [None]
        self.classes: list[tuple[int, ...] | int] = []
        self._index: dict[str | None, int] = {None: 0}
        self._media_index: dict[Media | None, int] = {None: 0}

    def index(self, text: str | None) -> int:
        found = self._index.get(text)
        if found is None:
            found = self._index[text] = len(self.strings)
            self.strings.append(text)
        return found

    def media_index(self, media: Media | None) -> int:
        found = self._media_index.get(media)
        if found is None and media is not None:
            found = self._media_index[media] = len(self.media)
            self.media.append(_row(media, self))
        return found or 0


def _pack_message(m: Message, table: Table) -> Row:
    text = table.index
    flags = m.typed | m.meta << 1 | m.summary << 2 | m.planned << 3 | m.resumed << 4 | m.afresh << 5
    return [
        m.index, text(m.id), _ROLE_INDEX[m.role], flags, text(m.preview), m.timestamp, text(m.attachment), m.compaction,
        [_pack_origin(origin) for origin in m.origins], [block_row(block, table) for block in m.blocks],
    ]  # fmt: skip


def _unpack_message(row: Row, s: list[str], media: list[Media | None], classes: Iterator[Any]) -> Message:
    index, ident, role, flags, preview, timestamp, attachment, compaction, origins, blocks = row
    return Message(
        index, s[ident], _ROLES[role], tuple([block_of(block, s, media, classes) for block in blocks]),
        tuple([_unpack_origin(origin) for origin in origins]), s[preview], timestamp,
        flags & 1 == 1, flags & 2 == 2, s[attachment], flags & 4 == 4, compaction,
        flags & 8 == 8, flags & 16 == 16, flags & 32 == 32,
    )  # fmt: skip


def _pack_origin(o: Origin) -> Row:
    return [o.line, o.offset, o.length, list(o.path)] if o.path else [o.line, o.offset, o.length]


def _unpack_origin(row: Row) -> Origin:
    return Origin(*row[:3], *map(tuple, row[3:]))


def block_row(b: Block, table: Table) -> Row:
    """A block as numbers; its strings, media and classes go to ``table``."""
    text = table.index
    flags = b.approximate | b.is_error << 1 | bool(b.n_json) << 2 | ((text(b.cut) + 1) << 3 if b.cut else 0)
    table.classes.append(b.classes or 0)
    row: Row = [_KIND_INDEX[b.kind], b.n_chars, b.n_bytes, b.n_tokens, b.n_payload, flags]
    row += [text(b.name), text(b.call_id), text(b.target)]
    if b.media is not None or b.parts:
        row += [table.media_index(b.media), [block_row(part, table) for part in b.parts]]
    if b.n_non_ascii:
        row.append(b.n_non_ascii)
    if b.n_json:
        row.append(b.n_json)
    return row


def block_of(row: Row, s: list[str], media: list[Media | None], classes: Iterator[Any]) -> Block:
    """The block of a row, which is used up; in the order in which the rows were made."""
    # 9 or 11 numbers (media and parts), one more where the text is not all ASCII, and one where a flag says so.
    counted = tuple(next(classes) or ())
    n_json = row.pop() if row[5] & 4 else 0
    n_non_ascii = 0 if len(row) & 1 else row.pop()
    kind, n_chars, n_bytes, n_tokens, n_payload, flags, name, call, target = row[:9]
    facts, parts = row[9:] or (0, ())
    inner = tuple([block_of(part, s, media, classes) for part in parts])
    return Block(
        _KINDS[kind], n_chars, n_bytes, n_tokens, n_payload, flags & 1 == 1, s[name], s[call], s[target],
        flags & 2 == 2, media[facts], inner, n_non_ascii, s[(flags >> 3) - 1] if flags > 7 else "", n_json,
        counted,
    )  # fmt: skip


def media_of(row: Row | None, s: list[str]) -> Media | None:
    """Facts of an image or a document from ``Table.media``."""
    return None if row is None else _value(Media, row, s)
