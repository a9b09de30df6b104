"""Parts of Gemini's API to ``Content``: shared by the API's own format, Gemini CLI (formats 8) and Google ADK (71).

Keys are camelCase on the wire and snake_case in the Python SDK's dumps; both are read.  ``inlineData`` is URL-safe
base64.  A call without an id is known by its name, as the API itself pairs it with its result.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

from sessions.engine.reading.formats._blocks import blocks_of, joined, opaque, text_blocks, tool_use
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Usage

SNAPSHOT = "<state_snapshot>"
CLIENT_WORDS = ("<session_context>", "This is the Gemini CLI.")
MASKED = "<tool_output_masked>"
"""Begins what stands for a result that the client took out of the list (policies 7.2)."""
_CAPITAL = re.compile("[A-Z]")


def key_of(value: Record, name: str) -> str:
    """How ``value`` writes the name of a field: in camelCase or snake_case."""
    return _snake(name) if value.get(name) is None else name


@cache
def _snake(name: str) -> str:
    return _CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)


def field_of(value: Record, name: str) -> Any:
    """The field called ``name``, in camelCase or snake_case."""
    return value.get(key_of(value, name))


def parts_of(parts: Any) -> tuple[Content, ...]:
    """Blocks of a list of parts, of one part, or of plain text."""
    return _numbered(blocks_of(parts, _part))


def content_of(value: Any) -> tuple[Content, ...]:
    """Blocks of a ``Content`` (role and parts), of the chunks of a streamed reply, or of bare parts."""
    if isinstance(value, list) and any(isinstance(chunk, dict) and "candidates" in chunk for chunk in value):
        return _numbered(joined(_part(part) for chunk in value for part in chunk_parts(chunk)))
    return parts_of(value["parts"] if isinstance(value, dict) and "parts" in value else value)


def chunk_parts(chunk: Any) -> list[Any]:
    """The parts of a response's first candidate, none where it has none."""
    first = next(iter(as_list(as_dict(chunk).get("candidates"))), None)
    return as_list(as_dict(as_dict(first).get("content")).get("parts"))


def result_of(part: Record) -> Content:
    """The result of a call: its one text, else the JSON that the model reads; inline media beside it."""
    inner = field_of(part, "functionResponse")
    response: Any = inner.get("response") if isinstance(inner, dict) else inner
    name = text_of(as_dict(inner).get("name"))
    call_id = (text_of(inner.get("id")) or name) if isinstance(inner, dict) else ""
    is_error = isinstance(response, dict) and "error" in response
    media = parts_of(inner.get("parts")) if isinstance(inner, dict) and inner.get("parts") else ()
    only = next(iter(response.values())) if isinstance(response, dict) and len(response) == 1 else response
    text = only if isinstance(only, str) else dumps(response) if response is not None else ""
    if not media:
        return Content(Kind.TOOL_RESULT, text=text, call_id=call_id, is_error=is_error)
    return Content(Kind.TOOL_RESULT, call_id=call_id, is_error=is_error, parts=text_blocks(text) + media)


def gemini_usage(usage: Any) -> Usage | None:
    """``usageMetadata``: the prompt includes cached tokens, thoughts come on top of the candidates."""
    names = ("promptTokenCount", "cachedContentTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    return usage_from(*(count_of(field_of(as_dict(usage), name)) for name in names))


def usage_from(sent: int, cached: int, said: int, thoughts: int) -> Usage | None:
    """Usage with cached tokens taken out of the input and thoughts added to the output; None where all zero."""
    if not (sent or said or thoughts):
        return None
    cached = min(cached, sent)
    return Usage(sent - cached, cache_read=cached, output=said + thoughts, reasoning=thoughts)


def modalities(usage: Any) -> str:
    """The input by modality in words, where there is more than text; empty else."""
    rows = [row for row in as_list(field_of(as_dict(usage), "promptTokensDetails")) if isinstance(row, dict)]
    counts = {text_of(row.get("modality")): count_of(field_of(row, "tokenCount")) for row in rows}
    if not set(counts) - {"TEXT"}:
        return ""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _part(part: Any) -> Content:
    if not isinstance(part, dict):
        return Content(Kind.TEXT, text=part) if isinstance(part, str) else opaque(part)
    signature = text_of(field_of(part, "thoughtSignature"))
    if isinstance(part.get("text"), str):
        kind = Kind.THINKING if part.get("thought") is True else Kind.TEXT
        return Content(kind, text=part["text"], payload=signature)
    call, media = field_of(part, "functionCall"), field_of(part, "inlineData") or field_of(part, "fileData")
    if isinstance(call, dict):
        return call_of(call, signature)
    if isinstance(field_of(part, "functionResponse"), dict):
        return result_of(part)
    data, url = text_of(as_dict(media).get("data")), text_of(field_of(as_dict(media), "fileUri"))
    if data or url:
        media_type = text_of(field_of(media, "mimeType"))
        kind = Kind.IMAGE if media_type.startswith("image/") else Kind.DOCUMENT
        return Content(kind, media_type=media_type, data=data, url=url)
    return Content(Kind.THINKING, payload=signature) if set(part) == {"thoughtSignature"} else opaque(part)


def call_of(call: Record, signature: str = "") -> Content:
    """A tool call."""
    name = text_of(call.get("name"))
    return tool_use(call.get("args"), name, text_of(call.get("id")) or name, signature)


def _numbered(contents: Iterable[Content]) -> tuple[Content, ...]:
    """Calls of one message that have no ids and the same name are told apart by their order."""
    seen: Counter[tuple[Kind, str]] = Counter()
    found = []
    for content in contents:
        known = (content.kind, content.call_id)
        seen[known] += bool(content.call_id)
        found.append(replace(content, call_id=f"{content.call_id}#{seen[known]}") if seen[known] > 1 else content)
    return tuple(found)
