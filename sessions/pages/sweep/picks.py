"""What a sweep advises: the settings as cards, beside the session as recorded, and the rows that the chart joins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.urls import reverse

from sessions.engine.base.words import counted
from sessions.engine.costs.cost_report import usd
from sessions.engine.costs.prices import PER_MILLION
from sessions.engine.quality.baseline import change_words
from sessions.engine.quality.generations import FEWEST
from sessions.engine.sweeps.across import Validation, advise_all
from sessions.engine.sweeps.advice import NAMED, UNKNOWN, Advice, Pick, cost_range, is_recorded, lost, overlap
from sessions.engine.sweeps.floors import keeps
from sessions.engine.sweeps.sweep import Row, Setting, Sweep, cost_key, pareto
from sessions.models import Session
from sessions.pages.sweep import rows as sweep_rows
from sessions.pages.sweep import state as urlstate
from sessions.pages.ui import figures
from sessions.runs import losses, replay_state, replays, sweeps


def advised(swept: sweeps.SweepResult, floors: Mapping[str, float]) -> tuple[Advice, Setting | None, Validation | None]:
    """The advice of a sweep and the setting that it recommends; of several sessions the one for all, and its trial."""
    if not swept.complete:
        return Advice(UNKNOWN, f"{swept.n_done:,} of {swept.n_total:,} replays are done."), None, None
    return advise_all(swept.sweeps, floors)


def shown_row(whole: Sweep, setting: Setting | None, found: Advice) -> int:
    """The row that is looked at first: the recommended, else another advised, else where the session compacts."""
    places = {row.setting: index for index, row in enumerate(whole.rows)}
    if setting is not None:
        return places[setting]
    other = next((pick.row.setting for pick in found.picks if not pick.as_recorded), None)
    if other is not None:
        return places[other]
    own = (index for index, row in enumerate(whole.rows) if is_recorded(row, whole))
    return next(own, min(range(len(whole.rows)), key=lambda index: sweep_rows.measure_of("cost")(whole.rows[index])))


def unbeaten(rows: Sequence[Row], against: str, floors: Mapping[str, float]) -> frozenset[int]:
    """Rows that no other beats on the two axes of the chart: cost and ``against``.

    Only rows within the limits; where none is, those that fit into the window; else all.
    """
    measure = sweep_rows.measure_of(against)
    kept = [index for index, row in enumerate(rows) if row.fits and keeps(row, floors)]
    able = kept or [index for index, row in enumerate(rows) if row.fits] or list(range(len(rows)))
    on = pareto([(cost_key(rows[index].totals), measure(rows[index])) for index in able])
    return frozenset(index for index, best in zip(able, on, strict=True) if best)


class PickCard:
    """One card: figures with those as recorded beside them.

    ``place`` has the ends of the cost range and the recorded cost on a scale of 0 to 100 that all cards share;
    ``apply_href`` selects the setting on this page, ``replay_href`` is its replay, both "" for what the session ran
    under; ``left_href`` is what is left after each of several compactions, "" for fewer than two.
    """

    def __init__(
        self, pick: Pick, found: Advice, sweep: Sweep, session: Session, state: urlstate.SweepState, *,
        hrefs: tuple[str, str],
    ) -> None:  # fmt: skip
        row, held, beside = pick.row, sweep.recorded, not pick.as_recorded
        again, rules = row.more.get("read_again_tokens", 0), int(row.more.get("rules_gone", 0))
        self.name, self.first, self.reason = pick.name, pick.first, _reason(pick, found)
        self.is_recorded, self.is_best = pick.as_recorded, pick is found.recommended
        self.setting = _setting(pick, [axis.key for axis in sweep.axes])
        self.unit_words = f"tokens, {sweep_rows.share_of_window(row.threshold, row, sweep)}" if row.threshold else ""
        self.cost, self.cost_unit = sweep_rows.cost_words(row), "tokens sent" if row.totals.cost is None else "dollars"
        self.cost_beside = change_words(row.totals, held.totals) if beside else "as recorded"
        self.place = _place(row, held, [one.row for one in found.picks])
        self.compactions = figures.count(row.totals.compactions)
        self.compactions_beside = f"{held.totals.compactions:,} as recorded" if beside else ""
        self.lost = counted(lost(row), "thing") + (f", {counted(rules, 'rule')} among them" if rules else "")
        self.lost_beside = f"{lost(held):,} as recorded" if beside else ""
        self.read_again, self.read_again_beside = f"{again:,.0f} tokens", _dollars(again, sweep)
        names = _names(pick, session, state)
        self.names, self.n_more = names[:NAMED], max(len(names) - NAMED, 0)
        self.apply_href, self.replay_href = hrefs
        self.left_href = _left(pick, session, state)


def _left(pick: Pick, session: Session, state: urlstate.SweepState) -> str:
    if pick.row.totals.compactions < FEWEST:
        return ""
    own = replay_state.query(sweep_rows.replay_of(state, pick.row.setting))
    side = "of=recorded" if pick.as_recorded else "of=replay"
    return f"{reverse('sessions:quality', args=[session.pk])}?{'&'.join(filter(None, (own, side)))}#left"


def _setting(pick: Pick, keys: Sequence[str]) -> str:
    """Where it compacts; its parameters where that is no number of tokens."""
    if pick.row.threshold:
        return figures.count(pick.row.threshold)
    return "the recorded setting" if pick.as_recorded else sweep_rows.setting_words(pick.row.setting, keys)


def _reason(pick: Pick, found: Advice) -> str:
    best = found.recommended
    same = best is not None and pick is not best and overlap(pick.row, best.row)
    return f"{pick.reason} It costs the same as {best.name}." if same and best is not None else pick.reason


def _place(row: Row, held: Row, shown: Sequence[Row]) -> tuple[float, float, float]:
    ends = [end for one in (held, *shown) for end in cost_range(one)]
    low, wide = min(ends), (max(ends) - min(ends)) or 1
    least, most = cost_range(row)
    return tuple(round(2 + 96 * (at - low) / wide, 2) for at in (least, most, cost_range(held)[0]))  # type: ignore[return-value]


def _dollars(tokens: float, sweep: Sweep) -> str:
    """What the re-reads cost where each is sent once."""
    if sweep.prices is None or not tokens:
        return ""
    return f"{usd(tokens * sweep.prices.fresh() / PER_MILLION)} once"


def _names(pick: Pick, session: Session, state: urlstate.SweepState) -> list[str]:
    """What it loses, rules first; each thing once."""
    if pick.as_recorded:
        return _lost_names(losses.of_recording(session))
    made = replays.run(session.pk, sweep_rows.replay_of(state, pick.row.setting)).replay
    return _lost_names(losses.of_replay(session, made))


def _lost_names(found: losses.Losses | None) -> list[str]:
    if found is None:
        return []
    rules = [rule.text for event in found.events for rule in event.rules]
    return list(dict.fromkeys([*rules, *(need.reference.text for event in found.events for need in event.gone)]))
