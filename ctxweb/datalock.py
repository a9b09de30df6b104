"""One server for one data directory: a second one is refused with the first one's address."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME = "serve.lock"


HOLDER = re.compile(r"process \d+ at (\S+)(?: for others at (\S+))?")
"""What the file says: the address on this machine and, where others reach the server, theirs."""


class InUse(Exception):
    """Another server has the data directory; the text says which."""


@contextmanager
def held(data: Path, address: str, public: str = "") -> Iterator[None]:
    """Hold ``data``, until this process ends, for the server at ``address``, for others at ``public``; raises InUse."""
    path = data / NAME
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            other = path.read_text(encoding="utf-8").strip() or "another server"
            raise InUse(
                f"{data} is served already by {other}. Use that one, stop it, or set CTXWEB_DATA to another folder."
            ) from None
        os.ftruncate(descriptor, 0)
        others = f" for others at {public}" if public else ""
        os.write(descriptor, f"process {os.getpid()} at {address}{others}\n".encode())
        yield
    finally:
        os.close(descriptor)


def holder(data: Path) -> str:
    """The address of the server that holds ``data``, "" where none does."""
    return _addresses(data)[0]


def public(data: Path) -> str:
    """The address under which others reach the server that holds ``data``, "" where they do not, or none runs."""
    return _addresses(data)[1]


def _addresses(data: Path) -> tuple[str, str]:
    try:
        with (data / NAME).open(encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        found = HOLDER.match((data / NAME).read_text(encoding="utf-8"))
        return (found[1], found[2] or "") if found else ("", "")
    except FileNotFoundError:
        pass
    return "", ""
