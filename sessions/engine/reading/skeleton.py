"""A transcript without what was said in it: its shape, for a report about a file that is not understood (formats 2.3).

Keys, types, lengths and numbers stay.  Every text becomes filler of the same length in characters and bytes, every
single word (ids, names, paths) a made-up one of the same length, the same wherever it stands, so that what belongs
together still does.  Words that our own readers know, such as ``tool_use``, stay: they are collected from the constants
of their code, so that none is missed.
"""

from __future__ import annotations

import base64
import importlib
import pkgutil
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from sessions.engine.base.words import words
from sessions.engine.models.models_listed import LISTED
from sessions.engine.reading import formats
from sessions.engine.reading.formats._provider_errors import Refusal, refusal_of
from sessions.engine.reading.images import header_bytes, media_facts
from sessions.engine.reading.jsonio import JsonProblem, Source, dumps, loads
from sessions.engine.transcript.recorded_events import ErrorKind

FREE = frozenset({"input", "arguments", "args", "rawArgs", "rawInput", "params", "parameters", "toolUseResult"})
"""What stands under these keys is a tool's own: keys that no reader knows are made up, and so are their numbers."""
MAX_WORD, MAX_LETTERS, FEW_LETTERS, MAX_ROWS = 200, 40, 3, 50
_KEY = re.compile(r"[$@_]?[A-Za-z]+\d{0,2}(?:[_.:-]?[A-Za-z]+\d{0,2})*")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_VERSION = re.compile(r"(?:([A-Za-z]+)-?)?v?\d+(?:\.\d+){1,3}")
_MODEL = re.compile(r"(.*?)(?:-\d{8}|-latest)?")
_MEDIA = re.compile(
    r"(?:image|application|text|audio|video)/(?:png|jpeg|gif|webp|pdf|plain|json|markdown|html|mpeg|wav|mp4)"
)
_CLIENT = re.compile(r"[A-Za-z][A-Za-z_-]{1,30} (?:before )?v?\d+(?:\.\d+){0,3}")
"""An agent and its version, whose trigger the verdict names."""
_STREAM = re.compile(r"(?:event|data):")
_DATA = re.compile(r"(data:[a-z]+/[a-z0-9.+-]+;base64,)?([A-Za-z0-9+/_-]{64,}=*)")
_ENDING = re.compile(r".+?(\.(?:png|jpe?g|gif|webp|pdf|svg))", re.IGNORECASE)
_PREFIX = re.compile(r"([A-Za-z]+[-_./:@])(.+)", re.DOTALL)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?', re.DOTALL)
FAILED = "failed to compact"
"""How a compaction that failed is told again."""
_FILLER = {1: "x", 2: "é", 3: "の", 4: "😀"}
_LETTERS = "bcdfghjkmn"
"""Numbers as letters, without a vowel: no word comes out."""

ALSO_KNOWN = frozenset(
    {f"{who}Message{chunk}" for who in ("AI", "Human", "System", "Tool", "Function") for chunk in ("", "Chunk")}
    | {"generateContent", "generateContentStream", "langchain", "langchain_core", "schema", "messages"}
    | {"llm", "input_messages", "output_messages", "message_content", "token_count", "openinference", "span"}
    | {"gen_ai", "prompt", "completion", "POST", "/v1/messages", "/v1/chat/completions", "/v1/responses", "responses"}
)
"""Public names that readers put together from pieces."""
TOOLS = frozenset(
    words(
        """Read Edit MultiEdit Write NotebookEdit Bash BashOutput Grep Glob LS WebFetch WebSearch TodoWrite Task Skill
        read read_file read_many_files write_file write_to_file replace replace_in_file edit_file list_files
        list_directory search_files search_file_content run_shell_command execute_command shell bash apply_patch
        update_plan str_replace_editor view glob grep recall"""
    )
)
"""Public names of agents' own tools: policies and losses tell them apart."""
IN_PATTERNS = ("Error: Error during compaction:",)
"""Sentences of agents that stand in patterns, not in constants."""
MIN_SENTENCE = 12
_TAG = re.compile(r"</?[a-z][a-z_-]{3,40}>")
MAX_KNOWN, MAX_SENTENCE = 60, 200


