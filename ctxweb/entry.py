"""Where the command ``ctxweb`` begins: a status line is answered without loading the command line."""

from __future__ import annotations

import gc
import sys

MOST_NEW_OBJECTS = 20_000
"""Made before Python looks for garbage: what a start makes stays, and looking through it took a tenth of a command."""


def main() -> None:
    """Run the status line, or the command line."""
    gc.set_threshold(MOST_NEW_OBJECTS)
    if sys.argv[1:] == ["statusline"]:
        from ctxweb.statusline import main as statusline

        sys.exit(statusline())
    from ctxweb.cli import main as command_line

    command_line()
