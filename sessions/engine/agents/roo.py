"""Roo Code; its transcripts have Cline's format (policies 11.4)."""

from __future__ import annotations

from sessions.engine.agent import OVER, Agent, KnownSetting, PolicyFacts, Trigger, Uses
from sessions.engine.policies import roo_code

SETTINGS = (
    KnownSetting({}, "the defaults"),
    *(KnownSetting({"condense_percent": p}, f"a threshold of {p}%") for p in (50, 60, 70, 75, 80, 90)),
)

AGENT = Agent(
    name="roo", label="Roo Code", rank=7, policies=("roo_code",), facts={"roo_code": PolicyFacts(SETTINGS)},
    triggers=(
        Trigger(
            "roo", "Roo Code", "policies 11.4", "roo", OVER, Uses.TAIL,
            lambda window, _: roo_code.allowed(roo_code.Params(), window),
        ),
    ),
)  # fmt: skip
