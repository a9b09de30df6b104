"""What Anthropic's API and SDK clear of a short list, at and beside each of their figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.base import registry
from sessions.engine.policies import anthropic_api
from sessions.engine.policies.params import build
from sessions.engine.policies.policy import LastUsage
from sessions.engine.transcript.types import Kind
from tests.engine.policies.listed import block, ids, lists, seen


def params_of(name, **given):
    return build(registry.get("policies", name).params, given)


# Anthropic's API (policies 5)
def turns_of(view):
    return anthropic_api.thinking_turns(view)


def test_thinking_is_counted_by_turn():
    view = seen("u t a t u a z t")
    assert (turns_of(view), turns_of(view)) == ([[1, 3], [7]], [[1, 3], [7]])
    view.items += [replace(item, id=f"n{item.id}") for item in lists("t u t")]
    assert turns_of(view) == [[1, 3], [7, 8], [10]]
    view.items = view.items[:3]
    assert turns_of(view) == [[1]]
    view.items = [*view.items[:2], replace(lists("u u t")[2], id="other")]
    assert turns_of(view) == [[1, 2]]
    other = seen("t u", state=view.state)
    assert turns_of(other) == [[0]]
    assert turns_of(seen("")) == []


@pytest.mark.parametrize(("n", "fires"), [(1, False), (2, False), (3, True)])
def test_thinking_is_cleared_over_the_turns_kept(n, fires):
    view = seen("u t " * n, model="claude-opus-4-6")
    params = params_of("anthropic_clear_thinking", keep=2)
    found = anthropic_api.thinking_gate(params, view)
    assert (found.fires, found.measure, found.threshold, found.operator) == (fires, n, 2, ">")
    assert sorted(anthropic_api.thinking_edit(params, view)) == ([1] if fires else [])
    none = params_of("anthropic_clear_thinking")
    assert not anthropic_api.thinking_gate(none, view).fires
    assert len(anthropic_api.thinking_edit(none, view)) == n - 1
    assert not anthropic_api.thinking_gate(params, seen("u t " * n, model="gpt-4.1")).fires


USES = "u a:c0 r9:c0 a:c1 r9:c1 a:c2 r9:c2 a:c3 r9:c3"


def cleared(given, *, unedited=101, text=USES, name="Read"):
    """Whether it fires, and the results that are cleared."""
    params = params_of("anthropic_clear_tool_uses", **{"trigger": 100, **given})
    items = lists(text, name=name)
    view = seen(items, unedited=unedited)
    found = anthropic_api.uses_gate(params, view)
    made = anthropic_api.uses_edit(params, view) if found.fires else {}
    return found.fires, " ".join(str(n) for n in sorted(made) if made[n] is not items[n])


@pytest.mark.parametrize(
    ("given", "unedited", "expected"),
    [
        ({}, 100, (False, "")),
        ({}, 101, (True, "2")),
        ({"keep": 0}, 101, (True, "2 4 6 8")),
        ({"keep": 1}, 101, (True, "2 4 6")),
        ({"keep": 4}, 101, (False, "")),
        ({"trigger_tool_uses": 3}, 0, (True, "2")),
        ({"trigger_tool_uses": 4}, 999, (False, "")),
        ({"clear_at_least": 8}, 101, (True, "2")),
        ({"clear_at_least": 9}, 101, (True, "2")),
        ({"clear_at_least": 10}, 101, (False, "")),
        ({"keep": 0, "clear_at_least": 18, "stop_early": "on"}, 101, (True, "2 4")),
        ({"keep": 0, "clear_at_least": 19, "stop_early": "on"}, 101, (True, "2 4 6")),
        ({"keep": 0, "clear_at_least": 37, "stop_early": "on"}, 101, (False, "")),
        ({"keep": 2, "clear_tool_inputs": "on"}, 101, (True, "1 2 3 4")),
        ({"keep": 3, "clear_tool_inputs": "named", "input_tools": "Bash"}, 101, (True, "2")),
        ({"keep": 3, "clear_tool_inputs": "named", "input_tools": "Bash Read"}, 101, (True, "1 2")),
        ({"keep": 0, "exclude_tools": "Read"}, 101, (False, "")),
    ],
)
def test_tool_uses_are_cleared_over_the_trigger(given, unedited, expected):
    """At the trigger nothing; the newest three stay; fewer tokens than asked for are left."""
    made = cleared(given, unedited=unedited)
    assert made == expected


@pytest.mark.parametrize(("counts", "expected"), [("off", ["c0"]), ("on", ["c0", "c1"])])
def test_excluded_uses_count_in_keep_where_asked(counts, expected):
    """c2 is of a tool that is never cleared: it takes one of the three places, or not."""
    items = [
        *lists(USES)[:5],
        *lists(USES, name="Keep")[5:7],
        *lists(USES)[7:],
        *lists("u u u u u u u u u a:c4 r9:c4")[9:],
    ]
    params = params_of("anthropic_clear_tool_uses", trigger=1, exclude_tools="Keep", exclude_counts_in_keep=counts)
    found = anthropic_api.candidates(params, seen(items, unedited=99))
    assert [place.block.call_id for place in found] == expected


def test_clearing_weighs_arguments_where_they_go():
    call = replace(block(Kind.TOOL_USE, 4), call_id="c", name="Read")
    items = lists("u a2 r9:c")
    items[1] = replace(items[1], tokens=6, message=replace(items[1].message, blocks=(*items[1].message.blocks, call)))
    view = seen(items, unedited=99)
    for inputs, tokens in (("off", 9), ("on", 13)):
        params = params_of("anthropic_clear_tool_uses", trigger=1, keep=0, clear_tool_inputs=inputs)
        (found,) = anthropic_api.candidates(params, view)
        assert anthropic_api._tokens(params, view, found) == tokens
    made = anthropic_api.uses_edit(params, view)
    assert made[1].message.blocks[1].n_chars == 2
    assert made[1].message.blocks[0] is items[1].message.blocks[0]
    assert view.state.memory["cleared"].tokens == 13


@pytest.mark.parametrize(("context", "fires"), [(99_999, False), (100_000, True), (100_001, True)])
def test_compaction_fires_at_the_trigger(context, fires):
    params = params_of("anthropic_compact", trigger=100_000)
    found = anthropic_api.compact_gate(params, seen("u", context=context))
    assert (found.fires, found.measure, found.threshold, found.operator) == (fires, context, 100_000, ">=")


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({}, "0 new"),
        ({"keep_last": 2}, "0 new"),
        ({"pause_after_compaction": "on", "keep_last": 1}, "0 new 4"),
        ({"pause_after_compaction": "on", "keep_last": 2}, "0 new 2 3 4"),
        ({"pause_after_compaction": "on", "keep_last": 0}, "0 new"),
        ({"pause_after_compaction": "on", "keep_last": 4}, "0 1 2 3 4"),
        ({"pause_after_compaction": "on", "keep_last": 5}, "0 1 2 3 4"),
    ],
)
def test_a_client_that_pauses_appends_its_newest_messages(given, left):
    assert ids(anthropic_api.compact_edit(params_of("anthropic_compact", **given), seen("s u a:c r:c u"))) == left


@pytest.mark.parametrize(("total", "fires"), [(99, False), (100, True), (101, True)])
def test_the_sdk_counts_the_last_response(total, fires):
    params = params_of("anthropic_sdk_compaction", context_token_threshold=100)
    found = anthropic_api.sdk_gate(params, seen("u", usage=LastUsage(total - 7, 7, 0, 0)))
    assert (found.fires, found.measure, found.threshold, found.operator) == (fires, total, 100, ">=")
    assert not anthropic_api.sdk_gate(params, seen("u", context=total)).fires
    alone = params_of("anthropic_sdk_compaction", context_token_threshold=100, usage="none")
    assert anthropic_api.sdk_gate(alone, seen("u", context=total)).fires is fires
    off = params_of("anthropic_sdk_compaction", context_token_threshold=0)
    assert not anthropic_api.sdk_gate(off, seen("u", usage=LastUsage(total, 7, 0, 0))).fires


def test_the_sdk_without_a_response_and_at_the_least_threshold():
    """No response counts nothing; a threshold of one token is one, of none it is off (policies 5.4)."""
    one = params_of("anthropic_sdk_compaction", context_token_threshold=1)
    unasked = anthropic_api.sdk_gate(one, seen("u", context=9))
    assert (unasked.fires, unasked.measure) == (False, 0)
    for total, fires in ((0, False), (1, True), (2, True)):
        assert anthropic_api.sdk_gate(one, seen("u", usage=LastUsage(total, 0, 0, 0))).fires is fires
    off = params_of("anthropic_sdk_compaction", context_token_threshold=0)
    assert not anthropic_api.sdk_gate(off, seen("u", usage=LastUsage(0, 0, 0, 0))).fires


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("s u a u", "0 new 3"),
        ("s u a:c r:c u", "0 new 4"),
        ("s u u", "0 new"),
        ("s", "0"),
        ("a u n", "new 1 2"),
        ("u a r:c", "new"),
    ],
)
def test_the_sdk_keeps_what_was_typed_after_the_last_reply(text, left):
    assert ids(anthropic_api.sdk_edit(params_of("anthropic_sdk_compaction"), seen(text))) == left
