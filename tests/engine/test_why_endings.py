"""How a session breaks off, what the cache holds of it, and what leads of several events that ended it."""

from __future__ import annotations

import dataclasses
import io
import json

import pytest

from sessions.engine.reading.formats._provider_errors import refusal_of
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.noted_events import noted_unread
from sessions.engine.transcript.recorded_events import EventKind, RecordedEvent
from sessions.engine.transcript.types import Parsed, ProviderError, Usage
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import headline_of
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.sessions import Build
from tests.engine.test_why_first_lines import first, read

OPEN_CALL = "The file ends inside a call of Bash: no result of it is recorded."
UNANSWERED = "The file ends with 2 prompts that have no answer."


def answered() -> Build:
    """Three turns, then a reply without a call."""
    build = Build().turns(3)
    build.reply()
    return build


def test_a_session_that_was_answered_ends_with_nothing_more() -> None:
    assert "The file ends" not in first(weigh(answered().done())).text


def test_prompts_without_an_answer_are_told() -> None:
    build = answered()
    build.prompt()
    build.prompt()
    assert first(weigh(build.done())).text.endswith(UNANSWERED)


@pytest.mark.parametrize(("tokens", "is_told"), [(8_475, True), (8_474, False)])
def test_a_large_prompt_without_an_answer_is_told_with_its_size(tokens: int, is_told: bool) -> None:
    """Without usage of its own a token counts 1.18."""
    build = answered()
    build.prompt(tokens)
    assert ("1 prompt, about 10,000 tokens, that has no answer" in first(weigh(build.done())).text) is is_told


def test_a_call_without_a_result_is_told() -> None:
    build = answered()
    build.prompt()
    build.reply(50, "open", name="Bash")
    assert first(weigh(build.done())).text.endswith(OPEN_CALL)
    build.result("open")
    assert "The file ends" not in first(weigh(build.done())).text


def test_a_session_that_its_user_stopped_is_not_said_to_break_off() -> None:
    build = answered()
    build.reply(50, "open", name="Bash")
    stop = RecordedEvent(EventKind.INTERRUPTION, len(build.requests), len(build.messages))
    assert "The file ends" not in first(weigh(dataclasses.replace(build.done(), events=(stop,)))).text


def with_usages(usages: list[Usage]) -> str:
    """The first line of a session with these usages."""
    transcript = Build().turns(len(usages)).done()
    requests = tuple(dataclasses.replace(r, usage=u) for r, u in zip(transcript.requests, usages, strict=True))
    return first(weigh(dataclasses.replace(transcript, requests=requests))).text


@pytest.mark.parametrize(
    ("heads", "is_told"),
    [
        ([0, 2_048, 2_048, 2_048], True),
        ([0, 2_048, 0, *[2_048] * 5], True),
        ([0, 2_048, 0, *[2_048] * 4], False),
        ([0, 2_048, 4_096, 8_192], False),
        ([0, 1_023, 1_023, 1_023], False),
        ([0, 2_048, 2_048], False),
    ],
)
def test_one_head_that_alone_comes_from_the_cache(heads: list[int], *, is_told: bool) -> None:
    sizes = [12_000 + 1_000 * n for n in range(len(heads))]
    told = with_usages([Usage(size - head, head, 0, 50) for size, head in zip(sizes, heads, strict=True)])
    rest = f"up to {sizes[-1] - heads[-1]:,}, is paid for in full each time"
    assert ("only the first 2,048 tokens of each prompt" in told and rest in told) == is_told


def test_a_reply_of_a_few_tokens_that_was_cut_off_shows_a_full_context() -> None:
    build = answered()
    last = dataclasses.replace(build.requests[-1], usage=Usage(input=150_000, output=312))
    end = RecordedEvent(
        EventKind.SESSION_END, len(build.requests), len(build.messages), "the reply was cut off: length", "length"
    )
    done = dataclasses.replace(build.done(), requests=(*build.requests[:-1], last), events=(end,))
    told = first(weigh(done))
    assert 'ends with "length" after 312 tokens, on top of 150,000: the context was full there' in told.text
    assert (told.certainty, told.change[:33]) == ("likely", "Set a threshold under 150,000 tok")


