"""buzz-agent: handoffs before and after a refusal, and a guard of the body's size (seeds 2).

``buzz_recovery`` (seeds 2.6): the budget of each try bounds what the summary is written from and what may stand
afterwards.  ``buzz_truncate`` looks at wire bytes and at nothing else: at 16 MiB it does nothing for a history that is
far over a 200K window.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sessions.engine.policies._lists import apart, without_oldest_turns
from sessions.engine.policies._looked import added_up, has_later_prompt
from sessions.engine.policies.params import Told, choice, param, when
from sessions.engine.policies.policy import EditFailed, Gate, Item, Layer, Policy, SummaryFailed, View, when_refused
from sessions.engine.transcript.types import Block, Kind, Role

SUMMARY_OUTPUT = 8_192
"""Tokens kept free for the summary in its own prompt."""


def image_charge_param() -> Any:
    """What the estimator charges for an image."""
    return when(
        16_384, "Image charge", "What pressure_bytes charges for an image, beside its media type",
        "bytes", 0, 4_194_304, 1_024,
    )  # fmt: skip


def hand_off(view: View, budget: int) -> list[Item]:
    """System messages, the handoff, the newest typed prompt; the list itself where it is empty.

    The summary is written from the newest snippets that fit ``budget`` bytes, the live prompt's among them; other items
    are dropped unread.  Raises SummaryFailed.
    """
    system, rest = apart(view.items)
    live = next((item for item in reversed(rest) if item.message.typed), None)
    if not rest:
        return list(view.items)
    within = newest_within(rest, budget)
    read = [item for item in within if item is not live]
    omitted = len(rest) - len(within)
    suffix = f"\n\n(… {omitted} older items omitted)" if omitted else ""
    made = view.summarize(read, suffix=suffix)
    return [*system, *made, *([live] if live else [])]


def prompt_budget(view: View) -> int:
    """Bytes of history that the summary's prompt holds: ``window − 8,192 − fixed prompt``, a byte for a token."""
    return max(0, view.window - SUMMARY_OUTPUT - view.overhead)


def newest_within(items: list[Item], budget: int) -> list[Item]:
    """The items whose snippets fit together, the newest asked first; a newest that does not fit is cut and alone."""
    left = budget
    kept: list[Item] = []
    for item in reversed(items):
        size = snippet_bytes(item)
        if size <= left:
            left -= size
            kept.append(item)
        elif not kept:
            return [item]
    return kept[::-1]


def snippet_bytes(item: Item) -> int:
    """Bytes of an item in the summary's prompt: a line a prompt, reply or result, with who says it in brackets.

    Images are ``[image: type, N base64 bytes]``, calls ``tool:`` and their name; thinking is left out.
    """
    blocks = item.message.blocks
    if item.message.role is Role.ASSISTANT:
        calls = sum(len(f" tool:{block.name}".encode()) for block in blocks if block.kind is Kind.TOOL_USE)
        return len("[assistant] \n") + calls + _text_bytes([b for b in blocks if b.kind is not Kind.TOOL_USE])
    results = [block for block in blocks if block.kind is Kind.TOOL_RESULT]
    size = sum(len("[tool_err] \n" if block.is_error else "[tool] \n") + _text_bytes([block]) for block in results)
    said = [block for block in blocks if block.kind is not Kind.TOOL_RESULT]
    return size + (len("[user] \n") + _text_bytes(said) if said or not results else 0)


def _text_bytes(blocks: list[Block]) -> int:
    size = 0
    for leaf in (leaf for block in blocks for leaf in block.leaves()):
        if leaf.media is not None and leaf.kind in (Kind.IMAGE, Kind.DOCUMENT):
            size += len(f"[image: {leaf.media.media_type}, {leaf.media.n_base64} base64 bytes]")
        elif leaf.kind is not Kind.THINKING:
            size += leaf.n_bytes
    return size


WIRE = "wire_bytes"


@dataclass(frozen=True, slots=True)
class HandoffParams(Told):
    """The numbers of the handoff trigger; defaults of the release that introduced ``pressure_bytes``."""

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


def threshold(params: HandoffParams, window: int) -> int:
    """``min(window // 10 * 9, window − max_output)`` tokens, or without the output term (seeds 2.3)."""
    share = window // 10 * 9
    return min(share, window - params.max_output) if params.reserve_output == "on" else share


def handoff_gate(params: HandoffParams, view: View) -> Gate:
    """With usage: last input + growth in bytes at one byte per token ≥ threshold; without: total bytes > the cap."""
    asked = _asked(params, view)
    n = view.state.memory.get("handoffs", 0)
    if asked.fires and n >= params.max_handoffs and (params.growth == "on" or not params.max_handoffs):
        return asked._replace(fires=False, reason=f"{asked.reason}; {n} handoffs so far: only the body's cap acts")
    return asked


