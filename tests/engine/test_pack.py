from __future__ import annotations

import zlib
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.packing.pack import MESSAGES, REQUESTS, UnreadablePack, pack, unpack
from sessions.engine.packing.section_file import Sections, seal
from sessions.engine.transcript.types import (
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


def test_another_pack_is_refused() -> None:
    with pytest.raises(UnreadablePack, match="'pack 2'"):
        unpack(seal("pack 2", {}))


@pytest.mark.parametrize("data", [b"", b"no zlib", zlib.compress(b"[]"), zlib.compress(b"[0,[],[],[],[],[],[],[]]")])
def test_other_bytes_are_refused_with_the_next_step(data: bytes) -> None:
    with pytest.raises(UnreadablePack, match="reads it again from its upload"):
        unpack(data)


def test_what_the_client_did_around_a_message_is_packed() -> None:
    messages = tuple(
        Message(n, f"m{n}", Role.USER, (), typed=typed, planned=planned, resumed=resumed, afresh=afresh)
        for n, (typed, planned, resumed, afresh) in enumerate(product((False, True), repeat=4))
    )
    assert unpack(pack(Transcript("s", "codex", messages))).messages == messages
