"""Finds what is wrong with the stored data, and mends it: every check yields findings, each with its mending."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sessions.services.doctor import database, stored, stuck_work

if TYPE_CHECKING:
    from sessions.services.doctor.finding import Finding


def examine(*, deep: bool = False) -> Iterator[Finding]:
    """Everything found wrong, as it is found; ``deep`` reads every stored byte.  Nothing is changed.

    Where the schema is not this program's the data cannot be looked at: mend that and examine again.
    """
    schema = list(database.schema())
    yield from schema
    if schema:
        return
    yield from database.integrity()
    yield from stuck_work.find_stuck_work()
    yield from stored.incomplete(deep=deep)
    yield from stored.blobs_amiss(deep=deep)
    yield from stored.media_amiss(deep=deep)
    yield from stored.leftovers()
