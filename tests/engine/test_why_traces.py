"""What traces and chats of frameworks tell: one history of their calls, empty answers, other words of an end."""

from __future__ import annotations

import io
import json
from typing import Any

from sessions.engine.reading.reading import read_transcripts
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
    assert 'Before that 2 times: "the answer is empty; no usage and no finish reason is recorded".' in line


def test_a_run_that_could_not_trim_says_so_beside_the_refusal() -> None:
    call = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "get_diff", "arguments": "{}"}}]}
    sent = [{"role": "user", "content": "Review it."}, call, {"role": "tool", "tool_call_id": "c", "content": "+1"}]
    chat = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(sent)}
    run = span(0, {"gen_ai.operation.name": "invoke_agent"}, error="Unable to trim conversation context!")
    (line,) = lines_of([run, span(1, chat, "s0", "Input is too long for requested model.")])
    assert 'The run ended with "Unable to trim conversation context!".' in line
    assert "Of its 3 messages all but 1 are calls of tools and their results." in line
