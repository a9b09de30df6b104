"""Messages of the chat completions API to ``Content`` (formats 5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sessions.engine.reading.formats._blocks import opaque
from sessions.engine.reading.formats._conversation import Wire
from sessions.engine.reading.formats._openai_items import call_content
from sessions.engine.reading.formats._openai_parts import parts_of, plain_result
from sessions.engine.reading.formats._values import Record, text_of
from sessions.engine.transcript.types import Content, Kind, Role

ROLES = {"assistant": Role.ASSISTANT, "system": Role.SYSTEM, "developer": Role.SYSTEM}
REASONING_KEYS = ("reasoning_content", "reasoning")
_SPEAKER = re.compile(r"^(user|assistant|tool|system): ", re.MULTILINE)


def chat_role(message: Any) -> Role:
    """Who a message is from; results are the user's."""
    return ROLES.get(text_of(message.get("role")), Role.USER) if isinstance(message, dict) else Role.USER


def chat_contents(message: Any) -> tuple[Content, ...]:
    """The blocks of one message: reasoning, content, tool calls; or the result of one call."""
    if not isinstance(message, dict):
        return parts_of(message)
    content = message.get("content")
    if message.get("role") in ("tool", "function"):
        call_id = text_of(message.get("tool_call_id")) or text_of(message.get("name"))
        return (plain_result(call_id, content),)
    return (*_reasoning(message), *parts_of(content), *_refusal(message), *_calls(message))


CHAT_WIRE = Wire(chat_contents, chat_role, prefills=True)


def displayed(text: str) -> list[dict[str, str]]:
    """Messages of a conversation flattened to lines that begin with ``user: `` and the like.

    What stands before the first such line is the user's.
    """
    found = list(_SPEAKER.finditer(text))
    starts = [match.start() for match in found]
    before = text[: starts[0]] if starts else text
    said = [{"role": "user", "content": before.removesuffix("\n")}] if before.strip() else []
    for match, end in zip(found, [*starts[1:], len(text)], strict=False):
        said.append({"role": match[1], "content": text[match.end() : end].removesuffix("\n")})
    return said


def _reasoning(message: Record) -> Iterator[Content]:
    key = next((key for key in REASONING_KEYS if message.get(key)), "")
    if key and isinstance(message[key], str):
        yield Content(Kind.THINKING, text=message[key])
    elif key and isinstance(message[key], dict):
        yield opaque(message[key], key)


def _refusal(message: Record) -> Iterator[Content]:
    if text_of(message.get("refusal")):
        yield Content(Kind.TEXT, text=message["refusal"])
    if isinstance(message.get("audio"), dict):
        yield opaque(message["audio"], "audio")


def _calls(message: Record) -> Iterator[Content]:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if not isinstance(call, dict):
            yield from parts_of(call)
            continue
        inner: Record = next((call[key] for key in ("function", "custom") if isinstance(call.get(key), dict)), {})
        arguments = inner.get("arguments", inner.get("input"))
        yield call_content(text_of(inner.get("name")), text_of(call.get("id")), arguments)
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        name = text_of(legacy.get("name"))
        yield call_content(name, name, legacy.get("arguments"))
