"""The Quality page in a browser: keys from event to event, a text followed, a copied hand-off; clean under axe."""

from __future__ import annotations

import re

import pytest

from tests.browser.looks import looks
from tests.browser.test_whole_path import axe, upload
from tests.web.test_quality_page import story

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def lossy(tmp_path_factory):
    """A session that loses two rules and a function."""
    path = tmp_path_factory.mktemp("upload") / "lossy.jsonl"
    path.write_text(story(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """More messages than are read within the page's own request."""
    path = tmp_path_factory.mktemp("upload") / "long.jsonl"
    path.write_text(story(250).replace("Fix the total", "Mend the total"), encoding="utf-8")
    return path


def opened(visitor, path, query=""):
    page = visitor.page
    upload(page, path, "Mend the total" if path.name == "long.jsonl" else "Fix the total")
    page.goto(re.sub(r"/\?.*$|/$", "/", page.url).split("?")[0] + "quality/" + query)
    page.wait_for_selector("#h-carried")
    page.evaluate("document.querySelectorAll('.q-fold').forEach((fold) => { fold.open = true; })")
    page.wait_for_selector("#carried .main-svg")
    return page


def test_by_keys_from_event_to_event(visit, lossy):
    visitor = visit()
    page = opened(visitor, lossy, "?policy=sliding_window&window=20000")
    assert page.locator(".say strong").inner_text().startswith("2 rules were lost, 1 broken later")
    page.locator("[data-row]").first.focus()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"event=1"))
    page.wait_for_selector("#h-rules:has-text('compaction 2')")
    assert "--compaction 2" in page.locator("#cli-text").text_content()
    assert page.locator("tr[aria-selected=true] .ev-n").inner_text().endswith("2")
    page.get_by_role("link", name="As recorded 1").click()
    page.wait_for_selector("#h-rules:has-text('compaction 1')")
    page.locator("#find > summary").click()
    page.get_by_label("Any text").focus()
    page.keyboard.type("computeGrandTotal")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"find=computeGrandTotal"))
    assert "Lost at compaction 1." in page.locator("#find").inner_text()
    page.locator("#h-warned, #quality-warned").first.scroll_into_view_if_needed()
    page.wait_for_selector("#h-warned:visible")
    assert "95% interval" in page.locator("#quality-warned").inner_text()
    visitor.is_clean()


def test_a_long_session_shows_itself_first_and_its_losses_then(visit, long):
    visitor = visit()
    page = opened(visitor, long, "?of=recorded")
    assert page.locator("#h-rules").count() == 1
    assert page.locator("#h-lost").is_visible()
    visitor.is_clean()


@looks(1440, 420)
def test_clean_in_every_theme_and_width(visit, lossy, scheme, width):
    visitor = visit(color_scheme=scheme, viewport={"width": width, "height": 900})
    page = opened(visitor, lossy, "?of=recorded&find=computeGrandTotal&ask=Which+function%3F+computeGrandTotal")
    page.locator(".q-more summary").first.click()
    page.locator("#quality-warned").scroll_into_view_if_needed()
    page.wait_for_selector("#h-warned")
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    visitor.is_clean()


def test_readable_without_a_script(visit, long):
    address = opened(visit(), long).url
    visitor = visit(java_script_enabled=False)
    page = visitor.page
    page.goto(address + "?of=recorded&horizon=7")
    page.get_by_role("link", name="Show what was lost").click()
    assert "2 rules were lost" in page.locator("main").inner_text()
    assert page.locator("#h-lost").is_visible()
    page.get_by_role("link", name="Compare the warnings").click()
    assert "recorded compaction" in page.locator("main").inner_text()
    visitor.is_clean()
