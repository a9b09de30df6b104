"""Losses as columns of a sweep: what a setting loses over all its compactions, smaller is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.quality.constraints import state_of
from sessions.engine.quality.needs import Timeline, gone_after
from sessions.engine.quality.refetch import Results
from sessions.engine.quality.standing import GONE, OPEN, standing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.quality.index import Index
    from sessions.engine.quality.standing import Insertion
    from sessions.engine.replay import Replay


def loss_columns(
    weighed: Weighed, index: Index, *, horizon: int | None = None
) -> Callable[[Replay], Mapping[str, float]]:
    """A function to give to ``sweep(columns=...)``.

    ``rules_gone`` are rules that any event lost, ``needs_gone`` references needed and gone, added up over events,
    ``read_again_tokens`` what would have to be read again for them; ``losses_open`` are rules and references that
    depend on a summary without text, which no other column counts.  Of one session; ``horizon`` in requests.
    """
    timeline, results = Timeline(weighed), Results(weighed, index)

    def columns(replay: Replay) -> Mapping[str, float]:
        known: dict[str, Insertion] = {}
        rules: set[int] = set()
        open_rules: set[int] = set()
        n_needs = n_tokens = n_open = 0
        texts = replay.wording(index.sketch_of)
        for event in replay.events:
            listed = event.before
            before = standing(listed, weighed.transcript, index, texts, known=known)
            after = standing(event.after, weighed.transcript, index, texts, sources=listed, known=known)
            gone = gone_after(event.request, before, after, index, timeline, horizon=horizon)
            if after.missing == OPEN:
                n_open += len(gone)
            else:
                n_needs += len(gone)
                n_tokens += results.refetch(gone, before.newest).tokens
            said = ((k, c) for k, c in enumerate(index.constraints) if c.message <= before.newest and k not in rules)
            for k, constraint in said:
                state = state_of(constraint, after)
                if state == GONE:
                    rules.add(k)
                elif state == OPEN:
                    open_rules.add(k)
        return {
            "rules_gone": len(rules), "needs_gone": n_needs, "read_again_tokens": n_tokens,
            "losses_open": n_open + len(open_rules - rules),
        }  # fmt: skip

    return columns
