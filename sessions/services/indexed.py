"""The index of a session's texts, kept in this process while the session is the same: building it reads everything."""

from __future__ import annotations

from collections.abc import Iterator

from sessions import selectors
from sessions.engine.base.session_cache import Remembered
from sessions.engine.quality.index import Index, IndexBuilder, build_index
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.models import Session
from sessions.services.gradually import Gradual, Progress

MOST_MESSAGES = 60_000
"""Messages of indexed sessions kept; the newest is kept whatever its length."""

INDEX: Remembered[Index] = Remembered("index", MOST_MESSAGES, lambda index: index.n_messages)
READING: Remembered[Gradual[int]] = Remembered("index being built", 4)
"""By their number: two very long sessions whose pages take turns to ask would push each other out for ever."""


def index_of(session: Session) -> Index:
    """The index, built once even when several threads ask for it; raises UnreadableInput without the upload."""
    weighed = selectors.load_weighed(session.pk)
    return weighed.cache.value(INDEX, lambda: _built(session, weighed))


def is_indexed(session: Session) -> bool:
    return selectors.load_weighed(session.pk).cache.find(INDEX) is not None


def go_on(session: Session, until: float) -> Progress:
    """Index more messages until then (``Gradual.go_on``), how many of all; raises as ``index_of``."""
    weighed = selectors.load_weighed(session.pk)
    if is_indexed(session):
        return progress(session)
    n_total = len(weighed.transcript.messages)
    reading = weighed.cache.value(READING, lambda: Gradual(n_total, lambda: _reading(session, weighed)))
    done = reading.go_on(until)
    if is_indexed(session):
        weighed.cache.take(READING)
    return done


def progress(session: Session) -> Progress:
    """How many messages of a session are indexed in this process."""
    weighed = selectors.load_weighed(session.pk)
    n_total = len(weighed.transcript.messages)
    if is_indexed(session):
        return Progress(n_total, n_total)
    reading = weighed.cache.find(READING)
    return reading.progress if reading else Progress(0, n_total)


def _reading(session: Session, weighed: Weighed) -> Iterator[int]:
    """Index message after message, and remember the index with the last."""
    builder, messages = IndexBuilder(weighed.transcript), weighed.transcript.messages
    with selectors.load_texts(session) as texts:
        for message in messages[:-1]:
            builder.add(message, texts.of(message))
            yield message.index
        for message in messages[-1:]:
            builder.add(message, texts.of(message))
    weighed.cache.put(INDEX, builder.done())
    yield len(messages)


def _built(session: Session, weighed: Weighed) -> Index:
    with selectors.load_texts(session) as texts:
        return build_index(weighed.transcript, texts.of)
