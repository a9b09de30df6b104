"""A replay of one's own agent in a browser: window, range and default move together, whichever trigger is set."""

from __future__ import annotations

import json
import re

import pytest

from tests.browser.test_replay_lab import until
from tests.browser.test_whole_path import upload

pytestmark = pytest.mark.exhaustive

PLACES = "['min', 'max', 'value'].map((name) => Number(document.getElementById('compact-slider')[name]))"


def test_window_range_and_default_move_together(visit, tmp_path):
    """80% of the window as the default; then a reserve alone, which the slider moves and leaves the share off."""
    messages = [{"role": "system", "content": "You book tables."}]
    for turn in range(40):
        messages += [{"role": "user", "content": f"Book table {turn}. " + "please " * 400},
                     {"role": "assistant", "content": f"Table {turn} is booked."}]  # fmt: skip
    file = tmp_path / "bot.json"
    file.write_text(json.dumps({"model": "gpt-4.1", "messages": messages}), encoding="utf-8")
    visitor = visit()
    page = visitor.page
    upload(page, file, "Book table 0")
    session = page.url.split("?")[0]
    page.get_by_role("link", name="Replay").first.click()
    page.wait_for_selector("#saw .main-svg")
    assert page.evaluate(PLACES)[1] == 1_047_576
    assert "Default: 838,060" in page.locator("#compact-range").inner_text()
    kept = page.get_by_label("How much is kept, slider")
    assert int(kept.get_attribute("max")) == len(messages)
    field = page.locator("#f-window")
    field.fill("128,000")
    field.press("Enter")
    page.wait_for_url(re.compile("window=128000"))
    until(page, f"{PLACES}[1] === 128000")
    assert abs(page.evaluate(PLACES)[2] - 102_400) < 500
    assert "Default: 102,400" in page.locator("#compact-range").inner_text()
    assert page.locator("#compact-now").inner_text() == "102,400"

    page.goto(f"{session}replay/?policy=parametric&window=64000&p.share=none&p.reserve=20000")
    page.wait_for_selector("#saw .main-svg")
    assert page.locator("#compact-now").inner_text() == "44,000"
    slider = page.locator("#compact-slider")
    slider.focus()
    for _ in range(20):
        slider.press("ArrowLeft")
    page.wait_for_url(re.compile(r"p\.share=none.*p\.reserve=2[1-9]"))
    field = page.locator("#f-window")
    field.fill("200,000")
    field.press("Enter")
    page.wait_for_url(re.compile("window=200000"))
    until(page, f"{PLACES}[1] === 200000")
    reserve = int(re.search(r"p\.reserve=(\d+)", page.url)[1])
    assert page.locator("#compact-now").inner_text() == f"{200_000 - reserve:,}"
    visitor.is_clean()
