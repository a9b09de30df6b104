"""Every shared ATIF sample against ``truth.json``, and what only our own fixtures have."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.reading.jsonio import Source
from sessions.engine.transcript.types import Kind, Role
from tests.engine.test_formats_contract import FIXTURES, read
from tests.engine.truth_facts import fact, parsed, place, sample_names
from tests.samples import samples_dir

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

NAMES = sample_names("atif")
samples = pytest.mark.samples
ROLE_OF = {"agent": "assistant", "user": "user", "system": "system"}


def sessions_with_facts(name: str) -> list[tuple[Transcript, dict[str, Any]]]:
    """Each session beside its facts: those of the file, then of the trajectories embedded in it."""
    samples_dir()
    facts = {key: fact(name, key) for key in ("schema", "steps", "steps_by_source", "copied_steps", "tools")}
    facts |= {key: fact(name, key) for key in ("observation_results", "usage_of_own_steps", "final_metrics", "images")}
    facts |= {key: fact(name, key) for key in ("subagent_references", "compactions", "image_links")}
    facts |= {key: fact(name, key) for key in ("token_id_numbers", "continued_in")}
    return list(zip(parsed(name).transcripts, [facts, *fact(name, "embedded", [])], strict=True))


def steps_of(name: str, position: int) -> list[Any]:
    with place(name).open("rb") as file:
        document = Source(file).document()
    steps: list[Any] = (document if position == 0 else document["subagent_trajectories"][position - 1])["steps"]
    return steps


def results_in(session: Transcript) -> list[Any]:
    observed = [m for m in session.messages if m.origins[0].path[-1] == "observation"]
    return [block for message in observed for block in message.blocks]


@samples
@pytest.mark.parametrize("name", NAMES)
def test_steps_of_atif_are_messages_with_their_source(name: str) -> None:
    """All steps but those that stand for a compaction, which is recorded as such."""
    assert parsed(name).format == "atif"
    assert fact(name, "schema") in parsed(name).reason
    assert not parsed(name).skipped
    for position, (session, facts) in enumerate(sessions_with_facts(name)):
        said = [m for m in session.messages if m.origins[0].path[-1] != "observation"]
        found = Counter(str(message.role) for message in said)
        found["system"] += len(session.compactions)
        assert +found == {ROLE_OF[source]: n for source, n in facts["steps_by_source"].items()}
        assert len(said) + len(session.compactions) == facts["steps"] == len(steps_of(name, position))


@samples
@pytest.mark.parametrize("name", NAMES)
def test_calls_and_results_of_atif(name: str) -> None:
    for session, facts in sessions_with_facts(name):
        calls = [block.call_id for m in session.messages for block in m.blocks if block.kind is Kind.TOOL_USE]
        named = [block.call_id for block in results_in(session) if block.kind is Kind.TOOL_RESULT]
        references = len(session.compactions) and bool(facts.get("subagent_references"))
        assert len(calls) == session.n_tool_calls == facts["tools"]["calls"]
        assert len(named) == facts["tools"]["results_naming_a_call"]
        assert len(results_in(session)) == facts["observation_results"] - (references and not session_summary(session))
        if "calls_without_result" in facts["tools"]:
            assert [call for call in calls if call not in named] == facts["tools"]["calls_without_result"]
        assert session.n_images == facts["images"] + facts["image_links"]


def session_summary(session: Transcript) -> bool:
    return any(message.summary for message in session.messages)


@samples
@pytest.mark.parametrize("name", NAMES)
def test_usage_of_atif_is_that_of_its_own_steps(name: str) -> None:
    for session, facts in sessions_with_facts(name):
        used = [request.usage for request in session.requests if request.usage]
        assert {
            "prompt_tokens": sum(use.context for use in used),
            "completion_tokens": sum(use.output for use in used),
            "cached_tokens": sum(use.cache_read for use in used),
        } == facts["usage_of_own_steps"]
        stated, own = facts["final_metrics"]["total_prompt_tokens"], facts["usage_of_own_steps"]["prompt_tokens"]
        assert any(f"total is {stated:,} prompt tokens" in note for note in session.warnings) == (stated != own)


@samples
@pytest.mark.parametrize("name", NAMES)
def test_what_atif_refers_to_and_repeats(name: str) -> None:
    for session, facts in sessions_with_facts(name):
        notes = "\n".join(session.warnings)
        embedded = [child.id for child in parsed(name).transcripts if child.parent_id == session.id]
        others = [ref for ref in facts.get("subagent_references") or [] if ref not in embedded]
        assert (f"Sub-trajectories in other files: {', '.join(others)}" in notes) == bool(others)
        assert (f"continues in {facts.get('continued_in')}" in notes) == bool(facts.get("continued_in"))
        assert (f"copied from another trajectory: {facts['copied_steps']}," in notes) == bool(facts["copied_steps"])
        numbers = facts["token_id_numbers"]
        assert (f"Token ids and log-probabilities: {numbers:,} " in notes) == bool(numbers)


@samples
@pytest.mark.parametrize("name", NAMES)
def test_compactions_of_atif(name: str) -> None:
    """``before`` is the context of the call before; the recorded compaction adds that call's output."""
    expected = fact(name, "compactions", [])
    session = parsed(name).transcripts[0]
    marked = [c for c in session.compactions if c.message is None]
    assert len(marked) == len(expected)
    for compaction, facts in zip(marked, expected, strict=True):
        before = session.requests[compaction.request - 1].usage
        assert before
        assert before.context == facts["before"]
        assert compaction.tokens_before == before.context + before.output
        assert session.messages[compaction.boundary - 1].id.split(".")[0] == str(facts["step"] - 1)


