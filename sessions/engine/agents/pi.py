"""pi: it compacts over the window less a reserve; ``compaction`` in settings.json (policies 11.1)."""

from __future__ import annotations

from typing import Any

from sessions.engine.agents._snippet import as_json
from sessions.engine.agents.agent import ALWAYS, TURN_END, Agent, Place, Trigger
from sessions.engine.agents.setting import NOTHING, SWITCHED, Configuration, Rendering, Setting


def make(setting: Setting) -> Rendering:
    """The ``compaction`` object."""
    if setting.edit == NOTHING:
        return Rendering(as_json({"compaction": {"enabled": False}}))
    found: dict[str, Any] = {"enabled": True, "reserveTokens": max(0, setting.window - setting.tokens)}
    cannot: list[str] = []
    if setting.keep_tokens is not None:
        found["keepRecentTokens"] = setting.keep_tokens
    elif setting.keep_messages is not None:
        cannot.append(f"It keeps tokens (20,000 by default), not {setting.keep_messages:,} messages.")
    if not setting.above:
        cannot.append("It compacts over the threshold, not at it.")
    return Rendering(as_json({"compaction": found}), min(setting.tokens, setting.window), cannot)


AGENT = Agent(
    name="pi", label="pi", rank=5, formats=("pi",), policies=("pi",),
    triggers=(Trigger("pi", "pi", "policies 11.1", "pi", words="pi's limit (window − 16,384)"),),
    asked=TURN_END, own_figure=ALWAYS, places={"pi": Place("~/.pi/agent/sessions", ("*/*.jsonl",))},
    configuration=Configuration(
        file="~/.pi/agent/settings.json", language="json", checked="2026-11-22", make=make,
        source="pi-mono, packages/coding-agent/docs/compaction.md",
        edits=SWITCHED, otherwise="pi compacts with a summary; clearing alone is not a setting.",
        differs="pi updates its last summary; the reserve bounds the summary's own call as well.",
    ),
)  # fmt: skip
