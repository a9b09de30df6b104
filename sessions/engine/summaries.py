"""Writes what a policy inserts, through the summarizer chosen for the replay (replay-semantics 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine import registry
from sessions.engine.errors import BadParameter
from sessions.engine.policy import Draft, Item
from sessions.engine.sizes import message_size
from sessions.engine.types import Block, Kind, Message, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sessions.engine.calibrate import Weighed

CHARS_PER_TOKEN = 4
"""How many characters a token of a stub stands for in estimators that count bytes or characters."""


class Brief(NamedTuple):
    """What a summarizer is told: the session, the request, what is dropped, and the number after the colon, if any."""

    weighed: Weighed
    request: int
    dropped: Sequence[Item]
    argument: int | None


class Written(NamedTuple):
    """What a summarizer wrote: drafts or recorded messages, and its source in words.

    ``messages`` are recorded products, which stand in place of all the policy would insert (re-attached files too).
    """

    drafts: tuple[Draft, ...] = ()
    messages: tuple[Message, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class Summarizer:
    """Who writes summaries: ``write`` is deterministic and calls no model; ``takes_number`` allows ``name:N``."""

    name: str
    label: str
    source: str
    write: Callable[[Brief], Written]
    takes_number: bool = False


class Summaries:
    """The summarizer of one replay, with the ids and sizes of what it inserts."""

    def __init__(self, weighed: Weighed, spec: str, estimator: Any) -> None:
        """``spec`` is a summarizer's name, with ``:N`` where it takes a number; raises UnknownName or BadParameter."""
        name, _, number = spec.partition(":")
        self.summarizer: Summarizer = registry.get("summarizers", name)
        self.argument = _number(self.summarizer, number)
        self.weighed, self.estimator = weighed, estimator
        self.request, self.event, self.source, self.n_inserted = 0, 0, "", 0

    def at(self, request: int, event: int) -> None:
        """The event about to be edited: its request and its number."""
        self.request, self.event = request, event
        self.source, self.n_inserted = "", 0

    def insert(self, dropped: Sequence[Item], attachments: Sequence[Draft] = ()) -> tuple[Item, ...]:
        """The items that stand for ``dropped``: a summary, then the policy's attachments, or the recorded products."""
        written = self.summarizer.write(Brief(self.weighed, self.request, dropped, self.argument))
        self.source = written.source
        if written.messages:
            return tuple(self._recorded(m) for m in written.messages)
        return tuple(self._drafted(d) for d in (*written.drafts, *attachments))

    def _next_id(self) -> str:
        self.n_inserted += 1
        return f"e{self.event}.{self.n_inserted - 1}"

    def _recorded(self, message: Message) -> Item:
        size = message_size(message, self.estimator, self.weighed.model)
        return Item(self._next_id(), message, self.weighed.tokens[message.index], size, -1, inserted=True)

    def _drafted(self, draft: Draft) -> Item:
        message = drafted_message(draft, self._next_id(), self.weighed.ratio)
        size = message_size(message, self.estimator, self.weighed.model)
        return Item(message.id, message, draft.tokens, size, -1, inserted=True)


def drafted_message(draft: Draft, message_id: str, ratio: float) -> Message:
    """A message for a draft: of its text, or of ``tokens`` × 4 characters where it is a stub."""
    text = draft.text
    n_chars = len(text) if text else draft.tokens * CHARS_PER_TOKEN
    n_bytes = len(text.encode("utf-8", "replace")) if text else n_chars
    block = Block(Kind.TEXT, n_chars=n_chars, n_bytes=n_bytes, n_tokens=round(draft.tokens / ratio))
    return Message(-1, message_id, Role(draft.role), (block,), preview=draft.preview, summary=draft.summary)


def _number(summarizer: Summarizer, text: str) -> int | None:
    if not text:
        return None
    if not summarizer.takes_number:
        raise BadParameter(f"summarizer {summarizer.name} takes no number: write {summarizer.name!r}")
    if not text.isascii() or not text.isdigit() or int(text) > 1_000_000:
        raise BadParameter(f"{summarizer.name}:N takes a number of tokens from 0 to 1,000,000, not {text!r}")
    return int(text)
