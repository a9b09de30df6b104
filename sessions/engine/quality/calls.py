"""Tool calls as quality sees them: what was read, written or run, on what, which lines, and where the result stands."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sessions.engine.quality.rules import Rule
from sessions.engine.reading.jsonio import JsonProblem, loads
from sessions.engine.transcript.types import Content

READ, WRITE, RUN, SEARCH, FETCH, ASK, OTHER = "read", "write", "run", "search", "fetch", "ask", "other"
VERBS = {
    ASK: {"ask", "question", "input", "followup"},
    WRITE: {"write", "edit", "multiedit", "create", "replace", "patch", "insert", "update", "append", "delete"},
    FETCH: {"fetch", "browse", "navigate", "url", "webfetch"},
    SEARCH: {"grep", "glob", "search", "find", "ls", "list", "rg", "websearch"},
    RUN: {"bash", "shell", "exec", "run", "execute", "terminal", "command", "python", "ipython"},
    READ: {"read", "view", "cat", "open", "show"},
}
"""Words in a tool's name that say what it does; the first verb that fits, in this order."""
NOTES = frozenset({"todo", "todos", "task", "tasks", "plan"})
"""Words of tools that keep the agent's own list of what to do: TodoWrite and TaskUpdate write no file."""
INPUT = frozenset({"stdin", "keys", "keystrokes"})
"""Words of tools that type into a command that runs, or poll it: Codex's write_stdin writes no file."""
COMMAND_KEYS = ("command", "cmd", "script", "code", "input")
PATH_KEYS = ("file_path", "path", "filename", "notebook_path", "target_file", "file", "filePath", "absolute_path")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_NOT_FOUND_CODE = re.compile(r"\"?cmd\"?\s*:\s*\"((?:[^\"\\]|\\.){1,400})\"")
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (\S.*)$", re.MULTILINE)
_GO_TO = re.compile(r"^cd \S+ && ")
_SHOWS = re.compile(
    r"(?:cat|nl(?: -ba)?|less|bat|head(?: -(?:n ?)?(?P<head>\d+))?"
    r"|sed -n ['\"]?(?P<first>\d+),(?P<last>\d+)p['\"]?)"
    r" (?P<path>[\w./~@+-]+)$"
)
TARGET_CHARS = 200


class ToolCall(NamedTuple):
    """One tool call.

    ``message`` and ``block`` say where it stands, ``result`` where its answer does, None where there is none; ``key``
    is the path, command, pattern or address it names; ``start`` and ``stop`` are the lines read, from 1, ``stop``
    included and None for "to the end"; ``n_tokens`` is tiktoken's count of the result.
    """

    message: int
    block: int
    call_id: str
    name: str
    verb: str
    key: str
    start: int
    stop: int | None
    result: tuple[int, int] | None = None
    n_tokens: int = 0


@lru_cache(maxsize=4096)
def verb_of(name: str) -> str:
    """What a tool does by its name: "read", "write", "run", "search", "fetch", "ask" or "other"."""
    words = {word.lower() for word in _WORD.findall(name.rsplit("__", 1)[-1])}
    if words & (NOTES | INPUT):
        return OTHER
    return next((verb for verb, marks in VERBS.items() if words & marks), OTHER)


def arguments_of(content: Content) -> Any:
    """The arguments of a tool_use as JSON, or its text where they are none."""
    try:
        return loads(content.text.encode("utf-8", "replace"))
    except JsonProblem:
        return content.text


def strings_of(value: Any) -> Iterator[str]:
    """Every string inside a JSON value; keys are the tool's own words and are left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings_of(inner)


def names_in(value: Any) -> Iterator[str]:
    """Every key inside a JSON value: what the tool calls its own arguments."""
    if isinstance(value, dict):
        yield from value
        for inner in value.values():
            yield from names_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from names_in(inner)


def command_of(arguments: Any, verb: str) -> str:
    """The shell line that a call runs, "" where it runs none."""
    if verb != RUN:
        return ""
    if isinstance(arguments, str):
        inner = _NOT_FOUND_CODE.search(arguments)
        return inner.group(1).replace("\\n", "\n").replace('\\"', '"') if inner else arguments[:400]
    if isinstance(arguments, dict):
        for key in COMMAND_KEYS:
            value = arguments.get(key)
            if isinstance(value, str):
                return value
            if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
                return str(value[-1]) if len(value) == 3 and value[1] in {"-c", "-lc"} else " ".join(value)
    return ""


def make_call(message: int, block: int, content: Content, arguments: Any) -> ToolCall:
    """The call that a tool_use makes, without its result yet."""
    verb = verb_of(content.name)
    command = command_of(arguments, verb)
    shown = shown_file(command)
    if shown:
        return ToolCall(message, block, content.call_id, content.name, READ, *shown)
    key = " ".join(command.split()) if command else _path(arguments) or content.target
    if verb == WRITE and not key:
        key = next((found.group(1) for text in strings_of(arguments) if (found := _PATCHED.search(text))), "")
    if verb == ASK and not key:
        key = " ".join(next(strings_of(arguments), "").split())
    start, stop = _lines(arguments)
    return ToolCall(message, block, content.call_id, content.name, verb, key[:TARGET_CHARS], start, stop)


def shown_file(command: str) -> tuple[str, int, int | None] | None:
    """(path, first line, last line) of a shell line that only shows one file: ``sed -n '1,80p' a.py``, ``cat a.py``."""
    found = _SHOWS.match(_GO_TO.sub("", command.strip()))
    if not found:
        return None
    first, last, head = (int(n) if n else None for n in found.group("first", "last", "head"))
    return found.group("path")[:TARGET_CHARS], first or 1, last if first else head


def _path(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return ""
    return next((arguments[key] for key in PATH_KEYS if isinstance(arguments.get(key), str)), "")


def _lines(arguments: Any) -> tuple[int, int | None]:
    """The lines that a read asks for, as different tools name them; (1, None) for the whole file."""
    if not isinstance(arguments, dict):
        return 1, None
    span = arguments.get("view_range")
    if isinstance(span, list) and len(span) == 2 and all(isinstance(n, int) for n in span):
        return span[0], span[1] if span[1] >= span[0] else None
    start, stop = _number(arguments, "start_line", "offset"), _number(arguments, "end_line")
    limit = _number(arguments, "limit")
    first = max(1, start or 1)
    return first, stop if stop is not None else first + limit - 1 if limit else None


def _number(arguments: dict[str, Any], *keys: str) -> int | None:
    return next((v for k in keys if isinstance(v := arguments.get(k), int) and not isinstance(v, bool)), None)


def overlap(one: ToolCall, other: ToolCall) -> bool:
    """Whether two calls ask for some of the same lines."""
    return (one.stop is None or other.start <= one.stop) and (other.stop is None or one.start <= other.stop)


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
