"""Whether a tool call does what a rule forbids."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sessions.engine.quality.calls import RUN, WRITE

if TYPE_CHECKING:
    from sessions.engine.quality.calls import ToolCall
    from sessions.engine.quality.rules import Rule

_WRITES = re.compile(r"^(?:sudo )?(?:sed -i|rm|mv|cp|tee|truncate|touch|git (?:checkout|restore|rm|mv))\b")
_INTO = re.compile(r">{1,2} ?([^ &]+)")
_SETTINGS = re.compile(r"^(?:\w+=\S* )+")
_SEGMENTS = re.compile(r"&&|\|\||[;|\n]|\$\(")


def breaks(call: ToolCall, rule: Rule) -> bool:
    """Whether a tool call names what the rule forbids: writes a forbidden path, or runs a forbidden command."""
    if call.verb == WRITE:
        return any(_same_path(call.key, path) for path in rule.forbidden_paths)
    if call.verb != RUN:
        return False
    segments = [" ".join(segment.split()) for segment in _SEGMENTS.split(call.key)]
    if any(_runs(segment, command) for segment in segments for command in rule.forbidden_commands):
        return True
    return any(_writes(segment, path) for segment in segments for path in rule.forbidden_paths)


def _writes(segment: str, path: str) -> bool:
    """Whether a shell command changes a file: names it after a changing command, or sends its output there."""
    named = segment.split() if _WRITES.match(segment) else _INTO.findall(segment)
    return any(_same_path(word.strip("'\""), path) for word in named)


def _runs(segment: str, command: str) -> bool:
    words = _SETTINGS.sub("", segment.removeprefix("sudo ")).split()
    wanted = command.split()
    return words[: len(wanted)] == wanted


def _same_path(path: str, forbidden: str) -> bool:
    return path == forbidden or path.endswith("/" + forbidden.removeprefix("./").lstrip("/"))
