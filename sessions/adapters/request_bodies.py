"""A range of a session's messages as a request body that the Messages API takes, for counting it.

The exporter writes blocks as they are; the API is stricter.  Turns alternate and begin and end with the user's; every
tool call is answered by the next turn; results come first; thinking is signed.  What breaks a rule because the range
cuts there, or because another provider wrote it, is sent as text or left out, and each such thing is counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sessions.engine.reading.jsonio import dumps, loads
from sessions.engine.reports.export import reader
from sessions.engine.reports.exports import ExportedMessage, Listing, Report
from sessions.engine.reports.exports import anthropic as exporter
from sessions.engine.transcript.types import Content, Kind, Message, Transcript

Json = dict[str, Any]

TAKEN = frozenset({"text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document"})
NAME_CHARS = 128
FILLER = {"type": "text", "text": "."}
"""What stands for the user's turn where a range begins or ends with a reply."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request body without its limit of output, and what was changed to make it one, in words."""

    body: dict[str, Any]
    notes: tuple[str, ...]

    @property
    def has_tools(self) -> bool:
        return any(b["type"] in ("tool_use", "tool_result") for m in self.body["messages"] for b in m["content"])


def prepare(
    transcript: Transcript, start: int, stop: int, read: Callable[[Message], tuple[Content, ...]], model: str
) -> Prepared:
    """The messages ``start`` to ``stop`` (excluded) for ``model``, their texts from ``read``."""
    entries = tuple(ExportedMessage(message.id, message) for message in transcript.messages[start:stop])
    listing = Listing(transcript, entries, f"messages {start} to {stop - 1}")
    document = loads("".join(exporter.TARGET.write(listing, reader(None, read), Report())).encode())
    changed: Counter[str] = Counter()
    turns = _turns(document["messages"], changed, signed=exporter.is_own(transcript.format))
    _pair(turns, changed)
    messages = [
        {"role": turn["role"], "content": sorted(turn["content"], key=lambda block: block["type"] != "tool_result")}
        for turn in turns
        if turn["content"]
    ]
    if not messages or messages[0]["role"] == "assistant":
        messages.insert(0, {"role": "user", "content": [FILLER]})
        changed["user turns of one character added"] += 1
    if messages[-1]["role"] == "assistant":
        messages.append({"role": "user", "content": [FILLER]})
        changed["user turns of one character added"] += 1
    system = [block for block in document.get("system", ()) if block["type"] == "text"]
    body = {"model": model, "messages": messages} | ({"system": system} if system else {})
    return Prepared(body, tuple(f"{what}: {n:,}" for what, n in changed.items()))


def tool_stubs(prepared: Prepared) -> list[Json]:
    """Empty definitions of the tools called in a body, where the API wants some."""
    blocks = [block for message in prepared.body["messages"] for block in message["content"]]
    names = dict.fromkeys(block["name"] for block in blocks if block["type"] == "tool_use")
    return [{"name": name, "input_schema": {"type": "object"}} for name in (names or ("tool",))]


def _turns(messages: list[Json], changed: Counter[str], *, signed: bool) -> list[Json]:
    """Neighbours of one role as one turn, of blocks that the API takes."""
    turns: list[Json] = []
    for message in messages:
        blocks = [b for block in message["content"] if (b := _taken(block, changed, signed=signed))]
        if turns and turns[-1]["role"] == message["role"]:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": message["role"], "content": blocks})
    return turns


def _taken(block: Json, changed: Counter[str], *, signed: bool) -> Json | None:
    """The block as the API takes it, None where it does not."""
    match block["type"]:
        case "thinking" if not (signed and block.get("signature")):
            changed["thinking without Anthropic's signature left out"] += 1
            return None
        case "text":
            return block if block["text"].strip() else None
        case "tool_use" | "tool_result":
            return _tool(block, changed, signed=signed)
        case "image" | "document" as kind if block["source"]["type"] in ("url", "file"):
            changed["linked images and documents sent as text"] += 1
            return _text(f"[{kind}: {block['source'].get('url') or block['source'].get('file_id')}]")
        case kind if kind not in TAKEN:
            changed["other blocks sent as text"] += 1
            return _text(str(block.get("content") or dumps(block)))
    return block


def _tool(block: Json, changed: Counter[str], *, signed: bool) -> Json:
    """A call or a result with an id and a name of the characters that the API takes."""
    if block["type"] == "tool_use":
        return block | {"id": _name(block["id"]), "name": _name(block["name"]) or "tool"}
    content = block["content"]
    if isinstance(content, list):
        content = [b for part in content if (b := _taken(part, changed, signed=signed))]
    return block | {"tool_use_id": _name(block["tool_use_id"]), "content": content}


def _pair(turns: list[Json], changed: Counter[str]) -> None:
    """Make text of every call that the next turn does not answer, and of every result without its call."""
    for at, turn in enumerate(turns):
        if turn["role"] == "user":
            continue
        after = turns[at + 1]["content"] if at + 1 < len(turns) else []
        answered = {b["tool_use_id"] for b in after if b["type"] == "tool_result"}
        seen: set[str] = set()
        for place, block in enumerate(turn["content"]):
            if block["type"] != "tool_use":
                continue
            if block["id"] in answered - seen:
                seen.add(block["id"])
                continue
            changed["tool calls without a result sent as text"] += 1
            turn["content"][place] = _text(f"[tool call: {block['name']} {dumps(block['input'])}]")
    for at, turn in enumerate(turns):
        if turn["role"] == "user":
            before = turns[at - 1]["content"] if at else []
            turn["content"] = _answers(turn["content"], {b["id"] for b in before if b["type"] == "tool_use"}, changed)


def _answers(blocks: list[Json], called: set[str], changed: Counter[str]) -> list[Json]:
    found: list[Json] = []
    for block in blocks:
        if block["type"] != "tool_result":
            found.append(block)
        elif block["tool_use_id"] in called:
            called.discard(block["tool_use_id"])
            found.append(block)
        else:
            changed["tool results without their call sent as text"] += 1
            content = block["content"]
            parts = content if isinstance(content, list) else [_text(f"[tool result: {content}]")]
            found += parts or [_text("[tool result]")]
    return found


def _name(value: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", value)[:NAME_CHARS]


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def ranges(sizes: list[int], open_after: list[bool], *, most_messages: int, most_bytes: int) -> list[tuple[int, int]]:
    """Positions cut into ranges of at most ``most_messages`` and ``most_bytes``, where no tool call is open.

    A range grows beyond its limits while a call is open, to twice as many messages at most.  Cuts depend only on what
    stands before them, so that a session that grew keeps its ranges but the last.
    """
    found: list[tuple[int, int]] = []
    start, held = 0, 0
    for at, size in enumerate(sizes):
        held += size
        n_messages = at + 1 - start
        full = n_messages >= most_messages or held >= most_bytes
        if full and (not open_after[at] or n_messages >= 2 * most_messages):
            found.append((start, at + 1))
            start, held = at + 1, 0
    return found + ([(start, len(sizes))] if start < len(sizes) else [])


def open_calls(messages: Sequence[Message]) -> list[bool]:
    """After each message, whether a tool call waits for its result."""
    waiting: set[str] = set()
    found = []
    for message in messages:
        for block in message.blocks:
            if block.kind is Kind.TOOL_USE and block.call_id:
                waiting.add(block.call_id)
            elif block.kind is Kind.TOOL_RESULT:
                waiting.discard(block.call_id)
        found.append(bool(waiting))
    return found
