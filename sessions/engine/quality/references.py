"""What later work can depend on, found in text (decision "What counts as lost").

A text is cut into tokens once; every distinct token is judged once per session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

PATH, LOCATION, URL, IDENTIFIER = "path", "location", "url", "identifier"
COMMAND, ERROR, NUMBER, QUOTED, ID = "command", "error", "number", "quoted", "id"
KINDS = (PATH, LOCATION, URL, IDENTIFIER, COMMAND, ERROR, NUMBER, QUOTED, ID)

COMMON_SHARE = {PATH: 0.25, URL: 0.25, COMMAND: 0.25, ERROR: 0.25}
"""A reference in more than this share of a session's messages is boilerplate (the working directory, a banner)."""
COMMON_SHARE_ELSE, COMMON_AT_LEAST = 0.05, 10
"""The share for the other kinds; nothing is common that stands in 10 messages or fewer."""

MAX_CHARS = 200
COMMAND_CHARS = 160


class Reference(NamedTuple):
    """One thing that can be referred to again: its kind (one of ``KINDS``) and its text, at most 200 characters."""

    kind: str
    text: str


_TOKEN = re.compile(r"[\w./~@:#$+-]{4,200}", re.ASCII)
_URL = re.compile(r"https?://[^\s\"'<>`)\]}\\|]{4,200}")
_NUMBER = re.compile(
    r"\d[\d,]{0,15}(?:\.\d{1,6})?[ \u00a0]?"
    r"(?:px|rem|em|ms|µs|us|ns|s|min|h|KB|MB|GB|TB|KiB|MiB|GiB|kB|bytes|tokens|Hz|kHz|MHz|GHz|fps|USD|EUR)(?!\w)"
)
"""No percentages, lines or rows: they tell how much of something there was, and nobody goes back for them."""
_DEVICE = re.compile(r"^/(?:dev|proc|sys)(?:/|$)")
"""Files of the system, not of the task."""
_ERRORS = tuple(
    (end, re.compile(rf"{end}(?:\[\w{{1,12}}\])?: [^\n]{{4,160}}"))
    for end in ("rror", "xception", "FAILED", "fatal", "panic")
)
"""Ends of the words that begin an error message.  Each pattern starts with plain characters: that is what is fast."""
_CODE = re.compile(r"[{}`;]|=>|[,(]$|\$\{")
"""Signs of source code: a line that has one is no error message."""
_QUOTED = tuple(map(re.compile, (r"\"[^\"\n\\]{6,80}\"", r"`[^`\n]{4,120}`", r"'[^'\n\\]{6,80}'")))
_LINES = re.compile(r"(?::(\d{1,6})(?:[-:](\d{1,6}))?|#L(\d{1,6})(?:-L?(\d{1,6}))?)$")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
_FILE_NAME = re.compile(
    r"^\.?[\w-][\w.-]*\.(?:py|pyi|ipynb|js|jsx|mjs|cjs|ts|tsx|css|scss|html|htm|vue|svelte|go|rs|c|h|cc|cpp|hpp|cs|java|kt|"
    r"swift|rb|php|pl|lua|sh|bash|zsh|ps1|sql|json|jsonl|yaml|yml|toml|ini|cfg|conf|env|lock|xml|svg|png|jpg|jpeg|gif|"
    r"pdf|csv|tsv|txt|md|rst|log|proto|graphql|tf|gradle|mk|patch|diff)$"
)
_IDS = (
    re.compile(r"^(?=.*\d)(?=.*[a-f])[0-9a-f]{7,64}$"),
    re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", re.IGNORECASE),
    re.compile(r"^[A-Z][A-Z0-9]{1,9}-\d{1,7}$"),
    re.compile(r"^#\d{2,7}$"),
    re.compile(r"^v?\d+\.\d+\.\d+[\w.+-]*$"),
)
"""Hashes, UUIDs, tickets, issues, versions."""
_DOTTED = re.compile(r"^[A-Za-z_$]\w+(?:\.[A-Za-z_$]\w+)+$")
_SNAKE = re.compile(r"^[A-Za-z_$][A-Za-z0-9$]*_\w+$")
_CAMEL = re.compile(r"^(?:[a-z$_][a-z0-9]*[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z]{2,}[a-z]\w*)$")
_SEGMENT = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_SKIP_SEGMENT = re.compile(r"^(?:cd|echo|sleep|true|set|export|ls|pwd)\b")
HEADS = frozenset(
    """
    apt apt-get ansible bash brew bun bundle cargo cmake composer conda curl docker dotnet gh git go gradle gradlew
    helm java jest kubectl make mvn mypy node npm npx perl php pip pip3 pnpm poetry pre-commit psql pytest python
    python3 rg ruff ruby rustc sed sh ssh systemctl terraform tox tsc uv uvx vite vitest wget yarn
    """.split()  # noqa: SIM905  readable as a list of words
)
"""First words that make a quoted string a command."""
COMMON = frozenset(
    """
    console.log JavaScript TypeScript GitHub GitLab MacOS macOS iOS iPhone iPad YouTube LinkedIn OpenAI ChatGPT
    PostgreSQL MySQL NodeJS JetBrains PowerShell
    WebSocket DevOps LaTeX PyTorch stdout_lines tool_use tool_result file_path
    old_string new_string node_modules is_error toolUseResult IDs URLs APIs PRs LLMs
    in_progress not_started activeForm files_with_matches output_mode subagent_type
    """.split()  # noqa: SIM905  readable as a list of words
)
"""Names that any session has: no sign that this one depends on them."""


