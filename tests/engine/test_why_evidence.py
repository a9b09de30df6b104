"""What the files of strangers hold and a first line tells: figures in words, ends in notes, calls beside the others."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import pytest

from sessions.engine.reading.reading import read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.verdict_files import Claude, words

Value = dict[str, Any]


def told(name: str, text: str) -> list[str]:
    """The first line of every session of a file."""
    found = [weigh(transcript) for transcript in read_transcripts(io.BytesIO(text.encode()), name).transcripts]
    return [headline(weighed, verdicts_of(weighed)) for weighed in found]


def exchange(minute: int, messages: list[Value], status: int, body: Value) -> str:
    request = {"method": "POST", "url": "https://api.example.com/v1/chat/completions",
               "body": {"model": "desk-7b", "messages": messages}}  # fmt: skip
    response = {"status": status, "body": body}
    return json.dumps({"timestamp": f"2026-05-01T10:{minute:02}:00.000Z", "request": request, "response": response})


def calls(sizes: list[int], status: int, body: Value, *, finish: str = "tool_calls") -> str:
    """Requests of these sizes, each with a tool's result behind it, then one with another answer unless it is 0."""
    messages: list[Value] = [{"role": "user", "content": "Which orders are late?"}]
    lines = []
    for n, size in enumerate(sizes):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "page", "arguments": "{}"}}
        said = {"role": "assistant", "content": words(15), "tool_calls": [call]}
        answer = {"id": f"r{n}", "object": "chat.completion", "model": "desk-7b",
                  "choices": [{"index": 0, "message": said, "finish_reason": finish}],
                  "usage": {"prompt_tokens": size, "completion_tokens": 40, "total_tokens": size + 40}}  # fmt: skip
        lines.append(exchange(n, [*messages], 200, answer))
        messages += [said, {"role": "tool", "tool_call_id": f"c{n}", "content": words(40)}]
    return "\n".join([*lines, *([exchange(30, messages, status, body)] if status else [])])


def error(message: str, **fields: Any) -> Value:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    ("body", "has"),
    [
        (
            error("maximum context length is 24000 tokens. However, you requested 25100 tokens "
                  "(21004 in the messages, 4096 in the completion)."),
            "25,100 of 24,000 tokens, 4,096 of them for the reply; the other 21,004 fit",
        ),
        (
            error("'max_tokens' is too large: 9000. This model's maximum context length is 24000 tokens and your "
                  "request has 15700 input tokens (9000 > 24000 - 15700)."),
            "24,700 of 24,000 tokens, 9,000 of them for the reply",
        ),
        (error("input length and `max_tokens` exceed context limit: 21000 + 8000 > 24000"), "29,000 of 24,000 tokens"),
        (
            error("maximum context length is 24000 tokens. However, your messages resulted in 31022 tokens "
                  "(30111 in the messages, 911 in the functions)."),
            r"31,022 of 24,000 tokens \(30,111 in the messages, 911 in the functions\); the request before had 21,000; "
            "no compaction is recorded before it",
        ),
        (error("exceeds the available context size", n_prompt_tokens=26310, n_ctx=24576), "26,310 of 24,576"),
        (error("Your request exceeded model token limit: 24000"), "the limit is 24,000 tokens; the request before had"),
        (error("On tokens per minute (TPM): Limit 7000, Requested 25210"), "25,210 tokens were requested"),
        (error("413 Request body too large for the model. Max size: 24000 tokens."), r"24,000|window 24,000"),
        (error("max_tokens: 50000 > 16000, which is the maximum allowed number of output tokens"), "50,000 of 16,000"),
    ],
)  # fmt: skip
def test_figures_in_words_are_told_with_separators(body: Value, has: str) -> None:
    (line,) = told("calls.jsonl", calls([18_000, 21_000], 400, body))
    assert re.search(has, line), line
    assert "cause unknown" not in line


def test_a_refusal_of_a_history_that_was_cut_before_it_belongs_to_its_session() -> None:
    first = calls([6_000, 7_000, 7_500], 0, {})
    rest = json.loads(first.splitlines()[-1])["request"]["body"]["messages"][2:]
    body = error("messages with role 'tool' must follow 'tool_calls'")
    refused = exchange(31, [*rest, {"role": "user", "content": "And now?"}], 400, body)
    lines = told("calls.jsonl", f"{first}\n{refused}")
    assert len(lines) == 1
    assert "tool_calls" in lines[0]


