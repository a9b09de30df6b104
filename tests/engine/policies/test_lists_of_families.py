"""What the policies of one agent or library share: figures at and beside each boundary, worked out from its rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.models.model_info import model_info
from sessions.engine.policies import (
    buzz,
    cline,
    gemini,
    inspect,
    langchain,
    opencode,
    openhands,
)
from sessions.engine.policies.policy import EditFailed, LastUsage
from sessions.engine.transcript.types import Block, Kind, Media
from tests.engine.policies.listed import Desk, block, ids, lists, seen, told

USAGE = LastUsage(100, 20, 90, 5)


@pytest.mark.parametrize(
    ("tokens", "usage", "expected"),
    [
        ("u50 a50", None, 100),
        ("u100", LastUsage(1_000, 0, 0, 0), 100),
        ("u40 a40", LastUsage(70, 20, 0, 0), 90),
        ("u50 a50", LastUsage(100, 25, 0, 0), 125),
        ("u50 a50", LastUsage(100, 26, 0, 0), 125),
        ("u50 a50", LastUsage(60, 39, 0, 0), 100),
        ("u50 a30 n20", LastUsage(80, 10, 0, 20), 113),
        ("u50 n50", LastUsage(80, 10, 0, 100), 100),
        ("u50 n50", LastUsage(80, 10, 0, 99), 125),
    ],
)
def test_langchain_scales_its_count(tokens, usage, expected):
    """By 1 to 1.25, rounded up, from the second message on and where something stands before the reply's end."""
    assert langchain.counted(seen(tokens, usage=usage)) == expected


def test_langchain_scales_a_count_that_it_is_given():
    assert langchain.counted(seen("u50 a50", usage=LastUsage(100, 10, 0, 0)), 200) == 200
    assert langchain.counted(seen("u50 a50", usage=LastUsage(100, 10, 0, 0)), 0) == 0


@pytest.mark.parametrize(
    ("count", "usage", "expected"),
    [(99, None, False), (100, None, True), (0, (80, 19), False), (0, (80, 20), True), (101, (0, 0), True)],
)
def test_langchain_reaches_its_limit(count, usage, expected):
    """At it, by its own count or as reported."""
    view = seen("u", usage=LastUsage(*usage, 0, 0) if usage else None)
    assert (langchain.measured(view, count) >= 100) is expected


def test_langchain_takes_a_share_of_one_token_at_least():
    assert [langchain.share(window, 0.8) for window in (1, 2, 10, 11)] == [1, 1, 8, 8]


@pytest.mark.parametrize(("keep", "cut"), [(6, 0), (5, 0), (4, 1), (3, 2), (2, 2), (1, 4), (0, 5)])
def test_langchain_keeps_the_newest_messages(keep, cut):
    assert langchain.message_cut(lists("u u a:c r:c u"), keep) == cut
    assert langchain.message_cut(lists("r:c u"), 2) == 0


@pytest.mark.parametrize(
    ("text", "budget", "count", "cut"),
    [
        ("u1 u2 u3", 6, 6, 0),
        ("u1 u2 u3", 5, 6, 1),
        ("u1 u2 u3", 4, 6, 2),
        ("u1 u2 u3", 3, 6, 2),
        ("u1 u2 u3", 2, 6, 2),
        ("u1 u2 u3", 6, 7, 0),
        ("u9", 5, 9, 0),
        ("", 5, 9, 0),
        ("u1 u9", 5, 10, 1),
        ("r9:c", 5, 9, 0),
        ("a1:c r5:c", 5, 5, 0),
        ("u1 u5", 5, 5, 0),
        ("u1 a1:c r3:c", 3, 5, 1),
    ],
)
def test_langchain_keeps_what_fits(text, budget, count, cut):
    """The newest message stays alone where it does not fit; nothing goes at the budget."""
    assert langchain.token_cut(lists(text), budget, count) == cut


@pytest.mark.parametrize(
    ("text", "cut", "expected"),
    [
        ("u a:c r:c u", 1, 1),
        ("u a:c r:c u", 2, 1),
        ("a:c r:c u", 1, 0),
        ("u a:c,d r:c r:d u", 3, 1),
        ("u r:c r:d u", 1, 3),
        ("u r:c r:d", 1, 3),
        ("r:c u", 0, 1),
        ("u a:x r:c", 2, 3),
        ("u a", 2, 2),
        ("a:d a:c r:c r:d", 2, 1),
    ],
)
def test_langchain_cuts_at_no_result(text, cut, expected):
    """Back to the reply that called, forward over the results where none did."""
    assert langchain.safe_cut(lists(text), cut) == expected


