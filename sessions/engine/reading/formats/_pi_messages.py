"""Messages of a pi session to ``Content`` (formats 11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessions.engine.reading.formats._blocks import blocks_of, opaque, tool_use
from sessions.engine.reading.formats._counts import count_of
from sessions.engine.reading.formats._values import Record, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Role, Usage

_FROM_THE_USER = ("user", "toolResult", "bashExecution", "custom", "hookMessage", "branchSummary", "compactionSummary")
ROLES = {"assistant": Role.ASSISTANT, "system": Role.SYSTEM, **dict.fromkeys(_FROM_THE_USER, Role.USER)}
PLACEHOLDER_CHARS_PER_TOKEN = 8
"""An aborted reply whose output is smaller than this was counted before it was complete."""


def pi_contents(value: Any) -> tuple[Content, ...]:
    """The blocks of a message, or of the text or blocks that another entry puts into the context."""
    if not isinstance(value, dict) or "role" not in value:
        return blocks_of(value, _block)
    role = text_of(value.get("role"))
    if role == "toolResult":
        return (_result(value),)
    if role == "bashExecution":
        return (Content(Kind.TEXT, text=_shell_text(value), target=text_of(value.get("command"))[:200]),)
    content = value.get("content")
    return blocks_of(content if content is not None else value.get("summary"), _block)


def pi_usage(message: Record) -> Usage | None:
    """Usage of a reply; None where all zero, which is how aborted and failed calls are written."""
    usage = message.get("usage")
    if not isinstance(usage, dict):
        return None
    sent, read, written, output = (count_of(usage.get(key)) for key in ("input", "cacheRead", "cacheWrite", "output"))
    if not (sent or read or written or output):
        return None
    n_chars = sum(len(content.text) for content in pi_contents(message))
    unfinished = message.get("stopReason") == "aborted" and n_chars >= max(1, PLACEHOLDER_CHARS_PER_TOKEN * output)
    reasoning = min(count_of(usage.get("reasoning")), output)
    return Usage(sent, read, written, output, placeholder=unfinished, reasoning=reasoning)


def _block(block: Any) -> Content:
    if isinstance(block, str):
        return Content(Kind.TEXT, text=block)
    if not isinstance(block, dict):
        return Content(Kind.OPAQUE, text=dumps(block))
    reader = _READERS.get(text_of(block.get("type")))
    return (reader(block) if reader else None) or opaque(block)


def _text(block: Record) -> Content | None:
    if not isinstance(block.get("text"), str):
        return None
    return Content(Kind.TEXT, text=block["text"], payload=text_of(block.get("textSignature")))


def _thinking(block: Record) -> Content:
    return Content(Kind.THINKING, text=text_of(block.get("thinking")), payload=text_of(block.get("thinkingSignature")))


def _image(block: Record) -> Content | None:
    data = text_of(block.get("data"))
    return Content(Kind.IMAGE, media_type=text_of(block.get("mimeType")), data=data) if data else None


def _call(block: Record) -> Content:
    signature = text_of(block.get("thoughtSignature"))
    return tool_use(block.get("arguments"), block.get("name"), block.get("id"), signature)


def _result(message: Record) -> Content:
    content = message.get("content")
    return Content(
        Kind.TOOL_RESULT,
        text=text_of(content),
        call_id=text_of(message.get("toolCallId")),
        is_error=message.get("isError") is True,
        parts=() if isinstance(content, str) else blocks_of(content, _block),
    )


def _shell_text(message: Record) -> str:
    """A command the user ran, in the words in which pi tells the model."""
    output = text_of(message.get("output"))
    said = f"Ran `{text_of(message.get('command'))}`\n" + (f"```\n{output}\n```" if output else "(no output)")
    code = message.get("exitCode")
    if message.get("cancelled"):
        said += "\n\n(command cancelled)"
    elif isinstance(code, int) and code:
        said += f"\n\nCommand exited with code {code}"
    if message.get("truncated") and text_of(message.get("fullOutputPath")):
        said += f"\n\n[Output truncated. Full output: {message['fullOutputPath']}]"
    return said


_READERS: dict[str, Callable[[Record], Content | None]] = {
    "text": _text,
    "thinking": _thinking,
    "image": _image,
    "toolCall": _call,
}
