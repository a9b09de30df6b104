"""Fits a family's prior on recorded sessions: ``python -m tests.bench prior`` writes the table (estimators 7.3).

Every clean growth is a sum of what entered; the coefficients are those of least absolute error, each growth's error
weighted by one over the root of its size, so that neither many small growths nor one huge one decides.  A reply's
recorded output, where it is the final one, is an equation of its own, and the rest of the growth another.  In the end
all coefficients are scaled so that the growths of the middle session add up: small hidden additions are in them.

What a client says anew after a compaction is the median of those growths, which are too few for an equation each.

What is of least absolute error is too low in the mean, for what a client adds untold is rare and large.  So a last step
asks what the sessions' growths hold beyond their estimates, each ``MOST_UNTOLD`` tokens at most, as a share of them.
"""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from math import sqrt
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.models.model_info import model_info
from sessions.engine.transcript.types import Kind, Label
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.growth import ends_turn, find_flagged, steps_of
from sessions.engine.weigh.calibration.hidden import LARGE, planned, relisted, reminded, version_of
from sessions.engine.weigh.calibration.prior import FEATURES, WRITTEN_LATER, Prior
from sessions.engine.weigh.calibration.scale import LEAST_GROWTH, n_prompts, prior_scale
from sessions.engine.weigh.calibration.stays import final_outputs
from sessions.engine.weigh.calibration.weights import Own, Scales
from tests.bench.corpus import MIN_REQUESTS, Recorded, measured_requests, outcome, recorded_sessions
from tests.samples import find_corpus

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sessions.engine.transcript.types import Block, Message, Transcript

AROUND = ("call", "wrapper", "prompt", "signature", "thinking", "reminder", "reminder_task", "plan")
COLUMNS = (*(f"text {name}" for name in FEATURES), *(f"arguments {name}" for name in FEATURES), *AROUND)
START = Prior(1.0, (1.2, *(0.0,) * (len(FEATURES) - 1)), (1.2, *(0.0,) * (len(FEATURES) - 1)), call=45, wrapper=12)
ROUNDS, ITERATIONS = 3, 25
LEAST_ERROR = 2.0
RIDGE = 1e-5
WEIGHT, RESULTS = 5_000, 2
"""What the prior counts for beside a session's own growths: o200k tokens of text, and results."""
MOST_UNTOLD = 1_000
"""No growth tells more untold tokens than this: halves held out fit best so (``tests.bench.untold``)."""
TABLE = Path(__file__).resolve().parents[2] / "sessions" / "engine" / "weigh" / "calibration" / "prior_table.py"
HEAD = '"""Priors by family, made by ``python -m tests.bench prior``: not to be edited (estimators 7.3).'


def main() -> None:
    """Fit the prior on the whole corpus and write the table."""
    corpus = find_corpus()
    if corpus is None:
        sys.exit("the corpus is missing: set CTXWEB_CORPUS")
    sessions = recorded_sessions(sorted((corpus / "claude-code").glob("*.jsonl.gz")))
    TABLE.write_text(table([session.transcript for session in sessions]), encoding="utf-8")
    print(TABLE.read_text(encoding="utf-8"))


def table(transcripts: Sequence[Transcript]) -> str:
    """The module that holds the prior fitted on the transcripts."""
    fitted = fit(transcripts)
    latest = datetime.fromtimestamp(max(t.ended_at or 0 for t in transcripts), UTC).date()
    first, last = (".".join(map(str, version)) for version in fitted.clients)
    models = ", ".join(sorted({t.model for t in transcripts}))
    fields = "\n".join(f"    {name}={value!r}," for name, value in fitted._asdict().items())
    return f'''{HEAD}

``CLAUDE``: {len(transcripts)} sessions of Claude Code {first} to {last}, the latest of {latest}, from the public
repository entireio/cli (branch entire/checkpoints/v1);
{models}.
"""

from __future__ import annotations

from sessions.engine.weigh.calibration.prior import Prior

CLAUDE = Prior(
{fields}
)
'''


