"""A newcomer's way through the demo, click by click: no dead end, no empty tab, at most twelve clicks."""

from __future__ import annotations

import re

from tests.browser.test_overview_page import open_demo

MOST_CLICKS = 12


def test_from_the_verdict_to_the_command(visit):
    """Verdict → show it → another threshold → which rule is lost, and where → diff → transcript → compare → copy."""
    visitor = visit(viewport={"width": 1440, "height": 900})
    page = visitor.page
    open_demo(visitor)
    clicks = 0

    def click(locator) -> None:
        nonlocal clicks
        clicks += 1
        locator.click()

    said = page.locator(".lead h2").inner_text()
    assert "request 18" in said
    assert "counted as text" in said
    click(page.get_by_role("link", name="Show it happen"))
    page.wait_for_selector("#saw .main-svg")
    assert re.search(r"false alarm:\s+17,297", page.locator("tr[data-event='0']").inner_text())

    slider = page.locator("#compact-slider")
    slider.focus()
    before = page.url
    slider.press("PageDown")  # one step: how many make one entry of the history depends on the machine
    page.wait_for_url(lambda url: url != before and "p." in url)
    page.go_back()
    page.wait_for_url(before)
    page.wait_for_selector("#saw .main-svg")

    click(page.locator("tr[data-event='1'] .ev-n"))
    page.wait_for_selector("#h-ba:has-text('Compaction 2')")
    rule = page.locator(".ba-row", has_text="package-lock.json").first
    rule.wait_for()
    assert "broken in message 160" in rule.inner_text()
    click(page.get_by_role("link", name=re.compile("Full width")))
    page.wait_for_url(re.compile("/diff/"))
    assert page.get_by_text("dropped").first.is_visible()

    for tab, seen in (("Transcript", ".turn"), ("Compare", "#front .main-svg")):
        click(page.get_by_role("navigation", name="Views of this session").get_by_role("link", name=tab))
        page.wait_for_selector(seen)
        assert "p.measure=wire_bytes" in page.url
    assert page.get_by_text("cannot be set so").first.is_visible(), (
        "bytes are no setting of an agent that counts tokens"
    )
    click(page.locator("summary", has_text="Command line"))
    click(page.get_by_role("button", name="Copy command"))
    assert clicks <= MOST_CLICKS
    visitor.is_clean()
