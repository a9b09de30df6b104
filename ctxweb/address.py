"""Where to listen: whether an address is loopback, which port is free, which names lead there."""

from __future__ import annotations

import ipaddress
import socket

DEFAULT_PORT = 8400
PORTS_TRIED = 50


def is_loopback(host: str) -> bool:
    """True for 127.0.0.0/8, ::1 and the name localhost."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def free_port(host: str, first: int = DEFAULT_PORT) -> int:
    """The first of 50 ports from ``first`` that nobody listens on; raises OSError if all are taken."""
    for port in range(first, first + PORTS_TRIED):
        if is_free(host, port):
            return port
    raise OSError(f"no free port on {host} from {first} to {first + PORTS_TRIED - 1}")


def is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def url(host: str, port: int) -> str:
    """The address to open in a browser; a wildcard is opened on loopback."""
    return f"http://{in_url(reachable(host))}:{port}/"


def reachable(host: str) -> str:
    """An address that leads to a server listening on ``host``: loopback for a wildcard."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104


def shared_url(host: str, port: int) -> str:
    """The address under which others on the network reach a server that listens on ``host``."""
    return f"http://{in_url(outward() if reachable(host) != host else host)}:{port}/"


def outward() -> str:
    """This machine's address on the network (nothing is sent to learn it); loopback where there is no network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def in_url(host: str) -> str:
    """``host`` as a URL writes it: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def names_of(host: str) -> list[str]:
    """Host headers that a browser may send to a server on ``host``: itself, or this machine's for a wildcard."""
    if reachable(host) == host:
        return [in_url(host)]
    name = socket.gethostname()
    try:
        addresses = {str(info[4][0]) for info in socket.getaddrinfo(name, None)}
    except OSError:
        addresses = set()
    return [name, *sorted(in_url(address) for address in addresses)]


def network(host: str) -> str:
    """What one visitor has of addresses: an IPv4 address, the first of an IPv6 /64; else ``host`` as it is."""
    try:
        found = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is None:
            return str(ipaddress.IPv6Network((found, 64), strict=False).network_address)
        found = found.ipv4_mapped
    return str(found)
