"""``python -m tests.bench``: every benchmark."""

from __future__ import annotations

from tests.bench.ingest import main

if __name__ == "__main__":
    main()
