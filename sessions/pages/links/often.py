"""How often a visitor's address does something with a link: counted by the server, forgotten after a while."""

from __future__ import annotations

from django.http import HttpRequest

from ctxweb.address import network
from sessions.adapters.memory import ask
from sessions.models import ReplayLink


def count(what: str, request: HttpRequest, link: ReplayLink, seconds: int) -> int:
    """How often the visitor's address has done ``what`` with the link in the last ``seconds``, this time included."""
    return int(ask("count", _key(what, request, link), seconds))


def counted(what: str, request: HttpRequest, link: ReplayLink) -> int:
    """How often it was done so far."""
    return int(ask("counted", _key(what, request, link)))


def forgive(what: str, request: HttpRequest, link: ReplayLink) -> None:
    """Count from the beginning again."""
    ask("forgive", _key(what, request, link))


def _key(what: str, request: HttpRequest, link: ReplayLink) -> str:
    return f"link-{what}:{link.token_hash}:{network(request.META.get('REMOTE_ADDR', ''))}"
