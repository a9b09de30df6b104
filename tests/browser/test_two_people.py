"""Alice shares by link and by file; Bob, without an account, looks, moves, replies.

Alice is at the server's own address; Bob comes through a proxy at another one, which has the site below a path.
"""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import pytest
from PIL import Image

from ctxweb import address
from tests.browser.conftest import Visit
from tests.browser.test_whole_path import axe, upload
from tests.cli.proxy import in_front
from tests.cli.serving import FOREIGN, ROOT, Served, free_port, until
from tests.engine.claude_lines import claude_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.exhaustive

PASSWORD = "correct-horse-battery"
STATE = "policy=sliding_window&window=60000"
BELOW = "/tools/ctx"
"""The path that the site has at the proxy."""


class Both(NamedTuple):
    """Where Alice is, where Bob is, and the server's data folder."""

    alice: str
    bob: str
    data: Path


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """One server of a team: its own address, and that of the proxy, with which its links begin."""
    port, data = free_port(), tmp_path_factory.mktemp("data")
    front = address.free_port("127.0.0.2", port + 1)
    origins = f"http://127.0.0.1:{port}", f"http://127.0.0.2:{front}{BELOW}"
    running = Served(
        data, "--port", str(port), CTXWEB_PUBLIC_URL=origins[1], CTXWEB_PROXIES="1", CTXWEB_REQUIRE_LOGIN="1",
    )  # fmt: skip
    try:
        until(lambda: "ctxweb is at" in running.output or running.process.poll() is not None)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        environment |= {"CTXWEB_DATA": str(data), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "ctxweb", "user", "alice", "--password-stdin"]
        subprocess.run(command, input=f"{PASSWORD}\n", text=True, check=True, cwd=data, env=environment)
        with in_front("127.0.0.2", front, below=BELOW, of=port):
            yield Both(*origins, data)
    finally:
        running.stop()


def signed_in(chromium: Browser, origin: str) -> Visit:
    """Alice's browser."""
    visitor = Visit(chromium, origin, accept_downloads=True)
    visitor.page.goto("/login/")
    visitor.page.fill("[name=username]", "alice")
    visitor.page.fill("[name=password]", PASSWORD)
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_selector("#pick-files", state="attached", timeout=20_000)
    return visitor


def status_from(host: str, link: str) -> int:
    """The status of a link's answer to a visitor at another address of this machine."""
    parts = urlsplit(link)
    with closing(HTTPConnection(parts.hostname or "", parts.port, source_address=(host, 0), timeout=60)) as visitor:
        visitor.request("GET", parts.path)
        return visitor.getresponse().status


def figures(page: Page) -> tuple[str, str, int]:
    """What follows the slider: its place, the totals, the compactions."""
    return (
        page.locator("#try-now").inner_text(),
        page.locator("tr.mine").inner_text(),
        page.locator("tr[data-event]").count(),
    )


def saves_a_picture(page: Page, button: Locator) -> None:
    """A click downloads a PNG of a chart: wide, and of more than one colour."""
    with page.expect_download() as download:
        button.click()
    assert download.value.suggested_filename.endswith(".png")
    with Image.open(download.value.path()) as image:
        assert image.format == "PNG"
        assert min(image.size) > 300
        assert len(image.convert("RGB").getcolors(image.width * image.height) or ()) > 10
    assert download.value.path().stat().st_size > 10_000


PART_OF_THE_FORM = """() => new Promise((answered) => {
  const part = document.querySelector("#share-form").appendChild(document.createElement("div"));
  document.addEventListener("htmx:afterRequest", () => setTimeout(answered, 50), { once: true });
  window.htmx.ajax("GET", location.href, { source: part, target: part, swap: "delete" });
})"""
"""A part of the form that asks for something and is gone with the answer, as the list of what is removed does."""


def saves_what_is_right(page: Page, button: Locator) -> None:
    """A field that is wrong is said by the browser, and nothing is sent; what the server finds wrong is sent once."""
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    secret, remarks = page.get_by_label(re.compile("^Password")), page.get_by_label(re.compile("^One a line"))
    secret.fill("short")
    button.click()
    assert sent == []
    secret.fill("")
    page.get_by_text("Notes on single messages").click()
    remarks.fill("9999: look")
    button.click()
    page.wait_for_selector("#share-form [data-failure] >> text=There is no message 9,999")
    assert len(sent) == 1
    page.evaluate(PART_OF_THE_FORM)
    assert page.locator("#share-form [data-failure]").count() == 1, "another request's success says nothing of this one"
    remarks.fill("")
    saves_a_picture(page, button)
    assert page.locator("[data-failure]").count() == 0


