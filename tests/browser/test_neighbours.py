"""A session among its neighbours: what stands beside it in its project, and the way back to its row in the list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.cli.processes import run, set_up
from tests.cli.serving import Served
from tests.services.claude_lines import Lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

N = 60
"""More sessions than the list has rows at first."""
AT = 55


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server whose project holds ``N`` sessions of "Task 0" on, the newest first."""
    folder: Path = tmp_path_factory.mktemp("shelf")
    (folder / "in").mkdir()
    for n in range(N):
        lines = Lines(f"{n:08d}-2222-3333-4444-555555555555").prompt(f"Task {n}").turn()
        made = lines.bytes().replace(b"2026-09-01T", b"2026-%02d-%02dT" % (9 - n // 28, 28 - n % 28))
        (folder / "in" / f"{n}.jsonl").write_bytes(made)
    done = run(set_up(folder / "data"), "ingest", str(folder / "in"))
    assert done.returncode == 0, done.stderr
    served = Served(folder / "data")
    try:
        served.port()
        yield served
    finally:
        served.stop()


def go(page: Page, key: str, name: str) -> None:
    """Press a key that opens a session, and wait for it."""
    page.keyboard.press(key)
    expect(page.locator(".crumbs h1")).to_have_text(name)


def test_neighbours_are_in_sight_and_the_list_comes_back(chromium: Browser, shelf: Served) -> None:
    visit = Visit(chromium, f"http://127.0.0.1:{shelf.port()}", viewport={"width": 1440, "height": 900})
    page = visit.page
    page.goto("/?project=%2Fhome%2Fu%2Fproj")
    page.click("#lib-more a:has-text('Load')")
    row = page.get_by_role("link", name=f"Task {AT}", exact=True)
    row.click()
    expect(page.locator(".crumbs h1")).to_have_text(f"Task {AT}")
    expect(page.get_by_role("link", name="proj", exact=True)).to_be_visible()
    page.get_by_role("link", name=f"Older session: Task {AT + 1}").click()
    expect(page.locator(".crumbs h1")).to_have_text(f"Task {AT + 1}")
    go(page, "Shift+K", f"Task {AT}")
    go(page, "Shift+K", f"Task {AT - 1}")
    page.keyboard.press("u")
    row = page.get_by_role("link", name=f"Task {AT - 1}", exact=True)
    expect(row).to_be_focused()
    expect(row).to_be_in_viewport()
    assert "project=" in page.url
    page.keyboard.press("j")  # the list goes on from there
    expect(page.get_by_role("link", name=f"Task {AT}", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".crumbs h1")).to_have_text(f"Task {AT}")
    page.go_back()
    row = page.get_by_role("link", name=f"Task {AT}", exact=True)
    expect(row).to_be_focused()
    expect(row).to_be_in_viewport()
    page.goto("/")
    page.get_by_role("link", name="Peak", exact=False).first.click()
    page.wait_for_url("**sort=peak**")
    page.go_back()  # the page that comes back has no target of its own
    page.wait_for_url(lambda url: "sort=" not in url)
    expect(page.locator("#sessions")).to_be_visible()
    visit.is_clean()
    visit.context.close()


def test_a_session_that_is_opened_by_its_address_stands_among_the_others(chromium: Browser, shelf: Served) -> None:
    """As ``ctxweb open`` opens it: no list was seen before."""
    visit = Visit(chromium, f"http://127.0.0.1:{shelf.port()}", viewport={"width": 420, "height": 900})
    page = visit.page
    page.goto("/")
    address = page.get_by_role("link", name="Task 0", exact=True).get_attribute("href")
    visit.context.close()
    visit = Visit(chromium, f"http://127.0.0.1:{shelf.port()}", viewport={"width": 420, "height": 900})
    page = visit.page
    page.goto(address)
    assert page.locator(".near a").count() == 1  # nothing is newer
    older = page.get_by_role("link", name=re.compile("^Older session"))
    expect(older).to_be_in_viewport()
    older.click()
    expect(page.locator(".crumbs h1")).to_have_text("Task 1")
    visit.is_clean()
    visit.context.close()
