"""Apply it: the configuration of real agents for a setting that a replay or a sweep came to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine import registry
from sessions.engine.wanted import NOTHING, Snippet, wanted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.wanted import Agent, Wanted

NEAREST = "Nearest fit, not the same policy"


def configure(
    policy: str,
    params: Mapping[str, object] | None = None,
    *,
    window: int | None = None,
    model: str = "",
    weighed: Weighed | None = None,
    agents: tuple[str, ...] = (),
) -> tuple[Snippet, ...]:
    """The configuration of every agent (or of ``agents``), those that say it exactly first, then those that can.

    Raises UnknownName or BadParameter.
    """
    setting = wanted(policy, params, window=window, model=model, weighed=weighed)
    chosen = [registry.get("apply", name) for name in agents] or list(registry.plugins("apply").values())
    return tuple(sorted((_snippet(agent, setting) for agent in chosen), key=_rank))


def _rank(snippet: Snippet) -> tuple[bool, bool, bool]:
    return (not snippet.exact, not snippet.text, "own policy" not in _kind(snippet))


def _kind(snippet: Snippet) -> str:
    return "" if snippet.cannot and snippet.cannot[0].startswith(NEAREST) else "own policy"


def _snippet(agent: Agent, setting: Wanted) -> Snippet:
    made = agent.make(setting)
    own = setting.policy.name in agent.own
    said = list(made.cannot)
    if made.text and not own and setting.edit != NOTHING:
        said.insert(0, f"{NEAREST}: {agent.differs}")
    if made.fires_at is not None and setting.trigger is not None and made.fires_at != setting.trigger:
        said.append(f"It compacts at {made.fires_at:,} tokens, where this setting does at {setting.trigger:,}.")
    exact = bool(made.text) and not said and (own or setting.edit == NOTHING)
    return Snippet(agent, made.text, exact, made.fires_at, tuple(said))


def snippet_document(snippet: Snippet) -> dict[str, Any]:
    """One agent's configuration as JSON holds it; ``text`` is "" where the agent cannot be set so."""
    agent = snippet.agent
    return {
        "agent": agent.name, "label": agent.label, "file": agent.file, "language": agent.language,
        "text": snippet.text, "exact": snippet.exact, "fires_at_tokens": snippet.fires_at,
        "cannot": list(snippet.cannot), "source": agent.source, "checked": agent.checked,
    }  # fmt: skip


def apply_document(policy: str, params: Mapping[str, object], snippets: tuple[Snippet, ...]) -> dict[str, Any]:
    """``ctxweb.apply/1``."""
    return {
        "schema": "ctxweb.apply/1",
        "policy": policy,
        "params": dict(params),
        "agents": [snippet_document(snippet) for snippet in snippets],
    }
