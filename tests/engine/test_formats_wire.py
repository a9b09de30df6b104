"""The wire_capture format, and pairs and streamed events of anthropic_messages, on small files of our own."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from sessions.engine.base import registry
from sessions.engine.reading.formats._assembly import transcript_of
from sessions.engine.reading.formats._converse import converse_usage
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Usage
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.test_formats_contract import FIXTURES, read
from tests.engine.test_formats_mutations import measure
from tests.engine.truth_facts import fixture

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.engine.transcript.types import Transcript

WIRE = FIXTURES / "wire_capture"
ANTHROPIC = FIXTURES / "anthropic_messages"


def contexts(session: Transcript) -> list[int | None]:
    return [request.usage.context if request.usage else None for request in session.requests]


def test_pairs_one_a_line_are_one_history_and_each_call_a_request() -> None:
    parsed = read(WIRE / "pairs.jsonl")
    main, title = parsed.transcripts
    assert main.id == "0a1b2c3d-0000-4000-8000-000000000001"
    assert [str(message.role) for message in main.messages] == ["user", "assistant", "user", "assistant"]
    assert [(r.message, r.response_id) for r in main.requests] == [(1, "m1"), (3, "m3")]
    assert contexts(main) == [40, 55]
    assert contexts(title) == [9]
    assert [block.name for block in main.system] == ["", "look"]
    assert [skipped.reason for skipped in parsed.skipped] == ["a record without a model call"]
    assert not main.compactions


def test_requests_without_responses_find_their_replies_in_the_next_request() -> None:
    (session,) = read(WIRE / "requests_only.jsonl").transcripts
    assert [str(message.role) for message in session.messages] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert [(r.message, r.usage) for r in session.requests] == [(2, None), (4, None), (None, None)]
    assert (session.n_images, session.n_tool_calls) == (1, 1)


def test_bodies_in_strings_and_streams() -> None:
    path = WIRE / "proxy_bodies.json"
    streamed, chunked, items = read(path).transcripts
    assert contexts(streamed) == [21]
    assert streamed.requests[0].usage
    assert streamed.requests[0].usage.output == 6
    assert streamed.requests[0].timestamp == 1770000000.5
    assert chunked.requests[0].usage
    assert (chunked.requests[0].usage.input, chunked.requests[0].usage.cache_read) == (3, 30)
    with path.open("rb") as file:
        (hum,) = read_contents(file, "wire_capture", streamed.messages[1])
        said, call = read_contents(file, "wire_capture", chunked.messages[1])
        (asked,) = read_contents(file, "wire_capture", items.messages[0])
    assert (hum.text, said.text, call.text, asked.text) == ("Humming.", "Buzz", '{"a":1}', '{"say": 1}')
    kinds = [[str(block.kind) for block in message.blocks] for message in items.messages]
    assert kinds == [["text"], ["thinking"], ["tool_use"], ["tool_result"], ["text"]]
    assert contexts(items) == [18, 30]
    assert items.messages[1].blocks[0].n_payload == 3


def test_an_http_archive() -> None:
    (session,) = read(WIRE / "archive.json").transcripts
    assert [message.preview for message in session.messages] == ["HAR?", "HAR."]
    assert contexts(session) == [8]


def test_a_list_of_messages_pairs() -> None:
    parsed = read(ANTHROPIC / "pairs.json")
    (session,) = parsed.transcripts
    assert parsed.reason == "3 requests with their responses"
    assert [(r.message, r.response_id) for r in session.requests] == [(1, "m1"), (3, "m3"), (5, "m4")]
    assert contexts(session) == [40, 55, 20]
    (compaction,) = session.compactions
    assert (compaction.boundary, compaction.message, compaction.request, compaction.trigger) == (5, 5, 2, "auto")
    assert (compaction.tokens_before, compaction.tokens_after) == (900, 20)


def test_server_sent_text_of_a_response() -> None:
    path = ANTHROPIC / "stream.sse.txt"
    (session,) = read(path).transcripts
    (message,) = session.messages
    assert (message.id, session.model, message.preview) == ("m7", "claude-haiku-4-5", "Humming.")
    assert [(r.usage.context, r.usage.output) for r in session.requests if r.usage] == [(21, 6)]
    assert len(message.origins) == 7


@pytest.mark.parametrize("name", ["events.json", "events.jsonl"])
def test_events_of_a_response(name: str) -> None:
    (session,) = read(ANTHROPIC / name).transcripts
    (message,) = session.messages
    assert [block.kind for block in message.blocks] == [Kind.THINKING, Kind.TOOL_USE]
    assert (message.blocks[0].n_payload, message.blocks[1].target) == (4, "hive")
    assert [(r.usage.cache_read, r.usage.context, r.usage.output) for r in session.requests if r.usage] == [
        (70, 75, 14)
    ]


def test_a_message_of_a_pair_that_looks_like_an_event_is_read_again_as_it_was(tmp_path: Path) -> None:
    document = json.loads((ANTHROPIC / "pairs.json").read_text(encoding="utf-8"))
    event = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hum"}}
    document[2]["request"]["messages"][-1] = event
    file = tmp_path / "pairs.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    with file.open("rb") as opened:
        source = Source(opened, file.name)
        for transcript in registry.get("formats", "anthropic_messages").read(source, measure).transcripts:
            for message in transcript.messages:
                assert measure(read_contents(source, "anthropic_messages", message)) == message.blocks


def test_a_session_without_an_id_is_one() -> None:
    assert transcript_of([], [], [], id="", format="x").id == ""


def test_calls_that_helicone_logged_belong_to_the_session_their_caller_named() -> None:
    (session,) = fixture("wire_capture/helicone.jsonl").transcripts
    assert session.id == "bees"
    assert [r.usage.context for r in session.requests if r.usage] == [10, 11]
    assert session.requests[0].timestamp is not None


def test_calls_of_gemini_in_an_archive_are_one_session() -> None:
    """Its model stands in the address, its calls have no ids, one answer is streamed; the prompt includes the cache."""
    (session,) = read(WIRE / "gemini.har").transcripts
    kinds = [["text"], ["tool_use"], ["tool_result"], ["tool_use"], ["tool_result"], ["thinking", "text"], ["text"]]
    assert [[str(block.kind) for block in message.blocks] for message in session.messages] == kinds
    assert [(r.message, r.response_id, r.usage) for r in session.requests] == [
        (1, "r1", Usage(40, output=19, reasoning=12)),
        (3, "r2", Usage(34, cache_read=32, output=7)),
        (5, "r3", Usage(26, cache_read=64, output=17, reasoning=6)),
    ]
    assert (session.model, [block.name for block in session.system]) == ("gemini-2.5-flash", ["", "look"])
    with (WIRE / "gemini.har").open("rb") as file:
        _, said = read_contents(file, "wire_capture", session.messages[5])
        (call,) = read_contents(file, "wire_capture", session.messages[3])
    assert (said.text, call.text) == ("The sluice is open, but the wheel stands still.", '{"at":"wheel"}')


def test_an_archive_of_gemini_whose_oldest_contents_left_is_one_session_with_a_cut() -> None:
    turns = [{"role": role, "parts": [{"text": f"{role} {n}"}]} for n in range(4) for role in ("user", "model")]
    calls = [
        {"url": "/v1beta/models/gemini-2.5-pro:generateContent", "request": {"contents": sent}, "response": {
            "candidates": [{"content": reply}], "usageMetadata": {"promptTokenCount": 10}}}
        for sent, reply in ((turns[:5], turns[5]), (turns[2:7], turns[7]))
    ]  # fmt: skip
    (session,) = read_transcripts(io.BytesIO(json.dumps(calls).encode()), "log.json").transcripts
    assert session.model == "gemini-2.5-pro"
    assert [(cut.boundary, cut.preserved) for cut in session.compactions] == [(6, (2, 3, 4, 5))]


def test_bedrocks_log_of_invocations_is_read_whatever_was_called() -> None:
    """Converse, its stream whose total says that the input holds the cache, a model's own body, and a failure."""
    session, other = read(WIRE / "bedrock.jsonl").transcripts
    kinds = [["text"], ["thinking", "tool_use"], ["tool_result"], ["text", "tool_use"], ["tool_result"]]
    assert [[str(block.kind) for block in message.blocks] for message in session.messages] == kinds
    assert [(r.message, r.response_id, r.usage) for r in session.requests] == [
        (1, "q1", Usage(9, cache_write=40, output=31)),
        (3, "q2", Usage(20, cache_read=40, output=24)),
    ]
    assert (session.model, [b.name for b in session.system]) == (
        "eu.anthropic.claude-sonnet-4-20250514-v1:0", ["", "look"]
    )  # fmt: skip
    assert [(e.request, e.words) for e in session.events] == [(2, "ThrottlingException")]
    assert [r.usage for r in other.requests] == [Usage(11, output=6)]
    with (WIRE / "bedrock.jsonl").open("rb") as file:
        texts = [[c.text for c in read_contents(file, "wire_capture", message)] for message in session.messages[2:]]
    assert texts[1:] == [["It is open, and now the wheel.", '{"at":"wheel"}'], [""]]


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        ({"inputTokens": 2, "outputTokens": 9, "totalTokens": 111, "cacheWriteInputTokens": 100}, (2, 0, 100, 9)),
        ({"inputTokens": 102, "outputTokens": 9, "totalTokens": 111, "cacheReadInputTokens": 100}, (2, 100, 0, 9)),
        ({"inputTokens": 102, "outputTokens": 9, "totalTokens": 211, "cacheReadInputTokens": 100}, (102, 100, 0, 9)),
        ({"inputTokens": 102, "outputTokens": 9, "totalTokens": 111}, (102, 0, 0, 9)),
    ],
)
def test_bedrocks_total_says_whether_the_input_holds_the_cache(
    counts: dict[str, int], usage: tuple[int, int, int, int]
) -> None:
    assert converse_usage(counts) == Usage(*usage)


