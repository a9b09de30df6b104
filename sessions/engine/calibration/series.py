"""The recorded context as a series, and what each step of it weighs (replay-semantics 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.types import Label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.calibration.growth import Step
    from sessions.engine.types import Transcript


@dataclass(frozen=True, slots=True)
class RecordedSeries:
    """The recorded context, one entry per step of the branch.

    ``context[k]`` is U of step k's request where it is reported and not flagged, else the entry before it plus the
    step's estimate; ``labels[k]`` says which.  ``weights[k]`` is what step k adds while all its messages stand
    unedited: the measured growth, whatever its sign, or the messages' tokens at a recorded compaction.
    """

    context: tuple[int, ...]
    labels: tuple[Label, ...]
    weights: tuple[int, ...]


def recorded_series(
    transcript: Transcript,
    steps: Sequence[Step],
    estimated: Sequence[int | None],
    flagged: frozenset[int],
    *,
    overhead: int,
    tokens: Sequence[int],
) -> RecordedSeries:
    """Context and step weights of the recording, in tokens; see ``Weighed`` for what is given.

    A growth that is not measured is the growth by estimate (thinking that the provider drops taken off).
    """
    context: list[int] = []
    labels: list[Label] = []
    weights: list[int] = []
    fallback, out = weak_label(transcript), left_out(transcript)
    before = estimated_before = overhead
    for step in steps:
        usage, by_estimate = transcript.requests[step.request].usage, estimated[step.request] or 0
        measured = usage is not None and step.request not in flagged
        here = usage.context if usage and measured else before + by_estimate - estimated_before
        context.append(here)
        labels.append(Label.MEASURED if measured else fallback)
        if step.compaction is None:
            weights.append(here - before)
        else:
            weights.append(sum(tokens[i] for i in range(step.start, step.stop) if i not in out))
        before, estimated_before = here, by_estimate
    return RecordedSeries(tuple(context), tuple(labels), tuple(weights))


def weak_label(transcript: Transcript) -> Label:
    """What a context that the recording does not measure is called: calibrated, or estimated where no usage exists."""
    return Label.CALIBRATED if any(r.usage for r in transcript.requests) else Label.ESTIMATED


def left_out(transcript: Transcript) -> frozenset[int]:
    """Indices of the messages that a full replay leaves out: what a recorded compaction made.

    What a compaction made stays where its originals are not in the session (replay-semantics 2).
    """
    compactions = transcript.compactions
    return frozenset(
        m.index for m in transcript.messages if m.compaction is not None and not compactions[m.compaction].outside
    )
