"""First lines that a figure of the same file would contradict, and what a compaction, or a request, is told with."""

from __future__ import annotations

import dataclasses
import io

import pytest

from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.noted_replies import noted_limits
from sessions.engine.transcript.recorded_events import EventKind, RecordedEvent
from sessions.engine.transcript.types import ProviderError, Transcript, Usage
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import has_died, headline_of
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.sessions import Build
from tests.engine.test_why_evidence import told
from tests.engine.test_why_odd_usage import chat


def line(transcript: Transcript) -> str:
    weighed = weigh(transcript)
    return headline_of(weighed, verdicts_of(weighed)).text


def session(n: int = 40, each: int = 1_000) -> Transcript:
    build = Build()
    for _ in range(n):
        build.prompt(each)
        build.reply()
    return build.done()


def refused(transcript: Transcript, at: int, **facts: object) -> Transcript:
    message = transcript.requests[at].message if at < len(transcript.requests) else len(transcript.messages)
    kind = str(facts.pop("kind", "context"))
    error = ProviderError(kind, at, message or 0, **{"tokens": None, "limit": None, **facts})  # type: ignore[arg-type]
    return dataclasses.replace(transcript, errors=(error,))


@pytest.mark.parametrize(("limit", "is_one"), [(30_000, True), (52_000, False)])
def test_a_limit_over_which_more_was_answered_is_of_one_request(limit: int, is_one: bool) -> None:
    """The last request had 53,900: over 1.05 times 30,000, not of 52,000."""
    said = line(refused(session(), 30, tokens=60_000, limit=limit, words=f"the limit is {limit} tokens"))
    assert (f"the provider named a limit of {limit:,} for that request alone" in said) is is_one
    assert ("Try again" in said) is is_one


@pytest.mark.parametrize(("each", "is_needless"), [(1_000, True), (3_000, False)])
def test_nothing_to_compact_is_a_fault_only_where_the_context_is_full(each: int, is_needless: bool) -> None:
    """At a window of 200,000: 51,000 tokens, and 131,000."""
    transcript = refused(session(each=each), 40, kind="compaction", of_compaction=True, words="Nothing to compact")
    found = verdicts_of(weigh(transcript))
    assert line(transcript).startswith("Asked to compact" if is_needless else "Compaction failed")
    assert has_died(found, 40) is not is_needless


@pytest.mark.parametrize(
    ("sizes", "is_told"),
    [
        ([5_000, 10_000, 5_100, 10_200, 5_200, 10_400, 5_300], True),
        ([5_000, 10_000, 5_100, 10_200, 5_200], False),  # twice
        ([5_000, 7_000, 5_100, 7_200, 5_200, 7_400, 5_300], False),  # by less than a half
    ],
)
def test_a_usage_that_goes_up_and_down_is_told(sizes: list[int], is_told: bool) -> None:
    (said,) = told("calls.jsonl", chat(*sizes, tool=True))
    assert ("goes up and down 3 times and no compaction is recorded: 5,000, 10,000, 5,100, 10,200" in said) is is_told


@pytest.mark.parametrize(("tokens", "is_told"), [(220, True), (221, False)])
def test_a_summary_of_next_to_nothing_is_told(tokens: int, is_told: bool) -> None:
    """A two hundredth of 40 × 1,100."""
    build = Build()
    for _ in range(40):
        build.prompt(1_000)
        build.reply()
    build.compact(tokens)
    build.prompt()
    build.reply()
    assert (f"its summary has {tokens:,} tokens for 4" in line(build.done())) is is_told


@pytest.mark.parametrize(("trigger", "is_told"), [("auto", True), ("manual", False)])
def test_a_compaction_that_nothing_follows_says_so(trigger: str, is_told: bool) -> None:
    build = Build()
    for _ in range(40):
        build.prompt(1_000)
        build.reply()
    build.compact(trigger=trigger)
    said = "compacted before request 40, where the session ends, without an answer: "
    assert (said in line(build.done())) is is_told


def test_a_refusal_that_a_compaction_followed_is_not_said_to_have_none() -> None:
    """At 187,100 tokens of 200,000, five requests over the threshold."""
    build = Build()
    for _ in range(161):
        build.prompt(1_000)
        build.reply()
    build.compact()
    error = ProviderError("context", 161, build.compactions[0].boundary, 201_000, 200_000, words="prompt is too long")
    said = line(dataclasses.replace(build.done(), errors=(error,)))
    assert said.startswith(
        "Refused at request 161, then compacted, and not answered any more: 201,000 of 200,000 tokens"
    )
    assert "no compaction is recorded" not in said


@pytest.mark.parametrize(("n", "is_told"), [(5, True), (4, False)])
def test_what_many_requests_sent_together_is_told(n: int, is_told: bool) -> None:
    """A little more at each: four are under four times the last."""
    build = Build(overhead=13_000)
    build.prompt()
    for _ in range(n):
        build.reply(1)
    assert ("sent 65," in line(build.done())) is is_told


def test_a_request_refused_for_its_bytes_names_its_largest_message() -> None:
    build = Build()
    build.prompt()
    build.reply()
    build.prompt(9_000)
    transcript = refused(build.done(), 1, kind="body", status=413, words="413 Request Entity Too Large")
    assert "; message 2, prompts, is 36,000 bytes of what the file holds" in line(transcript)


