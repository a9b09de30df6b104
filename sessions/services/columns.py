"""Keeps what was worked out of a session, for other processes and later ones."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.db import DatabaseError, connection, transaction

from sessions.engine import pack
from sessions.engine.sealed import seal
from sessions.models import Session, SessionColumns, SessionFacts
from sessions.selectors.columns import key_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sessions.engine.types import Transcript

PATIENCE_MS = 250
"""A page does not wait longer than this for SQLite's one writer: what is not kept now is kept the next time."""
log = logging.getLogger(__name__)


def keep(session_id: str, name: str, version: str, sections: Mapping[str, bytes], other: str = "") -> bool:
    """Keep sections in place of those of that name; False where the session has changed or cannot be written now."""
    key = key_of(version, other)
    data = seal(key, sections)
    with _impatient() as wrote:
        if Session.objects.filter(pk=session_id, version=version).exists():
            SessionColumns.objects.update_or_create(
                session_id=session_id, name=name, defaults={"key": key, "data": data}
            )
            wrote.append(True)
    return bool(wrote)


def pack_in_parts(session_id: str, version: str, transcript: Transcript) -> None:
    """Put the facts of a session that was packed as a whole in parts; the version names what they say, and stays."""
    data = pack.pack(transcript)
    with _impatient():
        SessionFacts.objects.filter(session=session_id, session__version=version).update(packed=data)


@contextmanager
def _impatient() -> Iterator[list[bool]]:
    """One transaction that may fail: all that is lost is that the next visit works the same out again."""
    sqlite = connection.vendor == "sqlite"
    wrote: list[bool] = []
    waited = 0
    try:
        if sqlite:
            with connection.cursor() as cursor:
                waited = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
                cursor.execute(f"PRAGMA busy_timeout = {PATIENCE_MS}")
        with transaction.atomic():
            yield wrote
    except DatabaseError as error:
        wrote.clear()
        log.info("not kept: %s", error)
    finally:
        if sqlite:
            with connection.cursor() as cursor:
                cursor.execute(f"PRAGMA busy_timeout = {waited}")
