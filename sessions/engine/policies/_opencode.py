"""What opencode's compactions share: limits and the tail that stays (policies 8.1, 8.3).

anomalyco/opencode ``packages/opencode/src/session/overflow.ts`` and ``compaction.ts``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine.policies._lists import is_answer, prompts
from sessions.engine.policies.params import when
from sessions.engine.policies.policy import pair_safe_cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.models.model_info import ModelInfo
    from sessions.engine.policies.policy import Item

MAX_OUTPUT, MAX_RESERVED = 32_000, 20_000
INPUT_LIMITED = (272_000, 922_000)
"""Windows of GPT-5 models that are limits on the input alone, as models.dev lists them."""


def max_output_param() -> Any:
    """The model's maximum output."""
    return when(
        None, "Model's maximum output", "At most 32,000 of it count; none: the model's own",
        "tokens", 0, 1_000_000, 1_000,
    )  # fmt: skip


def input_limit_param() -> Any:
    """The model's limit on the input alone."""
    return when(
        None, "Model's input limit", "Where the model limits the input alone; none: known models; 0: no such limit",
        "tokens", 0, 2_000_000, 1_000,
    )  # fmt: skip


def output_tokens(given: int | None, model: ModelInfo) -> int:
    """The model's maximum output, at most 32,000 tokens; 32,000 where it has none."""
    return min(given if given is not None else model.max_output, MAX_OUTPUT) or MAX_OUTPUT


def limits(given: int | None, window: int, model: ModelInfo) -> tuple[int, int | None]:
    """The context, and the limit on the input alone, where the model has one: given, or the model's own window.

    A window that is itself the input limit lies in a context that holds the model's output as well.
    """
    if given is not None:
        return window, given or None
    is_limit = model.input_limited or (model.family == "gpt" and window in INPUT_LIMITED)
    if window == model.window and is_limit:
        return window + model.max_output, window
    return window, None


def usable(window: int, max_output: int, input_tokens: int | None, reserved: int | None) -> int:
    """``input − reserved`` where the input is limited, else ``context − output``; reserved ``min(20,000, output)``."""
    if input_tokens is None:
        return window - max_output
    return input_tokens - (min(MAX_RESERVED, max_output) if reserved is None else reserved)


def tail_start(items: Sequence[Item], turns: int, budget: int) -> int | None:
    """Where the kept tail starts: the newest whole turns that fit, a turn that does not fit split where it does.

    None: nothing is kept.  A message and its tool results are one message there: a split never starts at a result.
    """
    starts = prompts(items)
    total, keep = 0, None
    end = len(items)
    for start in reversed(starts[-turns:] if turns else []):
        size = sum(item.size for item in items[start:end])
        if total + size <= budget:
            total, keep, end = total + size, start, start
            continue
        split = _split(items, start, end, budget - total)
        keep = split if split is not None else keep
        break
    if keep is None:
        return None
    cut = pair_safe_cut(items, keep, len(items))
    return cut if 0 < cut < len(items) else None


def _split(items: Sequence[Item], start: int, end: int, budget: int) -> int | None:
    """The earliest message after the prompt from which the rest of the turn fits."""
    if budget <= 0:
        return None
    size = sum(item.size for item in items[start + 1 : end])
    for position in range(start + 1, end):
        if size <= budget and not is_answer(items[position]):
            return position
        size -= items[position].size
    return None
