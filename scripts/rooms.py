"""Draws the rooms of the house into docs/architecture.md: what every layer holds, and who imports whom.

The layers are those of the import contracts in pyproject.toml, the arrows those of the code, imports for types alone
included.  Run ``python scripts/rooms.py`` after moving something; a test fails while the picture is not what it would
draw, where an arrow points up, or where rooms import each other in a circle.
"""

from __future__ import annotations

import re
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import grimp

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "docs" / "architecture.md"


class Storey(NamedTuple):
    """One layer: its rooms as full module names.  ``together``: they may import each other."""

    rooms: tuple[str, ...]
    together: bool


class House(NamedTuple):
    """Storeys, the highest first, and the arrows between rooms."""

    storeys: tuple[Storey, ...]
    arrows: dict[str, set[str]]


@cache
def imports() -> grimp.ImportGraph:
    """Who imports whom, for types alone included."""
    sys.path.insert(0, str(ROOT))
    return grimp.build_graph("ctxweb", "sessions", exclude_type_checking_imports=False, cache_dir=None)


@cache
def house(name: str) -> House:
    """The house of one contract: a part of its name is enough."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    contract = next(c for c in settings["contracts"] if c["type"] == "layers" and name in c["name"])
    front = f"{contract['containers'][0]}." if "containers" in contract else ""
    storeys = tuple(
        Storey(tuple(front + room for room in re.findall(r"[\w.]+", line)), ":" in line) for line in contract["layers"]
    )
    rooms = {room for storey in storeys for room in storey.rooms}
    arrows: dict[str, set[str]] = {room: set() for room in rooms}
    for module in imports().modules:
        here = _room(module, rooms)
        for other in imports().find_modules_directly_imported_by(module) if here else ():
            there = _room(other, rooms)
            if there and there != here:
                arrows[here].add(there)
    return House(storeys, arrows)


def _room(module: str, rooms: set[str]) -> str:
    """The room that a module is in; "" for one in none."""
    parts = module.split(".")
    return next((name for n in range(len(parts), 0, -1) if (name := ".".join(parts[:n])) in rooms), "")


def rising(house: House) -> list[str]:
    """Arrows that point up, or to a neighbour that is not to be imported."""
    level = {room: n for n, storey in enumerate(house.storeys) for room in storey.rooms}
    return sorted(
        f"{room} → {other}"
        for room, others in house.arrows.items()
        for other in others
        if level[other] < level[room] or (level[other] == level[room] and not house.storeys[level[room]].together)
    )


def circles(house: House) -> list[str]:
    """Rooms that import each other by a way through other storeys."""
    level = {room: n for n, storey in enumerate(house.storeys) for room in storey.rooms}
    return sorted(
        f"{room} → {other} → {room}"
        for room, others in house.arrows.items()
        for other in others
        if level[other] != level[room] and room in _below(house, other)
    )


def _below(house: House, room: str) -> set[str]:
    """Every room that ``room`` reaches."""
    found: set[str] = set()
    waiting = [room]
    while waiting:
        for other in house.arrows[waiting.pop()] - found:
            found.add(other)
            waiting.append(other)
    return found


def drawing(house: House) -> str:
    """The house as Mermaid: one box for a storey; an arrow that a longer way says too is left out."""
    there = [Storey(tuple(r for r in s.rooms if r in imports().modules), s.together) for s in house.storeys]
    names = {room: room.removeprefix("sessions.").removeprefix("engine.") for s in there for room in s.rooms}
    lines = ["```mermaid", "flowchart TD"]
    for number, storey in enumerate(there):
        lines.append(f'  subgraph storey{number}[" "]')
        lines += [f'    {_id(room)}["{names[room]}"]' for room in sorted(storey.rooms)]
        lines.append("  end")
    for room in (room for storey in there for room in sorted(storey.rooms)):
        others = house.arrows[room]
        hidden = {far for other in others for far in _below(house, other) - {other}}
        lines += [f"  {_id(room)} --> {_id(other)}" for other in sorted(others - hidden or others)]
    return "\n".join([*lines, "```"])


def _id(room: str) -> str:
    return "room_" + room.replace(".", "_")


def written(text: str) -> str:
    """``text`` with every ``<!-- rooms: contract -->`` … ``<!-- end -->`` filled in."""

    def fill(match: re.Match[str]) -> str:
        return f"<!-- rooms: {match[1]} -->\n{drawing(house(match[1]))}\n<!-- end -->"

    return re.sub(r"<!-- rooms: ([^>]+) -->\n.*?<!-- end -->", fill, text, flags=re.DOTALL)


def main() -> None:
    """Rewrite the file in place."""
    FILE.write_text(written(FILE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
