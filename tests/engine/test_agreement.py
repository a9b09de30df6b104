"""One rule, one answer: wherever a trigger is told of, it fires at one request, on one count, at one threshold.

Held against each other for every agent's trigger: the over-count view, a replay, a sweep, the comparison with a
recording, the status line, and what an agent is configured with.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.engine.agents.agent import agents, as_client, own_trigger
from sessions.engine.agents.claude_code import running_threshold
from sessions.engine.models.model_info import model_info
from sessions.engine.policies.policy import LastUsage
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.replays.replay import replay
from sessions.engine.reports.configuration import configure, setting_of
from sessions.engine.sweeps.sweep import grid, sweep
from sessions.engine.transcript.types import Transcript
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why import session_trigger
from sessions.engine.why.overcount import over_count, triggers
from sessions.engine.why.recorded import compare
from sessions.engine.why.session_sums import sums_of
from sessions.engine.why.session_trigger import SessionTrigger
from sessions.engine.why.shared import own_threshold
from tests.engine.drawn_sessions import transcripts
from tests.engine.sessions import Build, empty_view, image
from tests.samples import samples_dir

WINDOWS = (60_000, 120_000)
NAMES = [trigger.name for trigger in triggers()]


def worked(n_turns: int = 200, overhead: int = 8_000, *, every: int = 6, **facts: object) -> Build:
    """Tool turns of about a thousand tokens, a prompt after every few, a screenshot now and then."""
    build = Build(overhead=overhead, **facts)  # type: ignore[arg-type]
    build.prompt()
    for turn in range(n_turns):
        build.reply(150, f"c{turn}", name="read", target=f"/f{turn % 9}.py")
        if turn % 50 == 20:
            build.result(f"c{turn}", 900, image(40_000, 400))
            build.context += 215
        else:
            build.result(f"c{turn}", 900)
        if turn % every == every - 1:
            build.reply(150)
            build.prompt(80)
    build.reply()
    return build


def with_a_compaction() -> Transcript:
    build = worked(60)
    build.compact()
    build.turns(60, start=1_000)
    build.reply()
    return build.done()


SESSIONS = {
    "turns": worked().done(),
    "a small overhead": worked(150, 2_000).done(),
    "a large overhead": worked(300, 15_000, every=9).done(),
    "no usage": worked(usage=False).done(),
    "one prompt": worked(every=1_000).done(),
    "compacted": with_a_compaction(),
    "too large at once": worked(20, 100_000).done(),
}


def fires_by_why(weighed, name, window):
    """The first firing: request, count and threshold; None where the trigger never fires."""
    result = over_count(weighed, window=window, names=[name]).results[0]
    if not result.firings:
        return None
    return result.firings[0].request, result.firings[0].measure, result.threshold


def replayed(weighed, name, window, **options):
    """The replay under the trigger's policy."""
    trigger = next(one for one in triggers() if one.name == name)
    return replay(
        weighed, trigger.policy, params=trigger.params, estimator=trigger.counted_by or None, window=window,
        summarizer="stub:500", **options,
    )  # fmt: skip


def fires_by(made):
    """The first request at which the policy's own gate fires in a replay, its count and its threshold."""
    found = next(((n, gate) for n, gate in enumerate(made.gates) if gate is not None and gate.fires), None)
    if found is None:
        return None
    request, gate = found
    return request, gate.measure, gate.threshold


def is_edited_before(made, request):
    """Whether another layer of the policy changed the list earlier, or at that request before the gate was asked."""
    layers = [(event.request, layer.name) for event in made.events for layer in event.layers]
    return any(at <= request and name != made.policy.drawn.name for at, name in layers)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("session", SESSIONS)
def test_why_and_a_replay_fire_at_the_same_request(name: str, session: str) -> None:
    weighed, n_held = weigh(SESSIONS[session]), 0
    for window in WINDOWS:
        made, found = replayed(weighed, name, window), fires_by_why(weighed, name, window)
        if is_edited_before(made, found[0] if found else len(made.gates)):
            continue
        n_held += 1
        assert found == fires_by(made), (name, window)
    assert n_held, "no window was held"


@pytest.mark.parametrize("window", [None, 60_000])
@pytest.mark.parametrize("name", NAMES)
def test_they_agree_where_the_model_changes(name: str, window: int | None) -> None:
    """Every request is held against the window and the output of its own model."""
    made = worked(200).done()
    models = ["claude-opus-4-5"] * 40 + ["gpt-4.1"] * 30 + ["claude-sonnet-4-5"] * (len(made.requests) - 70)
    requests = tuple(replace(one, model=model) for one, model in zip(made.requests, models, strict=True))
    weighed = weigh(replace(made, model="claude-opus-4-5", requests=requests))
    found, there = fires_by_why(weighed, name, window), fires_by(replayed(weighed, name, window))
    assert (found and found[:2]) == (there and there[:2])


