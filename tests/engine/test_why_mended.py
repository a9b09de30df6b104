"""What stands under and over the boundaries of rules that a stranger's session asked for."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.noted_replies import _reasons_at
from sessions.engine.transcript.recorded_events import ErrorKind, EventKind, RecordedEvent
from sessions.engine.transcript.types import (
    Message,
    Origin,
    ProviderError,
    RecordedCompaction,
    Request,
    Role,
    Transcript,
    Usage,
)
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.cache_use import cache_sentence, lost_at
from sessions.engine.why.headline import headline
from sessions.engine.why.runs import Runs
from sessions.engine.why.said import advice_of, quoted
from sessions.engine.why.verdicts import verdicts_of
from sessions.engine.why.windows import differ
from tests.engine.test_why_evidence import told
from tests.engine.verdict_files import Claude, words


def logged(sizes: list[int], came: int) -> str:
    """A chat whose calls report these sizes, with about so many tokens of a prompt before each but the first."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Plan the harbour."}]
    lines = []
    for n, size in enumerate(sizes):
        said = {"role": "assistant", "content": words(10)}
        answer = {"id": f"r{n}", "object": "chat.completion", "model": "desk-7b",
                  "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
                  "usage": {"prompt_tokens": size, "completion_tokens": 20, "total_tokens": size + 20}}  # fmt: skip
        body = {"model": "desk-7b", "messages": [*messages]}
        record = {"url": "http://127.0.0.1/v1/chat/completions", "timestamp": f"2026-05-01T10:{n:02}:00.000Z"}
        lines.append(json.dumps({**record, "request": {"body": body}, "response": {"body": answer}}))
        messages += [said, {"role": "user", "content": words(came)}]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("sizes", "came", "is_told"),
    [
        ([800, 4_000, 4_090, 4_030, 4_080, 4_050], 900, True),
        ([800, 4_000, 4_090, 4_030, 4_080, 4_050], 300, False),  # under half of it came
        ([800, 4_000, 4_150, 4_030, 4_080, 4_050], 900, False),  # 3.75% apart
        ([800, 4_000, 4_090, 4_030], 900, False),  # three requests
    ],
)
def test_a_usage_just_under_a_room_is_a_prompt_that_is_cut(sizes: list[int], came: int, is_told: bool) -> None:
    (line,) = told("calls.jsonl", logged(sizes, came))
    assert ("the usage stands just under or at 4,090 for 5 requests" in line) == is_told


def lone(status: int, body: dict[str, Any], **request: Any) -> str:
    asked = {"model": "desk-7b", "messages": [{"role": "user", "content": "Plan the harbour."}], **request}
    record = {"timestamp": "2026-05-01T10:00:00Z", "method": "POST", "url": "http://127.0.0.1/v1/chat/completions"}
    return json.dumps({**record, "request": asked, "status": status, "response": body})


def test_a_lone_logged_call_says_why_it_was_refused() -> None:
    words = (
        "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens (568 in the messages, "
    )
    body = {"object": "error", "code": 400, "message": f"{words}6048 in the completion)."}
    (line,) = told("call.jsonl", lone(400, body, max_tokens=6_048))
    assert "6,616 of 6,048 tokens, 6,048 of them for the reply; the other 568 fit" in line


