"""What files keep beside their messages and a first line tells: sizes, errors as text, caches, listings, settings."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.reading.reading import read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.test_why_evidence import calls, error, exchange, told
from tests.engine.verdict_files import Claude, Pi, words

if TYPE_CHECKING:
    from pathlib import Path

Value = dict[str, Any]


@pytest.mark.parametrize(
    ("status", "message", "has"),
    [
        (400, "invalid request", '52,000 tokens.*"invalid request".*no compaction is recorded before it'),
        (500, "Internal Server Error", "52,000 tokens.*no compaction is recorded before it"),
        (503, "Service overloaded", r"the service was overloaded.*the request before had 52,000"),
    ],
)
def test_an_error_without_a_size_names_what_was_answered_before_it(status: int, message: str, has: str) -> None:
    (line,) = told("calls.jsonl", calls([30_000, 52_000], status, error(message)))
    assert re.search(has, line), line


def test_a_request_refused_for_its_bytes_keeps_its_status_and_names_the_tokens() -> None:
    (line,) = told("calls.jsonl", calls([30_000, 41_000], 413, error("Request exceeds the maximum size")))
    assert "413" in line
    assert "the request before had 41,000" in line


def test_a_compaction_names_the_figure_of_its_record() -> None:
    file = Claude("claude-opus-4-8").until(90_000, tokens=20_000)
    file.compact("manual", pre=91_400)
    weighed = file.weighed()
    assert "91,400 of " in headline(weighed, verdicts_of(weighed))


def codex(*after: int) -> str:
    """A rollout with two answers, a compaction, what Codex counted then, and answers of these sizes."""
    lines: list[Value] = [{"type": "session_meta", "payload": {"id": "s", "cli_version": "0.140.0", "cwd": "/"}}]

    def event(kind: str, **fields: Any) -> None:
        lines.append({"type": "event_msg", "payload": {"type": kind, **fields}})

    def answered(n: int, size: int, output: int = 200) -> None:
        if output:
            said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": words(20)}]}
            lines.append({"type": "response_item", "payload": said})
        usage = {"input_tokens": size, "cached_input_tokens": 0, "output_tokens": output, "total_tokens": size + output}
        total = {"input_tokens": 900_000 + n, "output_tokens": 9_000, "total_tokens": 909_000 + n}
        info = {"total_token_usage": total, "last_token_usage": usage, "model_context_window": 190_000}
        event("token_count", info=info)

    event("task_started", model_context_window=190_000)
    prompt = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words(30)}]}
    lines.append({"type": "response_item", "payload": prompt})
    answered(1, 40_000)
    answered(2, 150_000)
    lines.append({"type": "compacted", "payload": {"message": "", "replacement_history": [prompt]}})
    answered(2, 171_000, 0)
    for n, size in enumerate(after):
        answered(3 + n, size)
    stamped = [{"timestamp": f"2026-08-01T10:00:{n:02}.000Z"} | line for n, line in enumerate(lines)]
    return "\n".join(map(json.dumps, stamped))


def test_a_compaction_at_the_end_that_the_record_shows_to_free_nothing() -> None:
    (line,) = told("rollout.jsonl", codex())
    assert (
        "it freed nothing, and made the context larger, by the record: 171,000 tokens after it, 150,200 before" in line
    )
    assert "freed" not in told("rollout.jsonl", codex(20_000, 21_000))[0]


def test_a_reply_cut_at_a_sum_of_a_round_size_is_cut_by_the_servers_window() -> None:
    (line,) = told("calls.jsonl", calls([7_000, 8_152], 0, {}, finish="length"))
    assert "8,192 in all, which is then the server's window (likely)" in line
    assert "server's" not in told("calls.jsonl", calls([7_000, 8_150], 0, {}, finish="length"))[0]


def test_a_reply_cut_off_that_only_thought_is_said_to_be_that() -> None:
    said = {"role": "assistant", "content": None, "reasoning_content": words(60)}
    answer = {"id": "r", "object": "chat.completion", "model": "desk-7b",
              "choices": [{"index": 0, "message": said, "finish_reason": "length"}]}  # fmt: skip
    (line,) = told("calls.jsonl", exchange(1, [{"role": "user", "content": "Which?"}], 200, answer))
    assert "nothing in it but thinking" in line


def test_what_ollama_counts_of_a_long_prompt_shows_that_it_was_cut() -> None:
    request = {"model": "small:3b", "messages": [{"role": "user", "content": words(14_000)}], "stream": False}
    said = {"role": "assistant", "content": "No."}
    response = {"model": "small:3b", "done": True, "message": said, "prompt_eval_count": 4_096, "eval_count": 4}
    (line,) = told("calls.json", json.dumps({"request": request, "response": response}))
    assert "The server counted 4,096 tokens at the first request, its text has about 14,0" in line
    assert "it cut the prompt" in line


LIMIT = "400 This model's maximum context length is 48000 tokens. However, your messages resulted in 48311 tokens."


def chat(*messages: Value) -> list[str]:
    whole = [{"role": "user", "content": "Which orders are late?"}, *messages]
    return told("chat.json", json.dumps(whole))


def test_an_error_kept_as_the_last_reply_is_the_refusal() -> None:
    (line,) = chat(
        {"role": "assistant", "content": words(30)}, {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": f"Error: {LIMIT}"}, {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": f"Error: {LIMIT}"},
    )  # fmt: skip
    assert line.startswith("Refused 2 times at request 1: 48,311 of 48,000 tokens")


@pytest.mark.parametrize(
    "last",
    [
        {"role": "user", "content": f"Error: {LIMIT} What is this?"},
        {"role": "assistant", "content": f"The log says: Error: {LIMIT}"},
        {"role": "assistant", "content": "Error: the file was not found."},
    ],
)
def test_an_error_that_is_quoted_or_of_something_else_is_no_refusal(last: Value) -> None:
    assert "efused" not in chat({"role": "assistant", "content": words(30)}, last)[0]


def called(tool: str, result: str, *after: Value) -> list[str]:
    call = {"id": "c1", "type": "function", "function": {"name": tool, "arguments": "{}"}}
    said = {"role": "assistant", "content": "", "tool_calls": [call]}
    return chat(said, {"role": "tool", "tool_call_id": "c1", "content": result}, *after)


def test_a_subagents_refusal_is_told_beside_the_session_that_asked_for_it() -> None:
    (line,) = called("run_agent", f"Failed to run subagent: {LIMIT}", {"role": "assistant", "content": words(9)})
    assert line.startswith("A subagent was refused before request 1: 48,311 of 48,000 tokens")
    assert "No compaction." in line
    assert "efused" not in called("bash", f"Error: {LIMIT}")[0]


def cached(*usages: tuple[int, int], apart: int = 40) -> str:
    """A list of replies as gptme keeps them, each with what its cache read and wrote."""
    lines: list[Value] = [{"role": "system", "content": words(200), "timestamp": "2026-05-01T10:00:00Z"}]
    for n, (read, written) in enumerate(usages):
        minute, second = divmod(n * apart + 10, 60)
        at = f"2026-05-01T10:{minute:02}:{second:02}Z"
        usage = {"input_tokens": 8, "output_tokens": 90, "cache_read_tokens": read, "cache_creation_tokens": written}
        noted = {"model": "anthropic/claude-sonnet-4-6", "usage": usage}
        lines += [{"role": "user", "content": "Go on.", "timestamp": at},
                  {"role": "assistant", "content": words(60), "timestamp": at, "metadata": noted}]  # fmt: skip
    return "\n".join(map(json.dumps, lines))


@pytest.mark.parametrize(
    ("usages", "apart", "has"),
    [
        ([(0, 9_000), (0, 9_400), (0, 9_900)], 40, "never read: 9,400, 9,900 tokens"),
        ([(12_000, 20_000), (12_000, 20_700), (12_000, 21_300)], 40, "only the first 12,000 tokens, 36%"),
        ([(0, 9_000), (9_000, 400), (9_400, 500)], 40, ""),
        ([(0, 9_000), (0, 9_400), (0, 9_900)], 400, ""),
        ([(0, 9_000), (0, 9_400), (9_400, 500), (9_900, 300)], 40, ""),
        ([(0, 500), (0, 550), (0, 600)], 40, ""),
    ],
)
def test_a_cache_that_is_written_anew_each_time_is_told(usages: list[tuple[int, int]], apart: int, has: str) -> None:
    (line,) = told("conversation.jsonl", cached(*usages, apart=apart))
    assert line.startswith("Cache: " if "only" in has else "The cache" if has else "No compaction.")
    assert has in line if has else "Cache: " not in line and "The cache " not in line


MCP_TOOLS = "71,400 tokens, 36% of the window, are MCP tools"


@pytest.mark.parametrize(
    ("listing", "has"),
    [
        (
            "System prompt: 3.1k tokens (1.6%)\nMCP tools: 71.4k tokens (35.7%)\nFree space: 90k (45%)",
            MCP_TOOLS,
        ),
        (
            "| Category | Tokens |\n|---|---|\n| MCP tools | 71.4k | 35.7% |\n| Messages | 2k | 1% |",
            MCP_TOOLS,
        ),
        ("System prompt: 3.1k tokens (1.6%)\nMCP tools: 4.2k tokens (2.1%)", ""),
    ],
)
def test_a_large_part_of_the_agents_own_listing_is_told(listing: str, has: str) -> None:
    file = Claude("claude-opus-4-5", overhead=80_000)
    text = f"<local-command-stdout>Context Usage\n{listing}</local-command-stdout>"
    file.emit("user", message={"role": "user", "content": text})
    file.prompt()
    file.reply()
    weighed = file.weighed()
    line = headline(weighed, verdicts_of(weighed))
    assert ("MCP tools' definitions" in line) == bool(has)
    assert has in line


def test_settings_saved_beside_a_session_are_told(tmp_path: Path) -> None:
    session = tmp_path / "messages.jsonl"
    lines = [{"role": "user", "content": "Which?", "message_id": "1"},
             {"role": "assistant", "content": words(40), "tool_calls": [], "message_id": "2"}]  # fmt: skip
    session.write_text("\n".join(map(json.dumps, lines)))
    meta = {"config": {"auto_compact_threshold": 150_000}, "stats": {"context_tokens": 27_310}}
    (tmp_path / "meta.json").write_text(json.dumps(meta))
    with session.open("rb") as stream:
        (transcript,) = read_transcripts(stream, session.name).transcripts
    weighed = weigh(transcript)
    line = headline(weighed, verdicts_of(weighed))
    assert "it compacts at 150,000 tokens, and its own count at the end is 27,310" in line


def test_a_history_of_pydantic_ai_tells_a_reply_that_is_blank() -> None:
    usage = {"input_tokens": 9_100, "cache_read_tokens": 8_000, "output_tokens": 30_000}
    reply = {"kind": "response", "parts": [{"part_kind": "text", "content": " \n" * 50}], "usage": usage,
             "model_name": "m", "finish_reason": "length", "timestamp": "2026-05-01T10:00:00Z"}  # fmt: skip
    asked = {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Go on."}], "instructions": "Help."}
    (line,) = told("history.json", json.dumps([asked, reply, asked]))
    assert 'it ends with "length" after 30,000 tokens, on top of 9,100; the reply is blank' in line


def test_a_runs_own_limit_stands_beside_its_exit() -> None:
    config = {"agent": {"model": {"name": "m", "max_input_tokens": 24_000}}}
    history = [{"role": role, "content": words(60), "agent": "primary"} for role in ("system", "user", "assistant")]
    document = {"environment": "main", "trajectory": [], "history": history, "replay_config": json.dumps(config),
                "info": {"exit_status": "exit_context", "model_stats": {"tokens_sent": 99_000}}}  # fmt: skip
    assert "the limit is 24,000 tokens" in told("run.traj", json.dumps(document))[0]


def summarised(summary: str) -> str:
    """The cause of a compaction at 120,000 tokens that left this summary."""
    file = Pi(model="kimi-k2").until(120_000)
    file.entry("compaction", summary=summary, firstKeptEntryId=file.prompt(), tokensBefore=120_200)
    return file.turn(100) and file.verdicts()[0].cause


def test_a_short_summary_that_tells_the_work_is_no_placeholder() -> None:
    assert summarised("Done: two of three parts are split. Left: the loader and its tests.") != "placeholder_summary"


def test_a_notice_in_place_of_a_summary_is_one() -> None:
    assert summarised("(No conversation to summarize: the history is empty.)") == "placeholder_summary"
    assert summarised("Summary generation was unavailable. 12 turns were removed.") == "placeholder_summary"