TOO_LARGE = (
    "This model's maximum context length is 15000 tokens. However, you requested 15018 tokens (12970 in the messages)."
)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": TOO_LARGE}}, {"error": TOO_LARGE}, {"object": "error", "message": TOO_LARGE, "code": 400},
        {"message": TOO_LARGE}, TOO_LARGE, f"<html><body><h1>{TOO_LARGE}</h1></body></html>",
    ],
    ids=["nested", "a string", "flat", "without a mark", "plain words", "a page"],
)  # fmt: skip
def test_a_refusal_is_read_whatever_its_body(body: object) -> None:
    """A proxy keeps what the gateway answered: the call failed by its status."""
    asked = {"model": "m", "messages": [{"role": "user", "content": "Go on."}], "max_tokens": 2_048}
    answer = {"choices": [{"message": {"role": "assistant", "content": "Yes."}}], "usage": {"prompt_tokens": 9_980}}
    grown = asked | {"messages": [*asked["messages"], {"role": "assistant", "content": "Yes."}, *asked["messages"]]}
    calls = [{"request": {"url": "u", "body": sent}, "response": {"status": status, "body": said}}
             for sent, status, said in ((asked, 200, answer), (grown, 400, body))]  # fmt: skip
    data = "\n".join(json.dumps(call) for call in calls).encode()
    (session,) = read_transcripts(io.BytesIO(data), "calls.jsonl").transcripts
    assert [(one.kind, one.tokens, one.limit) for one in session.errors] == [("context", 15_018, 15_000)]