def test_a_call_to_the_address_that_compacts_belongs_to_what_it_continues() -> None:
    call = {"id": "fc_1", "type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
    usage = {"input_tokens": 900, "output_tokens": 10, "total_tokens": 910}
    answer = {"id": "resp_1", "object": "response", "model": "gpt-5.2", "output": [call], "usage": usage}
    base = "https://api.example.com/v1/responses"
    asked = {"model": "gpt-5.2", "input": [{"role": "user", "content": words(600)}]}
    first = {"url": base, "request": asked, "status": 200, "response": answer}
    refused = {"error": {"message": "No tool output found for function call c1.", "type": "invalid_request_error"}}
    second = {"url": f"{base}/compact", "request": {"model": "gpt-5.2", "previous_response_id": "resp_1"},
              "status": 400, "response": refused}  # fmt: skip
    (line,) = told("calls.jsonl", "\n".join(map(json.dumps, (first, second))))
    assert line.startswith("Compaction failed before request 2: a call in it stands without its result")


def first_line(file: Claude) -> str:
    """What is said of a session of Claude Code."""
    weighed = file.weighed()
    return headline(weighed, verdicts_of(weighed))


@pytest.mark.parametrize(
    ("pre", "threshold"),
    [
        (167_020, "Claude Code's auto-compact threshold, 167,000"),
        (156_000, "the threshold of versions up to 2.1.20, 155,000"),
    ],
)
def test_a_threshold_that_was_passed_again_and_again_is_another_versions(pre: int, threshold: str) -> None:
    """Claude Code 2.1.1 compacts at 155,000 by its rule; one that did not is held against the later one too."""
    file = Claude("claude-opus-4-5")
    file.version = "2.1.1"
    file.until(pre, 1_500)
    file.compact("auto", pre=pre)
    line = first_line(file.turns(2, 300))
    assert threshold in line, line
    assert "requests before" not in line


def test_a_compaction_right_after_another_model_was_taken_says_so() -> None:
    file = Claude("claude-opus-4-5").until(40_000)
    file.model = "claude-sonnet-4-5"
    file.compact("auto")
    line = first_line(file.turns(2, 300))
    assert "as the model was changed from claude-opus-4-5 to claude-sonnet-4-5" in line
    assert "(likely)" in line


def unread(n: int, *, reads: int = 4, write: int = 0) -> str:
    """Requests that read the cache, then some that read nothing, then one that reads again."""
    file = Claude("claude-opus-4-5")
    file.turns(reads, 500)
    fresh = {"cache_read_input_tokens": 0, "cache_creation_input_tokens": write}
    for _ in range(n):
        file.turns(1, 500, **fresh, input_tokens=file.context)
    return first_line(file.turns(1, 500))


@pytest.mark.parametrize(
    ("n", "sizes", "is_told"),
    [
        (3, {}, True),
        (2, {}, False),  # two in a row
        (3, {"reads": 1}, False),  # two others read it, in all
        (3, {"write": 9_000}, False),  # written anew, which is told otherwise
    ],
)
def test_requests_in_a_row_that_read_nothing_from_a_cache_others_read(
    n: int, sizes: dict[str, int], is_told: bool
) -> None:
    line = unread(n, **sizes)
    assert ("nothing was read from it on 3 requests in a row" in line) == is_told, line


@pytest.mark.parametrize(("context", "is_told"), [(79_900, True), (80_400, False)])
def test_a_refusal_far_under_the_window_does_not_say_why(context: int, is_told: bool) -> None:
    """Two fifths of a window that a table names: 80,000 of 200,000."""
    file = Claude("claude-opus-4-5").until(context - 200, 1_000)
    file.reply(cache_read_input_tokens=context - 503)
    file.prompt()
    file.refuse("Prompt is too long")
    line = first_line(file)
    assert ("of the model's window: why it was too long is not recorded" in line) == is_told, line
    assert ("compact earlier" in line) != is_told, line


@pytest.mark.parametrize(("prompts", "is_told"), [(2, True), (1, False)])
def test_prompts_that_nothing_answers_are_counted(prompts: int, is_told: bool) -> None:
    rows = [{"role": "_checkpoint", "id": 0}, *({"role": "user", "content": "hi"} for _ in range(prompts))]
    (line,) = told("context.jsonl", "\n".join(map(json.dumps, rows)))
    assert (f"{prompts} prompts stand in the file, and no answer" in line) == is_told


@pytest.mark.parametrize(("cleared", "is_told"), [(0.1, True), (0.11, False)])
def test_a_clearing_that_loses_the_cache_says_what_it_cost(cleared: float, is_told: bool) -> None:
    usages = [Usage(1_000), Usage(500, 99_500), Usage(90_000, round(cleared * 99_500))]
    requests = tuple(Request(n, n, usage, timestamp=60.0 * n) for n, usage in enumerate(usages))
    session = Transcript("s", "opencode", (), requests)
    assert lost_at(session) == ({2: 90_000} if is_told else {})


@pytest.mark.parametrize("silent", [None, 0, 1])
def test_three_compactions_are_in_vain_only_where_a_refusal_is_recorded_after_each(silent: int | None) -> None:
    file = Claude("claude-opus-4-5").until(185_000)
    for n in range(3):
        file.compact("auto", pre=185_000)
        if n != silent:
            file.refuse("Prompt is too long")
    line = first_line(file)
    assert ("refused after each" in line) == (silent is None), line


def test_a_usage_within_a_band_is_held_against_its_largest_and_a_single_figure_goes_before_it() -> None:
    (line,) = told("calls.jsonl", logged([4_000, 4_118, 4_030, 4_002, 4_110], 900))
    assert "the usage stands just under or at 4,118 for 5 requests" in line
    (line,) = told("calls.jsonl", logged([4_000, 4_125, 4_030, 4_002, 4_110], 900))
    assert "for 4 requests" in line  # 4,000 is 3.03% under 4,125
    (line,) = told("calls.jsonl", logged([*[4_096] * 4, 6_000, 6_090, 6_030, 6_080, 6_050], 1_600))
    assert "the usage stands at 4,096 for 4 requests" in line


def test_a_model_by_another_gateway_is_no_change() -> None:
    assert differ("anthropic/claude-opus-4-5", "claude-sonnet-4-5")
    assert not differ("anthropic/claude-opus-4-5", "claude-opus-4-5")
    assert not differ("", "claude-opus-4-5")


def test_an_error_between_two_compactions_before_one_request_is_the_second_ones() -> None:
    """Both name the same request: the second has what stands behind the first."""
    errors = [ProviderError(ErrorKind.CONTEXT, 1, 4, 210_000, 200_000), ProviderError(ErrorKind.CONTEXT, 1, 7)]
    compactions = (RecordedCompaction(5, 1), RecordedCompaction(8, 1))
    transcript = Transcript("s", "claude_code", (), (), compactions=compactions, errors=tuple(errors))
    runs = Runs(weigh(transcript), frozenset())
    assert [runs.errors_before(0), runs.errors_before(1)] == [errors[:1], errors[1:]]


@pytest.mark.parametrize(
    ("over", "n", "grown", "is_told"),
    [(3_997, 3, 1, True), (3_998, 3, 1, False), (3, 2, 1, False), (3, 3, 0, False)],
)
def test_a_usage_that_counts_the_cached_tokens_twice(over: int, n: int, grown: int, is_told: bool) -> None:
    """Under a fifth of what is called the input is new, 4,000 of 20,000, and the cached part grows with it."""
    usages = [Usage(20_000, 20_000 - over - grown * (n - k - 1), 0, 50) for k in range(n)]
    session = Transcript("s", "litellm", (), tuple(Request(k, None, usage) for k, usage in enumerate(usages)))
    assert ("20,000 were sent" in cache_sentence(session)) == is_told


@pytest.mark.parametrize(("typed", "trigger", "is_told"), [("/compact now", None, True), ("/compact", "auto", False),
                                                           ("/compact-logs", None, False),
                                                           ("Say /compact", None, False)])  # fmt: skip
def test_a_command_right_before_a_compaction_is_who_asked(typed: str, trigger: str | None, is_told: bool) -> None:
    file = Claude("claude-opus-4-5").until(60_000)
    file.reply()
    file.emit("user", message={"role": "user", "content": typed})
    file.compact(trigger, pre=60_000)
    assert ("/compact was typed" in first_line(file.turns(1, 500))) == is_told


def test_replies_that_were_cut_off_before_the_last_are_told() -> None:
    lines = logged([4_000, 4_200, 4_400], 90).split("\n")
    cut = [line.replace('"finish_reason": "stop"', '"finish_reason": "length"') for line in lines[:2]]
    (line,) = told("calls.jsonl", "\n".join([*cut, lines[2]]))
    assert "2 replies were cut off, the newest at request 1 after 20 tokens, on top of 4,200 (length)." in line
    (line,) = told("calls.jsonl", "\n".join(lines))
    assert "cut off" not in line


def asked(output: int, reason: str | None) -> str:
    """A reply of so many tokens, which ends for that reason or for none that is recorded."""
    usage = {"prompt_tokens": 900, "completion_tokens": output, "total_tokens": 900 + output}
    said = {"message": {"role": "assistant", "content": words(600)}, "index": 0}
    choice = said | ({"finish_reason": reason} if reason else {})
    answer = {"id": "r", "object": "chat.completion", "model": "desk-7b", "choices": [choice], "usage": usage}
    body = {"model": "desk-7b", "messages": [{"role": "user", "content": "Plan the harbour."}]}
    record = {"url": "http://127.0.0.1/v1/chat/completions", "timestamp": "2026-05-01T10:00:00.000Z"}
    return json.dumps({**record, "request": {"body": body}, "response": {"body": answer}})


@pytest.mark.parametrize(("output", "reason", "is_told"), [(8_192, None, True), (8_191, None, False),
                                                           (8_192, "stop", False)])  # fmt: skip
def test_a_reply_of_exactly_a_usual_maximum_may_have_been_cut_off(
    output: int, reason: str | None, is_told: bool
) -> None:
    (line,) = told("calls.jsonl", asked(output, reason))
    assert ("exactly 8,192 tokens, a usual output limit: it was cut off there (possible)" in line) == is_told, line


@pytest.mark.parametrize(
    ("overhead", "prompt", "cached", "is_told"),
    [
        (4_950, 50, 0, True),
        (4_949, 50, 0, False),  # 5,000 at least
        (30_000, 9_000, 0, True),
        (30_000, 11_000, 0, False),  # a quarter of it came with the messages
        (60_100, 50, 0, False),  # a history may stand before it
    ],
)
def test_what_comes_with_the_first_request_is_told(overhead: int, prompt: int, cached: int, is_told: bool) -> None:
    session = Claude(overhead=overhead)
    session.prompt(prompt)
    call = f"c{session.n}"
    read = cached or session.context
    fresh = {"cache_read_input_tokens": read if cached else 0, "cache_creation_input_tokens": 0}
    session.reply(call=call, input_tokens=0 if cached else session.context, **fresh)
    session.result(call, 100)
    session.reply()
    assert ("came with the first request, about" in first_line(session)) == is_told


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("400 Unrecognized request argument supplied: reasoning_effort", "Leave reasoning_effort out,"),
        ("Validation: Unsupported parameter(s): `maxOutputTokens`", "Leave maxOutputTokens out,"),
        ("400: Invalid request Error: something invalid param", ""),
        ("the connection was reset", "Try again on a stable connection."),
        ("upstream error: Validation: Unsupported parameter: top_k", "Leave top_k out,"),
        ("Unknown parameter: 'input[3].status'.", ""),
        ("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.", ""),
        ("unexpected parameter was given", ""),
    ],
)
def test_what_to_do_about_an_error_names_the_setting_that_it_names(words: str, advice: str) -> None:
    assert advice_of(words).startswith(advice)
    assert bool(advice_of(words)) == bool(advice)


