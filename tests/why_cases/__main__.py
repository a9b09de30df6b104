"""``python -m tests.why_cases``: how the first line does on every rebuilt report; ``--out`` rewrites the page's tables.

Text before the first table and after the last one stays as it is.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from sessions.engine.why.causes import CAUSES
from tests.why_cases.cases import REPORTS
from tests.why_cases.fifth import FIFTH
from tests.why_cases.fourth import FOURTH
from tests.why_cases.fresh import FRESH
from tests.why_cases.score import OUTCOMES, RIGHT, calibration, scores
from tests.why_cases.sixth import SIXTH
from tests.why_cases.third import THIRD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.why_cases.score import Result

BEGIN, END = "<!-- made by make verdicts -->", "<!-- end of what make verdicts makes -->"


def main() -> None:
    """Print the tables, or write them into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="the page whose tables are made again")
    out = parser.parse_args().out
    text = page(scores(REPORTS | FRESH | THIRD | FOURTH | FIFTH | SIXTH))
    if out is None:
        print(text)
    else:
        replace_between(out, BEGIN, END, f"{text}\n")


def replace_between(page: Path, begin: str, end: str, text: str) -> None:
    """Put ``text`` between two marks of a page, a blank line before it."""
    head, _, rest = page.read_text(encoding="utf-8").partition(begin)
    page.write_text(f"{head}{begin}\n\n{text}{end}{rest.partition(end)[2]}", encoding="utf-8")


def page(results: Sequence[Result]) -> str:
    """The tables: by group, by cause, by word of certainty, and what is not right."""
    return "\n\n".join((_groups(results), _causes(results), _words(results), _others(results)))


def _groups(results: Sequence[Result]) -> str:
    rows = [_counted(group, [r for r in results if r.report.group == group])
            for group in dict.fromkeys(r.report.group for r in results)]  # fmt: skip
    return _table(("reports", "n", *OUTCOMES), [*rows, _counted("all", results)])


def _causes(results: Sequence[Result]) -> str:
    of = [(r.report.causes[0] if r.report.causes else "", r) for r in results]
    rows = [_counted(CAUSES.get(cause, cause) or "nothing to name", [r for c, r in of if c == cause])
            for cause in dict.fromkeys(cause for cause, _ in of)]  # fmt: skip
    return _table(("cause that the first line deserves", "n", *OUTCOMES), rows)


def _words(results: Sequence[Result]) -> str:
    rows = [(word, str(n), str(right), f"{100 * right / n:.0f}%") for word, (n, right) in calibration(results).items()]
    return _table(("certainty", "said", "right", "share"), rows)


def _others(results: Sequence[Result]) -> str:
    wrong = [r for r in results if r.outcome != RIGHT]
    rows = [(r.name, r.outcome, CAUSES.get(r.said, r.said) or "nothing", r.certainty or "–") for r in wrong]
    return _table(("not right", "outcome", "the first line says", "certainty"), rows) if rows else "All are right."


def _counted(name: str, results: Sequence[Result]) -> tuple[str, ...]:
    counts = Counter(result.outcome for result in results)
    return (name, str(len(results)), *(str(counts[outcome] or "") for outcome in OUTCOMES))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()
