"""The strategies of the context-compression skill: what each keeps, merges and loses (seeds 3.1 to 3.3)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.policies import compression
from sessions.engine.policies.anchored import AnchoredSummary, merge, parse, render
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.reading.texts import Texts
from sessions.engine.replays.replay import replay
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build, long_session

CHOSEN = {"window": 100_000, "summarizer": "stub:1000"}


@pytest.mark.golden("anchored_iterative", "opaque", "regenerative_full", "importance_sampling")
@pytest.mark.parametrize("policy", ["anchored_iterative", "opaque", "regenerative_full", "importance_sampling"])
@pytest.mark.parametrize(("percent", "fires"), [(69, False), (70, True)])
def test_all_fire_at_the_trigger(policy, percent, fires):
    """A window of which the largest context is 69 or 70%, at or above which they fire."""
    weighed = weigh(long_session(60))
    peak = max(replay(weighed, "none").context_tokens) + weighed.tokens[-1]
    asked = replay(weighed, policy, window=1_000_000).gates[-1].measure
    window = asked * 100 // percent + (1 if not fires else 0)
    made = replay(weighed, policy, window=window, summarizer="stub:500")
    assert bool(made.events) is fires, (asked, peak, window)


@pytest.mark.parametrize("policy", ["anchored_iterative", "opaque", "regenerative_full"])
def test_the_last_five_messages_stay_and_the_rest_is_one_message(policy):
    """Five from the end is a result: its call stays too, so six."""
    event = replay(weigh(long_session(80)), policy, **CHOSEN).events[0]
    assert event.inserted == 1
    assert [item.id for item in event.after[1:]] == [item.id for item in event.before[-len(event.after) + 1 :]]
    assert event.n_after - 1 in {5, 6}


def test_levels_are_said():
    made = replay(weigh(long_session(80)), "anchored_iterative", params={"min_messages": 1_000}, window=100_000)
    levels = [gate.level for gate in made.gates]
    assert list(dict.fromkeys(levels)) == ["ok", "warn", "compact", "critical"]
    for gate in made.gates:
        share = gate.measure / 100_000
        assert gate.level == (
            "ok" if share < 0.6 else "warn" if share < 0.7 else "compact" if share < 0.9 else "critical"
        )


def test_after_ten_cycles_a_reset_is_advised():
    made = replay(weigh(long_session(600)), "anchored_iterative", window=60_000, summarizer="stub:500")
    advised = ["a new session is advised" in event.gate.reason for event in made.events]
    assert advised[8:12] == [False, False, True, True]


@pytest.mark.golden("hybrid")
@pytest.mark.parametrize(("n_messages", "fires"), [(20, False), (21, True)])
def test_hybrid_above_twenty_messages(n_messages, fires):
    build = Build()
    for _ in range(n_messages // 2):
        build.prompt(500)
        build.reply(500)
    if n_messages % 2:
        build.prompt(500)
    build.reply()
    made = replay(weigh(build.done()), "hybrid", summarizer="stub:100")
    assert bool(made.events) is fires
    if fires:
        assert (made.events[0].n_before, made.events[0].n_after) == (21, 6)


def story(n_rounds):
    """A Claude Code transcript of which each round has a decision, an edit and an error of its own."""
    lines, parent = [], None

    def add(kind, content, **facts):
        nonlocal parent
        uuid = f"u{len(lines)}"
        message = {"role": kind, "content": content} | facts.pop("message", {})
        stamp = f"2026-01-01T00:{len(lines) // 60:02d}:{len(lines) % 60:02d}Z"
        ids = {"uuid": uuid, "parentUuid": parent, "sessionId": "s", "version": "2.1.0"}
        lines.append({"type": kind, "message": message, "timestamp": stamp} | ids)
        parent = uuid

    add("user", "Build the parser. Never touch vendor/lock.txt.")
    for n in range(n_rounds):
        text = f"I decided on plan {n} because of reason {n}. " + "Some words to fill the reply. " * 40
        call = {"type": "tool_use", "id": f"c{n}", "name": "Edit", "input": {"file_path": f"/src/part{n}.py"}}
        add("assistant", [{"type": "text", "text": text}, call], message={"id": f"r{n}", "model": "claude-sonnet-4-5"})
        body = [
            {"type": "tool_result", "tool_use_id": f"c{n}", "content": f"Error: part {n} failed\n" + "line\n" * 300}
        ]
        add("user", body)
    add("assistant", [{"type": "text", "text": "Done."}], message={"id": "last", "model": "claude-sonnet-4-5"})
    import io

    file = io.BytesIO(("\n".join(json.dumps(line) for line in lines)).encode())
    parsed = read_transcripts(file, "s.jsonl", format="claude_code")
    return weigh(parsed.transcripts[0]), Texts(lambda: file, parsed.format)


def test_the_anchored_summary_merges_where_the_regenerated_one_forgets():
    weighed, texts = story(60)
    chosen = {"window": 12_000, "summarizer": "extractive", "texts": texts}
    anchored = replay(weighed, "anchored_iterative", **chosen)
    fresh = replay(weighed, "regenerative_full", **chosen)
    assert len(anchored.events) >= 3
    first = parse(next(iter(anchored.written.values())))
    last = parse(list(anchored.written.values())[-1])
    assert last.intent == first.intent == "Build the parser. Never touch vendor/lock.txt."
    assert last.count == len(anchored.events)
    assert dict(first.files).keys() < dict(last.files).keys()
    assert set(first.decisions) < set(last.decisions)
    assert ("I decided on plan 0", "of reason 0") in last.decisions
    assert any("part 0 failed" in line for line in last.errors)
    forgotten = parse(list(fresh.written.values())[-1])
    assert "/src/part0.py" not in dict(forgotten.files), "the telephone game"


line = st.text(alphabet="abcdefgh XYZ.,", min_size=1, max_size=20).map(str.strip).filter(bool)
lines = st.lists(line, max_size=4, unique=True).map(tuple)
summaries = st.builds(
    AnchoredSummary, intent=line | st.just(""), rules=lines, technical=lines, state=line | st.just(""), blockers=lines,
    errors=lines, next_steps=lines, count=st.integers(1, 9),
    files=st.dictionaries(line, lines.filter(bool), max_size=3).map(lambda d: tuple(d.items())),
    decisions=st.lists(st.tuples(line, line | st.just("")), max_size=3, unique=True).map(tuple),
)  # fmt: skip


@given(summary=summaries)
def test_what_is_rendered_can_be_read_again(summary):
    assert parse(render(summary)) == summary
    for title in ("Session Intent", "Files Modified", "Decisions Made", "Current State", "Blockers", "Next Steps"):
        assert f"## {title}\n" in render(summary), "every section is there"


@given(old=summaries, new=summaries)
def test_the_merge_rule(old, new):
    both = merge(old, new)
    assert both.intent == (new.intent or old.intent)
    assert (both.state, both.blockers, both.next_steps) == (new.state, new.blockers, new.next_steps)
    assert set(both.decisions) == {*old.decisions, *new.decisions}
    assert set(both.errors) == {*old.errors, *new.errors}
    assert both.count == old.count + 1
    for path, changes in (*old.files, *new.files):
        assert set(changes) <= set(dict(both.files)[path])


@pytest.mark.golden("importance_sampling")
def test_scores_of_importance_sampling():
    """Paths 2, decisions 3, errors 3, acknowledgements −2, redundancy −2."""
    params = compression.ImportanceParams()
    weighed, _ = story(1)
    from sessions.engine.replays.context import message_items
    from sessions.engine.weigh.sizes import estimator_named

    plain = message_items(weighed, estimator_named("wire_bytes"))[0]
    for words, points in (
        ("hello there, how are you today my friend", 0),
        ("see /src/a.py", 2),
        ("we decided on it", 3),
        ("Error: it broke", 3),
        ("decided: /src/a.py failed", 8),
        ("ok, thanks", -2),
    ):
        assert compression.score(params, plain, words, redundant=False) == points, words
    assert compression.score(params, plain, "see /src/a.py", redundant=True) == 0


def test_importance_sampling_keeps_the_best_ten_and_their_pairs():
    event = replay(weigh(long_session(80)), "importance_sampling", **CHOSEN).events[0]
    assert event.inserted == 0
    ids = {item.id for item in event.before}
    assert [item.id for item in event.after] == [i.id for i in event.before if i.id in {a.id for a in event.after}]
    assert {item.id for item in event.after} <= ids
    assert 10 + 5 <= event.n_after <= 2 * 10 + 6
