"""How workers behind a shared broker are woken, by a message that says no more; without one no Celery is loaded."""

from __future__ import annotations

import logging

from django.conf import settings

log = logging.getLogger(__name__)


def wake(n_pieces: int = 1) -> None:
    """Tell the workers behind a shared broker of new work; one that is away loses nothing: their timers find it."""
    if not settings.CELERY_BROKER_URL:
        return
    from kombu.exceptions import OperationalError as BrokerUnreachable

    from sessions.messages import work

    try:
        for _ in range(n_pieces):
            work.delay()
    except BrokerUnreachable as error:
        log.warning("the broker does not answer (%s); workers find the work by themselves, later", error)
