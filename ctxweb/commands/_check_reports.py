"""The result of ``ctxweb check`` in words, as Markdown for a comment and as JUnit for a build server."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ctxweb.terminal import counted, printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sessions.engine.checks import Floor


def amount(value: float | None) -> str:
    """A limit or a value: whole with separators, else four significant digits; "unknown" where there is none."""
    if value is None:
        return "unknown"
    return f"{value:,.4g}" if value % 1 else f"{value:,.0f}"


def outcome(floor: Floor) -> str:
    """Met, EXCEEDED or UNKNOWN; nothing where there is nothing to measure and that is allowed."""
    if floor.value is None:
        return "" if floor.ok else "UNKNOWN"
    return "met" if floor.ok else "EXCEEDED"


def markdown_table(found: Sequence[Floor], broken: Sequence[str]) -> str:
    """A heading that says how it went, a row for each limit, and what could not be read."""
    bad = sum(not floor.ok for floor in found)
    said = f"{bad} of {counted(len(found), 'limit')} exceeded or unknown." if bad or broken else "All limits met."
    lines = [f"**Context check:** {said}", "", "| session | limit | allowed | value | |", "|---|---|--:|--:|---|"]
    for floor in found:
        cells = (_cell(floor.session), f"`{floor.name}`", amount(floor.limit), amount(floor.value), outcome(floor))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, *(f"\nNot read: {_cell(line)}" for line in broken)])


def write_junit(path: Path, found: Sequence[Floor], broken: Sequence[str]) -> None:
    """A test case for each limit of each session; what could not be read is an error."""
    failures = sum(not floor.ok for floor in found)
    counts = {"tests": str(len(found) + len(broken)), "failures": str(failures), "errors": str(len(broken))}
    suite = ElementTree.Element("testsuite", {"name": "ctxweb check", **counts})
    for floor in found:
        case = ElementTree.SubElement(suite, "testcase", {"classname": printable(floor.session), "name": floor.name})
        if not floor.ok:
            said = f"{amount(floor.value)}, allowed {amount(floor.limit)}"
            ElementTree.SubElement(case, "failure", {"message": said})
    for line in broken:
        case = ElementTree.SubElement(suite, "testcase", {"classname": "ctxweb check", "name": "read"})
        ElementTree.SubElement(case, "error", {"message": printable(line)})
    path.write_bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))


def _cell(text: str) -> str:
    return " ".join(printable(text).split()).replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