def end_of(*errors: ProviderError) -> str:
    build = Build().turns(40)
    at = len(build.requests), len(build.messages)
    found = tuple(dataclasses.replace(error, request=at[0], message=at[1]) for error in errors)
    weighed = weigh(dataclasses.replace(build.done(), errors=found))
    return headline_of(weighed, verdicts_of(weighed)).text


def test_a_refusal_with_its_size_leads_a_failed_compaction_that_says_no_cause() -> None:
    refused = ProviderError(
        "context", 0, 0, tokens=94_260, limit=65_536, words="maximum context length is 65536 tokens"
    )
    failed = ProviderError("compaction", 0, 0, of_compaction=True, words="summarizer unexpectedly failed")
    told = end_of(refused, failed)
    assert told.startswith("Refused at request 40: 94,260 of 65,536 tokens")
    assert "Also: 1 failed compaction" in told
    reasoned = dataclasses.replace(failed, words="summarizer failed: 503 overloaded")
    assert end_of(dataclasses.replace(refused, tokens=None, limit=None), reasoned).startswith("Compaction failed")


def test_small_figures_are_read_where_the_words_say_what_they_are() -> None:
    words = ("'max_tokens' is too large: 1000. This model's maximum context length is 1000 tokens and your request has "
             "203 input tokens (1000 > 1000 - 203).")  # fmt: skip
    refusal = refusal_of(words)
    assert refusal is not None
    assert (refusal.tokens, refusal.limit) == (203, 1_000)


def test_a_command_to_compact_that_nothing_followed_is_told() -> None:
    build = Build().turns(40)
    at = len(build.requests), len(build.messages)
    asked = dataclasses.replace(build.prompt(), preview="/compress")
    error = ProviderError("context", *at, tokens=94_260, limit=65_536, words="maximum context length is 65536 tokens")
    done = build.done()
    done = dataclasses.replace(done, messages=(*done.messages[:-1], asked), errors=(error,))
    assert "/compress was typed, and no compaction followed" in first(weigh(done)).text


def test_what_hermes_writes_below_its_heading_is_the_summary() -> None:
    notice = ("[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below.\\nSummary "
              "generation was unavailable. 7 conversation turns were removed to free context space.")  # fmt: skip
    rest = '{"role": "user", "content": "Go on."}, {"role": "assistant", "content": "With what?"}'
    told = read(
        "s.json",
        '{"session_id": "a", "session_start": "2026-01-01", "message_count": 3, "messages": '
        f'[{{"role": "assistant", "content": "{notice}"}}, {rest}]}}',
    )
    assert told.cause == "placeholder_summary"
    assert "Summary generation was unavailable. 7 conversation turns" in told.text


def test_a_cache_that_was_lost_is_told_with_what_came_before() -> None:
    """120,000 tokens stood in it; 10 s later none was read, after a call of TodoWrite; 99,999 are not told."""
    for size, is_told in ((100_000, True), (99_999, False)):
        build = Build(overhead=0)
        for n in range(5):
            build.reply(50, f"c{n}", name="TodoWrite")
            build.result(f"c{n}")
        usages = [Usage(3, size - 1_000, 500, 50), Usage(3, size - 500, 500, 50), Usage(3, 0, size, 50),
                  Usage(3, size, 500, 50), Usage(3, size + 500, 500, 50)]  # fmt: skip
        requests = tuple(dataclasses.replace(r, usage=u) for r, u in zip(build.requests, usages, strict=True))
        told = first(weigh(dataclasses.replace(build.done(), requests=requests))).text
        lost = (
            "The cache was lost once within its life, at request 2, after TodoWrite: 100,000 tokens were written anew."
        )
        assert (lost in told) == is_told


