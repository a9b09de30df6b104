"""The recorded context as a series, and what each step of it weighs (replay-semantics 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.types import Label

if TYPE_CHECKING:
    from sessions.engine.calibration.calibrate import Weighed


@dataclass(frozen=True, slots=True)
class Recorded:
    """The recorded context, one entry per step of the branch.

    ``context[k]`` is U of step k's request where it is reported and not flagged, else the entry before it plus the
    step's estimate; ``labels[k]`` says which.  ``weights[k]`` is what step k adds while all its messages stand
    unedited: the measured growth, whatever its sign, or the messages' tokens at a recorded compaction.
    """

    context: tuple[int, ...]
    labels: tuple[Label, ...]
    weights: tuple[int, ...]


def recorded_series(weighed: Weighed) -> Recorded:
    """Context and step weights of the recording, in tokens."""
    context: list[int] = []
    labels: list[Label] = []
    weights: list[int] = []
    fallback = weak_label(weighed)
    for step in weighed.steps:
        usage = weighed.transcript.requests[step.request].usage
        before = context[-1] if context else weighed.overhead
        if usage and step.request not in weighed.flagged:
            here, label = usage.context, Label.MEASURED
        else:
            here, label = before + _estimated_growth(weighed, len(context)), fallback
        context.append(here)
        labels.append(label)
        if step.compaction is None:
            weights.append(here - before)
        else:
            weights.append(original_tokens(weighed, step.start, step.stop))
    return Recorded(tuple(context), tuple(labels), tuple(weights))


def weak_label(weighed: Weighed) -> Label:
    """What a context that the recording does not measure is called: calibrated, or estimated where no usage exists."""
    has_usage = any(r.usage for r in weighed.transcript.requests)
    return Label.CALIBRATED if has_usage else Label.ESTIMATED


def left_out(weighed: Weighed) -> frozenset[int]:
    """Indices of the messages that a full replay leaves out: what a recorded compaction made.

    What a compaction made stays where its originals are not in the session (replay-semantics 2).
    """
    compactions = weighed.transcript.compactions
    return frozenset(
        m.index
        for m in weighed.transcript.messages
        if m.compaction is not None and not compactions[m.compaction].outside
    )


def original_tokens(weighed: Weighed, start: int, stop: int) -> int:
    """Tokens of the messages ``start`` to ``stop`` that a full replay keeps."""
    return sum(weighed.tokens[i] for i in range(start, stop) if i not in weighed.left_out)


def _estimated_growth(weighed: Weighed, k: int) -> int:
    """What step ``k`` adds to the recorded context by estimate (thinking that the provider drops taken off)."""
    step = weighed.steps[k]
    here = weighed.estimated[step.request]
    before = weighed.estimated[weighed.steps[k - 1].request] if k else weighed.overhead
    return (here or 0) - (before or 0)
