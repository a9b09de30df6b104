"""The few characters of a message that lists show, and the title of a session."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sessions.engine.base import limits
from sessions.engine.transcript.types import Content, Kind

_COMMAND = re.compile(r"<command-name>([^<]*)</command-name>")
_ARGUMENTS = re.compile(r"<command-args>([^<]*)</command-args>")
_COMMAND_LINE = re.compile(r"/[a-z][\w:.-]*(?: .*)?")
_LEAD = re.compile(r"(?:please )?implement the following plan:?", re.IGNORECASE)
_LOOK_LINES = 200
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
    """The first line of ``text`` that says something, at most 80 characters, cut between words.

    What introduces a plan says nothing where the plan follows.
    """
    lines = [flat for line in text.splitlines()[:_LOOK_LINES] if (flat := _flat(line))]
    said = next((plain for line in lines if not _LEAD.fullmatch(line) and (plain := line.lstrip("# "))), "")
    return _cut(said or (lines[0] if lines else ""))


def first_title(titles: Iterable[str]) -> str:
    """The first that somebody put in words; else the first, which is a command's name."""
    command = ""
    for title in titles:
        if title and not is_command(title):
            return title
        command = command or title
    return command


def is_command(title: str) -> bool:
    """Whether a title is no more than a command, as "/exit" and "/review 12"."""
    return _COMMAND_LINE.fullmatch(title) is not None


def _cut(line: str) -> str:
    """``line`` with at most ``limits.TITLE_CHARS`` characters; a single long word is cut as it comes."""
    if len(line) <= limits.TITLE_CHARS:
        return line
    whole = line[: limits.TITLE_CHARS].rpartition(" ")[0].rstrip(" ,;:-")
    return f"{whole}…" if whole else line[: limits.TITLE_CHARS]


def prompt_words(texts: Sequence[str]) -> str:
    """What the user typed among ``texts``: not what the client wrapped in tags around it, but its command's name."""
    plain = next((text for text in texts if text.strip() and not text.lstrip().startswith("<")), "")
    if not plain:
        plain = next((f"{match[1]} {_argument(text)}" for text in texts if (match := _COMMAND.search(text))), "")
    return plain[:_LOOK_CHARS]


def _argument(text: str) -> str:
    match = _ARGUMENTS.search(text)
    return match[1] if match else ""


def _words(content: Content) -> str:
    if content.kind is Kind.TOOL_USE:
        return f"{content.name}: {_flat(content.target or content.text)}"[: limits.PREVIEW_CHARS]
    if content.kind is Kind.TOOL_RESULT and content.parts:
        return preview_of(content.parts)
    if content.kind in (Kind.IMAGE, Kind.DOCUMENT) and not content.text:
        return f"[{content.kind} {content.media_type or content.url[:80]}]"
    return _flat(content.text)


def _flat(text: str) -> str:
    flat = " ".join(text[:_LOOK_CHARS].split())
    return flat if flat.isprintable() else "".join(char if char.isprintable() else " " for char in flat)
