"""JSON values and text, both ways: the only place that parses JSON.

Hostile or broken input becomes a ``JsonProblem`` with a reason and a position, never a crash: nesting 100,000 deep,
invalid UTF-8, lone surrogates, raw control characters, byte order marks (estimators 15).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import jiter

from sessions.engine.base import limits

BOM = b"\xef\xbb\xbf"
EXTRA, CUT = "not JSON: Extra data", "JSON is cut off"
_CONTAINERS = (dict, list)
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)
_BLANK = b" \t\r\n\0"
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


class JsonProblem(ValueError):
    """Bytes that hold no JSON value we can use; ``position`` is a byte offset inside them."""

    def __init__(self, reason: str, position: int = 0) -> None:
        self.reason, self.position = reason, position
        super().__init__(f"{reason} (byte {position:,})")


def loads(data: bytes) -> Any:
    """The JSON value in ``data``; raises JsonProblem.

    Depth is bounded by ``limits.MAX_DEPTH``, lone surrogates and invalid UTF-8 become U+FFFD, raw control characters
    are accepted.
    """
    try:
        # What jiter takes, it reads as the standard library does, in half the time; it takes 201 levels at the most.
        return jiter.from_json(data, cache_mode="none")
    except ValueError:
        pass  # it is broken, deep or unusual
    whole = data.removeprefix(BOM)
    if b"\\ud" in whole or b"\\uD" in whole:
        whole = _ESCAPE.sub(lambda match: b"\\ufffd" if match["lone"] else match[0], whole)
    value = _parsed(whole.decode("utf-8", errors="replace"))
    if data.count(b"[") + data.count(b"{") > limits.MAX_DEPTH and _deeper_than(value, limits.MAX_DEPTH):
        raise JsonProblem(f"nested deeper than {limits.MAX_DEPTH} levels")
    return value


def dumps(value: Any) -> str:
    """Compact JSON, non-ASCII kept; what JSON does not know (from Python reprs) is written as its text."""
    return _COMPACT.encode(value)


def written_length(value: Mapping[str, Any], key: str, line: bytes) -> int:
    """Bytes that ``value[key]`` takes in ``line``, the JSON that ``value`` was read from.

    They are what stands between the key and the next one.  Where either occurs more than once, or is written with
    escapes: what the part takes as compact JSON.
    """
    after = list(value)[list(value).index(key) + 1 :]
    start = _end_of_name(key, line)
    end = _end_of_name(after[0], line) - len(_name(after[0])) if after else len(line)
    body = line[: max(end, 0)].rstrip(_BLANK)
    if 0 < start < end and body.endswith(b"," if after else b"}"):
        return len(body[line.index(b":", start) + 1 : -1].strip())
    return len(dumps(value[key]).encode("utf-8", errors="replace"))


def _end_of_name(key: str, line: bytes) -> int:
    """Where ``key`` ends, quotes included, if it stands in ``line`` once; else 0."""
    name = _name(key)
    return line.index(name) + len(name) if line.count(name) == 1 else 0


def _name(key: str) -> bytes:
    return b'"%b"' % key.encode("utf-8", errors="replace")


def follow(value: Any, path: tuple[str | int, ...]) -> Any:
    """The part of ``value`` that ``path`` leads to; raises JsonProblem where there is none.

    A step into a string is a step into the JSON it holds: traces and clients nest JSON in strings.
    """
    for step in path:
        while isinstance(value, str):
            value = loads(value.encode("utf-8", errors="replace"))
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError) as error:
            raise JsonProblem(f"no {step!r} at {'/'.join(map(str, path))}") from error
    return value


def _parsed(text: str) -> Any:
    try:
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            if not error.msg.startswith("Invalid control character"):
                raise
            return json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        position = len(text[: error.pos].encode("utf-8", errors="replace"))
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        raise JsonProblem(CUT if cut else f"not JSON: {error.msg}", position) from None
    except RecursionError:
        raise JsonProblem(f"nested deeper than {limits.MAX_DEPTH} levels") from None
    except ValueError as error:  # an integer of more digits than Python converts
        raise JsonProblem(f"not usable as JSON: {error}") from None


def _deeper_than(value: Any, depth: int) -> bool:
    level = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(depth):
        if not level:
            return False
        level = [
            child
            for container in level
            for child in (container.values() if isinstance(container, dict) else container)
            if isinstance(child, _CONTAINERS)
        ]
    return bool(level)
