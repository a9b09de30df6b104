"""One API's messages, its requests and replies, and the session that they make (see ``_exchanges``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sessions.engine.reading.formats import Sniff
from sessions.engine.reading.formats._provider_errors import Refusal
from sessions.engine.reading.formats._records import inside
from sessions.engine.reading.formats._thread import Thread
from sessions.engine.reading.formats._values import Measured, Record
from sessions.engine.transcript.types import Content, Origin, Role, Usage


@dataclass(frozen=True, slots=True)
class Wire:
    """How one API writes a message: its blocks, its role, whether it stands for what was compacted.

    ``prefills``: assistant messages at the end of a request begin the pending reply.  ``stands_alone``: a summary is
    sent with what stands before it in the list, and the model's answer to it was never asked for.  ``is_meta``: the
    client's own words.  ``n_cleared``: how many results the client had cleared before it sent them.
    """

    contents: Callable[[Any], tuple[Content, ...]]
    role: Callable[[Any], Role]
    is_summary: Callable[[Any], bool] = lambda _: False
    prefills: bool = False
    stands_alone: bool = False
    is_meta: Callable[[Any], bool] = lambda _: False
    n_cleared: Callable[[tuple[Content, ...]], int] = lambda _: 0


@dataclass(frozen=True, slots=True)
class Part:
    """A message as it stands in the file."""

    value: Any
    origin: Origin
    timestamp: float | None = None


@dataclass(slots=True)
class Exchange:
    """One request and its reply; ``reply`` is None where it is not in the file.

    ``follows`` names the response that the server continues, so that only what is new was sent; ``replaces`` says that
    the reply is the new list (a compaction call); ``is_log`` that this is a record and nothing is pending; ``error``
    what was told in place of an answer.
    """

    sent: Sequence[Part] = ()
    reply: Sequence[Part] | None = None
    usage: Usage | None = None
    model: str = ""
    response_id: str = ""
    timestamp: float | None = None
    follows: str = ""
    replaces: bool = False
    is_log: bool = False
    system: tuple[Content, ...] = ()
    notes: tuple[str, ...] = ()
    error: Refusal | None = None
    trigger_at: int | None = None


@dataclass(slots=True)
class Conversation:
    """One session in the making; ``live`` are the places of what the newest list holds."""

    wire: Wire
    measure: Measured
    thread: Thread = field(default_factory=Thread)
    live: list[int] = field(default_factory=list)
    replies: set[int] = field(default_factory=set)
    system: tuple[Content, ...] = ()
    models: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    trigger_at: int | None = None
    n_cleared: int = 0
    pending: Exchange | None = None
    _keys: tuple[list[int], int, set[int]] = field(default_factory=lambda: ([], 0, set()))

    def holds(self, key: int) -> bool:
        """Whether the newest list has an entry of this key, system messages apart."""
        entries, (live, n_known, keys) = self.thread.entries, self._keys
        if live is not self.live:
            n_known, keys = 0, set()
        fresh = (entries[place] for place in self.live[n_known:])
        keys.update(entry.key for entry in fresh if entry.role is not Role.SYSTEM)
        self._keys = self.live, len(self.live), keys
        return key in keys


def parts_at(values: Iterable[Any], at: Origin) -> list[Part]:
    """Each value of a list with its place."""
    return [Part(value, inside(at, position)) for position, value in enumerate(values)]


def log_at(values: Iterable[Any], at: Origin) -> Exchange:
    """A list of messages that is a record, without any request."""
    return Exchange(parts_at(values, at), is_log=True)


def pair_in(
    document: Record, is_request: Callable[[Record], object], is_response: Callable[[Record], object]
) -> tuple[Record | None, Record | None]:
    """The request and the response in ``document``, or what it is itself; None for what is not there."""
    held = document.get("request"), document.get("response")
    request, response = held if any(isinstance(body, dict) for body in held) else (document, document)
    return (
        request if isinstance(request, dict) and is_request(request) else None,
        response if isinstance(response, dict) and is_response(response) else None,
    )


def bodies_at(document: Record, whole: Origin) -> tuple[Origin, Origin]:
    """Where the request and the response of ``pair_in`` stand."""
    named = any(isinstance(document.get(key), dict) for key in ("request", "response"))
    return (inside(whole, "request"), inside(whole, "response")) if named else (whole, whole)


def closest(shapes: Iterable[Sniff | None], what: str) -> Sniff | None:
    """The surest guess of those about the items of a list, which is ``what``; None where none is sure of any."""
    best = max(filter(None, shapes), key=lambda shape: shape.score, default=None)
    return Sniff(best.score - 5, f"{what}; one item is {best.reason}") if best and best.score > 0 else None
