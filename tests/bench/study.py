"""Whether lost things are fetched again, over a corpus of real sessions: ``python -m tests.bench study``.

Writes docs/benchmarks/study.md and the shares that the product predicts with, sessions/engine/quality/again_table.py.
"""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ctxweb.commands.study import sessions_of
from sessions.engine.quality.corpus import CorpusFindings, markdown, study_corpus
from sessions.engine.quality.dose_tables import RESULTS, DoseTable
from tests.samples import find_corpus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessions.engine.quality.index import Index
    from sessions.engine.weigh.calibration.weighed import Weighed

ROOT = Path(__file__).resolve().parents[2]
RESULTS_FILE = ROOT / "docs" / "benchmarks" / "study.md"
TABLE = ROOT / "sessions" / "engine" / "quality" / "again_table.py"
SOURCE = "public repository entireio/cli (branch entire/checkpoints/v1)"
SECOND = "CHANCES: "
"""Where the part of ``tests.bench chances`` begins."""
HEAD = """# Are dropped results fetched again?

Made by `python -m tests.bench study` over a corpus of real Claude Code sessions, the latest of {latest}, from the
{source}. `ctxweb study FILES` does the same for your own.

The unit is a target (file, command, address, question) whose newest result a recorded compaction dropped and did not
put back. The outcome: the agent fetched it again within 20 tool calls. A file written in between is read for its new
content: no repeat. The *dose* is how many things of that result the agent used within those calls while no kept message
and no summary held them. Beside every dose stands the placebo: results at points where nothing was dropped, with as
many things used later. Their share is what is fetched again anyway, and the difference is what the loss adds, in
points, with a 95% interval (a bootstrap of 1,000 seeded draws of whole sessions, from ten sessions on). A difference
*holds* where its interval is above 0 and both halves of the sessions (by a hash of their id) have the same sign. Only
for what holds does the product predict anything. What counts as lost: decision 9.

"""
HEAD_TABLE = '''"""Dropped results fetched again, by dose: made by ``python -m tests.bench study``, not to be edited.

{n_sessions} sessions of Claude Code with {n_compactions} compactions, the latest of {latest}, from the
{source}.
"""

from __future__ import annotations

N_CALLS = {n_calls}
"""Tool calls after a compaction that were looked at."""
KINDS = frozenset({kinds})
"""Verbs of results for which the loss is seen to add something; of the others nothing is said."""
SHARES: dict[str, tuple[tuple[float, float], ...]] = {{
{shares}}}
"""By dose: the share fetched again where the result was dropped, and where nothing was."""
SOURCE = "{n_sessions} Claude Code sessions, {n_compactions} compactions, until {latest}"
'''


def main() -> None:
    """Study the corpus, write its page and the table."""
    folder = find_corpus()
    if folder is None:
        sys.exit("the corpus is missing: set CTXWEB_CORPUS")
    times: list[float] = []
    found = study_corpus(_timed(sessions_of((folder,), []), times))
    latest = datetime.datetime.fromtimestamp(max(times), datetime.UTC).date().isoformat()
    # Lines proposed for a memory file are other people's paths.
    text = HEAD.format(source=SOURCE, latest=latest) + markdown(found._replace(memory_lines=())).rstrip() + "\n"
    RESULTS_FILE.write_text(text, encoding="utf-8")
    write_table(first=table_text(found, latest))
    print(text)


def write_table(*, first: str = "", second: str = "") -> None:
    """Write one part of the module of chances, and leave the other as it is: results by dose, then things by kind."""
    held, _, chances = TABLE.read_text(encoding="utf-8").partition(SECOND)
    TABLE.write_text((first or held) + (second or SECOND + chances), encoding="utf-8")


def _timed(sessions: Iterator[tuple[Weighed, Index]], times: list[float]) -> Iterator[tuple[Weighed, Index]]:
    for weighed, index in sessions:
        times += [request.timestamp for request in weighed.transcript.requests if request.timestamp is not None]
        yield weighed, index


def table_text(found: CorpusFindings, latest: str) -> str:
    """The module of shares: of the kinds of results for which what the loss adds holds."""
    first = found.studies[0]
    holding = {verb: table for table in first.tables if table.holds for verb in RESULTS.get(table.name, ())}
    kinds = "{" + ", ".join(f'"{verb}"' for verb in sorted(holding)) + "}" if holding else ""
    shares = "".join(f'    "{verb}": {_shares(table)},\n' for verb, table in sorted(holding.items()))
    return HEAD_TABLE.format(
        n_sessions=first.n_sessions, n_compactions=first.n_compactions, latest=latest, source=SOURCE,
        n_calls=first.n_calls, kinds=kinds, shares=shares,
    )  # fmt: skip


def _shares(table: DoseTable) -> str:
    pairs = [(round(one.share or 0.0, 3), round(one.anyway or 0.0, 3)) for one in table.doses]
    return "(" + ", ".join(str(pair) for pair in pairs) + ")"


if __name__ == "__main__":
    main()
