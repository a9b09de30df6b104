"""The memory that the processes of one server share."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from sessions.adapters import memory
from sessions.adapters.memory import Memory, SharedBucket, ask


def test_counts_begin_again_when_their_time_is_over() -> None:
    now = [0.0]
    held = Memory(clock=lambda: now[0])
    assert [held.count("a", 60) for _ in range(3)] == [1, 2, 3]
    now[0] = 59.0
    assert (held.count("a", 60), held.counted("b")) == (4, 0)
    now[0] = 60.0
    assert held.counted("a") == 0
    assert held.count("a", 60) == 1
    held.forgive("a")
    assert held.counted("a") == 0


def test_the_visitor_counted_first_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST_COUNTS", 2)
    held = Memory()
    for name in "abc":
        held.count(name, 60)
    assert [held.counted(name) for name in "abc"] == [0, 1, 1]


@pytest.mark.parametrize("folder", ["", "long" * 30])
def test_whoever_inherits_the_way_asks_the_same_memory(tmp_path: Path, folder: str) -> None:
    place = tmp_path / folder
    place.mkdir(exist_ok=True)
    with memory.held(place) as held:
        path = os.environ[memory.WHERE]
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        ask("keep_key", "handle", "sk-ant-schlüssel\n")
        assert held.key("handle") == ask("key", "handle") == "sk-ant-schlüssel\n"
        assert [ask("count", "x", 60), held.count("x", 60), ask("counted", "x")] == [1, 2, 2]
        bucket = SharedBucket("of a key", 60)
        assert [bucket.wait() for _ in range(memory.BURST)] == [0.0] * memory.BURST
        assert bucket.wait() > 0
        bucket.pause(100)
        assert held.wait("of a key", 60) > 99
    assert memory.WHERE not in os.environ
    assert not os.path.exists(path)
    assert ask("key", "handle") is None, "a process without a server has its own"


def test_a_server_that_was_started_again_is_asked_again(tmp_path: Path) -> None:
    with memory.held(tmp_path):
        assert ask("count", "x", 60) == 1
    with memory.held(tmp_path):
        assert ask("count", "x", 60) == 1, "the connection of before leads nowhere"


def test_only_what_is_meant_can_be_asked(tmp_path: Path) -> None:
    with memory.held(tmp_path), pytest.raises(OSError, match="has gone"):
        ask("__init__")
