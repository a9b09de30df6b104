"""A session's sub-agents, the session that started it, and the files before and after it in a chain of transcripts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from sessions import selectors
from sessions.contexts.overview import overview
from sessions.contexts.urls import message_place

if TYPE_CHECKING:
    from sessions.contexts.overview import Overview
    from sessions.models import Session


@dataclass(frozen=True, slots=True)
class Child:
    """A sub-agent; ``message`` is the index of the message that started it, None where it is not known."""

    session: Session
    message: int | None


@dataclass(frozen=True, slots=True)
class StartedBy:
    """The parent's message that started a session, None where it is not known, and its address."""

    message: int | None
    url: str


@dataclass(frozen=True, slots=True)
class Chain:
    """The file a session goes on from, by the name in its summary, and the sessions that go on from it.

    ``before`` is None where that file is not in the library, ``name`` is empty where the session is the first.
    """

    name: str
    before: Session | None
    after: tuple[Session, ...]


NAMED_FILE = re.compile(r"Transcript: (?:[^\]\s]*/)?([^\]/\s]+\.jsonl)\]")


def chain(session: Session, view: Overview) -> Chain | None:
    """Where a saved transcript stands among its neighbours; None for one that has none."""
    if session.format not in selectors.chained_formats() or not view.messages:
        return None
    first = view.messages[0]
    named = NAMED_FILE.search(first.preview) if first.summary else None
    name = named[1] if named else ""
    found = Chain(name, selectors.chained_before(name) if name else None, selectors.chained_after(session))
    return found if name or found.after else None


def children(session: Session, view: Overview) -> tuple[Child, ...]:
    """The sub-agents of ``session``, in file order."""
    found = selectors.child_sessions(session)
    calls = _callers(view) if found else {}
    return tuple(Child(child, calls.get(child.parent_call_id)) for child in found)


def started_by(session: Session) -> StartedBy | None:
    """Where ``session`` was started; None for one that no other session started."""
    if session.parent is None:
        return None
    base = reverse("sessions:session", args=[session.parent.pk])
    message = _callers(overview(session.parent.pk)).get(session.parent_call_id) if session.parent_call_id else None
    return StartedBy(message, message_place(base, message) or base)


def _callers(view: Overview) -> dict[str, int]:
    """Message index by the id of the tool call it makes."""
    return {call: message.index for message in view.messages for call in message.call_ids()}
