"""The text of messages as a replay sends them, found again where it was written: the upload, or a summarizer."""

from __future__ import annotations

from sessions import selectors
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.policies.policy import Item
from sessions.engine.reading.texts import texts_in
from sessions.engine.replays.markers import known_texts, text_of
from sessions.engine.replays.replay import Replay
from sessions.engine.reports.export import edited_contents, inserted_texts
from sessions.engine.transcript.types import Block, Message
from sessions.models import Session


def inserted_text(session: Session, replay: Replay, item: Item) -> str:
    """The text of an inserted item; "" for a stub, which has none."""
    if item.message.index >= 0:
        return message_text(session, item.message)
    if item.id in replay.written or item.id not in replay.outlines:
        return replay.written.get(item.id, "")
    with selectors.load_texts(session) as texts:
        return inserted_texts(replay, texts.of)[item.id]


def message_text(session: Session, message: Message) -> str:
    """A message's text, read again from the upload; says so where it cannot be read."""
    try:
        return "\n".join(texts_in(selectors.message_contents(session, message.index)))
    except IndexError:
        return "This message is not in the file that the session was read from."
    except UnreadableInput as error:
        return str(error)


def sent_text(session: Session, replay: Replay, item: Item) -> tuple[str, bool]:
    """The text of a message as it stands, and whether all of it is known."""
    message = item.message
    if message.index < 0:
        return inserted_text(session, replay, item), True
    original = replay.weighed.transcript.messages[message.index]
    if original.blocks == message.blocks:
        return message_text(session, message), True
    texts, known = known_texts(replay), True

    def said(block: Block) -> str:
        nonlocal known
        text = text_of(block, texts)
        known = known and bool(text)
        return text

    try:
        contents = selectors.message_contents(session, message.index)
    except (UnreadableInput, IndexError):
        return message_text(session, message), False
    return "\n".join(texts_in(tuple(edited_contents(message.blocks, original.blocks, contents, said)))), known
