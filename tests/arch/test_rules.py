"""Every rule that the code cites stands in docs/rules/, and every rule there is cited by the code."""

from __future__ import annotations

import re
from itertools import pairwise

from tests.arch.repository import ROOT, files, relative

FOLDER = ROOT / "docs/rules"
DOCUMENTS = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "README")
_NUMBER = r"§?\d+(?:\.\d+)*"
_CITATION = re.compile(
    rf"\b({'|'.join(DOCUMENTS)})\s+({_NUMBER}(?:(?:,\s+and|,|\s+and|\s+or|\s+to)\s+{_NUMBER})*)", re.IGNORECASE
)
_RANGE = re.compile(rf"({_NUMBER})(?:\s+to\s+({_NUMBER}))?")
_HEADING = re.compile(r"^#{2,6} +(.*)$", re.MULTILINE)

Rule = tuple[str, tuple[int, ...]]
"""A document of docs/rules/ and the number of a section in it."""


def numbers(text: str) -> list[tuple[int, ...]]:
    """The section numbers of ``11.1 to 11.4, 11.8 and 12``, ranges spelled out by their last part."""
    found: list[tuple[int, ...]] = []
    for first, last in _RANGE.findall(text):
        start = tuple(int(part) for part in first.lstrip("§").split("."))
        end = tuple(int(part) for part in last.lstrip("§").split(".")) if last else start
        assert start[:-1] == end[:-1], f"no range: {text}"
        found += [(*start[:-1], part) for part in range(start[-1], end[-1] + 1)]
    return found


def citations(text: str) -> set[Rule]:
    """The rules that a text cites: ``policies 11.19``, ``estimators 9.1, 9.2``, ``formats 4 to 6``."""
    return {(name.lower(), number) for name, cited in _CITATION.findall(text) for number in numbers(cited)}


def cited_in(*folders: str) -> dict[Rule, str]:
    """Every rule cited under ``folders``, and a file that cites it."""
    paths = [p for p in files(".py", ".html", ".js", ".md") if relative(p).startswith(folders)]
    return {rule: relative(path) for path in paths for rule in citations(path.read_text(encoding="utf-8"))}


def sections() -> list[Rule]:
    """All numbered sections, in order."""
    found: list[Rule] = []
    for name in DOCUMENTS:
        for title in _HEADING.findall((FOLDER / f"{name}.md").read_text(encoding="utf-8")):
            number = re.match(r"(\d+(?:\.\d+)*)\.? ", title)
            assert number, f"docs/rules/{name}.md: a section without a number: {title}"
            found.append((name, tuple(int(part) for part in number[1].split("."))))
    return found


def written(rules: set[Rule]) -> str:
    """Rules as they are cited."""
    return ", ".join(f"{name} {'.'.join(map(str, number))}" for name, number in sorted(rules))


def test_how_citations_are_read() -> None:
    assert citations("(policies 11.19)") == {("policies", (11, 19))}
    assert citations("(seeds 2.4 to 2.6; formats 4, 5 and 16)") == {
        *(("seeds", (2, n)) for n in (4, 5, 6)), *(("formats", (n,)) for n in (4, 5, 16))
    }  # fmt: skip
    assert citations("Replay-semantics §5, policies\n    2.2, 4.1.") == {
        ("replay-semantics", (5,)), ("policies", (2, 2)), ("policies", (4, 1))
    }  # fmt: skip
    assert not citations("all policies, 3 formats and 12 estimators")


def test_sections_are_in_order() -> None:
    there = sections()
    assert [pair for pair in pairwise(there) if pair[0] >= pair[1] and pair[0][0] == pair[1][0]] == []


def test_every_citation_has_its_section() -> None:
    """Add the section to docs/rules/, or correct the number."""
    there = set(sections())
    cited = cited_in("sessions/", "ctxweb/", "templates/", "static/", "scripts/", "tests/", "docs/")
    missing = {rule: path for rule, path in cited.items() if rule not in there}
    assert not missing, "no such section: " + "; ".join(f"{written({r})} ({p})" for r, p in sorted(missing.items()))


def test_every_rule_is_cited_by_the_code() -> None:
    """Cite it in the docstring of what follows it, or drop it; a heading that groups others needs no citation."""
    there = sections()
    groups = {(name, number[:-1]) for name, number in there}
    uncited = set(there) - groups - cited_in("sessions/", "ctxweb/").keys()
    assert not uncited, "no code cites " + written(uncited)
