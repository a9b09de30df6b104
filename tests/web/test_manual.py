"""The documentation under /docs/: what is built is served, each page with a policy of its own."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from tests.arch.repository import ROOT

pytestmark = pytest.mark.django_db

SCRIPT = "document.title"


@pytest.fixture
def site(tmp_path: Path, settings: Settings) -> Path:
    (tmp_path / "site/guides").mkdir(parents=True)
    (tmp_path / "secret.html").write_text("<p>secret")
    (tmp_path / "site/index.html").write_text(f"<h1>Start</h1><script>{SCRIPT}</script><script src=a.js></script>")
    (tmp_path / "site/guides/index.html").write_text("<h1>Guides</h1>")
    (tmp_path / "site/a.js").write_text("1")
    settings.DOCS = tmp_path / "site"
    return tmp_path / "site"


def test_pages_and_files_are_served(client: Client, site: Path) -> None:
    start = client.get("/docs/")
    assert b"<h1>Start</h1>" in start.content
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}'" in start["Content-Security-Policy"]
    assert "unsafe-inline" not in start["Content-Security-Policy"].partition("script-src")[2].partition(";")[0]
    assert b"Guides" in client.get("/docs/guides/").content
    assert client.get("/docs/guides")["Location"] == "/docs/guides/"
    file = client.get("/docs/a.js")
    assert file.getvalue() == b"1"
    assert "javascript" in file["Content-Type"]


NAMES = ("nothing/", "x" * 5_000, "a%00b", "../secret.html", "%2e%2e/secret.html",
         "guides/../../secret.html")  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_nothing_else_is(client: Client, site: Path, name: str) -> None:
    found = client.get(f"/docs/{name}")
    assert found.status_code in (301, 302, 404)
    assert b">secret" not in found.content


@pytest.fixture
def unbuilt(tmp_path: Path, settings: Settings) -> None:
    settings.DOCS = tmp_path / "nowhere"


@pytest.mark.usefixtures("unbuilt")
def test_where_no_site_is_built_every_page_of_it_is_shown_from_its_markdown(client: Client) -> None:
    """From the start page every document and every image is reached, and nothing leads nowhere."""
    ahead, seen = ["/docs/"], set[str]()
    while ahead:
        address = ahead.pop()
        seen.add(address)
        found = client.get(address)
        assert found.status_code == 200, address
        if found["Content-Type"].startswith("text/html"):
            main = found.content.decode().partition("<article")[2].partition("</article>")[0]
            led = {html.unescape(one).partition("#")[0] for one in re.findall(r'(?:href|src)="(/[^"#]+)', main)}
            ahead += led - seen - set(ahead)
        else:
            found.close()
    assert {"/docs/", "/docs/guides/find-why/", "/docs/glossary/", "/docs/rules/", "/docs/images/replay.png"} <= seen


@pytest.mark.usefixtures("unbuilt")
@pytest.mark.parametrize("name", NAMES)
def test_nothing_else_is_shown_from_markdown(client: Client, name: str) -> None:
    assert client.get(f"/docs/{name}").status_code in (301, 302, 404)


def test_the_help_says_what_the_glossary_says(client: Client) -> None:
    """One statement of each word: the dialog prints the table's own sentences."""
    text = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    page = html.unescape(client.get("/settings/").content.decode())
    for word in ("compaction", "trigger", "threshold", "overcount ×1,540"):
        meaning = re.search(rf"^\| {word} \| (.*) \|$", text, re.MULTILINE)
        assert meaning is not None
        assert f"<dt>{word}</dt><dd>{meaning[1]}</dd>" in page
