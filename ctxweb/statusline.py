"""``ctxweb statusline``: one line for Claude Code's status line, from its JSON on standard input.

The threshold comes from the engine, once for a model, window and version; the calls after it load the standard library
alone.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from ctxweb import live

OVERRIDES = (
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "CLAUDE_CODE_AUTO_COMPACT_WINDOW", "DISABLE_AUTO_COMPACT", "DISABLE_COMPACT",
)  # fmt: skip
MOST_BYTES = 1_000_000
NOTHING_GIVEN = "ctxweb: no session on standard input. Claude Code's settings name this command as statusLine."


def main() -> int:
    """Print the line; 0 always: a status line that fails is blanked."""
    given = live.parsed(sys.stdin.buffer.read(MOST_BYTES))
    words = said(given) if isinstance(given, dict) else NOTHING_GIVEN
    sys.stdout.buffer.write(f"{words}\n".encode())
    return 0


def said(given: dict[str, Any]) -> str:
    """The line for what Claude Code hands over."""
    named, folder = given.get("transcript_path"), _folder()
    transcript = Path(named) if isinstance(named, str) and named else Path(os.devnull)
    state = live.read_new(transcript, folder)
    key = _key(given)
    tokens = state["thresholds"].get(key)
    if tokens is None:
        tokens = _threshold(given)
        live.remember_threshold(transcript, folder, state, key, tokens)
    return live.line(given, state, tokens or None)


def _folder() -> Path:
    named = os.environ.get("CTXWEB_DATA")
    if named:
        return Path(named).expanduser()
    from ctxweb.env import data_path

    return data_path()


def _key(given: dict[str, Any]) -> str:
    return "|".join(map(str, (_model(given), _window(given), given.get("version"), *map(os.environ.get, OVERRIDES))))


def _model(given: dict[str, Any]) -> str:
    model = given.get("model")
    name = model.get("id") if isinstance(model, dict) else model
    return name if isinstance(name, str) else ""


def _window(given: dict[str, Any]) -> int | None:
    window = given.get("context_window")
    size = window.get("context_window_size") if isinstance(window, dict) else None
    return size if isinstance(size, int) and size > 0 else None


def _threshold(given: dict[str, Any]) -> int:
    """Where this client compacts, tokens; 0 where it does not, or where that cannot be told."""
    from sessions.engine.agents.claude_code import running_threshold

    version = given.get("version")
    return running_threshold(_model(given), _window(given), str(version or ""), os.environ) or 0
