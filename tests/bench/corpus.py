"""Estimates against what was measured, over a corpus of real sessions.

The corpus is cut in two halves by session; what is fitted on one is reported on the other, both ways.  In every session
the input-side usage of all but the first third of its measured requests is taken away, and the estimates of the rest
are held against it.  A growth is the difference of two requests' contexts where the later is larger and no recorded
compaction stands between: a fall is no growth, and is listed for itself.
"""

from __future__ import annotations

import dataclasses
import io
import statistics
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.types import Transcript, Usage
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.weighed import Weighed
from tests.bench.reasons import REPLACED, SEARCHED, rest_of
from tests.recordings import content

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from sessions.engine.transcript.types import Request

MIN_REQUESTS = 9
REDACTED = b"REDACTED"
"""What the corpus's own redaction put in the place of secrets and long ids."""
TRAINED = 3
"""One in so many of a session's measured requests keeps its usage."""

Weigher = Callable[[Transcript], Weighed]


class Recorded(NamedTuple):
    """One session of the corpus: its file, its transcript and its requests that can be held against."""

    name: str
    transcript: Transcript
    measured: list[Request]
    redacted: frozenset[int] = frozenset()
    """Messages of whose lines somebody replaced a part, by index."""


class Grown(NamedTuple):
    """One tested growth in tokens, and the sort of what stands in it."""

    estimated: int
    measured: int
    sort: str

    @property
    def error(self) -> int:
        """Estimate less measurement."""
        return self.estimated - self.measured


class Outcome(NamedTuple):
    """What became of one session: its growths, its falls, its contexts as (estimated, measured)."""

    name: str
    client: str
    model: str
    grown: list[Grown]
    fallen: int
    contexts: list[tuple[int, int]]
    n_compactions: int

    @property
    def growth_median(self) -> float:
        """The median error of its growths, as a share of what was measured."""
        return statistics.median(abs(g.error) / g.measured for g in self.grown)

    @property
    def growth_weighted(self) -> float:
        """The sum of absolute errors over the sum of growths."""
        return sum(abs(g.error) for g in self.grown) / sum(g.measured for g in self.grown)

    @property
    def bias(self) -> float:
        """The sum of errors over the sum of growths."""
        return sum(g.error for g in self.grown) / sum(g.measured for g in self.grown)

    @property
    def context_median(self) -> float:
        """The median error of its contexts."""
        return statistics.median(self._context_errors())

    @property
    def context_p95(self) -> float:
        """The error that one context in twenty exceeds."""
        errors = sorted(self._context_errors())
        return errors[min(len(errors) - 1, int(0.95 * len(errors)))]

    def _context_errors(self) -> list[float]:
        return [abs(estimated - measured) / measured for estimated, measured in self.contexts]


def recorded_sessions(paths: Iterable[Path]) -> list[Recorded]:
    """The sessions of the files that have enough measured requests."""
    found = []
    for path in paths:
        data = content(path)
        name = path.name.removesuffix(".gz")
        for transcript in read_transcripts(io.BytesIO(data), name).transcripts:
            measured = measured_requests(transcript)
            if len(measured) >= MIN_REQUESTS:
                found.append(Recorded(name.removesuffix(".jsonl"), transcript, measured, _redacted(data, transcript)))
    return found


def _redacted(data: bytes, transcript: Transcript) -> frozenset[int]:
    lines = {number for number, line in enumerate(data.split(b"\n"), 1) if REDACTED in line}
    return frozenset(m.index for m in transcript.messages if any(origin.line in lines for origin in m.origins))


def measured_requests(transcript: Transcript) -> list[Request]:
    """Requests of the branch with a usage that can be right, to the model that most of them went to."""
    flagged = weigh(transcript).flagged
    found = [r for r in transcript.requests if r.on_branch and r.usage and r.usage.context and r.index not in flagged]
    main_model = statistics.mode(r.model for r in found) if found else ""
    return [r for r in found if r.model == main_model]


def without_later_usage(transcript: Transcript, first: Request) -> Transcript:
    """The transcript without the input side of usage from ``first`` on, nor what compactions tell of it."""
    requests = [
        r if r.index < first.index or not r.usage
        else dataclasses.replace(r, usage=Usage(output=r.usage.output, placeholder=r.usage.placeholder))
        for r in transcript.requests
    ]  # fmt: skip
    compactions = [dataclasses.replace(c, tokens_before=None, tokens_after=None) for c in transcript.compactions]
    return dataclasses.replace(transcript, requests=tuple(requests), compactions=tuple(compactions))


def outcome(session: Recorded, weigher: Weigher = weigh) -> Outcome:
    """The session's estimates by the usage of its first third, held against the rest."""
    n = len(session.measured) // TRAINED
    tested = session.measured[n:]
    weighed = weigher(without_later_usage(session.transcript, tested[0]))
    steps = {step.request: step for step in weighed.steps}
    grown, fallen = [], 0
    for before, after in pairwise(tested):
        measured = _context(after) - _context(before)
        if steps[after.index].compaction is not None:
            continue
        if measured <= 0:
            fallen += 1
            continue
        estimated = (weighed.estimated[after.index] or 0) - (weighed.estimated[before.index] or 0)
        step = steps[after.index]
        is_redacted = any(index in session.redacted for index in range(step.start, step.stop))
        sort = rest_of(session.transcript, step, estimated - measured, measured)
        sort = REPLACED if is_redacted and sort != SEARCHED else sort
        grown.append(Grown(estimated, measured, sort))
    contexts = [(weighed.estimated[r.index] or 0, _context(r)) for r in tested]
    t = session.transcript
    return Outcome(session.name, t.client, t.model, grown, fallen, contexts, len(t.compactions))


def halves(sessions: Sequence[Recorded]) -> tuple[list[Recorded], list[Recorded]]:
    """Every other session, by name: no session is in both."""
    ordered = sorted(sessions, key=lambda session: session.name)
    return ordered[::2], ordered[1::2]


def _context(request: Request) -> int:
    return request.usage.context if request.usage else 0
