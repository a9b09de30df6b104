"""``python -m ctxweb`` is the command ``ctxweb``."""

from __future__ import annotations

from ctxweb.entry import main

if __name__ == "__main__":
    main()
