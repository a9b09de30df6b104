"""``ctxweb statusline``: one line for Claude Code's status line, from its JSON on standard input.

How full a running session is comes from that and from what its transcript gained since.  This runs at every change of
the status line, so it loads the standard library alone and remembers beside the data what it read: a call reads the new
bytes.  The threshold comes from the engine, once for a model, window and version.
"""

from __future__ import annotations

import json
import os
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

OVERRIDES = (
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "CLAUDE_CODE_AUTO_COMPACT_WINDOW", "DISABLE_AUTO_COMPACT", "DISABLE_COMPACT",
)  # fmt: skip
MOST_BYTES = 1_000_000
NOTHING_GIVEN = "ctxweb: no session on standard input. Claude Code's settings name this command as statusLine."


def main() -> int:
    """Print the line; 0 always: a status line that fails is blanked."""
    given = parsed(sys.stdin.buffer.read(MOST_BYTES))
    words = said(given) if isinstance(given, dict) else NOTHING_GIVEN
    sys.stdout.buffer.write(f"{words}\n".encode())
    return 0


def said(given: dict[str, Any]) -> str:
    """The line for what Claude Code hands over."""
    named, folder = given.get("transcript_path"), _folder()
    transcript = Path(named) if isinstance(named, str) and named else Path(os.devnull)
    state = read_new(transcript, folder)
    key = "|".join(map(str, (_model(given), _window(given), given.get("version"), *map(os.environ.get, OVERRIDES))))
    tokens = state["thresholds"].get(key)
    if tokens is None:
        tokens = _threshold(given)
        remember_threshold(transcript, folder, state, key, tokens)
    return line(given, state, tokens or None)


def _folder() -> Path:
    named = os.environ.get("CTXWEB_DATA")
    if named:
        return Path(named).expanduser()
    from ctxweb.env import data_path

    return data_path()


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

    return running_threshold(_model(given), _window(given), str(given.get("version") or ""), os.environ) or 0


KEPT_GROWTHS = 20
"""Requests of which the mean growth is the forecast's."""
FEWEST_GROWTHS = 3
UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
FOLDER = "live"


def read_new(transcript: Path, folder: Path) -> dict[str, Any]:
    """The state of a session after the lines that its transcript gained.

    ``context`` and ``output`` are the last request's, ``contexts`` those of the last requests since the last
    compaction, ``images`` the images since then, ``offset`` the bytes read.  A file that shrank is read anew; the last
    line is left while it is not ended.  What cannot be read gives what was known before.
    """
    kept = _memory(transcript, folder)
    state = _loaded(kept)
    try:
        size = transcript.stat().st_size
        if size < state["offset"]:
            state = _new()
        if size == state["offset"]:
            return state
        with transcript.open("rb") as file:
            file.seek(state["offset"])
            for line in file:
                if not line.endswith(b"\n"):
                    break
                state["offset"] += len(line)
                _take(state, line)
    except (OSError, ValueError):  # no such file, or a name that no file can have
        return state
    _keep(kept, state)
    return state


def measured(given: dict[str, Any], state: dict[str, Any]) -> int:
    """Tokens of the last request: what the client reports, else the transcript's last usage, else 0."""
    window = given.get("context_window")
    usage = window.get("current_usage") if isinstance(window, dict) else None
    told = _sum(usage) if isinstance(usage, dict) else 0
    return told or int(state["context"])


def forecast(state: dict[str, Any], left: int) -> int | None:
    """Requests until ``left`` tokens are used up at the mean growth; None where too few requests tell."""
    contexts: list[int] = state["contexts"]
    growths = [later - earlier for earlier, later in pairwise(contexts)]
    if len(growths) < FEWEST_GROWTHS or sum(growths) <= 0:
        return None
    return max(0, round(left * len(growths) / sum(growths)))


def line(given: dict[str, Any], state: dict[str, Any], threshold: int | None) -> str:
    """One line: the context, tokens until the compaction, requests until then, images that could go."""
    context = measured(given, state)
    if not context:
        return "Context: no request yet"
    parts = [f"Context {context:,} tokens"]
    if threshold:
        left = threshold - context - int(state["output"])
        parts[0] += f" ({100 * context / threshold:.0f}% of {threshold:,})"
        requests = forecast(state, left)
        if left <= 0:
            parts.append("compacts at the next request (likely)")
        elif requests is not None:
            parts.append(f"compacts in about {requests:,} request{'' if requests == 1 else 's'}")
        else:
            parts.append(f"{left:,} left")
    if state["images"]:
        parts.append(f"{state['images']:,} image{'' if state['images'] == 1 else 's'} could go")
    return " · ".join(parts)


def parsed(written: bytes) -> Any:
    """JSON, None for what is none; the engine's own reader would take longer to load than this has."""
    try:
        return json.loads(written)  # noqa: TID251
    except (ValueError, RecursionError):
        return None


def _memory(transcript: Path, folder: Path) -> Path:
    return folder / FOLDER / f"{UNFIT.sub('-', str(transcript))[-150:]}.json"


def _new() -> dict[str, Any]:
    return {"offset": 0, "context": 0, "output": 0, "reply": "", "contexts": [], "images": 0, "thresholds": {}}


def _loaded(kept: Path) -> dict[str, Any]:
    try:
        found = parsed(kept.read_bytes())
    except OSError:
        return _new()
    fresh = _new()
    fits = isinstance(found, dict) and all(isinstance(found.get(key), type(value)) for key, value in fresh.items())
    return found if fits else fresh


def _keep(kept: Path, state: dict[str, Any]) -> None:
    try:
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(state), encoding="utf-8")
        part.replace(kept)
    except OSError:
        return  # a status line goes on without its memory


def remember_threshold(transcript: Path, folder: Path, state: dict[str, Any], key: str, tokens: int) -> None:
    """Keep a threshold for this session; ``key`` says for which model, window and settings."""
    state["thresholds"] = {key: tokens}
    _keep(_memory(transcript, folder), state)


def _take(state: dict[str, Any], written: bytes) -> None:
    """One line of the transcript: a boundary, images, or a reply with its usage (formats 5)."""
    if b"compact_boundary" not in written and b'"image"' not in written and b'"usage"' not in written:
        return
    row = parsed(written)
    if not isinstance(row, dict) or row.get("isSidechain"):
        return
    if row.get("subtype") == "compact_boundary":
        state.update(context=0, output=0, reply="", contexts=[], images=0)
        return
    message = row.get("message")
    if not isinstance(message, dict):
        return
    state["images"] += _images(message.get("content"))
    _take_usage(state, message, message.get("usage"))


def _take_usage(state: dict[str, Any], message: dict[str, Any], usage: Any) -> None:
    """The usage of a reply; several lines of one reply are one request, the last one stands."""
    context, output = (_sum(usage), _whole(usage.get("output_tokens"))) if isinstance(usage, dict) else (0, 0)
    if not context or message.get("model") == "<synthetic>":
        return
    if message.get("id") and message["id"] == state["reply"] and state["contexts"]:
        state["contexts"].pop()
    state.update(context=context, output=output, reply=str(message.get("id") or ""))
    state["contexts"] = [*state["contexts"], context][-KEPT_GROWTHS - 1 :]


def _images(content: Any) -> int:
    """Images among the blocks of a message and of its tool results."""
    if not isinstance(content, list):
        return 0
    blocks = [block for block in content if isinstance(block, dict)]
    return sum((block.get("type") == "image") + _images(block.get("content")) for block in blocks)


def _sum(usage: dict[str, Any]) -> int:
    return sum(_whole(usage.get(key)) for key in INPUT)


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