@lru_cache(maxsize=20_000)
def token_references(token: str) -> tuple[Reference, ...]:
    """What one token refers to: a path (with its line, a location too), an identifier, an id; mostly nothing."""
    word = token.strip(".:+-@")
    if token.startswith(("./", "../", ".")) and not word.startswith("."):
        word = (
            "." * (len(token) - len(token.lstrip("."))) + word if "/" in word or _FILE_NAME.match("." + word) else word
        )
    if len(word) < 4 or word in COMMON:
        return ()
    lines = _LINES.search(word)
    bare = word[: lines.start()] if lines else word
    if _is_path(bare):
        path = Reference(PATH, bare.removeprefix("./").rstrip("/"))
        return (path, Reference(LOCATION, f"{path.text}:{lines.group(1) or lines.group(3)}")) if lines else (path,)
    if any(form.match(word) for form in _IDS):
        return (Reference(ID, word),)
    if len(bare) >= 5 and bare not in COMMON and (_SNAKE.match(bare) or _CAMEL.match(bare) or _is_dotted(bare)):
        return (Reference(IDENTIFIER, bare),)
    return ()


def _is_path(word: str) -> bool:
    """A slash and a letter, and either rooted with two components or ending in an extension; or a known file name."""
    if "/" not in word:
        return bool(_FILE_NAME.match(word))
    if "//" in word or ":" in word or _DEVICE.match(word) or not any(c.isalpha() for c in word):
        return False
    components = [c for c in word.split("/") if c not in {"", ".", "..", "~"}]
    if not components:
        return False
    rooted = word.startswith(("/", "~/", "./", "../"))
    return (rooted and len(components) >= 2) or bool(_EXTENSION.search(components[-1]))


def _is_dotted(word: str) -> bool:
    return len(word) >= 6 and bool(_DOTTED.match(word))


def tokens_of(text: str) -> dict[str, None]:
    """The distinct tokens of a text that could refer to anything, in order."""
    return dict.fromkeys(_TOKEN.findall(text))


def phrase_references(text: str) -> Iterator[Reference]:
    """What a text refers to by more than one token: addresses, figures with units, error lines, quotes, commands."""
    if "://" in text:
        yield from (Reference(URL, url.rstrip(".,:;")) for url in _URL.findall(text))
    yield from _figures(text)
    for end, pattern in _ERRORS:
        if end in text:
            yield from _errors(text, pattern)
    for pattern in _QUOTED:
        for found in pattern.finditer(text):
            start, stop = found.span()
            if text[start] == "'" and (text[start - 1 : start].isalnum() or text[stop : stop + 1].isalnum()):
                continue
            reference = _quoted_reference(text[start + 1 : stop - 1])
            if reference:
                yield reference


