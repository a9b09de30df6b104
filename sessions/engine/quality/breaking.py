"""Which tool calls do what a rule forbids."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sessions.engine.quality.calls import RUN, WRITE, ToolCall

if TYPE_CHECKING:
    from sessions.engine.quality.rules import Rule

_WRITES = re.compile(r"^(?:sudo )?(?:sed -i|rm|mv|cp|tee|truncate|touch|git (?:checkout|restore|rm|mv))\b")
_INTO = re.compile(r">{1,2} ?([^ &]+)")
_SETTINGS = re.compile(r"^(?:\w+=\S* )+")
_SEGMENTS = re.compile(r"&&|\|\||[;|\n]|\$\(")


class Breaking:
    """Tool calls by what they write and run: a rule is held against all of them by a few look-ups."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        """``calls`` are those of a session, in order."""
        self.calls = calls
        self._written: dict[str, list[int]] = {}
        files: list[tuple[str, int]] = []
        runs: list[tuple[str, int]] = []
        for number, call in enumerate(calls):
            segments = [" ".join(segment.split()) for segment in _SEGMENTS.split(call.key)] if call.verb == RUN else []
            written = [path for segment in segments for path in _names(segment)]
            for path in [call.key] if call.verb == WRITE else written:
                self._written.setdefault(path, []).append(number)
                files.append((path[::-1], number))
            runs += [(f"{_command(segment)} ", number) for segment in segments]
        self._files, self._runs = sorted(files), sorted(runs)
        self._known: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[ToolCall, ...]] = {}

    def of(self, rule: Rule) -> tuple[ToolCall, ...]:
        """Calls that name what the rule forbids, in order: that write a forbidden path, or run a forbidden command."""
        forbidden = rule.forbidden_paths, rule.forbidden_commands
        if forbidden not in self._known:
            found = {number for path in forbidden[0] for number in self._writing(path)}
            found.update(n for command in forbidden[1] for n in _beginning(self._runs, f"{' '.join(command.split())} "))
            self._known[forbidden] = tuple(self.calls[number] for number in sorted(found))
        return self._known[forbidden]

    def _writing(self, path: str) -> Iterator[int]:
        """Calls that write the path, or one that ends in it."""
        yield from self._written.get(path, ())
        yield from _beginning(self._files, ("/" + path.removeprefix("./").lstrip("/"))[::-1])


def _beginning(entries: list[tuple[str, int]], start: str) -> Iterator[int]:
    """The numbers of sorted entries that begin so."""
    for k in range(bisect_left(entries, (start,)), len(entries)):
        if not entries[k][0].startswith(start):
            return
        yield entries[k][1]


def _names(segment: str) -> list[str]:
    """The words of a shell command that may be files it changes: all of a changing one, else where its output goes."""
    named = segment.split() if _WRITES.match(segment) else _INTO.findall(segment)
    return [word.strip("'\"") for word in named]


def _command(segment: str) -> str:
    """A shell command without what is set for it."""
    return " ".join(_SETTINGS.sub("", segment.removeprefix("sudo ")).split())
