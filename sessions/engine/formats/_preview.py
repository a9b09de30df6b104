"""The few characters of a message that lists show, and the title of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine import limits
from sessions.engine.types import Content, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

TITLE_CHARS = 80
_LOOK_CHARS = 4 * limits.PREVIEW_CHARS


def preview_of(contents: Iterable[Content]) -> str:
    """One line of at most ``limits.PREVIEW_CHARS`` characters, without control characters."""
    said: list[str] = []
    n_chars = 0
    for content in contents:
        words = _words(content)
        if words:
            said.append(words)
            n_chars += len(words)
        if n_chars >= limits.PREVIEW_CHARS:
            break
    return " · ".join(said)[: limits.PREVIEW_CHARS]


def title_of(text: str) -> str:
    """The first line of ``text`` that says something, at most 80 characters."""
    return next((flat for line in text.splitlines() if (flat := _flat(line))), "")[:TITLE_CHARS]


def _words(content: Content) -> str:
    if content.kind is Kind.TOOL_USE:
        return f"{content.name}: {_flat(content.target or content.text)}"[: limits.PREVIEW_CHARS]
    if content.kind is Kind.TOOL_RESULT and content.parts:
        return preview_of(content.parts)
    if content.kind in (Kind.IMAGE, Kind.DOCUMENT) and not content.text:
        return f"[{content.kind} {content.media_type or content.url[:80]}]"
    return _flat(content.text)


def _flat(text: str) -> str:
    printable = "".join(char if char.isprintable() else " " for char in text[:_LOOK_CHARS])
    return " ".join(printable.split())
