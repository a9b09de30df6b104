"""The totals table of the replay lab: this replay, the session as recorded, and the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sessions.engine.costs.cost import Totals
from sessions.engine.costs.cost_report import span
from sessions.engine.policies.policy import Gate
from sessions.engine.quality.baseline import NAME, change_words
from sessions.engine.replays.events import Event
from sessions.engine.transcript.types import Label
from sessions.pages.ui import figures
from sessions.pages.ui.saw import GateLane, Saw, Tooth
from sessions.runs import replays
from sessions.runs.losses import Losses
from sessions.runs.overview import overview
from sessions.runs.replays import ReplayRun

MOST_PERCENT = 1_000
"""A larger rise is told as a factor."""
FAR_OFF = 1.15
"""A trigger's count over what was sent by less than this shows an estimate, not a mistake."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure of a table in words, with unit and label unless it counts things.

    ``optional`` ones give way on narrow screens; ``lost`` is certain harm: a rule that was lost and broken.
    """

    value: str
    unit: str = ""
    label: str = ""
    optional: bool = False
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure of a strip, with a note beside it."""

    name: str
    cell: Cell
    note: str


HEADS = (
    "Cost", "Compactions", "Peak context", "Rules lost", "Used later and lost", "Input tokens", "Cache read",
    "Cache write", "Output",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TotalsRow:
    """One row: ``key`` names its line in the chart, ``label`` how its figures are known."""

    key: str
    name: str
    label: str
    cells: tuple[Cell, ...]

    @property
    def headed(self) -> tuple[tuple[str, Cell], ...]:
        return tuple(zip(HEADS, self.cells, strict=True))


def weakest_label(labels: Sequence[Label | None]) -> str:
    """How the contexts of the replay are known: the weakest label among them."""
    for label in (Label.ESTIMATED, Label.CALIBRATED):
        if label in labels:
            return str(label)
    return str(Label.MEASURED)


def says(totals: Totals) -> str:
    n = totals.compactions
    return f"{figures.plural(n, 'compaction')}, peak context {totals.peak_context_tokens:,} tokens"


def loss_cells(losses: Losses) -> tuple[Cell, Cell]:
    """Rules lost, and things used later and gone; words where only a summary without text could have kept some."""
    open_words = depends(losses.n_open)
    if open_words and not losses.n_rules + losses.n_gone:
        return Cell(open_words), Cell(open_words)
    return (
        Cell(figures.count(losses.n_rules), lost=any(event.broken for event in losses.events)),
        Cell(figures.count(losses.n_gone) + (f"; {open_words}" if open_words else "")),
    )


def depends(n: int) -> str:
    """What is neither kept nor known to be lost, in words: "depends on the summary: 7 things"; "" for none."""
    return f"depends on the summary: {n:,} {'thing' if n == 1 else 'things'}" if n else ""


def is_false_alarm(event: Event, window: int) -> bool:
    """Whether a trigger fired on far more than was sent, and what was sent is under its threshold (words, 1).

    Only where the threshold is a number of tokens, or of bytes that the policy takes for tokens.
    """
    gate = event.gate
    in_tokens = gate.unit == "tokens" or (gate.unit == "bytes" and gate.threshold <= window)
    return in_tokens and event.before_tokens < gate.threshold and gate.measure > FAR_OFF * event.before_tokens


def totals_table(session_id: str, ran: ReplayRun, losses: tuple[Losses | None, Losses | None]) -> tuple[TotalsRow, ...]:
    """This replay, the session as recorded, and the difference; ``losses`` are those of the two."""
    base = replays.recording(session_id).totals
    label = weakest_label(ran.replay.labels)
    mine, kept = losses
    n_followed = len(ran.replay.weighed.transcript.compactions) if ran.replay.base == "recorded" else 0
    n = ran.totals.compactions
    beside = f"{n:,} of its own, {n_followed:,} recorded" if n_followed else figures.count(n)
    own = _counted(_cells(ran.totals, label, cost_cell(ran.totals)), beside)
    deltas = _deltas(ran.totals, base, label)
    deltas = _counted(deltas, "–") if n_followed else deltas
    sent = weakest_label(ran.replay.weighed.recorded.labels)
    return (
        TotalsRow("mine", "this replay", label, _with(own, mine, of=" of its own" if n_followed else "")),
        TotalsRow("recorded", NAME, sent, _with(_cells(base, sent, cost_cell(base)), kept)),
        TotalsRow("delta", "difference", "", _with(deltas, None, "")),
    )


def _counted(cells: tuple[Cell, ...], words: str) -> tuple[Cell, ...]:
    """The cells with their count of compactions, the second, in these words."""
    return (cells[0], replace(cells[1], value=words), *cells[2:])


def _with(cells: tuple[Cell, ...], losses: Losses | None, blank: str = "–", of: str = "") -> tuple[Cell, ...]:
    """The cells with what is lost beside what it costs, after cost, compactions and peak; ``of`` what, in words."""
    lost = loss_cells(losses) if losses is not None else (Cell(blank), Cell(blank))
    return (*cells[:3], *(replace(cell, value=cell.value + of) for cell in lost), *cells[3:])


def cost_cell(totals: Totals) -> Cell:
    """The cost of a replay in dollars, the same on every page: as replayed, up to what is fetched again included."""
    cost = totals.cost
    return Cell("no price" if cost is None else span(cost.low, cost.high), "dollars", "estimated")


def _cells(totals: Totals, label: str, cost: Cell) -> tuple[Cell, ...]:
    numbers = (
        totals.peak_context_tokens, totals.input_tokens, totals.cache_read_tokens, totals.cache_write_tokens,
        totals.output_tokens,
    )  # fmt: skip
    counted = Cell(figures.count(totals.compactions))
    return (cost, counted, *(Cell(figures.count(number), "tokens", label) for number in numbers))


def _deltas(mine: Totals, other: Totals, label: str) -> tuple[Cell, ...]:
    priced = mine.cost is not None and other.cost is not None
    cost = Cell(change_words(mine, other) if priced else "no price")
    names = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
    shares = [Cell(share_change(getattr(mine, name), getattr(other, name)), "tokens", label) for name in names]
    peak = figures.signed(mine.peak_context_tokens - other.peak_context_tokens)
    counted = Cell(figures.signed(mine.compactions - other.compactions))
    return (cost, counted, Cell(peak, "tokens", label), *shares)


def share_change(mine: float, other: float) -> str:
    """A change in percent: −11%; "new" where there was nothing."""
    if not other:
        return "0%" if not mine else "new"
    change = 100 * (mine - other) / other
    if change > MOST_PERCENT:
        return figures.factor(mine / other)
    text = f"{abs(change):,.0f}" if abs(change) >= 9.95 else f"{abs(change):.1f}"
    sign = "+" if change > 0 else figures.MINUS if change < 0 else ""
    return f"{sign}{text}%" if text.strip("0.") else "0%"


def gate_words(gate: Gate) -> str:
    """What the gate compared: 140,388 ≥ 140,000 tokens."""
    return f"{gate.measure:,} {figures.sign(gate.operator)} {gate.threshold:,} {gate.unit}"


def saw_of(
    session_id: str, ran: ReplayRun, number: int | None, gate: GateLane | None, losses: Losses | None = None
) -> Saw:
    """What the saw-tooth chart of a replay shows; event ``number`` is the chosen one."""
    replay = ran.replay
    recorded = overview(session_id).recorded
    sample = next((g for g in reversed(replay.gates) if g is not None), None)
    in_tokens = sample is not None and sample.unit == "tokens" and replay.policy.name != "none"
    teeth = [
        Tooth(
            k + 1,
            event.request,
            event.before_tokens,
            event.after_tokens,
            chosen=k == number,
            is_false=is_false_alarm(event, replay.window),
        )
        for k, event in enumerate(replay.events)
    ]
    compactions = [(c.request, c.tokens_before) for c in replay.weighed.transcript.compactions]
    without = replays.without_compaction(session_id).context_tokens
    threshold = sample.threshold if sample and in_tokens else None
    lost = losses.events if losses else ()
    return Saw(
        replay.context_tokens, recorded, without, replay.window, threshold, teeth, compactions, gate,
        uses=[request for one in lost if not one.is_open for request in one.uses],
        broken=[at for one in lost for at in one.broken],
        open_uses=[request for one in lost if one.is_open for request in one.uses],
    )  # fmt: skip
