"""Memories of smolagents, on small files of our own."""

from __future__ import annotations

from tests.engine.test_formats_contract import FIXTURES, read

SMOLAGENTS = FIXTURES / "smolagents"


def test_a_memory_is_its_steps_behind_the_prompt_that_was_sent() -> None:
    (session,) = read(SMOLAGENTS / "ledger.json").transcripts
    assert [str(m.role) for m in session.messages] == [
        "system", "user", "assistant", "user", "assistant", "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    assert session.messages[3].preview == "Now proceed and carry out this plan."
    assert [(r.message, r.usage.input, r.usage.output, r.model) for r in session.requests if r.usage] == [
        (2, 210, 12, "gpt-4o-2024-11-20"), (4, 300, 30, "gpt-4o-2024-11-20"), (6, 620, 25, "gpt-4o-2024-11-20"),
        (8, 700, 28, "gpt-4o-2024-11-20"),
    ]  # fmt: skip
    assert session.messages[4].call_ids() == session.messages[5].result_ids() == {"call_1"}
    assert session.title == "Count the sacks in the mill ledger and name the largest delivery."


def test_an_error_beside_an_output_goes_back_to_the_model() -> None:
    (session,) = read(SMOLAGENTS / "ledger.json").transcripts
    (result,) = session.messages[7].blocks
    assert (result.is_error, session.messages[7].result_ids()) == (True, {"call_2"})
    assert not session.errors


def test_a_step_without_output_is_a_call_that_failed() -> None:
    (session,) = read(SMOLAGENTS / "refused.json").transcripts
    (error,) = session.errors
    assert (error.tokens, error.limit, error.request) == (9_120, 8_192, 2)
