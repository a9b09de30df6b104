"""What a session cost, in JSON and in words: the recorded cost first, then what the model says of it, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine.base.words import counted
from sessions.engine.costs.cost_fit import Comparison, branch_cost, comparison, recorded_cost
from sessions.engine.costs.prices import Prices, prices_of
from sessions.engine.transcript.types import Label
from sessions.engine.weigh.calibration.weighed import Weighed

if TYPE_CHECKING:
    from sessions.engine.costs.cost import Totals

TOLD = 0.005
"""Causes that words name come to this share of the recorded cost at least; JSON has them all."""


def cost_document(weighed: Weighed, *, prices: Prices | None = None) -> dict[str, Any] | None:
    """``cost`` of a session in JSON, in dollars: what was recorded first; None where there is no usage or no price.

    ``recorded_usd`` is all recorded usage at list prices.  The figures under ``model`` are of the requests of the
    branch with usage: what the cost model says of them and how far it is off (0.02 is 2%), null where there are none.
    """
    spent, made = recorded_cost(weighed, prices=prices), comparison(weighed, prices=prices)
    if spent is None:
        return None
    own = prices or prices_of(weighed.model)
    return {
        "recorded_usd": round(spent.dollars, 6),
        "label": str(Label.MEASURED),
        "is_lower_bound": spent.is_lower_bound,
        "n_requests": spent.n_requests,
        "n_unpriced": spent.n_unpriced,
        "n_without_usage": spent.n_without_usage,
        "n_placeholder_outputs": spent.n_placeholders,
        "prices": own.source if own else "list prices of each request's model",
        "model": _model_document(made) if made else None,
    }


def _model_document(made: Comparison) -> dict[str, Any]:
    error, use = made.error, made.use
    return {
        "recorded_usd": round(made.recorded, 6),
        "modelled_usd": round(made.modelled, 6),
        "least_usd": round(made.least, 6),
        "most_usd": round(made.most, 6),
        "label": str(Label.CALIBRATED),
        "error": None if error is None else round(error, 5),
        "is_within": made.is_within,
        "rule_usd": round(made.rule, 6),
        "causes": [{"cause": c.name, "requests": c.n_requests, "usd": round(c.dollars, 6)} for c in made.causes],
        "cache": {
            "kind": use.kind,
            "read_share": None if use.rate is None else round(use.rate, 4),
            "lifetime_seconds": use.lifetime,
            "written_share": round(use.written, 4),
            "first_read_tokens": use.start,
        },
    }


def stated_sentences(dollars: float | None) -> tuple[str, ...]:
    """What the file itself says that the session cost; none where it does not."""
    return () if dollars is None else (f"The file itself says: {usd(dollars)}.",)


def cost_sentences(document: dict[str, Any] | None) -> tuple[str, ...]:
    """``cost_document`` in a few sentences, figures with unit and label; none without one."""
    if document is None:
        return ()
    bound = "at least " if document["is_lower_bound"] else ""
    lines = [f"Recorded cost: {bound}{usd(document['recorded_usd'])} (measured: usage at {document['prices']})."]
    if n := document["n_placeholder_outputs"]:
        subject, again = (f"{n:,} outputs were", "they were") if n > 1 else ("1 output was", "it was")
        lines.append(f"{subject} recorded before {again} complete.")
    if n := document["n_unpriced"]:
        lines.append(f"{counted(n, 'request')} went to a model without a known price.")
    if n := document["n_without_usage"]:
        lines.append(
            f"{counted(n, 'request')} of {n + document['n_unpriced'] + document['n_requests']:,} without usage."
        )
    model = document["model"]
    if model is None or model["error"] is None:
        return tuple(lines)
    spread = span(model["least_usd"], model["most_usd"])
    off = f"{100 * model['error']:+.1f}%".replace("-", "\N{MINUS SIGN}")
    lines.append(
        f"The cost model says {usd(model['modelled_usd'])} (calibrated, {off}, range {spread}) "
        f"of {usd(model['recorded_usd'])} for requests on this branch."
    )
    told = [
        f"{c['cause']} ({signed(c['usd'])}, {counted(c['requests'], 'request')})"
        for c in model["causes"]
        if abs(c["usd"]) >= TOLD * model["recorded_usd"]
    ]
    if told:
        lines.append(f"A cache that always hits: {usd(model['rule_usd'])} (estimated). Difference: {'; '.join(told)}.")
    return tuple(lines)


def beside_usage(weighed: Weighed, sums: Totals, prices: Prices | None = None) -> str:
    """What the usage of the branch comes to, where the range of the session ``as recorded`` does not hold it; else "".

    ``sums`` are the totals of what was sent, by the cost model, its calls for summaries among them: files rarely have
    the usage of those.
    """
    spent, cost = branch_cost(weighed, prices=prices), sums.cost
    if spent is None or cost is None or cost.low * (1 - TOLD) <= spent.dollars <= cost.high * (1 + TOLD):
        return ""
    bound = "at least " if spent.is_lower_bound or spent.n_requests < len(weighed.steps) else ""
    whose = "in the file" if len(weighed.steps) == len(weighed.transcript.requests) else "of this branch"
    calls = f" and {counted(sums.summary_calls, 'call')} for summaries are" if sums.summary_calls else " is"
    return (
        f"As recorded, what was sent{calls} priced by the rule of every setting, {span(cost.low, cost.high)}; "
        f"the usage {whose} comes to {bound}{usd(spent.dollars)}."
    )


def usd(dollars: float) -> str:
    """Dollars to the cent, small ones to a hundredth of it."""
    return f"${dollars:,.2f}" if dollars >= 0.1 or not dollars else f"${dollars:.4f}"


def span(least: float, most: float) -> str:
    """A range of dollars; one figure where both ends read the same."""
    low, high = usd(least), usd(most)
    return low if low == high else f"{low}–{high[1:]}"


def signed(dollars: float) -> str:
    """A difference in dollars."""
    return f"{'+' if dollars > 0 else '−'}{usd(abs(dollars))}"
