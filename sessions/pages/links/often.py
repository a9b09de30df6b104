"""How often a visitor's address does something with a link: counted in this process, forgotten after a while."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.cache import caches

if TYPE_CHECKING:
    from django.http import HttpRequest

    from sessions.models import ReplayLink


def count(what: str, request: HttpRequest, link: ReplayLink, seconds: int) -> int:
    """How often the visitor's address has done ``what`` with the link in the last ``seconds``, this time included."""
    cache, key = caches["counts"], _key(what, request, link)
    cache.add(key, 0, seconds)
    try:
        return int(cache.incr(key))
    except ValueError:  # its time ended just now
        cache.set(key, 1, seconds)
        return 1


def counted(what: str, request: HttpRequest, link: ReplayLink) -> int:
    """How often it was done so far."""
    return int(caches["counts"].get(_key(what, request, link), 0))


def forgive(what: str, request: HttpRequest, link: ReplayLink) -> None:
    """Count from the beginning again."""
    caches["counts"].delete(_key(what, request, link))


def _key(what: str, request: HttpRequest, link: ReplayLink) -> str:
    return f"link-{what}:{link.token_hash}:{request.META.get('REMOTE_ADDR', '')}"