@given(transcripts(), st.sampled_from(NAMES), st.sampled_from([3_000, 8_000, 20_000, 60_000]))
@settings(max_examples=150, deadline=None)
def test_they_agree_on_any_session(transcript, name, window):
    weighed = weigh(transcript)
    made, found = replayed(weighed, name, window), fires_by_why(weighed, name, window)
    if not is_edited_before(made, found[0] if found else len(made.gates)):
        assert (found and found[:2]) == (fires_by(made) and fires_by(made)[:2])


@given(transcripts(), st.sampled_from(NAMES), st.sampled_from([3_000, 8_000, 20_000, 60_000]))
@settings(max_examples=100, deadline=None)
def test_asking_about_many_steps_at_once_misses_none(transcript, name, window):
    """All firings, the withheld ones and culprits included, are those of a gate that is asked at every step."""
    weighed = weigh(transcript)
    found = over_count(weighed, window=window, names=[name])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(session_trigger, "STRETCH", 1)
        assert over_count(weighed, window=window, names=[name]) == found


def uneven(ratio: float = 1.25) -> Transcript:
    """Replies of any length, results of which some are huge, and a provider that counts more than is estimated."""
    build = Build(overhead=3_000, ratio=ratio)
    build.prompt()
    for turn in range(90):
        build.reply((turn * 37) % 11 * 900 + 1, f"c{turn}")
        build.result(f"c{turn}", 30_000 if turn % 17 == 5 else (turn * 53) % 13 * 40)
        if turn % 8 == 3:
            build.prompt(400)
    build.reply()
    return build.done()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ratio", [0.8, 1.0, 1.1, 1.25, 1.6])
def test_the_most_that_many_steps_hold_measures_no_less_than_any_of_them(name: str, ratio: float) -> None:
    """What lets a gate be asked about many steps at once, with the slack that its policy states."""
    trigger = next(one for one in triggers() if one.name == name)
    gate = SessionTrigger(trigger, sums_of(weigh(uneven(ratio)), 100_000))
    for since in (gate.start, gate.after(20, gate.sums.weights, 1)):
        for at in range(since.step + 2, len(gate.sums.weights) - 16):
            for stop in (at + 2, at + 16):
                most = gate.gate(gate.params, gate._most(at, stop, since, None)).measure
                each = [gate.gate(gate.params, gate._view(k, since, None)).measure for k in range(at, stop)]
                assert most * gate.slack >= max(each), (at, stop)


def test_the_slack_is_needed() -> None:
    """LangChain scales its count by what was reported: a larger list may count less than a smaller one."""
    policy = next(one for one in triggers() if one.name == "deepagents").rule
    empty = empty_view(weigh(SESSIONS["turns"]), policy.estimator, 1_000_000)

    def count(size: int) -> int:
        """Of a list of which 500 came after the last reply, where 1,200 were reported."""
        view = replace(empty, items=[None, None], size=size, overhead=0, usage=LastUsage(1_200, 0, 0, 500))
        return policy.drawn.gate(policy.params(), view).measure

    assert (count(1_500), count(1_600)) == (1_800, 1_746)
    assert count(1_600) * policy.slack >= count(1_500)


def of_samples():
    """Sessions of the shared samples, one of each folder."""
    root = samples_dir()
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        sizes = {path: path.stat().st_size for path in sorted(folder.rglob("*.json*"))}
        files = [path for path, size in sizes.items() if size < 3_000_000]
        if files:
            with max(files, key=lambda path: sizes[path]).open("rb") as file:
                parsed = read_transcripts(file)
            yield folder.name, max(parsed.transcripts, key=lambda one: len(one.requests))


def test_they_agree_on_recorded_sessions() -> None:
    """Of every kind of file: each trigger by itself, and the session's own as its client had it."""
    n_own = 0
    for folder, transcript in of_samples():
        weighed = weigh(transcript)
        n_own += own_trigger(transcript) is not None
        for name in NAMES:
            made, found = replayed(weighed, name, 40_000), fires_by_why(weighed, name, 40_000)
            if not is_edited_before(made, found[0] if found else len(made.gates)):
                assert (found and found[:2]) == (fires_by(made) and fires_by(made)[:2]), (folder, name)
    assert n_own > 3


