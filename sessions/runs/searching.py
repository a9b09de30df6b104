"""What a search answers programs: the API and ``ctxweb search --json``."""

from __future__ import annotations

from typing import Any

from sessions import selectors
from sessions.models import Session
from sessions.selectors.search import SessionHits, coverage

SCHEMA = "ctxweb.search/1"
MOST_ROWS = 100


def search_document(
    words: str, *, only: str = "", format: str = "", model: str = "", sort: str = "", start: int = 0, limit: int = 20
) -> dict[str, Any]:
    """``ctxweb.search/1``: sessions with the words, where they have them, and how much of the library was searched."""
    page = selectors.session_list(
        search=words, only=only, format=format, model=model, sort=sort, start=start, limit=min(limit, MOST_ROWS)
    )
    covered, found = coverage(), page.found
    return {
        "schema": SCHEMA,
        "query": words,
        "n_messages": found.n_messages if found else 0,
        "n_unread": found.n_unread if found else 0,
        "searchable": {name: getattr(covered, name) for name in ("n_searchable", "n_sessions", "n_problems")},
        "total": page.total,
        "offset": page.start,
        "sessions": [_entry(one, page.hits.get(one.pk)) for one in page.sessions],
    }


def _entry(session: Session, hits: SessionHits | None) -> dict[str, Any]:
    """One session; without a message where its title, model, id or file name has the words."""
    return {
        "id": session.pk,
        "title": session.title,
        "format": session.format,
        "model": session.model,
        "file": session.filename,
        "ended_at": session.ended_at.isoformat() if session.ended_at else None,
        "n_messages": hits.n_messages if hits else 0,
        "message": hits.message if hits else None,
        "snippet": "".join(piece.text for piece in hits.pieces) if hits else "",
        "path": f"{session.get_absolute_url()}{f'?m={hits.message}#m-{hits.message}' if hits else ''}",
    }
