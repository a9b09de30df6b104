"""Cline's classic client in ui messages: cut ranges, repeated reads, titles; no sentence contradicts its figures."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from sessions.engine.base.comparisons import compared
from sessions.engine.packing.pack import pack, unpack
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.recorded import compare, policy_for


def ui(contexts, *, ranges=(), task="Tidy the drawer", request="[read_file for 'a.py'] Result: x"):
    """A file of requests with these contexts in tokens; ``ranges`` are the deleted ranges by request."""
    entries = [{"ts": 1, "type": "say", "say": "task", "text": task}]
    for number, context in enumerate(contexts):
        body = {
            "request": request,
            "tokensIn": context - 1_000,
            "tokensOut": 100,
            "cacheReads": 1_000,
            "cacheWrites": 0,
        }
        entry = {"ts": 10 * number + 2, "type": "say", "say": "api_req_started", "text": json.dumps(body)}
        entry["conversationHistoryIndex"] = 2 * number - 1
        if number in dict(ranges):
            entry["conversationHistoryDeletedRange"] = dict(ranges)[number]
        entries += [entry, {"ts": 10 * number + 3, "type": "say", "say": "text", "text": f"step {number}"}]
    return read_transcripts(io.BytesIO(json.dumps(entries).encode()), "ui_messages.json").transcripts[0]


def test_a_cut_range_is_compared_with_the_classic_policy():
    transcript = ui([150_000, 155_000, 159_950, 90_000], ranges=[(3, [2, 3])])
    (compaction,) = transcript.compactions
    assert (compaction.trigger, compaction.by, compaction.request) == ("auto", "cline_classic", 3)
    weighed = weigh(transcript)
    assert policy_for(weighed) == "cline_classic"
    (one,) = compare(weighed).compared
    assert (one.outcome, one.gate.measure, one.gate.threshold) == ("hit", 160_050, 160_000)
    assert unpack(pack(transcript)).compactions == transcript.compactions


@pytest.mark.parametrize(
    ("before", "after", "is_one"),
    [(159_900, 120_000, True), (159_899, 120_000, False), (170_000, 170_000, False), (170_000, 169_999, True)],
)
def test_a_fall_with_an_unmoved_range_is_the_pass_over_repeated_reads(before, after, is_one):
    """Policies 11.3: what was allowed (160,000 of 200,000, output included) had been reached, and no message left."""
    transcript = ui([100_000, before, after, after + 100])
    assert bool(transcript.compactions) is is_one
    if is_one:
        (compaction,) = transcript.compactions
        assert (compaction.request, compaction.by, compaction.tokens_before) == (2, "cline_classic", before + 100)
        assert compaction.preserved == tuple(range(compaction.boundary))


def test_a_range_that_moves_is_one_compaction_not_two():
    transcript = ui([100_000, 165_000, 90_000, 165_000, 120_000], ranges=[(2, [2, 3]), (4, [2, 3])])
    assert [c.request for c in transcript.compactions] == [2, 4]
    assert [len(c.preserved) == c.boundary for c in transcript.compactions] == [False, True]


def test_the_title_is_the_task():
    request = "[attempt_completion] Result: Done"
    assert ui([1_500, 2_000], request=request).title == "Tidy the drawer"


@pytest.mark.parametrize(
    ("measure", "operator", "threshold", "words"),
    [
        (166_999, ">=", 167_000, "166,999 tokens were below the policy's 167,000"),
        (167_000, ">=", 167_000, "167,000 tokens reached the policy's 167,000"),
        (183_616, ">", 183_616, "183,616 tokens were not over the policy's 183,616"),
        (183_617, ">", 183_616, "183,617 tokens were over the policy's 183,616"),
    ],
)
def test_a_comparison_says_what_its_figures_say(measure, operator, threshold, words):
    assert compared(measure, operator, threshold, "tokens", "the policy's") == words


def test_a_contradictory_sentence_cannot_be_built():
    """186,781 tokens over the threshold, and the gate waits for something else: it says for what."""
    transcript = ui([150_000, 155_000, 186_681, 90_000], ranges=[(3, [2, 3])])
    (one,) = compare(weigh(transcript), "cline_agentic", params={"trigger": 1}).compared
    said = " ".join(one.reasons)
    assert "were below" not in said or one.gate.measure < one.gate.threshold
    with pytest.raises(ValueError, match="not '<'"):
        compared(1, "<", 2, "tokens", "the")


def test_a_stated_trigger_is_where_the_replay_starts():
    """The requests of an API session name it."""
    transcript = replace(ui([150_000]), format="anthropic_messages", trigger_at=77_000)
    assert compare(weigh(transcript)).as_recorded == "as recorded: threshold 77,000 (as its requests ask)"
