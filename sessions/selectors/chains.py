"""Transcripts that go on from one another: agents whose summaries name the file that they were made of."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.db.models import Q

from sessions.engine.agents.agent import agents
from sessions.engine.transcript.types import Message
from sessions.models import Session, viewer

NAMED_FILE = re.compile(r"Transcript: (?:[^\]\s]*/)?([^\]/\s]+\.jsonl)\]")


def chained_formats() -> tuple[str, ...]:
    """Formats of agents whose summaries name the transcript that they were made of."""
    return tuple(name for agent in agents() if agent.is_chained for name in agent.formats)


@dataclass(frozen=True, slots=True)
class Chain:
    """The file a session goes on from, ``name`` "" for none, ``before`` None if not here; what goes on from it."""

    name: str
    before: Session | None
    after: tuple[Session, ...]


def chain(session: Session, first: Message | None) -> Chain | None:
    """Where a saved transcript stands among its neighbours; None for one that has none.  ``first`` is its message 0."""
    if session.format not in chained_formats() or first is None:
        return None
    named = NAMED_FILE.search(first.preview) if first.summary else None
    name = named[1] if named else ""
    found = Chain(name, _chained_before(name) if name else None, _chained_after(session))
    return found if name or found.after else None


def _chained_before(name: str) -> Session | None:
    """The session read from the transcript file called ``name`` by a pipeline that saved it before it compacted."""
    uploaded = Q(upload__filename=name) | Q(upload__filename__endswith=f"/{name}")
    named = (uploaded & Q(member="")) | Q(member=name) | Q(member__endswith=f"/{name}")
    mine = Session.objects.seen_by(viewer())
    return mine.filter(named, format__in=chained_formats()).order_by("-created_at").first()


def _chained_after(session: Session) -> tuple[Session, ...]:
    """Sessions whose first message is a summary that names this session's file, oldest first."""
    mine = Session.objects.seen_by(viewer()).exclude(pk=session.pk)
    named = mine.filter(format__in=chained_formats(), opening__contains=f"/{session.filename}]")
    return tuple(named.order_by("created_at")[:5])
