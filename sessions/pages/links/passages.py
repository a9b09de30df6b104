"""One message inside a link: its text redacted, images as their size, and what the shown setting does to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.transcript.speaker import speaker
from sessions.engine.transcript.types import Kind, Message
from sessions.pages.links.redaction import cleaned, without_stump
from sessions.pages.ui.blocks import LONG
from sessions.runs import replays
from sessions.runs.overview import kinds_of
from sessions.runs.texts import message_text

if TYPE_CHECKING:
    from sessions.pages.links.opened import Opened

MOST_CHARS = 20_000
"""Characters of a message that a link shows."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A message as a link shows it; ``fate`` says what the setting does to it, ``n_left`` characters are not shown."""

    index: int
    role: str
    kinds: tuple[str, ...]
    tokens: int
    label: str
    text: str
    n_left: int
    images: tuple[str, ...]
    fate: str
    remark: str
    before: int | None
    after: int | None


def passage(opened: Opened, index: int) -> Passage | None:
    """The message ``index``; None where the link does not show it."""
    weighed, choice = opened.weighed, opened.choice
    messages = weighed.transcript.messages
    if index >= len(messages) or opened.link.view == "session":
        return None
    near = sorted(opened.messages) if opened.alone else range(len(messages))
    if index not in near:
        return None
    message = messages[index]
    text = message_text(opened.session, message)
    kept, n_unread = cleaned(text[:LONG], choice), max(len(text) - LONG, 0)
    kept = without_stump(kept) if n_unread else kept
    at = near.index(index)
    return Passage(
        index, speaker(message), kinds_of(message), weighed.tokens[index], str(weighed.labels[index]),
        text=kept[:MOST_CHARS], n_left=max(len(kept) - MOST_CHARS, 0) + n_unread, images=_images(message),
        fate=_fate(opened, index), remark=cleaned(dict(opened.link.remarks).get(index, ""), choice),
        before=near[at - 1] if at else None, after=near[at + 1] if at + 1 < len(near) else None,
    )  # fmt: skip


def _images(message: Message) -> tuple[str, ...]:
    """The images of a message by their size; none of them leaves the sender's machine."""
    found = [leaf.media for leaf in message.leaves() if leaf.kind is Kind.IMAGE and leaf.media is not None]
    return tuple(f"{one.width:,} × {one.height:,} pixels" if one.width else "size unknown" for one in found)


def _fate(opened: Opened, index: int) -> str:
    """The first compaction that drops or changes the message, in words; of one alone, what that one does."""
    for event in opened.compactions_of(replays.run(opened.session.pk, opened.setting).replay):
        if index not in {item.message.index for item in event.before}:
            continue
        after = [item for item in event.after if item.message.index == index]
        where = f"compaction {event.index + 1}, before request {event.request:,}"
        if not after:
            return f"Dropped by {where}."
        if any(item.edited and not item.inserted for item in after):
            return f"Changed by {where}."
    return "Kept by this compaction." if opened.alone else "Kept by every compaction."
