"""What all tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fake_anthropic import FakeAnthropic, serving

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def fake_anthropic() -> Iterator[FakeAnthropic]:
    """A loopback server that speaks the Messages API; tests/fake_anthropic.py says how to make it answer."""
    with serving() as api:
        yield api
