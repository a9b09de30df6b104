"""The recorded context as a series, and what each step of it weighs (replay-semantics 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.transcript.types import Label, Transcript
from sessions.engine.weigh.calibration.losses import Known, Loss, losses_of, net_weights

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.growth import Step


@dataclass(frozen=True, slots=True)
class RecordedSeries:
    """The recorded context, one entry per step of the branch.

    ``context[k]`` is U of step k's request where it is reported and not flagged, else the entry before it plus the
    step's estimate; ``labels[k]`` says which.  ``growths[k]`` is what step k's messages bring: the measured growth,
    with what left at the same step given back, or the messages' tokens at a recorded compaction; ``losses`` are what
    left.  ``weights[k]`` is both together, in a list that no replay has changed.
    """

    context: tuple[int, ...]
    labels: tuple[Label, ...]
    weights: tuple[int, ...]
    growths: tuple[int, ...]
    losses: tuple[Loss, ...]


def recorded_series(transcript: Transcript, steps: Sequence[Step], known: Known) -> RecordedSeries:
    """Context and step weights of the recording, in tokens; a growth not measured is the one by estimate."""
    context: list[int] = []
    labels: list[Label] = []
    fallback, out = weak_label(transcript), left_out(transcript)
    before = estimated_before = known.overhead
    for step in steps:
        usage, by_estimate = transcript.requests[step.request].usage, known.estimated[step.request] or 0
        measured = usage is not None and step.request not in known.flagged
        before = usage.context if usage and measured else before + by_estimate - estimated_before
        context.append(before)
        labels.append(Label.MEASURED if measured else fallback)
        estimated_before = by_estimate
    growths = [here - before for before, here in zip([known.overhead, *context], context, strict=False)]
    for k, step in enumerate(steps):
        if step.compaction is not None:
            growths[k] = sum(known.tokens[i] for i in range(step.start, step.stop) if i not in out)
    losses = losses_of(transcript, steps, known, context)
    for loss in losses:
        growths[loss.step] += loss.tokens
    weights = net_weights(growths, losses, steps, out, known.history) if losses else tuple(growths)
    return RecordedSeries(tuple(context), tuple(labels), weights, tuple(growths), losses)


def weak_label(transcript: Transcript) -> Label:
    """What a context that the recording does not measure is called: calibrated, or estimated where no usage exists."""
    return Label.CALIBRATED if any(r.usage for r in transcript.requests) else Label.ESTIMATED


def left_out(transcript: Transcript) -> frozenset[int]:
    """Messages that a full replay leaves out: made by a compaction whose originals are here (replay-semantics 2)."""
    compactions = transcript.compactions
    return frozenset(
        m.index for m in transcript.messages if m.compaction is not None and not compactions[m.compaction].outside
    )
