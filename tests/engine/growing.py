"""Files in which one thing is many: the fixtures of every format, with a part of them repeated under fresh ids."""

from __future__ import annotations

import copy
import io
import re
import sqlite3
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING, Any

from sessions.engine.base.limits import MAX_DEPTH
from sessions.engine.reading.database import is_database
from sessions.engine.reading.jsonio import JsonProblem, dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Grown = Callable[[int], bytes]
    """The file with so many times as much of the thing."""

_ID = re.compile(r"(?:^|_)u?u?ids?$|(?:Id|ID|Uuid|UUID)s?$|^parent", re.ASCII)
_OF_ALL = re.compile(r"session|thread|trace|conversation|project|user|model|account", re.IGNORECASE)
"""Names of what many parts of a file have in common."""
LEAST = 100
"""Elements of a list that is repeated once: a few lines say nothing about how work grows."""
PARENTS = {"parentUuid": "uuid", "parentId": "id", "parent_id": "id"}
"""How lines name the one before them, and themselves."""
_USAGE = re.compile(r"token", re.IGNORECASE)
_DATA = b"data: "

TEXTS: dict[str, Callable[[int], Any]] = {
    "a long word": lambda n: "x" * n,
    "a long line": lambda n: "so it goes " * n,
    "many lines": lambda n: "so it goes\n" * n,
    "blank lines": lambda n: "a" + "\n" * n + "b",
    "rules": lambda n: "\n".join(f"Never edit src/f{k}.py." for k in range(n)),
    "spaces": lambda n: "a" + " " * n + "b",
    "tags": lambda n: "<a>" * n,
}
"""What a text may have many of."""


def growths(path: Path) -> Iterator[tuple[str, Grown]]:
    """What there is more and more of, and the file."""
    data = path.read_bytes()
    if path.name == "state.vscdb":
        yield "bubbles", lambda n: _bubbles(data, LEAST * n)
    elif is_database(data):
        yield "rows", lambda n: _database(data, n)
        yield "rows of bad usage", lambda n: _database(data, n, bad=True)
    elif data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = {name: loads(archive.read(name)) for name in archive.namelist()}
        for name, value in files.items():
            for what, made in _of_value(value):
                yield f"{name} {what}", _archive(files, name, made)
    elif path.suffix in {".json", ".jsonl"} or path.name.endswith(".sse.txt"):
        yield from _of_json(data, path.suffix == ".json")
    else:
        yield "blocks", lambda n: b"\n".join([data] * 8 * n)


def _of_json(data: bytes, is_document: bool) -> Iterator[tuple[str, Grown]]:
    if is_document:
        for what, made in _of_value(loads(data)):
            yield what, lambda n, made=made: dumps(made(n)).encode()
        return
    raw = data.splitlines()
    marks = [_DATA if line.startswith(_DATA) else b"" for line in raw]
    values = [_line(line.removeprefix(mark)) for line, mark in zip(raw, marks, strict=True)]

    def packed(found: list[Any]) -> bytes:
        repeated = [marks[k % len(marks)] for k in range(len(found))]
        lines = (v if isinstance(v, bytes) else dumps(v).encode() for v in found)
        return b"\n".join(mark + line for mark, line in zip(repeated, lines, strict=True)) + b"\n"

    if any(isinstance(value, dict) and value.keys() & PARENTS.keys() for value in values):
        yield "lines in a chain", lambda n: packed(repeated(values, n, chained=True))
        yield "branches", lambda n: packed(repeated(values, n))
    else:
        yield "lines", lambda n: packed(repeated(values, n))
    yield "bad usage", lambda n: packed(repeated(bad_usage(values), n, chained=True))
    for what, made in _of_value(values):
        if what not in {"[]", "bad usage"}:
            yield what, lambda n, made=made: packed(made(n))


def _line(line: bytes) -> Any:
    try:
        return loads(line)
    except JsonProblem:
        return line


