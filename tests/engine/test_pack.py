from __future__ import annotations

import json
import zlib
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine import pack as pack_module
from sessions.engine.jsonio import dumps, loads
from sessions.engine.pack import MESSAGES, REQUESTS, UnreadablePack, pack, unpack
from sessions.engine.sealed import Sections, seal, unseal
from sessions.engine.types import (
    Block,
    Kind,
    Media,
    Message,
    Origin,
    RecordedCompaction,
    Request,
    Role,
    Transcript,
    Usage,
)
from tests.every import examples

TEXT = st.text(st.characters(), max_size=12) | st.sampled_from(["", "\ud83d", "Read", "\0", '"'])
COUNT = st.integers(0, 2**63)
TIME = st.none() | st.floats(allow_nan=False)
MEDIA = st.builds(Media, TEXT, COUNT, COUNT, COUNT, COUNT, COUNT, TEXT, TEXT)
LEAF = st.builds(
    Block, st.sampled_from(Kind), COUNT, COUNT, st.integers(-9, 2**40), COUNT, st.booleans(), TEXT, TEXT, TEXT,
    st.booleans(), st.none() | MEDIA, st.just(()), COUNT, TEXT, COUNT, st.just(()) | st.tuples(*[COUNT] * 4),
)  # fmt: skip
BLOCK = st.recursive(
    LEAF, lambda inner: st.builds(Block, st.just(Kind.TOOL_RESULT), parts=st.lists(inner, max_size=3).map(tuple))
)
PATH = st.lists(st.integers() | TEXT, max_size=3).map(tuple)
ORIGIN = st.builds(Origin, COUNT, COUNT, COUNT, PATH)
MESSAGE = st.builds(
    Message, COUNT, TEXT, st.sampled_from(Role), st.lists(BLOCK, max_size=3).map(tuple),
    st.lists(ORIGIN, max_size=2).map(tuple), TEXT, TIME, st.booleans(), st.booleans(), TEXT, st.booleans(),
    st.none() | COUNT,
)  # fmt: skip
USAGE = st.builds(Usage, COUNT, COUNT, COUNT, st.integers(0, 10**40), st.booleans(), COUNT)
REQUEST = st.builds(Request, COUNT, st.none() | COUNT, st.none() | USAGE, st.booleans(), TEXT, TEXT, TIME, COUNT)
COMPACTION = st.builds(
    RecordedCompaction, COUNT, COUNT, st.none() | COUNT, st.none() | TEXT, st.none() | COUNT, st.none() | COUNT,
    st.lists(COUNT, max_size=3).map(tuple), st.booleans(),
)  # fmt: skip
TRANSCRIPT = st.builds(
    Transcript, TEXT, TEXT, st.lists(MESSAGE, max_size=3).map(tuple), st.lists(REQUEST, max_size=3).map(tuple),
    st.lists(COMPACTION, max_size=2).map(tuple), st.none() | TEXT, TEXT, TEXT, TEXT, TEXT, st.none() | COUNT,
    st.lists(BLOCK, max_size=2).map(tuple), TIME, TIME, st.lists(TEXT, max_size=2).map(tuple), project=TEXT,
)  # fmt: skip


def packed_whole(transcript: Transcript) -> bytes:
    """The transcript as version 1 packed it, in one piece."""
    table = pack_module.Table()
    rows = [pack_module._pack_message(message, table) for message in transcript.messages]
    requests = [pack_module._pack_request(request, table.index) for request in transcript.requests]
    value = pack_module._read(unseal(pack(replace(transcript, messages=(), requests=())))["head"])
    head = [table.index(None if place is None else value[7][place]) for place in value[1][:7]]
    value[1] = [*head, *value[1][7:10], [table.index(value[7][place]) for place in value[1][10]]]
    value[4] = [pack_module._pack_compaction(compaction, table.index) for compaction in transcript.compactions]
    value[5] = [pack_module.block_row(block, table) for block in transcript.system]
    value[2], value[3], value[6], value[7], value[13] = rows, requests, table.media, table.strings, table.classes
    return zlib.compress(json.dumps(value).encode())


@examples(50)
@given(TRANSCRIPT)
def test_what_version_1_packed_still_opens(transcript: Transcript) -> None:
    assert unpack(packed_whole(transcript)) == transcript


