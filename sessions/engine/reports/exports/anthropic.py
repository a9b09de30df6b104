"""One Messages API request document: ``{model, max_tokens, system, messages}``.

Cannot carry: ids, times and marks of messages; usage, requests and compactions (a request has none); the system prompt
and tool definitions, of which a session keeps sizes and no text.  System messages before the first other one become
``system``, later ones are the user's.  Messages without any block, blocks of empty text, another provider's opaque
blocks and the name of its model are left out.  Arguments that are no JSON object are put into one.  Each is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sessions.engine.agents.agent import agent_of
from sessions.engine.reading.formats._anthropic_blocks import block_of
from sessions.engine.reports.exports import ExportTarget, Listing, Read, Report
from sessions.engine.reports.exports._documents import (
    document,
    json_object,
    kept_contents,
    lose_facts,
    messages_block,
    most_output,
)
from sessions.engine.transcript.types import Content, Kind, Role


def _write(listing: Listing, read: Read, report: Report) -> Iterator[str]:
    """Model and system first, then one message after the other."""
    lose_facts(listing, report)
    first = next((n for n, e in enumerate(listing.entries) if e.message.role is not Role.SYSTEM), len(listing.entries))
    system: list[dict[str, Any]] = []
    for entry in listing.entries[:first]:
        system += _blocks(listing, read(entry), report)
        report.lose("system messages written as `system`")
    yield from document(_head(listing, system, report), _messages(listing, read, report, first))


def _messages(listing: Listing, read: Read, report: Report, start: int) -> Iterator[dict[str, Any]]:
    for entry in listing.entries[start:]:
        blocks = _blocks(listing, read(entry), report)
        if not blocks:
            report.lose("messages without content")
            continue
        report.lose("system messages written as the user's", entry.message.role is Role.SYSTEM)
        report.n_messages += 1
        yield {"role": "assistant" if entry.message.role is Role.ASSISTANT else "user", "content": blocks}


def is_own(format_name: str) -> bool:
    """Whether the opaque blocks of this format's transcripts are this API's own."""
    return agent_of(format_name).api == TARGET.name


def _head(listing: Listing, system: list[dict[str, Any]], report: Report) -> dict[str, Any]:
    name = listing.transcript.model
    head: dict[str, Any] = {}
    if "claude" in name.lower():
        head["model"] = name
    elif name:
        report.lose(f"the model's name, {name}, which this API does not serve")
    head["max_tokens"] = most_output(name)
    return head | {"system": system} if system else head


def _blocks(listing: Listing, contents: Sequence[Content], report: Report) -> list[dict[str, Any]]:
    own = is_own(listing.transcript.format)
    kept = kept_contents(contents, report)
    return [_block(content, report) for content in (kept if own else _without_foreign(kept, report))]


def _without_foreign(contents: Sequence[Content], report: Report) -> list[Content]:
    """Without opaque blocks of another provider, in results too; redacted thinking is Anthropic's wherever it is."""
    found = []
    for content in contents:
        if content.kind is Kind.OPAQUE and content.name != "redacted_thinking":
            report.lose("opaque blocks of another provider")
        elif content.parts:
            found.append(replace(content, parts=tuple(_without_foreign(content.parts, report))))
        else:
            found.append(content)
    return found


def _block(content: Content, report: Report) -> dict[str, Any]:
    """The block; what does not read back as it was is counted."""
    block = messages_block(content)
    if content.kind is Kind.TOOL_USE and content.text and json_object(content.text) is None:
        report.lose("arguments that are no JSON object")
    elif _plain(block_of(block)) != _plain(content):
        report.lose(f"details of {content.kind} blocks")
    if content.kind is Kind.THINKING and not content.payload:
        report.lose("signatures of thinking, of which there are none")
    return block


def _plain(content: Content) -> Content:
    """Without what is not sent: the target named in the arguments, which are JSON in whatever style."""
    text = content.text
    if content.kind is Kind.TOOL_USE:
        text = str(json_object(text) or {})
    return replace(content, target="", text=text, parts=tuple(_plain(part) for part in content.parts))


TARGET = ExportTarget(
    "anthropic", "Anthropic Messages", "POST /v1/messages", ".anthropic.json", "application/json", _write
)
