"""Writes docs/reliability.md: one section for each scenario, replaced when that runs again."""

from __future__ import annotations

import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.scenarios import SCENARIOS

if TYPE_CHECKING:
    from tests.faults.figures import Figure
    from tests.faults.scenarios import Scenario

REPORT = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
HEAD = """# Reliability

What happens to uploads under faults, and what ctxweb costs. `make faults` runs all of this against real processes
and writes this page. A row says what was counted, the figure for each installation, and what is wanted. ✗ marks a
figure that is not as wanted. Times depend on the machine and on what else runs on it; counts do not.
"""


def section(scenario: Scenario, columns: dict[str, list[Figure]], command: str, load: float) -> str:
    """One scenario's part of the page; ``columns`` are its figures by installation."""
    names = list(columns)
    lines = [
        f"## {scenario.title}", "", scenario.says, "", scenario.means, "",
        f"{datetime.now(UTC):%Y-%m-%d}, {_machine()}, load at the start {load:.1f}: `{command}`", "",
        f"| what | {' | '.join(names)} | wanted |", f"|{'---|' * (len(names) + 2)}",
    ]  # fmt: skip
    lines += [f"| {' | '.join(_escaped(cell) for cell in row)} |" for row in _rows(columns)]
    return "\n".join(lines) + "\n"


def write(sections: dict[str, str]) -> None:
    """Put ``sections``, by title, in place of what the page says of these scenarios."""
    before = REPORT.read_text(encoding="utf-8") if REPORT.exists() else ""
    parts = {part.split("\n", 1)[0][3:]: part.strip() + "\n" for part in re.split(r"(?m)^(?=## )", before)[1:]}
    parts |= sections
    known = [parts[one.title] for one in SCENARIOS.values() if one.title in parts]
    REPORT.write_text("\n".join([HEAD, *known]), encoding="utf-8")


def _rows(columns: dict[str, list[Figure]]) -> list[list[str]]:
    """A row for each figure of any installation, in the order in which they come."""
    whats = list(dict.fromkeys(figure.what for figures in columns.values() for figure in figures))
    rows = []
    for what in whats:
        found = {name: figure for name, figures in columns.items() for figure in figures if figure.what == what}
        values = [_value(found[name]) if name in found else "–" for name in columns]
        rows.append([what, *values, next(iter(found.values())).wanted])
    return rows


def _value(figure: Figure) -> str:
    return figure.value if figure.holds else f"✗ {figure.value}"


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")


def _machine() -> str:
    numbers = {1: "one core", 2: "two cores", 4: "four cores", 8: "eight cores"}
    n_cores = len(os.sched_getaffinity(0))
    cores = numbers.get(n_cores, f"{n_cores} cores")
    return f"{cores}, {platform.system()}, Python {platform.python_version()}"
