"""Starts this program anew, as a process beside this one."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any


def start(*words: str, env: dict[str, str] | None = None, **streams: Any) -> subprocess.Popen[bytes]:
    """``ctxweb`` with these words, in a session of its own and without input; ``env`` on top of this process's.

    The import path is handed on as it is: the child finds the same code whatever folder it starts in.
    """
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "ctxweb", *words], env={**os.environ, "PYTHONPATH": path, **(env or {})},
        stdin=subprocess.DEVNULL, start_new_session=True, **streams,
    )  # fmt: skip
