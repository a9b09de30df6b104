"""Safe, Balanced and Cheapest: three settings of one session's sweep, each held against the session as recorded.

A setting is advised only inside the range that was swept and in no larger window than the session's, where its
threshold leaves room for what stands after a compaction and one request's growth, where it costs no more than as
recorded, loses no more rules, and compacts at most twice as often.  Settings whose cost ranges overlap cost the same.
Of a row that is not advised the table says why, so that no sentence is against a row beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sessions.engine.base.words import counted
from sessions.engine.quality.baseline import change_words, cost_change
from sessions.engine.sweeps.floors import keeps
from sessions.engine.sweeps.sweep import POLICY, UNSEEN, WINDOW, Row, Sweep
from sessions.engine.weigh.calibration.weighed import Weighed

SAFE, BALANCED, CHEAPEST = "Safe", "Balanced", "Cheapest"
SETTINGS, KEEP, NOTHING, UNKNOWN = "settings", "keep", "nothing", "unknown"
"""Answers: a setting is better; the recorded one stays; there is nothing to tune; too little is known to say."""
LEAST_REQUESTS = 20
"""A session with fewer requests says nothing of the next one."""
UNCOUNTED = "No advice before losses are counted."
DIED = "The recorded session went over its window, or was refused"
NONE = "no other setting that may be advised"
LEAST_SAVING = 0.03
"""Less than this share of the cost is nobody's reason to change a setting."""
TIMES_AS_OFTEN = 2
"""More compactions than this many times those recorded are never advised; one is the least that counts."""
LOSS_WEIGHT = 0.4
"""Ten percent more losses than recorded weigh as much as four percent of the cost (docs/benchmarks/advice.md)."""
LEAST_LOST = 20
"""The least that losses are a share of: two lost instead of one is no doubling that counts."""
NAMED = 5
"""How many lost things are named with a setting."""
FEW = 0.9
"""One request's growth: this share of the session's requests grew by less."""


@dataclass(frozen=True, slots=True)
class Pick:
    """One setting that is advised, under one name or several.

    ``least`` and ``most`` are its cost over the recorded one, as shares (−0.12: 12% cheaper); ``as_recorded``: it is
    what the session ran under.  ``first`` is what is said before anything else, "" for nothing.
    """

    names: tuple[str, ...]
    row: Row
    as_recorded: bool
    least: float
    most: float
    first: str
    reason: str

    @property
    def name(self) -> str:
        """All its names: "Safe, Balanced"."""
        return ", ".join(self.names)


@dataclass(frozen=True, slots=True)
class Advice:
    """The answer in a sentence, and up to three settings; the ``recommended`` one is marked and applied everywhere."""

    answer: str
    sentence: str
    picks: tuple[Pick, ...] = ()
    recommended: Pick | None = None


def advise(sweep: Sweep, floors: Mapping[str, float] | None = None) -> Advice:
    """What to set, by a complete sweep of one session within the reader's ``floors``."""
    held, floors, may = sweep.recorded, floors or {}, admitted(sweep)
    unable = _nothing_to_say(sweep, may)
    if unable is not None:
        return unable
    able = [row for row in may if keeps(row, floors)]
    # Nobody keeps a setting under which the session went over its window.
    known = [*able, held] if keeps(held, floors) else able
    calm = [row for row in known if not held.fits or row.totals.compactions <= held.totals.compactions]
    saving = [row for row in able if saves(row, held)]
    chosen: dict[str, Row] = {}
    if calm:
        chosen[SAFE] = _gentlest(min(calm, key=lost), calm, held, same=lambda row, best: lost(row) == lost(best))
    better = [row for row in saving if regret(row, held) < 0]
    chosen[BALANCED] = _first_of(better, held, key=lambda row: regret(row, held))
    chosen[CHEAPEST] = _first_of(saving, held, key=lambda row: cost_range(row)[0])
    chosen = {name: row for name, row in chosen.items() if row is not held or held in known}
    if not chosen:
        return Advice(UNKNOWN, "No setting meets the limits." if held.fits else f"{DIED}; {NONE} stays within it.")
    return _worded(sweep, chosen)


