"""What the last entries of a file say of its end: in the agent's own place for it, or in the place of an answer."""

from __future__ import annotations

import dataclasses
import json

from sessions.engine.transcript.types import ProviderError, Usage
from sessions.engine.weigh.calibration.calibrate import weigh
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
    assert "; 3 pictures and documents in it" in first(weigh(done)).why
