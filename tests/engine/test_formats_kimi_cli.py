"""Kimi CLI's own list of messages, on small files of our own."""

from __future__ import annotations

from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.test_formats_contract import FIXTURES, read

FOLDER = FIXTURES / "kimi_cli"


def test_a_count_before_a_reply_is_of_what_was_sent_and_one_behind_it_of_both() -> None:
    parsed = read(FOLDER / "cranes.jsonl")
    (session,) = parsed.transcripts
    assert [(str(m.role), [str(b.kind) for b in m.blocks]) for m in session.messages] == [
        ("user", ["text"]), ("assistant", ["thinking", "text", "tool_use"]), ("user", ["tool_result"]),
        ("assistant", ["text"]), ("user", ["text"]), ("assistant", ["text", "image"]),
    ]  # fmt: skip
    assert session.messages[1].call_ids() == session.messages[2].result_ids() == {"call_1"}
    assert [(r.message, r.usage.input, r.usage.output) for r in session.requests if r.usage] == [
        (1, 1_210, 54), (3, 1_312, 0), (5, 905, 0),
    ]  # fmt: skip
    assert session.system
    assert [skipped.line for skipped in parsed.skipped] == [14]


def test_what_a_compaction_left_begins_a_file() -> None:
    (session,) = read(FOLDER / "compacted.jsonl").transcripts
    (compaction,) = session.compactions
    assert (compaction.message, compaction.outside, compaction.tokens_after) == (0, True, 880)
    assert (session.messages[0].summary, session.messages[0].typed) == (True, False)


def test_a_session_that_nothing_answered_tells_what_stands_before_it() -> None:
    path = FOLDER / "unanswered.jsonl"
    weighed = weigh(read(path).transcripts[0])
    said = headline(weighed, verdicts_of(weighed))
    assert f"system prompt and tools in the file weigh about {weighed.overhead:,} tokens" in said
    assert "2 prompts stand in the file, and no answer." in said
