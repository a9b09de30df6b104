"""Puts a session together entry by entry: messages with unique ids, requests, compactions (replay-semantics 1).

For formats that are read in one pass over a list; the positions of a compaction follow from what was added before it.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import filterfalse
from operator import itemgetter
from typing import Any

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.base.limits import MAX_KEPT
from sessions.engine.reading.formats import _blocks as blocks
from sessions.engine.reading.formats._branch import Clearing, clearing_at
from sessions.engine.reading.formats._provider_errors import Refusal, Telling, Told, is_between, settled
from sessions.engine.reading.formats._records import misread
from sessions.engine.reading.formats._values import Measured, Record
from sessions.engine.transcript.lazy_messages import LazyMessages
from sessions.engine.transcript.recorded_events import CUTS, EventKind, RecordedEvent
from sessions.engine.transcript.types import (
    Content,
    Message,
    Origin,
    Parsed,
    RecordedCompaction,
    Request,
    Role,
    Transcript,
    Usage,
)


class Kept:
    """Lists of what the compactions of one session keep: each names its messages, and a file may name all in each."""

    def __init__(self) -> None:
        self._n = 0

    def of(self, messages: Iterable[int], gone: Collection[int] = frozenset()) -> tuple[int, ...]:
        """The messages that are not gone.  Raises UnreadableInput where a session keeps more than ``MAX_KEPT``."""
        found = tuple(filterfalse(gone.__contains__, messages))
        self._n += len(found)
        if self._n > MAX_KEPT:
            reason = f"its compactions keep more than {MAX_KEPT:,} messages together"
            raise UnreadableInput(reason, next_step="Upload a part of the session")
        return found


@dataclass(slots=True)
class Piece:
    """Values of a file that are one message so far, and where they stand."""

    role: Role
    values: list[Any] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)

    def add(self, value: Any, origin: Origin) -> None:
        """One value more."""
        self.values.append(value)
        self.origins.append(origin)


class Assembly(Telling):
    """One session in the making; ``hidden`` messages are marked as out of the context before their compaction shows."""

    def __init__(self, measure: Measured) -> None:
        self.measure = measure
        self.messages: list[Message] = []
        self.requests: list[Request] = []
        self.compactions: list[RecordedCompaction] = []
        self.warnings: list[str] = []
        self.refused: list[Told] = []
        self._newest_refused: dict[tuple[str, int], int] = {}
        self._boundaries: list[int] = []
        self._kept = Kept()
        self.summaries: list[int] = []
        self.cleared: list[tuple[Clearing, int, int]] = []
        self.title = ""
        self.gone: set[int] = set()
        self.hidden: set[int] = set()
        self.by_id: dict[str, int] = {}
        self._taken: set[str] = set()
        self._responses: set[str] = set()
        self._run_open = False
        self.spent = 0.0
        """What the file says that its calls cost, in dollars."""

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
        """A message at the end; its index.  ``typed`` None asks ``is_prompt``; ``facts`` are others of Message."""
        index = len(self.messages)
        if typed is None:
            typed = role is Role.USER and blocks.is_prompt(contents)
        message = Message(
            index=index,
            id=self._unique(id, origins, index),
            role=role,
            blocks=self.measure(contents),
            origins=tuple(origins),
            preview=facts.pop("preview", "") or blocks.preview_of(contents),
            typed=typed,
            **facts,
        )
        self.messages.append(message)
        if message.summary:
            self.summaries.append(index)
        if typed:
            self.title = blocks.first_title((self.title, blocks.prompt_title(contents)))
        return index

    def reply(
        self,
        contents: Sequence[Content],
        origins: Sequence[Origin],
        *,
        response_id: str = "",
        usage: Usage | None = None,
        model: str = "",
        provider: str = "",
        window: int = 0,
        **facts: Any,
    ) -> int:
        """An assistant's message; its index.

        It makes a request, unless an earlier message has its response id or, without ids, is of the same run
        (replay-semantics 1); that has ``provider`` and ``window``.
        """
        same_run = self.follows_reply() and self._run_open and not response_id
        index = self.add(Role.ASSISTANT, contents, origins, **facts)
        if not same_run and (not response_id or response_id not in self._responses):
            said = {"response_id": response_id, "model": model, "provider": provider, "window": window}
            self.request(index, usage, **said)
        elif (last := self.requests[-1]).response_id == response_id and last.message is not None:
            follows = last.message + last.n_messages == index
            self.requests[-1] = replace(last, n_messages=last.n_messages + follows)
        self._responses.add(response_id)
        self._run_open = not response_id
        return index

    def answer(self, contents: Sequence[Content], origins: Sequence[Origin], **facts: Any) -> int:
        """A reply that makes a request of its own, whatever stands before it; its index."""
        self.end_run()
        return self.reply(contents, origins, **facts)

    def say(
        self,
        role: Role,
        contents: Sequence[Content],
        origins: Sequence[Origin],
        call: Record | None = None,
        **facts: Any,
    ) -> int:
        """A reply where it is the assistant's, ``call`` then says more of its request; else another's message."""
        if role is Role.ASSISTANT:
            return self.reply(contents, origins, **(call or {}), **facts)
        return self.add(role, contents, origins, **facts)

    def end_run(self) -> None:
        """Let the next reply make a request of its own, though nothing stands between it and the last."""
        self._run_open = False

    def request(self, message: int | None, usage: Usage | None = None, **facts: Any) -> int:
        """A request whose reply is ``message``; its index.  ``facts`` are other fields of Request."""
        index = len(self.requests)
        if message is not None and "timestamp" not in facts:
            facts["timestamp"] = self.messages[message].timestamp
        self.requests.append(Request(index, message, usage, **facts))
        return index

    def refuse(self, refusal: Refusal | None) -> None:
        """Note the error of the request after what was added so far; None is no error."""
        if refusal is not None:
            self.refused.append((refusal, len(self.messages), len(self.requests)))
            self._newest_refused[refusal.kind, len(self.requests)] = len(self.messages)

    def refuse_once(self, refusal: Refusal) -> None:
        """Note the refusal that a compaction's cause tells, unless its error stands before it already."""
        known = self._newest_refused.get((refusal.kind, len(self.requests)))
        if known is None or is_between(self._boundaries, known, len(self.messages)):
            self.refuse(refusal)

    def note(self, some: object, words: str) -> None:
        """Warn with these words where there is some of what they are about."""
        if some:
            self.warnings.append(words)

    def clear(self, clearing: Clearing) -> None:
        """Note that content was cleared in place here."""
        self.cleared.append((clearing, len(self.messages), len(self.requests)))

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
        insort(self._boundaries, place)
        self.compactions.append(RecordedCompaction(boundary=place, **{**defaults, **facts}))
        return len(self.compactions) - 1

    def remember(self, native_id: str, index: int) -> None:
        """Keep a message's native id in ``by_id``, where readers find it again; the first of equal ids counts."""
        if native_id:
            self.by_id.setdefault(native_id, index)

    def forget(self, gone: Iterable[int], boundary: int | None = None, **facts: Any) -> int:
        """A recorded compaction that takes ``gone`` out of what earlier ones left in the context; its index."""
        place = len(self.messages) if boundary is None else boundary
        self.gone.update(gone)
        return self.compaction(place, preserved=self._kept.of(range(place), self.gone), **facts)

    def next_request(self, compaction: int) -> None:
        """Let ``compaction`` come before the next request, though one was added since (the summary's own call)."""
        self.compactions[compaction] = replace(self.compactions[compaction], request=len(self.requests))

    def summary(self, contents: Sequence[Content], origins: Sequence[Origin], compaction: int, **facts: Any) -> int:
        """The summary that a compaction made, a user's message in place of an earlier summary; its index."""
        self.gone.update(self.summaries)
        self.summaries.clear()
        index = self.add(
            Role.USER, contents, origins, **{"typed": False, "summary": True, "compaction": compaction, **facts}
        )
        made = self.compactions[compaction]
        kept = self._kept.of(made.preserved, self.gone)
        self.compactions[compaction] = replace(made, message=index, preserved=kept)
        return index

    def transcript(self, id: str, **facts: Any) -> Transcript:  # noqa: A002  the words of Transcript
        """The session; model, title, window and times are of what was added unless ``facts`` name them.

        ``room`` among them is the window where no request has one of its own.  The format's name is given by whoever
        chose it (``read_transcripts``).
        """
        room = facts.pop("room", None)
        boundaries = {compaction.boundary for compaction in self.compactions}
        errors, events = settled(self.refused, self.requests, boundaries)
        clearings = tuple(clearing_at(what, at, n, self.requests) for what, at, n in self.cleared)
        own = {
            "title": self.title, "warnings": tuple(self.warnings), "errors": errors, "clearings": clearings,
            "stated_usd": self.spent or None,
        }  # fmt: skip
        facts = own | {"events": events, "window": main_window(r.window for r in self.requests) or room} | _named(facts)
        requests = [replace(r, window=0) if r.window == facts["window"] else r for r in self.requests]
        compactions = [self._settled(compaction) for compaction in self.compactions]
        return transcript_of(self.messages, requests, compactions, id=id, **facts)

    def _settled(self, compaction: RecordedCompaction) -> RecordedCompaction:
        after = self.requests[compaction.request].usage if compaction.request < len(self.requests) else None
        return replace(compaction, tokens_after=after.context) if after else compaction

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


