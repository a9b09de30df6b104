"""What ctxweb runs on in a scenario: a database, and a broker or none."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVER = "postgresql://postgres@127.0.0.1:5432"
PORTS = {"PostgreSQL": 5432, "Redis": 6379, "RabbitMQ": 5672}
BROKERS = {"Redis": "redis://127.0.0.1:6379/9", "RabbitMQ": "amqp://guest:guest@127.0.0.1:5672//"}


@dataclass(frozen=True, slots=True)
class Ground:
    """A database ("SQLite" or "PostgreSQL") and a broker ("", "Redis" or "RabbitMQ")."""

    database: str
    broker: str = ""

    @property
    def name(self) -> str:
        """As a heading says it."""
        return f"{self.database} + {self.broker}" if self.broker else self.database

    @property
    def services(self) -> list[str]:
        """The servers that it needs."""
        return [name for name in (self.database, self.broker) if name in PORTS]

    def missing(self) -> list[str]:
        """Those of its servers that do not answer on their usual port of 127.0.0.1."""
        return [name for name in self.services if not _listens(PORTS[name])]


EMBEDDED, REDIS, RABBITMQ = Ground("SQLite"), Ground("PostgreSQL", "Redis"), Ground("PostgreSQL", "RabbitMQ")
GROUNDS = {"sqlite": EMBEDDED, "redis": REDIS, "rabbitmq": RABBITMQ}


@contextmanager
def variables(ground: Ground) -> Iterator[dict[str, str]]:
    """Environment variables of a database and a queue of one's own, which are gone afterwards."""
    given = {"DATABASE_URL": ""}
    name = f"ctxweb_faults_{uuid.uuid4().hex[:12]}"
    if ground.broker:
        given |= {"CTXWEB_BROKER_URL": BROKERS[ground.broker], "CTXWEB_QUEUE": name}
    if ground.database == "PostgreSQL":
        _command(f"create database {name}")
        given["DATABASE_URL"] = f"{SERVER}/{name}"
    try:
        yield given
    finally:
        if ground.database == "PostgreSQL":
            _command(f"drop database if exists {name} with (force)")
        if ground.broker:
            _delete_queue(BROKERS[ground.broker], name)


def has_own_redis() -> bool:
    """Whether a Redis server of one's own can be started."""
    return shutil.which("redis-server") is not None


@contextmanager
def own_redis() -> Iterator[OwnRedis]:
    """A Redis server of this run, which may be ended and started again."""
    redis = OwnRedis(free_port())
    redis.start()
    try:
        yield redis
    finally:
        redis.end()


class OwnRedis:
    """``redis-server`` on ``port``; what it holds is lost with each end."""

    def __init__(self, port: int) -> None:
        self.port, self.url = port, f"redis://127.0.0.1:{port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it listens."""
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen(
            command, cwd=tempfile.gettempdir(), stdout=subprocess.DEVNULL, start_new_session=True
        )
        while not _listens(self.port):
            if self._process.poll() is not None:
                raise RuntimeError("redis-server ended at its start")

    def end(self) -> None:
        """End it at once, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    except OSError:
        return False
    return True


def _command(statement: str) -> None:
    import psycopg

    with psycopg.connect(f"{SERVER}/postgres", autocommit=True) as connection:
        connection.execute(statement.encode())


def _delete_queue(url: str, name: str) -> None:
    from kombu import Connection

    with Connection(url) as connection:
        channel = connection.default_channel
        channel.queue_delete(name)
        if url.startswith("amqp"):
            channel.exchange_delete(name)
        else:
            channel.client.delete(f"_kombu.binding.{name}", f"_kombu.binding_permanent.{name}")
