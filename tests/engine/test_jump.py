"""Jumping between compactions equals the replay, request by request."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.calibration.calibrate import weigh
from sessions.engine.cost import totals
from sessions.engine.params import choice, param
from sessions.engine.policy import EditFailed, Gate, Policy
from sessions.engine.prices import prices_of
from sessions.engine.registry import plugins
from sessions.engine.replay import replay
from sessions.engine.sweeps.fast.jump import Jump
from sessions.engine.sweeps.fast.jumper import Jumper
from sessions.engine.sweeps.fast.refetch import refetched
from sessions.engine.sweeps.fast.table import RULES
from sessions.engine.sweeps.fast.track import track_of
from sessions.engine.types import Kind, Role
from tests.engine.sessions import Build, long_session, text
from tests.every import examples


@dataclass(frozen=True, slots=True)
class Params:
    """A threshold, and what stays."""

    threshold: int = param(50_000, "Threshold", "", "", 1, 10_000_000)
    operator: str = choice((">=", ">"), "Operator")
    keep_messages: int | None = param(5, "Keep", "", "", 0, 10_000, optional=True)
    keep_tokens: int | None = param(None, "Keep", "", "", 0, 10_000_000)
    snap: str = choice(("back", "forward"), "Snap")
    summary: str = choice(("on", "off"), "Summary")
    breaker: int | None = param(3, "Breaker", "", "", 1, 10, optional=True)


def gate(params, view):
    """Display tokens against the threshold."""
    fires = view.context >= params.threshold if params.operator == ">=" else view.context > params.threshold
    return Gate(fires, "context", view.context, params.threshold, params.operator, "tokens")


def edit(params, view):
    """The same edit as Jump's, in plain words."""
    system = [i for i in view.items if i.message.role is Role.SYSTEM]
    inserted = [i for i in view.items if i.inserted]
    rest = [i for i in view.items if i.message.role is not Role.SYSTEM and not i.inserted]
    cut = plain_cut(params, rest)
    while splits(rest, cut):
        cut += 1 if params.snap == "forward" else -1
    if not cut:
        raise EditFailed("nothing but an earlier summary would go")
    summary = view.summarize([*inserted, *rest[:cut]]) if params.summary == "on" else ()
    return [*system, *summary, *rest[cut:]]


def plain_cut(params, rest):
    """Where the tail begins, pairs aside."""
    if params.keep_messages is not None:
        return max(0, len(rest) - params.keep_messages)
    cut, kept = len(rest), 0
    while cut and kept + rest[cut - 1].tokens <= params.keep_tokens:
        cut -= 1
        kept += rest[cut].tokens
    return cut


def splits(rest, cut):
    """True when a result is kept whose call is dropped."""
    dropped = {b.call_id for i in rest[:cut] for b in i.message.blocks if b.kind is Kind.TOOL_USE}
    return any(b.kind is Kind.TOOL_RESULT and b.call_id in dropped for i in rest[cut:] for b in i.message.blocks)


def jump(params, window):
    """The same as numbers."""
    del window
    return Jump(
        params.threshold, params.operator, params.keep_messages, params.keep_tokens, params.snap,
        None if params.summary == "on" else 0, params.breaker,
    )  # fmt: skip


POLICY = Policy("test_jump", "", "", "", "tiktoken_o200k", Params, gate, edit)
SHARED = replace(POLICY, name="test_jump_shared", shares_prefix=True)
SILENT = replace(POLICY, name="test_jump_silent", summary_calls=False)


@pytest.fixture(autouse=True)
def policies(monkeypatch):
    """The policies under their names, and how they jump."""
    monkeypatch.setitem(RULES, (gate, edit), jump)
    for policy in (POLICY, SHARED, SILENT):
        monkeypatch.setitem(plugins("policies"), policy.name, policy)


@st.composite
def transcripts(draw, n_turns=30):
    """Prompts, replies with parallel calls, results that come a request late, pauses, edits."""
    session = Build(overhead=draw(st.integers(0, 5_000)), usage=draw(st.booleans()))
    if draw(st.booleans()):
        session.add(Role.SYSTEM, text(draw(st.integers(1, 500))))
    if draw(st.booleans()):
        session.prompt(draw(st.integers(1, 1_000)))
    n_calls, late = 0, []
    for _ in range(draw(st.integers(1, n_turns))):
        calls = [f"c{n_calls + i}" for i in range(draw(st.integers(0, 3)))]
        n_calls += len(calls)
        name = draw(st.sampled_from(["Read", "Edit"]))
        session.reply(draw(st.integers(1, 500)), *calls, name=name, target=f"/f{n_calls % 4}.py")
        for call in late:
            session.result(call, 50)
        late = []
        for call in draw(st.permutations(calls)):
            if draw(st.integers(0, 7)) == 0:
                late.append(call)
            else:
                session.result(call, draw(st.integers(0, 2_000)))
        if draw(st.integers(0, 7)) == 0:
            session.prompt(draw(st.integers(1, 1_000)))
        if draw(st.integers(0, 9)) == 0:
            session.clock += 400
        if draw(st.integers(0, 20)) == 0:
            session.compact(draw(st.integers(1, 3_000)))
    session.reply()
    return session.done()


