"""``python -m tests.bench [ingest|pages|accuracy|cache|study|sweep]``: the benchmarks, all where none is named."""

from __future__ import annotations

import sys

from tests.bench import accuracy, cache, ingest, pages, study, sweep

BENCHES = {
    "ingest": ingest.main,
    "pages": pages.main,
    "accuracy": accuracy.main,
    "cache": cache.main,
    "study": study.main,
    "sweep": sweep.main,
}

if __name__ == "__main__":
    names = [sys.argv.pop(1)] if sys.argv[1:2] and sys.argv[1] in BENCHES else list(BENCHES)
    for name in names:
        BENCHES[name]()
