"""What traces and chats of frameworks tell: one history of their calls, empty answers, other words of an end."""

from __future__ import annotations

import base64
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdicts_of

TOO_LONG = "prompt is too long: 206842 tokens > 200000 maximum"


def lines_of(record: Any, name: str = "a.json") -> list[str]:
    """The first lines about the sessions of a file; what is a text is one."""
    text = record if isinstance(record, str) else json.dumps(record)
    found = [weigh(one) for one in read_transcripts(io.BytesIO(text.encode()), name).transcripts]
    return [headline(weighed, verdicts_of(weighed)) for weighed in found]


def generation(n: int, sent: list[Any], error: str = "") -> dict[str, Any]:
    """A call as Strands tells Langfuse of it, in a cycle of its own: it sends what is new, the reply in other words."""
    reply = [{"text": "I look."}, {"toolUse": {"toolUseId": f"t{n}", "name": "shell", "input": {"command": "ls"}}}]
    told = {"level": "ERROR", "statusMessage": error} if error else {"usageDetails": {"input": 9_000 * n, "output": 20}}
    output = None if error else {"finish_reason": "tool_use", "message": json.dumps(reply)}
    ids = {"id": f"g{n}", "traceId": "t", "type": "GENERATION", "startTime": f"2026-02-17T15:2{n}:00Z"}
    return {**ids, "model": "claude-opus-4-6", "input": sent, "output": output, **told}


def test_calls_that_send_what_is_new_with_the_reply_in_other_words_are_one_session() -> None:
    prompt = {"role": "user", "content": json.dumps([{"text": "Make an inventory."}])}
    later = [[{"role": "assistant", "content": "ls"}, {"role": "tool", "id": f"t{n}", "content": "a"}] for n in (1, 2)]
    calls = [generation(1, [prompt]), generation(2, later[0]), generation(3, later[1], TOO_LONG)]
    (line,) = lines_of({"trace": {"id": "t"}, "observations": calls})
    assert line.startswith("Refused at request 2: 206,842 of 200,000 tokens; the request before had 18,000")


def span(n: int, attributes: dict[str, Any], parent: str = "", error: str = "") -> dict[str, Any]:
    """A span of one trace; ``error`` is how it ended."""
    ids = {"span_id": f"s{n}", "trace_id": "t", "parent_id": parent, "start_time": f"2026-06-27T10:0{n}:00Z"}
    return {**ids, "attributes": attributes, **({"status_code": "ERROR", "status_message": error} if error else {})}


def test_messages_in_an_attribute_of_a_span_are_its_prompt() -> None:
    """Pydantic AI lists events there; bytes in a prompt are told as what they are, and what helps against them."""
    picture = "".join(f"\\x{n * 7919 % 256:02X}" for n in range(20_000))
    said = [{"event.name": "gen_ai.user.message", "role": "user", "content": picture}]
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "claude-3-7-sonnet", "events": json.dumps(said)}
    (line,) = lines_of([span(1, chat, error=TOO_LONG)])
    assert "message 0, data as text (base64 or the like), holds" in line
    assert line.endswith("Send the file as a document, or its text, not as base64.")


def test_answers_with_nothing_in_them_are_counted_and_the_run_s_own_words_told() -> None:
    call = {"openinference.span.kind": "LLM", "llm.model_name": "qwen3", "output.value": ""}
    sent = [call | {"input.value": json.dumps({"messages": [{"role": "user", "content": f"Try {n}"}]})} for n in (1, 2)]
    words = "Invalid response from LLM call - None or empty."
    run = span(0, {"openinference.span.kind": "AGENT"}, error=f"{words} ValueError")
    (line,) = lines_of([run, *(span(n + 1, one, parent="s0") for n, one in enumerate(sent))])
    assert f'the record says "{words}"' in line
    assert 'The record also says 2 times "the answer is empty; no usage and no finish reason is recorded".' in line


def test_a_run_that_could_not_trim_says_so_beside_the_refusal() -> None:
    call = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "get_diff", "arguments": "{}"}}]}
    sent = [{"role": "user", "content": "Review it."}, call, {"role": "tool", "tool_call_id": "c", "content": "+1"}]
    chat = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(sent)}
    run = span(0, {"gen_ai.operation.name": "invoke_agent"}, error="Unable to trim conversation context!")
    (line,) = lines_of([run, span(1, chat, "s0", "Input is too long for requested model.")])
    assert 'The run ended with "Unable to trim conversation context!".' in line
    assert "Of its 3 messages all but 1 are calls of tools and their results." in line


