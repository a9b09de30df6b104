"""buzz-agent's handoff gate: context pressure against a token threshold, an image at a flat charge (seeds 2)."""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.policies._handoff import hand_off, image_charge_param, prompt_budget
from sessions.engine.policies._lists import apart
from sessions.engine.policies._looked import added_up, has_later_prompt
from sessions.engine.policies._turns import without_oldest_turns
from sessions.engine.policies.params import Told, choice, when
from sessions.engine.policies.policy import Gate, Item, Layer, Policy, View

WIRE = "wire_bytes"
HISTORY_SHARE = (10, 9)
"""The byte cap's share: ``max_history_bytes // 10 * 9``."""


@dataclass(frozen=True, slots=True)
class Params(Told):
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
        16 * 1024 * 1024, "History cap", "Nine tenths of it bound the gate while no usage is known",
        "bytes", 65_536, 256 * 1024 * 1024, 65_536,
    )  # fmt: skip
    max_handoffs: int = when(
        10, "Handoffs at most", "In a session; then only the body's cap acts. The later release knows only 0: none",
        "handoffs", 0, 10_000,
    )  # fmt: skip


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
    asked = _asked(params, view)
    n = view.state.memory.get("handoffs", 0)
    if asked.fires and n >= params.max_handoffs and (params.growth == "on" or not params.max_handoffs):
        return asked._replace(fires=False, reason=f"{asked.reason}; {n} handoffs so far: only the body's cap acts")
    return asked


def _asked(params: Params, view: View) -> Gate:
    """The gate without the number of handoffs."""
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


def edit(_params: object, view: View) -> list[Item]:
    """History becomes one ``[Context Handoff]`` message; the live user prompt stands again after it (seeds 2.4).

    System messages in the list stay in place.  The live prompt is the newest typed user message; what the agent did
    since then is in the handoff.  Raises SummaryFailed: such a round has no handoff.
    """
    made = hand_off(view, prompt_budget(view))
    view.state.memory["handoffs"] = view.state.memory.get("handoffs", 0) + 1
    view.state.memory["handed_off_at"] = view.request
    return made


def cap_gate(params: Params, view: View) -> Gate:
    """Wire bytes of the history over the cap, in a round without a handoff (seeds 2.4, 2.5)."""
    size = added_up(view, WIRE, lambda item: view.tools.size_by(item, WIRE))
    limit = params.max_history_bytes
    fires = size > limit and view.state.memory.get("handed_off_at") != view.request
    return Gate(fires, "bytes of the history", size, limit, ">", "bytes")


def cap_edit(params: Params, view: View) -> list[Item] | None:
    """Drop the oldest whole turn while over the cap, never the last one; with one turn alone it declines."""
    if not has_later_prompt(view):
        return None
    system, rest = apart(view.items)

    def size(item: Item) -> int:
        return view.tools.size_by(item, WIRE)

    most = params.max_history_bytes - sum(size(item) for item in system)
    return [*system, *without_oldest_turns(rest, size, most)]


POLICY = Policy(
    name="buzz_handoff", label="buzz-agent handoff",
    source="buzz-agent pull request 1332: charge images a token-equivalent for the handoff gate",
    help="Hands the whole history over as one summary when projected pressure reaches the threshold.",
    estimator="pressure_bytes",
    params=Params, gate=gate, edit=edit,
    layers=(Layer("truncate_history", "Truncate history", cap_gate, cap_edit, cheap=True),),
    threshold_param="max_output", tier="founding",
)  # fmt: skip
