"""Cline: the extension's table of what is allowed, and its SDK's share of the input limit (policies 11.2, 11.3)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent, Trigger

AGENT = Agent(
    name="cline", label="Cline", rank=6, formats=("cline",),
    policies=("cline_agentic", "cline_basic", "cline_classic"),
    triggers=(
        Trigger(
            "cline", "Cline SDK", "policies 11.2", "cline_basic", words="Cline's 0.81 of the window", is_default=False,
            note="Where the model's input limit is known, the SDK takes nine tenths of that.",
        ),
    ),
    older=(Trigger("older", "Cline", "policies 11.3", "cline_classic", words="Cline's maximum"),),
)  # fmt: skip