@examples(200)
@given(
    transcript=transcripts(),
    policy=st.sampled_from([POLICY, SHARED, SILENT]),
    params=st.builds(
        Params,
        threshold=st.integers(1, 30_000),
        operator=st.sampled_from([">=", ">"]),
        keep_messages=st.one_of(st.none(), st.integers(0, 12)),
        keep_tokens=st.just(None),
        snap=st.sampled_from(["back", "forward"]),
        summary=st.sampled_from(["on", "off"]),
        breaker=st.sampled_from([None, 1, 3]),
    ),
    keep_tokens=st.integers(0, 6_000),
    summarizer=st.sampled_from(["recorded", "stub:500", "stub:0", "stub:20000"]),
)
def test_equals_the_replay(transcript, policy, params, keep_tokens, summarizer):
    """Events, contexts and every field of the totals."""
    if params.keep_messages is None:
        params = replace(params, keep_tokens=keep_tokens)
    weighed = weigh(transcript)
    given = {name: getattr(params, name) for name in Params.__slots__}
    plain = replay(weighed, policy.name, params=given, summarizer=summarizer)
    track = track_of(weighed)
    assert track is not None
    jumper = Jumper(weighed, track, summarizer)
    rule = jump(params, 0)
    course = jumper.course(rule)
    assert [weighed.steps[k].request for k in course.steps] == [e.request for e in plain.events]
    assert len(course.vain) == sum(a.summary_calls for a in plain.attempts) or rule.inserted == 0
    found = jumper.totals(
        course, rule, summary_calls=policy.summary_calls, shares_prefix=policy.shares_prefix,
        prices=prices_of(weighed.model),
    )  # fmt: skip
    assert found == totals(plain)


@examples(60)
@given(
    transcript=transcripts(),
    keep=st.integers(0, 8),
    snap=st.sampled_from(["back", "forward"]),
    thresholds=st.lists(st.integers(1_000, 30_000), min_size=1, max_size=6),
)
def test_what_is_fetched_again_is_counted_for_many_courses_at_once(transcript, keep, snap, thresholds):
    """One pass over the session says for each what its replay says."""
    weighed = weigh(transcript)
    given = {"keep_messages": keep, "snap": snap}
    plain = [totals(replay(weighed, POLICY.name, params={**given, "threshold": t})) for t in thresholds]
    jumper = Jumper(weighed, track_of(weighed))
    courses = [jumper.course(Jump(t, **given)) for t in thresholds]
    assert refetched(track_of(weighed), courses) == [sums.refetched_tokens for sums in plain]


@pytest.mark.parametrize("kind", ["system among others", "two calls of one name", "a context that shrank"])
def test_no_track_where_jumping_would_not_be_exact(kind):
    """System messages in the middle, call ids that repeat, something that left beside a compaction."""
    session = Build()
    session.prompt()
    session.turns(3)
    if kind == "system among others":
        session.add(Role.SYSTEM, text(10))
    elif kind == "a context that shrank":
        session.context -= 1_200
    else:
        session.turns(1)
    session.reply()
    assert track_of(weigh(session.done())) is None


def test_work_is_counted_by_compactions_not_by_messages():
    """Ten times the session at the same number of compactions looks at as many places."""
    visited = []
    for n_turns, threshold in ((200, 60_000), (2_000, 600_000)):
        weighed = weigh(long_session(n_turns, overhead=0))
        visited.append(Jumper(weighed, track_of(weighed), "stub:1000").course(Jump(threshold, keep_messages=4)).visited)
    assert visited[0] == pytest.approx(visited[1], abs=1)


def test_a_threshold_below_what_stays_stops_after_three():
    """The thrash guard bounds the work at thresholds that nothing can meet."""
    weighed = weigh(long_session(2_000))
    course = Jumper(weighed, track_of(weighed), "stub:5000").course(Jump(14_000, keep_messages=4))
    assert course.visited <= 6


@pytest.mark.parametrize(("operator", "threshold", "fires"), [(">=", 10_650, True), (">", 10_650, False),
                                                              (">=", 10_651, False), (">", 10_649, True)])  # fmt: skip
def test_the_operator_decides_at_the_threshold(operator, threshold, fires):
    """Contexts here are 10,050, 10,650, 11,250 …; the second is the boundary."""
    weighed = weigh(long_session(5, tokens=500))
    course = Jumper(weighed, track_of(weighed), "stub:0").course(Jump(threshold, operator, keep_messages=0))
    assert (course.steps[:1] == [1]) is fires