def admitted(sweep: Sweep) -> list[Row]:
    """The rows that may be advised at all, whatever limits the reader has, the highest threshold first."""
    against = objections(sweep)
    return sorted((row for row in sweep.rows if not against[id(row)]), key=lambda row: -(row.threshold or 0))


def objections(sweep: Sweep) -> dict[int, str]:
    """Why a row may not be advised, in words, "" where it may; by its ``id``."""
    held, growth, edges = sweep.recorded, usual_growth(sweep.weighed), _edges(sweep)

    def against(row: Row) -> str:
        reasons = {
            "over the window": not row.fits,
            "recorded setting": is_recorded(row, sweep),
            "larger window": WINDOW in row.values and row.window > held.window,
            "end of the range": id(row) in edges,
            "makes no room": bool(row.futile)
            # The threshold is above what stands after a compaction and one request's growth.
            or (row.threshold is not None and bool(row.after) and row.threshold < row.after + growth),
            "dearer": held.fits and cost_range(row)[0] > cost_range(held)[1],
            "loses more rules": not held.more.get(UNSEEN)
            and row.more.get("rules_gone", 0) > held.more.get("rules_gone", 0),
            "too often": row.totals.compactions > most_compactions(held.totals.compactions),
        }
        return next((words for words, holds in reasons.items() if holds), "")

    return {id(row): against(row) for row in sweep.rows}


def saves(row: Row, held: Row) -> bool:
    """Whether it saves enough, even if everything is fetched again."""
    return -cost_change(row.totals, held.totals)[1] >= LEAST_SAVING


def most_compactions(recorded: int) -> int:
    """The most that a setting may make where so many are recorded."""
    return TIMES_AS_OFTEN * max(1, recorded)


def usual_growth(weighed: Weighed) -> int:
    """By how many tokens one request's context outgrows the one before, in all but a tenth of the requests."""
    sizes = weighed.recorded.context
    grown = sorted(after - before for before, after in pairwise(sizes) if after > before)
    return grown[int(FEW * (len(grown) - 1))] if grown else 0


def is_recorded(row: Row, sweep: Sweep) -> bool:
    """Whether a row compacts where the session did: the same policy and threshold, nothing else swept."""
    held = sweep.recorded
    same = row.setting.policy == held.setting.policy and row.threshold == held.threshold and row.window == held.window
    return same and row.threshold is not None and len(sweep.axes) == 1


def cost_range(row: Row) -> tuple[float, float]:
    """Dollars, low and high; tokens sent where no price is known."""
    cost = row.totals.cost
    return (row.totals.sent_tokens,) * 2 if cost is None else (cost.low, cost.high)


def overlap(one: Row, other: Row) -> bool:
    """Whether two settings cost the same: their ranges have a point in common."""
    (low, high), (least, most) = cost_range(one), cost_range(other)
    return low <= most and least <= high


def lost(row: Row) -> int:
    """Rules, and things used later, that a setting loses."""
    return int(row.more.get("rules_gone", 0) + row.more.get("needs_gone", 0))


def regret(row: Row, held: Row) -> float:
    """How much worse than as recorded, as a share of the cost: below 0 it is better."""
    more = (lost(row) - lost(held)) / max(lost(held), LEAST_LOST)
    return cost_change(row.totals, held.totals)[1] + LOSS_WEIGHT * more


def limit_of(row: Row) -> int:
    """The tokens at which it compacts, or is full: a threshold over the window is never reached."""
    return min(row.threshold or row.window, row.window)


def window_words(row: Row, sweep: Sweep) -> str:
    """Whose window a row is held against: one typed by hand is told from the session's own, which a recording keeps."""
    swept = WINDOW in {axis.key for axis in sweep.axes}
    typed = None if swept else next((one.setting.window for one in sweep.rows), None)
    if typed in {None, sweep.recorded.window}:
        return "the window"
    return f"the {row.window:,} typed" if row.setting.window == typed else f"the session's own {row.window:,}"