class Skeleton:
    """Makes one file's skeleton; equal words become equal ones in all of it."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}
        self._ids: set[str] = set()

    def lines(self, source: Source) -> Iterator[str]:
        """The skeleton of a file, line by line; of a JSON document as one line, of an archive or database as parts."""
        if not source.is_lines():
            yield from self._parts(source)
            return
        document = source.head().document
        if document is not None:
            self._note_ids(document)
            yield dumps(self.value(document))
            return
        for line in source.every_line():
            with suppress(JsonProblem):
                self._note_ids(loads(line.data or b""))
        for line in source.every_line():
            yield self.line((line.data or b"").decode("utf-8", errors="replace"))

    def _parts(self, source: Source) -> Iterator[str]:
        archive, database = source.archive(), source.database()
        if archive is not None:
            for name in archive.names:
                with suppress(JsonProblem):
                    yield dumps({"member": self.word(name), "value": self.value(source.member(name))})
        for table, columns in (database.tables if database is not None else {}).items():
            yield dumps({"table": self.key(table, free=False), "columns": [self.key(c, free=False) for c in columns]})
            quoted = table.replace('"', '""')
            for row in database.rows(f'SELECT * FROM "{quoted}" LIMIT {MAX_ROWS}') if database is not None else ():  # noqa: S608
                yield dumps(self.value(row))

    def _note_ids(self, value: Any) -> None:
        """Words that stand as values: a key of the same spelling is an id, no field's name."""
        if isinstance(value, dict | list):
            for part in value.values() if isinstance(value, dict) else value:
                self._note_ids(part)
        elif isinstance(value, str) and len(value) <= MAX_LETTERS:
            self._ids.add(value)

    def line(self, text: str) -> str:
        """One line: JSON, an event of a stream, broken JSON, or anything else."""
        name, colon, rest = text.partition(":")
        if colon and name in {"data", "event"}:
            return f"{name}: {self.line(rest.strip())}"
        if text in known():
            return text
        if not text.lstrip("\ufeff \t").startswith(("{", "[")):
            return self.text(text)
        try:
            return dumps(self.value(loads(text.encode("utf-8", errors="replace"))))
        except JsonProblem:
            return self._broken(text)

    def value(self, value: Any, *, free: bool = False) -> Any:
        """A JSON value; ``free``: inside of what a tool was given or gave."""
        if isinstance(value, dict):
            return {self.key(key, free=free): self._part(key, part, free=free) for key, part in value.items()}
        if isinstance(value, list):
            return [self.value(part, free=free) for part in value]
        if isinstance(value, str):
            return value if value.isdigit() and not free else self.text(value)
        return value

    def _part(self, key: str, part: Any, *, free: bool) -> Any:
        if key == "client" and isinstance(part, str) and _CLIENT.fullmatch(part):
            return part
        if free and type(part) in {int, float} and key not in known():
            return type(part)()
        return self.value(part, free=free or (key in FREE and isinstance(part, (dict, list))))

    def key(self, key: str, *, free: bool) -> str:
        """A key that looks like a field's name stays; ids, paths and other keys that hold content do not."""
        if key in known():
            return key
        plain = _KEY.fullmatch(key) and len(key) <= MAX_LETTERS and not free and key not in self._ids
        return key if plain or _is_path(key) else self.word(key)

    def text(self, text: str) -> str:
        """A text as filler, a single word as its stand-in; JSON in it is taken apart, what readers know stays."""
        if not text or text in known() or _is_public(text):
            return text
        if (match := _DATA.fullmatch(text)) is not None:
            return (match[1] or "") + _picture(match[2])
        if (inner := self._inside(text)) is not None:
            return inner
        if (said := _said(text)) is not None:
            return said
        if len(text) <= MAX_WORD and not any(c.isspace() for c in text):
            return self.word(text)
        return _filled(text)

    def _inside(self, text: str) -> str | None:
        """JSON or a stream of events in a text; None for any other."""
        if _STREAM.match(text):
            return "\n".join(map(self.line, text.split("\n")))
        if text.lstrip()[:1] in {"{", "[", '"'}:
            with suppress(JsonProblem):
                return dumps(self.value(loads(text.encode("utf-8", errors="replace"))))
        return None

    def word(self, word: str) -> str:
        """The stand-in of an id, a name or a path: of the same length where that leaves room for a number.

        The beginning of an id stays where it is short or known, as ``msg_`` or ``tool-``.
        """
        if word not in self._words:
            ending = match[1] if (match := _ENDING.fullmatch(word)) else ""
            stem = word.removesuffix(ending)
            prefix, rest = match.groups() if (match := _PREFIX.fullmatch(stem)) else ("", stem)
            if len(prefix) > FEW_LETTERS + 1 and prefix not in known() and prefix[:-1] not in known():
                prefix, rest = "", stem
            number = "".join(_LETTERS[int(digit)] for digit in str(len(self._words)))
            filler = "w" * (len(rest) - len(number) - 1)
            self._words[word] = f"{prefix}{filler}q{number}{ending}"
        return self._words[word]

    def _broken(self, text: str) -> str:
        """JSON that is cut or damaged: its strings one by one, its numbers and marks as they are."""
        pieces, end = [], 0
        for match in _STRING.finditer(text):
            pieces.append(_bare(text[end : match.start()]))
            inside = self.key(match[1], free=False) if match[2] else self.text(match[1])
            pieces.append(f"{dumps(inside)}{match[2] or ''}")
            end = match.end()
        rest = text[end:]
        before, quote, cut = rest.partition('"')
        return "".join([*pieces, _bare(before), quote, _filled(cut)])


def _picture(data: str) -> str:
    """Filler of the same length; of an image with its size before it, by which it weighs what it did."""
    facts = media_facts("", data)
    start = b""
    if facts.width and facts.height and not facts.problem:
        start = header_bytes(facts.media_type, facts.width, facts.height)
    head = base64.b64encode(start).decode()
    return head.ljust(len(data), "A") if len(head) <= len(data) else "A" * len(data)


