"""opencode: what is usable of the window, and ``compaction`` in opencode.json (policies 8).

Version 1 keeps ``reserved`` free of a model's input limit; without one it compacts when the model's output would not
fit.  Version 2 reads the same key as its buffer.
"""

from __future__ import annotations

import json
from typing import Any

from sessions.engine.agent import AT_LEAST, LIST_ALONE, Agent, KnownSetting, PolicyFacts, Trigger, Uses
from sessions.engine.policies import opencode_compaction, opencode_compaction_v2
from sessions.engine.setting import CLEAR, NOTHING, SUMMARISE, Configuration, Rendering, Setting, built_in, not_tokens

V1 = {"reserved", "tail_turns", "preserve_recent_tokens"}
V2 = {"buffer", "keep_tokens"}
PRUNES = "Pruning spares the newest 40,000 tokens of tool output, and clears only where more than 20,000 can go."


def make(setting: Setting) -> Rendering:
    """The ``compaction`` object."""
    name = setting.policy.name
    if setting.edit == NOTHING:
        return Rendering(_written({"auto": False}))
    if setting.edit == CLEAR:
        said = built_in(setting, ()) if name == "opencode_prune" else (PRUNES,)
        return Rendering(_written({"auto": True, "prune": True}), None, said)
    if setting.edit != SUMMARISE:
        return Rendering(cannot=("opencode compacts with a summary, or prunes tool output; nothing else.",))
    if name == "opencode_compaction":
        return _first(setting)
    if name == "opencode_compaction_v2":
        params = setting.params
        made = {"auto": True, "buffer": params.buffer, "keep": {"tokens": params.keep_tokens}}
        return Rendering(_written(made), setting.trigger, built_in(setting, V2))
    return _nearest(setting)


def _written(compaction: dict[str, Any]) -> str:
    return json.dumps({"$schema": "https://opencode.ai/config.json", "compaction": compaction}, indent=2) + "\n"


def _first(setting: Setting) -> Rendering:
    found: dict[str, Any] = {"auto": True}
    for key in ("reserved", "tail_turns", "preserve_recent_tokens"):
        if key in setting.changed:
            found[key] = getattr(setting.params, key)
    return Rendering(_written(found), setting.trigger, built_in(setting, V1))


def _nearest(setting: Setting) -> Rendering:
    if setting.trigger is None:
        return Rendering(cannot=(not_tokens(setting),))
    found: dict[str, Any] = {"auto": True, "reserved": max(0, setting.window - setting.trigger)}
    if setting.keep_tokens is not None:
        found["preserve_recent_tokens"] = setting.keep_tokens
    cannot = ["reserved moves the threshold where the model has an input limit of its own, and in version 2."]
    if setting.keep_messages is not None:
        cannot.append(f"It keeps turns or tokens, not {setting.keep_messages:,} messages.")
    return Rendering(_written(found), None, tuple(cannot))


AGENT = Agent(
    name="opencode",
    label="opencode",
    rank=4,
    formats=("opencode",),
    policies=("opencode_compaction", "opencode_compaction_v2", "opencode_prune"),
    facts={
        "opencode_compaction": PolicyFacts(
            (
                KnownSetting({}, "the defaults"),
                KnownSetting({"max_output": 8_192}, "a maximum output of 8,192 tokens"),
                KnownSetting({"max_output": 16_384}, "a maximum output of 16,384 tokens"),
            ),
            keeps=(("tokens", "preserve_recent_tokens"),),
        ),
        "opencode_compaction_v2": PolicyFacts(keeps=(("tokens", "keep_tokens"),)),
        "opencode_prune": PolicyFacts(edit=CLEAR, counts="tokens that can be pruned"),
    },
    triggers=(
        Trigger(
            "opencode", "opencode V1", "policies 8.1", "opencode", AT_LEAST, Uses.TOTAL,
            lambda window, model: opencode_compaction.usable(opencode_compaction.Params(), window, model),
            words="opencode's usable window", estimates_first=False,
            note="Looks at the last reply's usage alone: without usage it never fires.",
        ),
        Trigger(
            "opencode_v2", "opencode V2", "policies 8.4", "opencode_v2", AT_LEAST, Uses.ESTIMATE,
            lambda window, model: opencode_compaction_v2.limit(opencode_compaction_v2.Params(), window, model),
            note=LIST_ALONE,
        ),
    ),
    folder="~/.local/share/opencode",
    configuration=Configuration(
        file="opencode.json",
        language="json",
        source="https://opencode.ai/docs/config (compaction)",
        checked="2026-11-22",
        differs="opencode updates its last summary and keeps the newest turns.",
        make=make,
        exact_for=frozenset({"opencode_compaction", "opencode_compaction_v2", "opencode_prune"}),
    ),
)  # fmt: skip
