"""The index of a session's texts, kept in this process while the session is the same: building it reads everything."""

from __future__ import annotations

from sessions import selectors
from sessions.engine.base.session_cache import Remembered
from sessions.engine.quality.index import Index, build_index
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.models import Session

MOST_MESSAGES = 60_000
"""Messages of indexed sessions kept; the newest is kept whatever its length."""

INDEX: Remembered[Index] = Remembered("index", MOST_MESSAGES, lambda index: index.n_messages)


def index_of(session: Session) -> Index:
    """The index, built once even when several threads ask for it; raises UnreadableInput without the upload."""
    weighed = selectors.load_weighed(session.pk)
    return weighed.cache.value(INDEX, lambda: _built(session, weighed))


def is_indexed(session: Session) -> bool:
    """Whether the index is at hand in this process."""
    return selectors.load_weighed(session.pk).cache.find(INDEX) is not None


def _built(session: Session, weighed: Weighed) -> Index:
    with selectors.load_texts(session) as texts:
        return build_index(weighed.transcript, texts.of)
