"""Faults of the surroundings in words, for the command line, pages and jobs; any other exception is ctxweb's own."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sessions.engine.base.errors import BadParameter, EngineError, UnknownName

EXTRAS = {"psycopg": "postgres", "psycopg2": "postgres", "redis": "redis", "storages": "s3", "boto3": "s3"}
"""Modules that come with an extra, and the extra's name."""

UNAVAILABLE, NO_ROOM, GONE, WRONG = 503, 507, 410, 400
"""Statuses: may work later; a disk or the memory is full; stored bytes are missing or damaged; asked for wrongly."""
RETRY = "Try again in a moment."


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong and where, what to do next, and the HTTP status that says so."""

    what: str
    next_step: str
    status: int = UNAVAILABLE

    @property
    def words(self) -> str:
        return f"{self.what} {self.next_step}".strip()


class FaultError(Exception):
    """A fault that we noticed ourselves, before it could do harm."""

    def __init__(self, what: str, next_step: str, status: int = UNAVAILABLE) -> None:
        self.fault = Fault(what, next_step, status)
        super().__init__(self.fault.words)


def fault_of(error: BaseException) -> Fault | None:
    """The fault that ``error`` comes from, by itself or by what caused it; None for a fault of ctxweb."""
    for one in _chain(error):
        for known in (_ours, _missing_extra, _broker, _database, _setting, _system):
            found = known(one)
            if found is not None:
                return found
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, then what it was raised from."""
    seen: set[int] = set()
    here: BaseException | None = error
    while here is not None and id(here) not in seen:
        seen.add(id(here))
        yield here
        here = here.__cause__ or (None if here.__suppress_context__ else here.__context__)


def _ours(error: BaseException) -> Fault | None:
    if isinstance(error, FaultError):
        return error.fault
    if isinstance(error, EngineError):
        return Fault(str(error), "", WRONG if isinstance(error, BadParameter | UnknownName) else GONE)
    return None


def _missing_extra(error: BaseException) -> Fault | None:
    """A module of an extra that is not installed, told by the import or by who wanted it."""
    if isinstance(error, ImportError):
        name = (error.name or "").partition(".")[0]
        extra = EXTRAS.get(name) or next((e for m, e in EXTRAS.items() if f"{m} library" in str(error).lower()), None)
    elif type(error).__name__ in {"ImproperlyConfigured", "InvalidStorageError"}:
        extra = next((extra for module, extra in EXTRAS.items() if module in str(error).lower()), None)
    else:
        return None
    if extra is None:
        return None
    return Fault(f"The extra “{extra}” is not installed.", f"Install it: pip install 'ctxweb[{extra}]'")


def _broker(error: BaseException) -> Fault | None:
    if type(error).__module__.partition(".")[0] not in {"kombu", "amqp", "redis"} or not any(
        word in type(error).__name__ for word in ("Operational", "Connection", "Timeout", "Access", "Auth")
    ):
        return None
    return Fault(f"The broker does not answer: {_first_line(error)}.", "Start it, or check CTXWEB_BROKER_URL.")


def _setting(error: BaseException) -> Fault | None:
    """A variable of the environment that cannot be read."""
    if type(error).__module__ == "dj_database_url":
        return Fault("DATABASE_URL is not an address of a database.", "Write postgres://user:password@host/name.")
    return None


_SAID: tuple[tuple[str, str, str], ...] = (
    ("database is locked", "is locked: another process writes", RETRY),
    ("database table is locked", "is locked: another process writes", RETRY),
    ("disk is full", "has no space left on its disk", "Free some space and try again."),
    ("unable to open", "cannot be opened", "Check that its folder exists, and that you may read and write both."),
    ("readonly database", "cannot be written", "Give yourself write access to the file and its folder."),
    ("malformed", "is damaged", "Restore a backup, or move it away to start with an empty one."),
    ("not a database", "is not a database", "Restore a backup, or move the file away."),
    ("disk i/o error", "could not be used: the disk failed", "Check the disk, then try again."),
    ("no such table", "is not set up yet", "Run `ctxweb serve` or `ctxweb demo` once."),
    ("no such column", "is of another version", "Restart ctxweb: it migrates at its start."),
    ("does not exist", "is not set up yet, or of another version", "Check DATABASE_URL, and restart ctxweb."),
)
"""Words of SQLite and PostgreSQL, lower case; what is wrong with the database then, and what to do."""


