"""Every way a compaction, a clearing or a refusal is recorded: a small file of our own for each (formats 60)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from ctxweb.commands.inspect import command
from sessions.engine.base import registry
from sessions.engine.packing.pack import pack, unpack
from sessions.engine.reading.encodings import clearing_words, kind_of, not_recorded, refusal_words
from sessions.engine.reading.formats import YES
from sessions.engine.reports.report import inspect_document
from tests.engine.test_formats_contract import FIXTURES, FORMATS, read

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

WHO, WHICH, NONE, TEXT = "who started it", "which messages left", "a summary", "the summary's text"
BEFORE, AFTER = "tokens before", "tokens of the next request"


@dataclass(frozen=True)
class Recorded:
    """What a file records: compactions (request, trigger, before, after, kind, what is left out), and so on."""

    file: str
    compactions: tuple[tuple[int, str | None, int | None, int | None, str, tuple[str, ...]], ...] = ()
    clearings: tuple[tuple[int, str, str | None, int | None, int | None], ...] = ()
    refusals: tuple[tuple[int, str, int | None, int | None, int], ...] = ()


FILES = (
    Recorded(
        "claude_code/microcompaction_and_refusals.jsonl",
        ((3, "manual", 201_866, 31_000, "summary", ()),),
        ((2, "results", "auto", 1, 21_294),),
        ((3, "context", 201_866, 200_000, 3), (3, "compaction", None, None, 1)),
    ),
    Recorded(
        "claude_code/sdk_stream_compaction.jsonl",
        ((1, "auto", 167_503, 24_000, "drop", (NONE,)),),
        refusals=((1, "compaction", None, None, 1),),
    ),
    Recorded("anthropic_messages/compaction.json", ((0, "auto", 55_000, 220, "summary", ()),)),
    Recorded("anthropic_messages/compaction_on_demand.json", ((3, "manual", 61_000, 900, "summary", ()),)),
    Recorded("anthropic_messages/compaction_in_background.json", ((3, "manual", 60_100, 1_300, "summary", ()),)),
    Recorded("anthropic_messages/pairs.json", ((2, "auto", 900, 20, "summary", ()),)),
    Recorded("anthropic_messages/cleared.sse.txt", clearings=((0, "results", "auto", 4, 21_000),)),
    Recorded("anthropic_messages/refused.json", refusals=((0, "body", None, None, 1),)),
    Recorded(
        "wire_capture/refused_cleared_failed.jsonl",
        clearings=((3, "thinking", "auto", 2, 1_500), (3, "results", "auto", 8, 50_000)),
        refusals=(
            (3, "compaction", None, None, 1),
            (3, "context", 213_462, 200_000, 2),
            (4, "compaction", None, None, 1),
        ),
    ),
    Recorded(
        "wire_capture/responses_compactions.jsonl",
        ((2, "auto", 100_430, 2_100, "opaque", (TEXT,)), (4, "manual", 2_200, 700, "opaque", (TEXT,))),
        refusals=((5, "context", None, None, 1),),
    ),
    Recorded("wire_capture/gemini.har", refusals=((3, "context", 1_048_600, 1_048_576, 1),)),
    Recorded("openai_responses/compact_call.json", ((3, "manual", 60, 40, "opaque", (TEXT,)),)),
    Recorded("openai_responses/compaction_sent_back.json", ((1, "auto", 59, 30, "opaque", (TEXT,)),)),
    Recorded("openai_responses/failed.sse.txt", refusals=((0, "context", None, None, 1),)),
    Recorded("openai_chat/refused.json", refusals=((1, "context", 130_512, 128_000, 2),)),
    Recorded("gemini_api/refused.json", refusals=((1, "context", 1_050_000, 1_048_576, 1),)),
    Recorded(
        "cline/roo_ui.json",
        ((2, None, 156_000, 9_100, "summary", (WHO,)), (4, "auto", 180_000, 60_000, "drop", (NONE,))),
        refusals=((2, "compaction", None, None, 1), (4, "context", 205_148, 200_000, 2)),
    ),
    Recorded(
        "codex/remote_local_refused.jsonl",
        ((1, None, 245_009, 21_000, "opaque", (WHO, TEXT)), (2, None, 21_007, 6_000, "summary", (WHO,))),
        refusals=((2, "context", None, None, 1),),
    ),
    Recorded(
        "gemini_cli/refused_and_compressed.jsonl",
        ((1, None, 900_004, 7_000, "summary", (WHO,)),),
        refusals=((1, "context", 1_060_000, None, 1),),
    ),
    Recorded("gemini_cli/masked.jsonl", clearings=((3, "results", "auto", 2, None),)),
    Recorded("gemini_cli/stream_refused.jsonl", refusals=((0, "context", 1_050_000, 1_048_576, 1),)),
    Recorded(
        "goose/refused_then_compacted.json",
        ((1, "auto", None, None, "summary", (BEFORE, AFTER)),),
        refusals=((1, "context", None, None, 1), (2, "compaction", None, None, 1)),
    ),
    Recorded("goose/stream.jsonl", refusals=((1, "context", None, None, 1), (1, "compaction", None, None, 1))),
    Recorded("open_webui/summary.json", ((2, None, 2_120, 640, "summary", (WHO,)),)),
    Recorded("langchain/deepagents_state.json", ((2, "auto", 171_506, 6_200, "summary", ()),)),
    Recorded(
        "langchain/thread_history.json",
        ((3, "auto", 1_105, 300, "summary", ()), (4, None, 305, None, "drop", (WHO, NONE, AFTER))),
        refusals=((4, "context", 9_120, 8_192, 1),),
    ),
    Recorded("langchain/summary_in_state.json", ((1, "auto", 171_012, 9_100, "summary", (WHICH,)),)),
    Recorded("langfuse/refused.json", refusals=((1, "context", 213_462, 200_000, 2),)),
    Recorded("mini_swe_agent/out_of_context.json", refusals=((1, "context", None, None, 1),)),
    Recorded(
        "opencode/pruned_and_refused.json",
        ((3, "auto", 61_009, 4_000, "summary", ()),),
        ((3, "results", "auto", 2, None),),
        refusals=((3, "context", 213_462, 200_000, 1),),
    ),
    Recorded(
        "openhands/refused_and_asked.jsonl",
        ((1, None, None, None, "summary", (WHO, BEFORE, AFTER)), (2, "auto", None, None, "summary", (BEFORE, AFTER))),
        refusals=((1, "context", 130_512, 128_000, 1),),
    ),
    Recorded("openhands/refused_v0.json", refusals=((1, "context", None, None, 1),)),
    Recorded("otel/compacted_flag.json", ((1, None, 150_005, 21_000, "drop", (WHO, WHICH, NONE)),)),
    Recorded(
        "otel/compacted_part.json",
        ((2, None, 264_000, 1_500, "summary", (WHO,)),),
        refusals=((2, "context", 280_100, 272_000, 1),),
    ),
    Recorded(
        "pi/refused_then_compacted.jsonl",
        ((1, None, 199_009, 3_000, "summary", (WHO,)),),
        refusals=((1, "context", 213_462, 200_000, 1),),
    ),
    Recorded("swe_agent/out_of_context.json", refusals=((1, "context", None, None, 1),)),
    Recorded(
        "amp/T-0001.json", ((2, None, 1_105, 300, "summary", (WHO,)),), refusals=((2, "context", 210_000, 200_000, 1),)
    ),
    Recorded(
        "aider/history.md",
        ((2, "manual", 13_024, None, "drop", (NONE, AFTER)),),
        refusals=((2, "context", 212_000, 128_000, 1),),
    ),
    Recorded(
        "antigravity/transcript.jsonl",
        ((2, None, None, None, "summary", (WHO, BEFORE, AFTER)),),
        refusals=((2, "context", 1_050_000, 1_048_576, 1),),
    ),
    Recorded("atif/handed_over.json", ((1, None, 131, None, "drop", (WHO, NONE, AFTER)),)),
    Recorded("claude_code/compaction_preserved.jsonl", ((3, "auto", 167_160, 21_000, "summary", ()),)),
    Recorded("claude_code/boundary_on_line_1.jsonl", ((0, "manual", 90_000, 15_000, "summary", (WHICH,)),)),
    Recorded("cline/ui.json", ((2, "auto", 1_105, 500, "drop", (NONE,)),)),
    Recorded(
        "cline/roo_history.json",
        (
            (2, None, None, None, "summary", (WHO, BEFORE, AFTER)),
            (3, None, None, None, "drop", (WHO, NONE, BEFORE, AFTER)),
        ),
    ),
    Recorded("codex/rollout.jsonl", ((2, None, 1_340, 600, "opaque", (WHO, TEXT)),)),
    Recorded("codex/subagent_old_compaction.jsonl", ((2, None, 555, 300, "summary", (WHO,)),)),
    Recorded(
        "copilot_cli/compaction.jsonl",
        (
            (3, "auto", 160_000, None, "summary", (AFTER,)),
            (4, "auto", None, None, "drop", (WHICH, NONE, BEFORE, AFTER)),
        ),
        refusals=((1, "context", 205_000, 200_000, 1), (4, "context", None, None, 1)),
    ),
    Recorded("cursor/fence.jsonl", refusals=((4, "context", 205_000, 200_000, 1),)),
    Recorded("gemini_cli/log.jsonl", ((4, None, 169, 70, "summary", (WHO,)),)),
    Recorded("goose/export.json", ((2, None, None, None, "summary", (WHO, BEFORE, AFTER)),)),
    Recorded("inspect/log.json", ((1, "auto", 345, 110, "summary", ()), (2, "auto", 130, 96, "drop", (NONE,)))),
    Recorded("camel/memory.jsonl", ((0, None, None, None, "summary", (WHO, WHICH, BEFORE, AFTER)),)),
    Recorded(
        "camel/empty.jsonl",
        ((0, None, None, None, "drop", (WHO, WHICH, NONE, BEFORE, AFTER)),),
        refusals=((0, "compaction", None, None, 1),),
    ),
    Recorded("kimi_cli/compacted.jsonl", ((0, None, None, 880, "summary", (WHO, WHICH, BEFORE)),)),
    Recorded(
        "kimi_code/wire.jsonl",
        ((5, "manual", 1_806, 1_250, "summary", ()),),
        ((6, "results", "auto", None, None),),
        refusals=((5, "context", 270_000, 262_144, 1),),
    ),
    Recorded(
        "kimi_code/legacy.jsonl",
        (
            (0, None, None, None, "summary", (WHO, BEFORE, AFTER)),
            (0, "manual", None, None, "drop", (NONE, BEFORE, AFTER)),
        ),
    ),
    Recorded(
        "managed_agents/events.jsonl",
        ((1, None, 1_020, 300, "drop", (WHO, NONE)),),
        refusals=((1, "context", 205_148, 200_000, 1),),
    ),
    Recorded("opencode/export.json", ((3, "auto", 647, 120, "summary", ()),), ((4, "results", "auto", 1, None),)),
    Recorded("openhands/events_v1.jsonl", ((2, "auto", 1_640, None, "summary", (AFTER,)),)),
    Recorded("pi/version_3_tree.jsonl", ((4, None, 437, 120, "summary", (WHO,)),)),
    Recorded(
        "qwen_code/compression.jsonl",
        ((2, None, 12_250, 5_100, "summary", (WHO,)),),
        refusals=((1, "context", 140_000, 131_072, 1),),
    ),
    Recorded("agents_sdk/responses.json", refusals=((3, "context", 130_512, 128_000, 1),)),
    Recorded("agents_sdk/generations.jsonl", refusals=((2, "context", 130_512, 128_000, 1),)),
    Recorded("agents_sdk/sessions.db", ((0, "auto", None, None, "opaque", (TEXT, BEFORE, AFTER)),)),
    Recorded("role_content/continued.jsonl", ((0, None, None, None, "summary", (WHO, WHICH, BEFORE, AFTER)),)),
    Recorded("openai_responses/exchanges.json", ((2, "auto", 200, 90, "opaque", (TEXT,)),)),
    Recorded(
        "acp/session.jsonl",
        ((2, None, 171_000, 21_000, "summary", (WHO, WHICH)), (3, None, 21_000, None, "summary", (WHO, WHICH, AFTER))),
        refusals=((2, "compaction", None, None, 1), (3, "context", 213_462, 200_000, 1)),
    ),
    Recorded(
        "letta/agents.json",
        (
            (2, None, None, None, "summary", (WHO, BEFORE, AFTER)),
            (3, None, None, None, "summary", (WHO, BEFORE, AFTER)),
        ),
    ),
    Recorded("letta/agent_without_summary.json", ((1, None, None, None, "drop", (WHO, NONE, BEFORE, AFTER)),)),
    Recorded(
        "letta/messages.json",
        ((2, "auto", 91_000, None, "summary", (WHICH, AFTER)), (3, "auto", 104_000, None, "summary", (WHICH, AFTER))),
        refusals=((3, "context", None, 100_000, 1),),
    ),
    Recorded(
        "google_adk/nursery.session.json",
        ((2, "auto", 1_000_216, 2_100, "summary", ()), (5, "auto", 2_205, 1_500, "summary", ())),
        refusals=((2, "context", 1_060_000, 1_048_576, 1),),
    ),
    Recorded("vscode_chat/log.jsonl", ((1, None, None, None, "summary", (WHO, BEFORE, AFTER)),)),
    Recorded(
        "vscode_chat/session.json",
        ((1, None, None, None, "summary", (WHO, BEFORE, AFTER)),),
        refusals=((3, "context", 130_000, 128_000, 1),),
    ),
    Recorded("server_log/lm_studio.log", refusals=((1, "context", None, 8_192, 1),)),
    Recorded("server_log/llama_cpp.log", refusals=((2, "context", 9_120, 8_192, 1),)),
    Recorded("server_log/vllm.log", refusals=((0, "context", 12_946, 16_384, 1),)),
    Recorded("server_log/compacted.log", ((1, None, 103_968, 36_900, "drop", (WHO, WHICH, NONE)),)),
    Recorded("litellm/texts.jsonl", refusals=((2, "context", 130_512, 128_000, 1),)),
    Recorded("mastra/storage.db", refusals=((3, "context", 214_338, 200_000, 1),)),
    Recorded("mastra/spans.jsonl", refusals=((1, "context", 130_512, 128_000, 1),)),
    Recorded("langsmith/runs.jsonl", refusals=((2, "context", None, 8_192, 1),)),
    Recorded("hermes/export.jsonl", ((1, None, None, None, "summary", (WHO, BEFORE, AFTER)),)),
    Recorded("hermes/state.db", ((2, None, None, None, "summary", (WHO, BEFORE, AFTER)),)),
    Recorded(
        "crush/crush.db",
        ((2, None, None, None, "summary", (WHO, BEFORE, AFTER)),),
        refusals=((2, "context", 213_462, 200_000, 1),),
    ),
    Recorded(
        "zed/threads.db",
        ((2, "auto", 730, 300, "summary", ()), (3, "manual", 320, None, "summary", (AFTER,))),
    ),
    Recorded("cursor_db/summarized.vscdb", ((2, None, 140_040, 22_000, "summary", (WHO,)),)),
    Recorded("opencode/opencode.db", ((3, "auto", 647, 120, "summary", ()),), ((4, "results", "auto", 1, None),)),
    Recorded("ctxweb_jsonl/compacted.jsonl", ((3, "auto", 167_160, 21_000, "summary", ()),)),
    Recorded("genkit/trace.json", refusals=((3, "context", 1_048_600, 1_048_576, 1),)),
    Recorded("gemini_api/checkpoint.json", ((0, None, None, None, "summary", (WHO, WHICH, BEFORE, AFTER)),)),
    Recorded("langfuse/observations.jsonl", ((3, None, 32, 16, "summary", (WHO,)),)),
    Recorded("openai_chat/exchanges.json", ((4, None, 208, 80, "summary", (WHO,)),)),
    Recorded("factory_droid/stream.jsonl", refusals=((1, "context", 205_000, 200_000, 1),)),
    Recorded(
        "dsh/compacted.jsonl",
        ((4, "auto", 1_795, 300, "summary", ()), (5, "manual", 312, None, "summary", (AFTER,))),
        ((2, "results", "auto", 1, None),),
        ((4, "context", None, None, 1),),
    ),
    Recorded("dsh/without_numbers.jsonl", refusals=((1, "context", 130_000, 128_000, 1),)),
    Recorded("codex_exec/turns.jsonl", refusals=((6, "context", None, None, 1),)),
    Recorded(
        "amazon_q/compacted.json",
        ((2, "auto", None, None, "summary", (BEFORE, AFTER)),),
        refusals=((2, "context", None, None, 1),),
    ),
    Recorded("amazon_q/data.db", ((1, "manual", None, None, "summary", (BEFORE, AFTER)),)),
    Recorded("amazon_q/pairs.json", refusals=((2, "context", None, None, 1),)),
    Recorded("open_webui/sources.json", refusals=((1, "context", 5_120, 4_096, 1),)),
    Recorded("open_webui/chats.json", refusals=((2, "context", None, 4_096, 1),)),
    Recorded(
        "librechat/branches.json",
        ((2, None, None, None, "summary", (WHO, BEFORE, AFTER)),),
        refusals=((3, "context", 9_100, 7_200, 1),),
    ),
    Recorded("librechat/tree.json", ((2, None, None, None, "summary", (WHO, BEFORE, AFTER)),)),
    Recorded("agent_zero/refused.json", refusals=((1, "context", 19_427, 16_384, 1),)),
    Recorded("otel/events.json", refusals=((2, "context", 4_097, 8_192, 1),)),
    Recorded(
        "otel/newest_messages.json",
        refusals=((0, "context", 201_500, 200_000, 1), (3, "context", 203_050, 200_000, 3)),
    ),
    Recorded("smolagents/refused.json", refusals=((2, "context", 9_120, 8_192, 1),)),
    Recorded("atif/embedded.json", ((1, None, 325, 90, "summary", (WHO,)),)),
)


def session_of(recorded: Recorded) -> Transcript:
    return read(FIXTURES / recorded.file).transcripts[0]


@pytest.mark.parametrize("recorded", FILES, ids=[recorded.file for recorded in FILES])
def test_compactions_clearings_and_refusals_are_read(recorded: Recorded) -> None:
    session = session_of(recorded)
    assert tuple(
        (c.request, c.trigger, c.tokens_before, c.tokens_after, kind_of(session, c), not_recorded(session, c))
        for c in session.compactions
    ) == recorded.compactions  # fmt: skip
    cleared = tuple((c.request, c.what, c.trigger, c.n_cleared, c.tokens_freed) for c in session.clearings)
    assert cleared == recorded.clearings
    assert tuple((e.request, e.kind, e.tokens, e.limit, e.count) for e in session.errors) == recorded.refusals


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_format_claims_to_read_has_a_row_above(name: str) -> None:
    """``coverage`` says yes to compactions or refusals: then a row of ``FILES`` says which, where and how large."""
    rows = [recorded for recorded in FILES if recorded.file.startswith(f"{name}/")]
    has = {
        "compactions": any(recorded.compactions or recorded.clearings for recorded in rows),
        "refusals": any(recorded.refusals for recorded in rows),
    }
    said = registry.get("formats", name).coverage
    missing = [what for what, is_there in has.items() if getattr(said, what) == YES and not is_there]
    assert not missing, f"{name} claims {missing}: add a row of its fixture to FILES, worked out by hand"


def test_inspect_names_events_and_what_is_left_out() -> None:
    parsed = read(FIXTURES / "claude_code/microcompaction_and_refusals.jsonl")
    (session,) = inspect_document(parsed)["sessions"]
    assert [(r["kind"], r["count"], r["status"]) for r in session["refusals"]] == [
        ("context", 3, 400),
        ("compaction", 1, None),
    ]
    assert [(c["what"], c["n_cleared"], c["tokens_freed"]) for c in session["recorded_clearings"]] == [
        ("results", 1, 21_294)
    ]
    (calls,) = [c["calls"] for c in session["recorded_clearings"]]
    assert set(calls) <= {call for m in parsed.transcripts[0].messages for call in m.result_ids()}
    assert calls
    assert [v["what"] for v in session["verdicts"]] == ["error", "error", "compaction"]
    (transcript,) = parsed.transcripts
    assert [refusal_words(e) for e in transcript.errors] == [
        "Refused for its tokens, 3 times: 201,866, limit 200,000 tokens",
        "Compaction failed",
    ]
    assert clearing_words(transcript.clearings[0]) == "Tool results cleared: 1, 21,294 tokens by the agent's count"
    assert unpack(pack(transcript)) == transcript


def test_the_terminal_lists_them() -> None:
    out = CliRunner().invoke(command, [str(FIXTURES / "claude_code/microcompaction_and_refusals.jsonl")])
    assert "request 3: Refused for its tokens, 3 times" in out.output
    assert "request 2: Tool results cleared: 1" in out.output