def _is_public(text: str) -> bool:
    """Times, versions, names of models and media types, paths of known words."""
    if (version := _VERSION.fullmatch(text)) is not None:
        return not version[1] or len(version[1]) <= FEW_LETTERS or version[1] in known()
    if (model := _MODEL.fullmatch(text)) is not None and model[1] in LISTED:
        return True
    return bool(_TIME.fullmatch(text) or _MEDIA.fullmatch(text)) or _is_path(text)


def _is_path(text: str) -> bool:
    """Whether it is a name with dots all of whose parts are known, as attributes of spans have."""
    parts = text.split(".")
    return len(parts) > 1 and all(part in known() or (part.isdigit() and len(part) <= FEW_LETTERS) for part in parts)


def _refused(refusal: Refusal) -> str:
    """A refusal for size, or a compaction that failed, in words of our own, with its figures."""
    if refusal.kind == ErrorKind.COMPACTION:
        return FAILED
    if refusal.kind == ErrorKind.GAVE_UP:
        return "Autocompact is thrashing"
    said = "prompt is too long" if refusal.kind == ErrorKind.CONTEXT else "request_too_large"
    said = f"{FAILED}: {said}" if refusal.of_compaction else said
    if refusal.tokens and refusal.limit:
        return f"{said}: {refusal.tokens} tokens > {refusal.limit} maximum"
    limit = f"; maximum context length is {refusal.limit}" if refusal.limit else ""
    return f"{said}{limit}" + (f"; resulted in {refusal.tokens} tokens" if refusal.tokens else "")


def _bare(text: str) -> str:
    """What stands between strings: words other than JSON's own become filler."""
    return re.sub(r"[^\W\d_]{2,}", lambda m: m[0] if m[0] in {"true", "false", "null"} else "x" * len(m[0]), text)


def _filled(text: str) -> str:
    """Filler of the same length in characters and in bytes; white space and what readers look for stay."""
    pieces, end = [], 0
    for match in marks().finditer(text):
        pieces += [_filler(text[end : match.start()]), match[0]]
        end = match.end()
    return "".join([*pieces, _filler(text[end:])])


def _filler(text: str) -> str:
    return "".join(c if c.isspace() else _FILLER[len(c.encode("utf-8", errors="replace"))] for c in text)


def _said(text: str) -> str | None:
    """What an agent or a provider says, by which readers know a message, without the rest; None for any other text."""
    if (said := next((said for said in sentences() if text.startswith(said)), "")) != "":
        return said + _filled(text[len(said) :])
    refusal = refusal_of(text)
    return None if refusal is None else _refused(refusal)


@cache
def known() -> frozenset[str]:
    """The words that our readers look for: the constants of their code, without sentences."""
    found = (text for text in _constants() if len(text) <= MAX_KNOWN and not any(c.isspace() for c in text))
    return frozenset(found) | ALSO_KNOWN | TOOLS


@cache
def sentences() -> tuple[str, ...]:
    """The beginnings that our readers know, the longest first."""
    found = {text for text in _constants() if MIN_SENTENCE <= len(text) <= MAX_SENTENCE and " " in text.strip()}
    return tuple(sorted(found, key=lambda text: (-len(text), text)))


@cache
def marks() -> re.Pattern[str]:
    """What readers look for inside texts: tags, and openings in brackets."""
    found = {tag for text in _constants() for tag in _TAG.findall(text)} | {*IN_PATTERNS}
    found |= {text for text in _constants() if re.match(r"[<\[#][\w ]{4,}", text) and len(text) <= MAX_KNOWN}
    longest_first = sorted(found, key=lambda text: (-len(text), text))
    return re.compile("|".join(map(re.escape, longest_first)))


@cache
def _constants() -> frozenset[str]:
    found: set[str] = set()
    for info in pkgutil.walk_packages(formats.__path__, f"{formats.__name__}."):
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if not name.startswith("__"):
                _collect(value, found, module.__name__)
    return frozenset(found)


def _collect(value: Any, found: set[str], module: str) -> None:
    """Every text in a constant, a function's code or a class of a module."""
    if isinstance(value, str):
        found.add(value)
    elif isinstance(value, bytes):
        found.add(value.decode("utf-8", errors="replace"))
    elif isinstance(value, re.Pattern):
        found.add(value.pattern if isinstance(value.pattern, str) else "")
    elif isinstance(value, (tuple, list, set, frozenset)):
        for part in value:
            _collect(part, found, module)
    elif isinstance(value, dict):
        _collect(list(value), found, module)
        _collect(list(value.values()), found, module)
    elif isinstance(value, CodeType):
        _collect(value.co_consts, found, module)
    elif isinstance(value, (FunctionType, type)) and value.__module__ == module:
        inner = [value.__code__] if isinstance(value, FunctionType) else list(vars(value).values())
        _collect(inner, found, module)
