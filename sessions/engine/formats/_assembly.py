"""Puts a session together entry by entry: messages with unique ids, requests, compactions (replay-semantics 1).

For formats that are read in one pass over a list; the positions of a compaction follow from what was added before it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sessions.engine.formats._blocks import is_prompt
from sessions.engine.formats._preview import preview_of, prompt_words, title_of
from sessions.engine.formats._provider_errors import Refusal, error_at, once
from sessions.engine.types import Kind, Message, RecordedCompaction, Request, Role, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions.engine.formats import Measured
    from sessions.engine.types import Content, Origin, Usage


class Assembly:
    """One session in the making."""

    def __init__(self, measure: Measured) -> None:
        self.measure = measure
        self.messages: list[Message] = []
        self.requests: list[Request] = []
        self.compactions: list[RecordedCompaction] = []
        self.warnings: list[str] = []
        self.refused: list[tuple[Refusal, int, int]] = []
        self.title = ""
        self._taken: set[str] = set()

    def add(
        self,
        role: Role,
        contents: Sequence[Content],
        origins: Sequence[Origin],
        *,
        id: str = "",  # noqa: A002  the word of Message
        typed: bool | None = None,
        **facts: Any,
    ) -> int:
        """A message at the end; its index.

        ``typed`` None asks the blocks (a user's text or image without a tool result); ``facts`` are other fields of
        Message.
        """
        index = len(self.messages)
        if typed is None:
            typed = role is Role.USER and is_prompt(contents)
        message = Message(
            index=index,
            id=self._unique(id, origins, index),
            role=role,
            blocks=self.measure(contents),
            origins=tuple(origins),
            preview=preview_of(contents),
            typed=typed,
            **facts,
        )
        self.messages.append(message)
        if typed and not self.title:
            self.title = title_of(prompt_words([content.text for content in contents if content.kind is Kind.TEXT]))
        return index

    def request(self, message: int | None, usage: Usage | None = None, **facts: Any) -> int:
        """A request whose reply is ``message``; its index.  ``facts`` are other fields of Request."""
        index = len(self.requests)
        if message is not None and "timestamp" not in facts:
            facts["timestamp"] = self.messages[message].timestamp
        self.requests.append(Request(index, message, usage, **facts))
        return index

    def refuse(self, refusal: Refusal | None) -> None:
        """Note that the request after what was added so far was refused for its size; None is no refusal."""
        if refusal is not None:
            self.refused.append((refusal, len(self.messages), len(self.requests)))

    def follows_reply(self) -> bool:
        """Whether the newest message is a reply, so that another one belongs to the same run."""
        last = self.messages[-1] if self.messages else None
        return last is not None and last.role is Role.ASSISTANT and last.compaction is None

    def compaction(self, boundary: int | None = None, **facts: Any) -> int:
        """A recorded compaction before the next request; its index.

        ``boundary`` is the first message that stays, by default the next one; without a recorder's figure,
        ``tokens_before`` is what the request before it weighed with its output.
        """
        before = self.requests[-1].usage if self.requests else None
        place = len(self.messages) if boundary is None else boundary
        defaults = {
            "request": len(self.requests),
            "tokens_before": before.context + before.output if before else None,
            "outside": place == 0,
        }
        self.compactions.append(RecordedCompaction(boundary=place, **{**defaults, **facts}))
        return len(self.compactions) - 1

    def transcript(self, id: str, format: str, **facts: Any) -> Transcript:  # noqa: A002  the words of Transcript
        """The session; model, title and times are taken from what was added unless ``facts`` name them."""
        times = [message.timestamp for message in self.messages if message.timestamp is not None]
        models = Counter(request.model for request in self.requests if request.model)
        named = {name: value for name, value in facts.items() if value}
        defaults = {
            "title": self.title,
            "model": models.most_common(1)[0][0] if models else "",
            "started_at": min(times, default=None),
            "ended_at": max(times, default=None),
            "warnings": tuple(self.warnings),
            "errors": once(error_at(what, at, n, self.requests) for what, at, n in self.refused),
        }
        return Transcript(
            id=id,
            format=format,
            messages=tuple(self.messages),
            requests=tuple(self.requests),
            compactions=tuple(self._settled(compaction) for compaction in self.compactions),
            **{**defaults, **named},
        )

    def _settled(self, compaction: RecordedCompaction) -> RecordedCompaction:
        at = compaction.request
        after = self.requests[at].usage if at < len(self.requests) else None
        return replace(compaction, tokens_after=after.context if after else None)

    def _unique(self, native: str, origins: Sequence[Origin], index: int) -> str:
        line = origins[0].line if origins else 0
        whole = not (origins and origins[0].path)
        found = native or (f"L{line}" if whole else f"L{line}.{index}")
        if found in self._taken:
            found = f"L{line}.{index}"
        while found in self._taken:
            found += "+"
        self._taken.add(found)
        return found


def with_unique_ids(transcripts: Iterable[Transcript]) -> tuple[Transcript, ...]:
    """The same sessions; one whose id another already has gets its position added."""
    taken: set[str] = set()
    found = []
    for position, transcript in enumerate(transcripts):
        unique = transcript.id
        while unique in taken:
            unique = f"{unique}.{position}"
        taken.add(unique)
        found.append(transcript if unique == transcript.id else replace(transcript, id=unique))
    return tuple(found)
