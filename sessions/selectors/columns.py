"""Values that were worked out of a session before, whatever process did: read where they still hold, else not."""

from __future__ import annotations

import hashlib

from sessions.adapters.program import program
from sessions.engine.models.model_info import own_digest
from sessions.engine.packing.section_file import Damaged, Sections, unseal
from sessions.models import SessionColumns

LEAST_MESSAGES = 1_000
"""Of a session with fewer messages everything is worked out in the time that reading and writing would take."""


def key_of(version: str, other: str = "") -> str:
    """What values hold under: the session's facts, this program, the user's model table, and what else they rest on."""
    return hashlib.sha256("\0".join((version, program(), own_digest(), other)).encode()).hexdigest()


def sections(session_id: str, name: str, version: str, other: str = "") -> Sections | None:
    """The sections of ``name``: one query; None where there are none, they no longer hold, or they are damaged."""
    key = key_of(version, other)
    data = SessionColumns.objects.filter(session=session_id, name=name, key=key).values_list("data", flat=True).first()
    if data is None:
        return None
    try:
        found = unseal(bytes(data))
    except Damaged:
        return None
    return found if found.key == key else None
