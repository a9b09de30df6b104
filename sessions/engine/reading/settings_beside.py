"""Settings that an agent saves in a file beside a session: Mistral Vibe's ``meta.json`` (formats 21.1).

Looked for only beside a ``messages.jsonl`` that is read from its own folder; an upload has nothing beside it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from sessions.engine.base.limits import MAX_TOKENS
from sessions.engine.reading.formats._values import as_dict, as_list, count_of
from sessions.engine.reading.json_values import JsonProblem, loads
from sessions.engine.transcript.recorded_events import EventKind, RecordedEvent
from sessions.engine.transcript.types import Parsed

SESSION, SETTINGS = "messages.jsonl", "meta.json"
MAX_BYTES = 4_000_000


def noted_settings(parsed: Parsed, file: BinaryIO) -> Parsed:
    """The same, its one session with the threshold and the count that the file beside it gives."""
    held = _beside(getattr(file, "name", None)) if len(parsed.transcripts) == 1 else {}
    config, stats = as_dict(held.get("config")), as_dict(held.get("stats"))
    active = [
        one for one in map(as_dict, as_list(config.get("models"))) if one.get("alias") == config.get("active_model")
    ]
    own = next((n for one in active if (n := count_of(one.get("auto_compact_threshold")))), 0)
    at, size = own or count_of(config.get("auto_compact_threshold")), count_of(stats.get("context_tokens"))
    if not 0 < at <= MAX_TOKENS:
        return parsed
    words = f"by the settings saved with it, it compacts at {at:,} tokens"
    words += f", and its own count at the end is {size:,}" if 0 < size <= MAX_TOKENS else ""
    transcript = parsed.transcripts[0]
    event = RecordedEvent(EventKind.SETTINGS, 0, 0, words)
    return replace(parsed, transcripts=(replace(transcript, events=(event, *transcript.events)),))


def _beside(name: Any) -> dict[str, Any]:
    """What the settings' file in the folder of a session holds; {} where there is none."""
    path = Path(name) if isinstance(name, str) else None
    if path is None or path.name != SESSION:
        return {}
    try:
        with path.with_name(SETTINGS).open("rb") as stream:
            return as_dict(loads(stream.read(MAX_BYTES)))
    except (OSError, JsonProblem):
        return {}
