"""What a proxy in front of ``ctxweb serve`` changes: the path of the site, and where visitors come from."""

from __future__ import annotations

import ipaddress
import re
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from django.conf import settings
from django.urls import URLResolver, get_resolver

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from django.urls import URLPattern

_WITH_PORT = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5}")
"""How proxies write an address with a port: [2001:db8::1]:443 (the port may be missing), 192.0.2.1:443."""


def visited(environ: dict[str, Any]) -> dict[str, Any]:
    """The WSGI environment as the application sees it: its path without the site's own, the visitor's address."""
    return {**environ, "PATH_INFO": _path(environ["PATH_INFO"]), "REMOTE_ADDR": _visitor(environ)}


def _path(path: str) -> str:
    """The path below the site's own (``CTXWEB_PUBLIC_URL``), whether or not a proxy has taken that off."""
    prefix = unquote_to_bytes(settings.FORCE_SCRIPT_NAME or "").decode("latin-1")
    if not prefix or prefix.split("/")[1] in _first_parts() or not f"{path}/".startswith(f"{prefix}/"):
        return path
    return path[len(prefix) :] or "/"


@cache
def _first_parts() -> frozenset[str]:
    """How paths of this site's pages begin: a site below such a path needs a proxy that takes it off."""
    return frozenset(route.partition("/")[0] for route in _routes(get_resolver().url_patterns, "")) | {"static"}


def _routes(patterns: Iterable[URLPattern | URLResolver], before: str) -> Iterator[str]:
    for one in patterns:
        route = f"{before}{one.pattern}"
        if isinstance(one, URLResolver):
            yield from _routes(one.url_patterns, route)
        else:
            yield route


def _visitor(environ: dict[str, Any]) -> str:
    """The address that asked the first of the known proxies (``CTXWEB_PROXIES``); what stands before it may be a lie.

    With or without a port.  The connection's own where there is no proxy, where the header does not name as many, and
    where what stands there is no address.
    """
    known: str = environ["REMOTE_ADDR"]
    named = environ.get("HTTP_X_FORWARDED_FOR", "").split(",")
    if not 0 < settings.PROXIES <= len(named):
        return known
    try:
        return str(_address(named[-settings.PROXIES].strip(" \t")))
    except ValueError:
        return known


def _address(entry: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The address of an entry; raises ValueError for anything else, such as one with a zone or a line break."""
    parts = _WITH_PORT.fullmatch(entry)
    if "%" in entry:
        raise ValueError("an interface of the proxy is no visitor's")
    if parts and parts[1]:
        return ipaddress.IPv6Address(parts[1])
    return ipaddress.ip_address(parts[2] if parts else entry)
