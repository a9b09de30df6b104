"""Sessions and eval sets of Google ADK, on files of our own."""

from __future__ import annotations

from sessions.engine.transcript.types import Kind, Transcript
from tests.engine.truth_facts import fixture


def sessions(name: str) -> tuple[Transcript, ...]:
    return fixture(f"google_adk/{name}").transcripts


def contexts(session: Transcript) -> list[int | None]:
    return [request.usage and request.usage.context for request in session.requests]


def test_an_event_of_the_model_is_a_call_with_its_usage() -> None:
    (session,) = sessions("nursery.session.json")
    assert (session.id, session.model, session.title) == (
        "nursery", "gemini-2.5-flash", "Which beds of the nursery are dry?",
    )  # fmt: skip
    assert contexts(session) == [900, 1_000_200, 2_100, 2_150, 2_200, 1_500]
    first, second = (request.usage for request in session.requests[:2])
    assert first is not None
    assert second is not None
    assert (first.output, first.reasoning, second.cache_read, second.input) == (50, 20, 800, 999_400)
    assert session.requests[3].message is None


def test_results_answer_their_calls_and_pieces_of_a_stream_count_once() -> None:
    (session,) = sessions("nursery.session.json")
    assert [str(block.kind) for block in session.messages[1].blocks] == ["thinking", "tool_use", "tool_use"]
    assert session.messages[2].result_ids() == {"adk-1", "adk-2"}
    assert [block.is_error for block in session.messages[2].blocks] == [False, True]
    assert session.messages[3].preview == "The north bed is dry; the south bed has no sensor."
    assert session.messages[4].blocks[1].kind is Kind.IMAGE


def test_a_compaction_takes_its_range_of_time_and_no_more() -> None:
    (session,) = sessions("nursery.session.json")
    first, second = session.compactions
    assert (first.message, first.preserved, first.trigger) == (5, (4,), "auto")
    assert second.message is not None
    summary = session.messages[second.message].preview
    left = [session.messages[n].preview for n in second.preserved]
    assert summary == "The trays were asked about."
    assert left == ["North bed dry, south bed without a sensor.", "Are they wet?", "They are wet."]


def test_errors_ends_and_interruptions_are_told() -> None:
    (session,) = sessions("nursery.session.json")
    (refused,) = session.errors
    assert (refused.code, refused.tokens, refused.limit, refused.model) == (
        "INVALID_ARGUMENT", 1_060_000, 1_048_576, "gemini-2.5-flash",
    )  # fmt: skip
    assert [(event.kind, event.code, event.words) for event in session.events] == [
        ("session end", "", "the reply was cut off: MAX_TOKENS"),
        ("interruption", "", ""),
        ("error", "SAFETY", "The answer was withheld."),
    ]


def test_agents_side_by_side_are_sessions_of_their_own() -> None:
    judge, east, west, wheel = sessions("mills.json")
    assert [one.id for one in (judge, east, west, wheel)] == ["mills", "mills.both.east", "mills.both.west", "wheel"]
    assert [one.parent_id or None for one in (judge, east, west)] == [None, "mills", "mills"]
    assert (contexts(east), east.messages[1].result_ids()) == ([300, 340], {"c1"})


def test_what_a_rewind_took_back_was_sent_and_is_not_there() -> None:
    wheel = sessions("mills.json")[-1]
    assert [m.preview for m in wheel.messages] == ["Oil the wheel.", "Oiled.", "Wipe it.", "Wiped."]
    assert [(request.on_branch, request.message) for request in wheel.requests] == [(True, 1), (False, None), (True, 3)]
    assert any("Requests on a branch that was left: 1" in warning for warning in wheel.warnings)


def test_events_alone_are_one_session_and_what_was_heard_is_read() -> None:
    (session,) = sessions("run.jsonl")
    assert session.id == "run"
    assert [(str(m.role), m.preview) for m in session.messages[:2]] == [
        ("user", "Sing a scale."), ("assistant", "Do re mi."),
    ]  # fmt: skip
    assert session.messages[3].result_ids() == {"adk-9"}


def test_each_case_of_an_eval_set_is_a_session() -> None:
    oven, bread = sessions("bakery.evalset.json")
    assert (oven.id, bread.id) == ("oven", "bread")
    assert [m.preview for m in oven.messages if m.typed] == ["How hot is the oven?", "Thank you."]
    assert (oven.messages[2].result_ids(), bread.messages[2].result_ids()) == ({"t1"}, {"t2"})
    assert len(oven.requests) == 3