def test_a_reply_that_ends_at_a_limit_is_no_healthy_end() -> None:
    (line,) = told("calls.jsonl", calls([6_000, 7_700], 0, {}, finish="length"))
    assert line.startswith('Reply cut off at request 1: it ends with "length" after 40 tokens, on top of 7,700')
    assert told("calls.jsonl", calls([6_000, 7_700], 0, {}))[0].startswith("No compaction.")


def goose(total: int, notes: int) -> str:
    """A session of goose that compacted ``notes`` times at a prompt, and whose last turn has three calls."""

    def message(role: str, text: str, *, user: bool = True, agent: bool = True, kind: str = "text") -> Value:
        content = {"type": kind, "text": text} if kind == "text" else {"type": kind, "msg": text}
        return {"role": role, "created": 1_786_288_800, "content": [content],
                "metadata": {"userVisible": user, "agentVisible": agent}}  # fmt: skip

    found = [message("user", "Begin.", agent=not notes), message("assistant", words(20), agent=not notes)]
    for n in range(notes):
        newest = n == notes - 1
        found += [
            message("user", f"Step {n}", agent=False),
            message("assistant", "Exceeded auto-compact threshold of 40%.", agent=False, kind="systemNotification"),
            message("user", f"Summary {n}: {words(20)}", user=False, agent=newest),
            message("assistant", "Your context was compacted.", user=False, agent=newest),
            message("user", f"Step {n}", user=False, agent=newest),
            message("assistant", words(20), agent=newest),
        ]
    for n in range(3):
        result = {"type": "toolResponse", "id": f"t{n}", "toolResult": {"status": "success", "value": {"content": []}}}
        asked = {"type": "toolRequest", "id": f"t{n}", "toolCall": {"value": {"name": "shell", "arguments": {}}}}
        found += [message("assistant", words(10)) | {"content": [asked]}, message("user", "") | {"content": [result]}]
    found.append(message("assistant", "The next place is"))
    model = {"model_name": "own", "context_limit": 20_480}
    return json.dumps({"id": "s", "working_dir": "/", "name": "s", "session_type": "user", "total_tokens": total,
                       "input_tokens": total - 20, "output_tokens": 20, "model_config": model,
                       "message_count": len(found), "conversation": found})  # fmt: skip


def test_a_turn_that_fills_the_window_of_an_agent_that_asks_when_turns_begin() -> None:
    (line,) = told("goose.json", goose(20_480, notes=3))
    assert line.startswith("Reply cut off at request ")
    assert "20,480 of 20,480 tokens were in use; goose checks its trigger when a turn begins, and" in line
    n_told = sum(map(int, re.findall(r"(\d+) compactions?\b", line)))
    assert n_told == 3, "what a compaction puts there is no compaction of its own"
    assert "cut off" not in told("goose.json", goose(19_000, notes=3))[0]


def trace(*observations: Value) -> str:
    whole = [{"traceId": "t", "level": "DEFAULT", "statusMessage": None, "usageDetails": {}, **o} for o in observations]
    return json.dumps({"trace": {"id": "t", "name": "agent"}, "observations": whole})


def generation(n: int, said: list[tuple[str, str]], answer: str, size: int, **fields: Any) -> Value:
    messages = [{"role": role, "content": text} for role, text in said]
    return {"id": f"g{n}", "type": "GENERATION", "name": "chat", "model": "gpt-4.1", "parentObservationId": "root",
            "startTime": f"2026-02-01T10:{n:02}:00.000Z", "input": messages,
            "output": {"role": "assistant", "content": answer},
            "usageDetails": {"input": size, "output": 30, "total": size + 30}} | fields  # fmt: skip


def test_an_error_of_the_call_for_embeddings_is_not_the_conversations() -> None:
    failed = {"id": "e", "type": "EMBEDDING", "name": "embed", "startTime": "2026-02-01T10:09:00.000Z",
              "parentObservationId": "root", "level": "ERROR",
              "statusMessage": "maximum context length is 2048 tokens, however you requested 3311 tokens"}  # fmt: skip
    (line,) = told("trace.json", trace(generation(1, [("user", "Which maps?")], "Four.", 1_900), failed))
    assert "3,311 of 2,048 tokens: the call for embeddings failed, not the conversation's" in line


