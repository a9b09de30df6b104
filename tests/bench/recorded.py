"""Every recorded compaction against the policy of the client that made it: ``python -m tests.bench recorded``.

Over the shared samples and both corpora of real sessions: each automatic compaction is met, early or missed by the
replay of the client's policy as that client was, with the reason; firings where nothing was recorded are false alarms.
Writes docs/benchmarks/recorded.md.
"""

from __future__ import annotations

import io
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.agents.agent import writer_of
from sessions.engine.base.errors import EngineError
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.recorded import EARLY, HIT, MISSED, compare
from tests.recordings import content
from tests.samples import find_samples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessions.engine.why.recorded import ComparedCompaction, Comparison

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "benchmarks" / "recorded.md"
FOLDERS = ("corpus", "corpus-2", "samples", "samples-2026")
ENDINGS = (".jsonl", ".json", ".gz", ".traj", ".txt", ".ndjson")
COLUMNS = ("agent", "client", "sessions", "automatic", "met", "early", "missed", "false alarms", "recall", "precision")
AUTO = "auto"


class Held(NamedTuple):
    """One session held against its client's policy; ``as_recorded`` is that client's threshold in words."""

    name: str
    agent: str
    client: str
    comparison: Comparison
    n_requests: int

    @property
    def automatic(self) -> list[ComparedCompaction]:
        """The compactions recorded as automatic that could be compared."""
        return [one for one in self.comparison.compared if one.trigger == AUTO and one.outcome in {HIT, EARLY, MISSED}]


