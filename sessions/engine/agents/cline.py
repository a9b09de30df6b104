"""Cline: the extension's table of what is allowed, and its SDK's share of the input limit (policies 11.2, 11.3)."""

from __future__ import annotations

from sessions.engine.agent import AT_LEAST, LIST_ALONE, Agent, Trigger, Uses
from sessions.engine.policies import _cline, cline_basic, cline_classic

AGENT = Agent(
    name="cline", label="Cline", rank=6, formats=("cline",),
    policies=("cline_agentic", "cline_basic", "cline_classic"),
    triggers=(
        Trigger(
            "cline", "Cline SDK", "policies 11.2", "cline", AT_LEAST, Uses.ESTIMATE,
            lambda window, _: _cline.trigger(_cline.max_input(window, window), cline_basic.Params().trigger),
            words="Cline's 0.9 of the window", is_default=False,
            note=f"{LIST_ALONE} Where no input limit is known, the SDK takes nine tenths of this.",
        ),
    ),
    older=(("Cline's maximum", lambda window, _: cline_classic.allowed(cline_classic.Params(), window)),),
)  # fmt: skip
