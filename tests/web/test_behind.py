"""Behind a proxy: the site's own path is taken off once, and a known proxy names the visitor's address."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from ctxweb.front import visited


def asked(path: str = "/", named: str | None = None) -> dict[str, str]:
    forwarded = {} if named is None else {"HTTP_X_FORWARDED_FOR": named}
    return visited({"PATH_INFO": path, "REMOTE_ADDR": "127.0.0.1", **forwarded})


@pytest.mark.parametrize(
    ("prefix", "path", "below"),
    [
        (None, "/ctx/login/", "/ctx/login/"),
        ("/ctx", "/ctx/login/", "/login/"),
        ("/ctx", "/login/", "/login/"),
        ("/ctx", "/ctx", "/"),
        ("/ctx", "/ctx/", "/"),
        ("/ctx", "/ctxweb/", "/ctxweb/"),
        ("/tools/ctx", "/tools/ctx/l/abc/", "/l/abc/"),
        ("/caf%C3%A9", "/caf\xc3\xa9/login/", "/login/"),
        # paths of our own: only a proxy that takes them off is understood
        ("/s", "/s/s_aaaaaaaaaaaa/", "/s/s_aaaaaaaaaaaa/"),
        ("/l", "/l/abc/", "/l/abc/"),
        ("/static", "/static/css/a.css", "/static/css/a.css"),
    ],
)
def test_the_site_s_own_path_is_taken_off_once(settings: Settings, prefix: str | None, path: str, below: str) -> None:
    settings.FORCE_SCRIPT_NAME = prefix
    assert asked(path)["PATH_INFO"] == below


@pytest.mark.parametrize(
    ("proxies", "named", "visitor"),
    [
        (0, "192.0.2.7", "127.0.0.1"),
        (1, None, "127.0.0.1"),
        (1, "192.0.2.7", "192.0.2.7"),
        (1, "198.51.100.1, 192.0.2.7", "192.0.2.7"),
        (2, "198.51.100.1, 192.0.2.7", "198.51.100.1"),
        (2, "192.0.2.7", "127.0.0.1"),
        (1, "2001:db8::1", "2001:db8::1"),
        (1, "unknown", "127.0.0.1"),
        (1, "<script>", "127.0.0.1"),
        (1, "192.0.2.7:51234", "192.0.2.7"),
        (1, "[2001:db8::1]:51234", "2001:db8::1"),
        (1, "[2001:db8::1]", "2001:db8::1"),
        (1, "2001:db8::1:443", "2001:db8::1:443"),
        (1, "198.51.100.1:1, [2001:db8::1]:2", "2001:db8::1"),
        (2, "198.51.100.1:1,\t192.0.2.7:2 ", "198.51.100.1"),
        (1, "192.0.2.7:", "127.0.0.1"),
        (1, "192.0.2.7:port", "127.0.0.1"),
        (1, "192.0.2.7:123456", "127.0.0.1"),
        (1, "[192.0.2.7]:80", "127.0.0.1"),
        (1, "[2001:db8::1", "127.0.0.1"),
        (1, "[2001:db8::1]x", "127.0.0.1"),
        (1, "fe80::1%eth0", "127.0.0.1"),
        (1, "[fe80::1%eth0]:80", "127.0.0.1"),
        (1, "192.0.2.7\r\n", "127.0.0.1"),
        (1, "198.51.100.1\r\n 192.0.2.7", "127.0.0.1"),
        (1, "\n192.0.2.7", "127.0.0.1"),
        (1, "192.0.2.7,", "127.0.0.1"),
        (1, "\u0661.1.1.1", "127.0.0.1"),
    ],
)
def test_a_visitor_s_address_is_what_a_known_proxy_names(
    settings: Settings, proxies: int, named: str | None, visitor: str
) -> None:
    settings.PROXIES = proxies
    assert asked(named=named)["REMOTE_ADDR"] == visitor
