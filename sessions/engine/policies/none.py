"""No compaction: the line every replay is compared with (replay-semantics 2)."""

from __future__ import annotations

from sessions.engine.policies.params import NoParams
from sessions.engine.policies.policy import Gate, Item, Policy, View


def gate(_params: object, view: View) -> Gate:
    """Never fires; the measure is the context against the window, so that requests over it can be marked."""
    return Gate(False, "never compacts", view.context, view.window, ">", "tokens")


def edit(_params: object, view: View) -> list[Item]:
    """The list as it is."""
    return list(view.items)


POLICY = Policy(
    name="none", label="No compaction",
    source="the line that every replay is compared with",
    help="Sends everything; requests over the window could not have been sent.",
    params=NoParams, gate=gate, edit=edit,
    summary_calls=False,
)  # fmt: skip