def test_a_summarys_own_call_belongs_to_its_session() -> None:
    summary = "The user asked for the late orders of May and wants them sorted by customer."
    system = ("system", "You help.")
    lines = told("trace.json", trace(
        generation(1, [system, ("user", "List them.")], "Twelve.", 3_000),
        generation(2, [system, ("user", "List them."), ("assistant", "Twelve."), ("user", "So?")], "OK", 4_100),
        generation(3, [("user", "Summarise the conversation: …")], summary, 900),
        generation(4, [system, ("user", f"Summary so far: {summary}"), ("user", "Go on.")], "Yes.", 3_200),
    ))  # fmt: skip
    assert len(lines) == 1
    assert lines[0].startswith("Compacted before request 3")
    assert "4,100" in lines[0]


def test_a_summarys_refused_call_is_a_failed_compaction() -> None:
    refused = generation(2, [("user", "Extract the most important context from the conversation below.")], "", 0)
    refused |= {"output": None, "usageDetails": {}, "level": "ERROR"}
    refused["statusMessage"] = "maximum context length is 9000 tokens. However, your messages resulted in 15000 tokens."
    lines = told("trace.json", trace(generation(1, [("user", "Compare.")], "I do.", 8_000), refused))
    assert len(lines) == 1
    assert lines[0].startswith("Compaction failed before request 1: ")
    assert "15,000 tokens of 9,000 allowed" in lines[0]


@pytest.mark.parametrize(
    ("note", "has"),
    [
        ("Sending this message (310440 tokens) might exceed the remaining context window limit (90400 tokens).",
         "310,440 tokens were to be sent, 90,400 were left: the agent held it back"),
        ("Chat history compression did not reduce size.", "Compaction failed before request 1"),
        ("Response truncated due to token limits.", "Reply cut off at the first request"),
        ("A potential loop was detected. The request has been halted.", "A potential loop was detected"),
    ],
)  # fmt: skip
def test_what_gemini_cli_notes_at_the_end_is_told(note: str, has: str) -> None:
    at = "2026-02-05T10:0{}:00.000Z"
    used = {"input": 44_000, "output": 90, "cached": 0, "total": 44_090}
    messages = [
        {"id": "u", "timestamp": at.format(0), "type": "user", "content": "Mend the list."},
        {"id": "g", "timestamp": at.format(1), "type": "gemini", "content": words(15), "toolCalls": [], "tokens": used,
         "model": "gemini-2.5-pro"},
        {"id": "i", "timestamp": at.format(2), "type": "info", "content": note},
    ]  # fmt: skip
    document = {"sessionId": "s", "projectHash": "h", "startTime": at.format(0), "messages": messages}
    assert has in told("session.json", json.dumps(document))[0]


def test_a_jump_in_a_file_without_its_contents_is_no_wrong_count() -> None:
    entries: list[Value] = [{"ts": 1, "type": "say", "say": "text", "text": "Add paging."}]
    for n, size in enumerate((12_000, 48_000, 95_000, 94_800)):
        if size == 94_800:
            condensed = {"prevContextTokens": 95_150, "newContextTokens": 94_600, "summary": words(80), "cost": 0}
            entries.append({"ts": 9, "type": "say", "say": "condense_context", "contextCondense": condensed})
        body = {"request": f"[read_file] {n}", "tokensIn": size, "tokensOut": 150, "apiProtocol": "openai"}
        entries += [
            {
                "ts": 10 + n,
                "type": "say",
                "say": "api_req_started",
                "text": json.dumps({**body, "apiProtocol": "openai"}),
            },
            {"ts": 20 + n, "type": "say", "say": "text", "text": words(12)},
        ]
    (line,) = told("ui_messages.json", json.dumps(entries))
    assert "counted" not in line
    assert "it freed next to nothing" in line


def test_a_usage_that_stands_at_a_round_window_while_calls_go_on_is_cut_by_the_server() -> None:
    (line,) = told("calls.jsonl", calls([16_384] * 5, 0, {}))
    assert "the usage stands at 16,384 for 5 requests" in line
    assert told("calls.jsonl", calls([16_390] * 5, 0, {}))[0].startswith("No compaction.")


def test_a_later_compaction_at_a_third_of_an_earlier_one_is_by_a_smaller_window() -> None:
    file = Claude("claude-opus-4-8").until(620_000, tokens=50_000)
    file.compact("auto", pre=622_400)
    file.until(190_000, tokens=50_000)
    file.compact("auto", pre=196_100)
    weighed = file.weighed()
    later = verdicts_of(weighed)[-1]
    assert later.cause == "wrong_window"
    assert later.certainty == "likely"
    assert "196,100 tokens, where 566,232 were answered before" in later.because
    assert "an earlier compaction came at 622,400" in later.because
