"""The request id of log lines.  Logging is configured before Django's apps load, so this imports neither."""

from __future__ import annotations

import logging
from contextvars import ContextVar

request_id: ContextVar[str] = ContextVar("request_id", default="-")
"""The id of the request that this thread serves."""


class RequestIdFilter(logging.Filter):
    """Gives every log record the id of the request being served, ``-`` outside of one."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add ``request_id``; let everything pass."""
        record.request_id = request_id.get()
        return True
