"""The branches that rewinds left in a session, each with its own page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions import selectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.types import Branch
    from sessions.models import Session


@dataclass(frozen=True, slots=True)
class Choice:
    """One branch of the selector; ``url`` is "" where it is beyond those that are stored."""

    words: str
    n_messages: int
    n_requests: int
    selected: bool
    url: str


def choices(session: Session, branches: Sequence[Branch]) -> tuple[Choice, ...]:
    """Every branch, the latest first; one query where there is more than one."""
    if len(branches) < 2:
        return ()
    stored = selectors.branch_sessions(session)
    return tuple(
        Choice(
            branch.preview or branch.leaf, branch.n_messages, branch.n_requests, branch.selected,
            stored[branch.leaf].get_absolute_url() if branch.leaf in stored else "",
        )
        for branch in branches
    )  # fmt: skip
