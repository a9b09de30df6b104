"""What the overhead is made of, as far as the transcript shows it, and standing content among the messages.

The overhead (system prompt, tools, what the harness hides) is one number: the first measured context less its
messages.  A file that holds the system prompt or the tool definitions names parts of it; what is left is named for
what it is.  Skill lists, deferred tools, memory and the like are messages, which the overhead does not hold: they are
named too, with their message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.reading.noted_events import CONTEXT_HEAD, context_output
from sessions.engine.transcript.types import Label, Role
from sessions.engine.weigh.calibration.weighed import Weighed

if TYPE_CHECKING:
    from sessions.engine.reading.texts import Texts

REST = "not in the transcript"
STANDING = {
    "skill_listing": "skill list", "deferred_tools_delta": "deferred tools", "agent_listing_delta": "agent list",
    "mcp_instructions_delta": "MCP instructions", "nested_memory": "memory", "memory": "memory",
}  # fmt: skip
"""Attachments that stand for the whole session, by what they are."""


class OverheadPart(NamedTuple):
    """A part by name, in tokens; ``message`` is where it stands among the messages, None for a part of the overhead."""

    name: str
    tokens: int
    label: Label
    message: int | None = None


def overhead_parts(weighed: Weighed, texts: Texts | None = None) -> tuple[OverheadPart, ...]:
    """Parts of the overhead, adding up to it, then standing messages; empty where it is unknown and none stand.

    With ``texts``, the output of Claude Code's ``/context`` names its parts: the client's own estimates.
    """
    inside = _from_context_output(weighed, texts) or _from_system(weighed)
    whole = sum(part.tokens for part in inside)
    if whole > weighed.overhead:
        # Providers write tool definitions shorter than the JSON in the file: shares of what was measured.
        inside = [p._replace(tokens=p.tokens * weighed.overhead // whole, label=Label.ESTIMATED) for p in inside]
        whole = sum(part.tokens for part in inside)
    if weighed.overhead > whole:
        inside.append(OverheadPart(REST, weighed.overhead - whole, weighed.overhead_label))
    return (*inside, *_standing(weighed))


def _from_system(weighed: Weighed) -> list[OverheadPart]:
    """The system prompt and each tool definition that the file holds."""
    parts: dict[str, int] = {}
    for block in weighed.transcript.system:
        name = f"tool {block.name}" if block.name else "system prompt"
        parts[name] = parts.get(name, 0) + block.n_tokens
    return [OverheadPart(name, round(n * weighed.ratio), weighed.ratio_label) for name, n in parts.items() if n]


def _from_context_output(weighed: Weighed, texts: Texts | None) -> list[OverheadPart]:
    """What the newest output of ``/context`` in the messages says, without messages and free space."""
    if texts is None:
        return []
    for message in reversed(weighed.transcript.messages):
        if message.role is Role.USER and CONTEXT_HEAD in message.preview:
            found = context_output(texts.plain(message))
            if found:
                return [OverheadPart(name, tokens, Label.ESTIMATED) for name, tokens in found.items()]
    return []


def _standing(weighed: Weighed) -> Iterator[OverheadPart]:
    for message in weighed.transcript.messages:
        if message.attachment in STANDING:
            name, index = STANDING[message.attachment], message.index
            yield OverheadPart(name, weighed.tokens[index], weighed.labels[index], index)
