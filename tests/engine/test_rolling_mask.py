"""Masking every turn against the prompt cache: the table of policies 14.2, out of the engine's own replay."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from sessions.engine.base.registry import plugins
from sessions.engine.policies.params import param
from sessions.engine.policies.policy import Gate, Policy
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Kind
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build

PREFIX, ACTION, OBSERVATION, PLACEHOLDER = 15_000, 200, 1_500, 12


@dataclass(frozen=True, slots=True)
class Params:
    """Observations left unmasked."""

    n: int = param(10, "Unmasked", "", "", 1, 1_000)


def observations(view):
    """Positions of tool results that are not masked yet."""
    return [p for p, i in enumerate(view.items) if not i.edited and i.message.blocks[0].kind is Kind.TOOL_RESULT]


def gate(params, view):
    """More than n unmasked."""
    count = len(observations(view))
    return Gate(count > params.n, "observations", count, params.n, ">", "observations")


def edit(params, view):
    """All but the last n become a placeholder."""
    items = list(view.items)
    for position in observations(view)[: -params.n]:
        old = items[position]
        block = replace(old.message.blocks[0], n_tokens=PLACEHOLDER)
        message = replace(old.message, blocks=(block,))
        items[position] = replace(old, message=message, tokens=PLACEHOLDER, edited=True)
    return items


MASK = Policy("test_mask", "", "", "", Params, gate, edit, summary_calls=False)


@pytest.fixture(autouse=True)
def policies(monkeypatch):
    """The mask under its name."""
    monkeypatch.setitem(plugins("policies"), "test_mask", MASK)


@pytest.fixture(scope="module")
def weighed():
    """300 turns of an action of 200 tokens and an observation of 1,500 after a prefix of 15,000."""
    session = Build(overhead=PREFIX)
    for turn in range(301):
        session.reply(ACTION, f"c{turn}")
        session.result(f"c{turn}", OBSERVATION)
    return weigh(session.done())


def input_costs(result):
    """Input cost of every request in tokens at the base price: read 0.1, written 1.25."""
    return [0.1 * cached + 1.25 * (tokens - cached) for tokens, cached in zip(*result.sent, strict=True)]


def test_raw_and_masked_steps(weighed):
    """Step 60 and step 100, cached and not."""
    raw, masked = replay(weighed, "none"), replay(weighed, "test_mask")
    assert input_costs(raw)[60] == pytest.approx(13_700, abs=50)
    assert input_costs(raw)[100] == pytest.approx(20_500, abs=50)
    assert input_costs(masked)[60] == pytest.approx(23_800, abs=50)
    assert input_costs(masked)[100] == pytest.approx(24_700, abs=50)
    assert raw.sent.tokens[60] == pytest.approx(117_000, abs=50)
    assert masked.sent.tokens[60] == pytest.approx(42_600, abs=50)


@pytest.mark.parametrize(("n", "step"), [(5, 58), (10, 129), (20, 270)])
def test_crossover(weighed, n, step):
    """The first step at which a masked request is cheaper than a raw one."""
    raw, masked = (input_costs(r) for r in (replay(weighed, "none"), replay(weighed, "test_mask", params={"n": n})))
    assert next(k for k in range(n + 1, 300) if masked[k] < raw[k]) == step
