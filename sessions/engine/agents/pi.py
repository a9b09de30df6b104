"""pi: it compacts over the window less a reserve; ``compaction`` in settings.json (policies 11.1)."""

from __future__ import annotations

import json
from typing import Any

from sessions.engine.agent import ALWAYS, OVER, TURN_END, Agent, Trigger, Uses
from sessions.engine.policies import pi as policy
from sessions.engine.setting import NOTHING, SUMMARISE, Configuration, Rendering, Setting, not_tokens


def make(setting: Setting) -> Rendering:
    """The ``compaction`` object."""
    if setting.edit == NOTHING:
        return Rendering(_written({"enabled": False}))
    if setting.edit != SUMMARISE:
        return Rendering(cannot=("pi compacts with a summary; clearing alone is not a setting.",))
    if setting.trigger is None:
        return Rendering(cannot=(not_tokens(setting),))
    found: dict[str, Any] = {"enabled": True, "reserveTokens": max(0, setting.window - setting.trigger)}
    cannot: list[str] = []
    if setting.keep_tokens is not None:
        found["keepRecentTokens"] = setting.keep_tokens
    elif setting.keep_messages is not None:
        cannot.append(f"It keeps tokens (20,000 by default), not {setting.keep_messages:,} messages.")
    if not setting.above:
        cannot.append("It compacts over the threshold, not at it.")
    return Rendering(_written(found), min(setting.trigger, setting.window), tuple(cannot))


def _written(compaction: dict[str, Any]) -> str:
    return json.dumps({"compaction": compaction}, indent=2) + "\n"


AGENT = Agent(
    name="pi",
    label="pi",
    rank=5,
    formats=("pi",),
    policies=("pi",),
    triggers=(
        Trigger(
            "pi", "pi", "policies 11.1", "pi", OVER, Uses.TAIL, lambda window, _: policy.most(policy.Params(), window),
            words="pi's limit, the window less 16,384",
        ),
    ),
    asked=TURN_END,
    own_figure=ALWAYS,
    folder="~/.pi/agent/sessions",
    configuration=Configuration(
        file="~/.pi/agent/settings.json",
        language="json",
        source="pi-mono, packages/coding-agent/docs/compaction.md",
        checked="2026-11-22",
        differs="pi updates its last summary; the reserve bounds the summary's own call as well.",
        make=make,
    ),
)  # fmt: skip
