"""What blocks of every format have in common: unknown ones, prompts, what a tool call is about, previews and titles."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any
from urllib.parse import unquote_to_bytes

from sessions.engine.base import limits
from sessions.engine.reading.formats._values import as_dict, as_list, first_text, parsed, text_of, written
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Message

_DATA_URI = re.compile(r"data:([^;,]*)(?:;[^;,]+)*?(;base64)?,", re.IGNORECASE)
_STARTS = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
    "JVBERi": "application/pdf",
}
TARGET_KEYS = ("file_path", "path", "notebook_path", "command", "pattern", "url")
TARGET_CHARS, MAX_ARGUMENT_CHARS = 200, 100_000
PAYLOAD_KEYS = ("encrypted_content", "encrypted_index", "signature")
_COMMAND = re.compile(r"<command-name>([^<]*)</command-name>")
_ARGUMENTS = re.compile(r"<command-args>([^<]*)</command-args>")
_COMMAND_LINE = re.compile(r"/[a-z][\w:.-]*(?: .*)?")
_LEAD = re.compile(r"(?:please )?implement the following plan:?", re.IGNORECASE)
_LOOK_LINES = 200
_LOOK_CHARS = 4 * limits.PREVIEW_CHARS


def media_link(link: str, media_type: str = "", kind: Kind | None = None, name: str = "") -> Content:
    """The image or document that ``link`` holds (a data URI, bare base64) or points to (anything else).

    A data URI without base64 is made base64.  ``media_type`` is what is declared beside it; without ``kind`` the media
    type decides, and says image where it is empty.
    """
    if match := _DATA_URI.match(link):
        declared, data = match[1] or media_type, link[match.end() :]
        if not match[2]:
            data = base64.b64encode(unquote_to_bytes(data)).decode("ascii")
        return Content(kind or _kind(declared), media_type=declared, data=data, name=name)
    guessed = next((found for start, found in _STARTS.items() if link.startswith(start)), "")
    declared, data, url = media_type or guessed, link if guessed else "", "" if guessed else link
    return Content(kind or _kind(declared), media_type=declared, data=data, url=url, name=name)


def base64_of(values: Any) -> str:
    """Base64 of bytes that are a list of numbers; nothing where it is none."""
    whole = isinstance(values, list) and all(isinstance(value, int) and 0 <= value < 256 for value in values)
    return base64.b64encode(bytes(values)).decode("ascii") if whole else ""


def _kind(media_type: str) -> Kind:
    return Kind.IMAGE if not media_type or media_type.startswith("image/") else Kind.DOCUMENT


def opaque(block: Any, name: str = "") -> Content:
    """An unknown block: its compact JSON, with encrypted parts of an object taken out as payload."""
    if not isinstance(block, dict):
        return Content(Kind.OPAQUE, text=dumps(block))
    payload = "".join(text_of(block.get(key)) for key in PAYLOAD_KEYS)
    rest = {key: value for key, value in block.items() if key not in PAYLOAD_KEYS} if payload else block
    return Content(Kind.OPAQUE, text=dumps(rest), name=name or text_of(block.get("type")), payload=payload)


def is_prompt(contents: Iterable[Content]) -> bool:
    """Whether a user's blocks can be a typed prompt: something said or shown, and no tool result."""
    kinds = {content.kind for content in contents}
    return Kind.TOOL_RESULT not in kinds and bool(kinds & {Kind.TEXT, Kind.IMAGE, Kind.DOCUMENT})


def target_of(arguments: Any) -> str:
    """The file, command, pattern or address a tool call names, at most 200 characters."""
    return first_text(as_dict(arguments), *TARGET_KEYS)[:TARGET_CHARS]


def blocks_of(content: Any, part: Callable[[Any], Content]) -> tuple[Content, ...]:
    """A message's ``content``: a string, a list of what ``part`` reads, or whatever else stands there."""
    if content is None or content == "":
        return ()
    if isinstance(content, str):
        return (Content(Kind.TEXT, text=content),)
    return tuple(part(value) for value in (content if isinstance(content, list) else [content]))


def plain_part(value: Any) -> Content:
    """A part where every known one is plain text."""
    return Content(Kind.TEXT, text=value) if isinstance(value, str) else opaque(as_dict(value))


def text_blocks(text: str, kind: Kind = Kind.TEXT, payload: str = "") -> tuple[Content, ...]:
    """The block of a text, none where it says nothing."""
    return (Content(kind, text=text, payload=payload),) if text or payload else ()


def joined(pieces: Iterable[Content]) -> tuple[Content, ...]:
    """Pieces of one text or thought that were streamed are one block."""
    found: list[Content] = []
    for kind, run in groupby(pieces, attrgetter("kind")):
        some = list(run)
        if len(some) > 1 and kind in (Kind.TEXT, Kind.THINKING):
            some = [Content(kind, text="".join(p.text for p in some), payload="".join(p.payload for p in some))]
        found += some
    return tuple(found)


