"""The Anthropic SDK's client-side compaction in its tool runner (policies 5.4; deprecated there).

``anthropic-sdk-python`` ``lib/tools/_beta_runner.py`` and ``_beta_compaction_control.py`` (2026-08-07).  When input,
cache and output of the last response reach the threshold, the whole history becomes one user message: the summary.
The tool calls of that response are skipped, so the results that the recording holds for them go too.

A prompt typed after the response is no part of the runner's history yet and stays.  Without usage there is nothing to
compare: the context of the request stands in.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.params import param, usage_param
from sessions.engine.policies._lists import apart, is_answer, last_assistant
from sessions.engine.policy import Gate, Item, Policy, View


@dataclass(frozen=True, slots=True)
class Params:
    """The runner's threshold."""

    context_token_threshold: int = param(
        100_000, label="Threshold, at or above", help="Input, cache and output of the last response", unit="tokens",
        group="when", low=0, high=2_000_000, step=1_000,
    )  # fmt: skip
    usage: str = usage_param()


def gate(params: Params, view: View) -> Gate:
    """Input + cache + output of the last response ≥ the threshold."""
    if view.usage is not None:
        measure = view.usage.input + view.usage.output
    else:
        measure = view.context if params.usage == "none" else 0
    limit = params.context_token_threshold
    return Gate(measure >= limit > 0, "input, cache and output of the last response", measure, limit, ">=", "tokens")


def edit(params: Params, view: View) -> list[Item]:
    """The whole history becomes one user message; what was typed after the last reply stays."""
    del params
    system, rest = apart(view.items)
    replied = last_assistant(rest)
    live = [item for item in rest[replied + 1 :] if replied >= 0 and not is_answer(item)]
    kept = {item.id for item in live}
    dropped = [item for item in rest if item.id not in kept]
    if not dropped:
        return list(view.items)
    return [*system, *view.summarize(dropped), *live]


POLICY = Policy(
    name="anthropic_sdk_compaction",
    label="Anthropic SDK compaction",
    source="anthropic-sdk-python lib/tools: CompactionControl of the tool runner (deprecated)",
    help="One user message with the summary replaces the whole history at 100,000 tokens of the last response.",
    estimator="tiktoken_o200k",
    params=Params,
    gate=gate,
    edit=edit,
    shares_prefix=True,
    threshold_param="context_token_threshold",
    tier="golden",
)
