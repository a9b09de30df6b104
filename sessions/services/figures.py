"""What each session adds to the figures over many: kept beside it, worked out once by each version of the rules.

Those of a long session are worked out with what its pages keep (``column_runs``), once it is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from sessions import selectors
from sessions.engine.base.errors import EngineError
from sessions.engine.sweeps.fleet.values import RULES, Part
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.models import CatchingUp, FiguresRun, Session, SessionFacts, SessionFigures, SessionQuerySet
from sessions.services import queue
from sessions.services.prices import prices_for

if TYPE_CHECKING:
    from sessions.engine.why.verdicts import Verdict

UNFINISHED = (CatchingUp.QUEUED, CatchingUp.RUNNING)
NAMED = tuple(f.name for f in fields(Part) if f.name not in ("model", "tried", "id"))
KEPT = ("rules", *NAMED, "tried")
WIDTHS = {"agent": 60, "client": 160, "project": 255, "week": 8}
"""Characters that the columns hold."""


def figures_of(session: Session, weighed: Weighed, verdicts: Sequence[Verdict] | None = None) -> SessionFigures:
    """The row of a session, not written yet."""
    from sessions.engine.sweeps.fleet.part import part_of

    part = part_of(weighed, verdicts, n_shared=session.n_shared_requests, prices=prices_for(weighed.model, kept=True))
    values: dict[str, Any] = {name: getattr(part, name) for name in NAMED}
    values["tokens_again"] = min(part.tokens_again, 2**63 - 1)
    for name, width in WIDTHS.items():
        values[name] = values[name].replace("\0", "\N{REPLACEMENT CHARACTER}")[:width]
    return SessionFigures(session_id=session.pk, rules=RULES, tried=[list(one) for one in part.tried], **values)


def keep(rows: Sequence[SessionFigures], later: Iterable[str] = ()) -> None:
    """Write rows in place of those that the sessions had; what these had whose figures come ``later`` goes."""
    SessionFigures.objects.filter(session__in=list(later)).delete()
    SessionFigures.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["session"], update_fields=list(KEPT), batch_size=400
    )


def waiting() -> SessionQuerySet:
    """Sessions without figures of the present rules."""
    return Session.objects.latest_branches().filter(Q(figures__isnull=True) | ~Q(figures__rules=RULES))


def running() -> FiguresRun | None:
    """The run that catches up, whatever its state; None where there never was one."""
    return FiguresRun.objects.filter(rules=RULES).first()


def start() -> bool:
    """Queue the catching up where it is needed and not under way; whether it was queued."""
    n_total = waiting().count()
    if not n_total:
        return False
    fresh = {"state": CatchingUp.QUEUED, "n_done": 0, "n_total": n_total, "heartbeat_at": timezone.now()}
    with transaction.atomic():
        run, new = FiguresRun.objects.select_for_update().get_or_create(rules=RULES, defaults=fresh)
        if new or run.state in UNFINISHED:
            return new
        for name, value in (fresh | {"attempts": 0, "error": ""}).items():
            setattr(run, name, value)
        run.save()
        return True


def claim() -> queue.Claim[FiguresRun] | None:
    return queue.take(FiguresRun.objects.filter(rules=RULES))


def run_claimed(held: queue.Claim[FiguresRun]) -> None:
    """Work out what is missing; raises queue.Interrupted where the process is to end."""
    try:
        with queue.beating(held):
            n_failed = catch_up(lambda done, total: held.show(n_done=done, n_total=total))
    except queue.Superseded:
        return
    except queue.Interrupted:
        queue.give_back(held, **held.shown)
        raise
    error = f"{n_failed:,} could not be worked out: upload them again." if n_failed else ""
    state = CatchingUp.FAILED if n_failed else CatchingUp.DONE
    held.rows().update(state=state, error=error, worker="", phase="", **held.shown)


def catch_up(on_progress: Callable[[int, int], None]) -> int:
    """Work out what is missing, ``on_progress`` told (done, all); how many could not be."""
    ids = list(waiting().order_by("pk").values_list("pk", flat=True))
    n_failed = 0
    for n_done, pk in enumerate(ids):
        on_progress(n_done, len(ids))
        n_failed += not work_out(pk)
    on_progress(len(ids), len(ids))
    return n_failed


def work_out(pk: str) -> bool:
    """One session, if it is still there and waits; False where its facts cannot be read."""
    session = waiting().filter(pk=pk).first()
    if session is None:
        return True
    selectors.notice(session)
    try:
        row = figures_of(session, selectors.load_weighed(pk))
    except (EngineError, SessionFacts.DoesNotExist):
        return False
    with transaction.atomic():
        # It may have been deleted, or read again, meanwhile.
        same = Session.objects.select_for_update().filter(pk=pk, version=session.version).exists()
        if same:
            keep([row])
    return True
