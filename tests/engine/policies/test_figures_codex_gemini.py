"""What Codex, Deep Agents and Gemini CLI keep and drop of a short list, at and beside each of their figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.base import registry
from sessions.engine.policies import (
    codex,
    deepagents_summarization,
    gemini,
)
from sessions.engine.policies.edits import marker
from sessions.engine.policies.params import build
from sessions.engine.policies.policy import EditFailed, LastUsage
from sessions.engine.tokens.estimators.codex import reasoning_tokens
from sessions.engine.transcript.types import Kind, Media
from tests.engine.policies.listed import Desk, block, ids, lists, seen


def params_of(name, **given):
    return build(registry.get("policies", name).params, given)


def holding(item, *blocks):
    """A message with other blocks."""
    return replace(item, message=replace(item.message, blocks=blocks))


# Codex (policies 6)
@pytest.mark.parametrize(
    ("window", "configured", "expected"),
    [(100, None, 90), (101, None, 90), (109, None, 98), (100, 89, 89), (100, 91, 90)],
)
def test_codex_takes_nine_tenths_of_the_raw_window(window, configured, expected):
    assert codex.limit(window, configured) == expected


@pytest.mark.parametrize(("size", "fires"), [(89, False), (90, True), (91, True)])
def test_codex_fires_at_its_limit(size, fires):
    for given, overhead, measure in (({}, 0, size), ({"scope": "body_after_prefix"}, 7, size)):
        params = params_of("codex_local", **given)
        found = codex.gate(params, seen(f"u1 a{size - 1}", window=100, overhead=overhead))
        assert (found.fires, found.measure, found.threshold, found.operator) == (fires, measure, 90, ">=")
    usage = LastUsage(size - 30, 20, 0, 10)
    assert codex.gate(params_of("codex_local"), seen("u1 a9", window=100, usage=usage)).measure == size
    body = params_of("codex_local", scope="body_after_prefix")
    assert codex.gate(body, seen("u1", window=100, overhead=200)).measure == 1
    assert codex.gate(body, seen("u1", window=100, overhead=200, usage=LastUsage(5, 0, 0, 0))).measure == 0


def test_codex_asks_before_a_turn_s_prompt():
    """What came since the last reply, where the newest is typed, does not count yet."""
    params = params_of("codex_local")
    assert codex.gate(params, seen("u5 a5 n2 u3", newest_typed=True)).measure == 10
    assert codex.gate(params, seen("u5 a5 n2 u3")).measure == 15
    assert codex.gate(params, seen("u5 a5:c r4:c u3", newest_typed=True)).measure == 14


def reasoned(text, tokens=40):
    """Its replies hold encrypted reasoning."""
    items = lists(text)
    for n, item in enumerate(items):
        if item.message.role == "assistant":
            items[n] = holding(item, *item.message.blocks, block(Kind.THINKING, 0, n_payload=tokens))
    return items


def test_codex_counts_reasoning_before_the_last_boundary():
    each = reasoning_tokens(block(Kind.THINKING, 0, n_payload=4_000))
    assert each > 100
    view = seen(reasoned("u a a u a u", 4_000))
    assert [codex.stored_reasoning(view, stop) for stop in (1, 2, 3, 4, 5, 6)] == [
        0,
        0,
        0,
        2 * each,
        2 * each,
        3 * each,
    ]
    assert codex.stored_reasoning(view, 3) == 0
    view.items[0] = replace(view.items[0], id="first")
    assert codex.stored_reasoning(view, 3) == 0
    held = view.state.memory["stored reasoning"]
    assert (held.seen, held.whole, codex.stored_reasoning(view, 3), held.whole) == (3, 2 * each, 0, 2 * each)
    view.items[2] = replace(view.items[2], id="other")
    assert codex.stored_reasoning(view, 6) == 3 * each
    assert codex.stored_reasoning(seen(reasoned("a a", 4_000)), 2) == 0
    summary = seen(reasoned("u a z a n a", 4_000))
    assert codex.stored_reasoning(summary, 6) == each
    usage = LastUsage(10, 0, 0, 0)
    assert codex.gate(params_of("codex_local"), seen(reasoned("u a u", 4_000), usage=usage)).measure == 10 + each
    assert codex.gate(params_of("codex_local"), seen(reasoned("u1 a1 u1", 4_000))).measure == 3
    assert (
        codex.gate(params_of("codex_local"), seen(reasoned("u a u", 4_000), usage=usage, newest_typed=True)).measure
        == 9
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s n n u a u", ("0", "1 2", "3 4", "5")),
        ("u a n u", ("", "", "0 1", "2 3")),
        ("u a u n", ("", "", "0 1 2 3", "")),
        ("u a:c r:c u", ("", "", "0 1 2 3", "")),
        ("n n", ("", "0 1", "", "")),
        ("n u", ("", "0", "1", "")),
        ("n z u a", ("", "0", "1 2 3", "")),
        ("i u a u", ("", "", "0 1 2", "3")),
    ],
)
def test_codex_s_parts(text, expected):
    """Wrappers before the first prompt; a prompt typed since the last reply, no result beside it, is live."""
    assert tuple(map(ids, codex.parts(lists(text)))) == expected


@pytest.mark.parametrize(("budget", "kept"), [(5, "0 2 4"), (4, "0 2 4"), (3, "2 4"), (2, "2 4"), (1, "4"), (0, "")])
def test_codex_retains_the_newest_prompts(budget, kept):
    """Of 4, 8 and 4 bytes: 1, 2 and 1 tokens; the one that overflows is cut to what is left."""
    made = codex.retained(seen(""), lists("u4 a9 u8 a9 u4"), budget)
    assert ids(made) == kept
    assert [item.id for item in made if item.edited] == {2: ["2"]}.get(budget, [])


@pytest.mark.parametrize(
    ("sizes", "tokens"), [((0,), 0), ((1,), 1), ((4,), 1), ((5,), 2), ((4, 3), 2), ((4, 4), 3), ((1, 1, 1), 2), ((), 0)]
)
def test_codex_counts_four_bytes_a_token_and_newlines_between(sizes, tokens):
    (item,) = lists("u1")
    assert codex.text_tokens(holding(item, *[block(Kind.TEXT, size) for size in sizes])) == tokens


def test_codex_cuts_the_first_that_overflows():
    """2 of 4 tokens: 8 of 16 bytes, and the word on the other 2."""
    (item,) = codex.retained(seen(""), lists("u16"), 2)
    word = "…2 tokens truncated…"
    assert item.message.blocks[0].n_chars == 8 + len(word)
    picture = block(Kind.IMAGE, 0, media=Media("image/png"))
    (user,) = lists("u4")
    with_picture = holding(user, *user.message.blocks, picture)
    (plain,) = codex.retained(seen(""), [with_picture], 9)
    assert [b.kind for b in plain.message.blocks] == [Kind.TEXT]
    assert codex.retained(seen(""), [with_picture], 9, media=True) == [with_picture]
    empty = lists("u0 u0 u4")
    assert ids(codex.retained(seen(""), empty, 2, least=1)) == "1 2"
    assert ids(codex.retained(seen(""), empty, 2)) == "0 1 2"


@pytest.mark.parametrize(
    ("text", "local", "remote", "budget"),
    [
        ("s n u a u", "0 1 2 new 4", "0 2 new 1 4", None),
        ("s n u a u a", "0 2 1 4 new", "0 2 1 4 new", "0 1"),
        ("s n u a u a u", "0 2 4 new 1 6", "0 2 4 new 1 6", "0 1 6"),
        ("s n", "0 1", "0 1", "0 1"),
    ],
)
def test_codex_puts_the_initial_context_back(text, local, remote, budget):
    """Before the last user message that stays, or before a live prompt (policies 6.2)."""
    expected = "0 2 new 1 4" if text == "s n u a u" else local
    assert ids(codex.local_edit(params_of("codex_local"), seen(text))) == expected
    assert ids(codex.remote_edit(params_of("codex_remote"), seen(text))) == remote
    assert ids(codex.remote_edit(params_of("codex_remote", version="v1"), seen(text))) == remote
    if budget:
        assert ids(codex.local_edit(params_of("codex_local", mode="token_budget"), seen(text))) == budget


# Deep Agents (policies 10.4, 10.5)
@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("u8 a:c r8:c", "Bash", []),
        ("u8 a:c r9:c", "Bash", [2]),
        ("u8 a:c r9:c", "read_file", []),
        ("u12 a8:c r8:c", "Bash", []),
        ("u13 a99:c r8:c", "Bash", [0]),
        ("n99 a99", "Bash", []),
    ],
)
def test_deep_agents_put_what_is_long_into_a_file(text, name, found):
    """Four characters a token: a result over 2, a prompt over 3."""
    params = params_of("deepagents_summarization", evict_result=2, evict_prompt=3, preview=1)
    view = seen(lists(text, name=name))
    asked = deepagents_summarization.evict_gate(params, view)
    assert (asked.fires, asked.measure) == (bool(found), len(found))
    assert deepagents_summarization.oversized(params, view) == found
    made = deepagents_summarization.evict(params, view)
    assert sorted(made) == found
    for item in made.values():
        assert item.size == 1 + len(deepagents_summarization.NOTE)
    assert deepagents_summarization.oversized(params, view) == []
    view.items.append(replace(lists("u99")[0], id="new"))
    assert deepagents_summarization.oversized(params, view) == [len(view.items) - 1]


@pytest.mark.parametrize(("keep", "cut"), [(7, 0), (6, 0), (5, 1), (3, 1), (2, 2), (1, 3), (0, 3)])
def test_deep_agents_cut_arguments_before_the_newest_share(keep, cut):
    params = params_of("deepagents_summarization", keep=0.1)
    assert deepagents_summarization.argument_cut(params, seen("", window=keep * 10), lists("u3 u1 u2")) == (
        cut if keep else 3
    )


@pytest.mark.parametrize(("n", "cut"), [(19, 0), (20, 0), (21, 1), (22, 2)])
def test_deep_agents_leave_twenty_messages_on_an_unknown_model(n, cut):
    params = params_of("deepagents_summarization", profile="unknown")
    assert deepagents_summarization.argument_cut(params, seen(""), lists("u " * n)) == cut
    assert deepagents_summarization.trigger(params, 100) == 170_000
    assert deepagents_summarization.trigger(params_of("deepagents_summarization"), 100) == 85


def written(n_chars, name="write_file", target=""):
    """A call that writes so many characters of content."""
    frame = '{"file_path":"","content":""}' + target if target else '{"content":""}'
    return replace(block(Kind.TOOL_USE, n_chars + len(frame)), name=name, call_id="c", target=target)


@pytest.mark.parametrize(
    ("call", "long"),
    [
        (written(2_000), False),
        (written(2_001), True),
        (written(2_000, target="/a.py"), False),
        (written(2_001, target="/a.py"), True),
        (written(2_001, name="edit_file"), True),
        (written(2_001, name="Bash"), False),
        (block(Kind.TEXT, 9_999), False),
    ],
)
def test_deep_agents_cut_long_arguments_of_writers(call, long):
    params = params_of("deepagents_summarization")
    assert deepagents_summarization._long(params, call) is long
    (item,) = lists("a0")
    made = deepagents_summarization._shortened(params, seen(""), holding(item, call))
    if long:
        (cut,) = made.message.blocks
        frame = call.n_chars - 2_001
        mark = len("...(argument truncated)")
        assert (cut.n_chars, cut.n_bytes) == (frame + 20 + mark, frame + 20 + mark)
        assert cut.n_tokens == frame + 20 + marker("...(argument truncated)").n_tokens
    else:
        assert made.message.blocks == (call,)


def test_deep_agents_count_escapes_in_proportion():
    """100 escapes of 2,115 characters: 1 of the 35 that stay."""
    call = replace(written(2_100), n_json=100)
    (item,) = lists("a0")
    (cut,) = deepagents_summarization._shortened(
        params_of("deepagents_summarization"), seen(""), holding(item, call)
    ).message.blocks
    assert (call.n_chars, cut.n_json) == (2_114, 34 * 100 // 2_114 + marker("...(argument truncated)").n_json)


def acting(n_messages=4, size=900, **facts):
    """A list whose second message has a long argument."""
    items = lists(f"u1 a0 u{size} " + "u1 " * (n_messages - 3))
    items[1] = replace(holding(items[1], written(2_001)), tokens=10, size=10)
    return seen(items, **facts)


def test_deep_agents_cut_arguments_at_the_trigger_and_put_them_back():
    """850 of 1,000: 10 + 2 messages of 1 and the newest."""
    params = params_of("deepagents_summarization")
    for size, fires in ((837, False), (838, True), (839, True)):
        view = acting(size=size)
        found = deepagents_summarization.arguments_gate(params, view)
        assert (found.fires, found.measure, found.threshold) == (fires, size + 12, 850)
    changes = deepagents_summarization.cut_arguments(params, view)
    assert list(changes) == [1]
    view.items[1] = changes[1]
    assert list(view.state.memory["raw"]) == ["1"]
    assert not deepagents_summarization.wanted(params, replace(view, size=851 - 10 + changes[1].size))
    back = deepagents_summarization.cut_arguments(params, replace(view, size=849 - 10 + changes[1].size))
    assert (list(back), back[1].message.blocks[0].n_chars) == ([1], 2_015)
    assert view.state.memory["raw"] == {}
    view.state.memory["raw"] = {"gone": changes[1]}
    assert deepagents_summarization.wanted(params, replace(view, size=837)) == {}, "what left the list is not put back"
    unknown = params_of("deepagents_summarization", profile="unknown")
    for n, fires in ((19, False), (20, False), (22, True)):
        found = deepagents_summarization.arguments_gate(unknown, acting(n))
        assert (found.fires, found.measure, found.threshold) == (fires, n, 20)


@pytest.mark.parametrize(
    ("given", "size", "window", "fires"),
    [
        ({}, 849, 1_000, False),
        ({}, 850, 1_000, True),
        ({}, 851, 1_000, True),
        ({"trigger": 1.0}, 950, 1_000, False),
        ({"trigger": 1.0}, 951, 1_000, True),
        ({"trigger": 1.0, "max_output": 100}, 850, 1_000, False),
        ({"trigger": 1.0, "max_output": 100}, 851, 1_000, True),
        ({"trigger": 1.0, "max_output": 5_000}, 1, 1_000, False),
        ({"profile": "unknown"}, 999, 1_000, False),
    ],
)
def test_deep_agents_summarise_at_the_trigger(given, size, window, fires):
    params = params_of("deepagents_summarization", **given)
    view = seen(f"u{size - 1} u1" if size > 1 else "u1", window=window)
    assert deepagents_summarization.summary_gate(params, view).fires is fires


def test_deep_agents_keep_a_tenth():
    params = params_of("deepagents_summarization")
    assert ids(deepagents_summarization.summarize(params, seen("s1 u90 t1 u4 u5", window=100))) == "0 new 2 3 4"
    claude = seen("s1 u90 t1 u4 u5", window=100, model="claude-sonnet-4-5")
    assert [len(item.message.blocks) for item in deepagents_summarization.summarize(params, claude)] == [1, 1, 0, 1, 1]
    unknown = params_of("deepagents_summarization", profile="unknown")
    assert deepagents_summarization.summary_cut(unknown, seen("u " * 6)) == 0
    assert deepagents_summarization.summary_cut(unknown, seen("u " * 7)) == 1


# Gemini CLI (policies 7.1)
@pytest.mark.parametrize(
    ("lengths", "kinds", "safe", "position"),
    [
        ([10, 60, 20, 10], "uaua", True, 2),
        ([10, 59, 21, 10], "uaua", True, 4),
        ([10, 59, 21, 10], "uaua", False, 2),
        ([10, 61, 19, 10], "uaua", False, 2),
        ([50, 50], "ua", False, 0),
        ([70, 10, 20], "uua", False, 1),
        ([0, 0], "ua", False, 0),
        ([50, 50], "au", False, 1),
        ([50, 50], "aa", False, 0),
        ([80, 20], "au", True, 1),
    ],
)
def test_gemini_splits_at_seven_tenths(lengths, kinds, safe, position):
    """At the first prompt with 70% before it."""
    names = [{"u": "user", "a": "assistant"}[kind] for kind in kinds]
    assert gemini.split(lengths, names, 0.7, all_safe=safe) == position


@pytest.mark.parametrize(("used", "fires"), [(49, False), (50, True), (51, True)])
def test_gemini_fires_at_half_of_the_limit(used, fires):
    params = params_of("gemini_compression")
    for window in (99, 100):
        view = seen("u1 a1 u1", window=window, usage=LastUsage(used, 9, 0, 9))
        found = gemini.compression_gate(params, view)
        assert (found.fires, found.measure, found.threshold, found.operator) == (fires, used, 50, ">=")
    found = gemini.compression_gate(params, seen(f"u1 a{used - 4}", window=100, overhead=3))
    assert (found.fires, found.measure) == (fires, used)


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        ("u1", False),
        ("u1 a1", True),
        ("u1 a1:c r1:c", False),
        ("u1 a1 u1 a1:c", True),
        ("u1 a1:c r1:c a1:d", False),
        ("a1:c r:c", False),
    ],
)
def test_gemini_needs_something_to_compress(text, fires):
    view = seen(text, window=2, usage=LastUsage(50, 0, 0, 0))
    params = params_of("gemini_compression")
    assert gemini.compression_gate(params, view).fires is fires
    assert gemini.compression_gate(params, view).fires is fires
    view.state.memory["inflated"] = True
    assert gemini.compression_gate(params, view).fires is (text != "u1")


@pytest.mark.parametrize(
    ("sizes", "budget", "cut"),
    [
        ((1_000, 1_000), 500, []),
        ((1_000, 1_000), 499, ["2"]),
        ((1_000, 1_000), 249, ["2", "4"]),
        ((1_003, 1_000), 500, []),
        ((1_004, 1_000), 500, ["2"]),
    ],
)
def test_gemini_cuts_responses_over_the_budget(sizes, budget, cut):
    """Newest first, four characters a token; none of 100 characters or fewer."""
    params = params_of("gemini_compression", response_budget=budget, response_chars=100)
    view = seen(f"u a:c r{sizes[0]}:c a:d r{sizes[1]}:d a")
    made = gemini._cut_history(params, view)
    assert [item.id for item in made if item.edited] == cut
    for item in made:
        if item.edited:
            n = sizes[0] if item.id == "2" else sizes[1]
            frame = gemini.CUT_FRAME.format(20, 80, gemini.COMPRESSION_PATH, n - 100)
            assert item.size == 100 + len(frame)


def test_gemini_counts_what_a_cut_response_weighs():
    """Of 3,000 characters 100 and a frame of 216 stay: 79 tokens, beside 250 of the older one."""
    frame = len(gemini.CUT_FRAME.format(20, 80, gemini.COMPRESSION_PATH, 2_900))
    weight = (100 + frame) // 4
    params = params_of("gemini_compression", response_budget=0, response_chars=490)
    (item,) = [i for i in gemini._cut_history(params, seen("u a:c r9000:c a")) if i.edited]
    assert item.size == 490 + len(gemini.CUT_FRAME.format(98, 392, gemini.COMPRESSION_PATH, 8_510))
    for budget, cut in ((weight + 250, ["4"]), (weight + 249, ["2", "4"])):
        params = params_of("gemini_compression", response_budget=budget, response_chars=100)
        made = gemini._cut_history(params, seen("u a:c r1000:c a:d r3000:d a"))
        assert [item.id for item in made if item.edited] == cut
    params = params_of("gemini_compression", response_budget=weight + 24, response_chars=100)
    for size, cut in ((100, ["4"]), (101, ["2", "4"])):
        made = gemini._cut_history(params, seen(f"u a:c r{size}:c a:d r3000:d a"))
        assert [item.id for item in made if item.edited] == cut


def test_gemini_gives_up_where_it_would_not_shrink():
    """2 and 4 of 4 characters each, with the summary of 7 and the reply: at most what was used."""
    params = params_of("gemini_compression")
    text = "u400 a400 u4 a4 u1"
    total = (7 + marker(gemini.ACK).n_tokens + 8) // 4
    for used, fails in ((total - 1, True), (total, False), (total + 1, False)):
        view = seen(text, usage=LastUsage(used, 0, 0, 0))
        if fails:
            with pytest.raises(EditFailed, match="inflated"):
                gemini.compression_edit(params, view)
            assert view.state.memory["inflated"]
        else:
            assert ids(gemini.compression_edit(params, view)) == f"new {gemini.ACK} 2 3 4"


def test_gemini_only_cuts_after_a_compression_that_inflated():
    params = params_of("gemini_compression", response_budget=0, response_chars=100)
    view = seen("u4 a:c r1000:c a4 u1", tools=Desk())
    size = gemini._tokens(gemini._cut_history(params, view))
    for used, fails in ((size - 1, True), (size, True), (size + 1, False)):
        asked = replace(view, usage=LastUsage(used, 0, 0, 0))
        asked.state.memory["inflated"] = True
        if fails:
            with pytest.raises(EditFailed, match="smaller"):
                gemini.compression_edit(params, asked)
        else:
            assert list(gemini.compression_edit(params, asked)) == [2]
