"""GitHub Copilot CLI: compacts at eight tenths of its window by its own count (formats 23, policies 11.22)."""

from __future__ import annotations

from sessions.engine.agents.agent import EVERY_REQUEST, Agent, KnownSetting, Place, PolicyFacts, Trigger

AGENT = Agent(
    name="copilot_cli", label="GitHub Copilot CLI", rank=13, formats=("copilot_cli",), policies=("copilot_cli",),
    asked=EVERY_REQUEST, windows=(128_000, 200_000),
    facts={"copilot_cli": PolicyFacts((KnownSetting({}, "the default: 80% of the window"),))},
    triggers=(
        Trigger(
            "copilot_cli", "GitHub Copilot CLI", "policies 11.22", "copilot_cli",
            words="Copilot CLI's 0.8 of the window",
        ),
    ),
    places={"copilot_cli": Place("~/.copilot/session-state", ("*/events.jsonl", "*.jsonl"))},
)  # fmt: skip
