"""A replay with summaries of a model: what is wanted is told, written once, and then the replay asks nobody."""

from __future__ import annotations

import io

import pytest

from sessions.adapters import anthropic_client
from sessions.adapters.anthropic_client import Access
from sessions.adapters.calls import CallFailed
from sessions.engine.base.errors import BadParameter
from sessions.engine.policies.policy import Draft, Item
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.reading.texts import Texts
from sessions.engine.replays.replay import Replay, replay
from sessions.engine.replays.summaries import Brief, drafted_message
from sessions.engine.tokens.tokenizer import count
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.models import ModelAnswer
from sessions.services import model_summaries
from sessions.services.model_summaries import SummaryWriter, Wanted, conversation, estimate
from tests.engine.claude_lines import claude_session
from tests.fake_anthropic import Answer, FakeAnthropic, stream

pytestmark = pytest.mark.django_db
MODEL = "claude-sonnet-5-5"
DATA = claude_session(n_turns=100).encode()
PARSED = read_transcripts(io.BytesIO(DATA), "session.jsonl")
WEIGHED = weigh(PARSED.transcripts[0])


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anthropic_client, "BACKOFF_SECONDS", 0.01)


def run(writer: SummaryWriter | None, *, has_texts: bool = True) -> Replay:
    texts = Texts(lambda: io.BytesIO(DATA), PARSED.format) if has_texts else None
    return replay(
        WEIGHED, "regenerative_full", summarizer="anthropic", window=40_000, texts=texts, writer=writer
    )  # fmt: skip


def access(api: FakeAnthropic) -> Access:
    return Access(f"sk-{api.base_url}", api.base_url)


def test_what_is_not_written_yet_is_wanted() -> None:
    looking = SummaryWriter(MODEL)
    made = run(looking)
    assert made.events
    assert [wanted.request for wanted in looking.wanted] == [event.request for event in made.events]
    assert all(wanted.input_tokens > 700 and wanted.output_tokens == 4_000 for wanted in looking.wanted)
    assert made.events[0].summary_source == "stub of 4,000 tokens: the model has not written this summary yet"


def test_what_is_written_is_asked_for_once(fake_anthropic: FakeAnthropic) -> None:
    fake_anthropic.text = "## Current work\nThe pay button."
    heard: list[tuple[int, int]] = []
    writing = SummaryWriter(MODEL, access=access(fake_anthropic), on_progress=lambda *now: heard.append(now))
    first = run(writing)
    n = len(first.events)
    assert (writing.n_written, writing.n_found, len(writing.wanted)) == (n, 0, 0)
    assert heard[-1] == (n, 0)
    assert {event.summary_source for event in first.events} == {f"written by {MODEL}"}
    assert fake_anthropic.text in first.written.values()
    summary = next(item for item in first.events[0].after if item.inserted and item.message.summary)
    assert summary.tokens == round(count(fake_anthropic.text).n_tokens * WEIGHED.ratio)

    looking = SummaryWriter(MODEL)
    again = run(looking)
    assert (looking.wanted, looking.n_found) == ([], n)
    assert again.context_tokens == first.context_tokens
    assert len(fake_anthropic.requests) == n
    assert ModelAnswer.objects.filter(kind="summary", model=MODEL).count() == n


def test_the_model_reads_what_was_dropped(fake_anthropic: FakeAnthropic) -> None:
    run(SummaryWriter(MODEL, access=access(fake_anthropic)))
    said = fake_anthropic.requests[0].body["messages"][0]["content"]
    assert said.startswith("<conversation>\n<message index=")
    assert "[tool call: " in said
    assert "## Session Intent" in said


@pytest.mark.parametrize("change", [{"model": "claude-haiku-5-5"}, {"instructions": "Keep the ports."}])
def test_another_model_or_prompt_is_asked_anew(fake_anthropic: FakeAnthropic, change: dict[str, str]) -> None:
    run(SummaryWriter(MODEL, access=access(fake_anthropic)))
    looking = SummaryWriter(**({"model": MODEL} | change))
    run(looking)
    assert looking.n_found == 0
    assert looking.wanted


def test_a_failed_call_ends_the_writing_and_keeps_what_was_written(fake_anthropic: FakeAnthropic) -> None:
    fake_anthropic.then(stream("first"), Answer(401))
    with pytest.raises(CallFailed, match="refuses this key"):
        run(SummaryWriter(MODEL, access=access(fake_anthropic)))
    looking = SummaryWriter(MODEL)
    run(looking)
    assert looking.n_found == 1


def test_a_summary_whose_text_is_gone_is_wanted_again(
    fake_anthropic: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(SummaryWriter(MODEL, access=access(fake_anthropic)))

    def gone(sha256: str) -> None:
        raise FileNotFoundError(sha256)

    monkeypatch.setattr(model_summaries.storage, "open_blob", gone)
    looking = SummaryWriter(MODEL)
    run(looking)
    assert looking.wanted


def test_without_a_writer_or_texts_the_engine_says_so() -> None:
    with pytest.raises(BadParameter, match="takes its summaries from a model"):
        run(None)
    with pytest.raises(BadParameter, match="takes its summaries from a model"):
        run(SummaryWriter(MODEL), has_texts=False)


def brief(mode: str) -> Brief:
    old = drafted_message(Draft("old", 5, "old summary", summary=True), "e0.0", 1.0)
    kept = WEIGHED.transcript.messages[0]
    items = [Item("e0.0", old, 5, 5, -1, inserted=True), Item(kept.id, kept, 5, 5, 0)]
    texts = Texts(lambda: io.BytesIO(DATA), PARSED.format)
    return Brief(WEIGHED, 3, items, None, mode, "old summary", 1, texts, written={"e0.0": "old summary"})


@pytest.mark.parametrize(
    ("mode", "reads_it", "carries_it", "heading"),
    [("fresh", True, False, "## Session Intent"), ("opaque", True, False, "one dense block"),
     ("merge", False, True, "## Session Intent"), ("nine", True, False, "## All User Messages")],
)  # fmt: skip
def test_an_earlier_summary_goes_where_the_mode_wants_it(
    fake_anthropic: FakeAnthropic, mode: str, reads_it: bool, carries_it: bool, heading: str
) -> None:
    said = list(conversation(brief(mode)))
    assert [one.index for one in said] == ([0, 1] if reads_it else [1])
    SummaryWriter(MODEL, access=access(fake_anthropic))(brief(mode))
    sent = fake_anthropic.requests[0].body["messages"][0]["content"]
    assert ("<previous_summary>\nold summary" in sent) is carries_it
    assert heading in sent


def test_an_estimate_in_words() -> None:
    """Sonnet 5.5 at $2 in and $10 out: 300,000 × 2 + 8,000 × 10 = $0.68."""
    wanted = (Wanted(3, 100_000, 4_000), Wanted(9, 200_000, 4_000))
    found = estimate(MODEL, wanted)
    assert found.dollars == pytest.approx(0.68)
    assert found.words == (
        "2 calls to claude-sonnet-5-5, about 300,000 tokens in and 8,000 out, about $0.68 at list prices"
    )
    assert estimate("claude-unheard-of", wanted).dollars is None
