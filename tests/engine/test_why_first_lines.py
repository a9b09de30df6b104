"""What leads a first line: the figures of a refusal, what ended the session, how often equal compactions came."""

from __future__ import annotations

import dataclasses
import io
import json
from typing import TYPE_CHECKING

import pytest

from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.recorded_events import EventKind, RecordedEvent
from sessions.engine.transcript.types import ProviderError, RecordedCompaction, Role, Usage
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import headline_of
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.sessions import Build
from tests.engine.verdict_files import Codex

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed
    from sessions.engine.why.headline import Headline

PADDED = "A gateway's words of some length before anything else, and so on: " * 2


def first(weighed: Weighed) -> Headline:
    """The first lines about a session."""
    return headline_of(weighed, verdicts_of(weighed))


def read(name: str, text: str) -> Headline:
    """The first lines about the only session of a file."""
    (transcript,) = read_transcripts(io.BytesIO(text.encode()), name).transcripts
    return first(weigh(transcript))


def died(words: str, *, n: int = 40, count: int = 1, of_compaction: bool = False, **figures: int) -> Headline:
    """A session that was refused after ``n`` requests."""
    build = Build(overhead=10_000 if n else 0).turns(n)
    if not n:
        build.prompt(20)
    at = len(build.requests), len(build.messages)
    error = ProviderError("context", *at, count=count, of_compaction=of_compaction, words=words, **figures)
    return first(weigh(dataclasses.replace(build.done(), errors=(error,))))


def test_the_figures_of_a_refusal_lead_and_what_was_before_them_follows() -> None:
    told = died(PADDED, tokens=242_328, limit=190_000)
    assert told.why.startswith("242,328 of 190,000 tokens; ")
    assert "the request before had " in told.why


def test_a_refusal_without_figures_is_told_by_what_was_answered() -> None:
    told = died("Your input exceeds the context window of this model.", count=3)
    assert told.what.startswith("Refused 3 times at request 40")
    assert " tokens" in told.why.split(";")[0]
    assert "answered " in told.why.split(";")[0]


def test_a_failed_compaction_of_next_to_nothing_is_no_matter_of_size() -> None:
    told = died("Failed to compact: context limit exceeded", n=0, of_compaction=True)
    assert (told.cause, told.certainty, told.change) == ("cannot_tell", "unknown", "")
    assert "as far as the file shows" in told.why


def test_an_error_without_a_reason_that_ends_a_session_leads() -> None:
    """Before the older compactions, though an empty answer follows the error."""
    build = Build(overhead=10_000).turns(40)
    build.compact(trigger="auto")
    build.turns(5, start=40)
    n, stop = len(build.requests), len(build.messages)
    build.add(Role.ASSISTANT)
    event = RecordedEvent(EventKind.ERROR, n, stop, "Provider request failed with HTTP 400", status=400, count=2)
    told = first(weigh(dataclasses.replace(build.done(), events=(event,))))
    assert told.what == "Failed 2 times at request 45"
    assert "HTTP 400" in told.why
    assert "answered " in told.why


def test_equal_compactions_are_counted() -> None:
    """Four that freed nothing are one sentence, with the figures of the first."""
    build = Build(overhead=2_000)
    for _ in range(4):
        build.turns(60)
        build.compact(summary_tokens=30_000, trigger="auto")
    build.turns(2)
    transcript = build.done()
    sizes = [
        dataclasses.replace(
            request, usage=Usage(input=min(12_000 + 2_000 * request.index, 110_000 + 100 * request.index), output=50)
        )
        for request in transcript.requests
    ]
    told = first(weigh(dataclasses.replace(transcript, requests=tuple(sizes))))
    assert told.cause == "summary_as_large"
    assert told.what.startswith("Auto-compacted 4 times in a row, first before request 60")


def test_compactions_without_an_answer_between_are_told_before_an_end() -> None:
    build = Build(overhead=10_000).turns(10)
    n, stop = len(build.requests), len(build.messages)
    made = tuple(RecordedCompaction(request=n, boundary=stop, preserved=tuple(range(stop))) for _ in range(20))
    event = RecordedEvent(EventKind.SESSION_END, n, stop, "Agent reached maximum iteration")
    told = first(weigh(dataclasses.replace(build.done(), compactions=made, events=(event,))))
    assert told.what == "Ended at request 10"
    assert "20 compactions in a row came before it" in told.why


