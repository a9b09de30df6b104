"""opencode: ``compaction`` in opencode.json (policies 8).

Version 1 keeps ``reserved`` free of a model's input limit; without one it compacts when the model's output would not
fit.  Version 2 reads the same key as its buffer.
"""

from __future__ import annotations

import json
from typing import Any

from sessions.engine.wanted import CLEAR, NOTHING, SUMMARISE, Agent, Made, Wanted, built_in, not_tokens

V1 = {"reserved", "tail_turns", "preserve_recent_tokens"}
V2 = {"buffer", "keep_tokens"}
PRUNES = "Pruning spares the newest 40,000 tokens of tool output, and clears only where more than 20,000 can go."


def make(setting: Wanted) -> Made:
    """The ``compaction`` object."""
    name = setting.policy.name
    if setting.edit == NOTHING:
        return Made(_written({"auto": False}))
    if setting.edit == CLEAR:
        said = built_in(setting, ()) if name == "opencode_prune" else (PRUNES,)
        return Made(_written({"auto": True, "prune": True}), None, said)
    if setting.edit != SUMMARISE:
        return Made(cannot=("opencode compacts with a summary, or prunes tool output; nothing else.",))
    if name == "opencode_compaction":
        return _first(setting)
    if name == "opencode_compaction_v2":
        params = setting.params
        made = {"auto": True, "buffer": params.buffer, "keep": {"tokens": params.keep_tokens}}
        return Made(_written(made), setting.trigger, built_in(setting, V2))
    return _nearest(setting)


def _written(compaction: dict[str, Any]) -> str:
    return json.dumps({"$schema": "https://opencode.ai/config.json", "compaction": compaction}, indent=2) + "\n"


def _first(setting: Wanted) -> Made:
    found: dict[str, Any] = {"auto": True}
    for key in ("reserved", "tail_turns", "preserve_recent_tokens"):
        if key in setting.changed:
            found[key] = getattr(setting.params, key)
    return Made(_written(found), setting.trigger, built_in(setting, V1))


def _nearest(setting: Wanted) -> Made:
    if setting.trigger is None:
        return Made(cannot=(not_tokens(setting),))
    found: dict[str, Any] = {"auto": True, "reserved": max(0, setting.window - setting.trigger)}
    if setting.keep_tokens is not None:
        found["preserve_recent_tokens"] = setting.keep_tokens
    cannot = ["reserved moves the threshold where the model has an input limit of its own, and in version 2."]
    if setting.keep_messages is not None:
        cannot.append(f"It keeps turns or tokens, not {setting.keep_messages:,} messages.")
    return Made(_written(found), None, tuple(cannot))


AGENT = Agent(
    name="opencode",
    label="opencode",
    file="opencode.json",
    language="json",
    source="https://opencode.ai/docs/config (compaction)",
    checked="2026-11-22",
    own=frozenset({"opencode_compaction", "opencode_compaction_v2", "opencode_prune"}),
    differs="opencode updates its last summary and keeps the newest turns.",
    make=make,
)