@pytest.mark.parametrize(
    ("text", "turns", "budget", "start"),
    [
        ("u1 a1 u1 a1 u1 a1", 2, 4, 2),
        ("u1 a1 u1 a1 u1 a1", 1, 4, 4),
        ("u1 a1 u1 a1 u1 a1", 0, 4, None),
        ("u1 a1 u1 a1 u1 a1", 2, 3, 3),
        ("u1 a1 u1 a1 u1 a1", 2, 2, 4),
        ("u1 a1 u1 a1 u1 a1", 2, 1, 5),
        ("u1 a1 u1 a1 u1 a1", 2, 0, None),
        ("u1 a1 u1 a1 u1 a1", 3, 6, None),
        ("u1 a1 u1 a1 u1 a1", 3, 5, 1),
        ("u1 a1 u9", 1, 3, None),
        ("u1 a1 u9 a0", 1, 0, None),
        ("u1 a9:c u1 r1:c", 1, 2, None),
        ("u1 a1 u2 a2:c r1:c a3", 1, 8, 2),
        ("u1 a1 u2 a2:c r1:c a3", 1, 7, 3),
        ("u1 a1 u2 a2:c r1:c a3", 1, 6, 3),
        ("u1 a1 u2 a2:c r1:c a3", 1, 5, 5),
        ("u1 a1 u2 a2:c r1:c a3", 1, 3, 5),
        ("u1 a1 u2 a2:c r1:c a3", 1, 2, None),
    ],
)
def test_opencode_keeps_a_tail_of_whole_turns(text, turns, budget, start):
    """The newest that fit; one that does not is split, never at a result; all of it is no tail (policies 8.3)."""
    assert opencode.tail_start(lists(text), turns, budget) == start


@pytest.mark.parametrize(
    ("given", "name", "expected"),
    [
        (None, "gpt-4.1", 32_000),
        (31_999, "gpt-4.1", 31_999),
        (32_000, "", 32_000),
        (32_001, "", 32_000),
        (0, "", 32_000),
    ],
)
def test_opencode_counts_thirty_two_thousand_of_the_output(given, name, expected):
    assert opencode.output_tokens(given, model_info(name)) == expected


@pytest.mark.parametrize(
    ("window", "output", "limited", "reserved", "expected"),
    [
        (200, 30, None, None, 170),
        (200_000, 19_999, 100_000, None, 80_001),
        (200_000, 20_000, 100_000, None, 80_000),
        (200_000, 20_001, 100_000, None, 80_000),
        (200, 30, 100, 7, 93),
    ],
)
def test_opencode_uses_what_is_not_reserved(window, output, limited, reserved, expected):
    assert opencode.usable_of(window, output, limited, reserved) == expected


def test_opencode_knows_models_whose_window_is_the_input_s():
    """GPT-5: 272,000 of input in a context that holds its output of 128,000, too."""
    model = model_info("gpt-5")
    assert (model.window, model.max_output) == (272_000, 128_000)
    assert opencode.limits_of(None, 272_000, model) == (400_000, 272_000)
    assert opencode.limits_of(None, 271_999, model) == (271_999, None)
    assert opencode.limits_of(5, 272_000, model) == (272_000, 5)
    assert opencode.limits_of(0, 272_000, model) == (272_000, None)
    assert opencode.limits_of(None, 1_047_576, model_info("gpt-4.1")) == (1_047_576, None)
    assert opencode.limits_of(None, 922_000, replace(model, window=922_000)) == (1_050_000, 922_000)
    assert opencode.limits_of(None, 272_000, replace(model, family="claude")) == (272_000, None)


@pytest.mark.parametrize(("n", "fires"), [(3, False), (4, False), (5, True)])
def test_openhands_counts_events_over_its_limit(n, fires):
    found = openhands.events_gate(told(max_size=4), seen("u " * n))
    assert (found.fires, found.measure, found.threshold, found.operator) == (fires, n, 4, ">")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("s u a u", ("0", "1", "2 3")),
        ("n a u u", ("", "0", "1 2 3")),
        ("a r:c u a", ("", "0 1 2", "3")),
        ("a z u", ("", "0", "1 2")),
        ("a r:c", ("", "0 1", "")),
        ("z u", ("", "", "0 1")),
    ],
)
def test_inspect_keeps_the_input(text, parts):
    """All up to the first user message, a summary excluded: a result is none."""
    assert tuple(ids(part) for part in inspect.partitioned(lists(text))) == parts


