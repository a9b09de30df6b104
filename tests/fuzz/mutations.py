"""Damage done to the fixtures of every format: to values, structure, text and bytes; a seed always gives the same."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
from functools import cache
from typing import TYPE_CHECKING, Any

from sessions.engine.reading.database import is_database
from sessions.engine.reading.jsonio import JsonProblem, dumps, loads
from tests.engine.test_formats_mutations import FILES, mutated_file
from tests.services.packs import tar_gz, tarred, zipped

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEXTS: tuple[str, ...] = (
    "", " ", "[/]", "[/bold]", "[bold", "a [link=file:///etc/passwd]b[/link]", "[red]x[/blue]", "\\[", "]]>",
    "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b[2J\x1b[H", "\x9b31m", "\0", "nul\0inside", "\r\n\t\b\x7f",
    "\u202egnp.exe", "\u2066x\u2069", "\u200b\ufeff", "e\u0301" * 40, "\ud83d", "\udc80\ud800", "𝒳🧑‍🚀", "\uffff",
    "<script>alert(1)</script>", "{{ 7*7 }}", "{% now %}", "'; --", "=1+1", "../../../etc/passwd", "%s%n", "${x}",
    "<|endoftext|>", "data:image/png;base64,AAAA", "x" * 5_000, "9" * 400, "NaN", "Infinity", "-0", "1e999", "٣",
)  # fmt: skip
"""Texts that have brought terminals, templates, spreadsheets, tokenizers and databases down somewhere."""

NUMBERS: tuple[Any, ...] = (
    0, -1, 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 10**30, 10**400, 0.5, -0.0, 1e308, 5e-324, True, False,
)  # fmt: skip
DEEP = 600


def mutant(name: str, path: Path, seed: int) -> bytes:
    """The fixture ``path`` of format ``name``, damaged in the way that ``seed`` chooses."""
    chance = random.Random(f"{name}/{path.name}/{seed}")
    return chance.choice(WAYS)(path, chance)


def _values(path: Path, chance: random.Random) -> bytes:
    return mutated_file(path, chance)


def _texts(path: Path, chance: random.Random) -> bytes:
    """Texts and numbers replaced by hostile ones of the same type: the shape stays, so that it is read far."""
    return _rewritten(path, chance, lambda value: _replaced(value, chance, chance.choice((0.03, 0.2, 0.8))))


def _shape(path: Path, chance: random.Random) -> bytes:
    return _rewritten(path, chance, lambda value: _reshaped(value, chance))


def _bytes(path: Path, chance: random.Random) -> bytes:
    data = bytearray(path.read_bytes())
    for _ in range(chance.randrange(1, 6)):
        place = chance.randrange(len(data) + 1)
        kind = chance.randrange(4)
        if kind == 0:
            data[place : place + 1] = bytes([chance.randrange(256)])
        elif kind == 1:
            del data[place : place + chance.randrange(1, 60)]
        elif kind == 2:
            data[place:place] = chance.choice((b"\0", b"\xff\xfe", b"\n", b'"', b"[" * DEEP, b"\xed\xa0\x80", b"\x1b["))
        else:
            data[place:place] = data[place : place + chance.randrange(1, 400)]
    return bytes(data)


def _spliced(path: Path, chance: random.Random) -> bytes:
    """Half of one file, then half of another of any format."""
    one, other = path.read_bytes().splitlines(keepends=True), chance.choice(FILES)[1].read_bytes().splitlines(True)
    return b"".join(one[: chance.randrange(len(one) + 1)] + other[chance.randrange(len(other) + 1) :])


def _lines(path: Path, chance: random.Random) -> bytes:
    """Lines lost, doubled, moved, cut off."""
    lines = path.read_bytes().splitlines()
    for _ in range(chance.randrange(1, 5)):
        if not lines:
            break
        place = chance.randrange(len(lines))
        kind = chance.randrange(4)
        if kind == 0:
            del lines[place]
        elif kind == 1:
            lines.insert(chance.randrange(len(lines) + 1), lines[place])
        elif kind == 2:
            lines.insert(0, lines.pop(place))
        else:
            lines[place] = lines[place][: chance.randrange(len(lines[place]) + 1)]
    return b"\n".join(lines)


WAYS: tuple[Callable[[Any, random.Random], bytes], ...] = (_values, _texts, _texts, _shape, _bytes, _spliced, _lines)


@cache
def _parsed(path: Path) -> tuple[tuple[bytes, Any], ...] | None:
    """(mark, value) for each line, one for a document; None where the file is packed."""
    data = path.read_bytes()
    if data.startswith(b"PK") or is_database(data):
        return None
    if path.suffix == ".json":
        return ((b"", loads(data)),)
    found = []
    for line in data.splitlines():
        mark = b"data: " if line.startswith(b"data: ") else b""
        try:
            found.append((mark, loads(line.removeprefix(mark))))
        except JsonProblem:
            found.append((line, None))
    return tuple(found)


def _rewritten(path: Path, chance: random.Random, change: Callable[[Any], Any]) -> bytes:
    parts = _parsed(path)
    if parts is None:
        return mutated_file(path, chance)
    out = [
        mark if value is None else mark + dumps(change(value)).encode("utf-8", "surrogatepass") for mark, value in parts
    ]
    return b"\n".join(out)


def _replaced(value: Any, chance: random.Random, share: float) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(item, chance, share) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, chance, share) for item in value]
    if chance.random() > share:
        return value
    if isinstance(value, str):
        return chance.choice(TEXTS) if chance.random() < 0.8 else value + chance.choice(TEXTS)
    return chance.choice(NUMBERS) if isinstance(value, int | float) else value


def _reshaped(value: Any, chance: random.Random) -> Any:
    """Parts doubled, reversed, wrapped, renamed, grafted from another format's file."""
    if chance.random() < 0.01:
        return _graft(chance)
    if isinstance(value, dict):
        items = [(key, _reshaped(item, chance)) for key, item in value.items()]
        kind = chance.random()
        if items and kind < 0.03:
            items.append((chance.choice(TEXTS), items[0][1]))
        elif items and kind < 0.05:
            chance.shuffle(items)
        elif items and kind < 0.06:
            items[0] = (items[0][0].upper(), items[0][1])
        return dict(items)
    if isinstance(value, list):
        found = [_reshaped(item, chance) for item in value]
        kind = chance.random()
        if kind < 0.03:
            return found + found
        if kind < 0.05:
            return found[::-1]
        return [found] if kind < 0.06 else found
    if chance.random() < 0.003:
        for _ in range(DEEP if chance.random() < 0.1 else 12):
            value = [value]
    return value


