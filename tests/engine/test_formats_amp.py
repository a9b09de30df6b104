"""The Amp format, on a small thread of our own."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.base import registry
from sessions.engine.reading.formats.amp import usage_of
from sessions.engine.reading.jsonio import Source, dumps
from sessions.engine.reading.reading import read_contents, read_transcripts

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

FIXTURE = Path(__file__).parent.parent / "fixtures" / "transcripts" / "amp" / "T-0001.json"


def session() -> Transcript:
    with FIXTURE.open("rb") as file:
        return read_transcripts(file, FIXTURE.name).transcripts[0]


def test_calls_with_their_usage() -> None:
    found = [(r.message, r.usage.context, r.usage.output) for r in session().requests if r.usage]
    assert found == [(1, 1000, 20), (3, 1100, 5), (7, 300, 4)]
    assert len(session().requests) == 3
    assert (session().id, session().title, session().client) == ("T-0001", "Count pears", "0.0.17")


@pytest.mark.parametrize(
    ("counts", "context"),
    [
        ({"inputTokens": 10, "cacheReadInputTokens": 900, "outputTokens": 1}, 910),
        ({"inputTokens": 10, "cacheReadInputTokens": 900, "totalInputTokens": 910, "outputTokens": 1}, 910),
        ({"inputTokens": 910, "cacheReadInputTokens": 900, "totalInputTokens": 910, "outputTokens": 1}, 910),
    ],
)
def test_the_cache_is_counted_once(counts: dict[str, Any], context: int) -> None:
    usage = usage_of(counts)
    assert usage
    assert (usage.context, usage.cache_read) == (context, 900)


def test_results_of_runs() -> None:
    with FIXTURE.open("rb") as file:
        done, failed = read_contents(file, "amp", session().messages[2])
    assert (done.text, done.call_id, done.is_error) == ('{"output":"p1 p2","exitCode":0}', "toolu_1", False)
    assert (failed.text, failed.call_id, failed.is_error) == ("no such file", "toolu_2", True)


def test_a_summary_is_a_compaction_and_a_refusal_an_event() -> None:
    found = session()
    (compaction,) = found.compactions
    assert (compaction.message, compaction.boundary, compaction.preserved) == (4, 4, ())
    assert (compaction.tokens_before, compaction.tokens_after) == (1105, 300)
    (error,) = found.errors
    assert (error.tokens, error.limit, error.request) == (210_000, 200_000, 2)


def test_pictures_threads_and_files_beside_the_messages() -> None:
    found = session()
    assert found.n_images == 1
    assert (found.messages[8].preview, found.messages[8].typed) == ("ls fence.md", False), "the user's own command"
    assert found.warnings == (
        "Related thread (handoff): T-0000",
        "Files that the user mentioned: 1; sent besides, not among the messages",
    )


def test_a_document_that_only_has_such_an_id_is_no_thread() -> None:
    document = {"id": "T-1", "messages": [{"role": "info", "content": [{"type": "text", "text": "hi"}]}]}
    guess = registry.get("formats", "amp").sniff(Source(io.BytesIO(dumps(document).encode())).head())
    assert guess
    assert guess.score == 0
