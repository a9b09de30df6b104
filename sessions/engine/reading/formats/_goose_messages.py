"""Messages of goose as blocks (formats 9).

What is meant for the user alone (notifications, confirmations, results whose audience is the user) was never sent.
"""

from __future__ import annotations

from typing import Any

from sessions.engine.reading.formats._blocks import opaque, result_of, tool_use
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind

NOT_SENT = frozenset({"systemNotification", "actionRequired", "toolConfirmationRequest", "conversationCompacted"})


def is_message(value: Any) -> bool:
    """A role, a list of typed items, and a time, as goose writes them."""
    return (
        isinstance(value, dict)
        and value.get("role") in ("user", "assistant")
        and isinstance(value.get("content"), list)
        and "created" in value
    )


def contents_of_message(message: Record) -> tuple[Content, ...]:
    """The blocks of a message that the model is sent."""
    return tuple(block for item in as_list(message.get("content")) for block in _item(item))


def only_for_the_user(message: Record) -> bool:
    """Whether a message holds nothing but notifications and confirmations."""
    kinds = [as_dict(item).get("type") for item in as_list(message.get("content"))]
    return bool(kinds) and all(isinstance(kind, str) and kind in NOT_SENT for kind in kinds)


def notice_of(message: Record) -> str:
    """What a notification tells the user."""
    items = [as_dict(item) for item in as_list(message.get("content"))]
    return next((text_of(item.get("msg")) for item in items if text_of(item.get("msg"))), "")


def _item(item: Any) -> tuple[Content, ...]:
    if not isinstance(item, dict):
        return (Content(Kind.OPAQUE, text=dumps(item)),)
    kind = item.get("type")
    if isinstance(kind, str) and kind in NOT_SENT:
        return ()
    if kind in ("toolRequest", "frontendToolRequest"):
        return (_request(item),)
    if kind == "toolResponse":
        return (_response(item),)
    return (_plain(item),)


def _plain(item: Record) -> Content:
    kind = item.get("type")
    if kind == "text" and isinstance(item.get("text"), str):
        return Content(Kind.TEXT, text=item["text"])
    if kind == "image" and text_of(item.get("data")):
        return Content(Kind.IMAGE, media_type=text_of(item.get("mimeType")), data=item["data"])
    if kind == "thinking":
        return Content(Kind.THINKING, text=text_of(item.get("thinking")), payload=text_of(item.get("signature")))
    if kind == "redactedThinking":
        return Content(Kind.OPAQUE, name="redacted_thinking", payload=text_of(item.get("data")))
    resource = as_dict(item.get("resource"))
    if kind == "resource" and isinstance(resource.get("text"), str):
        return Content(Kind.TEXT, text=resource["text"], name=text_of(resource.get("uri")))
    return opaque(item)


def _request(item: Record) -> Content:
    """A call; one that the model wrote wrongly holds an error in place of its arguments."""
    call = as_dict(item.get("toolCall"))
    value = as_dict(call.get("value"))
    call_id = text_of(item.get("id"))
    if not value:
        return Content(Kind.TOOL_USE, text=text_of(call.get("error")), call_id=call_id)
    return tool_use(value.get("arguments"), value.get("name"), call_id)


def _response(item: Record) -> Content:
    """A result: the list of older files, or an object with ``content``."""
    result = as_dict(item.get("toolResult"))
    value = result.get("value")
    held = as_dict(value)
    listed = value if isinstance(value, list) else as_list(held.get("content"))
    failed = result.get("status") == "error" or bool(held.get("isError"))
    parts = tuple(block for part in listed if _for_the_model(part) for block in _item(part))
    if result.get("status") == "error" and text_of(result.get("error")):
        parts = (Content(Kind.TEXT, text=result["error"]),)
    return result_of(parts, item.get("id"), is_error=failed)


def _for_the_model(part: Any) -> bool:
    """The audience of a part, where it names one, has to include the assistant."""
    audience = as_dict(as_dict(part).get("annotations")).get("audience", as_dict(part).get("audience"))
    return not isinstance(audience, list) or not audience or "assistant" in audience
