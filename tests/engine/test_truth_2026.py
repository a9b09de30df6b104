"""Samples of late 2026 without a module of their own: sessions of Gemini CLI, OpenClaw, records of Codex."""

from __future__ import annotations

from collections import Counter

import pytest

from sessions.engine.transcript.types import Kind
from tests.engine.truth_facts import facts, leaves, n_of, one_session, parsed, place, sample_names

pytestmark = pytest.mark.samples
GEMINI = [
    "gemini-cli/entire-color.json",
    "gemini-cli/as-jsonl_v040.jsonl",
    "entire-checkpoint/9c/53780d06b7/0/full.jsonl",
]
COVERED = (
    *("anthropic-api", "antigravity", "claude-code", "codex-records", "copilot-cli", "cursor", "entire-checkpoint"),
    *("factory-droid", "gemini-cli", "grok-cli", "hermes", "kimi-code", "openai-responses", "openclaw"),
    *("otel-langfuse", "qwen-code"),
)


def test_every_folder_has_tests_against_its_truth() -> None:
    newer = {path.name for path in place("").iterdir() if path.is_dir()}
    assert newer == set(COVERED)


@pytest.mark.parametrize("name", GEMINI)
def test_calls_tokens_and_tools_of_a_session_of_gemini_cli(name: str) -> None:
    truth, session = facts(name), one_session(name)
    assert (parsed(name).format, parsed(name).skipped) == ("gemini_cli", ())
    assert [r.usage.context if r.usage else 0 for r in session.requests] == truth["context"]
    assert len(session.requests) == truth.get("calls", truth.get("requests"))
    spent = [request.usage for request in session.requests if request.usage]
    if "totals" in truth:
        totals = truth["totals"]
        assert sum(usage.context for usage in spent) == totals["input"]
        assert sum(usage.cache_read for usage in spent) == totals["cached"]
        assert sum(usage.reasoning for usage in spent) == totals["thoughts"]
        assert sum(usage.output for usage in spent) == totals["output"] + totals["thoughts"]
    else:
        assert [usage.output for usage in spent] == truth["output"]
        assert [usage.cache_read for usage in spent] == truth["cached"]
        assert Counter(request.model for request in session.requests) == truth["models"]
    assert n_of(session, Kind.TOOL_USE) == truth["tool_calls"]
    assert n_of(session, Kind.TOOL_RESULT) == truth.get("tool_results", truth["tool_calls"])
    assert (session.n_images, len(session.compactions)) == (truth["images"], truth.get("compactions", 0))


def test_thoughts_of_gemini_cli_are_all_there() -> None:
    for name in GEMINI:
        if "thoughts" in facts(name):
            said = [block for block in leaves(name, Kind.THINKING) if block.n_chars]
            assert 0 < len(said) <= facts(name)["thoughts"]


@pytest.mark.parametrize("name", sample_names("openclaw"))
def test_messages_and_tools_of_openclaw(name: str) -> None:
    truth, session = facts(name), one_session(name)
    assert (parsed(name).format, parsed(name).skipped) == ("pi", ())
    custom = truth["entries_by_type"]["custom_message"]
    assert len(session.messages) == sum(truth["messages_by_role"].values()) + custom
    assert len(session.requests) == truth["messages_by_role"]["assistant"]
    assert n_of(session, Kind.TOOL_USE) == truth["tool_calls"]
    assert n_of(session, Kind.TOOL_RESULT) == truth["tool_results"]
    assert all(request.usage is None for request in session.requests)
    assert (session.n_images, len(session.compactions)) == (truth["images"], truth["compactions"])


@pytest.mark.parametrize("name", sample_names("codex-records"))
def test_every_record_of_codex_is_read(name: str) -> None:
    """Records of several versions stand one after another: totals mean nothing, each record still has its place."""
    truth, session = facts(name), one_session(name)
    assert (parsed(name).format, parsed(name).skipped) == ("codex", ())
    assert len(session.compactions) == truth["lines_by_type"]["compacted"] == len(truth["compactions"])
    items = [m for m in session.messages if m.compaction is None and not m.summary]
    lines = {m.origins[0].line for m in items}
    assert len(lines) >= truth["lines_by_type"]["response_item"] - truth["response_items"]["ghost_snapshot"]
    made = Counter(m.compaction for m in session.messages if m.compaction is not None)
    kept = {number: len(c.preserved) for number, c in enumerate(session.compactions)}
    for number, told in enumerate(truth["compactions"]):
        snapshots = told["replacement_by_type"].get("ghost_snapshot", 0)
        assert made[number] + kept[number] in (told["replacement_items"], told["replacement_items"] - snapshots)