def _database(error: BaseException) -> Fault | None:
    if not any(base.__name__ == "DatabaseError" for base in type(error).__mro__):
        return None
    said, at = str(error).lower(), _database_place()
    for words, what, next_step in _SAID:
        if words in said:
            return Fault(f"{at} {what}.", next_step, NO_ROOM if words == "disk is full" else UNAVAILABLE)
    if type(error).__name__ in {"OperationalError", "InterfaceError"}:
        return Fault(f"{at} does not answer: {_first_line(error)}.", "Check DATABASE_URL, and that it runs.")
    return None


def _database_place() -> str:
    """The database by its file or its server; neither user nor password."""
    database = _configured("DATABASES", {}).get("default", {})
    name, host = database.get("NAME", ""), database.get("HOST", "")
    if host or not database:
        return f"The database {name} on {host}" if host else "The database"
    return f"The database {name}"


def _system(error: BaseException) -> Fault | None:
    if isinstance(error, MemoryError):
        return Fault("There is not enough memory.", "Close other programs, or split the file.", NO_ROOM)
    if not isinstance(error, OSError) or error.errno is None:
        return None
    at = _path(error)
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        where = f"for {at}" if at else f"in {_configured('DATA', '') or 'the data folder'}, or where the output goes"
        return Fault(f"No space is left {where}.", "Free some space and try again.", NO_ROOM)
    if not at:
        return None
    found, blobs = _PATHS.get(error.errno), str(_configured("MEDIA_ROOT", ""))
    if error.errno == errno.ENOENT and blobs and at.startswith(blobs):
        return Fault(f"Stored bytes are missing: {at}.", "Restore a backup, or upload the file again.", GONE)
    return Fault(f"{at} {found[0]}.", found[1]) if found else None


_PATHS = {
    errno.ENOENT: ("does not exist and cannot be made", "Check the path, and CTXWEB_DATA."),
    errno.EEXIST: ("is a file where a folder is needed", "Choose another folder with CTXWEB_DATA."),
    errno.ENOTDIR: ("is not in a folder: a part of the path is a file", "Choose another folder with CTXWEB_DATA."),
    errno.EISDIR: ("is a folder where a file is needed", "Name a file."),
    errno.EACCES: ("may not be read or written", "Change its permissions, or choose another folder with CTXWEB_DATA."),
    errno.EPERM: ("may not be read or written", "Change its permissions, or choose another folder with CTXWEB_DATA."),
    errno.EROFS: ("is on a disk that cannot be written", "Choose another folder with CTXWEB_DATA."),
    errno.ENAMETOOLONG: ("has too long a name", "Choose a shorter one."),
    errno.ELOOP: ("leads in a circle of links", "Name the file itself."),
    errno.EIO: ("could not be read or written: the disk failed", "Check the disk, then try again."),
    errno.EMFILE: ("could not be opened: too many files are open", "Raise the limit with ulimit -n."),
    errno.ENFILE: ("could not be opened: too many files are open", "Close other programs."),
}
"""What a path is that the system refused, and what to do."""


def _path(error: OSError) -> str:
    name = error.filename2 or error.filename
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name or "")


def _configured(name: str, default: Any) -> Any:
    """A setting of Django; ``default`` where Django is not in use, or cannot be set up."""
    try:
        from django.conf import settings
    except ImportError:
        return default
    return getattr(settings, name, default) if settings.configured else default


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