def test_a_refusal_by_another_model_than_the_one_that_answered() -> None:
    build = Build(overhead=280_000, model="glm-5.2").turns(20)
    at = len(build.requests), len(build.messages)
    words = "Your input exceeds the context window of this model."
    error = ProviderError("context", *at, words=words, model="gpt-5.5")
    told = first(weigh(dataclasses.replace(build.done(), errors=(error,))))
    assert "the model was changed from glm-5.2, which answered " in told.why
    assert told.why.endswith("to gpt-5.5, which takes less")
    same = dataclasses.replace(error, model="zhipu/glm-5.2")
    assert "changed" not in first(weigh(dataclasses.replace(build.done(), errors=(same,)))).why
    # Where another refusal of that model names a limit over what was answered, more was sent than that.
    named = dataclasses.replace(error, tokens=1_459_028, limit=922_000)
    assert "changed" not in first(weigh(dataclasses.replace(build.done(), errors=(named,)))).why


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("Compaction blocked by PreCompact hook: [bash keep.sh]: save first", "a hook blocked it"),
        ("Warning: automatic compaction could not proceed (Already compacted) — paused", "there was nothing left to"),
        ("Compaction exhausted: context still exceeds model limits after 3 attempts", "did not free enough"),
        ("Failed to compress: Range of max_tokens should be [1, 65536]", "65,536 are allowed: the reply was to be"),
    ],
)
def test_what_a_failed_compaction_says_of_itself(words: str, said: str) -> None:
    refusal = refusal_of(words)
    assert refusal is not None
    assert refusal.of_compaction
    assert said in end_of(ProviderError(refusal.kind, 0, 0, of_compaction=True, words=words))


def test_there_being_nothing_to_compact_is_no_failure() -> None:
    assert refusal_of("Compaction failed: Already compacted") is None


def test_what_lm_studio_has_loaded_is_the_limit() -> None:
    words = "tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096)"
    refusal = refusal_of(words)
    assert refusal is not None
    assert (refusal.tokens, refusal.limit) == (13_055, 4_096)


def test_a_compaction_that_is_too_large_in_bytes_names_both_figures() -> None:
    words = "The request is too large. Try shortening the conversation. (5.5 MB request; 5.0 MB limit)"
    assert "5.5 MB of 5.0 MB: the compaction's own" in end_of(
        ProviderError("body", 0, 0, of_compaction=True, words=words)
    )


def test_failures_before_several_requests_are_counted_from_the_first() -> None:
    build = Build().turns(40)
    errors = tuple(
        ProviderError("compaction", n, 2 * n, of_compaction=True, words="400 Bad Request") for n in range(30, 40)
    )
    told = first(weigh(dataclasses.replace(build.done(), errors=errors)))
    assert told.what == "Compaction failed 10 times, first before request 30"


def test_what_aider_lists_of_its_context_is_told() -> None:
    lines = [
        "# aider chat started at 2026-01-02 10:00:00", "", "> Model: claude-3-5-sonnet-20240620 with diff format  ",
        "", "#### Where?", "", "There.", "", "> Tokens: 12k sent, 180 received.  ", "", "#### /tokens  ",
        "> $ 0.0037    1,243 system messages  ", "> $ 0.0312   10,402 repository map            use --map-tokens  ",
        "> $ 0.0369   12,285 tokens total  ", "", "#### And?", "", "Here.", "", "> Tokens: 12k sent, 99 received.  ",
    ]  # fmt: skip
    told = read("aider.md", "\n".join(lines))
    assert "10,402 tokens, 5% of the window, are the repository map, as the agent listed it. No" in told.text
    small = [*lines[:13], "> 80,000 tokens max context window size  ", *lines[13:]]
    told = read("aider.md", "\n".join(small))
    assert "10,402 tokens, 13% of the window, are the repository map, as the agent listed it. Make" in told.text