def _figures(text: str) -> Iterator[Reference]:
    """Numbers with a unit; one that goes on to the left ("v1.5 s", "x31px") is part of something else."""
    for found in _NUMBER.finditer(text):
        before = text[found.start() - 1 : found.start()]
        if before.isalnum() or before in {"_", ".", ","}:
            continue
        figure = found.group().rstrip("%abcdefghijklmnopqrstuvwxyzµABCDEFGHIJKLMNOPQRSTUVWXYZ")
        unit = found.group()[len(figure) :]
        figure = figure.strip(" \u00a0").replace(",", "")
        if len(figure) > 1 or unit != "s":
            yield Reference(NUMBER, f"{figure} {unit}")


def _errors(text: str, pattern: re.Pattern[str]) -> Iterator[Reference]:
    """Error messages: from the start of their first word to the end of the line."""
    for found in pattern.finditer(text):
        start = found.start()
        while start and text[start - 1].isalnum():
            start -= 1
        line = text[start : found.end()].strip()
        if not _CODE.search(line):
            yield Reference(ERROR, line[:MAX_CHARS])


def _quoted_reference(text: str) -> Reference | None:
    """A quoted phrase of at least two words, or a command where its first word is one; None for the rest."""
    words = text.split()
    if len(words) < 2 or not text[0].isalnum() or not any(c.isalpha() for c in words[1]):
        return None
    if words[0] in HEADS:
        return Reference(COMMAND, " ".join(words)[:COMMAND_CHARS])
    return Reference(QUOTED, " ".join(words))


def all_references(text: str) -> Iterator[Reference]:
    """Everything that a text refers to."""
    for token in tokens_of(text):
        yield from token_references(token)
    yield from phrase_references(text)


def command_references(command: str) -> Iterator[Reference]:
    """The commands of one shell line: its parts between ``&&``, ``||`` and ``;`` that have at least two words."""
    for segment in _SEGMENT.split(command)[:20]:
        words = segment.split()
        if len(words) >= 2 and not _SKIP_SEGMENT.match(segment):
            yield Reference(COMMAND, " ".join(words)[:COMMAND_CHARS])


def is_common(kind: str, n_messages_with: int, n_messages: int) -> bool:
    """Whether a reference stands in too many messages to say anything."""
    share = COMMON_SHARE.get(kind, COMMON_SHARE_ELSE)
    return n_messages_with > max(COMMON_AT_LEAST, share * n_messages)


MAX_CANDIDATES = 200
"""More files of one name than this are not told apart: a bare name then stays a name of its own."""


def merge_paths(references: Sequence[Reference]) -> list[int]:
    """For every reference the position of the one it is taken for: itself, or the only longer path it ends.

    ``views.py`` is ``/app/sessions/views.py`` where no other ``views.py`` is named; where two are, it is neither.
    """
    by_name: dict[str, list[int]] = {}
    for i, reference in enumerate(references):
        if reference.kind == PATH:
            by_name.setdefault(reference.text.rsplit("/", 1)[-1], []).append(i)
    taken_for = list(range(len(references)))
    for group in by_name.values():
        if 1 < len(group) <= MAX_CANDIDATES:
            for i in group:
                taken_for[i] = _longest(i, group, references)
    return taken_for


def _longest(i: int, group: Sequence[int], references: Sequence[Reference]) -> int:
    """The one path of the group that ``i`` ends and that ends no other, ``i`` where there is none or more than one."""
    tail = "/" + references[i].text.lstrip("./~")
    longer = [k for k in group if k != i and references[k].text.endswith(tail)]
    whole = [
        k
        for k in longer
        if not any(m != k and references[m].text.endswith("/" + references[k].text.lstrip("./~")) for m in longer)
    ]
    return whole[0] if len(whole) == 1 else i
