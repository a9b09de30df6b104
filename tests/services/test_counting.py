"""Which counter a file gets."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from sessions.adapters import storage
from sessions.engine.tokens.tokenizer import TokenCounter, count
from sessions.engine.tokens.tokenizer_process import InPlaceCounter, ProcessCounter
from sessions.services import counting


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(counting, "HELPED_BYTES", 10)
    monkeypatch.setattr(counting, "HELPED_AMONG_BYTES", 20)
    yield
    counting.stop_ahead()


@pytest.mark.usefixtures("small_limits")
def test_a_large_file_is_counted_by_a_process_beside() -> None:
    kinds = [type(counting.counter_of(n_bytes)) for n_bytes in (9, 10, 19, 20)]
    assert kinds == [TokenCounter, ProcessCounter, ProcessCounter, ProcessCounter]
    with counting.counting_in_place():
        kinds = [type(counting.counter_of(n_bytes)) for n_bytes in (9, 19, 20)]
    assert kinds == [InPlaceCounter, InPlaceCounter, ProcessCounter]


@pytest.mark.usefixtures("small_limits")
def test_the_process_of_a_large_file_is_started_before_it_is_read() -> None:
    counting.start_ahead(19)
    assert counting._ahead == []
    counting.start_ahead(20)
    counting.start_ahead(21)
    (ahead,) = counting._ahead
    helper = ahead._helper
    assert helper is not None
    assert helper.poll() is None
    with counting.counter_of(20) as counter:
        assert counter is ahead
        ticket = counter.submit("one two three")
        assert counter.results().of(ticket).n_tokens == count("one two three").n_tokens
        assert counter._helper is helper
    assert helper.poll() == 0
    assert counting._ahead == []


@pytest.mark.usefixtures("small_limits")
def test_a_process_that_nobody_needs_is_ended() -> None:
    counting.start_ahead(20)
    helper = counting._ahead[0]._helper
    assert helper is not None
    counting.stop_ahead()
    assert helper.returncode is not None
    assert counting._ahead == []


@pytest.mark.usefixtures("blobs")
def test_only_bytes_that_are_not_there_are_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    writer = storage.frames.FrameWriter
    monkeypatch.setattr(storage.frames, "FrameWriter", lambda target: made.append(target) or writer(target))
    first = storage.put(io.BytesIO(b"a" * 10), look=True)
    assert storage.put(io.BytesIO(b"a" * 10), look=True) == first
    with io.BytesIO(b"-" + b"b" * 20) as file:
        file.read(1)
        second = storage.put(file, look=True)
    assert (len(made), second.n_bytes) == (2, 20)
    with storage.open_blob(second.sha256) as stored:
        assert stored.read() == b"b" * 20