class Equation(NamedTuple):
    """A sum of columns that weighs ``tokens``; ``session`` is where it comes from."""

    session: int
    values: tuple[float, ...]
    tokens: int


def fit(transcripts: Sequence[Transcript]) -> Prior:
    """The prior of least absolute error over the transcripts' growths."""
    prior = START
    for _ in range(ROUNDS):
        equations = [e for number, each in enumerate(transcripts) for e in equations_of(each, number, prior)]
        prior = _prior(_balanced(equations, least_absolute(equations)))
    prior = prior._replace(relisted=lists_anew(transcripts, prior))
    versions = sorted(version_of(t.client) for t in transcripts if t.client)
    return prior._replace(untold=untold(transcripts, prior), clients=tuple(versions[:1] + versions[-1:]))


def lists_anew(transcripts: Iterable[Transcript], prior: Prior) -> float:
    """What the client says anew after a compaction, in tokens: the median of what those growths hold beyond it."""
    rests: list[int] = []
    for transcript in transcripts:
        steps = steps_of(transcript)
        said_anew = relisted(transcript, steps)
        estimated = weigh(transcript, prior=prior, train_fraction=0).estimated if said_anew else ()
        for before, step in pairwise(steps) if said_anew else ():
            then, now = transcript.requests[before.request].usage, transcript.requests[step.request].usage
            earlier, later = estimated[before.request], estimated[step.request]
            if step.request in said_anew and then and now and earlier is not None and later is not None:
                rests.append(now.context - then.context - (later - earlier))
    return float(max(0, round(statistics.median(rests)))) if rests else 0.0


def untold(transcripts: Iterable[Transcript], prior: Prior) -> float:
    """What growths hold beyond their estimates in all, as a share of the large ones.

    Estimated as ``corpus`` does: by the prior and the usage of a session's first third.
    """
    rest = large = 0
    for transcript in transcripts:
        measured = measured_requests(transcript)
        if len(measured) < MIN_REQUESTS:
            continue
        for grown in outcome(Recorded("", transcript, measured), partial(weigh, prior=prior)).grown:
            rest += min(-grown.error, MOST_UNTOLD)
            large += grown.estimated if grown.estimated > LARGE else 0
    return round(max(0.0, rest / large), 4) if large else 0.0


def equations_of(transcript: Transcript, number: int, prior: Prior) -> Iterator[Equation]:
    """Of every clean growth: the reply by its final output and the rest, or both together."""
    model = model_info(transcript.model)
    steps = steps_of(transcript)
    flagged = find_flagged(transcript, steps)
    final = final_outputs(transcript, Scales(Own(prior_scale(transcript, prior), Label.ESTIMATED, model), {}))
    reminders, plans = reminded(transcript, steps), planned(transcript, steps)
    said_anew = relisted(transcript, steps)
    for before, step in list(pairwise(steps))[1:]:
        then, now = transcript.requests[before.request], transcript.requests[step.request]
        messages = transcript.messages[step.start : step.stop]
        if step.compaction is not None or {before.request, step.request} & flagged or not _clean(messages):
            continue
        if not then.usage or not now.usage or then.model != now.model or then.aborted or then.message != step.start:
            continue
        if step.request in said_anew or (not model.keeps_thinking and any(map(ends_turn, messages))):
            continue
        grown = now.usage.context - then.usage.context
        if grown <= 0:
            continue
        reply, rest = _sums(messages[: then.n_messages]), _sums(messages[then.n_messages :])
        n_tasks = reminders.get(step.request)
        if n_tasks is not None:
            rest[COLUMNS.index("reminder")], rest[COLUMNS.index("reminder_task")] = 1.0, float(n_tasks)
        rest[COLUMNS.index("plan")] = float(step.request in plans)
        if then.index not in final:
            yield Equation(number, tuple(map(sum, zip(reply, rest, strict=True))), grown)
        elif grown > then.usage.output:
            yield Equation(number, tuple(reply), then.usage.output)
            yield Equation(number, tuple(rest), grown - then.usage.output)


