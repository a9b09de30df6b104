"""Roo Code; its transcripts have Cline's format (policies 11.4)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent, KnownSetting, PolicyFacts, Trigger

SETTINGS = (
    KnownSetting({}, "the defaults"),
    *(KnownSetting({"condense_percent": p}, f"a threshold of {p}%") for p in (50, 60, 70, 75, 80, 90)),
)

AGENT = Agent(
    name="roo", label="Roo Code", rank=7, policies=("roo_code",), facts={"roo_code": PolicyFacts(SETTINGS)},
    triggers=(Trigger("roo", "Roo Code", "policies 11.4", "roo_code"),),
)  # fmt: skip
