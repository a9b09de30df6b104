"""The swe_agent and mini_swe_agent formats, on small files of our own."""

from __future__ import annotations

from pathlib import Path

from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Parsed, Role

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts"


def read(name: str) -> Parsed:
    with (FIXTURES / name).open("rb") as file:
        return read_transcripts(file, name)


def test_a_demonstration_is_context_but_no_reply() -> None:
    session = read("swe_agent/tools.json").transcripts[0]
    assert len(session.messages) == 7
    assert [(r.message, r.usage) for r in session.requests] == [(4, None), (6, None)]
    assert [m.typed for m in session.messages] == [False, False, False, True, False, False, False]
    assert (session.title, session.model, session.client) == ("Fix the colon in a.py", "gpt-4o", "1.1.0")
    assert session.n_images == 1


def test_prompts_repeated_in_steps_are_not_counted() -> None:
    session = read("swe_agent/tools.json").transcripts[0]
    assert all(message.origins[0].path[0] == "history" for message in session.messages)
    assert [b.kind for b in session.messages[4].blocks] == [Kind.THINKING, Kind.TEXT, Kind.TOOL_USE]
    assert session.messages[4].blocks[0].n_payload == 4
    assert session.messages[5].blocks[0].call_id == session.messages[4].blocks[2].call_id == "call_1"


def test_another_agent_is_a_session_of_its_own() -> None:
    main, reviewer = read("swe_agent/tools.json").transcripts
    assert (reviewer.parent_id, reviewer.title, len(reviewer.messages)) == (main.id, "reviewer", 2)
    assert main.warnings == (
        "The file reports totals of the run only (900 tokens sent and 40 received in 2 calls): "
        "no usage of single calls",
    )
    assert reviewer.warnings == ()


def test_steps_tell_the_session_where_there_is_no_history() -> None:
    (session,) = read("swe_agent/steps_only.json").transcripts
    assert [m.role for m in session.messages] == [
        Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.USER, Role.ASSISTANT,
    ]  # fmt: skip
    with (FIXTURES / "swe_agent/steps_only.json").open("rb") as file:
        assert [read_contents(file, "swe_agent", m)[0].text for m in session.messages[1:4]] == [
            "Fix it",
            "I list.",
            "a.py",
        ]


def test_a_plain_list_of_mini_swe_agent() -> None:
    (session,) = read("mini_swe_agent/plain.json").transcripts
    assert [r.message for r in session.requests] == [2, 4]
    assert [m.index for m in session.messages if m.typed] == [1]
    assert session.messages[5].blocks == ()


def test_responses_kept_beside_replies_give_usage_per_call() -> None:
    parsed = read("mini_swe_agent/with_responses.json")
    (session,) = parsed.transcripts
    used = [(r.usage.input, r.usage.cache_read, r.usage.output) for r in session.requests if r.usage]
    assert used == [(300, 0, 20), (84, 256, 10)]
    assert (session.model, session.client) == ("gpt-5-mini", "1.17.0")
    assert session.messages[3].blocks[0].call_id == session.messages[2].blocks[1].call_id == "c1"
    assert len(session.messages) == 5
    assert parsed.warnings == ("The exit entry is the agent's own, not context",)
