"""buzz-agent: a hand-off that counts bytes as tokens, adjusted for images since (seeds 2)."""

from __future__ import annotations

from sessions.engine.agents.agent import DEFAULTS, Agent, KnownSetting, PolicyFacts, Trigger

BEFORE_IMAGES = "before 1332"
"""How a client's name ends that counted every byte."""
BYTES: dict[str, object] = {"measure": "wire_bytes"}
PRESSURE = Trigger(
    "buzz_pressure", "buzz-agent, adjusted bytes", "seeds 2.3", "buzz_handoff", words="buzz-agent's threshold",
    note="One byte counts as one token.",
)  # fmt: skip
WIRE = Trigger(
    "buzz_wire", "buzz-agent, bytes", "seeds 2.1, 2.3", "buzz_handoff", BYTES, version=BEFORE_IMAGES,
    note="One byte counts as one token, base64 included: the gate before images had a flat charge.",
)  # fmt: skip

AGENT = Agent(
    name="buzz", label="buzz-agent", rank=12, policies=("buzz_handoff", "buzz_recovery", "buzz_truncate"),
    triggers=(PRESSURE, WIRE), windows=(200_000,),
    facts={
        "buzz_handoff": PolicyFacts(settings=(*DEFAULTS, KnownSetting(BYTES, BEFORE_IMAGES))),
    },
)  # fmt: skip
