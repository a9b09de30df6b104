"""No compaction: the line every replay is compared with (replay-semantics 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies.policy import Gate, Item, Policy, View

if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True)
class Params:
    """No parameters."""


def gate(params: Any, view: View) -> Gate:
    """Never fires; the measure is the context against the window, so that requests over it can be marked."""
    del params
    return Gate(False, "never compacts", view.context, view.window, ">", "tokens")


def edit(params: Any, view: View) -> list[Item]:
    """The list as it is."""
    del params
    return list(view.items)


POLICY = Policy(
    name="none",
    label="No compaction",
    source="the line that every replay is compared with",
    help="Sends everything; requests over the window could not have been sent.",
    estimator="tiktoken_o200k",
    params=Params,
    gate=gate,
    edit=edit,
    summary_calls=False,
)