def test_inspect_counts_the_last_input():
    """100 and what the list gained since 90; without usage all of it."""
    assert inspect.total(seen("u97", usage=USAGE, overhead=3)) == 107
    assert inspect.total(seen("u97", overhead=3)) == 100
    assert inspect.limit(told(threshold=0.9, threshold_tokens=None), 11) == 9
    assert inspect.limit(told(threshold=0.9, threshold_tokens=50), 11) == 50


@pytest.mark.parametrize(("size", "fires"), [(89, False), (90, False), (91, True)])
def test_inspect_fires_over_its_share(size, fires):
    found = inspect.gate(told(threshold=0.9, threshold_tokens=None), seen(f"u{size}", window=100))
    assert (found.fires, found.measure, found.threshold, found.operator) == (fires, size, 90, ">")


@pytest.mark.parametrize(("most", "passes"), [(16, 1), (15, 1), (14, 2), (13, 3), (12, 4), (11, None), (0, None)])
def test_inspect_compacts_four_times_at_most(most, passes):
    """Each pass takes a message of 1; a system prompt of 10 stays."""
    calls = []

    def compact(items):
        calls.append(len(items))
        return items[1:]

    params = told(threshold=0.9, threshold_tokens=most)
    view = seen("u1 u1 u1 u1 u1 u1", overhead=10)
    if passes is None:
        with pytest.raises(EditFailed, match=f"12 still over {most}"):
            inspect.repeated(params, view, compact)
        assert len(calls) == 4
    else:
        assert len(inspect.repeated(params, view, compact)) == 6 - passes
        assert len(calls) == passes


def test_inspect_stops_where_a_pass_frees_nothing():
    calls = []
    with pytest.raises(EditFailed):
        inspect.repeated(told(threshold=0.9, threshold_tokens=5), seen("u9"), lambda items: calls.append(0) or items)
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("window", "percent", "limit"), [(100, 90, 81), (101, 90, 81), (102, 90, 82), (1_000, 1, 9), (10, 100, 9)]
)
def test_cline_fires_at_nine_tenths_of_nine_tenths(window, percent, limit):
    """The input budget is rounded down, the trigger up."""
    for size, fires in ((limit - 3, False), (limit - 2, True), (limit - 1, True)):
        found = cline.request_gate(seen(f"u{size}", window=window, overhead=2), None, percent)
        assert (found.fires, found.measure, found.threshold, found.operator) == (fires, size + 2, limit, ">=")


def test_cline_takes_a_budget_within_the_window():
    assert [cline.max_input(given, 100) for given in (99, 100, 101)] == [99, 100, 100]