def is_far_under(sweep: Sweep) -> bool:
    """Whether a session was never compacted, and stayed under half of its threshold."""
    held = sweep.recorded
    return not held.totals.compactions and held.totals.peak_context_tokens < limit_of(held) / 2


def says_little(sweep: Sweep) -> bool:
    """Whether a session has too few requests to say anything of the next one."""
    return len(sweep.weighed.steps) < LEAST_REQUESTS


def _nothing_to_say(sweep: Sweep, may: Sequence[Row]) -> Advice | None:
    """The answer where no setting may be advised, whatever the figures of those ``admitted`` are."""
    held, weighed = sweep.recorded, sweep.weighed
    peak, n = held.totals.peak_context_tokens, len(weighed.steps)
    if is_far_under(sweep):
        whole = window_words(held, sweep)
        share = f"{peak / held.window:.0%} of {whole}" if 100 * peak >= held.window else f"{peak:,} tokens"
        best = min((row for row in may if saves(row, held)), key=lambda row: cost_range(row)[0], default=None)
        sentence = f"{'No need to compact' if best else 'Nothing to tune'}: the context peaked at {share}."
        return Advice(NOTHING, f"{sentence} {headline(best, held, 'Compacting at')}." if best else sentence)
    if says_little(sweep):
        return Advice(NOTHING, f"No advice: {counted(n, 'request')} say nothing of the next session.")
    if sweep.base == "recorded" and held.totals.compactions:
        return Advice(UNKNOWN, "No advice along the recorded context: it was compacted already.")
    unknown = _uncounted(sweep, may)
    return Advice(UNKNOWN, unknown) if unknown else None


def _uncounted(sweep: Sweep, may: Sequence[Row]) -> str:
    """Why the losses of the settings cannot be held against those as recorded, "" where they can."""
    held = sweep.recorded
    if any("needs_gone" not in row.more for row in (held, *sweep.rows)):
        return UNCOUNTED
    if unseen := int(held.more.get(UNSEEN, 0)):
        of = counted(held.totals.compactions, "recorded compaction")
        return f"No advice: what {unseen:,} of {of} dropped is not in the file."
    is_open = held.more.get("losses_open") or any(row.more.get("losses_open") for row in may)
    return "No advice: what is lost depends on a summary whose text is not known." if is_open else ""


def _edges(sweep: Sweep) -> set[int]:
    """The rows, by ``id``, at an end of what was swept, and those that compact where one at the only axis' end does."""
    ends = [(axis.key, {axis.values[0], axis.values[-1]}) for axis in sweep.axes if axis.key != POLICY]
    edges = [row for row in sweep.rows if any(row.values[key] in values for key, values in ends)]
    at_end = {row.threshold for row in edges} - {None} if len(sweep.axes) == 1 else set()
    return {id(row) for row in (*edges, *(row for row in sweep.rows if row.threshold in at_end))}


def _first_of(rows: Sequence[Row], held: Row, *, key: Callable[[Row], float]) -> Row:
    """The least by ``key``, the gentlest of those that cost the same; the recorded one where there is none."""
    if not rows:
        return held
    return _gentlest(min(rows, key=key), rows, held, same=overlap)


def _gentlest(best: Row, rows: Sequence[Row], held: Row, *, same: Callable[[Row, Row], bool]) -> Row:
    """Of the rows as good as the best: what loses least, compacts least, is recorded, and is nearest to the window."""
    alike = [row for row in rows if same(row, best)]
    return min(alike, key=lambda row: (lost(row), row.totals.compactions, row is not held, -(row.threshold or 0)))


