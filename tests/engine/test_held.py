"""The window at a request: recorded, the model's, disproved by evidence; a change of model counts from there on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.base.registry import get
from sessions.engine.costs.cost import totals
from sessions.engine.replays.replay import replay
from sessions.engine.sweeps.sweep import grid, read_over, sweep
from sessions.engine.transcript.types import ProviderError
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.sizes import message_sizes
from tests.engine.sessions import Build, image


def up_to(context: int, model: str = "some-new-model"):
    """Two requests; the second is sent with exactly ``context`` tokens."""
    session = Build(overhead=10_000, model=model)
    session.prompt(1_000)
    session.reply(100, "c0")
    session.result("c0", context - 11_100)
    session.reply(100)
    return session.done()


@pytest.mark.parametrize(
    ("model", "context", "window", "source"),
    [
        ("some-new-model", 200_000, 200_000, "default"),
        ("some-new-model", 200_001, 256_000, "answer"),
        ("some-new-model", 256_000, 256_000, "answer"),
        ("some-new-model", 256_001, 272_000, "answer"),
        ("some-new-model", 1_000_001, 200_000, "default"),
        ("gpt-4o", 128_000, 128_000, "model"),
        ("gpt-4o", 128_001, 200_000, "answer"),
        ("claude-opus-4-5", 200_001, 256_000, "answer"),
        ("claude-sonnet-4-5", 200_001, 1_000_000, "model, long window"),
    ],
)
def test_a_measured_context_disproves_a_window_that_was_assumed(model, context, window, source):
    """Replay-semantics 4: at it and one above; what no usual window holds was counted wrongly."""
    weighed = weigh(up_to(context, model))
    assert (weighed.window, weighed.window_source) == (window, source)
    said = [w for w in replay(weighed, "none").warnings if "answer" in w]
    assert bool(said) is (source == "answer")


def test_a_recorded_window_stands_against_everything():
    weighed = weigh(replace(up_to(250_000), window=150_000))
    assert (weighed.window, weighed.window_source) == (150_000, "recorded")


@pytest.mark.parametrize(
    ("model", "limit", "window", "source"),
    [
        ("some-new-model", 131_072, 131_072, "refusal"),
        ("some-new-model", 400_000, 400_000, "refusal"),
        ("some-new-model", 99_999, 200_000, "default"),
        ("gpt-4o", 100_000, 100_000, "refusal"),
        ("gpt-4o", 272_000, 272_000, "refusal"),
        ("claude-sonnet-4-5", 1_000_000, 1_000_000, "refusal"),
    ],
)
def test_a_limit_that_the_provider_named_is_evidence(model, limit, window, source):
    """Of a model that is known too; an answer of 100,000 tokens stands against less."""
    refused = ProviderError("context", 1, 3, tokens=limit + 1, limit=limit)
    weighed = weigh(replace(up_to(100_000, model), errors=(refused,)))
    assert (weighed.window, weighed.window_source) == (window, source)
    body = replace(refused, kind="body")
    assert weigh(replace(up_to(100_000, model), errors=(body,))).window_source in {"default", "model"}


def switched(first: str, then: str, *, at: int = 2, window: int | None = None):
    """Four requests of about 120,000 tokens; from request ``at`` on they go to another model."""
    session = Build(overhead=10_000, model=first)
    session.prompt(110_000)
    for number in range(4):
        session.model = then if number >= at else first
        session.reply(100, f"c{number}")
        session.result(f"c{number}", 100)
    return replace(session.done(), model=first, window=window)


def test_a_change_of_model_changes_the_window_from_that_request_on():
    """128,000 of gpt-4o and 200,000 of Claude: the gate of each request is its own model's."""
    weighed = weigh(switched("claude-opus-4-5", "gpt-4o"))
    assert [held.window for held in weighed.held] == [200_000, 200_000, 128_000, 128_000]
    for base in ("full", "recorded"):
        made = replay(weighed, "parametric", params={"share": 90, "tokens": "none"}, base=base)
        assert [gate.threshold for gate in made.gates] == [180_000, 180_000, 115_200, 115_200]
        assert [gate.fires for gate in made.gates] == [False, False, True, True]
    said = "request 2: the model changes from claude-opus-4-5 to gpt-4o; window 128,000 tokens from there on"
    assert said in made.warnings
    given = replay(weighed, "parametric", params={"share": 90, "tokens": "none"}, window=150_000)
    assert {gate.threshold for gate in given.gates} == {135_000}


def test_a_sweep_and_its_fit_follow_the_change_too():
    weighed = weigh(switched("claude-opus-4-5", "gpt-4o"))
    over = read_over("share=100:100:1")
    axes, settings = grid(["parametric"], [over], params={"tokens": "none"})
    (row,) = sweep(weighed, settings, axes).rows
    made = replay(weighed, "parametric", params={"share": 100, "tokens": "none"})
    assert row.totals == totals(made)
    axes, settings = grid(["none"], [read_over("window=125000:125000:1")])
    assert sweep(weighed, settings, axes).rows[0].fits
    assert not replay(weigh(switched("claude-opus-4-5", "gpt-4o", window=100_000)), "none").fits
    assert replay(weighed, "none").fits


def test_a_recorded_window_is_that_of_the_model_used_last():
    """The one before takes no more without evidence: the client bounds both."""
    weighed = weigh(switched("gpt-5.4", "gpt-4o", window=125_000))
    assert [held.window for held in weighed.held] == [125_000] * 4
    weighed = weigh(switched("gpt-4o", "gpt-5.4", window=250_000))
    assert [held.window for held in weighed.held] == [128_000, 128_000, 250_000, 250_000]


def test_pictures_weigh_by_the_rule_of_the_model_they_came_under():
    """A 2,000 px square: high resolution from Opus 4.7 on, resized before it."""
    session = Build(overhead=10_000, model="claude-opus-4-5")
    for number, model in enumerate(("claude-opus-4-5", "claude-opus-4-8")):
        session.model = model
        session.prompt(10)
        session.add(session.messages[0].role, image(4_000, 2_000))
        session.reply(100, f"c{number}")
    weighed = weigh(replace(session.done(), model="claude-opus-4-5"))
    sizes = message_sizes(weighed, get("estimators", "tiktoken_o200k"))
    first, second = (sizes[m.index] for m in weighed.transcript.messages if any(b.media for b in m.blocks))
    assert second > first > 0
