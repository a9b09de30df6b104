"""What is said of a recorded compaction beside the client's own policy, and why it came, are one answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sessions.engine.base.errors import BadParameter, EngineError
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.causes import AFTER_REFUSAL, CANNOT_TELL, MANUAL, PLACEHOLDER
from sessions.engine.why.recorded import APART, HIT, MISSED, NOT_ASKED, REFUSED, compare
from sessions.engine.why.verdicts import verdicts_of
from tests.samples import samples_dir

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessions.engine.why.recorded import ComparedCompaction

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts"
TOLD_APART = {
    "claude_code/boundary_on_line_1.jsonl 0": (APART, PLACEHOLDER),
    "gemini_cli/refused_and_compressed.jsonl 0": (REFUSED, PLACEHOLDER),
    "opencode/pruned_and_refused.json 0": (REFUSED, PLACEHOLDER),
    "pi/refused_then_compacted.jsonl 0": (REFUSED, PLACEHOLDER),
}
"""Compactions that are told in two ways: a summary that holds nothing is the cause whatever had started it."""


def told_twice(folder: Path) -> Iterator[tuple[str, ComparedCompaction, str]]:
    """Each recorded compaction of the files in a folder whose client has a policy: outcome and cause."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        try:
            with path.open("rb") as file:
                transcripts = read_transcripts(file, path.name).transcripts
        except EngineError:
            continue
        for transcript in transcripts:
            weighed = weigh(transcript)
            causes = {one.number: one.cause for one in verdicts_of(weighed) if one.what == "compaction"}
            try:
                compared = compare(weighed).compared if transcript.compactions else ()
            except BadParameter:
                continue
            for one in compared:
                if one.index in causes:
                    yield f"{path.relative_to(folder)} {one.index}", one, causes[one.index]


def disagree(one: ComparedCompaction, cause: str) -> bool:
    """Whether the outcome and the cause are not those of one answer."""
    if one.outcome == HIT and cause == CANNOT_TELL:
        return True
    return (one.outcome == REFUSED) != (cause == AFTER_REFUSAL) or (one.outcome == APART) != (cause == MANUAL)


def assert_agreed(folder: Path, *outcomes: str) -> None:
    """No compaction of a folder is told in two ways but those that are known; each outcome occurs."""
    found = list(told_twice(folder))
    wrong = sorted((name, one.outcome, cause) for name, one, cause in found if disagree(one, cause))
    names = {name for name, _, _ in found}
    assert wrong == sorted((name, *pair) for name, pair in TOLD_APART.items() if name in names)
    assert {one.outcome for _, one, _ in found} >= set(outcomes)


def test_outcome_and_cause_agree_on_every_fixture() -> None:
    assert_agreed(FIXTURES, HIT, MISSED, APART, REFUSED, NOT_ASKED)


@pytest.mark.samples
def test_outcome_and_cause_agree_on_every_sample() -> None:
    assert_agreed(samples_dir(), HIT, MISSED, APART)
