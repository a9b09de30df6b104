"""Message lists written as documents: a session, what a request was sent, or one side of a replay's event.

Texts come through a reader, one message at a time: a list is never held with its text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from sessions.engine.base import registry
from sessions.engine.base.errors import BadParameter
from sessions.engine.policies.outlines import sketch_of
from sessions.engine.policies.policy import Item
from sessions.engine.replays.lists import items_at
from sessions.engine.replays.markers import known_texts, text_of
from sessions.engine.reports.exports import ExportedMessage, ExportTarget, Listing, Read, Report
from sessions.engine.transcript.types import Block, Content, Kind, Message, Request, Transcript

if TYPE_CHECKING:
    from sessions.engine.replays.replay import Replay

    ReadMessage = Callable[[Message], tuple[Content, ...]]

SIDES = ("before", "after")
LENGTH_ONLY = "blocks that the replay edited, their new text named by its length"


def export(listing: Listing, target: str, read: Read, report: Report | None = None) -> Iterator[str]:
    """The document in pieces; ``report`` is complete once the last piece is out.  Raises UnknownName."""
    chosen = cast("ExportTarget", registry.get("exports", target))
    return chosen.write(listing, read, report or Report())


def whole(transcript: Transcript) -> Listing:
    """The session as recorded: every message of its branch, every request, its compactions."""
    replies = _replies(transcript)
    entries = tuple(ExportedMessage(m.id, m, replies.get(m.index)) for m in transcript.messages)
    elsewhere = tuple(r for r in transcript.requests if r.message is None)
    return Listing(transcript, entries, whole=True, elsewhere=elsewhere)


def event_side(replay: Replay, event: int, side: str) -> Listing:
    """The list before or after event ``event`` of a replay; raises BadParameter where there is none."""
    if side not in SIDES:
        raise BadParameter(f"a side is {' or '.join(SIDES)}, not {side!r}")
    found = replay.event(event)
    items = found.before if side == "before" else found.after
    return _listing(replay, items, f"{side} event {event} of {replay.policy.name}")


def sent_at(replay: Replay, request: int) -> Listing:
    """The list sent at a request of a replay, whatever changed it; raises BadParameter for one off the branch."""
    under = "as recorded" if replay.base == "recorded" else f"under {replay.policy.name}"
    joined = ", " if replay.base == "recorded" else " "
    return _listing(replay, items_at(replay, request), f"sent at request {request}{joined}{under}")


def reader(replay: Replay | None, read: ReadMessage, report: Report | None = None) -> Read:
    """Reads entries: recorded text by ``read``, the summaries that a replay wrote from its summarizer.

    What an edit left of a message stands as it was; a block whose text an edit changed is named by its length, because
    a replay keeps sizes and no text, unless it is a marker known from the policy.  Stand-ins are counted in ``report``.
    """
    counts = report or Report()
    texts = known_texts(replay) if replay else {}
    inserted = inserted_texts(replay, read) if replay else {}

    def said(block: Block) -> str:
        text = text_of(block, texts)
        counts.lose(LENGTH_ONLY, not text)
        return text

    def contents(entry: ExportedMessage) -> tuple[Content, ...]:
        if entry.message.index < 0:
            text = inserted.get(entry.id, "")
            counts.lose("texts that the replay did not write, a stub in their place", not text)
            return (Content(Kind.TEXT, text=text or entry.message.preview),)
        found = read(entry.original or entry.message)
        if entry.original is None:
            return found
        return tuple(edited_contents(entry.message.blocks, entry.original.blocks, found, said))

    return contents


def inserted_texts(replay: Replay, read: ReadMessage) -> Mapping[str, str]:
    """The texts of what a replay inserted, by item id; extracts are made when asked for, of messages by ``read``."""
    return replay.wording(lambda message: sketch_of(message, read))


def _replies(transcript: Transcript) -> dict[int, Request]:
    return {r.message: r for r in transcript.requests if r.message is not None}


def _listing(replay: Replay, items: Sequence[Item], what: str) -> Listing:
    transcript = replay.weighed.transcript
    replies, messages = _replies(transcript), transcript.messages
    entries = []
    for item in items:
        message, inserted = item.message, item.inserted
        original = messages[message.index] if message.index >= 0 else message
        edited = original if original.blocks != message.blocks else None
        reply = None if inserted else replies.get(message.index)
        entries.append(ExportedMessage(item.id, message, reply, inserted, edited))
    return Listing(transcript, tuple(entries), what)


def edited_contents(
    blocks: Sequence[Block],
    before: Sequence[Block],
    contents: Sequence[Content],
    said: Callable[[Block], str] | None = None,
) -> Iterator[Content]:
    """The contents of the blocks that are unchanged; of the others what ``said`` knows of them, else their length."""
    waiting = list(zip(before, contents, strict=False))
    for block in blocks:
        same = next((number for number, (old, _) in enumerate(waiting) if old == block), None)
        if same is not None:
            yield waiting.pop(same)[1]
            continue
        left = (said(block) if said else "") or f"[edited by the replay: {block.n_bytes:,} bytes are left]"
        yield Content(block.kind, text=left, name=block.name, call_id=block.call_id, is_error=block.is_error)
