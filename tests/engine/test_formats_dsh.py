"""Sessions of DeepSeek Harness, on small files of our own."""

from __future__ import annotations

import io
from pathlib import Path

from sessions.engine.base import registry
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Kind, Parsed, Role

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts" / "dsh"


def parsed(name: str) -> Parsed:
    with (FIXTURES / name).open("rb") as file:
        return read_transcripts(file, name)


def test_each_reply_is_a_request_with_its_cache_apart() -> None:
    (found,) = parsed("compacted.jsonl").transcripts
    assert [(r.message, r.usage and r.usage.context, r.usage and r.usage.output) for r in found.requests] == [
        (2, 1500, 40),
        (4, 1900, 20),
        (6, 1780, 15),
        (None, 1800, 9),
        (9, 300, 12),
    ]
    assert [r.on_branch for r in found.requests] == [True, True, True, False, True], "a summary's call is not seen"
    assert [(c.request, c.tokens_before) for c in found.compactions] == [(4, 1795), (5, 312)]
    assert (found.window, found.model, found.title) == (128_000, "deepseek-v4-flash", "Goats")
    assert [block.name for block in found.system] == ["", "bash"]


def test_what_a_summary_stands_for_leaves_and_what_lies_after_it_stays() -> None:
    (found,) = parsed("compacted.jsonl").transcripts
    first, second = found.compactions
    assert (first.trigger, first.message, first.preserved) == ("auto", 8, (5, 6, 7))
    assert (second.trigger, second.message, second.preserved) == ("manual", 10, ())
    assert [m.role for m in found.messages if m.summary] == [Role.USER, Role.USER]
    assert [m.typed for m in found.messages] == [n in (0, 5, 7) for n in range(11)]


def test_a_result_that_was_cut_keeps_what_was_sent_before() -> None:
    (found,) = parsed("compacted.jsonl").transcripts
    (clearing,) = found.clearings
    assert (clearing.request, clearing.n_cleared, clearing.calls) == (2, 1, ("c1",))
    with (FIXTURES / "compacted.jsonl").open("rb") as file:
        (result,) = read_contents(file, "dsh", found.messages[3])
    assert ([part.text for part in result.parts], result.call_id) == (["nan bil " * 40], "c1")


def test_events_without_numbers_count_on_and_a_subagent_names_its_session() -> None:
    whole = parsed("without_numbers.jsonl")
    (found,) = whole.transcripts
    assert [b.kind for m in found.messages for b in m.blocks] == [Kind.TEXT, Kind.TOOL_USE, Kind.TOOL_RESULT]
    assert [kin.home for kin in whole.kin] == ["sess-1"]
    assert [r.usage and r.usage.context for r in found.requests] == [8772]


def test_retries_and_failed_compactions_are_told_and_a_plugins_events_are_no_gaps() -> None:
    whole = parsed("retried.jsonl")
    (found,) = whole.transcripts
    assert whole.skipped == ()
    assert [(e.kind, e.code, e.count) for e in found.events] == [
        (EventKind.RETRY, "SERVER", 2),
        (EventKind.ERROR, "EMPTY_RESPONSE", 1),
    ]
    assert [(e.of_compaction, e.words.startswith("messages.1")) for e in found.errors] == [(True, True)]


def test_no_session_of_the_harness_is_pis() -> None:
    """Nor is its first line alone, which looks like pi's: that is a near miss of its own."""
    pi = registry.get("formats", "pi")
    for path in sorted(FIXTURES.glob("*")):
        lines = path.read_bytes().splitlines(keepends=True)
        for n_lines in (1, 2, len(lines)):
            guess = pi.sniff(Source(io.BytesIO(b"".join(lines[:n_lines]))).head())
            assert guess is None or guess.score == 0