def test_a_quote_leaves_out_who_passed_an_error_on_and_the_data_that_it_repeats() -> None:
    relayed = "Error from provider (Bay): Upstream request failed: [invalid_request_error] request contains 51 images, "
    error = ProviderError(ErrorKind.MEDIA, 1, 1, words=f"{relayed}exceeding the maximum of 50 allowed per request")
    assert quoted(error) == '"request contains 51 images, exceeding the maximum of 50 allowed per request"'
    long = "Your credit balance is too low to access the Anthropic API: please go to the page of plans and billing, "
    error = ProviderError("error", 1, 1, words=f"{long}or ask whoever pays for it to do so before you try again.")
    assert quoted(error).startswith('"Your credit balance')
    error = ProviderError("error", 1, 1, words=f"'data:image/png;base64,{'A' * 300}' is not a valid absolute URI")
    assert quoted(error) == "\"'data:image/png;base64,A…' is not a valid absolute URI\""


@pytest.mark.parametrize(("path", "other"), [(("messages", 3), False), (("choices", 0, "message"), True)])
def test_what_holds_other_replies_as_well_says_nothing_of_one(path: tuple[str | int, ...], other: bool) -> None:
    held = {"finish_reason": "length", "messages": [{"role": "user"}] * 4,
            "choices": [{"finish_reason": "length", "message": {}}]}  # fmt: skip
    source = Source(io.BytesIO(json.dumps(held).encode()), "x.json")
    origin = Origin(1, 0, source.size, path)
    assert list(_reasons_at(source, origin, own=True))[:1] == ["length"] * other
    assert next(_reasons_at(source, origin)) == "length"


