"""``python -m tests.bench [NAME]``: the benchmarks of BENCHES, all by default."""

from __future__ import annotations

import sys

from tests.bench import (
    accuracy,
    advice,
    chances,
    clients,
    cost,
    digests,
    first,
    footprint,
    forecast,
    ingest,
    library,
    moves,
    pages,
    prior_fit,
    quality,
    readings,
    recorded,
    rules,
    rules_drawn,
    scale,
    search,
    strategies,
    study,
    workers,
)

BENCHES = {
    "ingest": ingest.main,
    "pages": pages.main,
    "quality": quality.main,
    "advice": advice.main,
    "chances": chances.main,
    "forecast": forecast.main,
    "rules": rules.main,
    "accuracy": accuracy.main,
    "cost": cost.main,
    "recorded": recorded.main,
    "scale": scale.main,
    "strategies": strategies.main,
    "study": study.main,
}

ON_REQUEST = {
    "clients": clients.main,
    "digests": digests.main,
    "draw": rules_drawn.main,
    "first": first.main,
    "footprint": footprint.main,
    "labels": rules_drawn.labels,
    "library": library.main,
    "moves": moves.main,
    "prior": prior_fit.main,
    "readings": readings.main,
    "search": search.main,
    "workers": workers.main,
}
"""Those that compare two checkouts, rewrite the code's own tables or need a folder."""

if __name__ == "__main__":
    every = BENCHES | ON_REQUEST
    names = [sys.argv.pop(1)] if sys.argv[1:2] and sys.argv[1] in every else list(BENCHES)
    for name in names:
        every[name]()
