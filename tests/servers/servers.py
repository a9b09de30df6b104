"""Servers that a plain user need not have: their tests skip visibly without them, and fail in CI."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PORTS = {"PostgreSQL": 5432, "Redis": 6379, "RabbitMQ": 5672}


def needs(service: str) -> None:
    """Skip, or fail in CI, if nobody listens on the service's usual port."""
    try:
        socket.create_connection(("127.0.0.1", PORTS[service]), timeout=2).close()
    except OSError:
        message = f"{service} does not listen on 127.0.0.1:{PORTS[service]}"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)


def environment(data: Path, **variables: str) -> dict[str, str]:
    """An environment for a ctxweb process of its own: nothing of the test run's settings is left in it."""
    foreign = ("CTXWEB_", "DATABASE_", "DJANGO_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return {**kept, "CTXWEB_DATA": str(data), "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore", **variables}


@contextmanager
def database(purpose: str) -> Iterator[str]:
    """The address of a fresh, empty PostgreSQL database, which is gone afterwards."""
    needs("PostgreSQL")
    import psycopg

    server = "postgresql://postgres@127.0.0.1:5432"
    name = f"ctxweb_test_{purpose}_{os.getpid()}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"create database {name}")
        yield f"{server}/{name}"
        connection.execute(f"drop database {name} with (force)")


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """A fresh, empty PostgreSQL database."""
    with database("one") as url:
        yield url


def run_python(code: str, env: dict[str, str], *arguments: str) -> str:
    """Standard output of a fresh interpreter; fails with its standard error."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout
