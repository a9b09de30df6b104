"""The library in a browser: a dropped folder, failures that stay, a file that unfolds, titles at every width."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image

from tests.browser.test_whole_path import axe
from tests.services.claude_lines import session

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.exhaustive

WIDTHS = (1440, 1280, 1100, 1024, 768, 420)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two transcripts, one of many conversations, and two files that are none, in folders."""
    made = tmp_path_factory.mktemp("dropped")
    (made / "inner").mkdir()
    (made / "good.jsonl").write_bytes(session(3))
    said = [{"role": "user", "content": "Where is my flight?"}, {"role": "assistant", "content": "Over the sea."}]
    (made / "inner" / "many.json").write_text(json.dumps([{"task_id": n, "traj": said} for n in range(8)]))
    Image.new("RGB", (40, 30)).save(made / "inner" / "wrong.png")
    (made / "empty.jsonl").touch()
    return made


def drop(page: Any, path: Path) -> None:
    """Let a file manager drop ``path`` onto the page."""
    tools = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        tools.send("Input.dispatchDragEvent", {"type": kind, "x": 300, "y": 300, "data": data})


def test_the_library_from_its_first_folder_on(visit, folder):
    page = visit().page
    failures_stay(page, folder)
    a_file_unfolds(page)
    titles_stay(page)
    paste_and_demo(page)


def failures_stay(page: Any, folder: Path) -> None:
    page.goto("/")
    drop(page, folder)
    page.wait_for_selector("#sessions .lib")
    for _ in range(2):
        rows = page.locator("#uploads tr")
        assert sorted(rows.locator("th").all_inner_texts()) == ["empty.jsonl", "wrong.png"]
        assert "A PNG picture, not a transcript" in page.inner_text("#uploads")
        page.reload()
    page.click("#uploads tr:has-text('wrong.png') button")
    page.wait_for_selector("#uploads tr:has-text('wrong.png')", state="detached")
    page.click("text=All uploads")
    page.wait_for_selector("h1:has-text('Uploads')")
    assert sorted(page.locator("#uploads th").all_inner_texts()) == ["empty.jsonl", "good.jsonl", "many.json"]
    assert axe(page) == []


def a_file_unfolds(page: Any) -> None:
    page.goto("/")
    link = page.locator("[data-unfold]")
    assert page.locator("#lib-rows tr:not(.proj)").count() == 2
    link.click()
    page.wait_for_selector("tr.in-group")
    assert page.locator("tr.in-group").count() == 8
    assert link.get_attribute("aria-expanded") == "true"
    assert axe(page) == []
    link.click()
    page.wait_for_selector("tr.in-group", state="detached")
    assert link.get_attribute("aria-expanded") == "false"
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("tr.in-group")


def titles_stay(page: Any) -> None:
    page.goto("/")
    page.click("[data-unfold]")
    page.wait_for_selector("tr.in-group")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, width
        narrowest = page.evaluate(
            "Math.min(...[...document.querySelectorAll('.lib tbody th.t')].map(e => e.offsetWidth))"
        )
        assert narrowest >= 200, width
        upload = page.locator("#sessions label.btn-primary").bounding_box()
        assert upload["x"] + upload["width"] <= width, width
    page.set_viewport_size({"width": 1280, "height": 800})


def paste_and_demo(page: Any) -> None:
    page.goto("/")
    page.click("#sessions .menu > summary")
    page.click("text=Paste JSON")
    page.wait_for_selector("#paste[open]")
    page.keyboard.press("Escape")
    page.click("#sessions .menu > summary")
    page.click("text=Open the demo session")
    page.wait_for_url("**/s/**")