def _graft(chance: random.Random) -> Any:
    parts = _parsed(chance.choice(FILES)[1]) or ((b"", None),)
    value = chance.choice(parts)[1]
    for _ in range(chance.randrange(4)):
        inner = [*(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())]
        value = chance.choice(inner) if inner else value
    return value


def packed(path: Path, seed: int) -> bytes:
    """The fixture in an archive of some kind, whose bytes are then damaged."""
    chance = random.Random(f"packed/{path.name}/{seed}")
    data = path.read_bytes()
    if chance.random() < 0.5:
        return _damaged(chance.choice(PACKERS)({path.name: data, _name(chance): b"{}"}), chance)
    return chance.choice(PACKERS)({path.name: _damaged(data, chance), "": b"", "inner.zip": zipped({"a": data})})


def _name(chance: random.Random) -> str:
    return chance.choice(TEXTS)[:200].encode("utf-8", "replace").decode()


def _damaged(data: bytes, chance: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(chance.randrange(4)):
        place = chance.randrange(len(found) + 1)
        if chance.random() < 0.7:
            found[place : place + 1] = bytes([chance.randrange(256)])
        else:
            del found[place : place + chance.randrange(1, 200)]
    return bytes(found)


PACKERS: tuple[Callable[[dict[str, bytes]], bytes], ...] = (
    zipped,
    tarred,
    lambda members: gzip.compress(next(iter(members.values())), 1),
    lambda members: bz2.compress(next(iter(members.values())), 1),
    lambda members: lzma.compress(next(iter(members.values())), preset=0),
    tar_gz,
)
