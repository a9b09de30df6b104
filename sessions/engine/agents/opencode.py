"""opencode: what is usable of the window, and ``compaction`` in opencode.json (policies 8).

Version 1 keeps ``reserved`` free of a model's input limit; without one it compacts when the model's output would not
fit.  Version 2 reads the same key as its buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessions.engine.agents._snippet import as_json
from sessions.engine.agents.agent import DEFAULTS, Agent, KnownSetting, Place, PolicyFacts, Trigger
from sessions.engine.agents.setting import CLEAR, NOTHING, SWITCHED, Configuration, Rendering, Setting

V1 = ("reserved", "tail_turns", "preserve_recent_tokens")
PRUNES = "Pruning spares the newest 40,000 tokens of tool output, and clears only where more than 20,000 can go."


def make(setting: Setting) -> Rendering:
    """The ``compaction`` object."""
    name, params = setting.policy.name, setting.params
    if setting.edit == NOTHING:
        return _written({"auto": False})
    if setting.edit == CLEAR:
        return _written({"prune": True}, None, () if name == "opencode_prune" else (PRUNES,))
    if name == "opencode_compaction":
        return _written({key: getattr(params, key) for key in V1 if key in setting.changed}, setting.trigger)
    if name == "opencode_compaction_v2":
        return _written({"buffer": params.buffer, "keep": {"tokens": params.keep_tokens}}, setting.trigger)
    return _nearest(setting)


def _written(keys: dict[str, Any], fires_at: int | None = None, cannot: Sequence[str] = ()) -> Rendering:
    compaction = {"auto": True, **keys}
    return Rendering(
        as_json({"$schema": "https://opencode.ai/config.json", "compaction": compaction}), fires_at, cannot
    )


def _nearest(setting: Setting) -> Rendering:
    keys = {"reserved": max(0, setting.window - setting.tokens)}
    if setting.keep_tokens is not None:
        keys["preserve_recent_tokens"] = setting.keep_tokens
    cannot = ["reserved moves the threshold where the model has an input limit of its own, and in version 2."]
    if setting.keep_messages is not None:
        cannot.append(f"It keeps turns or tokens, not {setting.keep_messages:,} messages.")
    return _written(keys, None, cannot)


SETTINGS = (
    *DEFAULTS, *(KnownSetting({"max_output": n}, f"a maximum output of {n:,} tokens") for n in (8_192, 16_384)),
)  # fmt: skip

AGENT = Agent(
    name="opencode", label="opencode", rank=4, formats=("opencode",),
    policies=("opencode_compaction", "opencode_compaction_v2", "opencode_prune"),
    facts={
        "opencode_compaction": PolicyFacts(SETTINGS, keeps=(("tokens", "preserve_recent_tokens"),)),
        "opencode_compaction_v2": PolicyFacts(keeps=(("tokens", "keep_tokens"),)),
        "opencode_prune": PolicyFacts(edit=CLEAR, counts="tokens that can be pruned"),
    },
    triggers=(
        Trigger(
            "opencode", "opencode V1", "policies 8.1", "opencode_compaction", words="opencode's usable window",
            note="Looks at the last reply's usage alone: without usage it never fires.",
        ),
        Trigger("opencode_v2", "opencode V2", "policies 8.4", "opencode_compaction_v2"),
    ),
    places={"opencode": Place("~/.local/share/opencode", ("opencode.db",))},
    configuration=Configuration(
        file="opencode.json", language="json", checked="2026-11-22", make=make,
        source="https://opencode.ai/docs/config (compaction)",
        edits={*SWITCHED, CLEAR}, otherwise="opencode compacts with a summary, or prunes tool output; nothing else.",
        differs="opencode updates its last summary and keeps the newest turns.",
        own={"opencode_compaction": V1, "opencode_compaction_v2": {"buffer", "keep_tokens"}, "opencode_prune": ()},
    ),
)  # fmt: skip
