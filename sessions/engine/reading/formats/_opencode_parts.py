"""Parts of opencode messages as blocks (formats 10)."""

from __future__ import annotations

from typing import Any

from sessions.engine.reading.formats._blocks import opaque, result_of, tool_use
from sessions.engine.reading.formats._media_links import media_link
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind

NOT_SENT = frozenset({"step-start", "step-finish", "patch", "snapshot", "agent", "retry"})
NOT_SENT_FILES = ("text/plain", "application/x-directory")
ENCRYPTED = ("signature", "reasoningEncryptedContent", "redactedData", "thoughtSignature")


def parts_contents(entry: Record) -> tuple[Content, ...]:
    """What an entry says, shows and calls; its results are not among it."""
    return tuple(content for part in as_list(entry.get("parts")) for content in _part(part))


def result_contents(parts: Any) -> tuple[Content, ...]:
    """The results that tool parts hold, in order; a call still running has none."""
    return tuple(
        _result(part)
        for part in as_list(parts)
        if isinstance(part, dict)
        and part.get("type") == "tool"
        and as_dict(part.get("state")).get("status") in ("completed", "error")
    )


def _part(part: Any) -> tuple[Content, ...]:
    if not isinstance(part, dict):
        return (Content(Kind.OPAQUE, text=dumps(part)),)
    kind = part.get("type")
    if (isinstance(kind, str) and kind in NOT_SENT) or part.get("ignored") is True:
        return ()
    if kind == "text" and isinstance(part.get("text"), str):
        return (Content(Kind.TEXT, text=part["text"]),) if part["text"] else ()
    if kind == "file":
        return _file(part)
    return (_thought_or_call(part),)


def _thought_or_call(part: Record) -> Content:
    if part.get("type") == "reasoning":
        return Content(Kind.THINKING, text=text_of(part.get("text")), payload=_encrypted(part))
    if part.get("type") == "tool":
        arguments = as_dict(part.get("state")).get("input")
        return tool_use(arguments, part.get("tool"), part.get("callID"))
    return opaque(part)


def _file(part: Record) -> tuple[Content, ...]:
    """An image or a document; text files and folders are sent as synthetic text parts instead."""
    media_type, url = text_of(part.get("mime")), text_of(part.get("url"))
    if media_type in NOT_SENT_FILES:
        return ()
    return (media_link(url, media_type, name=text_of(part.get("filename"))),) if url else (opaque(part),)


def _result(part: Record) -> Content:
    """A result: what the tool gave out, and the files it attached.  ``metadata`` repeats the output and is not sent."""
    state = as_dict(part.get("state"))
    failed = state.get("status") == "error"
    output = state.get("error") if failed else state.get("output")
    texts = (Content(Kind.TEXT, text=output if isinstance(output, str) else dumps(output)),) if output else ()
    files = tuple(content for item in as_list(state.get("attachments")) for content in _part(item))
    return result_of((*texts, *files), part.get("callID"), is_error=failed)


def _encrypted(part: Record) -> str:
    """Signatures and encrypted reasoning that providers' metadata holds."""
    holders = [as_dict(holder) for holder in as_dict(part.get("metadata")).values()]
    return "".join(text_of(holder.get(key)) for holder in holders for key in ENCRYPTED)
