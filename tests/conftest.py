"""What all tests share."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from sessions.runs import sweeps
from sessions.services import queue
from sessions.services.prices import forget_prices
from tests.every import SHARE
from tests.fake_anthropic import FakeAnthropic, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

# No test may fail because the machine is busy.  In CI one commit has one answer: the same examples every time.  At a
# desk every run draws new ones, and what failed is remembered in .hypothesis/ and tried first.
settings.register_profile("desk", settings.get_profile("default"), deadline=None, max_examples=100 // SHARE,
                          suppress_health_check=[HealthCheck.too_slow])  # fmt: skip
settings.register_profile("gate", settings.get_profile("desk"), derandomize=True, database=None, print_blob=True)
settings.load_profile("gate" if os.environ.get("CI") == "true" else "desk")


SLOW = {"browser", "cli", "servers"}
"""Folders whose tests wait for processes of their own."""


LONG = {"test_every_page.py", "test_no_5xx.py", "test_spent.py", "test_policy_laws.py", "test_access.py"}
"""Files that take longer than any other."""

queue.BEAT_SECONDS = 3600.0
"""Nothing beats by the clock: a thread cannot see the uncommitted rows of a test."""
sweeps.INLINE_SECONDS = 60.0
"""A loaded machine looks at as many settings as a quick one."""


def pytest_collection() -> None:
    """Nothing that is made while tests are found becomes garbage, and to look for it takes seconds."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What is there now stays to the end: who looks for garbage afterwards need not look at it."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is slow comes first, so that no worker is left alone with it at the end."""
    items.sort(key=lambda item: (item.path.name not in LONG, item.path.parent.name not in SLOW))


@pytest.fixture(autouse=True)
def _no_prices_of_another_test() -> None:
    """Prices that a test gave are rolled back with it; what was read of them goes too."""
    forget_prices()


@pytest.fixture
def fake_anthropic() -> Iterator[FakeAnthropic]:
    """A loopback server that speaks the Messages API; tests/fake_anthropic.py says how to make it answer."""
    with serving() as api:
        yield api
