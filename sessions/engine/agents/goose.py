"""goose: eight tenths of the window by default (policies 11.8)."""

from __future__ import annotations

from sessions.engine.agents.agent import TURN_START, Agent, KnownSetting, PolicyFacts, Trigger
from sessions.engine.agents.setting import OTHER

SETTINGS = (
    KnownSetting({}, "the defaults: 80% of the window"),
    *(KnownSetting({"threshold": p / 100}, f"a threshold of {p}%") for p in (50, 60, 70, 90)),
)

AGENT = Agent(
    name="goose", label="goose", rank=11, asked=TURN_START, formats=("goose",), policies=("goose", "goose_tool_pairs"),
    facts={"goose": PolicyFacts(SETTINGS), "goose_tool_pairs": PolicyFacts(edit=OTHER)},
    triggers=(Trigger("goose", "goose", "policies 11.8", "goose", words="goose's 0.8 of the window"),),
)  # fmt: skip
