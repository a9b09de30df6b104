"""A session in the making: messages, model calls and compactions in file order, before indices are known.

Formats whose records form branches collect a ``Thread``; ``session_of`` makes an ``Assembly`` of it.  Entries that left
the conversation (rolled back, on another branch) are ``dropped``: their calls are counted, but off the branch.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sessions.engine.reading.formats._assembly import Assembly, Kept
from sessions.engine.reading.formats._blocks import preview_of, prompt_title
from sessions.engine.reading.formats._branch import Clearing, next_on_branch
from sessions.engine.reading.formats._provider_errors import Refusal, Telling, Told
from sessions.engine.reading.formats._values import Measured
from sessions.engine.transcript.types import (
    Block,
    Content,
    Message,
    Origin,
    RecordedCompaction,
    Request,
    Role,
    Transcript,
    Usage,
)

LEFT = "Messages on branches that the session left"


@dataclass(slots=True)
class Entry:
    """A message in the making; two with the same ``key`` say the same."""

    origins: tuple[Origin, ...]
    role: Role
    blocks: tuple[Block, ...]
    preview: str
    key: int = 0
    native_id: str = ""
    timestamp: float | None = None
    title: str = ""
    typed: bool = False
    meta: bool = False
    summary: bool = False
    compaction: int | None = None
    dropped: bool = False


def entry_of(
    contents: Sequence[Content],
    role: Role,
    origin: Origin,
    measure: Measured,
    *,
    prompt: bool = False,
    meta: bool = False,
    **more: Any,
) -> Entry:
    """A message in the making; a ``prompt`` is typed and gives a title, unless it is ``meta``, the client's words."""
    typed = prompt and not meta
    said = measure(contents), preview_of(contents)
    title = prompt_title(contents) if typed else ""
    return Entry((origin,), role, *said, title=title, typed=typed, meta=meta, **more)


@dataclass(slots=True)
class Call:
    """A model call: entries ``first`` to ``stop`` are its reply, the same where nothing of it was recorded.

    ``failed``: aborted or failed without usage, which is not a request; ``aborted``: with usage, but never sent again;
    ``window`` as for a Request.
    """

    first: int
    stop: int
    model: str = ""
    timestamp: float | None = None
    usage: Usage | None = None
    failed: bool = False
    response_id: str = ""
    aborted: bool = False
    provider: str = ""
    window: int = 0


@dataclass(slots=True)
class Mark:
    """A compaction: entries below ``boundary`` left the context except ``preserved``; ``n_calls`` came before it.

    ``tokens_before`` and ``tokens_after`` are the recorder's own figures; ``outside`` says that what it removed is not
    in the file, None that this depends on whether anything stands before it.
    """

    boundary: int
    n_calls: int
    preserved: list[int] = field(default_factory=list)
    summary: int | None = None
    trigger: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    outside: bool | None = None


@dataclass(slots=True)
class Thread(Telling):
    """What a format collects of one session."""

    entries: list[Entry] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    refused: list[Told] = field(default_factory=list)
    cleared: list[tuple[Clearing, int, int]] = field(default_factory=list)

    def add(self, entry: Entry) -> int:
        """A message at the end; its place."""
        self.entries.append(entry)
        return len(self.entries) - 1

    def clear(self, clearing: Clearing) -> None:
        """Note a clearing where the reading stands."""
        self.cleared.append((clearing, len(self.entries), len(self.calls)))

    def refuse(self, refusal: Refusal | None) -> None:
        """Note an error where the reading stands; None is no error."""
        if refusal is not None:
            self.refused.append((refusal, len(self.entries), len(self.calls)))


def session_of(thread: Thread, *, id: str = "", left: str = LEFT, **facts: Any) -> Transcript:  # noqa: A002  a field
    """The session that a thread makes, on its branch: messages, compactions, and all requests in file order.

    ``left`` names the messages that were dropped.  See ``Assembly.transcript`` for ``facts``; the title is by default
    the first that an entry has (replay-semantics 1).
    """
    kept = [place for place, entry in enumerate(thread.entries) if not entry.dropped]
    calls = [(n, call) for n, call in enumerate(thread.calls) if not call.failed]
    numbers = [n for n, _ in calls]
    made, n_left = Assembly(lambda _: ()), len(thread.entries) - len(kept)
    made.warnings += facts.pop("warnings", ())
    made.note(n_left, f"{left}: {n_left}; their requests are counted")
    taken: set[str] = set()
    for index, entry in enumerate(thread.entries[place] for place in kept):
        native = _unique_id(entry, taken)
        said = entry.role, entry.blocks, entry.origins, entry.preview, entry.timestamp, entry.typed, entry.meta
        made.messages.append(Message(index, native, *said, summary=entry.summary, compaction=entry.compaction))
    made.requests = [_request(i, call, kept, len(thread.entries)) for i, (_, call) in enumerate(calls)]
    indices, kept_in_all = {place: index for index, place in enumerate(kept)}, Kept()
    for mark in thread.marks:
        summary = None if mark.summary is None else indices.get(mark.summary)
        preserved = kept_in_all.of(indices[place] for place in mark.preserved if place in indices)
        made.compactions.append(_compaction(mark, kept, numbers, made.requests, message=summary, preserved=preserved))
    made.refused = [(what, bisect_left(kept, at), bisect_left(numbers, n)) for what, at, n in thread.refused]
    made.cleared = [(what, bisect_left(kept, at), bisect_left(numbers, n)) for what, at, n in thread.cleared]
    made.title = next((thread.entries[place].title for place in kept if thread.entries[place].title), "")
    return made.transcript(id, **facts)


def _unique_id(entry: Entry, taken: set[str]) -> str:
    """The native id unless there is none or it is ``taken``, else the place with as many primes as it takes."""
    origin, found = entry.origins[0], entry.native_id
    if not found or found in taken:
        found = ".".join([f"L{origin.line}", *(str(step) for step in origin.path if isinstance(step, int))])
    while found in taken:
        found += "'"
    taken.add(found)
    return found


def _request(index: int, call: Call, kept: Sequence[int], n_entries: int) -> Request:
    """A call; one without recorded reply is on the branch only at the end, where it has seen all messages."""
    first = bisect_left(kept, call.first)
    n_messages = bisect_left(kept, call.stop) - first
    message, on_branch = first if n_messages else None, n_messages > 0 or call.first == call.stop == n_entries
    facts = call.response_id, call.model, call.timestamp
    own = call.aborted, call.provider, call.window
    return Request(index, message, call.usage, on_branch, *facts, max(1, n_messages), *own)


def _compaction(
    mark: Mark, kept: Sequence[int], numbers: Sequence[int], requests: Sequence[Request], **facts: Any
) -> RecordedCompaction:
    n_before, boundary = bisect_left(numbers, mark.n_calls), bisect_left(kept, mark.boundary)
    earlier = (requests[i] for i in range(n_before - 1, -1, -1))
    before = next((r.usage for r in earlier if r.on_branch and r.usage), None)
    computed = before.context + before.output if before else None
    return RecordedCompaction(
        boundary=boundary,
        request=next_on_branch(requests, n_before),
        trigger=mark.trigger,
        tokens_before=computed if mark.tokens_before is None else mark.tokens_before,
        tokens_after=mark.tokens_after,
        outside=not boundary if mark.outside is None else mark.outside,
        **facts,
    )
