"""JSON values of the kind expected, or an empty one: nothing in a transcript is sure to be what it should be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from sessions.engine.base import limits
from sessions.engine.reading.json_values import JsonProblem, dumps, loads
from sessions.engine.transcript.types import Block, Content, Role

Record = Mapping[str, Any]
"""A JSON object as it stands in the file."""
Path = tuple[str | int, ...]
"""From a JSON value to a part of it."""
ROLES = {"assistant": Role.ASSISTANT, "system": Role.SYSTEM}
"""As most name them; any other is a user's."""
Measured = Callable[[Iterable[Content]], tuple[Block, ...]]
"""What makes blocks of contents while a file is read."""


def text_of(value: Any) -> str:
    """``value`` if it is a string, else nothing."""
    return value if isinstance(value, str) else ""


def as_dict(value: Any) -> dict[str, Any]:
    """``value`` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """``value`` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def first_text(record: Record, *keys: str) -> str:
    """The text under the first of ``keys`` that has any."""
    return next((found for key in keys if (found := text_of(record.get(key)))), "")


def seconds(value: Any) -> float | None:
    """An ISO time, or seconds or milliseconds since 1970, as seconds; None where it is none of these."""
    try:
        if isinstance(value, str):
            return datetime.fromisoformat(value).timestamp()
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value / 1000 if value > 1e11 else float(value)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def parsed(text: str, otherwise: Any = None) -> Any:
    """The JSON value that a string holds; ``otherwise`` where it holds none."""
    try:
        return loads(text.encode("utf-8", "replace"))
    except JsonProblem:
        return otherwise


def written(value: Any) -> str:
    """A string as it is, nothing for None, any other value as compact JSON."""
    return value if isinstance(value, str) else "" if value is None else dumps(value)


def dollars_of(value: Any) -> float:
    """An amount above 0 that a file states, at most ``limits.MAX_COUNT``; 0 for what is none."""
    is_amount = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= limits.MAX_COUNT
    return float(value) if is_amount else 0.0


def count_of(value: Any) -> int:
    """A count, 0 for what is none; a whole number written as a float or as a string is one.

    Below 0 and beyond any model call it is kept, at most ``limits.MAX_COUNT`` either way: what holds such a count is
    left out when the file has been read (sessions.engine.reading.understood), and said so.
    """
    if value is None:
        return 0
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return max(-limits.MAX_COUNT, min(value, limits.MAX_COUNT))