def test_an_embedded_trajectory_is_a_session_of_its_call() -> None:
    parent, child = read(FIXTURES / "atif/embedded.json").transcripts
    assert (child.id, child.parent_id, child.parent_call_id) == ("reader", parent.id, "c1")
    assert [(r.message, r.usage.context if r.usage else None) for r in child.requests] == [(1, 41)]
    assert [block.name for block in parent.system] == ["ask"]
    assert (parent.n_images, parent.client, parent.model) == (1, "lamplighter 0.3.1", "gpt-4o-mini")


def test_atif_steps_of_ours() -> None:
    parent = read(FIXTURES / "atif/embedded.json").transcripts[0]
    assert [message.id for message in parent.messages] == [
        "1",
        "2",
        "3",
        "3.observation",
        "4",
        "5.observation",
        "6",
        "7",
    ]
    assert [message.typed for message in parent.messages].count(True) == 2
    first, second = parent.requests
    assert first.usage
    assert (first.usage.input, first.usage.cache_read, first.usage.output) == (44, 256, 25)
    assert (second.message, second.model) == (6, "gpt-4o")
    (compaction,) = parent.compactions
    assert (compaction.boundary, compaction.message, compaction.request, compaction.trigger) == (5, 5, 1, None)
    assert (compaction.tokens_before, compaction.tokens_after) == (325, 90)
    assert parent.messages[5].summary
    assert parent.messages[7].role is Role.USER
    assert any("total is 431 prompt tokens, its steps sum to 390" in note for note in parent.warnings)


def test_copied_steps_are_messages_and_not_requests() -> None:
    (session,) = read(FIXTURES / "atif/continued.json").transcripts
    assert len(session.messages) == 5
    assert [(r.message, r.usage is None) for r in session.requests] == [(3, False), (4, True)]
    assert len({message.id for message in session.messages}) == 5


def test_odd_steps_of_atif_are_kept_or_named() -> None:
    parsed_file = read(FIXTURES / "atif/odd_steps.json")
    (session,) = parsed_file.transcripts
    assert len(parsed_file.skipped) == 4
    kinds = [str(block.kind) for message in session.messages for block in message.blocks]
    assert kinds == ["opaque", "opaque", "tool_use", "opaque", "opaque", "tool_result"]
    assert [request.usage for request in session.requests] == [None, None], "−4 tokens are no usage"
    assert any("Usage not used, request 0" in note for note in session.warnings)