def _asked(params: HandoffParams, view: View) -> Gate:
    """The trigger without the number of handoffs."""
    limit = threshold(params, view.window)
    if view.usage is None:
        cap = min(limit, params.max_history_bytes // 10 * 9)
        reason = f"no usage yet: {params.measure} of the whole history"
        return Gate.over(view.size, cap, reason, "bytes")
    if params.growth == "off":
        fires = view.usage.input >= limit and view.newest_typed
        return Gate(fires, "input tokens of the last request, at a turn's end", view.usage.input, limit, ">=", "tokens")
    projected = view.usage.input + (view.size - view.usage.size_then)
    reason = f"input tokens of the last request + growth in {params.measure} at 1 byte per token"
    return Gate.at_least(projected, limit, reason)


def handoff_edit(_params: object, view: View) -> list[Item]:
    """History becomes one ``[Context Handoff]`` message; the live user prompt stands again after it (seeds 2.4).

    System messages in the list stay in place.  The live prompt is the newest typed user message; what the agent did
    since then is in the handoff.  Raises SummaryFailed: such a round has no handoff.
    """
    made = hand_off(view, prompt_budget(view))
    view.state.memory["handoffs"] = view.state.memory.get("handoffs", 0) + 1
    view.state.memory["handed_off_at"] = view.request
    return made


def cap_gate(params: HandoffParams, view: View) -> Gate:
    """Wire bytes of the history over the cap, in a round without a handoff (seeds 2.4, 2.5)."""
    size = added_up(view, WIRE, lambda items: sum([view.tools.size_by(item, WIRE) for item in items]))
    limit = params.max_history_bytes
    fires = size > limit and view.state.memory.get("handed_off_at") != view.request
    return Gate(fires, "bytes of the history", size, limit, ">", "bytes")


def cap_edit(params: HandoffParams, view: View) -> list[Item] | None:
    """As ``truncate_edit``, whatever the trigger counts by."""
    return _truncated(view, params.max_history_bytes, partial(view.tools.size_by, estimator=WIRE))


def _truncated(view: View, most: int, size: Callable[[Item], int]) -> list[Item] | None:
    if not has_later_prompt(view):
        return None
    system, rest = apart(view.items)
    return [*system, *without_oldest_turns(rest, size, most - sum(map(size, system)))]


HANDOFF = Policy(
    name="buzz_handoff", label="buzz-agent handoff",
    source="buzz-agent pull request 1332: charge images a token-equivalent for the handoff gate",
    help="Hands the whole history over as one summary when projected pressure reaches the threshold.",
    estimator="pressure_bytes",
    params=HandoffParams, gate=handoff_gate, edit=handoff_edit,
    layers=(Layer("truncate_history", "Truncate history", cap_gate, cap_edit, cheap=True),),
    threshold_param="max_output", tier="founding",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecoveryParams:
    """How often and how far it retries."""

    attempts: int = param(3, "Tries", "Forced handoffs after one refusal", "tries", 1, 10)
    floor: int = param(
        4_096, "Smallest budget", "Gives up where the next budget is smaller", "bytes", 0, 16 * 1024 * 1024, 1_024
    )
    image_charge: int = image_charge_param()


def budgets(params: RecoveryParams, rejected: int) -> list[int]:
    """Pressure bytes allowed at each try: rejected / 2, / 4, / 8 …, down to the floor."""
    halves = [rejected // 2**n for n in range(1, params.attempts + 1)]
    return [budget for budget in halves if budget >= params.floor]


def recovery_edit(params: RecoveryParams, view: View) -> list[Item]:
    """The first handoff that fits the window; raises EditFailed where none does."""
    for budget in budgets(params, view.size):
        try:
            made = hand_off(view, budget)
        except SummaryFailed:
            continue
        if view.overhead + sum(item.tokens for item in made) <= view.window:
            return made
    raise EditFailed("gave up: no handoff within the tries and the floor fits the window")


RECOVERY = Policy(
    name="buzz_recovery", label="buzz-agent recovery",
    source="buzz-agent, later release: reactive handoffs within half, a quarter, an eighth of what was refused",
    help="Does nothing until the provider refuses a request, then hands over within ever smaller budgets.",
    estimator="pressure_bytes",
    params=RecoveryParams, gate=when_refused("refused: over the window", "rejected"), edit=recovery_edit,
    tier="founding",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TruncateParams:
    """The body cap."""

    max_history_bytes: int = when(
        16 * 1024 * 1024, "History cap", "Oldest whole turns go while the history is larger",
        "bytes", 65_536, 256 * 1024 * 1024, 65_536,
    )  # fmt: skip


def truncate_gate(params: TruncateParams, view: View) -> Gate:
    """Wire bytes of the history over the cap."""
    return Gate.over(view.size, params.max_history_bytes, "bytes of the history", "bytes")


def truncate_edit(params: TruncateParams, view: View) -> list[Item] | None:
    """Drop the oldest whole turn while over the cap, never the last one; with one turn alone it declines."""
    return _truncated(view, params.max_history_bytes, lambda item: item.size)


TRUNCATE = Policy(
    name="buzz_truncate", label="buzz-agent truncate",
    source="buzz-agent truncate_history (pull request 1332): whole turns dropped over 16 MiB of wire bytes",
    help="Drops the oldest whole turns while the request body is too large. A size guard, not a context guard.",
    estimator="wire_bytes",
    params=TruncateParams,
    layers=(Layer("truncate_history", "Truncate history", truncate_gate, truncate_edit, cheap=True),),
    summary_calls=False, threshold_param="max_history_bytes", tier="founding",
)  # fmt: skip

POLICIES = (HANDOFF, RECOVERY, TRUNCATE)
