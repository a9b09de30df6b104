"""The text of what an event inserted, found again where it was written: the recording or a mechanical summarizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions import selectors
from sessions.engine.jsonio import JsonProblem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.engine.policy import Item
    from sessions.engine.replay import Replay
    from sessions.engine.types import Content, Message
    from sessions.models import Session


def inserted_text(session: Session, replay: Replay, item: Item) -> str:
    """The text of an inserted item; "" for a stub, which has none."""
    if item.message.index >= 0:
        return message_text(session, item.message)
    return replay.written.get(item.id, "")


def message_text(session: Session, message: Message) -> str:
    """A message's text, read again from the upload; says so where it cannot be read."""
    try:
        return "\n".join(texts_of(selectors.message_contents(session, message.index)))
    except (FileNotFoundError, JsonProblem, OSError, IndexError):
        return "The uploaded file is missing from the store, so the text cannot be read again."


def texts_of(contents: Iterable[Content]) -> list[str]:
    """The texts of contents in order, those inside tool results included."""
    found: list[str] = []
    for content in contents:
        if content.text:
            found.append(content.text)
        found += texts_of(content.parts)
    return found
