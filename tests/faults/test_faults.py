"""The fault workload, shortened: counts are judged, times are not (``make faults`` judges both)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from tests.faults import outcome
from tests.faults.figures import SHORT, Figure
from tests.faults.files import transcript
from tests.faults.grounds import EMBEDDED, RABBITMQ, REDIS, Ground, has_own_redis
from tests.faults.place import Place, place
from tests.faults.scenarios import SCENARIOS
from tests.faults.volume import SEND
from tests.servers.servers import needs

services = pytest.mark.services


@pytest.mark.parametrize(
    ("name", "ground"),
    [
        pytest.param("kills", EMBEDDED),
        pytest.param("kills", REDIS, marks=services),
        pytest.param("archives", EMBEDDED),
        pytest.param("archives", REDIS, marks=services),
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
    assert transcript(7, 3_000) == transcript(7, 3_000)
    assert transcript(7, 3_000).sha256 != transcript(8, 3_000).sha256


def test_the_checks_find_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fault put in by hand is named by the figure that is meant for it, and by no other."""
    monkeypatch.setattr(outcome, "SWEPT_SECONDS", 0.0)
    with place() as here:
        assert here.python(SEND, "0", "3").wait() == 0, here.output()
        here.start("worker")
        assert _wrong(outcome.settled(here, 120)) == []
        good, other, third = (transcript(seed, 100) for seed in range(3))
        assert _wrong([*outcome.outcome(here, [good, other, third]), *outcome.integrity(here)]) == []
        assert _wrong(outcome.outcome(here, [transcript(9, 100)])) == ["uploads lost"]
        assert _wrong(outcome.outcome(here, [replace(good, n_messages=good.n_messages + 1)])) == ["uploads lost"]
        assert _wrong(outcome.outcome(here, [replace(good, n_messages=good.n_messages - 1)])) == ["uploads doubled"]
        here.end()
        _change(here, "update agent_sessions_upload set status = 'failed', error = 'x' where sha256 = ?", good.sha256)
        _change(here, "update agent_sessions_job set state = 'reading', attempts = 1 where id = ?", 1)
        found = outcome.outcome(here, [good, other, third])
        assert _wrong(found) == ["uploads wrongly failed", "attempts wrongly counted"]
        assert _wrong(outcome.settled(here, 0.1))[0] == "uploads stuck with no page open"
        blobs = here.data / "blobs"
        next(blobs.glob(f"??/??/{other.sha256}")).write_bytes(b"altered")
        next(blobs.glob(f"??/??/{third.sha256}")).rename(blobs / ".part-of-a-file")
        assert _wrong(outcome.integrity(here)) == [
            "stored files whose bytes are not those of their name",
            "stored files missing",
        ]
        assert _wrong(outcome.leftovers(here)) == ["temporary files left after the next start"]


def _wrong(figures: list[Figure]) -> list[str]:
    return [figure.what for figure in figures if not figure.holds]


def _change(here: Place, statement: str, value: object) -> None:
    with closing(sqlite3.connect(here.data / "ctxweb.sqlite3")) as database, database:
        database.execute(statement, (value,))
