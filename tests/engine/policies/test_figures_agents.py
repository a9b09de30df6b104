"""What smaller agents keep and drop of a short list, at and beside each of their figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.base import registry
from sessions.engine.policies import (
    browser_use,
    claw_code,
    copilot,
    crush,
    edits,
    goose,
    inspect,
    summarize_every_n_turns,
    swe_agent_last_n,
)
from sessions.engine.policies.params import build
from sessions.engine.policies.policy import EditFailed, LastUsage, State
from sessions.engine.transcript.types import Block, Kind, Media, Role
from tests.engine.policies.listed import block, ids, lists, seen


def params_of(name, **given):
    return build(registry.get("policies", name).params, given)


# goose (policies 11.8)


@pytest.mark.parametrize(("total", "fires"), [(79, False), (80, False), (81, True)])
def test_goose_fires_over_four_fifths(total, fires):
    for view in (
        seen("u", window=100, usage=LastUsage(total - 9, 9, 0, 50)),
        seen(f"u{total}", window=101, overhead=9),
    ):
        found = goose.auto_gate(params_of("goose"), view)
        assert (found.fires, found.measure, found.threshold, found.operator) == (fires, total, 80, ">")
    for off in (0.0, 1.0):
        assert not goose.auto_gate(params_of("goose", threshold=off), seen("u999", window=100)).fires
    assert goose.auto_gate(params_of("goose", threshold=0.99), seen("u100", window=100)).fires


def test_goose_sends_the_newest_text_again():
    image = block(Kind.IMAGE, 0, media=Media("image/png"))
    items = lists("s u1 a1:c r1:c u2 z1 a1")
    items[4] = replace(items[4], message=replace(items[4].message, blocks=(*items[4].message.blocks, image)))
    items[3] = replace(
        items[3], message=replace(items[3].message, blocks=(replace(items[3].message.blocks[0], parts=(image,)),))
    )
    made = goose.auto_edit(None, seen(items))
    assert ids(made) == f"0 new {goose.GO_ON} 4"
    assert (made[2].tokens, len(made[3].message.blocks)) == (45, 1)
    assert ids(goose.auto_edit(None, seen("s a1 z1"))) == f"0 new {goose.GO_ON}"
    assert ids(goose.auto_edit(None, seen("s"))) == "0"
    word = len("[image: image/png]")
    asked = [edits.drop_media(seen(items), item, goose._words) for item in items]
    assert asked[3].message.blocks[0].parts[0].n_chars == word
    assert asked[4].message.blocks[-1].n_chars == word
    assert asked[1] is items[1]
    assert not goose._words(Block(Kind.IMAGE))


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (1_000, 10),
        (83_333, 10),
        (91_667, 10),
        (91_668, 11),
        (200_000, 24),
        (4_166_667, 499),
        (4_166_668, 500),
        (9_000_000, 500),
    ],
)
def test_goose_keeps_three_pairs_for_twenty_thousand_tokens(window, expected):
    """⌊3 · ⌊0.8 · window⌋ ÷ 20,000⌋, from 10 to 500."""
    assert goose.cutoff(params_of("goose_tool_pairs"), window) == expected
    assert goose.cutoff(params_of("goose_tool_pairs", cutoff=7), window) == 7


PAIRS = "u a:a r:a a:b r:b a:c r:c u a:d r:d"


@pytest.mark.parametrize(
    ("limit", "batch", "fires"), [(0, 2, True), (1, 2, False), (2, 1, False), (1, 1, True), (3, 1, False)]
)
def test_goose_fires_over_cutoff_and_batch(limit, batch, fires):
    """Three pairs stand before this turn."""
    params = params_of("goose_tool_pairs", cutoff=limit, batch=batch)
    found = goose.pairs_gate(params, seen(PAIRS))
    assert (found.fires, found.measure, found.threshold, found.operator) == (fires, 3, limit + batch, ">")


def test_goose_counts_pairs_when_a_turn_starts():
    params = params_of("goose_tool_pairs", cutoff=0, batch=1)
    view = seen(PAIRS, state=State(requests_since_event=9))
    assert goose.pairs_gate(params, view).measure == 3
    more = replace(seen("u a:a r:a u"), state=view.state)
    assert goose.pairs_gate(params, more).measure == 3
    for since, measure in ((2, 3), (1, 1), (0, 1)):
        more = replace(seen("u a:a r:a u"), state=view.state)
        view.state.requests_since_event = since
        view.state.memory["eligible"] = 3
        assert goose.pairs_gate(params, more).measure == measure
    view.state.requests_since_event, view.state.memory["eligible"] = 9, 3
    assert goose.pairs_gate(params, replace(more, n_turns=4)).measure == 1
    for written, called in (("u a:a a:b r:a r:x u a:c r:c", ["a"]), ("a:a r:a", [])):
        pairs = goose._Pairs(list(lists(written)))
        pairs.read()
        assert goose._eligible(pairs) == called


def test_goose_writes_a_line_for_each_pair():
    view = seen("u a0:a,b r:a r:b a:c,d r:c,d u")
    made = goose.pairs_edit(params_of("goose_tool_pairs", batch=2), view)
    assert [item.id for item in made] == ["0", *["[tool call, in one line]"] * 2, "4", "5", "6"]
    assert [item.tokens for item in made[1:3]] == [40, 40]
    made = goose.pairs_edit(params_of("goose_tool_pairs", batch=3), seen("u a0:a,b r:a r:b a:c,d r:c,d u"))
    assert [item.id for item in made] == ["0", *["[tool call, in one line]"] * 3, "4", "5", "6"]
    assert [b.call_id for b in made[4].message.blocks] == ["", "d"]
    assert [b.call_id for b in made[5].message.blocks] == ["d"]


# browser-use, claw-code, crush, Copilot (policies 11.15 to 11.20)


@pytest.mark.parametrize(
    ("steps", "size", "expected"),
    [(24, 99, (False, 24, 25)), (25, 39, (False, 39, 40)), (25, 40, (True, 40, 40)), (26, 41, (True, 41, 40))],
)
def test_browser_use_waits_for_steps_and_characters(steps, size, expected):
    view = seen(f"u{size}", state=State(requests_since_event=steps))
    found = browser_use.gate(params_of("browser_use", chars=40), view)
    assert (found.fires, found.measure, found.threshold) == expected


@pytest.mark.parametrize(
    ("text", "keep", "left"),
    [
        ("s u a u a u a", 2, "0 1 new 4 5 6"),
        ("s u a u a u a", 1, "0 1 new 6"),
        ("u a:c r:c a", 1, "0 new 3"),
        ("u u a", 1, "0 new 2"),
    ],
)
def test_browser_use_keeps_the_first_and_the_last(text, keep, left):
    view = seen(text)
    assert ids(browser_use.edit(params_of("browser_use", keep_last=keep), view)) == left
    assert view.tools.asked[0][1]["most"] == 1_500
    for nothing in ("u a", "a a", "u i a", "u u"):
        with pytest.raises(EditFailed):
            browser_use.edit(params_of("browser_use", keep_last=1), seen(nothing))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u5 u5", (False, 2, 2)),
        ("u5 u4 u0", (False, 9, 10)),
        ("u5 u5 u0", (True, 10, 10)),
        ("s9 i9 u5 u5", (False, 2, 2)),
        ("s9 i9 u5 u5 u1", (True, 11, 10)),
    ],
)
def test_claw_code_counts_what_is_behind_the_summary(text, expected):
    found = claw_code.gate(params_of("claw_code", preserve=2, tokens=10), seen(text))
    assert (found.fires, found.measure, found.threshold) == expected


def test_claw_code_keeps_the_last():
    params = params_of("claw_code", preserve=2)
    view = seen("s u a u a")
    assert ids(claw_code.edit(params, view)) == "0 new 3 4"
    assert view.tools.asked[0][1]["calls"] == 0
    assert ids(claw_code.edit(params, seen("s u a:c r:c u"))) == "0 new 2 3 4"
    assert ids(claw_code.edit(params, seen("s i u a"))) == "0 1 2 3"


@pytest.mark.parametrize(
    ("window", "limit"), [(100, 80), (101, 81), (200_000, 160_000), (200_001, 180_001), (1_000_000, 980_000)]
)
def test_crush_leaves_a_fifth_or_twenty_thousand(window, limit):
    params = params_of("crush")
    assert crush.threshold(params, window) == limit
    for used in (limit - 1, limit, limit + 1):
        assert crush.gate(params, seen(f"u{used}", window=window, overhead=5)).fires is (used >= limit)


@pytest.mark.parametrize(
    ("given", "window", "tools", "limit"),
    [
        ({}, 110, 10, 85),
        ({}, 111, 10, 85),
        ({}, 112, 10, 86),
        ({"setting": 109}, 110, 10, 84),
        ({"setting": 111}, 110, 10, 85),
        ({}, 10, 10, 0),
        ({}, 5, 10, 0),
    ],
)
def test_copilot_s_budget(given, window, tools, limit):
    params = replace(params_of("copilot_chat"), **given)
    assert copilot.budget(params, window, tools) == limit
    for rendered in (limit, limit + 1):
        view = seen("u", window=window, overhead=tools, context=rendered + tools)
        found = copilot.chat_gate(params, view)
        assert (found.fires, found.measure) == (rendered > limit, rendered)
    assert copilot.chat_gate(params, seen("u", window=window, overhead=tools, context=tools - 1)).measure == 0


@pytest.mark.parametrize(("text", "left"), [("s u a u a:c r:c", "0 new 4 5"), ("s u a", "0 new 2")])
def test_copilot_keeps_the_newest_round(text, left):
    assert ids(copilot.edit(None, seen(text))) == left
    for nothing in ("s a", "s i a", "u u"):
        with pytest.raises(EditFailed):
            copilot.edit(None, seen(nothing))


# SWE-agent, summaries every n turns (policies 11.6, 11.7)


@pytest.mark.parametrize(
    ("n_observations", "n", "polling", "elided"),
    [
        (5, 5, 1, 0),
        (6, 5, 1, 0),
        (7, 5, 1, 1),
        (8, 5, 1, 2),
        (8, 5, 3, 0),
        (9, 5, 3, 3),
        (11, 5, 3, 3),
        (12, 5, 3, 6),
        (3, 1, 1, 1),
        (2, 1, 1, 0),
    ],
)
def test_swe_agent_elides_all_but_the_last(n_observations, n, polling, elided):
    """The first is the task, which stays."""
    assert swe_agent_last_n.elided(n_observations, n, polling) == elided


@pytest.mark.parametrize(
    ("text", "n", "due"),
    [
        ("u a:a r5:a a:b r5:b a:c r5:c", 1, [4, 2]),
        ("u a:a r5:a a:b r5:b a:c r5:c", 2, [2]),
        ("u a:a r5:a a:b r5:b", 2, []),
        ("u a u a u a u", 1, [4, 2]),
    ],
)
def test_swe_agent_s_observations(text, n, due):
    params = params_of("swe_agent_last_n", n=n)
    view = seen(text)
    assert swe_agent_last_n.due(params, view) == due
    found = swe_agent_last_n.gate(params, view)
    assert (found.fires, found.measure) == (bool(due), len(due))
    made = swe_agent_last_n.edit(params, view)
    assert sorted(made) == sorted(due)
    assert {item.size for item in made.values()} <= {len(swe_agent_last_n.ELIDED)}
    for position, item in made.items():
        view.items[position] = item
    assert swe_agent_last_n.due(params, view) == []


@pytest.mark.parametrize(("n", "fires"), [(4, False), (5, True), (6, True)])
def test_summaries_come_every_n_turns(n, fires):
    params = params_of("summarize_every_n_turns", n=3, keep_last=2)
    found = summarize_every_n_turns.gate(params, seen("u " + "a " * n))
    assert (found.fires, found.measure, found.threshold) == (fires, n, 5)


def test_a_checkpoint_stands_for_the_first_turns():
    params = params_of("summarize_every_n_turns", n=2, keep_last=1)
    view = seen("s u a:c r:c a u a")
    assert ids(summarize_every_n_turns.edit(params, view)) == "0 1 new 6"
    assert view.tools.asked[0] == (["2", "3", "4", "5"], {"mode": "merge", "role": "assistant", "attachments": []})
    items = lists("s u z a z a a")
    items[2] = replace(items[2], message=replace(items[2].message, role=Role.ASSISTANT))
    for shown, left in (("newest", "0 1 new 6"), ("all", "0 1 2 new 6")):
        params = params_of("summarize_every_n_turns", n=2, keep_last=1, checkpoints=shown)
        assert ids(summarize_every_n_turns.edit(params, seen(items))) == left
    user = seen("s u z a a a")
    assert ids(summarize_every_n_turns.edit(params, user)) == "0 1 2 new 5"


# Inspect (policies 11.12)


@pytest.mark.parametrize(
    ("n", "preserve", "left"),
    [
        (5, 0.8, "2 3 4 5 6"),
        (6, 0.8, "3 4 5 6 7"),
        (6, 1, "2 3 4 5 6 7"),
        (4, 0.5, "4 5"),
        (5, 0.5, "4 5 6"),
        (5, 0, ""),
    ],
)
def test_inspect_trims_a_fifth(n, preserve, left):
    """⌊n · (1 − 0.8)⌋ of what is behind the first user message; in floating point as there: of five none."""
    params = params_of("inspect_trim", preserve=preserve)
    made = inspect.trimmed(params, seen(""), lists("s u " + "u " * n))
    assert ids(made) == f"0 1 {left}".strip()


def test_inspect_trims_no_half_pairs():
    params = params_of("inspect_trim", preserve=0.5)
    assert ids(inspect.trimmed(params, seen(""), lists("u a:a r:a r:x a:b u"))) == "0 4 5"
    assert ids(inspect.trimmed(params, seen(""), lists("u u u a:b r:b"))) == "0 3 4"
    assert ids(inspect.trimmed(params, seen(""), lists("u u u u a"))) == "0 3"
    assert ids(inspect._without_orphan_results(seen(""), lists("a:a r:a u r:a a:b,c r:b,c"))) == "0 1 2 4 5"
    (_, partly) = inspect._without_orphan_results(seen(""), lists("a:a r:a,b"))
    assert [b.call_id for b in partly.message.blocks] == ["a"]
    (call, _) = inspect._without_orphan_calls(seen(""), lists("a:a,b r:b"))
    assert [b.call_id for b in call.message.blocks] == ["", "b"]


@pytest.mark.parametrize(("keep", "cleared"), [(0, ["2", "4"]), (1, ["2"]), (2, []), (3, [])])
def test_inspect_clears_all_but_the_newest_uses(keep, cleared):
    params = params_of("inspect_edit", keep_tool_uses=keep)
    made = inspect.cleared(params, seen(""), lists("u a:a r9:a a:b r9:b"))
    assert [item.id for item in made if item.edited] == cleared
    assert {item.size for item in made if item.edited} <= {len("(Tool result removed)")}
    gone = params_of("inspect_edit", keep_tool_uses=keep, keep_tool_inputs="off")
    left = inspect.cleared(gone, seen(""), lists("u a0:a r9:a a0:b r9:b"))
    assert [item.id for item in left] == {0: ["0"], 1: ["0", "1", "3", "4"]}.get(keep, ["0", "1", "2", "3", "4"])


@pytest.mark.parametrize(("keep", "thinking"), [(0, 0), (1, 1), (2, 2), (3, 3), (9, 3), (None, 3)])
def test_inspect_keeps_thinking_of_the_last_replies(keep, thinking):
    params = params_of("inspect_edit", keep_thinking_turns=keep)
    made = inspect.cleared(params, seen(""), lists("u t t t u"))
    assert sum(bool(item.message.blocks) for item in made) == thinking + 2
    assert [len(item.message.blocks) for item in made] == [1, *[0] * (3 - thinking), *[1] * thinking, 1]


def test_inspect_answers_calls_in_order():
    found = inspect.answered(lists("u a:a,b r:a a:c r:b r:a r:c a:d"))
    assert [(call.call_id, call_at, result_at) for call, call_at, result_at in found] == [
        ("a", 1, 2),
        ("b", 1, 4),
        ("c", 3, 6),
    ]
    assert inspect.answered(lists("r:a a:a")) == []
    assert inspect.answered(lists("a:a r:a", name="tool_search")) == []
    assert ids(inspect.cleared(params_of("inspect_edit"), seen(""), lists("u a u a a"))) == "0 1 2"


@pytest.mark.parametrize(("text", "read"), [("s u a u a", "2 3 4"), ("s u a z u a", "3 4 5"), ("s u z a z u", "4 5")])
def test_inspect_s_summary_reads_what_came_since_the_last(text, read):
    params = params_of("inspect_summary", threshold_tokens=20)
    view = seen(text)
    assert ids(inspect.summarize(params, view)) == "0 1 new"
    assert [asked for asked, _ in view.tools.asked] == [read.split()]
