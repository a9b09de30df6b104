"""A very long session is read in packed parts: the same figures, and few objects at any time."""

from __future__ import annotations

import gc
import io
import pickle
import tempfile
import tracemalloc
from dataclasses import replace
from types import SimpleNamespace

import pytest

from sessions.engine.packing import pack, packed_sequence
from sessions.engine.packing.packed_sequence import (
    N_OPEN,
    SIZE,
    FoldedBlock,
    FoldedMessage,
    PackedMessages,
    PackedSequence,
    shared,
)
from sessions.engine.packing.section_file import TempSpool
from sessions.engine.reading.formats._claude_lines import ClaudeRecord
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.types import Kind, Message
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.claude_lines import claude_session

N_TURNS = 700


def read(n_turns: int = N_TURNS, *, compact_after: int | None = 300):
    file = io.BytesIO(claude_session(n_turns, compact_after=compact_after).encode())
    return read_transcripts(file, "session.jsonl")


@pytest.fixture
def long_from_300(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions are very long from 300 lines and messages on."""
    monkeypatch.setattr(packed_sequence, "PACKED_FROM", 300)


@pytest.fixture
def folded(long_from_300: None):
    return read()


def counted(kind: type) -> int:
    """Objects of just that class that are alive."""
    return sum(type(one) is kind for one in gc.get_objects())


def test_a_very_long_session_is_the_same_session(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = read()
    monkeypatch.setattr(packed_sequence, "PACKED_FROM", 300)
    found = read()
    (mine,), (other,) = found.transcripts, plain.transcripts
    assert isinstance(mine.messages, PackedMessages)
    assert not isinstance(other.messages, PackedMessages)
    assert len(mine.messages) > 3 * SIZE
    assert pack.pack(mine) == pack.pack(other)
    assert pack.pack(replace(mine, messages=tuple(mine.messages))) == pack.pack(other)
    assert mine == other
    assert list(pack.ids_of(mine.messages)) == list(pack.ids_of(other.messages)) == [m.id for m in mine.messages]
    ours, theirs = weigh(mine), weigh(other)
    assert (ours.tokens, ours.estimated, ours.overhead) == (theirs.tokens, theirs.estimated, theirs.overhead)
    assert replace(found, transcripts=()) == replace(plain, transcripts=())


def test_lines_go_while_messages_come_and_no_message_stands_whole(
    long_from_300: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stood whole beside each other: lines, unsettled messages, settled ones.  They are counted at every part."""
    gc.collect()
    messages, records = counted(Message), []
    write = pack._written_messages

    def written(some):
        records.append(counted(ClaudeRecord))
        assert counted(Message) - messages <= 2 * SIZE
        return write(some)

    monkeypatch.setattr(pack, "_written_messages", written)
    found = read()
    gc.collect()
    assert len(records) == len(found.transcripts[0].messages) // SIZE >= 5
    assert records == sorted(records, reverse=True)
    assert records[-1] < records[0] / 3
    assert counted(ClaudeRecord) == 0
    assert counted(Message) - messages <= (N_OPEN + 1) * SIZE


def test_memory_for_each_message_more_is_bounded(long_from_300: None) -> None:
    """At the peak of reading, as traced, for a message with its share of lines."""
    read(20, compact_after=None)  # tables of the counter are loaded once
    peaks, n_messages = [], []
    for n_turns in (2_500, 5_000):
        data = claude_session(n_turns).encode()
        gc.collect()
        tracemalloc.start()
        found = read_transcripts(io.BytesIO(data), "session.jsonl")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        n_messages.append(len(found.transcripts[0].messages))
    assert (peaks[1] - peaks[0]) / (n_messages[1] - n_messages[0]) < 1_600


def test_a_folded_message_is_a_message(folded) -> None:
    message = folded.transcripts[0].messages[5]
    assert type(message) is FoldedMessage
    whole = message.whole
    assert message == whole
    assert whole == message
    assert hash(message) == hash(whole)
    assert message != 5
    assert (message.id, message.preview, message.origins) == (whole.id, whole.preview, whole.origins)
    assert message.timestamp == whole.timestamp
    assert pickle.loads(pickle.dumps(message)) == whole
    changed = replace(message, preview="other")
    assert type(changed) is Message
    assert changed == replace(whole, preview="other")
    assert changed != message


def test_a_folded_block_is_a_block(folded) -> None:
    blocks = [block for message in folded.transcripts[0].messages for block in message.blocks]
    block = next(block for block in blocks if block.kind is Kind.TOOL_RESULT)
    plain = next(b for b in folded.transcripts[0].messages[2].whole.blocks)
    assert type(block) is FoldedBlock
    assert block == plain
    assert plain == block
    assert hash(block) == hash(plain)
    assert block.classes == plain.classes
    assert len(block.classes) in {4, 7}
    assert replace(block, classes=(1, 70_000, 3, 4)).classes == (1, 70_000, 3, 4)
    assert replace(block, classes=()).classes == ()
    assert pickle.loads(pickle.dumps(block)) == plain
    assert block != 5


def standing(kept: PackedSequence[int, tuple[int, ...]]) -> int:
    """Values that are not packed."""
    return len(kept._fresh) + sum(len(values) for _, values in kept._open)


def test_a_shelf_keeps_values_then_packs_them_and_forgets_those_before() -> None:
    kept: PackedSequence[int, tuple[int, ...]] = PackedSequence(tuple, list, n_kept=2 * SIZE)
    for number in range(2 * SIZE - 1):
        kept.add(number)
    assert standing(kept) == 2 * SIZE - 1
    for number in range(2 * SIZE - 1, 5 * SIZE + 3):
        kept.add(number)
    assert standing(kept) == 3
    assert len(kept) == 5 * SIZE + 3
    assert [kept[number] for number in range(len(kept))] == list(range(len(kept)))
    assert standing(kept) == 3 + packed_sequence.N_OPEN * SIZE
    assert [number for part in kept.parts() for number in part] == list(range(len(kept)))
    kept.let_go(2 * SIZE + 1)
    assert kept[2 * SIZE] == 2 * SIZE
    with pytest.raises(KeyError):
        kept[0]


def test_equal_numbers_are_one_object() -> None:
    numbers = [10**6 + n % 2 for n in range(9)]
    found = list(shared(iter(numbers)))
    assert found == numbers
    assert len({id(number) for number in found}) == 2


@pytest.mark.parametrize("fault", ["none", "no file", "full"])
def test_what_the_disk_does_not_take_stays_in_memory(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError("no room")

    if fault == "no file":
        monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    spool = TempSpool()
    first = spool.put(b"one")
    if fault == "full":
        file = spool._file
        full = SimpleNamespace(seek=file.seek, read=file.read, write=refused, close=file.close)
        monkeypatch.setattr(spool, "_file", full)
    second, third = spool.put(b"second"), spool.put(b"")
    assert [each.read() for each in (second, first, third)] == [b"second", b"one", b""]
    assert [len(each) for each in (second, first, third)] == [6, 3, 0]
