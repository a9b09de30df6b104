"""Nothing grows faster than the session: twice the messages are at most 2.3 times the work, counted and not timed.

Work is calls of functions, of ours and of those that are built in, and elements of generators.
"""

from __future__ import annotations

import cProfile
import gc
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.base.registry import plugins
from sessions.engine.costs.cost import totals
from sessions.engine.replays.context import entering_steps
from sessions.engine.replays.replay import replay
from sessions.engine.sweeps.sweep import Over, grid, sweep
from sessions.engine.transcript.parts import without_gc
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.sizes import estimator_named
from sessions.engine.why.aftermath import aftermaths
from sessions.engine.why.headline import headline
from sessions.engine.why.overcount import over_count
from sessions.engine.why.recorded import compare
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.sessions import Build
from tests.every import EVERY
from tests.why_cases.claude import claude

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.engine.replays.replay import Replay
    from sessions.engine.weigh.calibration.weighed import Weighed

MOST = 2.3
"""Times the work that a session of twice the length may take."""
N_TURNS = (256, 512)
"""Two messages each, and a prompt for every eight."""
TOOLS = ("Read", "Bash", "Edit", "Read", "Grep")
FULL, SLIM = 7_500, 5
"""Tokens of a result: with the one, every twenty turns fill the window; with the other, a list of all stands."""
KINDS = {"full": FULL, "slim": SLIM}


@lru_cache
def session_of(n_turns: int, tokens: int) -> Weighed:
    """Prompts, calls of five tools on thirty files; where the window fills, a compaction every twenty turns."""
    build = Build(overhead=8_000)
    for turn in range(n_turns):
        if turn % 8 == 0:
            build.prompt(10)
        build.reply(20, f"c{turn}", name=TOOLS[turn % len(TOOLS)], target=f"/src/{turn * 7 % 30}.py")
        build.result(f"c{turn}", tokens + turn % 11)
        if tokens == FULL and turn % 20 == 19:
            build.compact()
    build.reply()
    weighed = weigh(build.done())
    totals(replay(weighed, "none"))
    return weighed


@lru_cache
def recorded_session(n_turns: int) -> Weighed:
    """A Claude Code transcript with a compaction every sixteen turns."""
    session = claude()
    for _ in range(n_turns // 16):
        session.prompt()
        session.turns(16, 9_000)
        session.compact()
    return session.turns(3, 300).weighed()


def work(do: Callable[[], object]) -> int:
    """Calls until it is done."""
    profile = cProfile.Profile()
    profile.enable()
    do()
    profile.disable()
    found: Any = profile.getstats()
    return sum(entry.callcount for entry in found)


def assert_level(of: Callable[[int], Callable[[], object]]) -> None:
    """A doubling costs at most ``MOST`` times the work of the one before."""
    of(40)()
    small, large = (work(of(n)) for n in N_TURNS)
    assert large <= MOST * small, (small, large)


def remembered(weighed: Weighed) -> Weighed:
    """The session with everything that it works out once, whoever asks first."""
    for name, value in vars(type(weighed)).items():
        if isinstance(value, cached_property):
            getattr(weighed, name)
    return weighed


def warm(weighed: Weighed, policy: str) -> Weighed:
    """What every replay of a session shares is made once: not part of this replay's work, whatever ran before it."""
    remembered(weighed)
    entering_steps(weighed, estimator_named(plugins("policies")[policy].estimator), weighed.left_out)
    return weighed


def _replays() -> list[Any]:
    """Every policy on both kinds of session; every day each second one on one of them, by turns."""
    found = [(name, kind, tokens) for name in sorted(plugins("policies")) for kind, tokens in KINDS.items()]
    shown = found if EVERY else [one for at, one in enumerate(found) if at % 8 in {0, 5}]
    return [pytest.param(name, tokens, id=f"{name}-{kind}") for name, kind, tokens in shown]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("policy", "tokens"), _replays())
