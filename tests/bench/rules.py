"""Rules read and rules kept, held against what people said: ``python -m tests.bench rules``.

Reads ``compint/balanced_blind_labeled.jsonl`` in the folder of ``CTXWEB_EXTERNAL``, else in ../shared/external.  Writes
docs/benchmarks/rules.md.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

from sessions.engine.quality.auroc import interval
from sessions.engine.quality.constraints import mentions
from sessions.engine.quality.rules import USER, rules_in
from tests.bench.rules_drawn import section

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "benchmarks" / "rules.md"
HEAD = """
## Constraints that a summary keeps

50 pairs of a constraint that a user gave and a summary, with what people said of its survival
(ZhiqiEliWang/compaction-integrity, MIT; the paper COMPINT, 2608.11242). They are not in this repository.

What does not hold, or is not shown: reader and judge were adapted on these 50 pairs, so the figures are no forecast.
Their constraints are standing orders in plain words.
"""
TITLE = """# Rules

Made by `python -m tests.bench rules`.

"""


def main() -> None:
    """Judge every pair and write the page."""
    folder = Path(os.environ.get("CTXWEB_EXTERNAL", ROOT.parent / "shared" / "external"))
    text = (folder / "compint" / "balanced_blind_labeled.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    read = {row["sssc_message"]: list(rules_in(row["sssc_message"], USER)) for row in rows}
    right: Counter[bool] = Counter()
    said = Counter(bool(row["label"]) for row in rows)
    for row in rows:
        rules = read[row["sssc_message"]]
        kept = bool(rules) and all(mentions(row["compacted_summary"], rule) for rule in rules)
        right[bool(row["label"])] += kept == bool(row["label"])
    lines = [HEAD, "| figure | of | share | interval (95%) |", "|---|---|---|---|",
             line("constraints read as rules", sum(map(bool, read.values())), len(read)),
             line("people: it survives; here: kept", right[True], said[True]),
             line("people: it does not; here: lost", right[False], said[False]),
             line("agreement", right.total(), said.total())]  # fmt: skip
    RESULTS.write_text(TITLE + section() + "\n".join(lines) + "\n", encoding="utf-8")


def line(name: str, n: int, of: int) -> str:
    """One row with its interval."""
    low, high = interval(n, of) or (0.0, 1.0)
    return f"| {name} | {n} of {of} | {n / of:.0%} | {low:.0%} to {high:.0%} |"
