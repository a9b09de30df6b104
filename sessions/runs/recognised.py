"""What was recognised as a secret or a detail anywhere in a session: its links leave it out wherever it stands."""

from __future__ import annotations

import dataclasses
from contextlib import suppress

from ctxweb.version import ctxweb_version
from sessions import selectors
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.base.session_cache import Remembered
from sessions.engine.reading.texts import Texts, texts_in
from sessions.engine.redact import Choice, Kind, recognised
from sessions.engine.redact.known import Known
from sessions.engine.transcript.types import Message
from sessions.models import Session
from sessions.runs.overview import overview

KNOWN: Remembered[Known] = Remembered("recognised", 12)


def with_known(choice: Choice, session: Session) -> Choice:
    """The choice with what the session's texts hold; as it is where they cannot be read, and so are not shown."""
    weighed = selectors.load_weighed(session.pk)
    with suppress(UnreadableInput, OSError):
        return dataclasses.replace(choice, known=weighed.cache.value(KNOWN, lambda: _known(session)))
    return choice


def _known(session: Session) -> Known:
    """All texts are read once; of them are kept the numbers of messages that hold something, never what they hold."""
    view, found = overview(session.pk), dict[int, list[tuple[Kind, str]]]()
    with selectors.load_texts(session) as texts:

        def holding() -> tuple[int, ...]:
            found.update((message.index, values) for message in view.messages if (values := values_in(texts, message)))
            return tuple(found)

        numbers = view.kept(f"recognised by {ctxweb_version()}", holding)
        found = found or {number: values_in(texts, view.messages[number]) for number in numbers}
    view.keep()
    return Known(value for values in found.values() for value in values)


def values_in(texts: Texts, message: Message) -> list[tuple[Kind, str]]:
    """What is recognised in a message."""
    return [value for text in texts_in(texts.of(message)) for value in recognised(text)]
