"""Where the command ``ctxweb`` begins and ends: a status line is answered without loading the command line."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading

MOST_NEW_OBJECTS = 20_000
"""Made before Python looks for garbage: what a start makes stays, and looking through it took a tenth of a command."""


def main() -> None:
    """Run the status line, or the command line, with which the process ends."""
    gc.set_threshold(MOST_NEW_OBJECTS)
    if sys.argv[1:] == ["statusline"]:
        from ctxweb.statusline import main as statusline

        sys.exit(statusline())
    from ctxweb.cli import main as command_line

    try:
        command_line()
    except SystemExit as ended:
        if isinstance(ended.code, int) and not _others():
            _end(ended.code)
        raise


def _others() -> bool:
    return any(not one.daemon for one in threading.enumerate() if one is not threading.main_thread())


def _end(status: int) -> None:
    """End at once, when what waits for the end is done: taking a session apart took a tenth of a second."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            return  # it is gone or closed: Python says so itself, or says nothing
    os._exit(status)
