"""What Aider and Google ADK keep and drop of a short list, at and beside each of their figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.base import registry
from sessions.engine.policies import adk_compaction, aider
from sessions.engine.policies.params import build
from sessions.engine.policies.policy import LastUsage
from tests.engine.policies.listed import Desk, ids, lists, seen


def params_of(name, **given):
    return build(registry.get("policies", name).params, given)


# Aider (policies 11.5)
@pytest.mark.parametrize(
    ("window", "budget"),
    [(16_384, 1_024), (16_399, 1_024), (16_400, 1_025), (131_071, 8_191), (131_072, 8_192), (10**6, 8_192)],
)
def test_aider_s_budget_is_a_sixteenth(window, budget):
    assert aider.budget(params_of("aider"), window) == budget


@pytest.mark.parametrize(("text", "n"), [("u", 0), ("u a", 0), ("u a u", 2), ("a", 0), ("u a u a", 2)])
def test_aider_s_finished_turns_end_at_the_newest_prompt(text, n):
    assert aider.finished(lists(text)) == n


def test_aider_asks_at_a_prompt():
    params = params_of("aider", least=0)
    for size, fires in ((5, False), (6, True)):
        found = aider.gate(params, seen(f"u1 a{size} u9", window=96, newest_typed=True))
        assert (found.fires, found.measure, found.threshold) == (fires, size + 1, 6)
    found = aider.gate(params, seen("u1 a9 u9", window=96))
    assert (found.fires, found.measure) == (False, 0)


@pytest.mark.parametrize(
    ("text", "limit", "head"),
    [
        ("u1 a1 u1 a1 u1 a1 u1 a1", 8, 0),
        ("u1 a1 u1 a1 u1 a1 u1 a1", 6, 6),
        ("u1 a1 u1 a1 u1 a1 u1 a1", 7, 6),
        ("u1 a1 u1 a1 u1 a1 u1 a1", 4, 6),
        ("u1 a1 u1 a1 u1 a1 u1 a2", 4, 8),
        ("u1 u1 u1 u1 u1 u1", 4, 0),
        ("u1 a1 u1 a1 a1 u1 u1", 6, 5),
        ("u1 a1 u1 a1 u1 u1 u1", 6, 0),
        ("u1 a1 u1 a1:c r1:c u1 u1", 6, 5),
    ],
)
def test_aider_splits_under_half_of_its_budget(text, limit, head):
    """The tail is smaller than half, the head ends with a reply and has more than four messages."""
    assert aider.split(params_of("aider"), lists(text), limit) == head


@pytest.mark.parametrize(("size", "left"), [(3, "new Ok. 6 7 8"), (4, "new Ok. 8")])
def test_aider_summarises_all_where_the_rest_is_not_under_the_budget(size, left):
    """A summary of 3, "Ok." of 2 and a tail of 2 are 7, under 8; of 4 they are 8."""
    view = seen("s1 u1 a1 u1 a1 a2 u1 a1 u9", window=128, newest_typed=True, tools=Desk(summary=size))
    assert ids(aider.edit(params_of("aider", least=0), view)) == f"0 {left}"


# Google ADK (policies 11.14)
@pytest.mark.parametrize(
    ("text", "numbers"),
    [("u a u a", [0, 0, 1, 1]), ("a u a", [0, 0, 0]), ("u a:c r:c u", [0, 0, 0, 1]), ("u i u", [0, 0, 1])],
)
def test_adk_numbers_its_invocations(text, numbers):
    view = seen(text)
    assert list(adk_compaction.invocations(view).values()) == numbers
    view.items = [*view.items[2:], *(replace(item, id=f"n{item.id}") for item in lists("u a"))]
    assert list(adk_compaction.invocations(view).values()) == [*numbers, max(numbers) + 1, max(numbers) + 1]


@pytest.mark.parametrize(
    ("text", "retention", "n"),
    [
        ("u a u a", 4, 0),
        ("u a u a", 5, 0),
        ("u a u a", 3, 1),
        ("u a u a", 1, 3),
        ("u a:c r:c u", 1, 3),
        ("u a:c r:c u", 2, 1),
        ("r:c u u", 1, 2),
        ("u r:c", 1, 0),
        ("a:c r:c", 1, 0),
    ],
)
def test_adk_keeps_events_and_the_calls_of_their_results(text, retention, n):
    assert adk_compaction.split_index(lists(text), retention) == n


@pytest.mark.parametrize(
    ("text", "ignored", "n"),
    [
        ("", "", 0),
        ("u a", "", 2),
        ("u a:c", "", 1),
        ("u a:c r:c", "", 3),
        ("a:c,d r:c u", "", 0),
        ("a:c u", "c", 2),
        ("u a:c u", "d", 1),
    ],
)
def test_adk_summarises_no_open_call(text, ignored, n):
    assert adk_compaction.closed_prefix(lists(text), frozenset(ignored)) == n


@pytest.mark.parametrize(
    ("text", "n", "kept"),
    [
        ("u a u a", 4, "0 1 2 3"),
        ("u a u a:c u", 4, "0 1 2 3"),
        ("u a u a:c a", 4, "0 1 2"),
        ("u a:c u a", 3, "0 1 2"),
        ("a:c u a", 1, ""),
        ("u a:c u a r:c", 4, "0"),
        ("u a u a:c u r:c", 4, "0 1 2"),
        ("u a:c u a:d u", 2, "0 1"),
    ],
)
def test_adk_passes_over_calls_that_can_never_be_answered(text, n, kept):
    """Those of an earlier invocation without an answer anywhere."""
    view = seen(text)
    assert ids(adk_compaction.self_contained(view, view.items[:n])) == kept


@pytest.mark.parametrize(
    ("text", "retention", "expected"),
    [
        ("u a u a", 4, ""),
        ("u a u a", 3, "0"),
        ("u a u a", 0, "0 1 2 3"),
        ("s u a u a", 3, "1"),
        ("z u a u a", 4, ""),
        ("z u a u a", 3, "0 1"),
        ("z z u a", 1, "1 2"),
        ("a:c r:c", 1, ""),
    ],
)
def test_adk_summarises_events_by_tokens(text, retention, expected):
    """The last summary is read again, first."""
    params = params_of("adk_compaction", trigger="tokens", retention=retention)
    assert ids(adk_compaction.by_tokens(params, seen(text))) == expected


@pytest.mark.parametrize(("n", "fires"), [(799, False), (800, True), (801, True)])
def test_adk_fires_at_four_fifths_of_the_window(n, fires):
    for given, window in (({}, 1_000), ({}, 1_001), ({"token_threshold": 800}, 5)):
        params = params_of("adk_compaction", trigger="tokens", retention=1, **given)
        for view in (seen(f"u1 a{n - 1}", window=window), seen("u a", window=window, usage=LastUsage(n, 50, 0, 0))):
            found = adk_compaction.tokens_gate(params, view)
            assert (found.fires, found.measure, found.threshold, found.operator) == (fires, n, 800, ">=")


@pytest.mark.parametrize(
    ("trigger", "fires"), [("tokens", (True, False)), ("invocations", (False, True)), ("both", (True, True))]
)
def test_adk_compacts_by_what_is_chosen(trigger, fires):
    params = params_of("adk_compaction", trigger=trigger, retention=1, interval=2, token_threshold=1)
    view = seen("u500 a u a u", request=4)
    made = (adk_compaction.tokens_gate(params, view).fires, adk_compaction.invocations_gate(params, view).fires)
    assert made == fires


@pytest.mark.parametrize(
    ("text", "interval", "fires", "n"),
    [
        ("u500 a u a u", 1, True, 2),
        ("u500 a u a u", 2, True, 2),
        ("u500 a u a u", 3, False, 2),
        ("u500 a u a u a", 2, False, 3),
        ("u500 a u a u u", 2, True, 2),
        ("", 1, False, 0),
    ],
)
def test_adk_counts_invocations_that_have_ended(text, interval, fires, n):
    params = params_of("adk_compaction", trigger="invocations", interval=interval)
    found = adk_compaction.invocations_gate(params, seen(text))
    assert (found.fires, found.measure, found.threshold) == (fires, n, interval)


@pytest.mark.parametrize(("over", "expected"), [(-1, ""), (0, ""), (1, "1 2")])
def test_adk_leaves_what_a_summary_would_not_shorten(over, expected):
    """The JSON of prompt and reply, less a message's frame, is longer than the last summary's (policies 11.14)."""
    length = len('{"parts":[{"text":"x"}],"role":"user"}{"parts":[{"text":"x"}],"role":"model"}') - len(
        '{"parts":[],"role":"model"}'
    )
    frame = len('{"parts":[{"text":""}],"role":"user"}')
    view = seen(f"z{length - frame - over} u1 a1 u1")
    view.items[0] = replace(view.items[0], inserted=True)
    params = params_of("adk_compaction", trigger="invocations", interval=1, overlap=0)
    view.state.memory["starts"] = {"0": -1}
    assert ids(adk_compaction.by_invocations(params, view)) == expected


def test_adk_covers_the_overlap_again():
    """A summary that starts at or after the first fresh invocation less the overlap is read again."""
    for start, overlap, expected in (
        (1, 0, "1 2"),
        (2, 0, "0 1 2"),
        (1, 1, "0 1 2"),
        (0, 1, "1 2"),
        (0, 2, "0 1 2"),
        (0, 9, "0 1 2"),
    ):
        view = seen("z1 u500 a u")
        view.items[0] = replace(view.items[0], inserted=True)
        view.state.memory.update(starts={"0": start}, invocation=1, invocations={"0": 1})
        params = params_of("adk_compaction", trigger="invocations", interval=1, overlap=overlap)
        assert ids(adk_compaction.by_invocations(params, view)) == expected


def test_adk_puts_the_summary_where_the_newest_event_was():
    params = params_of("adk_compaction", trigger="both", retention=2, interval=2, overlap=1)
    view = seen("s u500 a u a u")
    assert ids(adk_compaction.edit_by_tokens(params, view)) == "0 new 4 5"
    assert view.state.memory["starts"] == {"new": 0}
    assert adk_compaction.invocations(view)["new"] == 1
    view = seen("s u500 a u a u")
    assert ids(adk_compaction.edit_by_invocations(params, view)) == "0 new 5"
    assert view.state.memory["starts"] == {"new": 0}
    assert view.tools.asked[0][1]["role"] == "assistant"
    view = seen("s u a u500 a u")
    view.state.memory.update(invocation=4)
    adk_compaction.edit_by_invocations(params_of("adk_compaction", interval=2, overlap=2), view)
    assert view.state.memory["starts"] == {"new": 3}


def test_adk_s_ended_invocations_are_before_the_newest_prompts():
    for text, n in (("u a u u", 2), ("u a i u", 3), ("u i", 2), ("i u", 1), ("u", 0), ("u a", 2)):
        assert adk_compaction._n_ended(seen(text)) == n


def test_adk_measures_json():
    items = lists("u3 a2:c1 r4:c1", name="Bash")
    texts = [
        '{"parts":[{"text":"xxx"}],"role":"user"}',
        '{"parts":[{"text":"xx"},{"function_call":{"id":"c1","args":,"name":"Bash"}}],"role":"model"}',
        '{"parts":[{"function_response":{"id":"c1","name":"Bash","response":{"result":"xxxx"}}}],"role":"user"}',
    ]
    for item, text in zip(items, texts, strict=True):
        assert adk_compaction.json_length(seen(items), [item]) == len(text)
    assert adk_compaction.json_length(seen(items), items) == sum(map(len, texts))
    assert adk_compaction.json_length(seen(items), lists("n0")) == len('{"parts":[],"role":"user"}')