def tool_use(arguments: Any, name: Any, call_id: Any, payload: str = "") -> Content:
    """A tool call whose ``arguments`` are a value, or JSON as it was written; name and id where they are strings.

    Arguments that are too long to be read name no target.
    """
    is_json = isinstance(arguments, str) and len(arguments) <= MAX_ARGUMENT_CHARS and arguments.startswith("{")
    target = target_of(parsed(arguments) if is_json else arguments)
    return Content(Kind.TOOL_USE, written(arguments), text_of(name), text_of(call_id), payload, target=target)


def result_of(said: tuple[Content, ...], call_id: Any, *, is_error: bool = False, name: str = "") -> Content:
    """A tool's result: one plain text as its text, anything else as its parts."""
    plain = len(said) == 1 and said[0].kind is Kind.TEXT and not said[0].name
    text, parts = (said[0].text, ()) if plain else ("", said)
    return Content(Kind.TOOL_RESULT, text=text, call_id=text_of(call_id), is_error=is_error, name=name, parts=parts)


def whole_result(content: Any, call_id: Any, part: Callable[[Any], Content], *, is_error: bool = False) -> Content:
    """A tool's result as it is written: a string its text, anything else its parts, though it be one text."""
    parts = () if isinstance(content, str) else blocks_of(content, part)
    return Content(Kind.TOOL_RESULT, text_of(content), call_id=text_of(call_id), is_error=is_error, parts=parts)


def with_id(content: Content, call_id: str) -> Content:
    """A call or result with ``call_id``; any other block as it is."""
    is_tool = content.kind in (Kind.TOOL_USE, Kind.TOOL_RESULT)
    return replace(content, call_id=call_id) if is_tool and content.call_id != call_id else content


def as_read(contents: Sequence[Content], message: Message) -> tuple[Content, ...]:
    """Blocks that are read again, with the ids that they got when the whole file was read."""
    if len(contents) != len(message.blocks):
        return tuple(contents)
    ids = [block.call_id for block in message.blocks]
    return tuple(with_id(content, call_id) for content, call_id in zip(contents, ids, strict=True))


def definitions(tools: Any, *otherwise: str) -> tuple[Content, ...]:
    """The definitions of tools, OpenAI's, Anthropic's or MCP's, each as its compact JSON under its name.

    ``otherwise``: keys of what stands for the name of a tool that has none.
    """
    inner = [(tool, as_dict(tool).get("function")) for tool in as_list(tools)]
    named = [(tool, function if isinstance(function, dict) else as_dict(tool)) for tool, function in inner]
    return tuple(Content(Kind.TEXT, text=dumps(tool), name=first_text(own, "name", *otherwise)) for tool, own in named)


def preview_of(contents: Iterable[Content]) -> str:
    """One line of at most ``limits.PREVIEW_CHARS`` characters, without control characters."""
    said: list[str] = []
    n_chars = 0
    for content in contents:
        if words := _words(content):
            said.append(words)
            n_chars += len(words)
        if n_chars >= limits.PREVIEW_CHARS:
            break
    return " · ".join(said)[: limits.PREVIEW_CHARS]


def title_of(text: str) -> str:
    """The first line that says more than that a plan follows, at most ``limits.TITLE_CHARS``, cut between words."""
    lines = [flat for line in text.splitlines()[:_LOOK_LINES] if (flat := _flat(line))]
    said = next((plain for line in lines if not _LEAD.fullmatch(line) and (plain := line.lstrip("# "))), "")
    line = said or (lines[0] if lines else "")
    if len(line) <= limits.TITLE_CHARS:
        return line
    whole = line[: limits.TITLE_CHARS].rpartition(" ")[0].rstrip(" ,;:-")
    return f"{whole}…" if whole else line[: limits.TITLE_CHARS]


def first_title(titles: Iterable[str]) -> str:
    """The first that somebody put in words; else the first, which is no more than a command, as "/review 12"."""
    command = ""
    for title in titles:
        if title and not _COMMAND_LINE.fullmatch(title):
            return title
        command = command or title
    return command


def prompt_title(contents: Iterable[Content]) -> str:
    """The title that a typed prompt gives its session."""
    return title_of(prompt_words([content.text for content in contents if content.kind is Kind.TEXT]))


def prompt_words(texts: Sequence[str]) -> str:
    """What the user typed among ``texts``: not what the client wrapped in tags around it, but its command's name."""
    plain = next((text for text in texts if text.strip() and not text.lstrip().startswith("<")), "")
    if not plain:
        told = ((match[1], _ARGUMENTS.search(text)) for text in texts if (match := _COMMAND.search(text)))
        plain = next((f"{command} {given[1] if given else ''}" for command, given in told), "")
    return plain[:_LOOK_CHARS]


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