def with_room(transcript: Transcript, policy: str, *, cuts: bool) -> Transcript:
    """The session with the room that its server gave the model, and what that does with more: ``cuts`` a prompt."""
    if not transcript.window:
        return transcript
    words = f"the model is loaded with {transcript.window:,} tokens; {policy}"
    settings = RecordedEvent(EventKind.SETTINGS, 0, 0, words, CUTS if cuts else "")
    return replace(transcript, events=(settings, *transcript.events))


def main_window(windows: Iterable[int]) -> int | None:
    """The window that most of them name; None where none does."""
    return max(Counter(filter(None, windows)).items(), key=itemgetter(1), default=(None, 0))[0]


def transcript_of(
    messages: Sequence[Message],
    requests: Sequence[Request],
    compactions: Sequence[RecordedCompaction],
    *,
    otherwise: str = "",
    **facts: Any,
) -> Transcript:
    """A session of these, with its times and the model that most requests name where ``facts`` do not say."""
    known = facts.get("started_at") and facts.get("ended_at")
    times = [] if known else [message.timestamp for message in messages if message.timestamp is not None]
    models = Counter(request.model for request in requests if request.model)
    defaults: dict[str, Any] = {
        "id": "",
        "format": "",
        "model": models.most_common(1)[0][0] if models else otherwise,
        "started_at": min(times, default=None),
        "ended_at": max(times, default=None),
    }
    return Transcript(
        messages=messages if isinstance(messages, LazyMessages) else tuple(messages),
        requests=tuple(requests),
        compactions=tuple(compactions),
        **(defaults | _named(facts)),
    )


def _named(facts: Record) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value}


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


def read_as(sessions: Iterable[Transcript], missing: str = "", **facts: Any) -> Parsed:
    """The sessions that hold messages, each with an id of its own; ``facts`` are other fields of Parsed.

    Raises UnreadableInput where there is none and ``missing`` says what a file of the format has to have.
    """
    kept = with_unique_ids(session for session in sessions if session.messages)
    if missing and not kept:
        raise misread(missing)
    return Parsed(kept, **facts)