@pytest.mark.parametrize(
    ("n_results", "window", "known", "expected"),
    [
        (4, 50, True, 63),
        (5, 50, True, 51),
        (6, 50, True, 51),
        (5, 50, False, 63),
        (5, 102, True, 51),
        (5, 103, True, 63),
    ],
)
def test_cline_goes_down_to_half_with_five_pairs(n_results, window, known, expected):
    """Seven tenths of ⌈0.9 · 103⌉ = 93 are 65, of ⌈0.9 · 102⌉ = 92 are 64; half only on a smaller model."""
    model = replace(model_info("gpt-4.1"), window=window, known=known)
    view = replace(seen("r:c " * n_results), model=model)
    assert cline.goal_of(view, 103, 90, 70) == (51 if expected == 51 else 93 * 70 // 100)


def test_gemini_measures_json():
    """The frames as they stand in its requests, commas between the parts; ids, names and texts counted as they are."""
    text = '{"role":"user","parts":[{"text":"xxx"}]}'
    assert gemini.json_length(lists("u3")[0], {}) == len(text)
    called = '{"role":"model","parts":[{"text":"xx"},{"functionCall":{"id":"c1","name":"Bash","args":}}]}'
    assert gemini.json_length(lists("a2:c1", name="Bash")[0], {}) == len(called)
    answer = '{"functionResponse":{"id":"c1","name":"Bash","response":{"output":"xxxx"}}}'
    names = {"c1": "Bash"}
    (item,) = lists("r4:c1")
    assert gemini.json_length(item, names) == len('{"role":"user","parts":[]}') + len(answer)
    assert gemini.json_length(lists("n0")[0], names) == len('{"role":"user","parts":[]}')
    (found,) = item.message.blocks
    assert gemini.quarter_tokens(found, names) == len("Bash" + '{"output":"xxxx"}')
    call = Block(Kind.TOOL_USE, n_chars=7, call_id="c1", name="Bash")
    assert gemini.quarter_tokens(call, names) == len('{"functionCall":{"id":"c1","name":"Bash","args":1234567}}')
    assert gemini.quarter_tokens(block(Kind.TEXT, 9), names) == 9


@pytest.mark.parametrize(
    ("text", "budget", "kept"),
    [
        ("u1 u2 u3", 30, "0 1 2"),
        ("u1 u2 u3", 29, "1 2"),
        ("u1 u9 u3", 20, "0 2"),
        ("u1 u9 u3", 19, "2"),
        ("u1 u9", 17, "1"),
        ("u1 u9", 16, "1"),
        ("u1 u9", 0, "1"),
    ],
)
def test_buzz_reads_the_newest_that_fit(text, budget, kept):
    """``[user] `` and a line's end are 8 bytes; one that does not fit is passed over; the newest stays, cut."""
    assert ids(buzz.newest_within(lists(text), budget)) == kept


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u4", "[user] xxxx\n"), ("n0", "[user] \n"), ("a4", "[assistant] xxxx\n"), ("t4", "[assistant] \n"),
        ("a4:c,d", "[assistant] tool:Read tool:Readxxxx\n "), ("r5:c", "[tool] xxxxx\n"),
        ("r5:!c", "[tool_err] xxxxx\n"), ("r6:c,d", "[tool] xxxxx\n[tool] x\n"), ("s4", "[user] xxxx\n"),
    ],
)  # fmt: skip
def test_buzz_writes_a_line_for_each(text, expected):
    assert buzz.snippet_bytes(lists(text)[0]) == len(expected)


def test_buzz_writes_an_image_as_its_type():
    """Inside a result, and beside one: there who says the rest is written, too."""
    image = Block(Kind.IMAGE, media=Media("image/png", n_base64=1_234))
    word = "[image: image/png, 1234 base64 bytes]"
    (item,) = lists("r3:c")
    inside = replace(item.message.blocks[0], parts=(image,))
    for blocks, expected in (
        ((inside,), f"[tool] xxx{word}\n"),
        ((*item.message.blocks, image), f"[tool] xxx\n[user] {word}\n"),
    ):
        made = replace(item, message=replace(item.message, blocks=blocks))
        assert buzz.snippet_bytes(made) == len(expected)


def test_buzz_writes_other_media_as_nothing():
    """A result whose media is told of beside its text is no image."""
    (item,) = lists("r3:c")
    blocks = (replace(item.message.blocks[0], media=Media("text/plain")),)
    assert buzz.snippet_bytes(replace(item, message=replace(item.message, blocks=blocks))) == len("[tool] xxx\n")
    bare = (Block(Kind.IMAGE, n_bytes=3),)
    assert buzz.snippet_bytes(replace(item, message=replace(item.message, blocks=bare))) == len("[user] xxx\n")


def test_buzz_leaves_room_for_the_summary():
    assert [buzz.prompt_budget(seen("u", window=w, overhead=8)) for w in (8_199, 8_200, 8_201)] == [0, 0, 1]


@pytest.mark.parametrize(
    ("text", "budget", "left", "read", "omitted"),
    [
        ("s u1 a1 u2 a1", 1_000, "0 new 3", "1 2 4", 0),
        ("s n1 a1", 1_000, "0 new", "1 2", 0),
        ("s u1 a1 u2 a1", 14 + 10, "0 new 3", "4", 2),
        ("s", 1_000, "0", None, 0),
    ],
)
def test_buzz_hands_off(text, budget, left, read, omitted):
    """System messages, the handoff, the newest prompt, which the summary is not written from."""
    desk = Desk()
    assert ids(buzz.hand_off(seen(text, tools=desk), budget)) == left
    assert [asked for asked, _ in desk.asked] == ([read.split()] if read else [])
    if read:
        assert desk.asked[0][1]["suffix"] == (f"\n\n(… {omitted} older items omitted)" if omitted else "")
