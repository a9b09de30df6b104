"""Health endpoints: ``/healthz`` says that the process answers, ``/readyz`` that it can do its work."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

INTERVAL_SECONDS = 2.0
STALE_SECONDS = 15.0


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """200 while the process answers; touches nothing else."""
    return HttpResponse("ok\n", content_type="text/plain")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 with every part "ok", else 503 with the reason beside the part.

    Parts: ``database`` (answers, is migrated) and, without a shared broker, ``worker`` (its heartbeat).
    """
    parts = {"database": _database()}
    if not settings.CELERY_BROKER_URL:
        parts["worker"] = "ok" if is_beating(settings.WORKER_HEARTBEAT) else f"no heartbeat for {STALE_SECONDS:.0f} s"
    ready = set(parts.values()) == {"ok"}
    return JsonResponse({"ready": ready, **parts}, status=200 if ready else 503)


def _database() -> str:
    try:
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        return f"no answer: {type(error).__name__}"
    return f"{len(pending)} migrations pending" if pending else "ok"


def beat(path: Path) -> None:
    """Touch ``path`` again and again from a thread, for as long as this process lives."""
    threading.Thread(target=_beat, args=(path,), name="heartbeat", daemon=True).start()


def is_beating(path: Path) -> bool:
    """Whether ``path`` was touched in the last ``STALE_SECONDS`` (or, where the clock was set back, in the next)."""
    try:
        return abs(time.time() - path.stat().st_mtime) < STALE_SECONDS
    except OSError:
        return False


def _beat(path: Path) -> None:
    while True:
        path.touch()
        time.sleep(INTERVAL_SECONDS)
