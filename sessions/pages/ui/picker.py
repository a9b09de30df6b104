"""The policies as a reader looks for them: the session's own, the common ones, then all by who they come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sessions.engine.agents.agent import writer_of
from sessions.engine.base import registry
from sessions.engine.policies.policy import Policy
from sessions.engine.weigh.calibration.weighed import Weighed

COMMON = (
    "claude_code", "codex_local", "anthropic_clear_tool_uses", "langchain_summarization", "sliding_window", "none",
    "anchored_iterative",
)  # fmt: skip
"""What most readers try; six of them are listed."""
N_COMMON = 6
FAMILIES = (
    ("Claude Code", ("claude_code", "claw_code")), ("Codex and OpenAI", ("codex_", "openai_")),
    ("Anthropic API and SDK", ("anthropic_",)), ("LangChain", ("langchain_", "deepagents_")),
    ("OpenHands and SWE-agent", ("openhands_", "swe_agent_", "mini_swe_")), ("opencode", ("opencode_",)),
    ("Gemini and ADK", ("gemini_", "adk_")), ("Cline and Roo Code", ("cline_", "roo_code")),
    ("goose and buzz-agent", ("goose", "buzz_")),
    ("AutoGen, AG2 and Microsoft", ("autogen_", "ag2_", "agent_framework")),
    ("Inspect", ("inspect_",)),
    ("Other agents", ("aider", "browser_use", "copilot_chat", "crush", "kimi", "letta", "pi", "smolagents_")),
)  # fmt: skip
"""Whose policies they are, by how their names begin."""
GENERAL = "General"


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a select or of a segmented control."""

    value: str
    words: str
    current: bool
    title: str = ""


@dataclass(frozen=True, slots=True)
class PolicyGroup:
    """Policies under one heading."""

    title: str
    policies: tuple[Option, ...]


def policy_groups(current: str, weighed: Weighed | None = None) -> tuple[PolicyGroup, ...]:
    """Used by this session's agent, six common ones, then everything else; each policy stands once."""
    plugins: dict[str, Policy] = registry.plugins("policies")
    used = [name for name in (writer_of(weighed.transcript).policies if weighed else ()) if name in plugins]
    common = [name for name in COMMON if name in plugins and name not in used][:N_COMMON]
    rest = [name for name in plugins if name not in {*used, *common}]
    parts: list[tuple[str, Iterable[str]]] = [("Used by this session", used), ("Common", common)]
    parts += [(title, [n for n in rest if _family(n) == title]) for title in (*(t for t, _ in FAMILIES), GENERAL)]
    found = []
    for title, names in parts:
        options = [Option(name, plugins[name].label or name, name == current, plugins[name].help) for name in names]
        if title not in {"Used by this session", "Common"}:
            options.sort(key=lambda option: option.words.lower())
        if options:
            found.append(PolicyGroup(title, tuple(options)))
    return tuple(found)


def _family(name: str) -> str:
    return next((title for title, starts in FAMILIES if name.startswith(starts)), GENERAL)
