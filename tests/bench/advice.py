"""What is advised for every real session that compacted by itself: ``python -m tests.bench advice``.

Reads the corpora beside the repository (``CTXWEB_CORPUS``, and the folder corpus-2 beside it).  Writes
docs/benchmarks/advice.md.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING

from sessions.engine.quality.recall import percent
from sessions.engine.sweeps.advice import BALANCED, CHEAPEST, LEAST_LOST, LOSS_WEIGHT, SAFE, advise, cost_range, lost
from tests.engine.test_advice import hold, whole_of
from tests.samples import find_corpus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessions.engine.sweeps.advice import Advice
    from sessions.engine.sweeps.sweep import Row, Sweep

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "advice.md"
HEAD = f"""# Advice on real sessions

Made by `python -m tests.bench advice` on the sessions of two corpora that compacted by themselves, each under its own
agent's policy along its own threshold. A cell is threshold, compactions, things lost, and for a setting the change of
the cost. *Lost* counts rules and things used later, over all compactions. *Still answers* is recall at retained tokens
(docs/numbers.md); left out are sessions without a compaction, or whose summaries have no text.

What does not hold, or is not shown: as recorded the summaries are a model's; at other thresholds they are extracts,
which lose more, so that keeping the setting looks better than it may be. The weight of losses in Balanced
({LOSS_WEIGHT} of the share of the cost, of {LEAST_LOST} losses at least) was chosen on these sessions, for a median of
losses no higher than recorded: nothing was held back to test it on. Of 0.3, 0.35, 0.4 and 0.5, tried on 2026-11-27 on
the first corpus, 0.3 missed that (9.5 lost against 9), and 0.5 left a saving of 4.4% in place of 6.1%.
"""


def main() -> None:
    """Advise on all and write the page; an advice that is never to be given ends it."""
    groups = {name: [(of, whole, advise(whole)) for of, whole in wholes] for name, wholes in corpora().items()}
    lines = [HEAD]
    for name, found in groups.items():
        for _, whole, advice in found:
            hold(advice, whole)
        head = ("| session | as recorded | Safe | Balanced | Cheapest | answer |", "|---|---|---|---|---|---|")
        lines += [f"## {name}", "", *summary(found), "", *head, *(row_of(*one) for one in found), ""]
    RESULTS.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def corpora() -> dict[str, Iterator[tuple[str, Sweep]]]:
    """Sweeps by name of the corpus."""
    first = find_corpus()
    if first is None:
        raise SystemExit("no corpus beside the repository; set CTXWEB_CORPUS")
    second = first.with_name("corpus-2")
    found = {"Claude Code, one repository": swept(first, "file")}
    return found | ({"Six other repositories": swept(second, "name")} if (second / "INDEX.tsv").is_file() else {})


def swept(folder: Path, column: str) -> Iterator[tuple[str, Sweep]]:
    """Name and sweep of every session of a corpus with automatic compactions."""
    with (folder / "INDEX.tsv").open(encoding="utf-8") as index:
        names = [row[column] for row in csv.DictReader(index, delimiter="\t") if int(row["automatic"] or 0)]
    for name in names:
        file = next(folder.rglob(f"{Path(name).name.removesuffix('.gz')}.gz"))
        whole = whole_of(gzip.decompress(file.read_bytes()), file.name.removesuffix(".gz"))
        if whole is not None:
            yield Path(name).name.split(".")[0], whole


def summary(found: list[tuple[str, Sweep, Advice]]) -> list[str]:
    """Medians of Balanced against the recording, and how many kept the setting."""
    pairs = [(pick, whole) for _, whole, advice in found for pick in advice.picks if BALANCED in pick.names]
    if not pairs:
        return ["No advice."]
    mine, theirs = median(lost(pick.row) for pick, _ in pairs), median(lost(whole.recorded) for _, whole in pairs)
    n_kept = sum(pick.as_recorded for pick, _ in pairs)
    change = 100 * mean(pick.most for pick, _ in pairs)
    said = (
        f"{len(found)} sessions, {len(pairs)} with settings. Balanced: median of lost {mine:g}, as recorded {theirs:g};"
    )
    said = f"{said} cost {change:+.1f}% in the mean; the recorded setting kept in {n_kept}.".replace("-", "−")
    wholes = [whole for _, whole, _ in found]
    swept_rows = [row for whole in wholes for row in whole.rows]
    return [said, "", f"Still answers: {recalled([whole.recorded for whole in wholes], 'as recorded')};"
            f" {recalled(swept_rows, 'at all thresholds swept')}."]  # fmt: skip


def recalled(rows: list[Row], where: str) -> str:
    """What still answers after a compaction in some rows, and in how many tokens."""
    known = [row.recall for row in rows if row.recall is not None and not row.recall.at_least]
    if not known:
        return f"{where} unknown"
    shares = sorted(recall.share for recall in known)
    middle, least, most = (percent(share) for share in (median(shares), shares[0], shares[-1]))
    tokens = median(recall.tokens for recall in known)
    return f"{where} {middle} in the median of {len(known)} of {len(rows)} ({least} to {most}), at {tokens:,.0f} tokens"


def row_of(name: str, whole: Sweep, advice: Advice) -> str:
    """One session's line."""
    picks = {label: pick for pick in advice.picks for label in pick.names}
    cells = [cell(picks[label].row, whole.recorded) if label in picks else "–" for label in (SAFE, BALANCED, CHEAPEST)]
    return f"| {name} | {cell(whole.recorded, whole.recorded)} | {' | '.join(cells)} | {advice.answer} |"


def cell(row: Row, held: Row) -> str:
    """A setting in figures."""
    at = "–" if row.threshold is None else f"{row.threshold:,}"
    told = f"{at}, {row.totals.compactions}, {lost(row)}"
    if row is held:
        return told if not held.more.get("losses_open") else f"{at}, {row.totals.compactions}, unknown"
    change = 100 * (cost_range(row)[1] / cost_range(held)[0] - 1)
    return f"{told}, {change:+.0f}%".replace("-", "−")
