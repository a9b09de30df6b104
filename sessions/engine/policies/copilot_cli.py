"""GitHub Copilot CLI: compacts beside the work from 80% of its window on (policies 11.22).

It asks its own count, o200k tokens of the system prompt, the tools and the list, and no usage.  What a compaction that
runs beside the work finds when it ends, written since it began, stays: here the newest round does.  At 95% it waits for
a compaction that still runs, which changes no list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies.copilot_chat import edit
from sessions.engine.policies.params import when
from sessions.engine.policies.policy import Gate, Policy

if TYPE_CHECKING:
    from sessions.engine.policies.policy import View


@dataclass(frozen=True, slots=True)
class Params:
    """The share of the window at which it starts."""

    share: int = when(80, "Threshold", "Of the context window, by the client's own count", "%", 1, 100)


def limit(params: Params, window: int) -> int:
    """``⌊share · window⌋`` tokens: 160,000 of 200,000."""
    return window * params.share // 100


def gate(params: Params, view: View) -> Gate:
    """The client's count ≥ the limit: the one it wrote down where it did, else the list and what stands before it."""
    measure = view.size + view.overhead if view.told is None else view.told
    threshold = limit(params, view.window)
    return Gate(measure >= threshold, "the client's own count", measure, threshold, ">=", "tokens")


POLICY = Policy(
    name="copilot_cli", label="GitHub Copilot CLI",
    source="Copilot SDK, infinite sessions: background compaction at 0.80; recorded at 160,194 of 200,000",
    help="At 80% of the window, by its own count, everything but the newest round becomes a summary.",
    params=Params, gate=gate, edit=edit,
    threshold_param="share", tier="golden",
)  # fmt: skip
