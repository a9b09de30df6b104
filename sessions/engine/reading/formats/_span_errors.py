"""What a failed span says went wrong: its status, its exceptions, its attributes (formats 16 and 60)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of

ERROR_KEYS = ("exception.type", "exception.message", "error.message", "error.type")


def error_text(value: Record, attributes: Mapping[str, tuple[Any, Any]], plain: Callable[[Any], Any]) -> str:
    """What a failed span says went wrong: its status, its exceptions, its attributes; "" for one that did not fail."""
    status = as_dict(value.get("status"))
    code = status.get("code", status.get("status_code"))
    found = [text_of(status.get("message")) or text_of(status.get("description"))]
    for event in map(as_dict, as_list(value.get("events"))):
        held = event.get("attributes")
        pairs = dict(held) if isinstance(held, dict) else {
            text_of(as_dict(pair).get("key")): plain(as_dict(pair).get("value")) for pair in as_list(held)
        }  # fmt: skip
        found += [text_of(pairs.get(key)) for key in ERROR_KEYS]
    found += [text_of(attributes[key][0]) for key in ERROR_KEYS if key in attributes]
    failed = code in (2, "2", "ERROR", "STATUS_CODE_ERROR", "Error") or "error.type" in attributes
    return " ".join(dict.fromkeys(filter(None, found))) if failed else ""
