"""pi: ``compaction`` in settings.json; it compacts when the context is over the window less the reserve."""

from __future__ import annotations

import json
from typing import Any

from sessions.engine.wanted import NOTHING, SUMMARISE, Agent, Made, Wanted, not_tokens


def make(setting: Wanted) -> Made:
    """The ``compaction`` object."""
    if setting.edit == NOTHING:
        return Made(_written({"enabled": False}))
    if setting.edit != SUMMARISE:
        return Made(cannot=("pi compacts with a summary; clearing alone is not a setting.",))
    if setting.trigger is None:
        return Made(cannot=(not_tokens(setting),))
    found: dict[str, Any] = {"enabled": True, "reserveTokens": max(0, setting.window - setting.trigger)}
    cannot: list[str] = []
    if setting.keep_tokens is not None:
        found["keepRecentTokens"] = setting.keep_tokens
    elif setting.keep_messages is not None:
        cannot.append(f"It keeps tokens (20,000 by default), not {setting.keep_messages:,} messages.")
    if not setting.above:
        cannot.append("It compacts over the threshold, not at it.")
    return Made(_written(found), min(setting.trigger, setting.window), tuple(cannot))


def _written(compaction: dict[str, Any]) -> str:
    return json.dumps({"compaction": compaction}, indent=2) + "\n"


AGENT = Agent(
    name="pi",
    label="pi",
    file="~/.pi/agent/settings.json",
    language="json",
    source="pi-mono, packages/coding-agent/docs/compaction.md",
    checked="2026-11-22",
    own=frozenset(),
    differs="pi updates its last summary; the reserve bounds the summary's own call as well.",
    make=make,
)
