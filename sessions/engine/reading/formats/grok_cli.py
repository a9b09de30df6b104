"""Grok CLI sessions: ``chat_history.jsonl``, what the model sees, one entry a line (formats 41).

Reasoning and the server's own tool calls stand before the reply that they belong to and are one message with it.  Usage
is recorded for whole turns only, in another file; what a compaction removed is not in this one.
"""

from __future__ import annotations

import re
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._anthropic_blocks import block_of
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import is_prompt, media_link
from sessions.engine.reading.formats._chat_blocks import chat_contents
from sessions.engine.reading.formats._items import call_content, item_contents
from sessions.engine.reading.formats._records import first_objects, folder_of, objects
from sessions.engine.reading.formats._values import Record, as_dict, text_of
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role

TYPES = frozenset({"system", "user", "assistant", "reasoning", "tool_result", "backend_tool_call"})
OWN_KEYS = ("model_id", "synthetic_reason", "prompt_index")
FOREIGN_KEYS = ("message", "sessionId", "uuid", "payload", "role", "parentId")
NO_BYTES = re.compile(r"data:[^,]*,(?=.*[^A-Za-z0-9+/=\s])", re.DOTALL)
"""A data URI whose bytes were taken out."""


def _contents(entry: Record) -> tuple[Content, ...]:
    kind = entry.get("type")
    if kind == "reasoning":
        return item_contents(entry)
    if kind == "backend_tool_call":
        call = as_dict(entry.get("kind"))
        return (call_content(text_of(call.get("tool_type")), "", call.get("action")),)
    return chat_contents({**entry, "role": "tool"} if kind == "tool_result" else entry, _part)


class _Format(Format):
    label = "Grok CLI"
    source = "Sessions of Grok CLI, ~/.grok/sessions/<folder>/<id>/chat_history.jsonl (JSONL)"
    coverage = Coverage(images=YES, live=YES, model="model")

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        fitting = [value for value in lines if _fits(value)]
        if not fitting or 2 * len(fitting) < len(lines):
            return None
        own = next((key for value in fitting for key in OWN_KEYS if key in value), "")
        if own or any(value["type"] == "backend_tool_call" for value in fitting):
            with_what = own or "backend calls"
            return Sniff(90, f"{len(fitting)} of the first {len(lines)} lines are entries with {with_what}")
        return Sniff(0, "lines have Grok's types, but none of " + ", ".join(OWN_KEYS))

    def parse(self, source: Source, measure: Measured) -> Parsed:
        reading = _Reading(measure)
        for line, entry in objects(source, _fits, "no entry of a type that Grok CLI writes"):
            reading.take(entry, line.at())
        reading.broken_off()
        transcript = reading.history.transcript(folder_of(source.name, "chat_history"), system=measure(reading.system))
        return read_as([transcript])

    contents = each_value(_contents)


class _Reading:
    """What one pass over the file collects; ``waiting`` are entries whose reply comes later."""

    def __init__(self, measure: Measured) -> None:
        self.history = Assembly(measure)
        self.system: tuple[Content, ...] = ()
        self.waiting: list[tuple[Record, Origin]] = []
        self.n_broken = 0

    def take(self, entry: Record, origin: Origin) -> None:
        kind = entry["type"]
        if kind in ("reasoning", "backend_tool_call"):
            self.waiting.append((entry, origin))
        elif kind == "assistant":
            before, origins = self._waited()
            said, model = (*before, *_contents(entry)), text_of(entry.get("model_id"))
            self.history.answer(said, [*origins, origin], model=model)
        elif kind == "system":
            self.broken_off()
            self.system += _contents(entry)
        else:
            self.broken_off()
            contents, injected = _contents(entry), "synthetic_reason" in entry
            typed = kind == "user" and not injected and is_prompt(contents)
            self.history.add(Role.USER, contents, [origin], typed=typed, meta=injected)

    def broken_off(self) -> None:
        """Keep what came before a reply that is not there: it is no request."""
        contents, origins = self._waited()
        if origins:
            self.history.add(Role.ASSISTANT, contents, origins)
            self.n_broken += 1
            self.history.warnings = [f"Replies broken off: {self.n_broken}; not counted as requests"]

    def _waited(self) -> tuple[list[Content], list[Origin]]:
        contents = [content for entry, _ in self.waiting for content in _contents(entry)]
        origins = [origin for _, origin in self.waiting]
        self.waiting.clear()
        return contents, origins


def _fits(entry: Record) -> bool:
    kind = text_of(entry.get("type"))
    if kind not in TYPES or any(key in entry for key in FOREIGN_KEYS):
        return False
    if kind == "user":
        return isinstance(entry.get("content"), list)
    if kind in ("assistant", "system"):
        return isinstance(entry.get("content"), str)
    return {"reasoning": "summary", "backend_tool_call": "kind", "tool_result": "tool_call_id"}[kind] in entry


def _part(part: Any) -> Content:
    url = text_of(part.get("url")) if isinstance(part, dict) and part.get("type") == "image" else ""
    if not url:
        return block_of(part)
    return Content(Kind.IMAGE, url=url) if NO_BYTES.match(url) else media_link(url, kind=Kind.IMAGE)
