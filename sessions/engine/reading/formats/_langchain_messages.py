"""One LangChain message, however it was dumped: ``messages_to_dict``, ``dumpd``, or flat (formats 20).

``usage_metadata.input_tokens`` includes what the cache read or wrote.
"""

from __future__ import annotations

from typing import Any

from sessions.engine.reading.formats._chat_blocks import chat_contents
from sessions.engine.reading.formats._counts import inclusive_usage, openai_usage, usage_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, first_text, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Usage

TYPES = frozenset({"system", "human", "ai", "tool", "function", "chat", "developer", "AIMessageChunk"})
FLAT_KEYS = ("additional_kwargs", "response_metadata", "usage_metadata", "tool_call_id")
ROLE_NAMES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}


def shape_of(value: Any) -> str:
    """Which of LangChain's ways a value is a message in; nothing where it is none."""
    if not isinstance(value, dict):
        return ""
    kind = text_of(value.get("type"))
    if kind == "constructor" and value.get("lc") == 1 and isinstance(value.get("kwargs"), dict):
        return "dumpd" if _class_name(value).endswith(("Message", "MessageChunk")) else ""
    if kind in TYPES and isinstance(value.get("data"), dict) and "content" in value["data"]:
        return "messages_to_dict"
    return "a graph state" if kind in TYPES and "content" in value and any(key in value for key in FLAT_KEYS) else ""


def _class_name(value: Record) -> str:
    return next((text_of(step) for step in as_list(value.get("id"))[-1:]), "")


def fields_of(value: Any) -> Record:
    """The message's fields, whatever shape it was dumped in, under ``role`` who it is from."""
    shape = shape_of(value)
    if not shape:
        return {}
    inner: Record = value["kwargs"] if shape == "dumpd" else value["data"] if shape == "messages_to_dict" else value
    kind = text_of(inner.get("type")) or text_of(value.get("type"))
    if shape == "dumpd" and kind not in TYPES:
        kind = _class_name(value).removesuffix("Chunk").removesuffix("Message").lower()
    role = text_of(inner.get("role")) if kind == "chat" else ROLE_NAMES.get(kind, kind)
    return {**inner, "role": role}


def is_summary(fields: Record) -> bool:
    """Whether ``SummarizationMiddleware`` wrote a message."""
    return as_dict(fields.get("additional_kwargs")).get("lc_source") == "summarization"


def langchain_contents(value: Any) -> tuple[Content, ...]:
    """The blocks of one dumped message; opaque where it is none."""
    fields = fields_of(value)
    if not fields:
        return (Content(Kind.OPAQUE, text=dumps(value)),)
    extra = as_dict(fields.get("additional_kwargs"))
    failed = fields.get("invalid_tool_calls")
    calls = as_list(fields.get("tool_calls")) + as_list(failed) or as_list(extra.get("tool_calls"))
    thought = fields.get("reasoning_content") or extra.get("reasoning_content")
    return chat_contents({**fields, "tool_calls": calls, "reasoning_content": thought})


def langchain_usage(fields: Record) -> Usage | None:
    """Usage of a reply, from LangChain's own count or from the provider's beside it."""
    counts = fields.get("usage_metadata")
    if isinstance(counts, dict):
        details = as_dict(counts.get("input_token_details"))
        return inclusive_usage(
            count_of(counts.get("input_tokens")),
            count_of(counts.get("output_tokens")),
            cache_read=count_of(details.get("cache_read")),
            cache_write=count_of(details.get("cache_creation")),
            reasoning=count_of(as_dict(counts.get("output_token_details")).get("reasoning")),
        )
    metadata = as_dict(fields.get("response_metadata"))
    counts = metadata.get("token_usage")
    return openai_usage(counts) if isinstance(counts, dict) else usage_of(metadata.get("usage"))


def response_fact(fields: Record, *keys: str) -> str:
    """The first of the facts about the reply that the provider gave."""
    return first_text(as_dict(fields.get("response_metadata")), *keys)
