"""The index of a session's texts, kept in this process while the session is the same: building it reads everything."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from sessions import selectors
from sessions.engine.quality.index import build_index
from sessions.kept import Kept

if TYPE_CHECKING:
    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.quality.index import Index
    from sessions.models import Session

MOST_MESSAGES = 60_000
"""Messages of indexed sessions kept; the newest is kept whatever its length."""

_held: Kept[str, tuple[Weighed, Index]] = Kept(
    lambda held: sum(index.n_messages for _, index in held) > MOST_MESSAGES
)  # fmt: skip
_building: dict[str, threading.Lock] = {}
_lock = threading.Lock()


def held(session_id: str) -> Index | None:
    """The index if it is there for the session as it is now."""
    weighed = selectors.load_weighed(session_id)
    found = _held.find(session_id)
    return found[1] if found is not None and found[0] is weighed else None


def index_of(session: Session) -> Index:
    """The index, built once even when several threads ask for it; raises FileNotFoundError without the upload."""
    found = held(session.pk)
    if found is not None:
        return found
    with _lock:
        building = _building.setdefault(session.pk, threading.Lock())
    with building:
        found = held(session.pk)
        if found is not None:
            return found
        weighed = selectors.load_weighed(session.pk)
        with contextlib.closing(selectors.load_texts(session)) as texts:
            found = build_index(weighed.transcript, texts.of)
        _held.keep(session.pk, (weighed, found))
        with _lock:
            _building.pop(session.pk, None)
    return found


def forget() -> None:
    """Drop every index."""
    _held.clear()
