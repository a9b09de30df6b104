"""What every agent's record has to say: it names what exists, and its thresholds are golden values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sessions.engine.agents import agent as records
from sessions.engine.agents import setting
from sessions.engine.agents.agent import (
    UNKNOWN,
    Agent,
    agent_of,
    agents,
    own_trigger,
    thresholds,
    writer_of,
)
from sessions.engine.agents.transcripts import AGENTS as AGENTS_BY_TRANSCRIPTS
from sessions.engine.base import registry
from sessions.engine.base.registry import plugins
from sessions.engine.models.model_info import model_info
from sessions.engine.policies.params import build
from sessions.engine.replays.initial_params import starting
from sessions.engine.reports.configuration import configure
from sessions.engine.transcript.types import Transcript
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.overcount import triggers
from sessions.engine.why.shared import own_threshold

FOLDER = Path(records.__file__).parent
AGENTS = [pytest.param(agent, id=agent.name) for agent in agents()]
EDITS = {"", setting.SUMMARISE, setting.CLEAR, setting.THINKING, setting.TRIM, setting.OTHER}
MEASURES = {"messages", "tokens", "results", "share"}
MODEL = model_info("claude-opus-4-5")
WINDOW = 200_000
RULE = re.compile(r"(policies|seeds|estimators) \d")
TRIGGERS = {
    "claude_code": 167_000, "codex": 180_000, "gemini_cli": 100_000, "opencode": 168_000, "opencode_v2": 168_000,
    "pi": 183_616, "cline": 162_000, "roo": 171_808, "deepagents": 170_000, "inspect": 180_000, "letta": 180_000,
    "goose": 160_000, "buzz_pressure": 167_232, "buzz_wire": 167_232, "copilot_cli": 160_000,
    "chars_per_4": 180_000,
}  # fmt: skip
"""Thresholds at a window of 200,000 (policies 4.1, 6.1, 7.1, 8.1, 11; seeds 2.3), in the order of the view."""
THRESHOLDS = {
    "claude_code": [167_000, 155_000], "codex": [180_000], "gemini_cli": [100_000, 140_000], "opencode": [168_000],
    "pi": [183_617], "cline": [160_000, 162_000], "goose": [160_001], "buzz": [167_232], "copilot_cli": [160_000],
}  # fmt: skip
"""What an agent's own sessions are held against at that window: the least context that compacts."""


def test_a_record_is_found_by_its_file() -> None:
    """One file, one agent, of the same name; those without a configuration stand in one table."""
    files = {path.stem for path in FOLDER.glob("*.py") if "\nAGENT = " in path.read_text(encoding="utf-8")}
    assert files | {agent.name for agent in AGENTS_BY_TRANSCRIPTS} == {agent.name for agent in agents()}
    assert not any(agent.configuration for agent in AGENTS_BY_TRANSCRIPTS)
    assert all(type(agent) is Agent and agent.label for agent in agents())


@pytest.mark.parametrize("agent", AGENTS)
def test_what_it_names_exists(agent: Agent) -> None:
    assert agent.formats or agent.policies or agent.triggers or agent.configuration, "the record says nothing"
    assert set(agent.formats) <= set(plugins("formats"))
    assert set(agent.policies) <= set(plugins("policies"))
    assert set(agent.facts) <= set(agent.policies)
    assert set(agent.places) <= set(agent.formats)
    assert {agent.opaque_policy} - {""} <= set(agent.policies)
    assert {agent.api} - {""} <= set(plugins("exports"))
    assert {trigger.policy for trigger in agent.triggers} <= {*agent.policies, "deepagents_summarization"}
    assert {one.policy for one in agent.older} <= set(agent.policies)
    assert all(registry.get("estimators", trigger.estimator) for trigger in agent.triggers)


@pytest.mark.parametrize("agent", AGENTS)
def test_no_other_says_the_same(agent: Agent) -> None:
    """A format has one agent, a policy's facts are in one record, a trigger's name is its own."""
    others = [other for other in agents() if other is not agent]
    assert not {name for other in others for name in other.formats} & set(agent.formats)
    assert not {name for other in others for name in other.facts} & set(agent.facts)
    assert not {one.name for other in others for one in other.triggers} & {one.name for one in agent.triggers}


@pytest.mark.parametrize("agent", AGENTS)
def test_known_settings_are_settings(agent: Agent) -> None:
    """Each builds, the first is the defaults, no two are the same or called the same; what is kept is a parameter."""
    for name, facts in agent.facts.items():
        kind = plugins("policies")[name].params
        built = [build(kind, known.params) for known in facts.settings]
        assert built[0] == kind()
        assert len(set(map(repr, built))) == len(built) == len({known.words for known in facts.settings})
        assert facts.edit in EDITS
        assert all(measure in MEASURES and hasattr(kind(), parameter) for measure, parameter in facts.keeps)


