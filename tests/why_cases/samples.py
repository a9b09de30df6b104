"""``python -m tests.why_cases.samples --out PAGE``: the headline of every shared sample, and why it is right.

Names and headlines only; nothing of the samples' texts.
"""

from __future__ import annotations

import argparse
import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING

from sessions.engine.base.errors import EngineError
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdicts_of
from tests.samples import find_samples
from tests.why_cases.__main__ import replace_between

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessions.engine.weigh.calibration.weighed import Weighed

BEGIN, END = "<!-- headlines of the samples -->", "<!-- end of the headlines -->"
MANY = 2
"""Sessions of one file without an event that have a row each."""
ALONE = "The file is one response or request: the list that was summarised is not in it, and no trigger is given."
DAMAGED = "The compaction stands at the file's beginning: what it removed is not in it, and nothing reports usage."
_PEAK = re.compile(r"Peak ([\d,]+) tokens[^.]*\.")
ANSWERS = "context-compress-interactive.compress.responses"
WHY = {
    "anthropic_compaction_end_to_end.0.response.json": ALONE,
    "anthropic_compaction_end_to_end.1.request.json": "The request asks for 50,000; the text before the "
    "block passes it by estimate (the iteration's own figure, 55,196, is in another file): likely.",
    "anthropic_compaction_round_trip.0.request.json": ALONE,
    "compaction_usage_with_cache.0.response.json": ALONE,
    "harbor_terminus2_continuation.json": "A continuation is recorded without a size; ATIF names no trigger.",
    "v17_embedded_subagents.json": "A mock: the step says that it compacted, and gives neither trigger nor size.",
    "vscode-98b76fb9-compaction.jsonl": "compactMetadata.trigger is manual.",
    "trajectory-state-snapshot.json": DAMAGED,
    "transcript_1775519700.jsonl": DAMAGED,
    "transcript_1775519844.jsonl": DAMAGED,
    "compact_messages.2.response.json": "The answer of the endpoint that compacts on demand.",
    "compact_messages.3.request.json": ALONE,
    "compact_stateful_stream.3.request.json": "The request asks for 1,000; over it by estimate: likely.",
    "compact_stateful_mode.2.response.json": ALONE,
    "compact_stateful_stream.2.response.sse.txt": ALONE,
    "compact_stateful_mode.3.request.json": "The request asks for 1,000; over it by estimate: likely.",
    "docent-log.eval": "The sample records a limit of 50 messages as what ended it.",
    "before-compaction.jsonl": "tokensBefore 185,014 is over 183,616, at the end of a run; the one before came at "
    "175,004, under it, while the agent was idle: nothing records who asked, so it is not guessed.",
    "as-cli_small-checkpoint.jsonl": "A checkpoint without usage, trigger or model window.",
    "entire-auto-2.1.39.jsonl": "Trigger auto, preTokens 167,370, the client's threshold 167,000.",
    "entire-auto-2.1.5.jsonl": "Trigger auto, preTokens 155,625, this client's threshold 155,000.",
    "entire-manual-2.1.14.jsonl": "compactMetadata.trigger is manual.",
    "entire-micro-2.1.17.jsonl": "A microcompaction boundary, no compaction; 138,395 is the largest usage.",
    "as-small-compacted.jsonl": "Records of several versions one after another: compactions follow each other without "
    "usage between them, so no more than possible is said.",
    "as-large-0.0.420.jsonl": "session.truncation gives context_limit as its reason: no command. Which messages "
    "went is not recorded, usage neither.",
    ANSWERS: "The file holds answers alone. Two are state snapshots; that one took the place of a list is not in it.",
    "wasa-compaction.events.jsonl": "Copilot's own count is 160,194 of 200,000 (80.1%); its trigger is not modelled: "
    "possible.",
    "as-assistant_tools-compaction.jsonl": "full_compaction.begin has source manual.",
}


def lines() -> Iterator[tuple[str, str, str]]:
    """File, headline and why it is right, for every session of every sample; sessions with equal headlines once."""
    older = find_samples()
    for root in (older, older.parent / "samples-2026") if older else ():
        with (root / "INDEX.tsv").open(encoding="utf-8") as index:
            for row in csv.DictReader(index, delimiter="\t"):
                yield from _of_file(root / row["file"], row["file"])


def _of_file(path: Path, name: str) -> Iterator[tuple[str, str, str]]:
    try:
        with path.open("rb") as file:
            parsed = read_transcripts(file, name)
    except EngineError as error:
        yield name, f"Not read: {str(error).partition(': ')[2].partition('.')[0]}.", "No conversation is in it."
        return
    said: dict[str, Weighed] = {}
    for transcript in parsed.transcripts:
        weighed = weigh(transcript)
        said.setdefault(headline(weighed, verdicts_of(weighed)), weighed)
    quiet = [text for text in said if text.startswith("No compaction.")]
    if len(quiet) > MANY:
        peaks = [tokens for text in quiet if (tokens := _PEAK.search(text))]
        least, most = (pick(peaks, key=lambda match: int(match[1].replace(",", "")))[0] for pick in (min, max))
        words = f"No compaction, in {len(quiet)} different headlines: {least[:-1]} to {most[5:]}"
        yield name, words, _why(path.name, said[quiet[0]], quiet[0])
    for text, weighed in said.items():
        if text not in quiet or len(quiet) <= MANY:
            yield name, text, _why(path.name, weighed, text)


def _why(name: str, weighed: Weighed, text: str) -> str:
    transcript = weighed.transcript
    if not text.startswith("No compaction") or transcript.clearings or name == ANSWERS:
        return WHY.get(name, "")
    if "No request" in text:
        return "None recorded; the file has no request."
    measured = [r.usage.context for r in transcript.requests if r.usage]
    if not measured:
        return "None recorded; no usage: the estimate of its text."
    return f"None recorded; the largest of {len(measured)} reported {'usage' if len(measured) == 1 else 'usages'}."


def page() -> str:
    """The table."""
    rows = [f"| {name} | {text} | {why} |" for name, text, why in lines()]
    return "\n".join(["| file | headline | why it is right |", "| --- | --- | --- |", *rows])


def main() -> None:
    """Print the table, or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="the page whose table is made again")
    out = parser.parse_args().out
    if out is None:
        print(page())
    else:
        replace_between(out, BEGIN, END, f"{page()}\n\n")


if __name__ == "__main__":
    main()
