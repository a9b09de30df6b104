"""buzz-agent: a hand-off that counts bytes as tokens, adjusted for images since (seeds 2)."""

from __future__ import annotations

from dataclasses import replace

from sessions.engine.agent import AT_LEAST, DEFAULTS, OVER, Agent, KnownSetting, PolicyFacts, Trigger, Uses
from sessions.engine.policies import buzz_handoff

BEFORE_IMAGES = "before 1332"
"""How a client's name ends that counted every byte."""
PRESSURE = Trigger(
    "buzz_pressure", "buzz-agent, adjusted bytes", "seeds 2.3", "pressure_bytes", AT_LEAST, Uses.GROWTH,
    lambda window, _: buzz_handoff.threshold(buzz_handoff.Params(), window), note="One byte counts as one token.",
    first_operator=OVER, first_cap=buzz_handoff.history_cap(buzz_handoff.Params()), words="buzz-agent's threshold",
)  # fmt: skip
WIRE = replace(
    PRESSURE, name="buzz_wire", label="buzz-agent, bytes", source="seeds 2.1, 2.3", estimator="wire_bytes",
    note="One byte counts as one token, base64 included: the gate before images had a flat charge.", words="",
    version=BEFORE_IMAGES,
)  # fmt: skip

AGENT = Agent(
    name="buzz", label="buzz-agent", rank=12, policies=("buzz_handoff", "buzz_recovery", "buzz_truncate"),
    triggers=(PRESSURE, WIRE), windows=(200_000,),
    facts={
        "buzz_handoff": PolicyFacts(settings=(*DEFAULTS, KnownSetting({"measure": "wire_bytes"}, BEFORE_IMAGES))),
    },
)  # fmt: skip
