"""What all tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sessions.services import queue
from tests.fake_anthropic import FakeAnthropic, serving

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _no_beat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing beats by the clock: a thread cannot see the uncommitted rows of a test."""
    monkeypatch.setattr(queue, "BEAT_SECONDS", 3600.0)


@pytest.fixture
def fake_anthropic() -> Iterator[FakeAnthropic]:
    """A loopback server that speaks the Messages API; tests/fake_anthropic.py says how to make it answer."""
    with serving() as api:
        yield api
