"""JSON values of the kind expected, or an empty one: nothing in a transcript is sure to be what it should be."""

from __future__ import annotations

from typing import Any


def text_of(value: Any) -> str:
    """``value`` if it is a string, else nothing."""
    return value if isinstance(value, str) else ""


def as_dict(value: Any) -> dict[str, Any]:
    """``value`` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """``value`` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []
