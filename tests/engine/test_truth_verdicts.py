"""Verdicts on every shared sample: none is sure of what its transcript cannot show."""

from __future__ import annotations

import pytest

from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.overcount import over_count
from sessions.engine.why.verdicts import COMPACTION, Verdict, verdicts_of
from tests.engine.truth_facts import parsed, sample_names

pytestmark = pytest.mark.samples
FORMATS = (
    "anthropic-api", "atif", "browser-use", "claude-code", "cline", "codex", "gemini-cli", "inspect",
    "learn-claude-code", "openai-chat", "openai-responses", "openhands", "pi", "swe-agent",
)  # fmt: skip
NAMES = [name for folder in FORMATS for name in sample_names(folder)]
KNOWN = {
    # The record says itself that a limit on messages ended it.
    ("inspect/docent-log.eval", 24): ("request_failed", "certain"),
    ("claude-code/entire-auto-2.1.5.jsonl", 10): ("threshold_reached", "certain"),
    ("claude-code/entire-auto-2.1.39.jsonl", 57): ("threshold_reached", "certain"),
    ("claude-code/vscode-98b76fb9-compaction.jsonl", 3): ("manual", "certain"),
    ("pi/before-compaction.jsonl", 294): ("threshold_reached", "certain"),
}
"""Compactions whose reason is known: the others have neither a figure, a trigger nor their list before."""


@pytest.mark.parametrize("name", NAMES)
def test_no_verdict_on_a_sample_is_sure_without_proof(name: str) -> None:
    for transcript in parsed(name).transcripts:
        weighed = weigh(transcript)
        verdicts = verdicts_of(weighed)
        assert [v.number for v in verdicts if v.what == COMPACTION] == list(range(len(transcript.compactions)))
        for verdict in verdicts:
            assert (verdict.cause, verdict.certainty) == KNOWN.get((name, verdict.request), _at_most_likely(verdict))
            assert verdict.evidence


def _at_most_likely(verdict: Verdict) -> tuple[str, str]:
    """What a verdict may say where nothing proves it: anything but certain, unless the transcript says by hand."""
    if verdict.trigger == "manual":
        return "manual", "certain"
    return verdict.cause, "likely" if verdict.certainty == "certain" else verdict.certainty


@pytest.mark.parametrize("name", NAMES)
def test_gates_of_samples_agree_with_the_reference(name: str) -> None:
    """A firing called right reaches the threshold, one called false does not, and a measured one is the usage."""
    for transcript in parsed(name).transcripts:
        weighed = weigh(transcript)
        for result in over_count(weighed).results:
            over = result.threshold + (result.operator == ">")
            for firing in result.firings:
                assert (firing.reference >= over) is (firing.verdict != "false")
                if firing.reference_label.value == "measured":
                    usage = transcript.requests[firing.request].usage
                    assert usage is not None
                    assert firing.reference == usage.context