def test_qwen_codes_command_that_failed_after_the_last_turn_is_told() -> None:
    def line(ident: str, parent: str | None, **fields: object) -> str:
        own = {
            "uuid": ident,
            "parentUuid": parent,
            "sessionId": "s",
            "timestamp": "2026-01-02T10:00:00Z",
            "version": "1",
        }
        return json.dumps(own | fields)

    def said(role: str) -> dict[str, object]:
        return {"role": role, "parts": [{"text": "Go on."}]}

    failed = {"type": "error", "text": "Failed to compress chat history: 400 Bad Request"}
    lines = [
        line("a", None, type="user", message=said("user")),
        line("b", "a", type="assistant", model="qwen3", message=said("model")),
        line("c", "b", type="system", subtype="slash_command", systemPayload={"phase": "invocation"}),
        line("d", "c", type="system", subtype="slash_command", systemPayload={"outputHistoryItems": [failed]}),
    ]
    assert read("chat.jsonl", "\n".join(lines)).what == "Compaction failed before request 1"


def test_no_cached_token_on_any_call_to_claude() -> None:
    """Told where the file has a place for them: without one it does not say that there were none."""
    build = Build(overhead=12_000).turns(10)
    requests = tuple(dataclasses.replace(r, usage=Usage(12_000, 0, 0, 50)) for r in build.requests)
    transcript = dataclasses.replace(build.done(), requests=requests)
    source = Source(io.BytesIO(b'{"usage": {"cache_read_input_tokens": 0}}'))
    (noted,) = noted_unread(Parsed(format="test", transcripts=(transcript,)), source).transcripts
    told = first(weigh(noted)).text
    assert "By the record no token of the 10 calls of this file came from the cache, of 120,000 of input" in told
    few = dataclasses.replace(transcript, requests=requests[:9])
    assert noted_unread(Parsed(format="test", transcripts=(few,)), source).transcripts == (few,)
    untold = Source(io.BytesIO(b'{"usage": {"prompt_tokens": 12000}, "text": "the cache"}'))
    assert noted_unread(Parsed(format="test", transcripts=(transcript,)), untold).transcripts == (transcript,)


def test_the_records_own_figure_is_told_beside_another() -> None:
    """The usage before a compaction that adds up several calls, and what the agent wrote down."""
    build = Build(overhead=10_000).turns(5)
    build.compact(trigger="auto")
    build.turns(2, start=5)
    done = build.done()
    last = dataclasses.replace(done.requests[4], usage=Usage(411, 1_912_406, 143_933, 18_204))
    made = dataclasses.replace(done.compactions[0], tokens_before=162_548)
    done = dataclasses.replace(done, requests=(*done.requests[:4], last, *done.requests[5:]), compactions=(made,))
    assert "162,548" in first(weigh(done)).text


def pi_file(*behind: dict[str, object]) -> str:
    """A session of pi with an answer, and records behind it that its reader does not know."""
    at = "2026-01-02T10:00:00.000Z"
    usage = {"input": 90_000, "output": 50, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 90_050}
    said = {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "usage": usage, "stopReason": "stop"}
    lines: list[dict[str, object]] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": at, "cwd": "/work"},
        {
            "type": "message",
            "id": "a",
            "parentId": None,
            "timestamp": at,
            "message": {"role": "user", "content": "Go."},
        },
        {"type": "message", "id": "b", "parentId": "a", "timestamp": at, "message": said},
        *behind,
    ]
    return "\n".join(json.dumps(line) for line in lines)


REFUSED = "400: prompt is too long: 205148 tokens > 200000 maximum"


def test_a_refusal_in_a_record_that_its_reader_does_not_know_is_told() -> None:
    told = read("pi.jsonl", pi_file({"type": "notice", "level": "error", "data": {"message": REFUSED}}))
    assert told.text.startswith("Refused at request 1: 205,148 of 200,000 tokens")


@pytest.mark.parametrize(
    "record",
    [
        {"type": "tool_output", "data": {"message": REFUSED}},
        {"type": "notice", "stdout": {"message": REFUSED}},
        {"type": "notice", "note": REFUSED},
        {"type": "notice", "message": "The prompt is too long to read in one go."},
    ],
)
def test_what_a_tool_printed_or_nobody_called_an_error_is_none(record: dict[str, object]) -> None:
    assert read("pi.jsonl", pi_file(record)).text.startswith("No compaction")
