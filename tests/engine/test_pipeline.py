"""Pipelines of layers: each asked once, each reported; edits in place equal whole new lists; failures are counted."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.base import registry
from sessions.engine.base.errors import BadParameter
from sessions.engine.costs.cost import totals
from sessions.engine.policies.edits import clear_results, cut_text, drop_media, drop_thinking, result_tokens
from sessions.engine.policies.params import param
from sessions.engine.policies.policy import EditFailed, Gate, Layer, Policy, SummaryFailed
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Kind, Role
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build, image, long_session, text
from tests.engine.test_policy_laws import transcripts
from tests.every import examples

MARK = "[cleared]"


@dataclass(frozen=True, slots=True)
class Params:
    keep: int = param(3, "Keep", "", "", 0, 100)
    limit: int = param(30_000, "Limit", "", "", 0, 10_000_000)
    whole: str = param("off", "Whole lists", choices=("on", "off"))


def mask_gate(params, view):
    waiting = [p for p in view.results if _open(view, view.items[p])]
    return Gate(len(waiting) > params.keep, "results not cleared", len(waiting), params.keep, ">", "results")


def _open(view, item):
    return not item.message.result_ids() <= view.state.cleared


def mask(params, view):
    waiting = [p for p in view.results if _open(view, view.items[p])]
    stale = waiting[: len(waiting) - params.keep] if params.keep else waiting
    patch = {p: clear_results(view, view.items[p], view.items[p].message.result_ids(), MARK) for p in stale}
    if params.whole == "on":
        return [patch.get(p, item) for p, item in enumerate(view.items)]
    return patch


def size_gate(params, view):
    return Gate(view.context > params.limit, "context", view.context, params.limit, ">", "tokens")


def summarise(params, view):
    del params
    return [*view.summarize(view.items[:-1]), view.items[-1]]


def summarise_or_drop(params, view):
    try:
        return summarise(params, view)
    except SummaryFailed:
        return view.items[-1:]


def fail(params, view):
    raise EditFailed("nothing to mask")


def policy(name, **facts):
    return Policy(name, name, "a test", "", Params, **facts)


MASK = Layer("mask", "Mask", mask_gate, mask, cheap=True)
AUTO = Layer("auto", "Summarise", size_gate, summarise, drawn=True)


@pytest.fixture(autouse=True)
def policies(monkeypatch):
    plugins = dict(registry.plugins("policies"))
    plugins["mask"] = policy("mask", gate=mask_gate, edit=mask)
    plugins["layers"] = policy("layers", layers=(MASK, AUTO))
    failing = Layer("mask", "Mask", mask_gate, fail, cheap=True)
    plugins["failing"] = policy("failing", layers=(failing, AUTO))
    plugins["fallback"] = policy("fallback", gate=size_gate, edit=summarise_or_drop)
    monkeypatch.setattr(registry, "plugins", lambda group: plugins if group == "policies" else REAL(group))


REAL = registry.plugins


@examples(60)
@given(transcript=transcripts(), keep=st.integers(0, 6))
def test_an_edit_in_place_is_the_same_as_a_new_list(transcript, keep):
    weighed = weigh(transcript)
    by_patch = replay(weighed, "mask", params={"keep": keep})
    by_list = replay(weighed, "mask", params={"keep": keep, "whole": "on"})
    assert by_patch.context_tokens == by_list.context_tokens
    assert by_patch.sent.cached == by_list.sent.cached
    assert [(e.before, e.after) for e in by_patch.events] == [(e.before, e.after) for e in by_list.events]
    facts = ("kept", "edited", "dropped", "inserted", "first_changed_message", "before_tokens", "after_tokens")
    for one, other in zip(by_patch.events, by_list.events, strict=True):
        assert [getattr(one, f) for f in facts] == [getattr(other, f) for f in facts]
        changes = [event.history.changes_at(event.index, event.before) for event in (one, other)]
        assert changes[0] == changes[1]
        assert (len(one.before), len(one.after)) == (one.n_before, one.n_after)


@examples(60)
@given(transcript=transcripts(), limit=st.integers(1_000, 60_000), keep=st.integers(0, 6))
def test_layers_add_up_to_the_event(transcript, limit, keep):
    result = replay(weigh(transcript), "layers", params={"keep": keep, "limit": limit}, summarizer="stub:300")
    for event in result.events:
        assert sum(layer.freed_tokens for layer in event.layers) == event.before_tokens - event.after_tokens
        assert all(layer.freed_tokens > 0 and layer.gate.fires for layer in event.layers)
        assert event.after_tokens == result.context_tokens[event.request]
        assert (len(event.before), len(event.after)) == (event.n_before, event.n_after)
        assert event.summary_calls == sum(layer.name == "auto" for layer in event.layers)


def test_a_long_rolling_mask_holds_changes_not_lists():
    """400 results: 397 events of one change each; the history holds every message and every edit once."""
    result = replay(weigh(long_session(400)), "mask")
    assert len(result.events) == 397
    assert {event.edited for event in result.events} == {1}
    history = result.events[0].history
    assert sum(len(what) for _, what in history.moves) == 802 + 397 - 1, "every message once, every edit once"
    last = result.events[-1]
    assert sum(item.edited for item in last.after) == 397
    assert last.before[-1].id == result.events[-1].after[-1].id == "m800"


def test_the_gate_drawn_is_the_marked_layers():
    result = replay(weigh(long_session(60)), "layers", params={"limit": 15_000})
    assert {gate.unit for gate in result.gates if gate} == {"tokens"}


def test_injected_failures_trip_the_breaker_and_are_billed():
    """Every call fails: three attempts, then silence; cheap layers go on."""
    result = replay(weigh(long_session(60, usage=False)), "layers", params={"limit": 5_000, "keep": 1}, fail="always")
    assert [a.layer for a in result.attempts] == ["auto"] * 3
    assert result.attempts[0].reason == "summary call 1 failed (injected)"
    assert any("breaker: 3 attempts in a row failed" in w for w in result.warnings)
    assert all(layer.name == "mask" for event in result.events for layer in event.layers)
    assert len(result.events) > 50
    assert totals(result).summary_calls == 3


def test_failures_of_a_cheap_layer_stop_nobody():
    """It fails at every request: each attempt is told of, the breaker counts none, and the summary comes."""
    result = replay(weigh(long_session(60)), "failing", params={"limit": 40_000})
    failed = [attempt for attempt in result.attempts if attempt.layer == "mask"]
    assert len(failed) > 30
    assert {attempt.reason for attempt in failed} == {"nothing to mask"}
    assert not any("breaker" in warning for warning in result.warnings)
    assert any(layer.name == "auto" for event in result.events for layer in event.layers)


def test_every_second_call_fails_and_success_resets_the_count():
    result = replay(weigh(long_session(300)), "layers", params={"limit": 20_000, "keep": 100}, fail="every:2")
    summarised = [e for e in result.events if any(layer.name == "auto" for layer in e.layers)]
    assert len(summarised) > 3
    assert len(result.attempts) >= len(summarised) - 1
    assert not any("breaker" in w for w in result.warnings)


def test_a_policy_with_a_fallback_catches_the_failure():
    result = replay(weigh(long_session(60)), "fallback", params={"limit": 30_000}, fail="always")
    assert not result.attempts
    assert result.events
    assert all(event.n_after == 1 and event.inserted == 0 for event in result.events)


@pytest.mark.parametrize("word", ["sometimes", "every:0", "every:x", "always:2", "first:-1"])
def test_a_failure_that_cannot_be_read(word):
    with pytest.raises(BadParameter, match="always, every:N or first:N"):
        replay(weigh(long_session(5)), "layers", fail=word)


class View:
    """What edits need of a view."""

    def __init__(self, weighed):
        from sessions.engine.replays.summaries import Summaries

        self.tools = Summaries(weighed, "stub:0", registry.get("estimators", "wire_bytes"))


def one_message(*blocks, role=Role.USER):
    from sessions.engine.replays.context import message_items

    build = Build(usage=False)
    build.prompt()
    build.add(role, *blocks)
    weighed = weigh(build.done())
    return View(weighed), message_items(weighed, registry.get("estimators", "wire_bytes"))[1]


def test_clearing_a_result_weighs_its_marker():
    """[cleared] is four o200k tokens and nine bytes; × 1.18 (the family's prior) + 12 for the result's wrapper."""
    view, item = one_message(text(1_000, Kind.TOOL_RESULT, call_id="a", parts=(image(40_000, 500),)))
    cleared = clear_results(view, item, {"a"}, MARK)
    assert cleared.edited
    assert cleared.message.blocks[0].parts == ()
    assert cleared.message.blocks[0].n_tokens == 4
    assert cleared.tokens == round(4 * 1.18) + 12
    assert cleared.size == len("a") + len(MARK)
    assert clear_results(view, item, {"b"}, MARK) is item


def test_cutting_keeps_a_share():
    """400 of 4,000 characters are a tenth of 1,000 tokens, plus the four of the marker."""
    block = cut_text(text(1_000, Kind.TOOL_RESULT), 400, MARK)
    assert (block.n_chars, block.n_tokens, block.n_bytes) == (409, 104, 409)


def test_media_and_thinking_leave():
    view, item = one_message(text(10), image(40_000, 500))
    assert [b.kind for b in drop_media(view, item, lambda _: MARK).message.blocks] == [Kind.TEXT, Kind.TEXT]
    view, item = one_message(text(10), text(90, Kind.THINKING), role=Role.ASSISTANT)
    assert drop_thinking(view, item).tokens == round(10 * 1.18)
    assert result_tokens(item, item.message.blocks[1]) == item.tokens * 90 // 100


def test_only_the_results_that_changed_count_as_cleared():
    """Two results in one message, one longer than 120 characters: the other may still be cleared later."""
    from sessions.engine.replays.summaries import Summaries
    from sessions.engine.replays.walk import Walk

    build = Build(usage=False)
    build.prompt()
    build.reply(50, "a", "b")
    build.add(Role.USER, text(1_000, Kind.TOOL_RESULT, call_id="a"), text(10, Kind.TOOL_RESULT, call_id="b"))
    build.turns(6)
    build.reply()
    weighed = weigh(build.done())
    chosen = registry.get("policies", "layered_v1")
    measure = registry.get("estimators", chosen.estimator)
    walk = Walk(
        weighed, chosen, chosen.params(), measure, Summaries(weighed, "stub:0", measure), base="full", window=None
    )
    walk.run()
    assert "a" in walk.state.cleared
    assert "b" not in walk.state.cleared
