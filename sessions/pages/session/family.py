"""A session's sub-agents, the session that started it, and the branches that rewinds left in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sessions.engine.transcript.types import Branch
from sessions.models import Session

if TYPE_CHECKING:
    from sessions.runs.overview import Overview


def children(found: Sequence[Session], view: Overview) -> tuple[tuple[Session, int | None], ...]:
    """The sub-agents of a session, each with the message that started it, None where it is not known."""
    calls = _callers(view) if found else {}
    return tuple((child, calls.get(child.parent_call_id)) for child in found)


def started_by(session: Session, parent: Overview | None) -> int | None:
    """The parent's message that started a session, None where it is not known."""
    return _callers(parent).get(session.parent_call_id) if parent and session.parent_call_id else None


def _callers(view: Overview) -> dict[str, int]:
    """Message index by the id of the tool call it makes."""
    return {call: message.index for message in view.messages for call in message.call_ids()}


def branch_choices(branches: Sequence[Branch], stored: Mapping[str, Session]) -> tuple[tuple[Branch, str], ...]:
    """Every branch, the latest first, with where it is, "" where it is not stored; none where there is only one."""
    if len(branches) < 2:
        return ()
    return tuple((one, stored[one.leaf].get_absolute_url() if one.leaf in stored else "") for one in branches)
