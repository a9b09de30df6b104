"""What a page weighs on the wire, in bytes: HTML, styles, scripts and pictures, compressed; fonts are left out."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.staticfiles import finders
from django.urls import reverse

from sessions.models import Session
from tests.every import EVERY
from tests.services.claude_lines import Lines
from tests.web.stored import store

if TYPE_CHECKING:
    from django.test import Client

pytestmark = pytest.mark.django_db

CHARTS = "vendor/plotly.min.js"
MOST = 400_000
"""Bytes of the demo's page in all, the script of the charts included (decision 17)."""
MOST_OWN = 90_000
"""Bytes of the demo's page without the script of the charts, which every page after the first has already."""
TURNS, MOST_LONG = (4_999, 150_000) if EVERY else (500, 40_000)
"""Tool turns of a long session, and what its pages may have: 10,000 messages where every value is asked for."""
STATIC = re.compile(r'(?:href|src)="/static/([^"]+\.(?:css|js|svg))"')
IMPORT = re.compile(r'(?:from|import\()\s*"\./([\w.-]+\.js)"')


@pytest.fixture(autouse=True)
def blobs(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"


def html(client: Client, url: str) -> tuple[str, int]:
    """A page, and its bytes on the wire."""
    response = client.get(url, headers={"Accept-Encoding": "gzip"})
    assert response["Content-Encoding"] == "gzip"
    return gzip.decompress(response.content).decode(), len(response.content)


def static_files(page: str) -> dict[str, int]:
    """Compressed bytes of every style, script and icon of a page, and of what its scripts import."""
    waiting, found = STATIC.findall(page), {}
    while waiting:
        name = waiting.pop()
        if name not in found:
            data = Path(str(finders.find(name))).read_bytes()
            found[name] = len(gzip.compress(data, 9))
            waiting += [f"js/{one}" for one in IMPORT.findall(data.decode())] if name.startswith("js/") else []
    return found


def test_the_demo_page_is_light(client: Client) -> None:
    client.post(reverse("sessions:demo"))
    page, n_html = html(client, Session.objects.get().get_absolute_url())
    files = static_files(page)
    assert {"js/app.js", "js/keys.js", "css/tokens.css", CHARTS} <= files.keys()
    pictures = set(re.findall(r'<img src="([^"]+)"', page))
    assert all(url.endswith("/small/") for url in pictures)
    n_pictures = sum(len(client.get(url).content) for url in pictures)
    assert n_pictures <= 10_000 * len(pictures)
    charts = files.pop(CHARTS)
    own = n_html + n_pictures + sum(files.values())
    assert own <= MOST_OWN, (n_html, n_pictures, files)
    assert own + charts <= MOST, (own, charts)


def test_the_pages_of_a_long_session_are_light(client: Client) -> None:
    lines = Lines().prompt("Count to ten thousand")
    for number in range(TURNS):
        lines.turn(f"result {number}: {number * 7919 % 1009} of them, {'more ' * (number % 9)}")
    session = store(lines.bytes())
    assert session.n_messages > 2 * TURNS
    for page in ("", "replay/", "transcript/"):
        _, n_html = html(client, f"{session.get_absolute_url()}{page}")
        assert n_html <= MOST_LONG, page