@pytest.mark.parametrize("output", [768, 769])
def test_a_compaction_right_after_a_reply_that_was_cut_off(output: int) -> None:
    """With 32,000 before it a reply of 768 fills 32,768: a multiple of 1,024."""
    usages = [Usage(9_000, 0, 0, 50), Usage(32_000, 0, 0, output), Usage(6_000, 0, 0, 50)]
    requests = tuple(Request(n, n, usage) for n, usage in enumerate(usages))
    messages = tuple(Message(n, "", Role.ASSISTANT, ()) for n in range(3))
    cut = RecordedEvent(EventKind.REPLY_CUT, 2, 2, "the reply was cut off: length", "length")
    compaction = RecordedCompaction(2, 2, tokens_before=32_000 + output)
    session = Transcript("s", "pi", messages, requests, compactions=(compaction,), events=(cut,))
    (verdict,) = verdicts_of(weigh(session))
    assert (verdict.cause, verdict.certainty) == ("reply_cut_off", "likely")
    assert ("the server's window" in verdict.because) == (output == 768)


@pytest.mark.parametrize(("tokens", "is_told"), [(20_000, True), (9_000, False), (12_000, False)])
def test_a_prompt_that_is_most_of_the_first_request_is_named(tokens: int, is_told: bool) -> None:
    """Half of the peak, and 10,000 tokens."""
    session = Claude(overhead=15_500)
    session.prompt(tokens)
    session.reply()
    assert ("message 0 is most of them by itself" in first_line(session)) == is_told


def test_a_reply_that_says_how_it_ended_was_not_cut_off_at_a_usual_maximum() -> None:
    """Claude Code's record has ``stop_reason`` end_turn inside of its message."""
    session = Claude()
    session.prompt()
    session.reply(output=8_192)
    assert "usual maximum" not in first_line(session)
