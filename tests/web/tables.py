"""The tables of a page as grids: what an HTML parser makes of cells, spans and heads."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Line:
    """One row: the words in each of its columns; ``head`` where it stands in a ``thead``."""

    head: bool
    columns: dict[int, str] = field(default_factory=dict)


@dataclass
class Table:
    """One table by its class names, with its rows in order; ``down`` are columns that cells above still fill."""

    name: str
    lines: list[Line] = field(default_factory=list)
    down: dict[int, int] = field(default_factory=dict)

    def begin_line(self, *, head: bool) -> None:
        self.lines.append(Line(head, dict.fromkeys((at for at, left in self.down.items() if left), "")))
        self.down = {at: left - 1 for at, left in self.down.items() if left > 1}

    def begin_cell(self, columns: int, rows: int) -> range:
        """The columns that the next cell of the last row fills."""
        line = self.lines[-1].columns
        first = next(at for at in range(1_000) if at not in line)
        found = range(first, first + columns)
        line |= dict.fromkeys(found, "")
        self.down |= dict.fromkeys(found, rows - 1) if rows > 1 else {}
        return found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tables: list[Table] = []
        self.open: list[Table] = []
        self.head = False
        self.cell = range(0)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "table":
            self.open.append(Table(given.get("class") or ""))
            self.tables.append(self.open[-1])
        elif self.open and tag == "thead":
            self.head = True
        elif self.open and tag == "tr":
            self.open[-1].begin_line(head=self.head)
            self.cell = range(0)
        elif self.open and tag in {"td", "th"}:
            self.cell = self.open[-1].begin_cell(int(given.get("colspan") or 1), int(given.get("rowspan") or 1))
        self.handle_data(given.get("aria-label") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self.open.pop()
        elif tag == "thead":
            self.head = False
        elif tag in {"td", "th"}:
            self.cell = range(0)

    def handle_data(self, data: str) -> None:
        for at in self.cell:
            self.open[-1].lines[-1].columns[at] += data


def tables(html: str) -> list[Table]:
    """The tables of a page in order."""
    reader = _Reader()
    reader.feed(html)
    return reader.tables


def faults(table: Table) -> list[str]:
    """What is wrong with a table: rows of another width than its head, columns with words but no head over them.

    Without a head its rows are only as wide as each other.
    """
    heads, rows = ([line.columns for line in table.lines if line.head is head] for head in (True, False))
    width = len((heads or rows or [{}])[0])
    found = [f"{table.name}: a row of {len(line)} columns, not {width}" for line in heads + rows if len(line) != width]
    for at in range(width) if heads else ():
        filled = [line[at].strip() for line in rows if line.get(at, "").strip()]
        if filled and not any(line.get(at, "").strip() for line in heads):
            found.append(f"{table.name}: no head over column {at}: {filled[0][:40]}")
    return found
