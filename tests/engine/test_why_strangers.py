"""The sessions of strangers: which first lines have what their readers asked for; the set can only grow."""

from __future__ import annotations

import csv
import re
from contextlib import suppress
from pathlib import Path

import pytest

from sessions.engine.reading.reading import NotATranscript, read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdicts_of

FOLDER = Path(__file__).parent.parent / "why"
SETS = ("strangers", "strangers-2", "strangers-3", "strangers-4", "strangers-5")
WRONG = {
    "22-agents-sdk-minimax-2013.jsonl", "05-codex-4280k-of-570k.jsonl", "08-openclaw-cache-10752.jsonl",
    "09-opencode-pinned-196608.json",
    "17-inspect-vllm-1000.json", "16-gsd-summed.jsonl", "23-claude-code-367k.jsonl",
}  # fmt: skip
"""Those whose first line lacks something; one that is mended leaves the set, none enters it."""


def rows() -> list[dict[str, str]]:
    """The tables of what each line must and must not say."""
    found = []
    for name in SETS:
        with (FOLDER / name / "README.tsv").open(encoding="utf-8", newline="") as file:
            found += [row | {"set": name} for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return found


def told(path: Path) -> str:
    """The first lines about the sessions of a file; "" of one that is no known format."""
    with path.open("rb") as file, suppress(NotATranscript):
        found = [weigh(transcript) for transcript in read_transcripts(file, path.name).transcripts]
        return " ".join(headline(weighed, verdicts_of(weighed)) for weighed in found)
    return ""


def patterns(row: dict[str, str], column: str) -> list[str]:
    """The regular expressions of a column, by how its name begins."""
    cell = next(value for name, value in row.items() if name.startswith(column))
    return [pattern.strip() for pattern in cell.split(" ; ") if pattern.strip()]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["file"])
def test_a_strangers_first_line(row: dict[str, str]) -> None:
    said = told(FOLDER / row["set"] / row["file"])
    lacks = [one for one in patterns(row, "must contain") if not re.search(one, said, re.IGNORECASE)]
    wrong = [one for one in patterns(row, "must not say") if re.search(one, said, re.IGNORECASE)]
    assert bool(lacks or wrong) == (row["file"] in WRONG), (said, lacks, wrong)
