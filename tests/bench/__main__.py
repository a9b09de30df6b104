"""``python -m tests.bench [ingest|pages]``: the benchmarks, all of them where none is named."""

from __future__ import annotations

import sys

from tests.bench import ingest, pages

BENCHES = {"ingest": ingest.main, "pages": pages.main}

if __name__ == "__main__":
    names = [sys.argv.pop(1)] if sys.argv[1:2] and sys.argv[1] in BENCHES else list(BENCHES)
    for name in names:
        BENCHES[name]()
