"""Windows by client and seller: at, under and over each boundary; a refusal's limit; what the file records."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sessions.engine.models.model_info import OwnModel, model_info, offered, use_own_models
from sessions.engine.packing.columns import dump, load
from sessions.engine.packing.pack import pack, unpack
from sessions.engine.reading.formats._cline_ui import sold_by
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.types import ProviderError, Request, Transcript
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.context_windows import source_words
from sessions.engine.weigh.calibration.kept import CLASSES
from sessions.engine.why.headline import headline
from sessions.engine.why.recorded import compare
from sessions.engine.why.shared import own_threshold
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.sessions import Build
from tests.engine.verdict_files import Claude, Pi

JULY_12, JULY_13, MAY_27, MAY_28, SEPTEMBER_23 = 1783900799, 1783900800, 1779926399, 1779926400, 1790121600


def window(model: str, *, format: str = "pi", provider: str = "", at: float | None = None, client: str = ""):
    """The window that a client, a seller and a day make of a model, with its source."""
    requests = (Request(0, None, model=model, provider=provider),)
    weighed = weigh(Transcript("s", format, (), requests, model=model, client=client, started_at=at))
    return weighed.window, weighed.window_source


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-sonnet-5", (1_000_000, "model")),
        ("claude-fable-5", (1_000_000, "model")),
        ("claude-opus-5", (1_000_000, "model")),
        ("us.anthropic.claude-opus-4-8-v1:0", (1_000_000, "model")),
        ("claude-opus-4-7", (200_000, "model")),
        ("claude-opus-4-7[1m]", (1_000_000, "model")),
        ("claude-opus-9", (200_000, "client")),
        ("gpt-5.5", (200_000, "client")),
        ("deepseek-v4", (200_000, "client")),
        ("deepseek-v4[1m]", (1_000_000, "client")),
    ],
)
def test_claude_code_knows_its_own_models_alone(model, expected):
    assert window(model, format="claude_code") == expected
    assert window(model, format="openai_chat", client="Claude Code 2.1.217") == expected


@pytest.mark.parametrize("model", ["claude-sonnet-5", "claude-opus-4-8"])
def test_a_native_long_window_is_no_missing_compaction(model):
    """192,434 tokens without a compaction were told as "compaction was off"; its threshold is 967,000."""
    session = Claude(model)
    session.prompt()
    weighed = session.until(196_000).weighed()
    assert own_threshold(weighed.transcript, weighed.window, weighed.model) == 967_000
    assert not verdicts_of(weighed)
    assert compare(weighed).n_false_alarms == 0
    assert headline(weighed, ()).startswith(
        "No compaction. Peak 192,434 tokens, 19% of the model's window of 1,000,000, 191,931 of them "
        "read from the cache; "
    )


@pytest.mark.parametrize(
    ("model", "provider", "format", "at", "expected"),
    [
        ("gpt-5.6-sol", "openai-codex", "pi", JULY_12, (372_000, "client")),
        ("gpt-5.6-sol", "openai-codex", "pi", JULY_13, (272_000, "client")),
        ("gpt-5.6-sol", "openai-codex", "pi", None, (272_000, "client")),
        ("gpt-5.5", "openai-codex", "opencode", JULY_12, (272_000, "client")),
        ("gpt-5.5", "openai-codex", "cline", JULY_12, (258_400, "client")),
        ("gpt-5.5", "openai", "pi", JULY_12, (1_050_000, "model")),
        ("claude-sonnet-4.6", "github-copilot", "opencode", MAY_27, (128_000, "client")),
        ("claude-sonnet-4.6", "github-copilot", "opencode", MAY_28, (168_000, "client")),
        ("claude-sonnet-4.6", "github-copilot", "pi", SEPTEMBER_23, (200_000, "client")),
        ("gpt-5.4", "github-copilot", "opencode", MAY_27, (272_000, "client")),
        ("claude-opus-4.8", "", "copilot_cli", MAY_28, (200_000, "client")),
        ("some-model", "github-copilot", "pi", MAY_28, (200_000, "default")),
        ("Gemini 3.1 Pro (High)", "", "antigravity", None, (1_048_576, "model")),
        ("Claude Opus 4.6 (Thinking)", "", "antigravity", None, (200_000, "model")),
    ],
)
def test_a_seller_grants_what_its_table_says_on_that_day(model, provider, format, at, expected):
    assert window(model, format=format, provider=provider, at=at) == expected


def test_the_source_of_a_row_is_told():
    session = Build(model="gpt-5.5")
    session.prompt(10)
    session.reply(10)
    transcript = replace(session.done(), format="claude_code")
    assert "200,000" in source_words(transcript, "client")
    assert source_words(transcript, "model") == "the model's"


def opencode(context: int, tmp_path):
    """A session of opencode on github-copilot in March 2026 that reports ``context`` tokens."""
    sold = {"modelID": "claude-sonnet-4.6", "providerID": "github-copilot"}
    time = {"created": 1772900000000, "completed": 1772900009000}
    tokens = {"input": context, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    said = [
        {"info": {"id": "m0", "role": "user", "time": time}, "parts": [{"type": "text", "text": "Look."}]},
        {"info": {"id": "m1", "role": "assistant", "time": time, "tokens": tokens, **sold},
         "parts": [{"type": "text", "text": "Seen."}]},
    ]  # fmt: skip
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"info": {"id": "s", "version": "1.4.3"}, "messages": said}))
    return path


def test_opencode_compacts_from_copilots_input_limit_less_the_reserve(tmp_path):
    """128,000 − 20,000, for the limit is on the input alone; the provider survives being stored."""
    path = opencode(107_999, tmp_path)
    with path.open("rb") as file:
        (transcript,) = read_transcripts(file, path.name).transcripts
    assert [r.provider for r in transcript.requests] == ["github-copilot"]
    assert [r.provider for r in unpack(pack(transcript)).requests] == ["github-copilot"]
    weighed = weigh(transcript)
    assert (weighed.window, weighed.window_source) == (128_000, "client")
    assert own_threshold(transcript, weighed.window, weighed.model) == 108_000
    assert load(dump(weighed.model, CLASSES), CLASSES) == weighed.model
    assert load(dump(model_info("gpt-4o"), CLASSES), CLASSES) == model_info("gpt-4o")


@pytest.mark.parametrize(("answered", "expected"), [(99_999, 100_000), (100_000, 100_000), (100_001, 128_000)])
def test_a_refusal_names_the_window_unless_more_was_answered(answered, expected):
    session = Build(overhead=10_000, model="gpt-4o")
    session.prompt(1_000)
    session.reply(100, "c0")
    session.result("c0", answered - 11_100)
    session.reply(100)
    refused = ProviderError("context", 2, len(session.done().messages), limit=100_000)
    assert weigh(replace(session.done(), errors=(refused,))).window == expected


def test_a_refusal_of_one_model_says_nothing_of_another():
    session = Build(overhead=10_000, model="gpt-4o")
    session.prompt(1_000)
    session.reply(100)
    session.model = "gpt-4.1"
    session.prompt(100)
    session.reply(100)
    refused = ProviderError("context", 1, 2, limit=50_000)
    weighed = weigh(replace(session.done(), model="gpt-4o", errors=(refused,)))
    assert [held.window for held in weighed.held] == [128_000, 50_000]


def test_pi_after_a_refusal_is_no_missed_compaction():
    build = Pi()
    build.until(120_000)
    build.refuse("Your input exceeds the context window of this model.")
    build.compact(120_000)
    build.until(60_000)
    (one,) = compare(build.weighed()).compared
    assert one.outcome == "after a refusal"


def test_the_users_own_table_stands_above_a_sellers():
    requests = (Request(0, None, model="gpt-5.5", provider="openai-codex"),)
    transcript = Transcript("s", "pi", (), requests, model="gpt-5.5")
    try:
        use_own_models({"gpt-5.5": OwnModel(400_000)})
        assert offered(transcript, "gpt-5.5")[1] == ""
        assert weigh(transcript).window == 400_000
    finally:
        use_own_models({})


@pytest.mark.parametrize(("written", "expected"), [(65_536, (65_536, "recorded")), (None, (128_000, "model"))])
def test_goose_records_its_limit(written, expected, tmp_path):
    said = [{"role": "user", "created": 1, "content": [{"type": "text", "text": "Look."}]}]
    settings = {"model_name": "gpt-4o", "context_limit": written}
    path = tmp_path / "goose.json"
    document = {"id": "g", "working_dir": "/w", "description": "", "message_count": 1, "conversation": said}
    path.write_text(json.dumps({**document, "model_config": settings}))
    with path.open("rb") as file:
        (transcript,) = read_transcripts(file, path.name).transcripts
    weighed = weigh(transcript)
    assert (weighed.window, weighed.window_source) == expected


def test_cline_names_who_sold_a_model():
    assert sold_by({"modelInfo": {"id": "gpt-5.5", "provider": "openai-codex"}}) == {
        "model": "gpt-5.5",
        "provider": "openai-codex",
    }
    assert sold_by({"modelInfo": {"modelId": "gpt-5.5", "providerId": "openai-codex"}})["provider"] == "openai-codex"
    assert sold_by({}) == {"model": "", "provider": ""}
