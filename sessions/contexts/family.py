"""A session's sub-agents and the session that started it, with the message whose call did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from sessions import selectors
from sessions.contexts.overview import overview

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
    return StartedBy(message, base if message is None else f"{base}?m={message}#m-{message}")


def _callers(view: Overview) -> dict[str, int]:
    """Message index by the id of the tool call it makes."""
    return {call: message.index for message in view.messages for call in message.call_ids()}
