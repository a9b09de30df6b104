"""Corners of single policies that a change of one sign or number would turn, worked out from their rules."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from sessions.engine.base import registry
from sessions.engine.policies import swe_agent_last_n
from sessions.engine.policies._lists import turn_starts
from sessions.engine.policies.adk_compaction import json_length
from sessions.engine.policies.ag2 import Counted
from sessions.engine.policies.agent_framework import limits
from sessions.engine.policies.anthropic_on_demand import Awaited, BackgroundParams, background_edit
from sessions.engine.policies.compression import ImportanceParams, score
from sessions.engine.policies.parametric import kept_from
from sessions.engine.policies.params import build
from sessions.engine.policies.policy import State
from sessions.engine.replays.context import message_items
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Role
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.sizes import estimator_named
from tests.engine.policies.listed import seen
from tests.engine.policies.sent import last, reply, result, user, views
from tests.engine.sessions import Build
from tests.parity.lists import transcript


def gemini(spec, **params):
    """The last list sent where the limit is what the request before reported."""
    sent = replay(weigh(transcript(spec)), "none").sent
    return last(spec, "gemini_compression", window=2 * sent.tokens[-2], **params)


@pytest.mark.golden("gemini_compression")
@pytest.mark.parametrize(("preserve", "split"), [(0.3, 8), (0.45, 6), (0.7, 4)])
def test_gemini_keeps_what_is_behind_the_first_prompt_with_enough_before_it(preserve, split):
    """Ten messages alike: 80% before the fifth prompt, 60% before the fourth, 40% before the third (7.1)."""
    spec = [m for _ in range(5) for m in (user(1_000), reply(chars=1_000))] + [user(4)]
    assert gemini(spec, preserve=preserve) == ["new", "new", *range(split, 11)]


@pytest.mark.golden("gemini_compression")
@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ([user(1_000), reply(chars=10), user(3_000), reply("a"), result("a", 100)], ["new", "new", 2, 3, 4]),
        ([user(4_000), reply("a"), result("a", 100), reply("b"), result("b", 10)], [0, 1, 2, 3, 4]),
        ([user(1_000), reply(chars=10), user(10), reply(chars=9_000), user(10)], ["new", "new", 4]),
    ],
    ids=["the last prompt", "nothing before it", "everything"],
)
def test_gemini_without_such_a_prompt(spec, expected):
    """Everything where the history ends with a reply without calls, else up to the last prompt (7.1)."""
    assert gemini(spec) == expected


@pytest.mark.golden("gemini_compression")
def test_gemini_has_nothing_to_compress_before_the_first_reply():
    """Over the limit at once, with one message."""
    assert last([user(1_000)], "gemini_compression", window=2) == [0]


@pytest.mark.golden("sliding_window")
@pytest.mark.parametrize(("over", "more"), [(-1, 1), (0, 0), (1, 0)])
def test_the_target_of_the_effective_window(over, more):
    """Half of what the system prompt leaves is one under, at and one over what the last eight prompts weigh."""
    session = Build(overhead=10_000, model="gpt-4.1")
    for n in range(20):
        session.prompt(1_000 + n)
    session.reply()
    weighed = weigh(session.done())
    newest = sum(weighed.tokens[12:20])
    window = weighed.overhead + 2 * (newest + over)
    params = {"capacity": "effective", "min_messages": 0}
    (event,) = replay(weighed, "sliding_window", params=params, window=window).events
    assert event.dropped == 12 + more


def test_swe_agent_s_gate_is_on_with_one_observation_too_many():
    """The last five stay as they are: with six, one is due (11.10)."""
    for n, fires in ((5, False), (6, True)):
        view = seen("u " + " ".join(f"a:{k} r1:{k}" for k in range(n)))
        gate = swe_agent_last_n.gate(swe_agent_last_n.Params(), view)
        assert (gate.fires, gate.measure, gate.threshold, gate.operator) == (fires, int(fires), 0, ">")


def test_an_empty_message_is_not_cut_where_the_others_fill_the_list():
    """AG2's limiter (11.6): of at most 10 tokens ten are the newer message's; nothing of the older one is left out."""
    counted = Counted(per_message=10)
    counted.count(0)
    counted.count(10)
    assert (counted.plan(10), counted.is_shortened(10)) == ((0, {}), False)
    counted.count(1)
    assert counted.is_shortened(10)


def test_a_block_asked_for_while_a_system_message_was_the_newest_replaces_nothing():
    """System messages are never compacted (replay-semantics 3): what was held is not among the others."""
    view = seen("u a s", state=State(memory={"awaited": Awaited(0, "2", 900)}))
    assert background_edit(BackgroundParams(), view) is None


@pytest.mark.golden("importance_sampling")
@pytest.mark.parametrize(("n", "points"), [(79, -1), (80, -1), (81, 0)])
def test_an_acknowledgement_has_eighty_characters_at_most(n, points):
    params = ImportanceParams(path_score=0, decision_score=0, error_score=0, acknowledgement_score=-1)
    session = Build()
    session.prompt()
    session.reply()
    (item, *_) = message_items(weigh(session.done()), estimator_named("chars_per_4"))
    assert score(params, item, "ok, " + "x" * (n - 4), redundant=False) == points


@pytest.mark.golden("importance_sampling")
def test_one_call_with_a_file_is_enough_for_the_path():
    """Text, a call of a file and one of none (seeds 3.1)."""
    params = ImportanceParams(path_score=4, decision_score=0, error_score=0, acknowledgement_score=0)
    session = Build()
    session.prompt()
    session.reply(10, "a", target="/src/a.py")
    session.reply(10, "b")
    _, named, plain = message_items(weigh(session.done()), estimator_named("chars_per_4"))
    assert [score(params, item, "looks", redundant=False) for item in (named, plain)] == [4, 0]


@pytest.mark.golden("importance_sampling")
@pytest.mark.parametrize(("word", "within", "points"), [("decided", 20_000, 3), ("error", 2_000, 3), ("/a", 20_000, 2)])
def test_marker_words_count_at_the_start_of_a_text(word, within, points):
    """Decisions and paths in the first 20,000 characters, errors in the first 2,000; ours."""
    session = Build()
    session.prompt()
    session.reply()
    (item, *_) = message_items(weigh(session.done()), estimator_named("chars_per_4"))
    inside = " " * (within - len(word)) + word
    assert score(ImportanceParams(), item, inside, redundant=False) == points
    assert score(ImportanceParams(), item, " " + inside, redundant=False) == 0


@pytest.mark.golden("parametric")
def test_what_an_earlier_event_inserted_is_not_kept():
    """Fewer replies than asked for: all but the summary."""
    plain = SimpleNamespace(inserted=False, tokens=1, message=SimpleNamespace(role=Role.USER, typed=True))
    summary = SimpleNamespace(inserted=True, tokens=1, message=SimpleNamespace(role=Role.USER, typed=False))
    params = build(registry.get("policies", "parametric").params, {"keep_unit": "replies", "keep_last": 2})
    assert kept_from(params, [summary, plain, plain]) == 1
    assert kept_from(params, [plain, summary, plain]) == 2
    assert kept_from(params, [plain, plain, plain]) == 0


@pytest.mark.golden("parametric")
def test_the_first_message_may_be_the_reply_that_is_kept():
    """As many replies as asked for, and fewer."""
    prompt, answer = (
        SimpleNamespace(inserted=False, tokens=1, message=SimpleNamespace(role=role, typed=False))
        for role in (Role.USER, Role.ASSISTANT)
    )
    for count, position in ((1, 2), (2, 0), (3, 0)):
        params = build(registry.get("policies", "parametric").params, {"keep_unit": "replies", "keep_last": count})
        assert kept_from(params, [answer, prompt, answer]) == position


@pytest.mark.golden("parametric")
@pytest.mark.parametrize(("keep_first", "dropped"), [(2, [1]), (3, []), (1_000, [])])
def test_where_the_beginning_is_everything_nothing_is_compacted(keep_first, dropped):
    """Three messages, none kept at the end."""
    given = {"share": None, "messages": 3, "keep_first": keep_first, "keep_last": 0}
    made = replay(weigh(transcript([user(), reply(), user(4_000)])), "parametric", params=given, summarizer="stub:50")
    assert [event.dropped for event in made.events] == dropped
    assert len(made.attempts) == 1 - len(dropped)


@pytest.mark.golden("parametric")
@pytest.mark.parametrize(("chars", "masked"), [(119, 0), (120, 0), (121, 1)])
def test_results_are_masked_above_their_least_length(chars, masked):
    spec = [user(), reply("a"), result("a", chars), reply("b"), result("b", 4)]
    given = {"share": None, "tokens": 1, "edit": "mask results", "keep_last": 2}
    sent = views(spec, "parametric", **given)[-1]
    assert (sent[2][4][0][1] != chars) is bool(masked)


@pytest.mark.golden("parametric")
@pytest.mark.parametrize(("over", "more"), [(-1, 1), (0, 0), (1, 0)])
@pytest.mark.parametrize("capacity", ["effective", "static"])
def test_the_target_of_a_truncation(capacity, over, more):
    """Half of the window, with the system prompt or without it, is what the last eight prompts weigh, or one off."""
    session = Build(overhead=10_000, model="gpt-4.1")
    for n in range(20):
        session.prompt(1_000 + n)
    session.reply()
    weighed = weigh(session.done())
    goal = sum(weighed.tokens[12:20]) + over
    window = weighed.overhead + 2 * goal if capacity == "effective" else 2 * (weighed.overhead + goal)
    given = {"share": None, "tokens": 1, "capacity": capacity, "edit": "truncate", "target": 50, "keep_last": 1}
    (event,) = replay(weighed, "parametric", params=given, window=window).events
    assert event.dropped == 12 + more


@pytest.mark.golden("adk_compaction")
def test_a_call_of_an_earlier_invocation_never_answered_is_passed_over():
    """Invocation 0 has a call without a result; one of the newest invocation may still be answered (11.14)."""
    spec = [user(400), reply("dead", chars=400), user(400), reply(chars=400), user(400), reply(chars=400), user()]
    given = {"token_threshold": 1, "usage": "none"}
    assert last(spec, "adk_compaction", retention=3, **given)[0] == "new"
    assert last(spec, "adk_compaction", retention=3, **given)[-3:] == [4, 5, 6]
    open_call = [user(400), reply(chars=400), reply("open", chars=400), reply(chars=400), reply(chars=400)]
    assert last(open_call, "adk_compaction", retention=1, **given)[-3:] == [2, 3, 4]


@pytest.mark.golden("parametric")
def test_without_a_trigger_nothing_fires():
    """0 of 0 tokens, at each of six requests."""
    session = Build()
    session.prompt()
    session.turns(5)
    session.reply()
    gates = replay(weigh(session.done()), "parametric", params={"share": None}, window=10).gates
    assert [(gate.fires, gate.measure, gate.threshold, gate.unit) for gate in gates] == [(False, 0, 0, "tokens")] * 6


@pytest.mark.golden("layered_v1")
@pytest.mark.parametrize(("keep", "left"), [(1, ["new", 3, 4]), (2, ["new", 3, 4]), (3, ["new", 2, 3, 4])])
def test_a_refusal_pulls_the_tail_back_to_the_call_and_no_further(keep, left):
    """The last message is a result: its call stays with it (seeds 1.2, reactive compact)."""
    spec = [user(4_000), user(4_000), user(10), reply("c0"), result("c0", 9_000)]
    given = {"max_output": 0, "buffer": 0, "keep_results": 1_000, "reactive_keep": keep}
    assert last(spec, "layered_v1", window=15_000, **given) == left


@pytest.mark.golden("adk_compaction")
def test_length_as_json():
    """What Python writes, without spaces (policies 11.14): text, a call of 62 characters of arguments, its result."""
    spec = [user(7), reply("call", chars=5), result("call", 11)]
    items = message_items(weigh(transcript(spec)), estimator_named("chars_per_4"))
    arguments = items[1].message.blocks[-1].n_chars
    call = {"id": "call", "args": 0, "name": "Read"}
    answer = {"id": "call", "name": "Read", "response": {"result": "x" * 11}}
    written = [
        {"parts": [{"text": "x" * 7}], "role": "user"},
        {"parts": [{"text": "x" * 5}, {"function_call": call}], "role": "model"},
        {"parts": [{"function_response": answer}], "role": "user"},
    ]
    lengths = [len(json.dumps(message, separators=(",", ":"))) for message in written]
    lengths[1] += arguments - 1
    assert [json_length(SimpleNamespace(items=items), [item]) for item in items] == lengths
    assert json_length(SimpleNamespace(items=items), items) == sum(lengths)


@pytest.mark.golden("aider")
@pytest.mark.parametrize(("over", "whole"), [(-1, False), (0, True), (1, True)])
def test_aider_summarises_all_where_summary_and_tail_reach_the_budget(over, whole):
    """At 128k the budget is 8,000; a summary and tail of as much are summarised together (11.5)."""
    session = Build(model="gpt-4.1")
    for _ in range(12):
        session.prompt(500)
        session.reply(400)
    session.prompt()
    session.reply()

    def event(summary: int):
        return replay(weigh(session.done()), "aider", window=128_000, summarizer=f"stub:{summary}").events[0]

    rest = sum(item.size for item in event(100).after[:-1]) - 100
    after = event(8_000 - rest + over).after
    assert (len([item for item in after if not item.inserted]) == 1) is whole


@pytest.mark.golden("claw_code")
@pytest.mark.parametrize("tokens", [3_000, 4_000])
def test_claw_code_asks_no_model(tokens):
    """Its summary is counts and names (11.17)."""
    session = Build()
    session.prompt(tokens)
    session.turns(4, tokens=tokens)
    session.reply()
    made = replay(weigh(session.done()), "claw_code", summarizer="stub:50").events
    assert {event.summary_calls for event in made} == {0}


@pytest.mark.golden("agent_framework")
@pytest.mark.parametrize(
    ("window", "output", "expected"),
    [
        (128_000, 4_096, (123_904, 61_952, 99_123)),
        (1_003, 1_000, (3, 1, 2)),
        (1_000, 1_000, (1, 0, 0)),
        (1, 9, (1, 0, 0)),
    ],
)
def test_the_limits_of_a_budget(window, output, expected):
    """The golden values of 11.13, and budgets of next to nothing."""
    assert tuple(limits(window, output)) == expected


def test_a_turn_starts_at_the_first_message_and_at_every_prompt():
    """Each once (seeds 2.5)."""
    prompt, other = (SimpleNamespace(message=SimpleNamespace(typed=typed)) for typed in (True, False))
    assert turn_starts([prompt, other, prompt]) == [0, 2]
    assert turn_starts([other, other, prompt]) == [0, 2]
    assert turn_starts([other]) == [0]
