"""The result of ``ctxweb check`` in words, as Markdown for a comment, as JUnit for a build server and as SARIF."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree import ElementTree

from sessions.engine.base.words import counted
from sessions.engine.redact.escaping import markdown_code, markdown_text, printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sessions.engine.sweeps.checks import Floor


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
        session, name = markdown_text(floor.session), markdown_code(floor.name)
        cells = (session, name, amount(floor.limit), amount(floor.value), outcome(floor))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, *(f"\nNot read: {markdown_text(line)}" for line in broken)])


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


SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def write_sarif(path: Path, found: Sequence[Floor], broken: Sequence[str]) -> None:
    """SARIF 2.1.0, for code scanning: a rule for each limit, a result for each that is exceeded, unknown or unread."""
    from ctxweb.version import ctxweb_version

    names = list(dict.fromkeys(floor.name for floor in found))
    rules = [{"id": name, "shortDescription": {"text": f"Limit {name}"}} for name in [*names, "read"]]
    results = [
        _result(floor.name, floor.session, f"{outcome(floor)}: {amount(floor.value)}, allowed {amount(floor.limit)}.")
        for floor in found
        if not floor.ok
    ]
    results += [_result("read", line.partition(": ")[0], line) for line in broken]
    driver = {"name": "ctxweb check", "version": ctxweb_version(), "rules": rules}
    run = {"tool": {"driver": driver}, "results": results}
    path.write_text(json.dumps({"$schema": SARIF, "version": "2.1.0", "runs": [run]}, indent=1), encoding="utf-8")


def _result(rule: str, session: str, words: str) -> dict[str, Any]:
    """One result; its place is the transcript's file, the session's id stands in the words."""
    file, _, name = session.rpartition("#")
    said = f"{printable(name)}: {printable(words)}" if file else printable(words)
    place = {"artifactLocation": {"uri": quote(printable(file or session))}}
    return {"ruleId": rule, "level": "error", "message": {"text": said}, "locations": [{"physicalLocation": place}]}
