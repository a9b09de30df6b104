"""Claude Code stops itself when compacting does not help: the point, and what made the last compaction needed."""

from __future__ import annotations

import io

import pytest

from sessions.engine.reading.encodings import after_refusal, refusal_words
from sessions.engine.reading.formats._provider_errors import refusal_of
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.reading.skeleton import Skeleton
from sessions.engine.why.headline import headline_of
from sessions.engine.why.verdicts import Verdict, verdicts_of
from tests.engine.verdict_files import Claude

SAID = (
    "Autocompact is thrashing: the context refilled to the limit within 3 turns of the previous compact, 3 times in a "
    "row."
)


def filled_again(times: int) -> Claude:
    """Compacted at the threshold of 167,000, then full again after one result, so many times; then it stops itself."""
    session = Claude("claude-opus-4-5", 15_000)
    session.version = "2.1.220"
    session.prompt()
    session.until(167_050)
    session.compact()
    for n in range(times):
        session.reply(call=f"big{n}")
        session.result(f"big{n}", 168_000 - session.context)
        session.compact()
    session.refuse(SAID)
    return session


def stop_of(session: Claude) -> Verdict:
    return next(verdict for verdict in verdicts_of(session.weighed()) if verdict.is_stop)


def test_what_filled_it_again_is_the_cause_and_leads():
    session = filled_again(3)
    stop = stop_of(session)
    assert (stop.what, stop.cause, stop.certainty) == ("error", "refilled", "certain")
    assert "compacting did not help. The last compaction: " in stop.sentence
    assert "filled it again in one request" in stop.sentence
    lead = headline_of(session.weighed(), verdicts_of(session.weighed()))
    assert lead.what == stop.point == f"Stopped by the agent before request {stop.request}"
    assert "3 compactions (filled again at once" in lead.more


def test_a_compaction_for_no_more_than_its_threshold_says_nothing_of_the_stop():
    """Also with no compaction before it at all."""
    plain = filled_again(0)
    assert (stop_of(plain).cause, stop_of(plain).certainty) == ("cannot_tell", "unknown")
    never = Claude("claude-opus-4-5", 15_000)
    never.prompt()
    never.turns(3, 500)
    never.refuse(SAID)
    assert stop_of(never).cause == "cannot_tell"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (SAID, "thrashing"),
        ("Autocompaction is thrashing", "thrashing"),
        ("  autocompact is thrashing: 413", "thrashing"),
        ("You said that autocompact is thrashing", None),
        ("Autocompact is thrashingly slow", None),
    ],
)
def test_only_the_agents_own_words_say_so(text, kind):
    found = refusal_of(text)
    assert (found.kind if found else None) == kind


def test_it_is_no_refusal_that_a_compaction_answers():
    session = filled_again(1)
    session.compact()
    transcript = session.weighed().transcript
    assert refusal_words(transcript.errors[0]) == "The agent stopped: full again after each compaction"
    assert not after_refusal(transcript, transcript.compactions[-1])


def test_a_skeleton_keeps_it():
    source = Source(io.BytesIO("\n".join(filled_again(1).lines).encode()), "a.jsonl")
    kept = "\n".join(Skeleton().lines(source)).encode()
    again = read_transcripts(io.BytesIO(kept), "a.jsonl").transcripts[0]
    assert [error.kind for error in again.errors] == ["thrashing"]
