"""A sweep as a document: ``ctxweb.sweep/1``, and its rows as CSV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from sessions.engine.costs.cost_report import beside_usage
from sessions.engine.quality.columns import Lost
from sessions.engine.quality.recall import COUNTS
from sessions.engine.reports.report import event_cost_document, totals_fields
from sessions.engine.sweeps.across import Validation
from sessions.engine.sweeps.advice import Advice, Pick
from sessions.engine.sweeps.regret import Optimum, regrets
from sessions.engine.sweeps.sweep import Row, Setting, Sweep


def sweep_document(
    sweep: Sweep,
    *,
    advice: Advice | None = None,
    floors: dict[str, float] | None = None,
    best: Optimum | None = None,
    lost: Callable[[Pick], Lost] | None = None,
) -> dict[str, Any]:
    """``ctxweb.sweep/1``: axes, and one flat row for every setting in the order swept.

    ``recorded`` is the session as recorded, which ``advice`` holds every row against; ``recommended`` is the setting
    that the advice marks, null where its answer is none.  With ``best`` every row also has ``regret``, its cost as
    replayed ÷ the cheapest schedule's.  ``prices`` are US dollars per million tokens, null where none is known.
    ``optimum`` is the cheapest schedule of compactions: when, what each costs, and its totals.
    """
    ratios = {one: round(ratio, 4) for one, ratio in regrets(sweep, best).items()} if best else {}
    rows = [flat(row) | ({"regret": ratios.get(row.setting)} if best else {}) for row in sweep.rows]
    return {
        "schema": "ctxweb.sweep/1",
        "session": sweep.weighed.transcript.id,
        "policies": list(dict.fromkeys(row.setting.policy for row in sweep.rows)),
        "base": sweep.base,
        "summarizer": sweep.summarizer,
        "axes": [{"key": axis.key, "values": list(axis.values)} for axis in sweep.axes],
        "rows": rows,
        "complete": sweep.complete,
        "prices": None if sweep.prices is None else asdict(sweep.prices),
        "floors": floors or {},
        "recorded": flat(sweep.recorded),
        "recorded_usage": beside_usage(sweep.weighed, sweep.recorded.totals, sweep.prices),
        "advice": None if advice is None else advice_document(advice, lost),
        "recommended": None if advice is None or advice.recommended is None else pick_document(advice.recommended),
        "optimum": None
        if best is None
        else {
            "events": [{"request": cost.request, "cost": event_cost_document(cost)} for cost in best.costs],
            "totals": totals_fields(best.totals),
            "window": best.window,
            "keep_messages": 0,
        },
        "warnings": list(sweep.weighed.warnings),
    }


def flat(row: Row) -> dict[str, Any]:
    """One row: swept values, totals, further columns; ``threshold_tokens`` is null where something else counts.

    Where losses are counted ``recall`` is the share of what is ``asked`` (used later) that still answers after a
    compaction, ``retained_tokens`` what one leaves on average; all null where nothing is cut.
    """
    said = {"threshold_tokens": row.threshold, "fits": row.fits, "pareto": row.pareto}
    more = {name: value for name, value in row.more.items() if name not in COUNTS}
    return {**row.values, **totals_fields(row.totals), **more, **said, **_recalled(row)}


def _recalled(row: Row) -> dict[str, float | None]:
    found = row.recall
    if not row.more.keys() >= set(COUNTS):
        return {}
    return {
        "recall": None if found is None else round(found.share, 4),
        "asked": None if found is None else found.asked,
        "recall_at_least": None if found is None else found.at_least,
        "retained_tokens": None if found is None else round(found.tokens),
    }


def advice_document(found: Advice, lost: Callable[[Pick], Lost] | None = None) -> dict[str, Any]:
    """The answer, and the settings that it names, each with what it loses by name where ``lost`` tells."""
    return {
        "answer": found.answer,
        "sentence": found.sentence,
        "settings": [
            pick_document(pick) | ({"lost": _lost_document(lost(pick))} if lost else {}) for pick in found.picks
        ],
    }


def _lost_document(lost: Lost) -> dict[str, Any]:
    return {"rules": list(lost.rules), "things": list(lost.things)}


def pick_document(pick: Pick) -> dict[str, Any]:
    """One setting that is advised: ``cost_change`` is its cost over the recorded one, as shares."""
    return {
        **setting_document(pick.row.setting),
        "names": list(pick.names),
        "as_recorded": pick.as_recorded,
        "row": flat(pick.row),
        "cost_change": {"low": round(pick.least, 4), "high": round(pick.most, 4)},
        "first": pick.first,
        "reason": pick.reason,
    }


def validated_document(found: Validation) -> dict[str, Any]:
    """A setting for several sessions and how it does on those that had no say."""
    return {
        **setting_document(found.setting),
        "reason": found.reason,
        "mean_cost_ratio": found.mean_ratio,
        "sessions_keeping": found.n_keeping,
        "judged": [
            {
                "session": one.session,
                "chosen": None if one.chosen is None else setting_document(one.chosen),
                "cost_ratio": one.ratio,
                "keeps": one.keeps,
            }
            for one in found.judged
        ],
    }


def setting_document(setting: Setting) -> dict[str, Any]:
    """A setting: policy, the parameters given to it, window (null: the session's own)."""
    return {"policy": setting.policy, "params": dict(setting.params), "window": setting.window}


def sweep_table(flat_rows: Sequence[dict[str, Any]]) -> list[list[object]]:
    """A document's rows under a heading; the cost in two columns, empty where the model has no price."""
    rows = [_with_cost_apart(row) for row in flat_rows]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [[*names], *([row.get(name) for name in names] for row in rows)]


def _with_cost_apart(row: dict[str, Any]) -> dict[str, Any]:
    apart: dict[str, Any] = {}
    for name, value in row.items():
        if name == "cost_usd":
            cost = value or {"low": "", "high": ""}
            apart |= {"cost_usd_low": cost["low"], "cost_usd_high": cost["high"]}
        else:
            apart[name] = str(value).lower() if isinstance(value, bool) else value
    return apart