def test_a_message_is_not_told_with_more_tokens_than_the_whole_refused_request() -> None:
    """We count 236,000 of it, the provider 214,377 of all."""
    build = Build()
    build.prompt()
    build.reply()
    build.prompt(200_000)
    said = line(refused(build.done(), 1, tokens=214_377, limit=200_000, words="prompt is too long"))
    assert "message 2 is most of it" in said
    assert "holds 2" not in said


def test_a_broken_off_compaction_is_told_in_the_words_of_the_file() -> None:
    transcript = session()
    event = RecordedEvent(EventKind.COMPACTION_CANCELLED, 40, len(transcript.messages), "auto compaction cancelled")
    limit = RecordedEvent(EventKind.LIMIT_SET, 0, 0, "maxTokens 64,000", "maxTokens")
    said = line(dataclasses.replace(transcript, events=(event, limit)))
    assert 'it was broken off, and no reason is recorded, "auto compaction cancelled"' in said
    assert said.endswith("The file sets maxTokens 64,000.")


@pytest.mark.parametrize(("left", "is_told"), [(38_000, True), (40_000, False)])
def test_what_a_compaction_left_is_told(left: int, is_told: bool) -> None:
    """Nine tenths of the 45,000 before it are 40,500: 1,000 of overhead stand beside the summary."""
    build = Build(overhead=1_000)
    for _ in range(40):
        build.prompt(1_000)
        build.reply()
    build.compact(left)
    build.prompt(1)
    build.reply()
    assert (f"; {left + 1_000:,} after it" in line(build.done())) is is_told


@pytest.mark.parametrize(("tokens", "is_told"), [(4_250, True), (4_200, False)])
def test_the_tool_that_brought_half_of_a_peak_is_named(tokens: int, is_told: bool) -> None:
    """From 5,000 tokens on, by an estimate of 1.18 times the text, where nothing was compacted."""
    build = Build(overhead=100)
    build.prompt(10)
    build.reply(1, "c")
    build.result("c", tokens)
    build.reply(1)
    assert ("; nearly all of it Read, in 1 message" in line(build.done())) is is_told


@pytest.mark.parametrize(("usage", "is_told"), [(54_000, True), (56_000, False)])
def test_a_usage_that_adds_up_calls_without_one_is_no_size(usage: int, is_told: bool) -> None:
    """Three calls after one of 11,000, by estimate 12,292, 13,584 and 14,876: within 35% of their sum, 40,752."""
    build = Build(overhead=10_000)
    build.prompt(1_000)
    for _ in range(4):
        build.reply()
        build.prompt(1_000)
    build.compact()
    build.prompt()
    build.reply()
    first, *others, last, after = build.requests
    build.requests = [first, *(dataclasses.replace(r, usage=None) for r in others), last, after]
    build.requests[3] = dataclasses.replace(last, usage=Usage(usage, 0, 0, 100))
    build.compactions[0] = dataclasses.replace(build.compactions[0], tokens_before=None)
    assert ("the usage of 3 calls was added up to" in line(build.done())) is is_told


@pytest.mark.parametrize(("at", "is_passed"), [(45_000, True), (46_000, False)])
def test_a_threshold_that_the_file_sets_is_why(at: int, is_passed: bool) -> None:
    """The last answer and what came after it are 45,000 tokens."""
    build = Build(overhead=1_000)
    for _ in range(40):
        build.prompt(1_000)
        build.reply()
    build.compact(trigger="auto")
    build.prompt()
    build.reply()
    event = RecordedEvent(EventKind.LIMIT_SET, 0, 0, f"compact_token_threshold {at:,}", "compact_token_threshold")
    said = line(dataclasses.replace(build.done(), events=(event,)))
    assert (f"passed compact_token_threshold, {at:,}, which the file sets" in said) is is_passed


@pytest.mark.parametrize(("read", "is_told"), [(500, True), (501, False)])
def test_prompts_that_read_next_to_nothing_are_told(read: int, is_told: bool) -> None:
    """A twentieth of the 10,000 tokens of the prompt before, three times."""
    build = Build(overhead=9_950)
    build.prompt()
    for _ in range(4):
        build.reply(1)
    build.requests = [
        dataclasses.replace(one, usage=Usage(10_000 + one.index - read, read, 0, 1)) for one in build.requests
    ]
    assert (f"read at most {read:,} of up to 10,003 tokens" in line(build.done())) is is_told


@pytest.mark.parametrize(("text", "settings"), [
    ('{"historyCount": 20, "auto_reduce": true}', ["historyCount 20", "auto_reduce true"]),
    ('{"target_count": 3, "summary_tokens": 1000, "a": "\\"historyCount\\": 20"}', ["target_count 3"]),
    ('[{"historyCount": 1}, {"historyCount": 2}, {"historyCount": 3}]', []),
    ('{"compact_token_threshold": 60000}', ["compact_token_threshold 60,000"]),
])  # fmt: skip
def test_settings_of_compactions_are_found(text: str, settings: list[str]) -> None:
    """No more than two values, as a key of the file's own and not inside of a text."""
    source = Source(io.BytesIO(text.encode()), "x.json")
    (found,) = noted_limits((session(1),), source)
    assert [event.words for event in found.events] == settings
