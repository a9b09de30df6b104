"""How a session breaks off, what the cache holds of it, and what leads of several events that ended it."""

from __future__ import annotations

import dataclasses

import pytest

from sessions.engine.reading.formats._provider_errors import refusal_of
from sessions.engine.transcript.recorded_events import EventKind, RecordedEvent
from sessions.engine.transcript.types import ProviderError, Usage
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import headline_of
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.sessions import Build
from tests.engine.test_why_first_lines import first, read

OPEN_CALL = "The file ends inside a call of Bash: no result of it is recorded."
UNANSWERED = "The file ends with 2 prompts that have no answer."
AFTER_RESULT = "The file ends after a tool's result: no answer to it is recorded."


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


def test_a_call_without_a_result_is_told() -> None:
    build = answered()
    build.prompt()
    build.reply(50, "open", name="Bash")
    assert first(weigh(build.done())).text.endswith(OPEN_CALL)
    build.result("open")
    assert first(weigh(build.done())).text.endswith(AFTER_RESULT)


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