def _worded(sweep: Sweep, chosen: Mapping[str, Row]) -> Advice:
    """The settings with their reasons, those that coincide as one, and which of them is recommended."""
    held = sweep.recorded
    picks: list[Pick] = []
    for row in dict.fromkeys(map(id, chosen.values())):
        names = tuple(name for name, one in chosen.items() if id(one) == row)
        picks.append(_pick(names, chosen[names[0]], sweep))
    by_name = {name: one for one in picks for name in one.names if not one.as_recorded}
    # What cannot stay gives way to the cheapest, where nothing else is left.
    names = (BALANCED, SAFE) if any(one.as_recorded for one in picks) else (BALANCED, SAFE, CHEAPEST)
    best = next((by_name[name] for name in names if name in by_name), None)
    if best is None:
        why = "what cheaper settings lose outweighs what they save" if by_name else _saves_none()
        return Advice(KEEP, f"{_kept(held)}: {why}.", tuple(picks))
    said = headline(best.row, held)
    return Advice(SETTINGS, said if held.fits else f"{DIED}. {said}", tuple(picks), best)


def _saves_none() -> str:
    return f"{NONE} saves {LEAST_SAVING:.0%} with its re-reads"


def _pick(names: tuple[str, ...], row: Row, sweep: Sweep) -> Pick:
    held, n = sweep.recorded, row.totals.compactions
    least, most = cost_change(row.totals, held.totals)
    # More than twice as many compactions as recorded are only admitted where the session has none.
    many = n > TIMES_AS_OFTEN * held.totals.compactions
    first = f"{counted(n, 'compaction')}, where the recording has none" if many else ""
    return Pick(names, row, row is held, least, most, first, _reason(names[0], row, sweep))


def _kept(held: Row) -> str:
    return "Keep the recorded setting" if held.threshold is None else f"Keep {held.threshold:,}"


def headline(row: Row, held: Row, verb: str = "Compact at") -> str:
    """Compact at 126,000 tokens: 12% cheaper, 2 compactions as recorded, 11 fewer things lost."""
    at = "" if row.threshold is None else f"{verb} {row.threshold:,} tokens: "
    n, before = row.totals.compactions, held.totals.compactions
    often = f"{counted(n, 'compaction')} {'as recorded' if n == before else f'instead of {before:,}'}"
    losses = (lost_words(row, held),) if "needs_gone" in row.more and not held.more.get(UNSEEN) else ()
    said = ", ".join((change_words(row.totals, held.totals), often, *losses))
    return f"{at}{said}" if at else said[0].upper() + said[1:]


def lost_words(row: Row, held: Row) -> str:
    """3 more things lost; "as much lost" where there is no difference."""
    more = lost(row) - lost(held)
    what = "more thing" if more > 0 else "fewer thing"
    return f"{counted(abs(more), what)} lost" if more else "as much lost"


def _reason(name: str, row: Row, sweep: Sweep) -> str:
    """Why this one, in a sentence or two with figures."""
    held = sweep.recorded
    if row is held:
        what = {SAFE: f"{NONE} loses less without compacting more often", CHEAPEST: _saves_none()}
        why = what.get(name, f"{NONE} saves enough for what it loses")
        return f"{_kept(held)}. {why[0].upper()}{why[1:]}."
    if name == SAFE:
        least = f"Loses the least, {counted(lost(row), 'thing')}," if lost(row) else "Loses nothing"
        return f"{least} and {'compacts no more often than recorded' if held.fits else 'stays within the window'}."
    if name == CHEAPEST:
        return f"The lowest cost with at most {counted(most_compactions(held.totals.compactions), 'compaction')}."
    return " ".join(("Best for cost and losses together.", *_beside(row, sweep)))


def _beside(row: Row, sweep: Sweep) -> list[str]:
    """What one step lower and one step higher would change, along one swept parameter."""
    if len(sweep.axes) != 1 or row.threshold is None:
        return []
    known = sorted({one.threshold: one for one in sweep.rows if one.threshold is not None}.items())
    at = [threshold for threshold, _ in known].index(row.threshold)
    near = [(way, known[to][1]) for way, to in (("lower", at - 1), ("higher", at + 1)) if 0 <= to < len(known)]
    return [f"One step {way}: {change_words(one.totals, row.totals)}, {lost_words(one, row)}." for way, one in near]
