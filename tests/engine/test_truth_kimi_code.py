"""Every shared Kimi Code wire file against its ``truth.json``."""

from __future__ import annotations

from collections import Counter

import pytest

from sessions.engine.transcript.types import Kind
from tests.engine.truth_facts import facts, leaves, lines, one_session, parsed, place, sample_names

pytestmark = pytest.mark.samples
NAMES = sample_names("kimi-code")


@pytest.mark.parametrize("name", NAMES)
def test_the_file_and_its_records(name: str) -> None:
    said, records = facts(name), lines(name)
    assert parsed(name).format == "kimi_code"
    assert not parsed(name).skipped
    assert (place(name).stat().st_size, len(records)) == (said["bytes"], said["lines"])
    assert Counter(record["type"] for record in records) == said["lines_by_type"]
    events = [record["event"]["type"] for record in records if record["type"] == "context.append_loop_event"]
    assert Counter(events) == said["loop_events"]
    assert {record["protocol_version"] for record in records if record["type"] == "metadata"} == {said["protocol"]}


@pytest.mark.parametrize("name", NAMES)
def test_contexts_and_outputs(name: str) -> None:
    said = facts(name)["usage_records"]
    usages = [request.usage for request in one_session(name).requests if request.usage]
    assert len(usages) == said["count"]
    assert [usage.context for usage in usages] == said["context"]
    assert [usage.output for usage in usages] == said["output"]
    assert {
        "inputOther": sum(usage.input for usage in usages),
        "inputCacheRead": sum(usage.cache_read for usage in usages),
        "inputCacheCreation": sum(usage.cache_write for usage in usages),
        "output": sum(usage.output for usage in usages),
    } == said["totals"]
    beside = [request for request in one_session(name).requests if not request.on_branch]
    assert len(beside) == said["scopes"].get("session", 0)


@pytest.mark.parametrize("name", NAMES)
def test_calls_models_and_those_without_answer(name: str) -> None:
    said, found = facts(name), one_session(name)
    kinds = said["request_kinds"]
    unanswered = kinds["loop"] - said["usage_records"]["scopes"].get("turn", 0)
    note = f"Model calls without an answer: {unanswered}; not counted as requests"
    assert (note in found.warnings) is (unanswered > 0)
    assert said["llm_requests"] == sum(kinds.values())
    assert {request.model for request in found.requests} <= said["models"].keys()
    assert found.model in said["models"]


@pytest.mark.parametrize("name", NAMES)
def test_messages_tools_and_images(name: str) -> None:
    said, found = facts(name), one_session(name)
    assert len(leaves(name, Kind.TOOL_USE)) == said["tools"]["calls"]
    assert len(leaves(name, Kind.TOOL_RESULT)) == said["tools"]["results"]
    assert len(leaves(name, Kind.THINKING, Kind.TEXT)) >= said["loop_events"].get("content.part", 0)
    assert len(leaves(name, Kind.OPAQUE)) == 0
    results = [m for m in found.messages if any(block.kind is Kind.TOOL_RESULT for block in m.blocks)]
    written = [m for m in found.messages if m.role == "user" and not m.summary and m not in results]
    assert len(written) == said["messages_by_role"]["user"]
    assert found.n_images == said["images"]
    assert found.system


@pytest.mark.parametrize("name", NAMES)
def test_compactions(name: str) -> None:
    said, found = facts(name)["compactions"], one_session(name)
    assert len(found.compactions) == len(said)
    for compaction, expected in zip(found.compactions, said, strict=True):
        assert compaction.message is not None
        assert found.messages[compaction.message].origins[0].line == expected["apply_line"]
        assert compaction.trigger == expected["source"]
        assert len(compaction.preserved) == expected["keptUserMessageCount"]
        assert all(found.messages[index].typed for index in compaction.preserved)
        before = next(r.usage for r in reversed(found.requests[: compaction.request]) if r.on_branch and r.usage)
        assert [before.context] == expected["context_of_call_before"]
        assert compaction.tokens_before == before.context + before.output
        assert ([compaction.tokens_after] if compaction.tokens_after else []) == expected["context_of_call_after"]
        sizes = f"{expected['tokensBefore']:,} → {expected['tokensAfter']:,} tokens"
        assert any(sizes in warning for warning in found.warnings)


@pytest.mark.parametrize("name", [name for name in NAMES if "small" in name] or NAMES[:1])
def test_what_the_client_counted_is_no_usage(name: str) -> None:
    assert facts(name)["measured"] == [[35, 23231]]
    assert not any(request.usage for request in one_session(name).requests)


@pytest.mark.parametrize("name", [name for name in NAMES if "subagent" in name] or NAMES[:1])
def test_a_subagents_prompt_is_not_typed(name: str) -> None:
    facts(name)
    assert not any(message.typed for message in one_session(name).messages)
    assert any("subagent" in warning for warning in one_session(name).warnings)