def test_a_prompt_that_ollama_cut_is_told_with_the_room_that_was_asked_for() -> None:
    (session,) = read(WIRE / "ollama.har").transcripts
    assert (session.window, [r.usage.context for r in session.requests if r.usage]) == (1_024, [1_010, 515])
    weighed = weigh(session)
    assert headline(weighed, verdicts_of(weighed)).startswith(
        "The context fell from 1,010 to 515 at request 1; the prompt had grown, but the model is loaded "
        "with 1,024 tokens; Ollama cuts a prompt that is longer. Raise the server's context length"
    )


def ollama(*calls: tuple[int, int]) -> Transcript:
    """A session of calls of Ollama by what the server counted, and the room that each asks for."""
    said: list[dict[str, str]] = []
    lines = []
    for n, (counted, room) in enumerate(calls):
        said += [{"role": "user", "content": f"Step {n}. " + "The ledger closed at dusk. " * 300}]
        reply = {"role": "assistant", "content": f"Done {n}."}
        asked = {"model": "small", "messages": [*said], "options": {"num_ctx": room}}
        answer = {"model": "small", "message": reply, "done": True, "prompt_eval_count": counted, "eval_count": 3}
        lines.append(json.dumps({"request": {"url": "http://host/api/chat", "body": asked}, "response": answer}))
        said += [reply]
    (session,) = read_transcripts(io.BytesIO("\n".join(lines).encode()), "calls.jsonl").transcripts
    return session


@pytest.mark.parametrize(
    ("counted", "room", "words"),
    [
        ((9_000, 15_000, 16_200, 8_300, 8_600), 16_384, "; the prompt had grown, but the model is loaded with 16,384"),
        ((10_000, 7_000), 131_072, "No compaction. Peak 10,000 tokens"),
        ((8_191, 6_143), 16_384, "No compaction. Peak 8,191 tokens"),
        ((8_192, 6_144), 16_384, "The context fell from 8,192 to 6,144 at request 1; the prompt had grown, but"),
        ((8_192, 6_145), 16_384, "No compaction. Peak 8,192 tokens"),
    ],
)
def test_a_server_cuts_where_its_room_was_half_full_and_a_quarter_is_gone(
    counted: tuple[int, ...], room: int, words: str
) -> None:
    weighed = weigh(ollama(*((n, room) for n in counted)))
    assert words in headline(weighed, verdicts_of(weighed))


def test_a_room_that_changes_is_the_calls_own() -> None:
    session = ollama((2_000, 16_384), (4_000, 16_384), (6_000, 65_536))
    assert (session.window, [request.window for request in session.requests]) == (16_384, [0, 0, 65_536])
