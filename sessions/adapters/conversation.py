"""A message list as one text for a model to read: what summaries and judges are shown.

As text and not as turns, so that any provider's recording can be shown, a list that starts in the middle is no invalid
request, and the model reads the conversation instead of continuing it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.transcript.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.engine.transcript.types import Content


@dataclass(frozen=True, slots=True)
class Said:
    """One message with its text; ``index`` is its position, as the reader may be asked about it."""

    index: int
    role: str
    contents: tuple[Content, ...]


def as_text(messages: Iterable[Said]) -> str:
    """The messages, one element each; thinking is left out, media are named by their type."""
    return "\n".join(
        f'<message index="{said.index}" role="{said.role}">\n{body}\n</message>'
        for said in messages
        if (body := "\n".join(line for content in said.contents if (line := _line(content))))
    )


def _line(content: Content) -> str:
    match content.kind:
        case Kind.TEXT:
            return content.text
        case Kind.TOOL_USE:
            return f"[tool call: {content.name} {content.text}]"
        case Kind.TOOL_RESULT:
            parts = (content.text, *(_line(part) for part in content.parts))
            said = "\n".join(part for part in parts if part)
            return f"[tool result{', failed' if content.is_error else ''}:\n{said}]"
        case Kind.IMAGE | Kind.DOCUMENT:
            shown = content.text or "\n".join(_line(part) for part in content.parts)
            named = f"[{content.kind.value}: {content.media_type or content.url or 'of an unknown type'}]"
            return f"{named}\n{shown}" if shown else named
        case _:
            return ""
