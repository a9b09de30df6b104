"""What became of rules at a session's recorded compactions, worked out once per process and session."""

from __future__ import annotations

from sessions import selectors
from sessions.engine.quality.broken import RulesAfter, rules_after
from sessions.models import Session
from sessions.runs.overview import overview
from sessions.services.indexed import index_of

BY_ITSELF = 5_000
"""Messages of a session up to which a page reads them unasked: it reads every text."""


def rules_of(session: Session) -> tuple[RulesAfter, ...]:
    """One entry for each recorded compaction whose originals are in the session; raises UnreadableInput."""
    view = overview(session.pk)
    return view.once("rules", lambda: _read(session))


def _read(session: Session) -> tuple[RulesAfter, ...]:
    weighed = selectors.load_weighed(session.pk)
    if not weighed.transcript.compactions:
        return ()
    with selectors.load_texts(session) as texts:
        return rules_after(weighed, texts.of, index_of(session))
