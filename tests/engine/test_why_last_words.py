"""What the last entries of a file say of its end: in the agent's own place for it, or in the place of an answer."""

from __future__ import annotations

import dataclasses
import json

from sessions.engine.reading.formats._provider_errors import error_of, refusal_of
from sessions.engine.transcript.types import ProviderError, Usage
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.said import meaning_of
from tests.engine.sessions import Build, image
from tests.engine.test_why_first_lines import first, read


def test_aider_says_that_the_answer_passed_its_limit() -> None:
    lines = [
        "# aider chat started at 2025-12-21 10:12:04", "", "#### Do it.", "", "I will begin.", "",
        "> Model m has hit a token limit!  ", "> Input tokens: ~7,123 of 200,000  ",
        "> Output tokens: ~3,017 of 4,096 -- possibly exceeded output limit!  ",
    ]  # fmt: skip
    told = read("aider.md", "\n".join(lines))
    assert (
        "the answer may have passed its limit: 3,017 of 4,096 tokens of output, 7,123 of 200,000 of input" in told.why
    )


def test_swe_agents_last_entry_says_what_ended_the_run() -> None:
    words = "Exit due to unknown error: RateLimitError: tokens per min (TPM): Limit 30000, Requested 32145."
    steps = [{"action": "ls", "observation": "a", "response": "I look.", "thought": "I look.", "state": "{}"}]
    said = [("system", "Work."), ("user", "Mend it."), ("assistant", "I look."), ("assistant", words)]
    history = [{"role": role, "content": text} for role, text in said]
    document = {"trajectory": steps, "history": history, "info": {"exit_status": "exit_error"}, "environment": "e"}
    told = read("run.traj", json.dumps(document))
    assert told.why.startswith("32,145 tokens were requested, 30,000 are allowed in a minute")


def test_kimi_codes_turn_tells_why_its_compaction_was_given_up() -> None:
    prompt = {"role": "user", "content": [{"type": "text", "text": "Go on."}], "toolCalls": []}
    error = {"code": "compaction.failed", "message": "The response did not contain a non-empty summary"}
    lines = [
        {"type": "metadata", "protocol_version": "1.4"},
        {"type": "context.append_message", "message": prompt},
        {"type": "full_compaction.begin", "source": "auto"},
        {"type": "full_compaction.cancel"},
        {"type": "turn.ended", "reason": "failed", "error": error},
    ]
    told = read("wire.jsonl", "\n".join(json.dumps(line) for line in lines))
    assert told.what == "Compaction failed before the first request"
    assert told.why.startswith("no summary came back")
    assert told.more == ""


def test_an_empty_answer_of_the_agents_own_call_is_no_summary_that_failed() -> None:
    said = meaning_of('model "goat-1" returned a completed response with no content')
    assert said is not None
    assert said.because == "the model answered nothing"
    said = meaning_of("Compaction failed: received empty response from model")
    assert said is not None
    assert said.because == "no summary came back"


def refused(tokens: int, window: int | None) -> str:
    build = Build(overhead=tokens - 1_000, model="gpt-5.6-sol").turns(2)
    at = len(build.requests), len(build.messages)
    words = "Your input exceeds the context window of this model."
    done = dataclasses.replace(build.done(), errors=(ProviderError("context", *at, words=words),), window=window)
    return first(weigh(done)).why


def test_a_refusal_far_under_the_window_that_is_recorded_names_it() -> None:
    assert ", of the 996,147 that the agent counts with" in refused(371_000, 996_147)
    assert "counts with" not in refused(371_000, None)
    assert "counts with" not in refused(371_000, 400_000)


def test_a_command_in_vain_is_not_advised() -> None:
    build = Build().turns(40)
    at = len(build.requests), len(build.messages)
    asked = dataclasses.replace(build.prompt(), preview="/compact")
    error = ProviderError("context", *at, tokens=94_260, limit=65_536, words="maximum context length is 65536 tokens")
    done = build.done()
    done = dataclasses.replace(done, messages=(*done.messages[:-1], asked), errors=(error,))
    assert first(weigh(done)).change == "Start a new session, or go back to an earlier point of this one."


