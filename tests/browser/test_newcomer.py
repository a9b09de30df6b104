"""docs/guides/first-minutes.md, click by click: no dead end, no empty tab, at most twelve clicks, each promise kept."""

from __future__ import annotations

import re

import pytest

from tests.arch.repository import ROOT
from tests.browser.test_overview_page import open_demo

pytestmark = pytest.mark.exhaustive

MOST_CLICKS = 12
HANDS = {
    "viewport": {"width": 1440, "height": 900},
    "permissions": ["clipboard-read", "clipboard-write"],
    "reduced_motion": "reduce",
}
"""A screen, the clipboard, and nothing that plays by itself."""
GUIDE = ROOT / "docs/guides/first-minutes.md"
THUMB = """input => {
  const box = input.getBoundingClientRect(), share = (input.value - input.min) / (input.max - input.min);
  return [box.left + 8 + (box.width - 16) * share, box.top + box.height / 2];
}"""


def drag(page, slider) -> None:
    """The thumb of a slider, 60 px to the left."""
    x, y = slider.evaluate(THUMB)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y, steps=4)
    page.mouse.up()


def test_the_guide_is_true(visit):
    """Each bold word of the guide is pressed in its order; what it promises is looked for on the page."""
    visitor = visit(**HANDS)
    page = visitor.page
    wanted = re.findall(r"\*\*([^*?.:]+)\*\*", GUIDE.read_text(encoding="utf-8"))
    pressed = ["Pay button covers the total"]
    open_demo(visitor)

    def press(name, locator) -> None:
        pressed.append(name)
        locator.click()

    def tab(name):
        return page.get_by_role("navigation", name="Views of this session").get_by_role("link", name=name)

    said = page.locator(".lead h2").inner_text()
    assert said.startswith("Auto-compacted before request 18")
    assert "message 37 was counted as text" in said
    press("Show it happen", page.get_by_role("link", name="Show it happen"))
    page.wait_for_selector("#saw .main-svg")
    assert re.search(r"false alarm:\s+17,297", page.locator("tr[data-event='0']").inner_text())

    page.wait_for_function("!location.hash")  # the script takes "#play" off the address
    slider, before = page.locator("#compact-slider"), page.url
    now, total = page.locator("#compact-now").inner_text(), page.locator(".totals .mine").inner_text()
    pressed.append("Compact at")
    drag(page, slider)
    page.wait_for_url(lambda url: url != before and "p." in url)
    assert page.locator("#compact-now").inner_text() != now
    assert page.locator(".totals .mine").inner_text() != total
    page.go_back()
    page.wait_for_url(before)
    page.wait_for_selector("#saw .main-svg")

    press("2", page.locator("tr[data-event='1'] .ev-n"))
    page.wait_for_selector("#h-ba:has-text('Compaction 2')")
    rule = page.locator(".ba-row", has_text="package-lock.json").first
    rule.wait_for()
    assert "broken in message 160" in rule.inner_text()
    press("Full width", page.get_by_role("link", name=re.compile("Full width")))
    page.wait_for_url(re.compile("/diff/"))
    assert page.get_by_text("dropped").first.is_visible()

    press("Transcript", tab("Transcript"))
    page.wait_for_selector(".turn")
    press("Replay", tab("Replay"))
    page.wait_for_selector("#saw .main-svg")
    assert "p.measure=wire_bytes" in page.url
    press("What happens to old messages", page.locator("#f-policy-picker"))
    press("Claude Code auto-compact", page.get_by_role("option", name=re.compile("^Claude Code auto-compact")).first)
    page.wait_for_url(lambda url: "buzz" not in url)
    press("Compare", tab("Compare"))
    page.wait_for_selector("#front .main-svg")
    assert re.search(r"Compact at [\d,]+ tokens: .*things? lost", page.locator("#h-adv").inner_text())
    press("Apply", page.locator(".pick[aria-current]").get_by_role("link", name="Apply"))
    press("Copy", page.locator("#apply").get_by_role("button", name="Copy"))
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.includes('PCT_OVERRIDE'))")
    assert pressed == wanted
    assert len(pressed) <= MOST_CLICKS
    visitor.is_clean()
