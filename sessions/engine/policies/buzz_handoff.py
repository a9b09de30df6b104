"""buzz-agent's handoff gate: context pressure against a token threshold, an image at a flat charge (seeds 2)."""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.params import choice, usage_param, when
from sessions.engine.policies._handoff import hand_off, image_charge_param, prompt_budget
from sessions.engine.policies._lists import apart
from sessions.engine.policies._turns import without_oldest_turns
from sessions.engine.policy import Gate, Item, Policy, SummaryFailed, View

HISTORY_SHARE = (10, 9)
"""The byte cap's share: ``max_history_bytes // 10 * 9``."""


@dataclass(frozen=True, slots=True)
class Params:
    """The numbers of the handoff gate; defaults of the release that introduced ``pressure_bytes``."""

    measure: str = choice(
        ("pressure_bytes", "wire_bytes"),
        "Measure",
        "How history is sized: an image at 16,384 bytes, or (the bug that was fixed) at its base64 length",
        group="when",
    )
    image_charge: int = image_charge_param()
    max_output: int = when(32_768, "Output reserve", "Kept free for the reply", "tokens", 0, 200_000, 1_024)
    reserve_output: str = choice(
        ("on", "off"),
        "Reserve the output",
        "A later release dropped the output term: threshold 180,000 on a window of 200,000",
        group="when",
    )
    growth: str = choice(
        ("on", "off"),
        "Add growth to usage",
        "Off: the later release, which looks at the last usage alone and only when a turn ends",
        group="when",
    )
    max_history_bytes: int = when(
        16 * 1024 * 1024,
        "History cap",
        "Nine tenths of it bound the gate while no usage is known",
        "bytes",
        65_536,
        256 * 1024 * 1024,
        65_536,
    )
    usage: str = usage_param()


def threshold(params: Params, window: int) -> int:
    """``min(window // 10 * 9, window − max_output)`` tokens, or without the output term (seeds 2.3)."""
    share = window // 10 * 9
    return min(share, window - params.max_output) if params.reserve_output == "on" else share


def history_cap(params: Params) -> int:
    """Nine tenths of the history's cap, in bytes: what bounds the gate while no usage is known."""
    numerator, share = HISTORY_SHARE
    return params.max_history_bytes // numerator * share


def gate(params: Params, view: View) -> Gate:
    """With usage: last input + growth in bytes at one byte per token ≥ threshold; without: total bytes > the cap."""
    limit = threshold(params, view.window)
    if view.usage is None:
        cap = min(limit, history_cap(params))
        reason = f"no usage yet: {params.measure} of the whole history"
        return Gate(view.size > cap, reason, view.size, cap, ">", "bytes")
    if params.growth == "off":
        fires = view.usage.input >= limit and view.newest_typed
        return Gate(fires, "input tokens of the last request, at a turn's end", view.usage.input, limit, ">=", "tokens")
    projected = view.usage.input + (view.size - view.usage.size_then)
    reason = f"input tokens of the last request + growth in {params.measure} at 1 byte per token"
    return Gate(projected >= limit, reason, projected, limit, ">=", "tokens")


def edit(params: Params, view: View) -> list[Item]:
    """History becomes one ``[Context Handoff]`` message; the live user prompt stands again after it (seeds 2.4).

    System messages in the list stay in place.  The live prompt is the newest typed user message; what the agent did
    since then is in the handoff.  A summary that fails is skipped, and the body-size guard runs in its place.
    """
    try:
        return hand_off(view, prompt_budget(view))
    except SummaryFailed:
        system, rest = apart(view.items)
        left = without_oldest_turns(rest, lambda i: view.tools.size_by(i, "wire_bytes"), params.max_history_bytes)
        if len(left) == len(rest):
            raise
        return [*system, *left]


POLICY = Policy(
    name="buzz_handoff",
    label="buzz-agent handoff",
    source="buzz-agent pull request 1332: charge images a token-equivalent for the handoff gate",
    help="Hands the whole history over as one summary when projected pressure reaches the threshold.",
    estimator="pressure_bytes",
    params=Params,
    gate=gate,
    edit=edit,
    threshold_param="max_output",
    tier="founding",
)
