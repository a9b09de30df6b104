"""Every table of every page: as many cells in each row as columns in its head, and a head over every column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.test.signals import template_rendered
from pytest_django import Settings

from sessions.models import ReplayLink, Session, Upload
from sessions.services.links import Terms, create_link
from tests.arch.repository import ROOT
from tests.engine.claude_lines import claude_session
from tests.fake_anthropic import FakeAnthropic, counted
from tests.services.families import HOME, project
from tests.services.packs import zipped
from tests.web.stored import demo_file, pressed, store
from tests.web.tables import faults, tables
from tests.web.test_link_frozen import older
from tests.web.test_quality_page import story

TEMPLATES = ROOT / "templates"
WITH_TABLES = {
    str(path.relative_to(TEMPLATES)): text
    for path in TEMPLATES.rglob("*.html")
    if "<table" in (text := path.read_text(encoding="utf-8"))
}
HEADLESS = {
    "sessions/library/empty.html", "sessions/uploads/_table.html", "sessions/uploads/report.html",
}  # fmt: skip
"""Templates of lists whose rows name themselves: files, folders."""
FRAGMENTS = {"sessions/library/_session_next.html", "sessions/uploads/_form.html"}
"""Templates that wrap rows for htmx, or are filled by a script."""
ADDRESSES = (
    "", "?tab=sizes", "m/12/", "why/", "why/rules/", "count/", "share/removed/", "share/?view=session",
    "share/file/?window=20,000&policy=sliding_window",
    "replay/?window=20,000&policy=sliding_window", "replay/?window=20,000&policy=sliding_window&request=20",
    "replay/?window=20,000&policy=claude_code&fail=always", "replay/?policy=layered_v2&window=20,000&event=0",
    "compare/ab/?window=20,000&policy=sliding_window&b.policy=none",
    "quality/?policy=sliding_window&window=20,000&whole=1", "quality/?of=recorded&whole=1&find=computeGrandTotal",
    "compare/?policy=sliding_window&over=window:20000:60000:4", "compare/?policy=claude_code&over=pct_override:20:80:3"
    "&over=window:20000:60000:3",
)  # fmt: skip


@pytest.fixture
def rendered() -> Iterator[set[str]]:
    """Names of the templates that were rendered, those included by others among them."""
    names: set[str] = set()

    def note(template: Any, **_: Any) -> None:
        names.add(str(template.name))

    template_rendered.connect(note)
    yield names
    template_rendered.disconnect(note)


def test_every_table_has_a_head() -> None:
    """Each list without one is named above."""
    found = {name for name, text in WITH_TABLES.items() for part in text.split("<table")[1:] if "<thead" not in part}
    assert found == HEADLESS | FRAGMENTS


@pytest.fixture
def counting(settings: Settings, tmp_path: Path, fake_anthropic: FakeAnthropic) -> None:
    """A provider that counts, and a store."""
    settings.MEDIA_ROOT, settings.ANTHROPIC_BASE_URL = tmp_path / "blobs", fake_anthropic.base_url
    fake_anthropic.decide = lambda _: counted(100)


@pytest.mark.usefixtures("counting", "db")
def test_every_row_is_as_wide_as_its_head(client: Client, rendered: set[str], settings: Settings) -> None:
    """All tables of all pages; a template with a table that no address here shows fails the test as well."""
    pages = {"/": client.get("/").content.decode()}
    archive = zipped({"lossy.jsonl": story().encode(), "cut.jsonl": pressed(4)[:-40], "notes.txt": b"nothing"})
    mailed = pressed().replace(b"output 3:", b"me@example.org:")
    stored = [store(mailed), store(claude_session(60).encode(), "slow.jsonl")]
    client.post("/uploads/", {"files": SimpleUploadedFile("two.zip", archive)})
    stored += Session.objects.filter(title__startswith="Fix the total")
    client.post("/settings/key/", {"key": "sk-ant-x"})
    for session in stored:
        client.post(f"/s/{session.pk}/save/?policy=pi", {"name": "One"})
        client.post(f"/s/{session.pk}/share/?view=session", {"title": "Look"})
    addresses = [f"/s/{session.pk}/{tail}" for session in stored for tail in ADDRESSES]
    addresses += [f"/uploads/{upload.pk}/" for upload in Upload.objects.all()]
    addresses += [f"/uploads/status/?ids={Upload.objects.all()[0].pk}", "/", "/settings/", "/saved/", "/fleet/"]
    several = "&".join(f"s={session.pk}" for session in stored[:2])
    addresses += [f"/sweep/?policy=sliding_window&over=window:20000:60000:3&{several}", f"/delete/?{several}"]
    pages |= {address: client.get(address).content.decode() for address in addresses}
    whole = store(demo_file(), "demo.jsonl")
    across = f"/sweep/?policy=claude_code&over=pct_override=40:100:7&losses=on&s={whole.pk}&s={stored[1].pk}"
    pages["held"] = client.get(across).content.decode()
    pages["causes"] = client.get(f"/s/{whole.pk}/causes/", headers={"HX-Request": "true"}).content.decode()
    store(zipped(project()), "projects.zip")
    home = Session.objects.get(native_id=HOME)
    types = f"/s/{home.pk}/compare/?policy=claude_code&over=pct_override=40:80:3"
    pages["types"] = client.get(types).content.decode()
    pages["count"] = client.post(f"/s/{stored[0].pk}/count/").content.decode()
    made = client.post(f"/s/{stored[0].pk}/share/?view=session", {"title": "Again"}).content.decode()
    token = re.search(r"/l/([\w-]+)/", made)
    assert token is not None
    pages["link"] = client.get(f"/l/{token[1]}/removed/").content.decode()
    terms = Terms(takes_replies=True)
    replied = create_link(session=stored[0], view="replay", state="policy=sliding_window&window=20000", terms=terms)
    pages["reply"] = client.get(f"/l/{replied.token}/reply/").content.decode()
    query = "view=replay&policy=sliding_window&window=20000"
    made = client.post(f"/s/{stored[0].pk}/share/?{query}", {"title": "Kept"}).content.decode()
    older(ReplayLink.objects.latest("pk"), n_events=99)
    token = re.search(r"/l/([\w-]+)/", made)
    assert token is not None
    pages["kept"] = client.get(f"/l/{token[1]}/").content.decode()
    settings.REQUIRE_LOGIN = True
    client.force_login(User.objects.create_user("carol", is_superuser=True))
    pages["invite"] = client.post("/people/invite/", {"hint": "Dora"}).content.decode()
    pages["token"] = client.post("/settings/tokens/", {"name": "CI", "scopes": ["read"]}).content.decode()
    pages["api"] = client.get("/api/").content.decode()
    pages["who"] = client.get(f"/s/{stored[0].pk}/who/").content.decode()
    assert {fault for html in pages.values() for table in tables(html) for fault in faults(table)} == set()
    assert set(WITH_TABLES) - FRAGMENTS - rendered == set()


@pytest.mark.parametrize(
    ("html", "n"),
    [
        ("<thead><tr><th>A<th>B</tr></thead><tr><td>1<td>2</tr>", 0),
        ("<thead><tr><th>A<th>B</tr></thead><tr><td colspan=3>1</tr>", 1),
        ("<thead><tr><th>A<th></tr></thead><tr><td>1<td>2</tr>", 1),
        ("<thead><tr><th>A<th></tr></thead><tr><td>1<td></tr>", 0),
        ("<thead><tr><th rowspan=2>A<th colspan=2>B</tr><tr><th>b<th>c</tr></thead><tr><td>1<td>2<td>3</tr>", 0),
        ("<thead><tr><th>A<th>B</tr></thead><tr><td rowspan=2>1<td>2</tr><tr><td>2<td>3</tr>", 1),
        ("<tr><td>1<td>2</tr><tr><td>1</tr>", 1),
    ],
)
def test_a_fault_is_found(html: str, n: int) -> None:
    [table] = tables(f"<table>{html}</table>")
    assert len(faults(table)) == n
