"""Plain values as bytes and back, exactly: what is worked out of a session is kept this way, never as a pickle.

JSON in which an array is [rule, …]: a tuple of plain values, of members of an enum, or of equal values of one class
(then by columns), a mapping, or a value of one of the ``classes`` that whoever reads allows.  Of a class given as
``Named`` the name alone is kept.  Whole numbers of long columns stand behind the JSON, in as few bytes as they need.
"""

from __future__ import annotations

import json
import struct
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, NamedTuple

from sessions.engine.transcript.parts import without_gc

PLAIN, NUMBERS, TUPLE, LIST, MAPPING, SET, ENUMS, ROWS, VALUE = range(9)
"""The rules that an array begins with."""
LEAST = 32
"""A tuple of fewer is written in the JSON itself."""
CODES = {1: "b", 2: "h", 4: "i", 8: "q"}
SCALARS = frozenset({int, float, str, bool, type(None)})
_LENGTH = struct.Struct("<I")


class NotPlain(TypeError):
    """A value of a class that is not among those allowed."""


class Named(NamedTuple):
    """A class whose values are known by a name: how a value is named, and found again."""

    kind: type
    name: Callable[[Any], str]
    find: Callable[[str], Any]


Classes = Sequence["type | Named"]


def dump(value: object, classes: Classes) -> bytes:
    """The value as bytes; raises NotPlain."""
    writer = _Writer(classes)
    text = json.dumps(writer.write(value), separators=(",", ":")).encode("ascii")
    return b"".join((_LENGTH.pack(len(text)), text, *writer.numbers))


def load(data: bytes, classes: Classes) -> Any:
    """The value that ``dump`` was given under the same classes."""
    (n_text,) = _LENGTH.unpack_from(data)
    start = _LENGTH.size + n_text
    text = data[_LENGTH.size : start].decode("ascii")
    with without_gc():
        return _Reader(memoryview(data)[start:], classes).read(json.JSONDecoder().decode(text))


def _values_of(value: Any) -> Sequence[Any] | None:
    """The fields of a value of a class; None of one that has none."""
    if is_dataclass(value):
        return [getattr(value, f.name) for f in fields(value) if f.init]
    return tuple(value) if isinstance(value, tuple) and hasattr(value, "_fields") else None


class _Writer:
    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self.places = {each.kind if isinstance(each, Named) else each: place for place, each in enumerate(classes)}
        self.numbers: list[bytes] = []

    def write(self, value: Any) -> Any:
        kind = type(value)
        if kind in SCALARS:
            return value
        if kind in self.places:
            return self._value(value, self.places[kind])
        if isinstance(value, Mapping):
            return [MAPPING, self._tuple(tuple(value)), self._tuple(tuple(value.values()))]
        if kind is frozenset:
            return [SET, self._tuple(tuple(sorted(value)))]
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise NotPlain(f"{kind.__name__} is not among the classes that are kept")
        found = self._tuple(tuple(value))  # Parts are a tuple that is read in parts
        return [LIST, found] if kind is list else found

    def _value(self, value: Any, place: int) -> Any:
        rule = self.classes[place]
        if isinstance(rule, Named):
            return [VALUE, place, rule.name(value)]
        if isinstance(value, Enum):
            return [VALUE, place, value.value]
        values = _values_of(value)
        return [VALUE, place, *map(self.write, values or ())]

    def _tuple(self, values: tuple[Any, ...]) -> Any:
        kinds = set(map(type, values))
        if kinds == {int} and len(values) >= LEAST:
            return self._column(values)
        if kinds <= SCALARS:
            return [PLAIN, values]
        kind = next(iter(kinds))
        place = self.places.get(kind)
        if len(kinds) > 1 or place is None or len(values) < LEAST or isinstance(self.classes[place], Named):
            return [TUPLE, *map(self.write, values)]
        if issubclass(kind, Enum):
            members = list(dict.fromkeys(values))
            at = {member: place for place, member in enumerate(members)}
            return [ENUMS, place, [m.value for m in members], self._column(tuple(at[v] for v in values))]
        columns = zip(*(_values_of(value) or () for value in values), strict=True)
        return [ROWS, place, *map(self._tuple, columns)]

    def _column(self, values: tuple[int, ...]) -> Any:
        low, high = min(values), max(values)
        width = next((w for w in CODES if -(1 << 8 * w - 1) <= low and high < 1 << 8 * w - 1), 0)
        if not width:
            return [PLAIN, values]
        numbers = array(CODES[width], values)
        if sys.byteorder == "big":
            numbers.byteswap()
        self.numbers.append(numbers.tobytes())
        return [NUMBERS, width, len(values)]


class _Reader:
    def __init__(self, numbers: memoryview, classes: Classes) -> None:
        self.numbers, self.at = numbers, 0
        self.classes = [each.find if isinstance(each, Named) else each for each in classes]
        self.rules: tuple[Callable[[list[Any]], Any], ...] = (
            lambda row: tuple(row[1]), self._numbers, lambda row: tuple(map(self.read, row[1:])),
            lambda row: list(self.read(row[1])),
            lambda row: dict(zip(self.read(row[1]), self.read(row[2]), strict=True)),
            lambda row: frozenset(self.read(row[1])), self._enums, self._rows, self._value,
        )  # fmt: skip

    def read(self, value: Any) -> Any:
        return self.rules[value[0]](value) if type(value) is list else value

    def _numbers(self, row: list[Any]) -> tuple[int, ...]:
        _, width, n = row
        found = array(CODES[width])
        found.frombytes(self.numbers[self.at : self.at + width * n])
        self.at += width * n
        if sys.byteorder == "big":
            found.byteswap()
        return tuple(found)

    def _enums(self, row: list[Any]) -> tuple[Any, ...]:
        _, place, values, places = row
        members = [self.classes[place](value) for value in values]
        return tuple(map(members.__getitem__, self.read(places)))

    def _rows(self, row: list[Any]) -> tuple[Any, ...]:
        _, place, *columns = row
        return tuple(map(self.classes[place], *map(self.read, columns)))

    def _value(self, row: list[Any]) -> Any:
        _, place, *values = row
        return self.classes[place](*map(self.read, values))
