"""What the gates of all known agents are asked over: a session's steps as if nothing had been compacted."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.replays.summarizers.recorded import typical_tokens
from sessions.engine.replays.summarizers.stub import DEFAULT_TOKENS
from sessions.engine.transcript.types import Role
from sessions.engine.weigh.calibration.weighed import DEFAULT_WINDOW, Weighed
from sessions.engine.weigh.outputs import outputs
from sessions.engine.why.culprits import media_messages


@dataclass(frozen=True, eq=False)
class SessionSums:
    """What all gates are asked over, one entry per step.

    ``weights`` are cumulative display tokens without overhead, ``outputs`` the tokens of each step's reply.
    ``ranges`` are the messages that enter at each step, ``replies`` those of them that are the earlier reply;
    ``media`` the messages with images or documents, ``stub`` what a compaction leaves, in tokens.  ``windows`` are the
    stretches of steps of one model and window in tokens, by the step that each begins with.
    """

    weighed: Weighed
    weights: list[int]
    outputs: Sequence[int]
    ranges: list[range]
    replies: list[range]
    media: list[int]
    stub: int
    windows: list[tuple[int, int, ModelInfo]]

    @cached_property
    def typed(self) -> list[int]:
        """Typed prompts up to each step."""
        messages = self.weighed.transcript.messages
        return list(accumulate(sum(m.typed for m in messages[span.start : span.stop]) for span in self.ranges))

    @cached_property
    def written(self) -> list[int | None]:
        """The output of each step's request as the transcript has it, a streaming placeholder too; None without one."""
        requests = (self.weighed.transcript.requests[step.request] for step in self.weighed.steps)
        return [request.usage.output if request.usage else None for request in requests]

    @cached_property
    def most_written(self) -> list[int]:
        """The same, the reply's own size where none is written."""
        return [size if n is None else n for n, size in zip(self.written, self.outputs, strict=True)]

    @cached_property
    def told(self) -> tuple[int, int] | None:
        """The first recorded compaction's step and its client's own count there, if told: a gate is told no more."""
        steps, compactions = self.weighed.steps, self.weighed.transcript.compactions
        found = ((k, compactions[s.compaction]) for k, s in enumerate(steps) if s.compaction is not None)
        at, recorded = next(found, (0, None))
        if recorded is None or not recorded.unseen or recorded.tokens_before is None:
            return None
        return at, recorded.tokens_before

    @cached_property
    def step_at(self) -> list[int]:
        """The step that each message enters with, -1 for one that was never sent."""
        found = [-1] * len(self.weighed.transcript.messages)
        for k, span in enumerate(self.ranges):
            found[span.start : span.stop] = [k] * len(span)
        return found

    @cached_property
    def kept(self) -> Sequence[int]:
        """The messages that a list may hold."""
        n, out = len(self.weighed.transcript.messages), self.weighed.left_out
        return [index for index in range(n) if index not in out] if out else range(n)

    @cached_property
    def kept_until(self) -> list[int]:
        """How many of them were there at each step."""
        return [bisect_left(self.kept, span.stop) for span in self.ranges]


def sums_of(weighed: Weighed, window: int | None = None) -> SessionSums:
    """The steps of a session under base "full"; ``window`` in tokens replaces its own."""
    transcript, replies, n_reply = weighed.transcript, [], 0
    for step in weighed.steps:
        found = transcript.messages[step.start : min(step.stop, step.start + n_reply)]
        replies.append(range(step.start, step.start + sum(message.role is Role.ASSISTANT for message in found)))
        n_reply = transcript.requests[step.request].n_messages
    stub = typical_tokens(weighed)
    return SessionSums(
        weighed, list(accumulate(weighed.recorded.weights)), outputs(weighed),
        [range(step.start, step.stop) for step in weighed.steps], replies, media_messages(weighed),
        DEFAULT_TOKENS if stub is None else stub, _windows(weighed, window),
    )  # fmt: skip


def _windows(weighed: Weighed, window: int | None) -> list[tuple[int, int, ModelInfo]]:
    found: list[tuple[int, int, ModelInfo]] = []
    for k, held in enumerate(weighed.held):
        size = window or held.window or DEFAULT_WINDOW
        if not found or found[-1][1] != size or found[-1][2] is not held.model:
            found.append((k, size, held.model))
    return found