@examples(100)
@given(TRANSCRIPT)
def test_round_trip_is_exact(transcript: Transcript) -> None:
    assert unpack(pack(transcript)) == transcript
    assert pack(transcript) == pack(transcript)


def test_messages_and_requests_are_unpacked_where_they_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = tuple(Message(n, f"m{n}", Role.USER, (Block(Kind.TEXT, 1, 1),)) for n in range(3 * MESSAGES + 1))
    requests = tuple(Request(n, None) for n in range(REQUESTS + 1))
    data, read = pack(Transcript("s", "codex", messages, requests)), list[str]()
    inside = Sections.__getitem__
    monkeypatch.setattr(Sections, "__getitem__", lambda self, name: (read.append(name), inside(self, name))[1])
    opened = unpack(data)
    assert (len(opened.messages), len(opened.requests), read) == (len(messages), len(requests), ["head"])
    assert opened.messages[2 * MESSAGES] is opened.messages[2 * MESSAGES : 2 * MESSAGES + 2][0]
    assert opened.requests[REQUESTS].index == REQUESTS
    assert read == ["head", "messages 2", "requests 1"]


@pytest.mark.parametrize("at", [0, 5, 9, 40, -1])
def test_damage_of_a_pack_is_noticed_at_once(at: int) -> None:
    data = bytearray(pack(Transcript("s", "codex", (Message(0, "m", Role.USER, ()),))))
    data[at] ^= 1
    with pytest.raises(UnreadablePack, match="reads it again from its upload"):
        unpack(bytes(data))


def test_a_later_pack_is_refused() -> None:
    with pytest.raises(UnreadablePack, match="'pack 3'"):
        unpack(seal("pack 3", {}))


@pytest.mark.parametrize("data", [b"", b"no zlib", zlib.compress(b"[]"), zlib.compress(b"[0,[],[],[],[],[],[],[]]")])
def test_other_bytes_are_refused_with_the_next_step(data: bytes) -> None:
    with pytest.raises(UnreadablePack, match="reads it again from its upload"):
        unpack(data)


def test_blocks_packed_before_the_non_ascii_count_still_open() -> None:
    plain, image = Block(Kind.TEXT, 3, 5, n_non_ascii=1), Block(Kind.IMAGE, media=Media("image/png", 8))
    session = Transcript("s", "codex", (Message(0, "m", Role.USER, (plain, image)),))
    value = loads(zlib.decompress(packed_whole(session)))
    ((*_, rows),) = value[2]
    assert [len(row) for row in rows] == [10, 11]
    rows[0].pop()
    opened = unpack(zlib.compress(dumps(value).encode()))
    assert opened.messages[0].blocks == (Block(Kind.TEXT, 3, 5), image)


def test_packs_from_before_the_classes_of_characters_still_open() -> None:
    inner = Block(Kind.TEXT, 9, 9, classes=(1, 2, 3, 4))
    outer = Block(Kind.TOOL_RESULT, 7, 7, parts=(Block(Kind.TEXT), inner), classes=(5, 6, 7, 8))
    session = Transcript("s", "codex", (Message(0, "m", Role.USER, (outer, inner)),), system=(inner,))
    assert unpack(pack(session)) == session
    value = loads(zlib.decompress(packed_whole(session)))
    assert (value.pop(), value.pop(), value.pop()) == ([], None, "")
    assert value.pop() == [[5, 6, 7, 8], 0, [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]]
    opened = unpack(zlib.compress(dumps(value).encode()))
    assert opened.messages[0].blocks[1] == Block(Kind.TEXT, 9, 9)


def test_what_the_client_did_around_a_message_is_packed() -> None:
    messages = tuple(
        Message(n, f"m{n}", Role.USER, (), typed=typed, planned=planned, resumed=resumed)
        for n, (typed, planned, resumed) in enumerate(product((False, True), repeat=3))
    )
    assert unpack(pack(Transcript("s", "codex", messages))).messages == messages


def test_packs_from_before_a_field_was_added_still_open() -> None:
    session = Transcript("s", "codex", (), (Request(0, None, Usage(5, 0, 0, 2)),))
    value = loads(zlib.decompress(packed_whole(session)))
    (row,) = value[3]
    value[3] = [[*row[:2], row[2][:5], *row[3:7]]]
    assert unpack(zlib.compress(dumps(value).encode())) == session
