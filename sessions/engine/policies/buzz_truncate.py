"""buzz-agent's ``truncate_history``: a body-size guard that drops whole old turns (seeds 2.5).

It looks at wire bytes and at nothing else: at 16 MiB it does nothing for a history that is far over a 200K window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies._lists import apart
from sessions.engine.policies._looked import has_later_prompt
from sessions.engine.policies._turns import without_oldest_turns
from sessions.engine.policies.params import when
from sessions.engine.policies.policy import Gate, Layer, Policy

if TYPE_CHECKING:
    from sessions.engine.policies.policy import Item, View


@dataclass(frozen=True, slots=True)
class Params:
    """The body cap."""

    max_history_bytes: int = when(
        16 * 1024 * 1024, "History cap", "Oldest whole turns go while the history is larger",
        "bytes", 65_536, 256 * 1024 * 1024, 65_536,
    )  # fmt: skip


def gate(params: Params, view: View) -> Gate:
    """Wire bytes of the history over the cap."""
    limit = params.max_history_bytes
    return Gate(view.size > limit, "bytes of the history", view.size, limit, ">", "bytes")


def edit(params: Params, view: View) -> list[Item] | None:
    """Drop the oldest whole turn while over the cap, never the last one; with one turn alone it declines."""
    if not has_later_prompt(view):
        return None
    system, rest = apart(view.items)
    most = params.max_history_bytes - sum(item.size for item in system)
    return [*system, *without_oldest_turns(rest, lambda item: item.size, most)]


POLICY = Policy(
    name="buzz_truncate", label="buzz-agent truncate",
    source="buzz-agent truncate_history (pull request 1332): whole turns dropped over 16 MiB of wire bytes",
    help="Drops the oldest whole turns while the request body is too large. A size guard, not a context guard.",
    estimator="wire_bytes",
    params=Params, layers=(Layer("truncate_history", "Truncate history", gate, edit, cheap=True),),
    summary_calls=False, threshold_param="max_history_bytes", tier="founding",
)  # fmt: skip
