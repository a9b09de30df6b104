"""Keeps what was worked out of a session, for other processes and later ones."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from django.db import DatabaseError, connection, transaction

from sessions.engine.packing.section_file import seal
from sessions.models import Session, SessionColumns
from sessions.selectors.columns import key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

PATIENCE_MS = 250
"""A page does not wait longer than this for SQLite's one writer: what is not kept now is kept the next time."""
_patient: ContextVar[bool] = ContextVar("patient", default=False)
log = logging.getLogger(__name__)


@contextmanager
def patience() -> Iterator[None]:
    """What is kept in here waits for its turn to write: nobody waits for a page."""
    before = _patient.set(True)
    try:
        yield
    finally:
        _patient.reset(before)


def keep(session_id: str, name: str, version: str, sections: Mapping[str, bytes], other: str = "") -> bool:
    """Keep sections in place of those of that name; False where the session has changed or cannot be written now."""
    key = key_of(version, other)
    data = seal(key, sections)

    def write() -> bool:
        if not Session.objects.filter(pk=session_id, version=version).exists():
            return False
        SessionColumns.objects.update_or_create(session_id=session_id, name=name, defaults={"key": key, "data": data})
        return True

    return _impatiently(write)


def _impatiently(write: Callable[[], bool]) -> bool:
    """What ``write`` returns in one transaction, False where that fails: the next visit works the same out again.

    SQLite's one writer may be at it before the transaction even begins.
    """
    sqlite = connection.vendor == "sqlite" and not _patient.get()
    waited = 0
    try:
        if sqlite:
            with connection.cursor() as cursor:
                waited = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
                cursor.execute(f"PRAGMA busy_timeout = {PATIENCE_MS}")
        with transaction.atomic():
            return write()
    except DatabaseError as error:
        log.info("not kept: %s", error)
        return False
    finally:
        if sqlite:
            with connection.cursor() as cursor:
                cursor.execute(f"PRAGMA busy_timeout = {waited}")