def test_alice_shares_and_bob_answers(chromium: Browser, both: Both, tmp_path: Path) -> None:
    alice, bob = signed_in(chromium, both.alice), Visit(chromium, both.bob.removesuffix(BELOW))
    transcript = tmp_path / "slow-build.jsonl"
    transcript.write_text(claude_session(60), encoding="utf-8")
    page, his = alice.page, bob.page
    upload(page, transcript, "Never touch the lock file")
    session = page.url.split("?")[0]
    page.goto(f"{session}replay/?{STATE}")
    page.get_by_role("link", name="Share").click()
    page.get_by_label("Claim").fill("Too early?")
    page.get_by_text("A link for this machine alone").click()
    page.get_by_role("button", name="Make it").click()
    link = page.locator("#ln").input_value()
    assert link.startswith(f"{both.bob}/l/")

    assert his.goto(link).status == 200
    his.wait_for_selector("#saw .main-svg")
    assert axe(his) == []
    saves_a_picture(his, his.get_by_role("button", name="Chart, PNG"))
    first = figures(his)
    his.locator("#try-slider").focus()
    his.keyboard.press("Home")
    his.wait_for_selector("#try-back")
    his.wait_for_url(re.compile(r"/replay/\?.*compact_at=\d+"))
    his.wait_for_function("n => document.querySelectorAll('tr[data-event]').length !== n", arg=first[2])
    second = figures(his)
    assert [one != other for one, other in zip(first, second, strict=True)] == [True, True, True]
    assert f"At {second[0].split()[0]} instead of" in his.locator("#try-words").inner_text()
    his.get_by_role("link", name="Reply with my setting").click()
    his.get_by_label("Your name").fill("Bob")
    his.get_by_label("Note").fill("Cheaper")
    his.get_by_role("button", name="Send reply").click()
    his.wait_for_selector("#side-B .main-svg")
    assert his.get_by_text("A reply to “Too early?”").is_visible()
    assert axe(his) == []
    reply = his.url.split("?")[0]
    his.goto(f"{link}replay/?compact_at=20000")
    his.locator("#try-back").click()
    his.wait_for_selector("#try-back", state="detached")
    assert figures(his)[0] == first[0]
    his.get_by_role("link", name=re.compile("Full width")).click()
    his.wait_for_url(re.compile("/diff/"))
    his.locator(".diff-lists a[href*='/m/']").first.click()
    his.wait_for_selector(".passage")

    page.reload()
    page.goto(f"{session}share/?view=replay&{STATE}")
    assert page.get_by_text("Reply by Bob to “Too early?”").is_visible()
    page.get_by_role("link", name="Side by side").click()
    page.wait_for_selector("#saw-B .main-svg")
    page.goto(f"{session}share/?view=replay&{STATE}")
    row = page.locator("#links tr", has_text="Too early?").filter(has_not_text="Reply by")
    row.get_by_role("button", name="Revoke").click()
    page.wait_for_selector("text=ended with the first link")
    for gone in (link, reply):
        assert his.goto(gone).status == 404
    bob.complaints.clear()  # the console notes the 404s that were asked for
    for visitor in (alice, bob):
        visitor.is_clean()
        visitor.context.close()


def test_a_password_holds_and_a_file_needs_no_server(chromium: Browser, both: Both, tmp_path: Path) -> None:
    alice, bob = signed_in(chromium, both.alice), Visit(chromium, both.bob.removesuffix(BELOW))
    page, his = alice.page, bob.page
    transcript = tmp_path / "other-build.jsonl"
    other = (
        claude_session(60).replace("11111111-1111-4111", "22222222-2222-4222").replace("00000000-0000", "00000002-0000")
    )
    transcript.write_text(other, encoding="utf-8")  # of other ids: else it is the other test's session, grown
    upload(page, transcript, "Never touch the lock file")
    page.goto(f"{page.url.split('?')[0]}share/?view=replay&{STATE}")
    page.get_by_label(re.compile("^Password")).fill("correct-horse")
    page.get_by_text("A link for this machine alone").click()
    page.get_by_role("button", name="Make it").click()
    link = page.locator("#ln").input_value()
    his.goto(link)
    for word in ("wrong-horse", "correct-horse"):
        his.get_by_label("Password").fill(word)
        his.get_by_role("button", name="Open").click()
        his.wait_for_selector("[role=alert]" if word == "wrong-horse" else "#saw .main-svg")
    eve = Visit(chromium, both.bob.removesuffix(BELOW))
    hers = eve.page
    hers.goto(link)
    for _ in range(5):
        hers.get_by_label("Password").fill("wrong-horse")
        hers.get_by_role("button", name="Open").click()
        hers.wait_for_selector("[role=alert]")
    assert hers.goto(link).status == 429
    assert hers.get_by_text("Try again in 15 minutes").is_visible()
    assert status_from("127.0.0.3", link) == 401  # it is her address that waits
    assert his.goto(link).status == 200
    with closing(sqlite3.connect(both.data / "ctxweb.sqlite3", timeout=20)) as database, database:
        ended = "UPDATE agent_sessions_replaylink SET expires_at = '2026-01-01 00:00:00' WHERE password != ''"
        assert database.execute(ended).rowcount == 1
    assert his.goto(link).status == 404
    assert his.get_by_text("was revoked, has expired or never existed").is_visible()

    page.goto(f"{page.url.split('share/')[0]}share/?view=replay&{STATE}")
    saves_what_is_right(page, page.get_by_role("button", name="PNG", exact=True))
    with page.expect_download() as download:
        page.get_by_role("button", name="Download file").click()
    file = tmp_path / "replay.html"
    download.value.save_as(file)
    offline = chromium.new_context(offline=True)
    alone = offline.new_page()
    asked: list[str] = []
    alone.on("request", lambda request: asked.append(request.url))
    alone.goto(file.as_uri())
    alone.wait_for_selector("#chart .main-svg")
    before = [alone.locator(f"#{name}").inner_text() for name in ("at", "count", "events")]
    alone.locator("#position").focus()
    alone.keyboard.press("Home")
    after = [alone.locator(f"#{name}").inner_text() for name in ("at", "count", "events")]
    assert [one != other for one, other in zip(before, after, strict=True)] == [True, True, True]
    assert asked == [file.as_uri()]
    for context in (offline, alice.context, bob.context, eve.context):
        context.close()
