"""Whose key a call uses: the installation's from the environment, else the one this browser session gave.

A key given on the settings page is kept in the server's memory alone (``adapters.memory``), under a random handle that
only the cookie's session knows.  It is never written to the database, the disk, a log or a page (docs/decisions/0008).
"""

from __future__ import annotations

import hashlib
import secrets
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

from sessions.adapters.anthropic_client import Access
from sessions.adapters.memory import SharedBucket, ask
from sessions.engine.base.errors import BadParameter

HANDLE = "model_key"
"""Where a browser session keeps the handle of its key."""


def keep_key(key: str) -> str:
    """Hold a pasted key; returns the handle to ask for it by.  Raises BadParameter for what cannot be a key."""
    plain = key.strip()
    if not 8 <= len(plain) <= 500 or not plain.isascii() or not plain.isprintable() or " " in plain:
        raise BadParameter("A key is one line of 8 to 500 letters, digits and signs, such as sk-ant-….")
    handle = secrets.token_urlsafe(16)
    ask("keep_key", handle, plain)
    return handle


def forget_key(handle: str) -> None:
    ask("forget_key", handle)


def request_access(request: HttpRequest) -> Access | None:
    """The access of whoever sent the request."""
    return access_for(request.session.get(HANDLE, ""))


def key_facts(request: HttpRequest) -> dict[str, Any]:
    """What a page says beside a button that calls a model: whether there is a key, and where it would send to."""
    return {"has_key": request_access(request) is not None, "host": urlsplit(settings.ANTHROPIC_BASE_URL).netloc}


def forget_at_sign_out(request: HttpRequest | None, **_: Any) -> None:
    """Drop the key of a browser session that ends."""
    if request is not None:
        forget_key(request.session.pop(HANDLE, ""))


def access_for(handle: str = "") -> Access | None:
    """The access of whoever holds ``handle``: their own key first, else the environment's, else None."""
    key = ask("key", handle) if handle else None
    if key:
        return Access(key, settings.ANTHROPIC_BASE_URL, "page")
    return environment_access()


def environment_access() -> Access | None:
    """The installation's own access, None without ``ANTHROPIC_API_KEY``."""
    key = settings.ANTHROPIC_API_KEY
    return Access(key, settings.ANTHROPIC_BASE_URL, "environment") if key else None


def bucket(access: Access) -> SharedBucket:
    """The rate limit of a key in this server, by fingerprint: a key that was forgotten is nowhere."""
    return SharedBucket(hashlib.sha256(access.key.encode()).hexdigest(), settings.ANTHROPIC_PER_MINUTE)
