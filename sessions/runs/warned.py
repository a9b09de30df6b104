"""How often the warnings came true in the user's own recordings, worked out a few sessions at a time and kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from sessions import selectors
from sessions.engine.base.errors import EngineError
from sessions.engine.models.model_info import own_changes
from sessions.engine.quality.auroc import interval
from sessions.engine.quality.corpus import reading
from sessions.engine.quality.dose_tables import StudyUnit
from sessions.engine.quality.recorded import DEFAULT_CALLS, DEFAULT_DEFINITION, recorded_events
from sessions.engine.quality.study import Study, study, units_of
from sessions.models import Session
from sessions.runs.stored import StoredValues
from sessions.services.indexed import index_of

MOST_SESSIONS = 60
MOST_MESSAGES = 20_000
"""Of a session: a longer one takes longer than a request may, so it is left out."""
SECONDS = 1.5
"""How long one request works; what is left is for the next."""

Facts = tuple[int, int, tuple[tuple[str, str], ...]]
_whole: dict[Facts, WarningStudy] = {}
"""The last result that was whole: its interval is a thousand resamples."""
_lock = threading.Lock()


class Refetches:
    """Dropped results that were fetched again, of how many, with the 95% interval."""

    def __init__(self, result: Study, *, warned: bool) -> None:
        bins = [group for group in result.tables[0].doses if (group.low > 0) is warned]
        self.n_again, self.n = sum(group.n_again for group in bins), sum(group.n for group in bins)
        self.interval = interval(self.n_again, self.n)


class WarningStudy:
    """Results with a warning against those without; ``n_left`` sessions wait, ``n_long`` exceed ``MOST_MESSAGES``."""

    n_calls = DEFAULT_CALLS

    def __init__(self, known: Sequence[tuple[tuple[StudyUnit, ...], int]], *, n_left: int, n_long: int) -> None:
        self.n_sessions, self.n_left, self.n_long = len(known), n_left, n_long
        self.n_compactions = sum(n for _, n in known)
        result = study([units for units, _ in known], DEFAULT_DEFINITION, DEFAULT_CALLS, self.n_compactions)
        self.warned, self.others = Refetches(result, warned=True), Refetches(result, warned=False)
        self.reading = reading(result)


def warned_here() -> WarningStudy:
    """What the study says of the newest sessions with recorded compactions, as far as it is worked out."""
    newest = selectors.compacted_sessions(MOST_SESSIONS)
    sessions = [one for one in newest if one.n_messages <= MOST_MESSAGES]
    facts: Facts = own_changes(), len(newest) - len(sessions), tuple((one.pk, one.version) for one in sessions)
    with _lock:
        if facts in _whole:
            return _whole[facts]
    until = time.perf_counter() + SECONDS
    known = [units for one in sessions if (units := _units(one, until)) is not None]
    found = WarningStudy(known, n_left=len(sessions) - len(known), n_long=len(newest) - len(sessions))
    if not found.n_left:
        with _lock:
            _whole.clear()
            _whole[facts] = found
    return found


def _units(session: Session, until: float) -> tuple[tuple[StudyUnit, ...], int] | None:
    """A session's units and its compactions, as kept or worked out; None where time is up."""
    stored = StoredValues(session.pk, session.version, "warnings")
    if not stored.has("units") and time.perf_counter() > until:
        return None
    try:
        found = stored.value("units", lambda: _found(session), (StudyUnit,))
    except (EngineError, OSError):
        return (), 0
    stored.keep()
    return found


def _found(session: Session) -> tuple[tuple[StudyUnit, ...], int]:
    index, weighed = index_of(session), selectors.load_weighed(session.pk)
    return tuple(units_of(weighed, index)), len(recorded_events(weighed))
