"""What VS Code keeps of a chat: a document, or a log of changes to one (formats 54).

A log starts with the whole document (kind 0); then values are set (1), lists cut and appended to (2), values deleted
(3).  Each piece keeps the place where it was written last, so that its text is found again in the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sessions.engine.reading.formats._records import inside
from sessions.engine.reading.formats._values import Record, as_dict, as_list
from sessions.engine.transcript.types import Origin

if TYPE_CHECKING:
    Placed = tuple[Any, Origin]

INITIAL, SET, PUSH, DELETE = range(4)
REQUESTS, RESPONSE = "requests", "response"


@dataclass(slots=True)
class Turn:
    """One request of the user's: its fields, and the parts of the answer, each with its place."""

    fields: dict[str, Placed] = field(default_factory=dict)
    parts: list[Placed] = field(default_factory=list)

    def get(self, name: str) -> Any:
        """The value of a field, None where it has none."""
        return self.fields[name][0] if name in self.fields else None


class ChatLog:
    """The document in the making; ``n_inside`` are changes inside a piece that are not followed."""

    def __init__(self) -> None:
        self.facts: dict[str, Any] = {}
        self.turns: list[Turn] = []
        self.n_inside = 0

    def load(self, document: Record, origin: Origin) -> None:
        """Take a whole document."""
        self.facts = {key: value for key, value in document.items() if key != REQUESTS}
        self.turns = [
            _turn(value, inside(origin, REQUESTS, position))
            for position, value in enumerate(as_list(document.get(REQUESTS)))
        ]

    def change(self, entry: Record, origin: Origin) -> bool:
        """Apply one line of a log; False where it is none."""
        kind, path, value = entry.get("kind"), as_list(entry.get("k")), entry.get("v")
        if isinstance(kind, bool) or kind not in (INITIAL, SET, PUSH, DELETE):
            return False
        at = inside(origin, "v")
        if kind == INITIAL:
            self.load(as_dict(value), at)
        elif path == [REQUESTS]:
            start = _index(entry.get("i"), self.turns) if kind == PUSH else 0
            self.turns[start:] = [_turn(one, inside(at, n)) for n, one in enumerate(as_list(value))]
        elif path[:1] == [REQUESTS]:
            self._change_turn(kind, path[1:], entry, at)
        elif len(path) == 1 and isinstance(path[0], str):
            self.facts[path[0]] = value
        return True

    def _change_turn(self, kind: int, path: list[Any], entry: Record, at: Origin) -> None:
        position = _index(path[0], self.turns)
        if position == len(self.turns):
            self.n_inside += 1
            return
        turn, value, names = self.turns[position], entry.get("v"), path[1:]
        if not names:
            self.turns[position] = _turn(value, at)
        elif names == [RESPONSE]:
            start = _index(entry.get("i"), turn.parts) if kind == PUSH else 0
            turn.parts[start:] = [(one, inside(at, n)) for n, one in enumerate(as_list(value))]
        elif len(names) == 2 and names[0] == RESPONSE and kind == SET:
            place = _index(names[1], turn.parts)
            turn.parts[place : place + 1] = [(value, at)]
        elif len(names) == 1 and isinstance(names[0], str) and kind in (SET, DELETE):
            turn.fields[names[0]] = (value, at)
        else:
            self.n_inside += 1


def _turn(value: Any, origin: Origin) -> Turn:
    held = as_dict(value)
    fields = {key: (item, inside(origin, key)) for key, item in held.items() if key != RESPONSE}
    parts = [(part, inside(origin, RESPONSE, n)) for n, part in enumerate(as_list(held.get(RESPONSE)))]
    return Turn(fields, parts)


def _index(value: Any, items: list[Any]) -> int:
    """A position in a list, its end where ``value`` names none."""
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(items)
    return value if known else len(items)