def _of_value(value: Any) -> Iterator[tuple[str, Callable[[int], Any]]]:
    """Every list in it, by its place without numbers; bad usage all over; its longest text in every way."""
    for what, place in _lists(value):
        yield what, lambda n, place=place: _with(value, place, lambda found: repeated(found, n))
    if not isinstance(value, dict) and (bad := bad_usage(value)) != value:
        yield "bad usage", lambda n: repeated(bad, n)
    elif isinstance(value, dict) and (bad := bad_usage(value)) != value:
        longest = max(_lists(value), key=lambda pair: len(_at(value, pair[1])), default=None)
        if longest:
            yield "bad usage", lambda n: _with(bad, longest[1], lambda found: repeated(found, n))
    place = _longest_text(value)
    if place is not None:
        for what, text in TEXTS.items():
            yield what, lambda n, text=text: _with(value, place, lambda _: text(2_000 * n))
        yield "depth", lambda n: _with(value, place, lambda found: _nested(found, MAX_DEPTH // 10 * n))


def _nested(value: Any, depth: int) -> Any:
    for _ in range(depth):
        value = {"part": value}
    return value


def _lists(value: Any) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Lists that hold anything: a name, and the keys to the first of that name."""
    seen: dict[str, tuple[Any, ...]] = {}
    todo: list[tuple[str, tuple[Any, ...], Any]] = [("", (), value)]
    while todo:
        name, place, found = todo.pop(0)
        if isinstance(found, list) and found:
            seen.setdefault(f"{name}[]", place)
            todo += [(f"{name}[]", (*place, k), part) for k, part in enumerate(found)]
        elif isinstance(found, dict):
            todo += [(f"{name}.{key}", (*place, key), part) for key, part in found.items()]
    yield from seen.items()


def _longest_text(value: Any) -> tuple[Any, ...] | None:
    best: tuple[int, tuple[Any, ...]] = (0, ())
    todo: list[tuple[tuple[Any, ...], Any]] = [((), value)]
    while todo:
        place, found = todo.pop()
        if isinstance(found, str) and " " in found and len(found) > best[0]:
            best = len(found), place
        elif isinstance(found, list):
            todo += [((*place, k), part) for k, part in enumerate(found)]
        elif isinstance(found, dict):
            todo += [((*place, key), part) for key, part in found.items()]
    return best[1] if best[0] else None


def _at(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


def _with(value: Any, place: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    """A copy in which what stands at a place is changed."""
    if not place:
        return change(value)
    made = copy.deepcopy(value)
    holder = _at(made, place[:-1])
    holder[place[-1]] = change(holder[place[-1]])
    return made


def bad_usage(value: Any) -> Any:
    """The same with counts of tokens that no request can have."""
    if isinstance(value, dict):
        return {
            key: -5 if _USAGE.search(key) and isinstance(part, int) and part else bad_usage(part)
            for key, part in value.items()
        }
    return [bad_usage(part) for part in value] if isinstance(value, list) else value


def repeated(values: list[Any], n: int, *, chained: bool = False) -> list[Any]:
    """The list ``n`` times as often, its ids fresh each time; ``chained``: each time after the one before."""
    ids = {found for value in values for found in _ids(value)}
    made = list(values)
    for number in range(1, _times(len(values)) * n):
        fresh = {found: f"{found}.{number}" for found in ids}
        again = [_renamed(value, fresh) for value in values]
        if chained:
            _chain(made[-len(values) :], again)
        made += again
    return made


def _times(n_elements: int) -> int:
    return -(-LEAST // n_elements)


def _chain(before: list[Any], after: list[Any]) -> None:
    for line in after:
        for parent, own in PARENTS.items():
            if isinstance(line, dict) and own in line and parent in line and not line[parent]:
                line[parent] = next((b[own] for b in reversed(before) if isinstance(b, dict) and own in b), None)


def _ids(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _ids(part, name)
    elif isinstance(value, list):
        for part in value:
            yield from _ids(part, key)
    elif isinstance(value, str) and value and _ID.search(key) and not _OF_ALL.search(key):
        yield value


def _renamed(value: Any, fresh: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {fresh.get(key, key): _renamed(part, fresh) for key, part in value.items()}
    if isinstance(value, list):
        return [_renamed(part, fresh) for part in value]
    return fresh.get(value, value) if isinstance(value, str) else value


def _archive(files: dict[str, Any], name: str, made: Callable[[int], Any]) -> Grown:
    def pack(n: int) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for other, value in files.items():
                archive.writestr(other, dumps(made(n) if other == name else value))
        return packed.getvalue()

    return pack


def _database(data: bytes, n: int, *, bad: bool = False) -> bytes:
    """The rows of every table again and again; keys that are text are made fresh, and numbers are the next."""
    with closing(sqlite3.connect(":memory:")) as made:
        made.deserialize(data)
        tables = [t for (t,) in made.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE TABLE%'")]
        largest = max(made.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables)
        for table in tables:
            columns = [row[1] for row in made.execute(f"PRAGMA table_info({table})")]
            rows = [
                {c: _cell(cell, bad) for c, cell in zip(columns, row, strict=True)}
                for row in made.execute(f"SELECT * FROM {table}")
            ]
            for number in range(1, _times(largest) * n):
                fresh = {found: f"{found}.{number}" for row in rows for found in _ids(row)}
                for row in rows:
                    _insert(made, table, _renamed(row, fresh))
        made.commit()
        return made.serialize()


def _bubbles(data: bytes, n: int) -> bytes:
    """Cursor's own store: a conversation names its messages in one cell, and each is another."""
    with closing(sqlite3.connect(":memory:")) as made:
        made.deserialize(data)
        names = [f"n{number}" for number in range(n)]
        headers = [{"bubbleId": name, "type": 1 + number % 2} for number, name in enumerate(names)]
        rows = {"composerData:c9": {"composerId": "c9", "fullConversationHeadersOnly": headers}}
        for number, name in enumerate(names):
            usage = {"tokenCount": {"inputTokens": -5, "outputTokens": 4}} if number % 2 else {}
            text = f"Never edit src/f{number}.py."
            rows[f"bubbleId:c9:{name}"] = {"_v": 3, "type": 1 + number % 2, "bubbleId": name, "text": text, **usage}
        made.executemany(
            "INSERT INTO cursorDiskKV VALUES (?, ?)", [(key, dumps(value).encode()) for key, value in rows.items()]
        )
        made.commit()
        return made.serialize()


def _cell(cell: Any, bad: bool) -> Any:
    try:
        text = cell.decode() if isinstance(cell, bytes) else cell
        found = loads(text.encode()) if isinstance(text, str) and text[:1] in {"{", "["} else cell
    except (JsonProblem, UnicodeDecodeError):
        return cell
    return bad_usage(found) if bad else found


def _insert(made: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    cells = {c: dumps(cell) if isinstance(cell, (dict, list)) else cell for c, cell in row.items()}
    keys = [name for _, name, kind, _, _, key in made.execute(f"PRAGMA table_info({table})") if key and kind]
    for key in keys:
        cells[key] = None if isinstance(cells[key], int) else cells[key]
    marks = ", ".join("?" * len(cells))
    made.execute(f"INSERT OR IGNORE INTO {table} ({', '.join(cells)}) VALUES ({marks})", list(cells.values()))
