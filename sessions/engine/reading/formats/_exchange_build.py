"""Transcripts from conversations that were captured request by request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sessions.engine.reading.formats._preview import stem_of
from sessions.engine.reading.formats._thread import session_of
from sessions.engine.reading.formats._values import Measured
from sessions.engine.transcript.types import Transcript

if TYPE_CHECKING:
    from sessions.engine.reading.formats._conversation import Conversation


def transcripts_of(
    conversations: Sequence[Conversation], format_name: str, name: str, measure: Measured
) -> tuple[Transcript, ...]:
    """One session per conversation; a file with several numbers them after its name."""
    stem = stem_of(name)
    found = []
    for number, known in enumerate(conversations):
        thread = known.finish()
        session = session_of(
            thread,
            id=stem if len(conversations) == 1 else f"{stem}.{number}",
            format=format_name,
            system=measure(known.system),
            trigger_at=known.trigger_at,
            warnings=_warnings(known),
        )
        models = Counter(known.models)
        stamps = [*(m.timestamp for m in session.messages), *(r.timestamp for r in session.requests)]
        times = [stamp for stamp in stamps if stamp is not None]
        model = models.most_common(1)[0][0] if models else ""
        found.append(
            replace(session, model=model, started_at=min(times, default=None), ended_at=max(times, default=None))
        )
    return tuple(found)


def _warnings(known: Conversation) -> tuple[str, ...]:
    n_dropped = sum(entry.dropped for entry in known.thread.entries)
    notes = list(known.notes)
    if known.trigger_at:
        notes.append(f"The request asks the server to compact above {known.trigger_at:,} tokens")
    if n_dropped:
        notes.append(
            f"Messages that a later request left out at the end (rewound or tried again): {n_dropped}, not counted"
        )
    if known.n_cleared:
        notes.append(f"Results cleared before recording: {known.n_cleared}; their content is not in this session")
    return tuple(notes)
