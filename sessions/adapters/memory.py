"""What all processes of one server know and no disk may: pasted keys, counts of visitors, the rate of calls.

``ctxweb serve`` holds it and its processes ask over a socket in the data folder; any other process holds its own.
Whoever may open the socket runs as the same user, and still needs a key's random handle to be told the key.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessions.adapters.cache import Cache
from sessions.adapters.calls import Bucket, TokenBucket
from sessions.engine.reading import jsonio

if TYPE_CHECKING:
    from io import BufferedRWPair

WHERE = "CTXWEB_SERVER_MEMORY"
"""Environment variable in which ``ctxweb serve`` tells its processes the socket."""

MAX_KEYS = 200
"""Keys held at a time; the one unused longest is forgotten first."""
MOST_COUNTS = 10_000
"""Visitors counted at a time; the one counted first is forgotten first."""
BURST = 10
LONGEST_PATH = 100
"""Bytes of a socket's name; systems allow 104 or 108."""


class Memory:
    """What is held, in the one process that holds it; safe to use from threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        keys: Cache[str, str] = Cache(lambda held: len(held) > MAX_KEYS)
        self.keep_key, self.key, self.forget_key = keys.put, keys.get, keys.forget
        self._counts: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._buckets: Cache[str, TokenBucket] = Cache(lambda held: len(held) > MAX_KEYS + 1)

    def count(self, name: str, seconds: float) -> int:
        """How often ``name`` was counted since ``seconds`` began with its first time, this time included."""
        with self._lock:
            n, until = self._found(name)
            if not n:
                self._counts.pop(name, None)
                until = self._clock() + seconds
            self._counts[name] = n + 1, until
            while len(self._counts) > MOST_COUNTS:
                self._counts.popitem(last=False)
            return n + 1

    def counted(self, name: str) -> int:
        with self._lock:
            return self._found(name)[0]

    def forgive(self, name: str) -> None:
        """Count from the beginning again."""
        with self._lock:
            self._counts.pop(name, None)

    def wait(self, name: str, per_minute: float) -> float:
        return self._bucket(name, per_minute).wait()

    def hand_back(self, name: str, per_minute: float) -> None:
        self._bucket(name, per_minute).hand_back()

    def pause(self, name: str, per_minute: float, seconds: float) -> None:
        self._bucket(name, per_minute).pause(seconds)

    def _bucket(self, name: str, per_minute: float) -> TokenBucket:
        return self._buckets.get_or_make(name, lambda: TokenBucket(per_minute, BURST))

    def _found(self, name: str) -> tuple[int, float]:
        n, until = self._counts.get(name, (0, 0.0))
        return (n, until) if until > self._clock() else (0, 0.0)


ASKED = frozenset({"keep_key", "key", "forget_key", "count", "counted", "forgive", "wait", "hand_back", "pause"})
_own = Memory()
_mine = threading.local()


def ask(what: str, *given: Any) -> Any:
    """What ``what`` of the server's memory returns, of our own without a server; OSError where the server has gone."""
    path = os.environ.get(WHERE)
    if not path:
        return getattr(_own, what)(*given)
    try:
        return _asked(path, what, given)
    except OSError:  # the connection is older than the server's memory
        _mine.lines = None
        return _asked(path, what, given)


def _asked(path: str, what: str, given: tuple[Any, ...]) -> Any:
    if getattr(_mine, "lines", None) is None or _mine.path != path:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            _mine.lines, _mine.path = connection.makefile("rwb"), path
    lines: BufferedRWPair = _mine.lines
    lines.write(jsonio.dumps([what, *given]).encode() + b"\n")
    lines.flush()
    answer = lines.readline()
    if not answer:
        raise ConnectionResetError("the server's memory has gone")
    return jsonio.loads(answer)[0]


class SharedBucket(Bucket):
    """The bucket ``name`` of the server's memory."""

    def __init__(self, name: str, per_minute: float) -> None:
        self._of = name, per_minute

    def wait(self) -> float:
        return float(ask("wait", *self._of))

    def hand_back(self) -> None:
        ask("hand_back", *self._of)

    def pause(self, seconds: float) -> None:
        ask("pause", *self._of, seconds)


@contextmanager
def held(folder: Path) -> Iterator[Memory]:
    """Hold the memory of a server and answer its processes, which inherit the way to it."""
    memory = Memory()
    with _place(folder) as path, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen()
        asking: list[socket.socket] = []
        threading.Thread(target=_accept, args=(listener, memory, asking), name="memory", daemon=True).start()
        os.environ[WHERE] = str(path)
        try:
            yield memory
        finally:
            del os.environ[WHERE]
            for connection in asking:
                with suppress(OSError):  # closed by now
                    connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def _place(folder: Path) -> Iterator[Path]:
    """The name of the socket; in a folder of its own where the data folder's name is too long for one."""
    own = None
    path = folder / "memory.sock"
    if len(os.fsencode(path)) > LONGEST_PATH:
        own = tempfile.mkdtemp(prefix="ctxweb-")
        path = Path(own) / "memory.sock"
    path.unlink(missing_ok=True)  # of a server that was killed
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        if own is not None:
            shutil.rmtree(own, ignore_errors=True)


def _accept(listener: socket.socket, memory: Memory, asking: list[socket.socket]) -> None:
    with suppress(OSError):  # the server has ended
        while True:
            connection, _ = listener.accept()
            asking[:] = [one for one in asking if one.fileno() >= 0]
            asking.append(connection)
            threading.Thread(target=_answer, args=(connection, memory), name="memory", daemon=True).start()


def _answer(connection: socket.socket, memory: Memory) -> None:
    with suppress(OSError, ValueError), connection, connection.makefile("rwb") as lines:
        for line in lines:
            what, *given = jsonio.loads(line)
            if what not in ASKED:
                return
            lines.write(jsonio.dumps([getattr(memory, what)(*given)]).encode() + b"\n")
            lines.flush()
