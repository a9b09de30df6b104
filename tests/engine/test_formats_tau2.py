"""Results of tau2-bench, on small files of our own."""

from __future__ import annotations

from pathlib import Path

from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Role, Transcript

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts" / "tau2"


def sessions(name: str) -> tuple[Transcript, ...]:
    with (FIXTURES / name).open("rb") as file:
        return read_transcripts(file, name).transcripts


def test_every_simulation_is_a_session_with_the_agents_usage() -> None:
    first, second = sessions("results.json")
    assert [(t.id, t.model, len(t.requests)) for t in (first, second)] == [
        ("sim-1", "gpt-4.1", 3),
        ("sim-2", "gpt-4.1", 1),
    ]
    assert [r.usage and r.usage.context for r in first.requests] == [None, 4915, 5010]
    assert first.messages[0].role is Role.SYSTEM


def test_the_customers_calls_are_not_in_the_agents_context() -> None:
    first, _ = sessions("results.json")
    names = [b.name for m in first.messages for b in m.blocks if b.kind is Kind.TOOL_USE]
    assert names == ["get_line", "get_bill"]
    assert "The customer's own calls and their results: 2; the agent does not see them" in first.warnings
    assert [m.typed for m in first.messages if m.role is Role.USER] == [True, False, False, True]


def test_results_that_stand_together_name_their_calls() -> None:
    (one,) = sessions("one_simulation.json")
    with (FIXTURES / "one_simulation.json").open("rb") as file:
        (done,), (failed,) = (read_contents(file, "tau2", one.messages[n]) for n in (3, 4))
    assert (done.text, done.call_id, done.is_error) == ('{"speed": 2}', "c1", False)
    assert (failed.text, failed.call_id, failed.is_error) == ("Error: no bill", "c2", True)


def test_the_providers_own_answer_tells_the_cache_and_the_model() -> None:
    (one,) = sessions("one_simulation.json")
    used = [(r.model, r.usage.input, r.usage.cache_read, r.usage.cache_write) for r in one.requests if r.usage]
    assert used == [("claude-sonnet-5", 15, 4000, 900), ("", 5010, 0, 0)]
    assert (one.model, one.stated_usd) == ("claude-sonnet-5", 0.25)
