"""A session's sub-agents, the session that started it, and the branches that rewinds left in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from sessions.engine.transcript.types import Branch
from sessions.models import Session
from sessions.pages.ui.addresses import message_place

if TYPE_CHECKING:
    from sessions.runs.overview import Overview


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


def children(found: Sequence[Session], view: Overview) -> tuple[Child, ...]:
    """The sub-agents of a session."""
    calls = _callers(view) if found else {}
    return tuple(Child(child, calls.get(child.parent_call_id)) for child in found)


def started_by(session: Session, parent: Overview | None) -> StartedBy | None:
    """Where ``session`` was started; None for one that no other session started."""
    if session.parent is None:
        return None
    base = reverse("sessions:session", args=[session.parent.pk])
    message = _callers(parent).get(session.parent_call_id) if parent and session.parent_call_id else None
    return StartedBy(message, message_place(base, message) or base)


def _callers(view: Overview) -> dict[str, int]:
    """Message index by the id of the tool call it makes."""
    return {call: message.index for message in view.messages for call in message.call_ids()}


@dataclass(frozen=True, slots=True)
class BranchChoice:
    """One branch of the selector; ``url`` is "" where it is beyond those that are stored."""

    words: str
    n_messages: int
    n_requests: int
    selected: bool
    url: str


def branch_choices(branches: Sequence[Branch], stored: Mapping[str, Session]) -> tuple[BranchChoice, ...]:
    """Every branch, the latest first; none to choose from where there is only one."""
    if len(branches) < 2:
        return ()
    return tuple(
        BranchChoice(
            branch.preview or branch.leaf, branch.n_messages, branch.n_requests, branch.selected,
            stored[branch.leaf].get_absolute_url() if branch.leaf in stored else "",
        )
        for branch in branches
    )  # fmt: skip
