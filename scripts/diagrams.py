"""Draws the flowcharts of the documentation as pictures: layers from top to foot, a box for each room, arrows between.

GitHub draws ``mermaid`` blocks by a script; the site asks no script for it and no network.  Known are what
``scripts/rooms.py`` writes: ``subgraph``, boxes ``name["words"]`` and arrows ``a --> b``.
"""

from __future__ import annotations

import re
from html import escape
from itertools import accumulate
from typing import NamedTuple

BLOCK = re.compile(r"^```mermaid\nflowchart TD\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROOM = re.compile(r'(\w+)\["([^"]*)"\]')
ARROW = re.compile(r"(\w+) --> (\w+)")
WIDTH, CHAR, PAD, HEIGHT, GAP, ROW = 860, 8, 12, 30, 12, 46
"""Of the picture, a letter, the sides of a box, a box, between boxes; from one row of a layer to the next."""
BETWEEN = 34
"""Between two layers, where the arrows are seen."""


class Box(NamedTuple):
    """A room's place: its left edge, its top, its width, in pixels, and what stands in it."""

    x: int
    y: int
    width: int
    words: str


def pictures(text: str) -> str:
    """A document with every flowchart in place of its source; raises ValueError for a line that is not known."""
    return BLOCK.sub(lambda block: svg(block[1]), text)


def svg(source: str) -> str:
    """One flowchart as an HTML figure."""
    boxes: dict[str, Box] = {}
    arrows: list[tuple[str, str]] = []
    layer: list[tuple[str, str]] = []
    y = 8
    for line in filter(None, map(str.strip, source.splitlines())):
        if room := ROOM.fullmatch(line):
            layer.append((room[1], room[2]))
        elif arrow := ARROW.fullmatch(line):
            arrows.append((arrow[1], arrow[2]))
        elif line == "end":
            y = _placed(layer, boxes, y) + BETWEEN
            layer = []
        elif not line.startswith("subgraph "):
            raise ValueError(f"a flowchart has a line that is not known: {line!r}")
    return "\n".join((
        '<figure class="ctx-diagram">',
        f'<svg viewBox="0 0 {WIDTH} {y - BETWEEN + 8:g}" role="img" aria-label="{escape(_said(boxes, arrows))}">',
        *(_line(boxes[one], boxes[other]) for one, other in arrows),
        *map(_drawn, boxes.values()),
        "</svg>",
        "</figure>",
    ))  # fmt: skip


def _placed(layer: list[tuple[str, str]], boxes: dict[str, Box], y: int) -> int:
    """Put a layer's rooms side by side, in as many rows as they need, each in the middle; the foot of the last."""
    rows: list[list[tuple[str, str, int]]] = [[]]
    for name, words in layer:
        width = len(words) * CHAR + 2 * PAD
        if rows[-1] and sum(one[2] + GAP for one in rows[-1]) + width > WIDTH:
            rows.append([])
        rows[-1].append((name, words, width))
    for number, row in enumerate(rows):
        left = (WIDTH - sum(width + GAP for _, _, width in row) + GAP) // 2
        starts = accumulate((width + GAP for _, _, width in row), initial=left)
        for (name, words, width), x in zip(row, starts, strict=False):
            boxes[name] = Box(x, y + number * ROW, width, words)
    return y + (len(rows) - 1) * ROW + HEIGHT


def _line(one: Box, other: Box) -> str:
    """An arrow from the foot of one box to the head of another, or over the side where they stand in one row."""
    x1, x2 = one.x + one.width / 2, other.x + other.width / 2
    y1, y2 = one.y + HEIGHT, other.y
    bend = max(24.0, (y2 - y1) / 2)
    return f'<path d="M{x1:g},{y1:g} C{x1:g},{y1 + bend:g} {x2:g},{y2 - bend:g} {x2:g},{y2:g}"/>'


def _drawn(box: Box) -> str:
    middle = f'x="{box.x + box.width / 2:g}" y="{box.y + HEIGHT / 2 + 5:g}"'
    place = f'x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{HEIGHT}"'
    return f'<rect {place} rx="5"/><text {middle}>{escape(box.words)}</text>'


def _said(boxes: dict[str, Box], arrows: list[tuple[str, str]]) -> str:
    """The same in words, for those who hear it."""
    users = {one: [boxes[other].words for who, other in arrows if who == one] for one, _ in arrows}
    return ". ".join(f"{boxes[one].words} uses {', '.join(used)}" for one, used in users.items())
