"""OpenHands: its condensers, of which the SDK's summarizing one can be set (policies 9)."""

from __future__ import annotations

from sessions.engine.agents._snippet import number
from sessions.engine.agents.agent import NOTHING_KNOWN, Agent, KnownSetting, PolicyFacts
from sessions.engine.agents.setting import Configuration, Rendering, Setting
from sessions.engine.transcript.types import Transcript

MAX_SIZE = 240


def client(transcript: Transcript) -> KnownSetting:
    """The limit in events that the file states."""
    at = transcript.events_at
    return NOTHING_KNOWN if at is None else KnownSetting({"max_size": at}, "as the file states")


STATED = PolicyFacts(client=client)


def make(setting: Setting) -> Rendering:
    """The condenser with its limit in tokens, or in events where the trigger counts messages."""
    lines = ['    llm=llm.model_copy(update={"usage_id": "condenser"}),']
    if setting.trigger_messages is not None:
        lines.append(f"    max_size={number(setting.trigger_messages)},")
        cannot = ["It counts events: a tool call and its result are two."]
    else:
        lines.append(f"    max_tokens={number(setting.tokens)},")
        cannot = [f"It condenses at more than {MAX_SIZE} events too; raise max_size where that comes first."]
    if getattr(setting.params, "keep_first", 0):
        lines.append(f"    keep_first={number(setting.params.keep_first)},")
    if setting.keep_messages is not None or setting.keep_tokens is not None:
        cannot.append("It keeps what fits into half of its limit, and nothing sets another tail.")
    text = (
        "from openhands.sdk import Agent\n"
        "from openhands.sdk.context.condenser import LLMSummarizingCondenser\n\n"
        "condenser = LLMSummarizingCondenser(\n" + "\n".join(lines) + "\n)\n"
        "agent = Agent(llm=llm, tools=tools, condenser=condenser)\n"
    )
    return Rendering(text, setting.trigger, cannot)


AGENT = Agent(
    name="openhands", label="OpenHands", formats=("openhands",),
    policies=(
        "openhands_llm_summarizing", "openhands_sdk", "openhands_amortized", "openhands_masking", "openhands_recent",
        "openhands_window",
    ),
    facts={"openhands_llm_summarizing": STATED, "openhands_sdk": STATED, "openhands_amortized": STATED},
    configuration=Configuration(
        file="your agent's Python (software-agent-sdk)", language="python", checked="2026-11-22", make=make,
        source="https://docs.openhands.dev/sdk/guides/context-condenser",
        otherwise="This condenser summarises; the SDK's others are not set by a threshold in tokens.",
        differs="the condenser keeps the first events, summarises the middle and updates its last summary.",
    ),
)  # fmt: skip
