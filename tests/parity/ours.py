"""Our side: the list replayed request by request through the policy itself, every list as it was sent.

Two rules of the replay are no rules of the originals and are off here: an edit that frees nothing is not made, and
three events in a row that leave the gate on stop the policy (replay-semantics 4).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sessions.engine.base import registry
from sessions.engine.policies import params as parameters
from sessions.engine.policies.policy import EditFailed, Item
from sessions.engine.replays.events import LayerResult, count_changes, count_patch
from sessions.engine.replays.summaries import Summaries
from sessions.engine.replays.walk import Walk
from sessions.engine.transcript.types import Kind
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.sizes import message_sizes
from tests.parity.lists import Spec, transcript

Signature = list[Any]


@dataclass
class Ours:
    """What our policy sent at every request, and what the original has to be told.

    ``usage`` is the provider's report of each request as (input, output) tokens; ``sizes`` are the messages' sizes
    in the gate's unit. ``rejected`` says at which requests the list was over the window, ``summary_size`` what a
    summary weighs. ``failed``: an edit failed, where the original raises an error; the views end before it.
    """

    views: list[list[Signature]] = field(default_factory=list)
    usage: list[tuple[int, int]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    events: int = 0
    failed: bool = False
    rejected: list[bool] = field(default_factory=list)
    summary_size: int = 0


class Watched(Walk):
    """The walk of a replay, which notes every list as sent."""

    ours: Ours

    def _ask(self, k, added):
        self.ours.rejected.append(self._display() > self.window)
        return super()._ask(k, added)

    def _edit(self, request, layer, gate):
        """The layer's edit, applied whatever it frees."""
        try:
            outcome = layer.edit(self.params, self.view)
        except EditFailed:
            self.ours.failed = True
            return None
        if outcome is None:
            return None
        outcome = self.leaving.without(outcome)
        if isinstance(outcome, dict):
            counts = count_patch(len(self.context.items), outcome, self.context.items)
            self.context.patch(outcome)
        else:
            counts = count_changes(self.context.items, outcome)
            self.context.replace(outcome, self.context.weigh(outcome))
        return LayerResult(layer.name, layer.label, gate, 0, counts.edited, counts.dropped, 0, None), outcome

    def _guard(self, request, name):
        """No thrash guard."""

    def _send(self, k, cached):
        super()._send(k, cached)
        if self.ours.failed:
            return
        self.ours.views.append([signature(item) for item in self.context.items])
        self.ours.summary_size = next((i.size for i in self.context.items if i.inserted), self.ours.summary_size)
        self.ours.usage.append((self.sent.tokens[-1], self.outputs[k]))


def signature(item: Item) -> Signature:
    """Who the message is and the length of all it says: text, thinking, calls with arguments, results; its pictures."""
    found: Signature = ["new" if item.inserted else int(item.id[1:]), 0, 0, [], []]
    for block in item.message.blocks:
        if block.kind is Kind.TEXT:
            found[1] += block.n_chars
        elif block.kind is Kind.THINKING:
            found[2] += block.n_chars
        elif block.kind is Kind.TOOL_USE:
            found[3].append([block.call_id, block.n_chars])
        elif block.kind is Kind.TOOL_RESULT:
            found[4].append([block.call_id, block.n_chars])
    n_images = sum(block.kind is Kind.IMAGE for block in item.message.blocks)
    return [*found, n_images] if n_images else found


def run(spec: Spec, policy: str, params: dict[str, Any], *, window: int, summary: int, estimator: str = "") -> Ours:
    """Replay a list; ``summary`` is the size of every summary in display tokens."""
    weighed = weigh(transcript(spec))
    chosen = registry.get("policies", policy)
    built = parameters.build(chosen.params, params)
    measure = registry.get("estimators", estimator or chosen.estimator)
    walk = Watched(
        weighed, chosen, built, measure, Summaries(weighed, f"stub:{summary}", measure), base="full", window=window
    )
    walk.ours = Ours(sizes=message_sizes(weighed, measure))
    walk.run()
    walk.ours.events = len(walk.events)
    return walk.ours
