"""Who can open a link made now."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings

if TYPE_CHECKING:
    from django.http import HttpRequest


def link_host(request: HttpRequest) -> str:
    """The name or number of the machine in the address of a link made now."""
    return urlsplit(settings.PUBLIC_URL or f"//{request.get_host()}").hostname or ""


def reach(request: HttpRequest) -> str:
    """Who can open a link made now: "machine", "network" or "address"."""
    host = link_host(request)
    if host == "localhost":
        return "machine"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "address" if "." in host else "network"
    if address.is_loopback:
        return "machine"
    return "network" if address.is_private else "address"
