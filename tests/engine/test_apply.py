"""Apply it: what each agent is configured with, and what it says it cannot express."""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
from dataclasses import replace

import pytest

from sessions.engine.base.errors import BadParameter, UnknownName
from sessions.engine.base.registry import plugins
from sessions.engine.policies.params import specs
from sessions.engine.replays.replay import replay
from sessions.engine.reports.configuration import NEAREST, configurable, configure, setting_of
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build

COMPACT_API = {
    "context_management": {
        "edits": [{"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 150_000}}]
    }
}
CLEAR_API = {
    "context_management": {
        "edits": [
            {
                "type": "clear_tool_uses_20250919",
                "trigger": {"type": "input_tokens", "value": 100_000},
                "keep": {"type": "tool_uses", "value": 5},
                "clear_at_least": {"type": "input_tokens", "value": 20_000},
                "exclude_tools": ["Read", "Bash"],
            }
        ]
    }
}
LANGCHAIN = """\
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware

agent = create_agent(
    model="anthropic:claude-opus-4-6",
    tools=tools,
    middleware=[
        SummarizationMiddleware(
            model="anthropic:claude-opus-4-6",
            trigger=("tokens", 120_000),
            keep=("messages", 8),
        ),
    ],
)
"""
INSPECT = """\
from inspect_ai.agent import react
from inspect_ai.model import CompactionEdit

agent = react(
    tools=tools,
    compaction=CompactionEdit(
        threshold=0.9,
        keep_thinking_turns=2,
        keep_tool_uses=6,
        keep_tool_inputs=False,
    ),
)
"""
OPENCODE = {"auto": True, "reserved": 30_000, "tail_turns": 3, "preserve_recent_tokens": 9_000}
AT_120K = {"trigger": 60, "keep_last": 8}


def claude_threshold(params):
    """Where Claude Code compacts under these parameters."""
    return setting_of("claude_code", params, window=200_000, model="claude-opus-4-6").trigger


def one(agent, policy, window=200_000, model="claude-opus-4-6", **params):
    """The snippet of one agent."""
    return configure(policy, params, window=window, model=model, agents=(agent,))[0]


def parsed(snippet):
    """The text read as what it is; raises where it is not."""
    language, text = snippet.configuration.language, snippet.text
    if language == "json":
        return json.loads(text)
    if language == "toml":
        return tomllib.loads(text)
    if language == "python":
        return ast.parse(text)
    if language == "typescript":  # run by test_own_code where Node.js is installed
        assert text.count("{") == text.count("}")
        assert not re.search(r"\$[A-Z]", text), "a blank that was not filled in"
        return text
    words = [shlex.split(line, comments=True) for line in text.splitlines()]
    assert all(not line or (line[0] == "export" and line[1].count("=") == 1) for line in words), text
    return dict(line[1].split("=") for line in words if line)


@pytest.mark.parametrize("policy", sorted(plugins("policies")))
def test_every_setting_of_every_policy_parses_or_says_why_there_is_none(policy):
    """At the defaults and at both ends of every parameter; a text parses, none has a reason."""
    cases = [{}]
    for spec in specs(plugins("policies")[policy].params):
        cases += [{spec.name: end} for end in (spec.low, spec.high) if end is not None]
        cases += [{spec.name: word} for word in spec.choices]
    for case in cases:
        for snippet in configure(policy, case, window=200_000):
            if snippet.text:
                parsed(snippet)
            else:
                assert snippet.cannot, (policy, case, snippet.agent.name)
                assert not snippet.exact
            own = policy in snippet.configuration.own
            nearest = any(sentence.startswith(NEAREST) for sentence in snippet.cannot)
            assert nearest == (bool(snippet.text) and not own and policy != "none")


@pytest.mark.parametrize(
    ("agent", "policy", "params", "text"),
    [
        ("claude_code", "claude_code", {"pct_override": 60}, {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "60"}),
        ("claude_code", "claude_code", {"auto": "off"}, {"DISABLE_AUTO_COMPACT": "1"}),
        ("claude_code", "none", {}, {"DISABLE_AUTO_COMPACT": "1"}),
        ("claude_code", "claude_code", {"auto_compact_window": 150_000}, {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "150000"}),
        ("codex", "codex_local", {"auto_compact_token_limit": 90_000}, {"model_auto_compact_token_limit": 90_000}),
        (
            "codex", "codex_remote", {"auto_compact_token_limit": 90_000, "scope": "body_after_prefix"},
            {"model_auto_compact_token_limit": 90_000, "model_auto_compact_token_limit_scope": "body_after_prefix"},
        ),
        ("anthropic_api", "anthropic_compact", {}, COMPACT_API),
        (
            "anthropic_api", "anthropic_clear_tool_uses",
            {"keep": 5, "clear_at_least": 20_000, "exclude_tools": "Read,Bash"}, CLEAR_API,
        ),
        (
            "anthropic_api", "anthropic_clear_thinking", {"keep": 2},
            {"context_management": {"edits": [{
                "type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 2}}]}},
        ),
        (
            "opencode", "opencode_compaction",
            {"reserved": 30_000, "tail_turns": 3, "preserve_recent_tokens": 9_000},
            {"$schema": "https://opencode.ai/config.json", "compaction": OPENCODE},
        ),
        (
            "opencode", "opencode_prune", {},
            {"$schema": "https://opencode.ai/config.json", "compaction": {"auto": True, "prune": True}},
        ),
        ("pi", "none", {}, {"compaction": {"enabled": False}}),
        (
            "openai_api", "openai_compact_threshold", {"compact_threshold": 120_000},
            {"context_management": [{"type": "compaction", "compact_threshold": 120_000}]},
        ),
    ],
)  # fmt: skip
def test_an_agents_own_policy_is_said_exactly(agent, policy, params, text):
    """Golden: the keys and values, with nothing left unsaid."""
    snippet = one(agent, policy, **params)
    assert parsed(snippet) == text
    assert snippet.exact
    assert snippet.cannot == ()


@pytest.mark.parametrize(
    ("policy", "params", "said"),
    [
        ("anthropic_on_demand", {"compact_at": 90_000, "keep_turns": 2}, ["exceed 90,000 tokens", "newest 2 turns"]),
        ("anthropic_background", {"start_at": 80_000}, ["exceed 80,000 tokens", "exactly what that request held"]),
    ],
)
def test_compaction_on_demand_is_a_parameter_and_what_the_program_does(policy, params, said):
    """Golden: the request's parameter; when to send it has no key, and the snippet says so."""
    snippet = one("anthropic_api", policy, **params)
    assert parsed(snippet) == {"compaction": {"type": "summarize"}}
    assert "compact-2026-09-04" in snippet.configuration.file
    assert [part in sentence for part, sentence in zip(said, snippet.cannot, strict=True)] == [True, True]
    assert not snippet.exact


def test_the_responses_api_takes_another_policys_trigger():
    """Golden: 120,000 of 200,000 as compact_threshold; what is kept has no parameter there."""
    snippet = one("openai_api", "anchored_iterative", **AT_120K)
    assert parsed(snippet) == {"context_management": [{"type": "compaction", "compact_threshold": 120_000}]}
    assert snippet.fires_at == 120_000
    assert any("send again" in sentence for sentence in snippet.cannot)


def test_python_snippets_are_the_constructors():
    """Golden: LangChain's and Inspect's arguments."""
    chain = one("langchain", "langchain_summarization", trigger_fraction="none", trigger_tokens=120_000,
                keep_messages=8)  # fmt: skip
    assert (chain.text, chain.exact) == (LANGCHAIN, True)
    edit = one("inspect", "inspect_edit", keep_thinking_turns=2, keep_tool_uses=6, keep_tool_inputs="off")
    assert (edit.text, edit.exact) == (INSPECT, True)
    both = one("langchain", "langchain_summarization", trigger_tokens=120_000)
    assert '[("fraction", 0.8), ("tokens", 120_000)]' in both.text
    every = one("langchain", "langchain_summarization", trigger_tokens=120_000, combine="all")
    assert '{"fraction": 0.8, "tokens": 120_000}' in every.text


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        ("claude_code", {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "66"}),
        ("codex", {"model_auto_compact_token_limit": 120_000}),
        ("gemini_cli", {"model": {"compressionThreshold": 0.6}}),
        ("pi", {"compaction": {"enabled": True, "reserveTokens": 80_000}}),
        (
            "opencode",
            {"$schema": "https://opencode.ai/config.json", "compaction": {"auto": True, "reserved": 80_000}},
        ),
    ],
)
def test_another_policy_is_the_nearest_fit_and_says_so(agent, text):
    """Anchored at 120,000 tokens of 200,000, keep 8: the keys, and in the first sentence that it is not the same."""
    snippet = one(agent, "anchored_iterative", **AT_120K)
    assert parsed(snippet) == text
    assert not snippet.exact
    assert snippet.cannot[0].startswith(NEAREST)


def test_a_policy_that_is_switched_off_is_no_threshold_elsewhere():
    """Its gate still has a threshold, which no agent is set to: one switches off too, or says that it cannot."""
    assert claude_threshold({"auto": "off"}) is not None
    assert parsed(one("pi", "claude_code", auto="off")) == {"compaction": {"enabled": False}}
    assert not one("codex", "claude_code", auto="off").text
    assert not one("pi", "claude_code", auto="off").exact


def test_what_fires_elsewhere_says_where():
    """Claude Code takes whole percent of the effective window and cannot be raised; the API not below 50,000."""
    lower = one("claude_code", "anchored_iterative", **AT_120K)
    assert lower.fires_at == claude_threshold({"pct_override": 66})
    assert lower.fires_at <= 120_000
    assert f"It compacts at {lower.fires_at:,} tokens, where this setting does at 120,000." in lower.cannot
    higher = one("claude_code", "anchored_iterative", trigger=95)
    assert parsed(higher) == {}
    assert higher.fires_at == claude_threshold({})
    assert higher.fires_at < 190_000
    low = one("anthropic_api", "anchored_iterative", window=50_000, trigger=50)
    assert low.fires_at == 50_000
    assert "It compacts at 50,000 tokens, where this setting does at 25,000." in low.cannot
    most = one("codex", "anchored_iterative", trigger=95)
    assert parsed(most) == {"model_auto_compact_token_limit": 180_000}


@pytest.mark.parametrize("trigger", range(1, 101))
def test_claude_code_never_fires_later_than_wanted(trigger):
    """The highest whole percentage at or under the threshold, checked by the policy's own gate."""
    snippet = one("claude_code", "sliding_window", trigger=trigger)
    assert not snippet.text  # it drops without a summary: not configurable there
    fit = one("claude_code", "anchored_iterative", trigger=trigger)
    percent = parsed(fit).get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE")
    if percent is None:
        assert fit.fires_at <= 2_000 * trigger
        return
    at = claude_threshold({"pct_override": percent})
    assert fit.fires_at in {at, 0}
    if at <= 2_000 * trigger:
        above = claude_threshold({"pct_override": int(percent) + 1})
        assert above > 2_000 * trigger


def test_a_window_of_ones_own_is_a_key_where_there_is_one():
    """Claude Code and Codex take a window; Claude Code holds it between limits and says so."""
    assert parsed(one("claude_code", "claude_code", window=150_000)) == {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "150000"}
    assert parsed(one("codex", "codex_local", window=150_000)) == {"model_context_window": 150_000}
    small = one("claude_code", "claude_code", window=50_000)
    assert "The window is held between 100,000 and 1,000,000 tokens." in small.cannot


def test_a_parameter_without_a_key_is_named():
    """A buffer of one's own is built into Claude Code."""
    snippet = one("claude_code", "claude_code", buffer=20_000)
    assert not snippet.exact
    assert snippet.cannot == ("Auto-compact buffer: 20,000 tokens has no key; it is built in.",)


def test_the_replays_own_assumption_is_no_setting():
    """Whether usage is withheld says nothing of the agent."""
    assert one("claude_code", "claude_code", usage="none").exact


def test_exact_ones_come_first_then_those_that_can():
    """Order: the agent's own policy, agents with a text, agents without."""
    found = configure("anthropic_clear_tool_uses", window=200_000)
    assert found[0].agent.name == "anthropic_api"
    texts = [bool(snippet.text) for snippet in found]
    assert texts == sorted(texts, reverse=True)
    assert len(found) == len(configurable())


def test_what_does_not_exist_is_refused():
    """An agent, a policy, a parameter."""
    with pytest.raises(UnknownName, match="Unknown agent 'vim'"):
        configure("none", agents=("vim",))
    with pytest.raises(UnknownName, match="Unknown policy 'nothing'"):
        configure("nothing")
    with pytest.raises(BadParameter):
        configure("claude_code", {"keep": 3})


def test_what_the_gate_counts():
    """Tokens of context only: a gate on bytes, turns or a part of the context gives no trigger."""
    assert setting_of("claude_code", window=200_000).trigger is not None
    assert setting_of("aider").trigger is None
    assert setting_of("buzz_truncate").unit == "bytes"
    assert setting_of("ag2_history_limiter").trigger_messages == 20


def test_a_session_is_set_to_what_its_own_client_replays() -> None:
    """An older client reserves more of the window, and the snippet says of which version it is."""
    session = Build().turns(20).done()
    weighed = weigh(replace(session, format="claude_code", client="2.1.7"))
    setting = setting_of("claude_code", {"pct_override": 56}, weighed=weighed)
    replayed = replay(weighed, "claude_code", params={"pct_override": 56})
    assert setting.trigger == replayed.gates[0].threshold
    (snippet,) = configure("claude_code", {"pct_override": 56}, weighed=weighed, agents=("claude_code",))
    (said,) = snippet.cannot
    assert said.startswith("This is of Claude Code 2.1.7")