def test_a_servers_own_sentence_in_the_place_of_an_answer_is_its_refusal() -> None:
    """In the Assistants API's form, which has the words beside their annotations."""
    words = "request (702568 tokens) exceeds the available context size (250112 tokens), try increasing it"
    said = [("user", "Look."), ("assistant", "I look."), ("user", "Again."), ("assistant", words)]
    lines = [
        json.dumps({"role": role, "content": [{"type": "text", "text": {"value": text, "annotations": []}}]})
        for role, text in said
    ]
    assert read("thread.jsonl", "\n".join(lines)).text.startswith("Refused at request 1: 702,568 of 250,112 tokens")


def test_an_agent_that_reads_usage_alone_is_said_to_have_none() -> None:
    build = Build(usage=False).turns(3)
    done = build.done()
    assert "No usage is recorded" not in first(weigh(done)).text
    assert "No usage is recorded on any of 3 requests" in first(weigh(dataclasses.replace(done, format="pi"))).text
    assert "No usage" not in first(weigh(dataclasses.replace(Build().turns(3).done(), format="pi"))).text


def test_a_request_refused_for_its_bytes_counts_its_pictures() -> None:
    build = Build()
    for n in range(3):
        build.reply(50, f"c{n}")
        build.result(f"c{n}", 100, image(400_000, 900))
    at = len(build.requests), len(build.messages)
    error = ProviderError("body", *at, status=413, words="413 Request Entity Too Large")
    last = dataclasses.replace(build.requests[-1], usage=Usage(input=60_000, output=50))
    done = dataclasses.replace(build.done(), errors=(error,), requests=(*build.requests[:-1], last))
    assert "; 3 pictures in it" in first(weigh(done)).why


def test_a_reply_that_is_asked_for_alone_leaves_no_room() -> None:
    words = (
        "This model's maximum context length is 65536 tokens. However, you requested 65536 output tokens and your "
        "prompt contains 111283 characters."
    )
    refusal = refusal_of(words)
    assert refusal is not None
    assert (refusal.tokens, refusal.limit) == (None, 65_536)
    error = ProviderError("context", 0, 1, limit=65_536, words=words)
    build = Build()
    build.prompt(20)
    told = first(weigh(dataclasses.replace(build.done(), errors=(error,))))
    assert told.why.startswith("65,536 tokens were asked for the reply alone, 65,536 are allowed for all")
    assert told.change == "Lower the reply's maximum."


def test_the_limit_that_a_session_was_set_is_told_as_that() -> None:
    build = Build(overhead=300_000).turns(3)
    at = len(build.requests), len(build.messages)
    words = "Session token limit exceeded: 308,113 tokens > 256,000 limit."
    told = first(weigh(dataclasses.replace(build.done(), errors=(ProviderError("context", *at, words=words),))))
    assert told.why.startswith("308,113 of 256,000 tokens: the limit that this session was set was passed")


def test_a_few_results_that_brought_most_of_it_are_named() -> None:
    """Three pictures of 40,000 tokens each by the usage, next to nothing by the file."""
    build = Build(overhead=5_000)
    build.prompt()
    for n in range(3):
        build.reply(50, f"c{n}", name="view_image")
        build.result(f"c{n}", 10)
    build.reply()
    sizes = [5_050, 45_100, 85_150, 125_200]
    requests = tuple(
        dataclasses.replace(r, usage=Usage(input=size, output=50))
        for r, size in zip(build.requests, sizes, strict=True)
    )
    told = first(weigh(dataclasses.replace(build.done(), requests=requests))).text
    assert "; 120,150 of them came with 3 results of view_image" in told


def test_a_context_overflow_says_its_figures_in_fields_behind_words() -> None:
    words = 'POST "http://localhost/v1": 400 Bad Request {"message": "the request exceeds the available context size",'
    found = error_of({"message": "Bad Request", "details": f'{words} "n_prompt_tokens": 167416, "n_ctx": 131072}}'})
    assert found is not None
    assert (found.tokens, found.limit) == (167_416, 131_072)
