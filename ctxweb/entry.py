"""Where the command ``ctxweb`` begins: a status line is answered without loading the command line."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the status line, or the command line."""
    if sys.argv[1:] == ["statusline"]:
        from ctxweb.statusline import main as statusline

        sys.exit(statusline())
    from ctxweb.cli import main as command_line

    command_line()
