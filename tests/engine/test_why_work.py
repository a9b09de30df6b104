"""The work of verdicts grows with the session, however many compactions it has."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from sessions.engine.why.verdicts import verdicts_of
from tests.why_cases.claude import claude

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed

MOST = 2.3
"""Times the work that a session of twice the length may take."""


def session_of(n_compactions: int) -> Weighed:
    """A compaction every twenty requests, two of three for the same tool's large results."""
    session = claude()
    for _ in range(n_compactions):
        session.turns(20, 7_500)
        session.compact()
    return session.turns(3, 300).weighed()


def calls(weighed: Weighed) -> int:
    """Calls of functions, and steps of generators, until the verdicts are there."""
    counted = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal counted
        counted += event == "call"

    sys.setprofile(count)
    try:
        verdicts_of(weighed)
    finally:
        sys.setprofile(None)
    return counted


def test_twice_the_compactions_are_twice_the_work() -> None:
    calls(session_of(2))
    small, large = calls(session_of(20)), calls(session_of(40))
    assert large <= MOST * small, (small, large)
