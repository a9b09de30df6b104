"""The index of a session's texts, kept in this process while the session is the same: building it reads everything."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from sessions import selectors
from sessions.engine.quality.index import build_index

if TYPE_CHECKING:
    from sessions.engine.calibration.calibrate import Weighed
    from sessions.engine.quality.index import Index
    from sessions.models import Session

MOST_MESSAGES = 60_000
"""Messages of indexed sessions kept; the newest is kept whatever its length."""

_held: OrderedDict[str, tuple[Weighed, Index]] = OrderedDict()
_building: dict[str, threading.Lock] = {}
_lock = threading.Lock()


def held(session_id: str) -> Index | None:
    """The index if it is there for the session as it is now."""
    weighed = selectors.load_weighed(session_id)
    with _lock:
        found = _held.get(session_id)
        if found is None or found[0] is not weighed:
            return None
        _held.move_to_end(session_id)
        return found[1]


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
        with _lock:
            _held[session.pk] = (weighed, found)
            _held.move_to_end(session.pk)
            _building.pop(session.pk, None)
            _evict()
    return found


def _evict() -> None:
    n = sum(index.n_messages for _, index in _held.values())
    while n > MOST_MESSAGES and len(_held) > 1:
        _, (_, gone) = _held.popitem(last=False)
        n -= gone.n_messages


def forget() -> None:
    """Drop every index."""
    with _lock:
        _held.clear()