def _clean(messages: Iterable[Message]) -> bool:
    """Whether the messages are text alone, all of it sent."""
    leaves = [leaf for message in messages for leaf in message.leaves()]
    media = any(leaf.kind in (Kind.IMAGE, Kind.DOCUMENT) for leaf in leaves)
    return not media and not any(leaf.name in WRITTEN_LATER for leaf in leaves)


def _sums(messages: Iterable[Message]) -> list[float]:
    """The columns of some messages."""
    found = [0.0] * len(COLUMNS)
    for message in messages:
        found[COLUMNS.index("prompt")] += n_prompts(message)
        for leaf in message.leaves():
            if leaf.kind is Kind.THINKING and leaf.n_payload:
                found[COLUMNS.index("signature")] += leaf.n_payload
                found[COLUMNS.index("thinking")] += 1
                continue
            call = leaf.kind is Kind.TOOL_USE
            found[COLUMNS.index("call")] += call
            found[COLUMNS.index("wrapper")] += leaf.kind is Kind.TOOL_RESULT
            for place, size in enumerate(_sizes(leaf), len(FEATURES) * call):
                found[place] += size
    return found


def _sizes(leaf: Block) -> tuple[int, ...]:
    return (leaf.n_tokens, leaf.n_chars, leaf.n_non_ascii, leaf.n_json, *leaf.classes)


def least_absolute(equations: Sequence[Equation]) -> list[float]:
    """Coefficients of least weighted absolute error, by least squares weighted anew with the last errors."""
    columns = [list(column) for column in zip(*(e.values for e in equations), strict=True)]
    tokens = [float(e.tokens) for e in equations]
    sizes = [1 / sqrt(max(t, LEAST_GROWTH)) for t in tokens]
    weights, found = sizes, [0.0] * len(columns)
    for _ in range(ITERATIONS):
        weighted = [list(map(mul, column, weights)) for column in columns]
        matrix = [[sum(map(mul, one, other)) for other in columns] for one in weighted]
        for place, row in enumerate(matrix):
            row[place] = row[place] * (1 + RIDGE) + RIDGE
        found = solved(matrix, [sum(map(mul, one, tokens)) for one in weighted])
        estimates = [sum(map(mul, found, e.values)) for e in equations]
        errors = [max(abs(a - b), LEAST_ERROR) for a, b in zip(estimates, tokens, strict=True)]
        weights = [size / error for size, error in zip(sizes, errors, strict=True)]
    return found


def solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """The solution of a linear system of full rank, by elimination with pivots."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for place in range(len(rows)):
        pivot = max(range(place, len(rows)), key=lambda n: abs(rows[n][place]))
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [value / rows[place][place] for value in rows[place]]
        for other, row in enumerate(rows):
            if other != place and row[place]:
                rows[other] = [a - row[place] * b for a, b in zip(row, rows[place], strict=True)]
    return [row[-1] for row in rows]


def _balanced(equations: Sequence[Equation], found: Sequence[float]) -> list[float]:
    """The coefficients times what makes the middle session's equations add up."""
    sums: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for e in equations:
        sums[e.session][0] += e.tokens
        sums[e.session][1] += sum(map(mul, found, e.values))
    factor = statistics.median(measured / estimated for measured, estimated in sums.values() if estimated > 0)
    return [value * factor for value in found]


def _prior(found: Sequence[float]) -> Prior:
    by_name = dict(zip(COLUMNS, found, strict=True))
    n = len(FEATURES)
    signature, head = by_name["signature"], -by_name["thinking"] / (by_name["signature"] or 1)
    return Prior(
        factor=1.0,
        text=tuple(round(value, 4) for value in found[:n]),
        arguments=tuple(round(value, 4) for value in found[n : 2 * n]),
        call=round(by_name["call"], 1),
        wrapper=max(0, round(by_name["wrapper"])),
        prompt=max(0, round(by_name["prompt"])),
        frame=START.wrapper,
        signature=round(signature, 4),
        signature_head=round(head, 1),
        reminder=round(by_name["reminder"], 1),
        reminder_task=round(by_name["reminder_task"], 1),
        plan=max(0.0, round(by_name["plan"], 1)),
        weight=WEIGHT,
        results=RESULTS,
    )
