"""The fault workload, shortened: counts are judged, times are not (``make faults`` judges both)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.faults.figures import SHORT
from tests.faults.grounds import EMBEDDED, RABBITMQ, REDIS, Ground, has_own_redis
from tests.faults.scenarios import SCENARIOS
from tests.servers.servers import needs

services = pytest.mark.services


@pytest.mark.parametrize(
    ("name", "ground"),
    [
        pytest.param("kills", EMBEDDED),
        pytest.param("kills", REDIS, marks=services),
        pytest.param("volume", EMBEDDED),
        pytest.param("volume", RABBITMQ, marks=services),
        pytest.param("slow_start", EMBEDDED),
        pytest.param("load", EMBEDDED),
        pytest.param("slow_bodies", EMBEDDED),
        pytest.param("ends", EMBEDDED),
        pytest.param("clocks", EMBEDDED),
        pytest.param("broker", REDIS, marks=services),
        pytest.param("watching", EMBEDDED),
        pytest.param("crashes", EMBEDDED),
        pytest.param("idle", EMBEDDED),
    ],
    ids=lambda value: value.name if isinstance(value, Ground) else value,
)
def test_faults(name: str, ground: Ground) -> None:
    for service in ground.services:
        needs(service)
    if name == "broker" and not has_own_redis():
        pytest.skip("redis-server is not installed")
    figures = SCENARIOS[name].run(SHORT, ground)
    judged = [figure for figure in figures if not figure.of_time]
    assert [figure for figure in judged if not figure.holds] == []


def test_the_same_seed_makes_the_same_files() -> None:
    from tests.faults.files import transcript

    assert transcript(7, 3_000) == transcript(7, 3_000)
    assert transcript(7, 3_000).sha256 != transcript(8, 3_000).sha256
    assert replace(SHORT, seed=2) != SHORT
