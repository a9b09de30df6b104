"""``python -m tests.bench [ingest|pages|accuracy|study]``: the benchmarks, all of them where none is named."""

from __future__ import annotations

import sys

from tests.bench import accuracy, ingest, pages, study

BENCHES = {"ingest": ingest.main, "pages": pages.main, "accuracy": accuracy.main, "study": study.main}

if __name__ == "__main__":
    names = [sys.argv.pop(1)] if sys.argv[1:2] and sys.argv[1] in BENCHES else list(BENCHES)
    for name in names:
        BENCHES[name]()
