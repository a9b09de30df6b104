"""Events of ``opencode run --format json``: the parts of the replies, one a line (formats 10.1).

They are put together again as the messages that opencode's export has, one for each call of the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sessions.engine.reading.formats._records import inside
from sessions.engine.reading.formats._values import Record, as_dict, dollars_of, text_of
from sessions.engine.transcript.types import Origin

PART = "part"
TYPES = {
    "text": "text", "reasoning": "reasoning", "tool_use": "tool", "step_start": "step-start",
    "step_finish": "step-finish",
}  # fmt: skip
"""Events by their type, and what the part that each holds is."""
FAILED = "error"


def is_event(value: Record) -> bool:
    """Whether a record is one event of a run: a part of its own type, or an error, of a named session."""
    kind = text_of(value.get("type"))
    held = as_dict(value.get(PART))
    is_part = kind in TYPES and text_of(held.get("type")) == TYPES[kind]
    return bool(text_of(value.get("sessionID"))) and (
        is_part or (kind == FAILED and isinstance(value.get(FAILED), dict))
    )


class Run:
    """The calls of one session, of its events one after the other."""

    def __init__(self) -> None:
        self.entries: list[tuple[dict[str, Any], list[Origin]]] = []
        self._is_open = False

    def take(self, event: Record, origin: Origin) -> None:
        """One event: a step begins a call, or another message does; its end has the usage."""
        part = as_dict(event.get(PART))
        entry, places = self._entry(event, part)
        info = entry["info"]
        if event["type"] == FAILED:
            info[FAILED] = event[FAILED]
            places.append(origin)
        else:
            entry["parts"].append(part)
            places.append(inside(origin, PART))
        if event["type"] == "step_finish":
            info |= {"tokens": part.get("tokens"), "cost": dollars_of(part.get("cost"))}
        self._is_open = event["type"] not in ("step_finish", FAILED)

    def _entry(self, event: Record, part: Record) -> tuple[dict[str, Any], list[Origin]]:
        native = text_of(part.get("messageID"))
        if self._is_open and event["type"] != "step_start":
            newest = self.entries[-1]
            if native in ("", newest[0]["info"]["id"]):
                return newest
        time = {"created": event.get("timestamp")}
        info = {"id": native, "sessionID": event["sessionID"], "role": "assistant", "time": time}
        self.entries.append(({"info": info, "parts": []}, []))
        return self.entries[-1]


def sessions_of(events: Iterator[tuple[Record, Origin]]) -> dict[str, list[tuple[dict[str, Any], list[Origin]]]]:
    """The messages of each session, in the order of their first event."""
    runs: dict[str, Run] = {}
    for event, origin in events:
        runs.setdefault(event["sessionID"], Run()).take(event, origin)
    return {native: run.entries for native, run in runs.items()}