@pytest.mark.parametrize(
    ("words", "figures"),
    [
        ("Context size increased from 207811 to 589777 during condensing", "207,811 tokens became 589,777: "),
        ("Condensing is not beneficial", ""),
    ],
)
def test_a_compaction_that_grew_says_both_sizes(words: str, figures: str) -> None:
    build = Build(overhead=10_000).turns(40)
    error = ProviderError("compaction", len(build.requests), len(build.messages), of_compaction=True, words=words)
    told = first(weigh(dataclasses.replace(build.done(), errors=(error,))))
    assert told.why.startswith(f"{figures}the summary was no smaller")


@pytest.mark.parametrize(("size", "is_less"), [(2_050, True), (5_330, True), (5_400, False)])
def test_a_server_that_counts_two_thirds_of_the_text_has_not_counted_all(size: int, is_less: bool) -> None:
    build = Build()
    build.prompt(8_000)
    build.reply(30)
    transcript = build.done()
    short = dataclasses.replace(transcript.requests[0], usage=Usage(input=size, output=30))
    told = first(weigh(dataclasses.replace(transcript, requests=(short,))))
    said = f"The server counted {size:,} tokens at the first request, its text has about 8,0"
    assert told.text.startswith(said) is is_less
    assert (told.certainty == "possible") is is_less
    assert first(weigh(transcript)).text.startswith("No compaction")


def test_codex_names_what_was_answered_and_its_own_window() -> None:
    session = Codex(window=121_600)
    session.prompt()
    session.until(112_000)
    words = "Error running remote compact task: Your input exceeds the context window of this model."
    session.line("event_msg", {"type": "error", "message": words, "codex_error_info": "other"})
    told = first(session.weighed())
    assert told.cause == "summary_request_too_long"
    assert "gpt-5.2 answered 105,890 tokens" in told.why
    assert "the window is 121,600" in told.why


def test_kimi_codes_cancelled_compactions_are_an_event() -> None:
    prompt = {"role": "user", "content": [{"type": "text", "text": "Go on."}], "toolCalls": []}
    lines = [
        {"type": "metadata", "protocol_version": "1.4"},
        {"type": "context.append_message", "message": prompt},
        *[{"type": "full_compaction.begin", "source": "manual"}, {"type": "full_compaction.cancel"}] * 2,
    ]
    told = read("wire.jsonl", "\n".join(json.dumps(line) for line in lines))
    assert told.what.startswith("Compaction failed 2 times")
    assert told.why == 'it was broken off, and no reason is recorded, "manual compaction cancelled"'


def test_the_error_of_the_outermost_span_ends_a_run() -> None:
    def span(number: int, parent: str, error: str, **attributes: str) -> dict[str, object]:
        held = [{"key": key.replace("__", "."), "value": {"stringValue": text}} for key, text in attributes.items()]
        status = {"code": 2, "message": error} if error else {}
        times = {"startTimeUnixNano": str(1_781_168_400_000_000_000 + number)}
        facts = {"traceId": "t", "spanId": str(number), "parentSpanId": parent, "name": "x"}
        return facts | times | {"attributes": held, "status": status}

    said = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Go on."}]}])
    back = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Done."}]}])
    error = "UsageLimitExceeded: Exceeded the input_tokens_limit of 500000 (input_tokens=517132)"
    call = {"gen_ai__operation__name": "chat", "gen_ai__input__messages": said, "gen_ai__output__messages": back}
    spans = [span(2, "1", "", **call), span(1, "", error, gen_ai__operation__name="invoke_agent")]
    told = read("spans.json", json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    assert told.what == "Ended at request 1"
    assert told.why.startswith("517,132 of 500,000 tokens: the run's own limit on added-up usage was met")


def test_aider_says_that_a_token_limit_was_hit() -> None:
    lines = [
        "# aider chat started at 2025-12-21 10:12:04", "", "#### Do it.", "", "I will begin.", "",
        "> Model m has hit a token limit!  ", "> Input tokens: ~116,546 of 1,048,576  ",
        "> Output tokens: ~2,317 of 8,192  ", "> Total tokens: ~118,863 of 1,048,576  ",
    ]  # fmt: skip
    told = read(".aider.chat.history.md", "\n".join(lines))
    assert told.what == "Ended at request 1"
    assert "2,317 of 8,192 tokens of output, 116,546 of 1,048,576 of input" in told.why
