"""Events of a Copilot session: which are messages, and their blocks (formats 23)."""

from __future__ import annotations

from typing import Any

from sessions.engine.base.words import words
from sessions.engine.reading.formats._blocks import blocks_of, opaque, tool_use
from sessions.engine.reading.formats._counts import count_of, exclusive_usage, inclusive_usage, usage_at
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.reading.jsonio import JsonProblem, loads
from sessions.engine.transcript.types import Content, Kind, Usage

ENVELOPE = "raw"
USER, REPLY, RESULT, SYSTEM = "user.message", "assistant.message", "tool.execution_complete", "system.message"
NOT_CONTEXT = frozenset(
    words("""
    assistant.turn_start assistant.turn_end assistant.reasoning assistant.intent assistant.usage tool.execution_start
    tool.execution_progress tool.execution_partial_result tool.user_requested subagent.started subagent.completed
    subagent.failed subagent.selected system.notification
""")
)
NOT_CONTEXT_GROUPS = ("session.", "hook.", "permission.")
IMAGES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}


def event_of(value: Any) -> Record | None:
    """The event of a line, taken out of a collector's envelope; None where it is none."""
    for event in (value, as_dict(value).get(ENVELOPE)):
        found = as_dict(event)
        kind = text_of(found.get("type"))
        if ("." in kind or kind == "abort") and isinstance(found.get("data"), dict) and "timestamp" in found:
            return found
    return None


def agent_of(event: Record) -> str:
    """The call that started the sub-agent whose event this is, "" for the main conversation's."""
    if text_of(event.get("type")).startswith("subagent."):
        return ""
    return text_of(event.get("agentId")) or text_of(event["data"].get("parentToolCallId"))


def event_contents(value: Any) -> tuple[Content, ...]:
    """The blocks of an event, or of the summary that a compaction's event holds."""
    if isinstance(value, str):
        return (Content(Kind.TEXT, text=value),)
    event = as_dict(value)
    kind, data = text_of(event.get("type")), as_dict(event.get("data"))
    if kind == REPLY:
        return _reply(data)
    if kind == RESULT:
        return (_result(data),)
    sent = data.get("transformedContent") if kind == USER else None
    said = sent if isinstance(sent, str) else data.get("content")
    return blocks_of(said, _block) + tuple(filter(None, map(_attachment, as_list(data.get("attachments")))))


def n_pictures(data: Record) -> int:
    """Pictures beside the text of a result: only of the text is it known that it was sent."""
    return sum(as_dict(item).get("type") == "image" for item in as_list(as_dict(data.get("result")).get("contents")))


def summary_usage(data: Record) -> Usage | None:
    """Usage of the call that wrote a summary; its bill tells what the cache wrote where the counts say nothing."""
    used = as_dict(data.get("compactionTokensUsed"))
    sent, output, read = (count_of(used.get(key)) for key in ("inputTokens", "outputTokens", "cacheReadTokens"))
    rows = [as_dict(row) for row in as_list(as_dict(used.get("copilotUsage")).get("tokenDetails"))]
    billed = {text_of(row.get("tokenType")): count_of(row.get("tokenCount")) for row in rows}
    fresh, written = billed.get("input", 0), billed.get("cache_write", 0)
    if billed and fresh + read + written == sent:
        return exclusive_usage(fresh, output, cache_read=read, cache_write=written)
    return inclusive_usage(sent, output, cache_read=read, cache_write=count_of(used.get("cacheWriteTokens")))


def shutdown_usage(data: Record) -> dict[str, tuple[int, Usage]]:
    """Requests and usage of a whole session by model, as its end reports them; models without any are left out."""
    found = {}
    for model, metrics in as_dict(data.get("modelMetrics")).items():
        used = as_dict(as_dict(metrics).get("usage"))
        n = count_of(as_dict(as_dict(metrics).get("requests")).get("count"))
        usage = usage_at(used, "copilot shutdown")
        if usage is not None and usage.context:
            found[model] = (n, usage)
    return found


def _block(value: Any) -> Content:
    return Content(Kind.TEXT, text=value) if isinstance(value, str) else opaque(as_dict(value))


def _reply(data: Record) -> tuple[Content, ...]:
    thought = text_of(data.get("reasoningText"))
    payload = text_of(data.get("reasoningOpaque")) + text_of(data.get("encryptedContent"))
    found = [Content(Kind.THINKING, text=thought, payload=payload)] if thought or payload else []
    return (*found, *blocks_of(data.get("content"), _block), *map(_call, as_list(data.get("toolRequests"))))


def _call(request: Any) -> Content:
    request = as_dict(request)
    arguments, name, call_id = request.get("arguments"), request.get("name"), request.get("toolCallId")
    if isinstance(arguments, str):
        try:
            arguments = loads(arguments.encode("utf-8", errors="replace"))
        except JsonProblem:
            return Content(Kind.TOOL_USE, arguments, text_of(name), text_of(call_id))
    return tool_use(arguments, name, call_id)


def _result(data: Record) -> Content:
    """What the model was given; ``detailedContent`` is for the screen."""
    result, error = data.get("result"), as_dict(data.get("error"))
    text = text_of(result) or text_of(as_dict(result).get("content")) or text_of(error.get("message"))
    call_id = text_of(data.get("toolCallId"))
    return Content(Kind.TOOL_RESULT, text=text, call_id=call_id, is_error=data.get("success") is False)


def _attachment(value: Any) -> Content | None:
    """A picture that was attached; other files stand in the text that was sent."""
    place, data = text_of(as_dict(value).get("path")), text_of(as_dict(value).get("data"))
    named = text_of(as_dict(value).get("mimeType")) or IMAGES.get(place.lower().rpartition(".")[2], "")
    if not named.startswith("image/") or not (place or data):
        return None
    return Content(Kind.IMAGE, media_type=named, data=data, url=place)
