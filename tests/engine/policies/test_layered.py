"""Golden values of the layered pipelines: every layer at, below and above its threshold (seeds 1.2)."""

from __future__ import annotations

import io
from collections import Counter

import pytest

from sessions.engine.demo.session import write_demo
from sessions.engine.policies.layered import V1Params, V2Params, fit_edit, micro_gate, micro_to_target
from sessions.engine.policies.params import build
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.reading.texts import Texts
from sessions.engine.replays.context import message_items
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Block, Kind
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.sizes import estimator_named
from tests.engine.sessions import Build, empty_view, long_session, text

OFF = {"max_messages": 10_000, "keep_results": 1_000}
"""Parameters that keep snip and micro out of the way."""


def chars(n, call):
    """A result of ``n`` characters, a token each four."""
    return Block(Kind.TOOL_RESULT, n_chars=n, n_bytes=n, n_tokens=n // 4, call_id=call)


def results(*sizes, usage=False):
    """A prompt, one reply with as many calls as sizes, all results in one user message."""
    build = Build(usage=usage)
    build.prompt()
    build.reply(10, *(f"c{n}" for n in range(len(sizes))))
    build.add("user", *(chars(size, f"c{n}") for n, size in enumerate(sizes)))
    build.reply()
    return weigh(build.done())


def fired(result, name):
    return [layer for event in result.events for layer in event.layers if layer.name == name]


@pytest.mark.golden("layered_v1")
@pytest.mark.parametrize(("total", "fires"), [(199_999, False), (200_000, False), (200_001, True)])
def test_budget_at_its_limit(total, fires):
    weighed = results(total - 50_000, 50_000)
    made = replay(weighed, "layered_v1", params={**OFF, "buffer": 0, "max_output": 0}, window=10_000_000)
    assert bool(fired(made, "tool_result_budget")) is fires


def test_budget_cuts_the_largest_first_and_leaves_small_results():
    """150,000 + 60,000 + 30,000: the first becomes 2,000 and its marker, then the total is under 200,000."""
    weighed = results(60_000, 150_000, 30_000)
    made = replay(weighed, "layered_v1", params={**OFF, "buffer": 0, "max_output": 0}, window=10_000_000)
    after = made.events[0].after[-1].message.blocks
    marker = len("<persisted-output> full text: .tool_results/c1.txt")
    assert [block.n_chars for block in after] == [60_000, 2_000 + marker, 30_000]
    small = results(*[30_000] * 8)
    quiet = replay(small, "layered_v1", params={**OFF, "buffer": 0, "max_output": 0}, window=10_000_000)
    assert not fired(quiet, "tool_result_budget"), "none is larger than 30,000"


@pytest.mark.golden("layered_v1", "layered_v2")
@pytest.mark.parametrize(
    ("policy", "n_turns", "fires"),
    [("layered_v1", 24, False), ("layered_v1", 26, True), ("layered_v2", 24, False), ("layered_v2", 25, True)],
)
def test_snip_above_fifty_messages(policy, n_turns, fires):
    """A prompt and n turns of two messages: 49 do nothing; with 51, v1's middle is one result whose call stays."""
    params = {"keep_results": 1_000} | ({"limit": 10_000_000} if policy == "layered_v2" else {})
    made = replay(weigh(long_session(n_turns, tokens=10)), policy, params=params)
    snips = fired(made, "snip")
    assert bool(snips) is fires


def test_snip_keeps_three_and_the_tail_with_its_call():
    """53 messages: head is prompt, call and its result; the tail of 47 starts at a result, so its call comes too."""
    made = replay(weigh(long_session(26, tokens=100)), "layered_v1", params={"keep_results": 1_000})
    after = made.events[0].after
    assert [item.id for item in after[:3]] == ["m0", "m1", "m2"]
    assert after[3].message.preview == "[2 messages from the middle of the conversation snipped]"
    assert [after[4].id, after[-1].id] == ["m5", "m52"]


def test_a_middle_that_is_a_lone_marker_is_left_alone():
    made = replay(weigh(long_session(60, tokens=400)), "layered_v2", params={"limit": 10_000_000})
    assert len(made.events) > 1
    for event in made.events:
        assert sum("from the middle" in item.message.preview for item in event.after if item.inserted) == 1


@pytest.mark.parametrize(("size", "cleared"), [(120, 0), (121, 3)])
def test_micro_clears_results_longer_than_120_but_the_last_three(size, cleared):
    build = Build(usage=False)
    build.prompt()
    for n in range(6):
        build.reply(10, f"c{n}", name="Grep")
        build.add("user", chars(size, f"c{n}"))
    build.reply()
    made = replay(weigh(build.done()), "layered_v1", params={"max_messages": 10_000})
    done = {item.id for event in made.events for item in event.after if item.edited}
    assert len(done) == cleared
    if cleared:
        block = made.events[-1].after[2].message.blocks[0]
        assert block.n_chars == len("[Previous: used Grep]")


@pytest.mark.golden("layered_v1")
def test_v1_summarises_over_the_threshold_and_not_at_it():
    """200,000 − 32,000 − 13,000 = 155,000 estimated tokens: at it nothing, one over it one user message."""
    params = {**OFF, "max_output": 32_000, "results_limit": 10_000_000}
    for extra, events in ((0, 0), (1, 1)):
        build = Build(usage=False)
        prompt = Block(
            Kind.TEXT, n_chars=4 * (155_000 + extra), n_bytes=4 * (155_000 + extra), n_tokens=155_000 + extra
        )
        build.add("user", prompt, typed=True)
        build.reply()
        made = replay(weigh(build.done()), "layered_v1", params=params, window=200_000, summarizer="stub:500")
        assert len(made.events) + len(made.attempts) == events
        assert made.gates[0].measure == 155_000 + extra
        assert made.gates[0].threshold == 155_000


def test_auto_leaves_one_message_with_the_active_request():
    made = replay(
        weigh(long_session(180, tokens=900)), "layered_v1", params={**OFF, "max_output": 32_000}, summarizer="stub:1000"
    )
    event = made.events[0]
    assert (event.n_after, event.inserted, event.summary_calls) == (1, 1, 1)
    files = "\n\nRecently read files:" + "".join(f"\n- /src/{n}.py" for n in _last_files(event))
    from sessions.engine.policies.edits import marker

    assert event.after[0].tokens == 1_000 + marker(files).n_tokens + event.before[0].tokens


def _last_files(event):
    calls = [b for item in reversed(event.before) for b in item.message.blocks if b.kind is Kind.TOOL_USE]
    return list(dict.fromkeys(int(b.target[5]) for b in calls))[:5]


def test_a_summary_is_capped_at_twenty_thousand_tokens():
    params = {**OFF, "max_output": 32_000}
    session = weigh(long_session(180, tokens=900))
    capped = replay(session, "layered_v1", params=params, summarizer="stub:30000").events[0]
    free = replay(session, "layered_v1", params={**params, "summary_cap": 30_000}, summarizer="stub:30000").events[0]
    assert free.after_tokens - capped.after_tokens == 10_000


def test_session_notes_come_first_and_cost_no_call():
    session = weigh(long_session(180, tokens=900))
    params = {**OFF, "max_output": 32_000, "notes_tokens": 2_000}
    event = replay(session, "layered_v1", params=params, summarizer="stub:5000").events[0]
    assert event.summary_calls == 0
    assert event.after[0].tokens < 2_500


def test_v2_micro_stops_under_the_target():
    """Ten seen results of 6,000: 60,000 over 50,000; micro clears until under 40,000."""
    build = Build(usage=False)
    build.prompt(1)
    for n in range(10):
        build.reply(1, f"c{n}")
        build.add("user", chars(6_000, f"c{n}"))
    build.reply()
    made = replay(weigh(build.done()), "layered_v2", params={"max_messages": 10_000})
    first = made.events[0]
    assert [layer.name for layer in first.layers] == ["micro"]
    over = sum(item.size for item in first.before)
    assert over > 50_000
    left = sum(item.size for item in first.after)
    assert left < 40_000 <= left + 6_000


@pytest.mark.golden("layered_v1")
@pytest.mark.parametrize("summarizer", ["stub:0", "stub:100", "stub:5000", "stub"])
def test_a_stub_does_not_size_session_notes(summarizer):
    """Notes of 2,000 tokens weigh 2,000 whatever a summary would."""
    session = weigh(long_session(180, tokens=900))
    params = {**OFF, "max_output": 32_000, "notes_tokens": 2_000}
    event = replay(session, "layered_v1", params=params, summarizer=summarizer).events[0]
    bare = replay(session, "layered_v1", params={**params, "notes_tokens": 0}, summarizer=summarizer).events[0]
    assert event.summary_calls == bare.summary_calls == 0
    assert event.after[0].tokens - bare.after[0].tokens == 2_000


def worked(*sizes, unseen=(), prompt=1):
    """Seen results of these sizes, one a reply, then ``unseen`` ones that answer the last reply together."""
    build = Build(usage=False)
    build.prompt(prompt)
    for n, size in enumerate(sizes):
        build.reply(1, f"s{n}")
        build.add("user", chars(size, f"s{n}"))
    build.reply(1, *(f"u{n}" for n in range(len(unseen))))
    if unseen:
        build.add("user", *(chars(size, f"u{n}") for n, size in enumerate(unseen)))
        build.reply(1)
    return weigh(build.done())


def whole(weighed):
    """Characters of the list as JSON at the last request."""
    return replay(weighed, "layered_v2", params={"limit": 10_000_000}).gates[-1].measure


def edited(edit, weighed, at, **params):
    """Lengths of the results after one layer's edit, its target being ``at`` characters."""
    view = asked(weighed)
    changes = edit(build(V2Params, {"limit": at, "target": 100, **params}), view)
    items = [changes.get(n, item) for n, item in enumerate(view.items)]
    return [b.n_chars for item in items for b in item.message.blocks if b.kind is Kind.TOOL_RESULT]


def asked(weighed):
    """What a layer of v2 is asked about at the last request."""
    view = empty_view(weighed, "serialized_chars", 200_000)
    stop = next((r.message for r in weighed.transcript.requests[-1:]), None)
    view.items = message_items(weighed, estimator_named("serialized_chars"))[:stop]
    view.size = sum(item.size for item in view.items)
    view.results = [n for n, item in enumerate(view.items) if item.message.result_ids()]
    return view


PLACEHOLDER = len("[Result saved to .tool_results/s0.txt]")
PREVIEW = len("<persisted-output> full text: .tool_results/s0.txt")


@pytest.mark.golden("layered_v2")
@pytest.mark.parametrize(("under", "fires"), [(-1, False), (0, False), (1, True)])
def test_v2_acts_over_its_limit_and_not_at_it(under, fires):
    """``len(json.dumps(messages))`` against the limit: >."""
    weighed = worked(900, 900, 900, 900, 900)
    length = whole(weighed)
    assert length > 5 * (900 + len('{"type": "tool_result", "tool_use_id": "s0", "content": ""}'))
    made = replay(weighed, "layered_v2", params={"limit": length - under}, summarizer="stub:10")
    assert bool(made.events) is fires


@pytest.mark.golden("layered_v2")
@pytest.mark.parametrize(("n_seen", "cleared"), [(2, 0), (3, 0), (4, 1), (5, 2)])
def test_v2_keeps_the_last_three_of_the_results_that_were_seen(n_seen, cleared):
    """Two unseen ones are not counted among the three, and not cleared."""
    left = edited(micro_to_target, worked(*[900] * n_seen, unseen=(900, 900)), 1_000)
    assert left == [PLACEHOLDER] * cleared + [900] * (min(n_seen, 3) + 2)


@pytest.mark.golden("layered_v2")
@pytest.mark.parametrize(("over", "cleared"), [(-1, 1), (0, 1), (1, 2)])
def test_v2_micro_stops_at_its_target(over, cleared):
    """Each placeholder takes 9,000 − 38; after one the list is one under, at or one over the target."""
    weighed = worked(*[9_000] * 6)
    at = whole(weighed) - (9_000 - PLACEHOLDER) - over
    assert edited(micro_to_target, weighed, at).count(PLACEHOLDER) == cleared


@pytest.mark.golden("layered_v2")
@pytest.mark.parametrize(("size", "cleared"), [(119, 0), (120, 0), (121, 1)])
def test_v2_micro_leaves_results_of_120_characters(size, cleared):
    left = edited(micro_to_target, worked(size, 900, 900, 900, unseen=(900,)), 1_000)
    assert left == [PLACEHOLDER if cleared else size, 900, 900, 900, 900]


@pytest.mark.golden("layered_v2")
@pytest.mark.parametrize(("over", "cut"), [(-1, 1), (0, 1), (1, 2)])
def test_v2_fit_stops_at_its_target(over, cut):
    """The largest of three new results goes first; then the list is one under, at or one over the target."""
    weighed = worked(unseen=(15_000, 20_000, 10_000))
    at = whole(weighed) - (20_000 - 1_000 - PREVIEW) - over
    left = edited(fit_edit, weighed, at)
    assert left[1] == 1_000 + PREVIEW
    assert left.count(1_000 + PREVIEW) == cut
    assert left[2] == 10_000


@pytest.mark.golden("layered_v2")
def test_v2_fit_leaves_what_a_preview_would_not_shorten():
    """A result as long as preview and marker stays; one more character, and it is cut."""
    same = 1_000 + PREVIEW
    assert edited(fit_edit, worked(unseen=(same - 1, same, same + 1)), 1_000) == [same - 1, same, same]
    untouched = fit_edit(build(V2Params, {"limit": 1_000}), asked(worked(unseen=(same - 1, same))))
    assert not untouched


@pytest.mark.golden("layered_v1")
@pytest.mark.parametrize(("n", "fires"), [(2, False), (3, False), (4, True)])
def test_v1_micro_is_due_over_three_results(n, fires):
    gate = micro_gate(build(V1Params, {}), asked(worked(unseen=(900,) * n)))
    assert (gate.fires, gate.measure, gate.threshold, gate.operator) == (fires, n, 3, ">")


@pytest.mark.golden("layered_v2")
@pytest.mark.parametrize(("over", "fires"), [(-1, False), (0, False), (1, True)])
def test_v2_summarises_over_its_limit_and_not_at_it(over, fires):
    """A prompt that no cheap layer can shorten."""
    session = Build(usage=False)
    session.prompt(5_000)
    session.reply()
    weighed = weigh(session.done())
    made = replay(weighed, "layered_v2", params={"limit": whole(weighed) - over}, summarizer="stub:10")
    assert (len(made.events) + len(made.attempts) > 0) is fires


def test_v2_fit_cuts_new_results_too():
    """One new result of 60,000 characters: micro leaves it (unseen), fit leaves 1,000 and the marker."""
    weighed = results(60_000)
    made = replay(weighed, "layered_v2")
    assert [layer.name for layer in made.events[0].layers] == ["fit"]
    marker = len("<persisted-output> full text: .tool_results/c0.txt")
    assert made.events[0].after[-1].message.blocks[0].n_chars == 1_000 + marker


def test_reactive_keeps_the_last_five_and_their_calls():
    """v1 with a huge buffer sleeps; the window refuses; five messages back is a result, so its call comes too."""
    params = {**OFF, "max_output": 0, "buffer": 0, "reactive_keep": 4}
    build = Build(usage=True, overhead=50_000)
    build.prompt()
    build.turns(60, tokens=900)
    build.reply()
    made = replay(weigh(build.done()), "layered_v1", params=params, window=80_000, summarizer="stub:1000")
    event = made.events[0]
    assert [layer.name for layer in event.layers] == ["reactive_compact"]
    assert event.before_tokens > 80_000
    assert event.n_after == 1 + 4
    assert event.after[1].message.call_ids()


def demo():
    file = io.BytesIO()
    write_demo(file)
    parsed = read_transcripts(file, "demo.jsonl")
    return weigh(parsed.transcripts[0]), Texts(lambda: file, parsed.format)


def test_the_demo_shows_all_layers_and_the_breaker():
    weighed, texts = demo()
    params = {"results_limit": 9_000, "large_result": 8_000, "preview": 200}
    made = replay(weighed, "layered_v2", params=params, summarizer="extractive", texts=texts)
    names = Counter(layer.name for event in made.events for layer in event.layers)
    assert set(names) == {"tool_result_budget", "snip", "micro", "fit", "auto_compact"}
    assert any("## Primary Request and Intent" in words for words in made.written.values())
    broken = replay(weighed, "layered_v2", params=params, summarizer="extractive", texts=texts, fail="first:3")
    assert len(broken.attempts) == 3
    assert any("breaker: 3 attempts in a row failed" in warning for warning in broken.warnings)
    assert not fired(broken, "auto_compact")


def test_v1_on_the_diagrams_shape():
    """About 180 messages and 62K tokens become one message of about 1K tokens."""
    build = Build(overhead=0, usage=False)
    build.add("user", text(50), typed=True)
    for n in range(89):
        build.reply(100, f"c{n}")
        build.result(f"c{n}", 596)
    build.reply()
    params = {**OFF, "max_output": 100_000, "buffer": 38_000}
    made = replay(weigh(build.done()), "layered_v1", params=params, summarizer="stub:900")
    event = made.events[0]
    assert event.gate.threshold == 62_000
    assert 170 < event.n_before < 180
    assert event.n_after == 1
    assert 900 <= event.after_tokens <= 1_100
