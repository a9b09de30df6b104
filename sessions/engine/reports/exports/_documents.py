"""What the request documents of both APIs share: written piece by piece, and without what no request has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sessions.engine.models.model_info import model_info
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind

if TYPE_CHECKING:
    from sessions.engine.reports.exports import Listing, Report

DEFAULT_MAX_TOKENS = 8_192


def document(head: dict[str, Any], messages: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A JSON object of ``head`` and ``messages``, one message at a time, one a line."""
    opening = dumps(head).removesuffix("}")
    yield f'{opening}{"," if head else ""}"messages":['
    separator = "\n"
    for message in messages:
        yield separator + dumps(message)
        separator = ",\n"
    yield "\n]}\n"


def most_output(model: str) -> int:
    """What a reply of the model may have, in tokens; 8,192 where it is not known: requests have to say something."""
    info = model_info(model)
    return (info.max_output if info.known else 0) or DEFAULT_MAX_TOKENS


def kept_contents(contents: Iterable[Content], report: Report) -> list[Content]:
    """The blocks without empty ones, which no API takes."""
    kept = []
    for content in contents:
        if content.kind is Kind.TEXT and not content.text:
            report.lose("blocks of empty text")
        elif content.kind in (Kind.IMAGE, Kind.DOCUMENT) and not (
            content.data or content.url or content.text or content.parts
        ):
            report.lose("images and documents that the file does not hold")
        else:
            kept.append(content)
    return kept


def lose_facts(listing: Listing, report: Report) -> None:
    """Count what stands beside the messages and has no place in a request."""
    report.lose("blocks of the system prompt and tool definitions", len(listing.transcript.system))
    replies = [entry.reply for entry in listing.entries if entry.reply]
    report.lose("reported usages", sum(r.usage is not None for r in (*replies, *listing.elsewhere)))
    report.lose("recorded compactions", len(listing.transcript.compactions) if listing.whole else 0)
    report.lose("requests without a message", len(listing.elsewhere))