@pytest.mark.parametrize("agent", AGENTS)
def test_its_triggers(agent: Agent) -> None:
    """The rule is cited, the golden threshold is known, a larger window never has a lower one."""
    for trigger in agent.triggers:
        assert RULE.match(trigger.source), f"{trigger.name}: cite the rule"
        assert trigger.label
        assert trigger.name in TRIGGERS, f"add the threshold of {trigger.name} at {WINDOW:,} tokens"
        assert trigger.threshold(WINDOW, MODEL) == TRIGGERS[trigger.name]
        assert trigger.threshold(WINDOW, MODEL) <= trigger.threshold(1_000_000, MODEL) <= 1_000_000


@pytest.mark.parametrize("agent", AGENTS)
def test_its_thresholds(agent: Agent) -> None:
    found = [one.tokens for one in thresholds(agent, WINDOW, MODEL)]
    assert found == THRESHOLDS.get(agent.name, []), f"add the thresholds of {agent.name} at {WINDOW:,} tokens"
    assert {agent.asked, agent.own_figure} <= {
        "",
        records.EVERY_REQUEST,
        records.TURN_END,
        records.TURN_START,
        records.ALWAYS,
        records.WITH_TRIGGER,
    }
    assert all(0 < window <= 1_000_000 for window in agent.windows)


@pytest.mark.parametrize("agent", [param for param in AGENTS if param.values[0].configuration])  # type: ignore[attr-defined]
def test_how_it_is_configured(agent: Agent) -> None:
    """Its source and the day its keys were compared are said; every policy of its own is answered."""
    keys = agent.configuration
    assert keys is not None
    assert keys.file
    assert keys.source
    assert keys.checked >= "2026-11"
    assert keys.language in {"json", "toml", "python", "shell", "typescript"}
    assert keys.differs.endswith(".")
    assert set(keys.own) <= set(agent.policies)
    assert all(hasattr(plugins("policies")[name].params(), key) for name, found in keys.own.items() for key in found)
    for policy in agent.policies:
        (snippet,) = configure(policy, window=WINDOW, agents=(agent.name,))
        assert snippet.text or snippet.cannot


def test_the_order_of_triggers_is_that_of_the_ranks() -> None:
    assert [trigger.name for trigger in triggers()] == list(TRIGGERS)


def test_a_format_that_no_agent_writes() -> None:
    """What is not known is nobody's: no trigger, no threshold."""
    assert agent_of("nobody's") is UNKNOWN
    assert own_trigger(Transcript("s", "nobody's", ())) is None
    assert thresholds(UNKNOWN, WINDOW, MODEL) == ()


def test_the_trigger_that_a_transcript_ran_under() -> None:
    """An option, and a version that does not write the format, is none."""
    own = {name: trigger.name for name in plugins("formats") if (trigger := own_trigger(Transcript("s", name, ())))}
    assert own["langchain"] == "deepagents"
    assert own["opencode"] == "opencode"
    assert not {"cline", "inspect", "openhands"} & set(own)


@pytest.mark.parametrize(
    ("client", "name"), [("buzz-agent before 1332", "buzz_wire"), ("buzz-agent 1400", "buzz_pressure")]
)
def test_the_trigger_of_a_version(client: str, name: str) -> None:
    """Versions that counted every byte ran under the trigger that does (seeds 2.1, 2.3)."""
    trigger = own_trigger(Transcript("s", "ctxweb_jsonl", (), client=client))
    assert trigger is not None
    assert trigger.name == name


@pytest.mark.parametrize(
    ("client", "name", "threshold", "words"),
    [
        ("Claude Code", "claude_code", 167_000, ""),
        ("claude-code 2.1.20", "claude_code", 155_000, "Claude Code 2.1.20"),
        ("claude-code/2.1.22", "claude_code", 167_000, "Claude Code 2.1.22"),
        ("Claude Codex 2.1.20", "", None, ""),
        ("pi 0.1.2", "pi", 183_616, ""),
        ("pipeline 0.1.2", "", None, ""),
        ("", "", None, ""),
    ],
)
def test_a_format_of_many_agents_is_the_named_clients(
    client: str, name: str, threshold: int | None, words: str
) -> None:
    """Trigger, threshold and where a policy starts are that agent's; a name that only begins alike is another's."""
    transcript = Transcript("s", "atif", (), client=client, model=MODEL.name)
    trigger = own_trigger(transcript)
    assert (writer_of(transcript).name, trigger.name if trigger else "") == (name, name)
    assert own_threshold(transcript, WINDOW, MODEL) == threshold
    assert starting(weigh(transcript), "claude_code").words == words
