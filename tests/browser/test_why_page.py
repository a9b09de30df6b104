"""The Why page in a browser: charts drawn, keys, links to the message, readable without a script."""

from __future__ import annotations

import re

import pytest

from tests.browser.looks import looks
from tests.browser.test_whole_path import axe, csrf, upload
from tests.engine.claude_lines import claude_session

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def compacted(tmp_path_factory):
    """A session with a recorded compaction after 40 of its 60 turns."""
    path = tmp_path_factory.mktemp("upload") / "compacted-build.jsonl"
    path.write_text(claude_session(60, compact_after=40), encoding="utf-8")
    return path


def test_from_the_first_sentence_to_the_message(visit, compacted):
    """The session says why it compacted; the page behind it leads back to the request, by keys alone."""
    visitor = visit()
    page = visitor.page
    upload(page, compacted, "Never touch the lock file")
    said = re.split(r"\W+", page.locator(".lead h2").inner_text().lower())
    assert said[:5] == ["auto", "compacted", "before", "request", "41"]
    page.get_by_role("link", name="All evidence").click()
    page.wait_for_selector("#gates .main-svg")
    page.wait_for_selector("#fit .main-svg")
    page.wait_for_selector("#rest .main-svg")
    assert re.split(r"\W+", page.locator(".why-say strong").inner_text().lower()) == said
    assert page.locator("#gates .annotation").filter(has_text="Claude Code").count() == 1
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.textContent.trim()") == "Request 41"
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/s/[^/]+/\?m=\d+#m-\d+$"))
    assert page.locator("tr[aria-selected=true]").count() == 1
    visitor.is_clean()


@looks(1440, 420)
def test_the_demo_names_the_screenshot(visit, scheme, width):
    """The culprit by deletion with its picture; axe is clean and nothing scrolls sideways."""
    visitor = visit(color_scheme=scheme, viewport={"width": width, "height": 900})
    page = visitor.page
    page.goto("/?q=nothing-is-called-this")
    page.request.post("/demo/", headers={"X-CSRFToken": csrf(page), "Referer": visitor.origin + "/"})
    page.goto("/")
    page.get_by_role("link", name="Pay button covers the total").first.click(timeout=30_000)
    page.get_by_role("link", name="All evidence").first.click()
    page.wait_for_selector("#gates .main-svg")
    boxes = page.locator(".scroll-x:has(> :is(.events, .aftermath))")
    assert boxes.count() == 2
    assert boxes.evaluate_all("boxes => boxes.every(box => box.scrollWidth <= box.clientWidth)"), "no scrolling"
    blamed = page.locator(".blamed li").first
    assert "Message 37" in blamed.inner_text()
    assert "×1,540" in blamed.inner_text()
    assert "Without it" in blamed.inner_text()
    shot = blamed.locator("img")
    shot.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('.blamed img').naturalWidth > 0")
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    visitor.is_clean()


def test_a_mark_in_the_chart_opens_its_message(visit):
    """A click on the false firing of a gate leads to the message that it stands at."""
    visitor = visit()
    page = visitor.page
    page.goto("/?q=nothing-is-called-this")
    page.request.post("/demo/", headers={"X-CSRFToken": csrf(page), "Referer": visitor.origin + "/"})
    page.goto("/")
    page.get_by_role("link", name="Pay button covers the total").first.click(timeout=30_000)
    page.get_by_role("link", name="All evidence").first.click()
    page.wait_for_selector("#gates .main-svg")
    mark = page.locator("#gates .scatterlayer .points path").first
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url(re.compile(r"\?m=\d+#m-\d+$"))
    visitor.is_clean()
