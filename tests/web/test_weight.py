"""What a page weighs on the wire, in bytes: HTML, styles, scripts and pictures, compressed; fonts are left out."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import reverse

from sessions.models import Session
from tests.engine.claude_lines import Lines as agent_lines
from tests.every import EVERY
from tests.services.claude_lines import Lines
from tests.web.stored import store

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


MOST_BYTES, MOST_NODES, MOST_POINTS = 1_000_000, 8_000, 2_000
"""What any page of any session may have: bytes before they are compressed, elements, points of a chart."""
HEAVY = 9_000 if EVERY else 3_000
"""Tool turns of a session that compacts after every sixth."""
PAGES = (
    "", "why/", "why/aftermath/", "why/aftermath/?start=150", "why/recorded/", "why/recorded/?start=450", "messages/",
    "transcript/", "replay/", "replay/?policy=none", "diff/", "compare/", "compare/ab/", "apply/", "share/", "m/6000/",
    "chart.json", "chart.json?from=500&to=900", "why/chart.json", "why/chart.json?from=500&to=900",
)  # fmt: skip
FIGURE = re.compile(r'<template id="[\w-]+figure">(.*?)</template>', re.DOTALL)


def points(figure: dict[str, Any]) -> int:
    """The most points of a trace."""
    return max((len(trace.get("x", ())) for trace in figure["data"]), default=0)


@pytest.mark.exhaustive
def test_no_page_of_a_session_with_very_many_messages_and_compactions_is_heavy(client: Client) -> None:
    lines = agent_lines()
    lines.prompt("Find out why the build is slow")
    for turn in range(HEAVY):
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "Read", "input": {"file_path": f"/m{turn % 9}.py"}}
        lines.reply(turn, {"type": "text", "text": f"Part {turn}"}, call)
        lines.result(f"toolu_{turn}", f"{turn}: compute({turn * 7919 % 1009})" * (turn % 9 + 1))
        if turn % 6 == 5:
            lines.compact("Every module is compiled twice.")
    session = store(lines.text().encode())
    assert (session.n_messages, session.n_compactions) == (HEAVY * 13 // 6 + 1, HEAVY // 6)
    for path in PAGES:
        answer = client.get(f"{session.get_absolute_url()}{path}")
        assert answer.status_code == 200, path
        text = answer.content.decode()
        assert len(answer.content) <= MOST_BYTES, path
        assert len(re.findall(r"<[a-z]", text)) <= MOST_NODES, path
        figures = [text] if "chart.json" in path else FIGURE.findall(text)
        for figure in figures:
            assert points(json.loads(figure)) <= MOST_POINTS, path
