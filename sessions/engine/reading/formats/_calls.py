"""One model call as a trace or a proxy recorded it: what was sent, what came back, what it cost (formats 16, 20)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from sessions.engine.reading.formats._server_edits import ServerEdits
from sessions.engine.transcript.types import Content, Kind, Origin, Role, Usage

T = TypeVar("T")
MAX_ANCESTORS = 100


@dataclass(slots=True)
class CallMessage:
    """One message of a call, with its blocks while the file is read."""

    role: Role
    contents: tuple[Content, ...]
    origins: tuple[Origin, ...]
    id: str = ""
    key: int = 0
    calls: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.key = hash((self.role, tuple(part for content in self.contents for part in _key(content))))
        self.calls = frozenset(c.call_id for c in self.contents if c.kind is Kind.TOOL_USE and c.call_id)


@dataclass(slots=True)
class TracedCall:
    """One model call: what was sent, what came back, what it cost.

    ``caller`` is the tool call it was made inside, ``continues`` the response whose history the server keeps for it,
    ``edits`` what the provider's side did to the context in it.  ``span`` is its own id, ``above`` those of the spans
    around it up to a tool or an agent, ``is_counted`` says that the usage is the provider's own and no tracer's
    estimate.
    """

    sent: list[CallMessage]
    replied: list[CallMessage]
    usage: Usage | None = None
    model: str = ""
    response_id: str = ""
    timestamp: float | None = None
    group: str = ""
    caller: str = ""
    system: tuple[Content, ...] = ()
    continues: str = ""
    edits: ServerEdits = field(default_factory=ServerEdits)
    span: str = ""
    trace: str = ""
    above: tuple[str, ...] = ()
    is_counted: bool = False


def ancestors(parent: str, by_id: Mapping[str, T], parent_of: Callable[[T], str]) -> list[T]:
    """What stands above something whose parent is ``parent``, the nearest first; a ring ends somewhere."""
    found: list[T] = []
    above = by_id.get(parent)
    while above is not None and len(found) < MAX_ANCESTORS:
        found.append(above)
        above = by_id.get(parent_of(above))
    return found


def answered(calls: Iterable[TracedCall]) -> list[TracedCall]:
    """The calls in order of time, without those that failed: no reply, usage or error (replay-semantics 1)."""
    found = sorted(calls, key=lambda call: call.timestamp or 0)
    return [call for call in found if call.replied or call.usage or call.edits.error] or found[-1:]


def one_layer(calls: Sequence[TracedCall]) -> list[TracedCall]:
    """Each call once, where spans of two layers describe it: the inner one stays, the outer one wraps it.

    What the outer span of a single call says better is taken from it: messages with roles and calls, and usage as the
    provider counted it (formats 16).
    """
    by_span = {call.span: call for call in calls if call.span}
    wrappers = {span for call in calls for span in call.above if span in by_span} - {""}
    inner = [call for call in calls if not call.span or call.span not in wrappers]
    n_inside = Counter(span for call in inner for span in set(call.above))
    for call in inner:
        for span in call.above:
            outer = by_span.get(span)
            if outer is not None and outer is not call:
                _take(call, outer, is_alone=n_inside[span] == 1)
    return inner


def _take(call: TracedCall, outer: TracedCall, *, is_alone: bool) -> None:
    call.system, call.model = call.system or outer.system, call.model or outer.model
    call.caller = call.caller or outer.caller
    if not is_alone:
        return
    if _told(outer.sent) > _told(call.sent):
        call.sent = outer.sent
    if _told(outer.replied) > _told(call.replied):
        call.replied = outer.replied
    if not call.usage or (outer.is_counted and not call.is_counted):
        call.usage, call.is_counted = outer.usage, outer.is_counted


def _told(messages: Sequence[CallMessage]) -> tuple[int, int, int]:
    """How well messages are told: calls and results, no opaque blocks, then how many they are."""
    kinds = [content.kind for said in messages for content in said.contents]
    n_tool = kinds.count(Kind.TOOL_USE) + kinds.count(Kind.TOOL_RESULT)
    return n_tool, -kinds.count(Kind.OPAQUE), len(messages)


def _key(content: Content) -> tuple[object, ...]:
    """What makes two blocks the same although one is an echo: not the thinking, not how arguments are written."""
    if content.kind is Kind.THINKING:
        return ()
    if content.kind is Kind.TOOL_USE:
        return (content.kind, content.name, content.call_id or "".join(content.text.split()))
    parts = tuple(part for inner in content.parts for part in _key(inner))
    return (content.kind, content.call_id, content.text.strip(), content.data, content.url, parts)