def main() -> None:
    """Hold every file's sessions against their clients and write the tables."""
    samples = find_samples()
    if samples is None:
        sys.exit("the shared samples are missing: set CTXWEB_SAMPLES")
    held = [one for name in FOLDERS for one in held_in(samples.parent / name)]
    RESULTS.write_text(report(held), encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


def held_in(folder: Path) -> Iterator[Held]:
    """Every session under a folder whose agent has a policy that recordings are compared with."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in ENDINGS:
            yield from held_of(path, f"{folder.name}/{path.relative_to(folder)}")


def held_of(path: Path, name: str) -> list[Held]:
    """The sessions of one file; none where it cannot be read or no policy is known."""
    try:
        transcripts = read_transcripts(io.BytesIO(content(path)), path.name.removesuffix(".gz")).transcripts
    except EngineError:
        return []
    found = []
    for transcript in transcripts:
        agent = writer_of(transcript)
        if agent.policies and agent.triggers and transcript.requests:
            weighed = weigh(transcript)
            found.append(Held(name, agent.label, transcript.client, compare(weighed), len(weighed.steps)))
    return found


def report(held: list[Held]) -> str:
    """The page: figures per agent and version, misses and false alarms one by one, after lists, what is not counted."""
    every = [one for session in held for one in session.automatic]
    n_false = sum(one.comparison.n_false_alarms for one in held)
    lines = [
        "# Recorded compactions, and what a replay of the client does there",
        "",
        "Made by `python -m tests.bench recorded` over the shared samples and both corpora of real sessions. Each",
        "automatic compaction is held against the policy of the client that recorded it, with that version's settings.",
        "Met: the policy fires at that very request. Early: before it. Missed: not at all. A firing elsewhere is a",
        "false alarm.",
        "",
        f"- automatic compactions: {len(every)}; {_share(every, n_false)}",
        f"- requests asked in all: {sum(one.n_requests for one in held):,}, in {len(held)} sessions",
        "- in the list after, the summary is the recorded one, of the size that the next measured context leaves for",
        "  it where its words are not in the file; files put back are the policy's own choice, at most what that",
        "  context leaves for them, where the transcript does not hold them",
        "",
        "Own count: met by what ctxweb counts; the rest by the client's figure, for the file lacks the newest message.",
        "",
        "| corpus | agent | automatic | met | on its own count | false alarms | list after, apart at the median |",
        "|---|---|---|---|---|---|---|",
        *_by_corpus(held),
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "---|" * len(COLUMNS),
        *_rows(held),
        "",
        "## Missed, early and false",
        "",
        *(_bad(held) or ["None."]),
        "",
        "## After the compaction",
        "",
        "| session | compaction | recorded, tokens | replayed, tokens | difference |",
        "|---|---|---|---|---|",
        *(f"| {one.name} | {c.index + 1} | {_after(c)} |" for one in held for c in one.automatic if _both(c)),
        "",
        "## Not counted",
        "",
        "By hand, without a recorded trigger, or not comparable.",
        "",
        *(_not_counted(held) or ["None."]),
    ]
    return "\n".join(lines) + "\n"


def _by_corpus(held: list[Held]) -> list[str]:
    groups: dict[tuple[str, str], list[Held]] = {}
    for one in held:
        if one.automatic or one.comparison.n_false_alarms:
            groups.setdefault((one.name.partition("/")[0], one.agent), []).append(one)
    rows = []
    for (corpus, agent), own in sorted(groups.items()):
        every = [c for one in own for c in one.automatic]
        met = [c for c in every if c.outcome == HIT]
        n_own, n_false = sum(not c.is_told for c in met), sum(one.comparison.n_false_alarms for one in own)
        shares = [f"{n} ({_percent(n, whole)})" for n, whole in ((len(met), len(every)), (n_own, len(met)))]
        rows.append(f"| {corpus} | {agent} | {len(every)} | {' | '.join(shares)} | {n_false} | {_after_share(every)} |")
    return rows


def _rows(held: list[Held]) -> list[str]:
    groups: dict[tuple[str, str], list[Held]] = {}
    for one in held:
        if one.automatic or one.comparison.n_false_alarms:
            groups.setdefault((one.agent, one.client or "not recorded"), []).append(one)
    rows = []
    for (agent, client), own in sorted(groups.items(), key=lambda item: (item[0][0], _numbers(item[0][1]))):
        every = [c for one in own for c in one.automatic]
        n_false = sum(one.comparison.n_false_alarms for one in own)
        counts = [sum(c.outcome == outcome for c in every) for outcome in (HIT, EARLY, MISSED)]
        shares = (_percent(counts[0], len(every)), _percent(counts[0], counts[0] + n_false))
        rows.append(
            "| " + " | ".join(map(str, (agent, client, len(own), len(every), *counts, n_false, *shares))) + " |"
        )
    return rows


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def _share(every: list[ComparedCompaction], n_false: int) -> str:
    met = sum(one.outcome == HIT for one in every)
    shares = _percent(met, len(every)), _percent(met, met + n_false)
    return f"met {met}, recall {shares[0]}; {n_false} false alarms, precision {shares[1]}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "–"


def _bad(held: list[Held]) -> list[str]:
    lines = []
    for one in held:
        wrong = [c for c in one.automatic if c.outcome != HIT]
        lines += [f"- `{one.name}` ({one.client}), compaction {c.index + 1}: {'; '.join(c.reasons)}" for c in wrong]
        others = one.comparison.n_false_alarms - sum(c.outcome == EARLY for c in wrong)
        if others > 0:
            lines.append(f"- `{one.name}` ({one.agent} {one.client}): {others} firings where nothing is recorded")
    return lines


def _not_counted(held: list[Held]) -> list[str]:
    return [
        f"- `{one.name}`, compaction {c.index + 1}: {c.outcome}, trigger {c.trigger or 'not said'}"
        + (f" ({'; '.join(c.reasons)})" if c.reasons else "")
        for one in held
        for c in one.comparison.compared
        if c not in one.automatic
    ]


def _both(one: ComparedCompaction) -> bool:
    return one.after is not None and bool(one.after.tokens_recorded)


def _after(one: ComparedCompaction) -> str:
    after = one.after
    if after is None or not after.tokens_recorded:
        return "– | – | –"
    off = after.tokens_policy / after.tokens_recorded - 1
    return f"{after.tokens_recorded:,} | {after.tokens_policy:,} | {100 * off:+.1f}%"


def _after_share(every: list[ComparedCompaction]) -> str:
    offs = [
        abs(one.after.tokens_policy / one.after.tokens_recorded - 1)
        for one in every
        if one.after is not None and one.after.tokens_recorded
    ]
    return f"{100 * statistics.median(offs):.1f}%" if offs else "–"