@pytest.mark.parametrize("name", NAMES)
def test_along_a_recording_it_fires_there_too(name: str) -> None:
    """Before the first recorded compaction both histories are one."""
    transcript = SESSIONS["compacted"]
    weighed, first = weigh(transcript), transcript.compactions[0].request
    found, made = fires_by_why(weighed, name, 40_000), replayed(weighed, name, 40_000, base="recorded")
    assert found is not None
    if found[0] < first and not is_edited_before(made, found[0]):
        assert found[:2] == fires_by(made)[:2]
        trigger = next(one for one in triggers() if one.name == name)
        if not trigger.counted_by and found[0] not in {attempt.request for attempt in made.attempts}:
            told = compare(weighed, trigger.policy, params=trigger.params, window=40_000)
            assert told.compared[0].fired_at == found[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_sweep_compacts_as_the_replay_does(name: str) -> None:
    trigger = next(one for one in triggers() if one.name == name)
    weighed = weigh(SESSIONS["turns"])
    _, chosen = grid([trigger.policy], [], params=trigger.params, window=60_000)
    (row,) = sweep(weighed, chosen, estimator=trigger.counted_by or None, summarizer="stub:500").rows
    assert row.totals.compactions == len(replayed(weighed, name, 60_000).events)


@pytest.mark.parametrize("version", ["2.1.0", "2.1.15", "2.1.20", "2.1.40", ""])
@pytest.mark.parametrize(("model", "window"), [("claude-opus-4-5", 200_000), ("claude-sonnet-4-5[1m]", 1_000_000)])
def test_the_status_line_has_the_threshold_of_the_session(version: str, model: str, window: int) -> None:
    transcript = replace(Transcript("s", "claude_code", (), model=model), client=version)
    trigger = own_trigger(transcript)
    assert trigger is not None
    told = running_threshold(model, window, version, {})
    assert told == own_threshold(transcript, window, model_info(model))
    assert told == as_client(trigger, transcript).threshold(window, model_info(model))


def as_params(agent, text):
    """What an agent's configuration says of when its policy compacts."""
    if agent == "codex":
        return {"auto_compact_token_limit": tomllib.loads(text).get("model_auto_compact_token_limit")}
    found = json.loads(text)
    if agent == "gemini_cli":
        return {"threshold": found["model"]["compressionThreshold"]}
    if agent == "pi":
        return {"reserve": found["compaction"]["reserveTokens"]}
    keys = {"reserved": "reserved", "buffer": "buffer"}
    return {keys[key]: value for key, value in found["compaction"].items() if key in keys}


@pytest.mark.parametrize(
    ("agent", "policy", "params"),
    [
        ("codex", "codex_local", {}),
        ("codex", "codex_local", {"auto_compact_token_limit": 90_000}),
        ("codex", "codex_remote", {"auto_compact_token_limit": 1_900_000}),
        ("gemini_cli", "gemini_compression", {}),
        ("gemini_cli", "gemini_compression", {"threshold": 0.33}),
        ("pi", "pi", {}),
        ("pi", "pi", {"reserve": 50_000}),
        ("opencode", "opencode_compaction", {"reserved": 30_000}),
        ("opencode", "opencode_compaction_v2", {"buffer": 30_000}),
    ],
)  # fmt: skip
def test_an_agent_that_is_configured_so_compacts_there(agent, policy, params):
    """The configuration read back is the policy with the threshold that was asked for, and that it is said to have."""
    asked = setting_of(policy, params, window=200_000).trigger
    (snippet,) = configure(policy, params, window=200_000, agents=(agent,))
    assert snippet.fires_at in {asked, None}
    assert setting_of(policy, as_params(agent, snippet.text), window=200_000).trigger == asked


@pytest.mark.parametrize("trigger", triggers(), ids=NAMES)
def test_the_threshold_is_the_one_that_settings_are_told_of(trigger) -> None:
    """What an agent's record, the over-count view and a setting say of one trigger."""
    model = model_info("claude-opus-4-5")
    setting = setting_of(trigger.policy, trigger.params, window=200_000, model=model.name)
    if setting.trigger is not None:
        assert setting.trigger == trigger.threshold(200_000, model)
        assert setting.above == (trigger.asked(200_000, model).operator == ">")
    result = over_count(weigh(SESSIONS["one prompt"]), window=200_000, names=[trigger.name]).results[0]
    assert result.threshold == trigger.threshold(200_000, model_info("claude-sonnet-4-5"))


def test_every_trigger_is_of_a_policy_that_some_agent_has() -> None:
    known = {name for agent in agents() for name in agent.policies}
    assert {trigger.policy for trigger in triggers()} <= {*known, "parametric"}
