"""Bedrock's Converse: its blocks in the words of the Messages API, its streams put together, its counts (formats 92).

Strands and Bedrock's own log write them.  A block names its kind by its only key; ``cachePoint`` is no content.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sessions.engine.reading.formats._counts import exclusive_usage, inclusive_usage, usage_at
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, parsed, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Usage

EVENTS = frozenset(
    ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata")
)
BLOCKS = frozenset(("text", "toolUse", "toolResult", "reasoningContent", "image", "document", "json", "cachePoint"))


def is_block(value: Any) -> bool:
    """Whether a value is a block that names its kind by a key alone."""
    return isinstance(value, dict) and len(value) == 1 and not BLOCKS.isdisjoint(value)


def is_event(value: Any) -> bool:
    """Whether a value is an event of ConverseStream."""
    held = as_dict(value)
    return len(held) == 1 and not EVENTS.isdisjoint(held) and all(isinstance(inner, dict) for inner in held.values())


def message_of(message: Record) -> Record:
    """A message with its blocks in the words of the Messages API; one that has none stays as it is."""
    content = message.get("content")
    return {**message, "content": blocks_of(content)} if any(map(is_block, as_list(content))) else message


def blocks_of(content: Any) -> Any:
    """Blocks in the words of the Messages API, without the marks of the cache."""
    if not isinstance(content, list):
        return content
    return [block_of(block) for block in content if not (isinstance(block, dict) and block.keys() == {"cachePoint"})]


def block_of(block: Any) -> Any:
    """A block in the words of the Messages API; one that names its type is no such block."""
    held = as_dict(block)
    if "type" in held:
        return block
    call, result, thought = (as_dict(held.get(key)) for key in ("toolUse", "toolResult", "reasoningContent"))
    if call:
        return {"type": "tool_use", "id": call.get("toolUseId"), "name": call.get("name"), "input": call.get("input")}
    if result:
        parts = blocks_of(as_list(result.get("content")))
        failed = {"is_error": True} if result.get("status") == "error" else {}
        return {"type": "tool_result", "tool_use_id": result.get("toolUseId"), "content": parts, **failed}
    if thought:
        told = as_dict(thought.get("reasoningText"))
        signed = {"signature": told["signature"]} if text_of(told.get("signature")) else {}
        return {"type": "thinking", "thinking": text_of(told.get("text")), **signed}
    image = as_dict(held.get("image"))
    if data := text_of(as_dict(image.get("source")).get("bytes")):
        media_type = f"image/{text_of(image.get('format'))}"
        return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}
    text = dumps(held["json"]) if "json" in held else held.get("text")
    return {"type": "text", "text": text} if isinstance(text, str) else block


def tools_in(request: Record) -> list[Any]:
    """The definitions of tools that a request sends."""
    tools = as_list(as_dict(request.get("toolConfig")).get("tools"))
    return [as_dict(tool).get("toolSpec") for tool in tools if as_dict(tool).get("toolSpec")]


def is_response(value: Record) -> bool:
    """Whether a value is an answer of Converse."""
    return isinstance(as_dict(value.get("output")).get("message"), dict)


def response_of(events: Iterable[Record]) -> dict[str, Any]:
    """The answer that the events stream, as Converse gives it unstreamed."""
    blocks: dict[int, dict[str, Any]] = {}
    arguments: dict[int, str] = {}
    whole: dict[str, Any] = {}
    for event in events:
        ((kind, held),) = event.items()
        index = count_of(held.get("contentBlockIndex"))
        block = blocks.setdefault(index, {}) if kind.startswith("contentBlock") else {}
        if kind == "contentBlockStart":
            block |= as_dict(held.get("start"))
        delta = as_dict(held.get("delta"))
        if isinstance(delta.get("text"), str):
            block["text"] = text_of(block.get("text")) + delta["text"]
        if said := text_of(as_dict(delta.get("toolUse")).get("input")):
            arguments[index] = arguments.get(index, "") + said
        if thought := as_dict(delta.get("reasoningContent")):
            told = as_dict(as_dict(block.get("reasoningContent")).get("reasoningText"))
            joined = {key: text_of(told.get(key)) + text_of(thought.get(key)) for key in ("text", "signature")}
            block["reasoningContent"] = {"reasoningText": joined}
        if kind in ("messageStop", "metadata"):
            whole |= held
    for index, said in arguments.items():
        call = as_dict(blocks.get(index, {}).get("toolUse"))
        blocks.setdefault(index, {})["toolUse"] = {**call, "input": parsed(said, said)}
    content = [blocks[index] for index in sorted(blocks) if blocks[index]]
    return {**whole, "output": {"message": {"role": "assistant", "content": content}}}


def converse_usage(usage: Record) -> Usage | None:
    """Usage of an answer: the input excludes what the cache read or wrote, unless the total says that it does not."""
    keys = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens", "totalTokens")
    sent, output, read, written, total = (count_of(usage.get(key)) for key in keys)
    build = inclusive_usage if read + written and total == sent + output else exclusive_usage
    return build(sent, output, cache_read=read, cache_write=written)


def logged_usage(record: Record) -> Usage | None:
    """Usage as Bedrock's log of invocations counts it beside the bodies."""
    return usage_at({**as_dict(record.get("input")), **as_dict(record.get("output"))}, "bedrock log")
