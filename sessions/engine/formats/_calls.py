"""One model call as a trace or a proxy recorded it: what was sent, what came back, what it cost (formats 16, 20)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.engine.types import Content, Origin, Role, Usage


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
    ``compacted`` what the server's own compaction took in (0 unknown), None where there was none.
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
    compacted: int | None = None


def answered(calls: Iterable[TracedCall]) -> list[TracedCall]:
    """The calls in order of time, without those that failed: no reply and no usage (replay-semantics 1)."""
    found = sorted(calls, key=lambda call: call.timestamp or 0)
    return [call for call in found if call.replied or call.usage] or found[-1:]


def _key(content: Content) -> tuple[object, ...]:
    """What makes two blocks the same although one is an echo: not the thinking, not how arguments are written."""
    if content.kind is Kind.THINKING:
        return ()
    if content.kind is Kind.TOOL_USE:
        return (content.kind, content.name, content.call_id or "".join(content.text.split()))
    parts = tuple(part for inner in content.parts for part in _key(inner))
    return (content.kind, content.call_id, content.text.strip(), content.data, content.url, parts)
