"""OpenAI API: compaction on the provider's side, which leaves an opaque item (policies 6.4, 6.7)."""

from __future__ import annotations

from sessions.engine.agents._snippet import as_json
from sessions.engine.agents.agent import Agent, KnownSetting, PolicyFacts, stated
from sessions.engine.agents.setting import Configuration, Rendering, Setting

OWN = "openai_compact_threshold"
NOTHING_KEPT = "What stands before the item counts no more; send again what is to be kept as new input."


def make(setting: Setting) -> Rendering:
    """The request's ``context_management``."""
    text = as_json({"context_management": [{"type": "compaction", "compact_threshold": setting.tokens}]})
    keeps = bool(setting.keep_messages or setting.keep_tokens) and setting.policy.name != OWN
    return Rendering(text, setting.tokens, (NOTHING_KEPT,) if keeps else ())


SETTINGS = PolicyFacts((
    KnownSetting({}, "a threshold of 200,000 tokens, as in the guide"),
    KnownSetting({"compact_threshold": 100_000}, "a threshold of 100,000 tokens"),
), stated("compact_threshold"))  # fmt: skip

AGENT = Agent(
    name="openai_api", label="OpenAI API", formats=("openai_responses",), policies=("codex_remote", OWN),
    opaque_policy="codex_remote", stated_policy=OWN, facts={OWN: SETTINGS},
    configuration=Configuration(
        file="request body of POST /v1/responses", language="json",
        source="OpenAI's guide to compaction: context_management with compact_threshold", checked="2026-11-22",
        make=make, differs="the server replaces the whole input by one encrypted item, whatever the policy keeps.",
        otherwise="The API compacts into one encrypted item; it does not clear or trim.",
        own={OWN: {"compact_threshold"}},
    ),
)  # fmt: skip