def chat(sent: list[Any], tokens: int) -> dict[str, Any]:
    """A call of chat completions and its answer, as a proxy logs it."""
    answer = {"role": "assistant", "content": "It is green."}
    usage = {"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5}
    response = {"choices": [{"message": answer}], "usage": usage, "model": "gpt-4.1"}
    return {"request": {"model": "gpt-4.1", "messages": sent}, "response": response}


def test_a_picture_that_came_to_as_much_as_its_base64_leads() -> None:
    head = bytes.fromhex("89504e470d0a1a0a0000000d49484452000003200000025808020000000000000000")
    url = "data:image/png;base64," + base64.b64encode(head + bytes(90_000)).decode()
    answer = {"role": "assistant", "content": "It is green."}
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
    said = [{"role": "user", "content": "Look at the page."}]
    calls = [chat(said, 1_042), chat([*said, answer, picture], 84_617)]
    (line,) = lines_of("\n".join(map(json.dumps, calls)), "a.jsonl")
    assert line.startswith("Peak 84,617 tokens")
    assert line.endswith("No compaction. No error is recorded.")
    assert (
        "83,575 of them came with message 2: 120,048 characters of base64, which were counted as text (likely)" in line
    )


def test_a_system_prompt_that_grew_is_told_as_most_of_a_small_peak() -> None:
    said = {"role": "user", "content": "Which flute suits a child of nine?"}
    tools = " ".join(f"Tool {n} reads the list of members and the loans of {n} years." for n in range(500))
    calls = [chat([{"role": "system", "content": text}, said], n) for text, n in (("Be short.", 27), (tools, 8_000))]
    assert "of them are the system prompt." in " ".join(lines_of(json.dumps(calls)))


def test_an_address_of_data_that_was_refused_is_told_with_its_length() -> None:
    url = "data:image/jpeg;base64," + "A" * 70_000
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
    error = {"error": {"message": f"'{url[:100]}...' is not a valid absolute URI", "code": "invalid_payload"}}
    line = lines_of({"request": {"model": "gpt-4.1", "messages": [picture]}, "response": error, "status": 400})[0]
    assert "refused the address of a picture or file, not the size" in line
    assert "the longest in it has 70,000 characters of base64" in line


ZEPH = """
{0}:00Z  INFO zeph_core::agent: system prompt rebuilt tokens=12041 skills=9
{0}:01Z DEBUG zeph_core::agent::context: should_compact cached_tokens=15371 threshold=11700 should_compact=true
{0}:09Z  INFO zeph_core::agent::context: context compaction complete cached_tokens=12329 threshold=11700
{0}:14Z  INFO zeph_llm::openai: chat completed prompt_tokens=12940 completion_tokens=140
{0}:20Z ERROR zeph_llm::openai: chat request failed status=400 body={{"error": {{"code": "context_length_exceeded"}}}}
{0}:21Z ERROR zeph_core::agent: turn failed error=LLM request failed: status 400 Bad Request
"""
SUNA = """
backend-1   | {0}:01,200 - INFO - LLM API call successful, finish_reason=tool_calls
backend-1   | {0}:11,400 - INFO - Thread 02f1 token count: 158640/120000 (132.2%)
backend-1   | {0}:11,500 - INFO - Automatic summarization disabled. Skipping token count check and summarization.
backend-1   |
backend-1   | {0}:12,600 - WARNING - Attempt 1/3: BadRequestError: exceed context limit: 174167 + 64000 > 200000
backend-1   | {0}:42,219 - ERROR - Failed to make LLM API call after 3 attempts
"""


def test_a_log_tells_one_refusal_once_and_what_its_compaction_left() -> None:
    (line,) = lines_of(ZEPH.format("2026-03-13T10:04"), "a.log")
    assert line.startswith("Refused at request 1: the last compaction left 12,329 tokens, still over its threshold of")
    assert "11,700, and its system prompt alone has 12,041" in line
    assert "status 400 Bad Request" not in line


def test_a_log_behind_the_names_of_containers_says_that_nothing_is_compacted() -> None:
    (line,) = lines_of(SUNA.format("2025-04-27 22:48"), "a.log")
    assert "64,000 of them for the reply; the other 174,167 fit" in line
    words = '"Automatic summarization disabled", at 158,640 tokens by its own count, where its own limit is 120,000'
    assert words in line


def test_autogen_studios_database_tells_how_a_run_failed(tmp_path: Path) -> None:
    """Each agent of a team makes calls of its own; the largest that was answered is told beside the last."""
    path = tmp_path / "studio.db"
    client = {"config": {"model": "gpt-4o"}}
    team = {"config": {"participants": [{"config": {"model_client": client}}]}}
    said = [("user", None), ("researcher", 97_386), ("verifier", 32_462)]
    usages = [{"prompt_tokens": n, "completion_tokens": 44} if n else None for _, n in said]
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("CREATE TABLE session (id, name, team_id)")
        base.execute("CREATE TABLE team (id, component)")
        base.execute("CREATE TABLE run (id, session_id, status, task, error_message)")
        base.execute("CREATE TABLE message (id, config, session_id, run_id)")
        base.execute("INSERT INTO session VALUES (1, 'Valuations', 3)")
        base.execute("INSERT INTO team VALUES (3, ?)", (json.dumps(team),))
        words = "maximum context length is 128000 tokens. However, your messages resulted in 209101 tokens."
        base.execute("INSERT INTO run VALUES (7, 1, 'error', '{}', ?)", (f"Error code: 400 - {words}",))
        for n, ((source, _), usage) in enumerate(zip(said, usages, strict=True)):
            message = {"source": source, "type": "TextMessage", "content": "Are they cheap?", "models_usage": usage}
            base.execute("INSERT INTO message VALUES (?, ?, 1, 7)", (n, json.dumps(message)))
    with path.open("rb") as file:
        parsed = read_transcripts(file, path.name)
        (session,) = parsed.transcripts
        (content,) = read_contents(file, parsed.format, session.messages[1])
    assert (session.title, session.model, content.text) == ("Valuations", "gpt-4o", "Are they cheap?")
    line = headline(weighed := weigh(session), verdicts_of(weighed))
    assert line.startswith("Refused at request 2: 209,101 of 128,000 tokens; the request before had 32,462, an earlier")
    assert "an earlier one 97,386" in line
    assert line.endswith("Set a threshold under 128,000 tokens.")


def test_replies_that_end_at_one_size_are_told() -> None:
    said = [{"role": "user", "content": "Write a long tale."}]
    calls = [chat([*said, {"role": "user", "content": f"Part {n}."}], 1_284) for n in range(2)]
    for call in calls:
        call["response"]["usage"]["completion_tokens"] = 9_577
    text = " ".join(lines_of(json.dumps(calls)))
    assert "2 replies have exactly 9,577 tokens, and no limit is recorded: why they end alike is not known." in text