def test_a_replay_grows_with_the_session(policy: str, tokens: int) -> None:
    """Where only the longer session is compacted at all, it is held against one that is twice as long again."""

    def of(n_turns: int) -> Callable[[], object]:
        weighed = warm(session_of(n_turns * shift, tokens), policy)
        return lambda: totals(replay(weighed, policy, summarizer="stub:500"))

    small, large = (replay(session_of(n, tokens), policy, summarizer="stub:500").events for n in N_TURNS)
    shift = 2 if large and not small else 1
    assert_level(of)


LEAVES = {
    "openhands_masking": "attention_window", "openhands_recent": "max_events", "ag2_history_limiter": "max_messages",
    "autogen_head_tail": "tail_size", "layered_v1": "max_messages",
}  # fmt: skip
"""The parameter that says how many messages an edit leaves, of policies that edit at every request."""


@pytest.mark.parametrize("policy", LEAVES)
def test_an_edit_costs_what_it_changes_and_not_what_it_leaves(policy: str) -> None:
    """Eight times the messages in the list are at most a quarter more work for an event."""
    weighed = warm(session_of(512, SLIM), policy)

    def work_of_an_event(n_left: int) -> float:
        def do() -> Replay:
            return replay(weighed, policy, params={LEAVES[policy]: n_left}, summarizer="stub:500")

        return work(lambda: totals(do())) / len(do().events)

    work_of_an_event(25)
    small, large = work_of_an_event(25), work_of_an_event(200)
    assert large <= 1.25 * small, (small, large)


@pytest.mark.parametrize(
    "do", [verdicts_of, over_count, aftermaths, compare, lambda w: headline(w, verdicts_of(w))],
    ids=["verdicts", "why", "aftermath", "recorded", "head"],
)  # fmt: skip
def test_what_is_told_of_a_session_grows_with_it(do: Callable[[Weighed], object]) -> None:
    def of(n_turns: int) -> Callable[[], object]:
        weighed = recorded_session(n_turns)
        return lambda: do(weighed)

    assert_level(of)


@pytest.mark.parametrize("policy", ["parametric", "claude_code"])
def test_a_sweep_grows_with_the_session(policy: str) -> None:
    def of(n_turns: int) -> Callable[[], object]:
        weighed = session_of(n_turns, FULL)
        axes, settings = grid([policy], [Over("window", 60_000, 200_000, 8)])
        return lambda: sweep(weighed, settings, axes)

    assert_level(of)


def test_weighing_grows_with_the_session() -> None:
    def of(n_turns: int) -> Callable[[], object]:
        transcript = session_of(n_turns, FULL).transcript
        return lambda: remembered(weigh(transcript))

    assert_level(of)


def test_the_work_of_a_replay_does_not_depend_on_what_ran_before() -> None:
    """A session of its own, replayed twice: the first time costs what the second does, but for a few look-ups."""
    weighed = warm(weigh(session_of(512, SLIM).transcript), "browser_use")
    totals(replay(weighed, "none"))
    counts = [work(lambda: totals(replay(weighed, "browser_use", summarizer="stub:500"))) for _ in range(2)]
    assert counts[0] - counts[1] < counts[1] / 100, counts


@pytest.mark.parametrize("policy", ["claude_code", "codex_local", "layered_v1", "openhands_sdk"])
def test_a_replay_leaves_no_cycles_to_be_collected(policy: str) -> None:
    """What a replay makes goes with it: each cycle, however small, is looked for among all that the session holds."""
    weighed = warm(session_of(256, FULL), policy)
    totals(replay(weighed, policy, summarizer="stub:500"))
    gc.collect()
    with without_gc():
        totals(replay(weighed, policy, summarizer="stub:500"))
        n_left = gc.collect()
    assert n_left < 50, n_left


def test_a_replay_holds_one_move_for_all_that_comes_between_compactions() -> None:
    made = replay(session_of(512, FULL), "claude_code", summarizer="stub:500")
    assert 1 < 2 * len(made.events) <= len(made.events[0].history.moves) <= 2 * len(made.events) + 1
