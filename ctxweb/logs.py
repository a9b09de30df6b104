"""The request id of log lines, and addresses without tokens; loaded before Django's apps, so it imports neither."""

from __future__ import annotations

import logging
import re
from contextvars import ContextVar

request_id: ContextVar[str] = ContextVar("request_id", default="-")
"""The id of the request that this thread serves."""


class RequestIdFilter(logging.Filter):
    """Gives every log record the id of the request being served, ``-`` outside of one."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add ``request_id``; let everything pass."""
        record.request_id = request_id.get()
        return True


class HideTokens(logging.Filter):
    """Takes the token out of the address of a replay link or an invitation: whoever reads logs could use it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Cut ``/l/<token>`` down to ``/l/…``, ``/join/<token>`` alike; let everything pass."""
        message = record.getMessage()
        if "/l/" in message or "/join/" in message:
            record.msg, record.args = re.sub(r"/(l|join)/[^/\s?]+", r"/\1/…", message), ()
        return True
