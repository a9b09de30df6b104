"""Streamed replies put together: server-sent events or a list of them, of each provider's API.

Sources: formats 4 to 6, 8 and 92, the providers' streaming references.  What an unknown event says is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from sessions.engine.base.words import words
from sessions.engine.reading.formats import _converse as converse
from sessions.engine.reading.formats._values import as_dict, as_list, parsed, text_of

Event = dict[str, Any]

DATA = re.compile(r"^data:[ \t]?(.*)$", re.MULTILINE)
MESSAGES_EVENTS = words(
    "message_start content_block_start content_block_delta content_block_stop message_delta message_stop"
)
DELTA_KEYS = {
    "text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature", "compaction_delta": "content",
}  # fmt: skip
MAX_INDEX = 10_000


def is_event(value: Any) -> bool:
    """Whether a value is an event of a streamed reply."""
    held = as_dict(value)
    kind = text_of(held.get("type"))
    chunk = held.get("object") == "chat.completion.chunk" and isinstance(held.get("choices"), list)
    typed = kind in MESSAGES_EVENTS or (kind.startswith("response.") and "response" in held)
    return typed or chunk or is_chunk(held) or converse.is_event(held)


def is_chunk(event: Event) -> bool:
    """Whether an event is a chunk of the Gemini API, each a response."""
    return isinstance(event.get("candidates"), list) or isinstance(event.get("usageMetadata"), dict)


def events_in(value: Any) -> list[Event]:
    """The events in server-sent text or in a list; empty where there are none."""
    if isinstance(value, str):
        # "[DONE]", or a line that was cut off, is no event.
        value = [parsed(match[1]) for match in DATA.finditer(value.replace("\r\n", "\n"))]
    return [event for event in as_list(value) if is_event(event)]


def response_of(events: Sequence[Event]) -> dict[str, Any]:
    """The response that the events stream, as the provider sends it unstreamed; empty where they hold none."""
    if any(event.get("object") == "chat.completion.chunk" for event in events):
        return _completion(events)
    if any(map(is_chunk, events)):
        return _content(events)
    if found := [event for event in events if converse.is_event(event)]:
        return converse.response_of(found)
    done = [event["response"] for event in events if isinstance(event.get("response"), dict)]
    return done[-1] if done else _message(events)


def _content(chunks: Iterable[Event]) -> dict[str, Any]:
    """The response of the Gemini API: parts one after another, text of one kind together, counts as the last says."""
    whole: dict[str, Any] = {}
    candidate: dict[str, Any] = {}
    parts: list[Any] = []
    for chunk in chunks:
        whole |= chunk
        held = as_dict(next(iter(as_list(chunk.get("candidates"))), None))
        candidate |= held
        for part in as_list(as_dict(held.get("content")).get("parts")):
            before, said = as_dict(parts[-1]) if parts else {}, as_dict(part)
            text, more = before.get("text"), said.get("text")
            if isinstance(text, str) and isinstance(more, str) and before.get("thought") == said.get("thought"):
                parts[-1] = {**before, **said, "text": text + more}
            else:
                parts.append(part)
    return {**whole, "candidates": [{**candidate, "content": {"role": "model", "parts": parts}}]}


def _message(events: Iterable[Event]) -> dict[str, Any]:
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    partial: dict[int, str] = {}
    for event in events:
        kind, index = event.get("type"), event.get("index")
        place = index if isinstance(index, int) and 0 <= index < MAX_INDEX else 0
        delta = event.get("delta")
        if kind == "message_start" and isinstance(event.get("message"), dict):
            message = {**event["message"]}
        elif kind == "content_block_start" and isinstance(event.get("content_block"), dict):
            blocks[place] = {**event["content_block"]}
        elif kind == "content_block_delta" and isinstance(delta, dict):
            block, said = blocks.setdefault(place, {"type": "text", "text": ""}), text_of(delta.get("type"))
            if said == "input_json_delta":
                partial[place] = partial.get(place, "") + text_of(delta.get("partial_json"))
            elif key := DELTA_KEYS.get(said):
                block[key] = text_of(block.get(key)) + text_of(delta.get(key))
        elif kind == "message_delta":
            message |= as_dict(delta)
            # Of the usage, the output is final at the end.
            final = {key: value for key, value in as_dict(event.get("usage")).items() if value is not None}
            message["usage"] = as_dict(message.get("usage")) | final
            message |= {key: event[key] for key in ("context_management",) if isinstance(event.get(key), dict)}
    for place, text in partial.items():
        blocks[place]["input"] = parsed(text, text) if text.strip() else {}
    if not message and not blocks:
        return {}
    return {"type": "message", **message, "role": "assistant", "content": [blocks[place] for place in sorted(blocks)]}


def _completion(events: Iterable[Event]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    calls: dict[int, dict[str, Any]] = {}
    found: dict[str, Any] = {"object": "chat.completion"}
    for event in events:
        found |= {key: event[key] for key in ("id", "model", "usage") if event.get(key)}
        for choice in as_list(event.get("choices")):
            delta = choice.get("delta") if isinstance(choice, dict) and not choice.get("index") else None
            if not isinstance(delta, dict):
                continue
            for key in ("content", "reasoning_content", "reasoning", "refusal"):
                if isinstance(delta.get(key), str):
                    message[key] = text_of(message.get(key)) + delta[key]
            for piece in (one for one in as_list(delta.get("tool_calls")) if isinstance(one, dict)):
                index = piece.get("index")
                place = index if isinstance(index, int) and 0 <= index < MAX_INDEX else 0
                new = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
                call = calls.setdefault(place, new)
                call["id"] = text_of(piece.get("id")) or call["id"]
                for key in ("name", "arguments"):
                    call["function"][key] += text_of(as_dict(piece.get("function")).get(key))
    if calls:
        message["tool_calls"] = [calls[place] for place in sorted(calls)]
    return {**found, "choices": [{"index": 0, "message": message}]}
