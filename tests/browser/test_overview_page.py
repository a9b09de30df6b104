"""The overview: the chart answers for the message under the pointer, and a click moves nothing but the panes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.browser.looks import looks
from tests.browser.test_whole_path import AXE, csrf, upload
from tests.engine.claude_lines import claude_session
from tests.every import EVERY
from tests.samples import samples_dir

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.exhaustive

LANE = """lane => {
  const plot = document.getElementById('pressure'), box = plot.getBoundingClientRect(), all = plot._fullLayout;
  const axis = all[lane];
  return {left: box.left + all.xaxis._offset, width: all.xaxis._length, y: box.top + axis._offset + axis._length / 2};
}"""
BELOW = "() => document.querySelector('#message-list .scroll').getBoundingClientRect()"
FLAGGED = """() => {
  const rows = JSON.parse(document.getElementById('pressure-figure').content.textContent).layout.meta.points;
  return Object.keys(rows.over).map(place => rows.message[place]);
}"""


SWEEP = """at => {
  const plot = document.getElementById('pressure'), found = {};
  for (let x = Math.floor(at.left); x <= at.left + at.width; x++) {
    const hit = document.elementFromPoint(x, at.y);
    hit.dispatchEvent(new PointerEvent('pointermove', {clientX: x, clientY: at.y, bubbles: true}));
    const message = plot.dataset.message;
    if (message !== undefined && !(message in found)) found[message] = document.querySelector('.plot-tip').innerText;
  }
  return found;
}"""
WALKED = """() => {
  const plot = document.getElementById('pressure');
  window.walked = [plot.getAttribute('aria-valuenow')];
  new MutationObserver(() => window.walked.push(plot.getAttribute('aria-valuenow')))
    .observe(plot, {attributes: true, attributeFilter: ['aria-valuenow']});
}"""


def swept(page, lane: str) -> dict[int, str]:
    """Every message that answers while the pointer crosses the lane pixel by pixel, with its words."""
    found = page.evaluate(SWEEP, page.evaluate(LANE, lane))
    return {int(message): words for message, words in found.items()}


def open_demo(visitor) -> None:
    """The demo session's overview."""
    page = visitor.page
    page.goto("/?q=nothing-is-called-this")
    page.request.post("/demo/", headers={"X-CSRFToken": csrf(page), "Referer": visitor.origin + "/"})
    page.goto("/")
    page.get_by_role("link", name="Pay button covers the total").first.click(timeout=30_000)
    page.wait_for_selector("#pressure .main-svg")


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> Path:
    """A session without an image."""
    path = tmp_path_factory.mktemp("upload") / "plain.jsonl"
    path.write_text(claude_session(60), encoding="utf-8")
    return path


@pytest.mark.parametrize("which", ["demo", "plain", "sample"][: 3 if EVERY else 2])
def test_every_message_answers_for_itself(visit, plain, which):
    """Pixel by pixel over the whole width, and by keys: each message, and each red bar in the lane of the bytes."""
    visitor = visit(viewport={"width": 1440, "height": 900})
    page = visitor.page
    if which == "demo":
        open_demo(visitor)
    elif which == "sample":
        upload(page, samples_dir() / "claude-code" / "trycua-pgadmin.jsonl", "pgAdmin")
    else:
        upload(page, plain, "Never touch the lock file")
    total = int(page.locator("#message-filters [aria-current] .num").inner_text().replace(",", ""))
    assert sorted(swept(page, "yaxis")) == list(range(total))

    loud, said = page.evaluate(FLAGGED), swept(page, "yaxis2")
    assert set(loud) <= set(said)
    assert all("×" in said[message] for message in loud)
    page.focus("#pressure")
    page.keyboard.press("Home")
    page.evaluate(WALKED)
    for _ in range(total - 1):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("walked") == [str(index) for index in range(total)]
    page.keyboard.press("Home")
    for message in sorted(loud):
        page.keyboard.press("ArrowUp")
        assert page.get_attribute("#pressure", "aria-valuenow") == str(message)
    visitor.is_clean()


def test_the_screenshot_says_what_it_is_and_opens_in_place(visit):
    """On its red bar the tooltip names it; a click opens it, its row comes into the pane, the page stands still."""
    visitor = visit(viewport={"width": 1440, "height": 900})
    page = visitor.page
    open_demo(visitor)
    at = page.evaluate(LANE, "yaxis2")
    x = page.evaluate("document.getElementById('pressure')._fullLayout.xaxis.d2p(37)")
    page.mouse.move(at["left"] + x + 6, at["y"])
    said = page.locator(".plot-tip strong").inner_text()
    assert said == "#37 screenshot · 2,025 tokens · 3.12 MB · ×1,540 · a byte trigger fires here"
    tokens = page.evaluate(LANE, "yaxis")
    chart = page.locator("#pressure").bounding_box()
    for message in (120, 37):
        place = page.evaluate(f"document.getElementById('pressure')._fullLayout.xaxis.d2p({message})")
        page.mouse.click(tokens["left"] + place, tokens["y"])
        page.wait_for_selector(f"#inspector [data-message='{message}']")
        page.wait_for_selector(f"#m-{message}[aria-selected=true]")
        row, pane = page.locator(f"#m-{message}").bounding_box(), page.evaluate(BELOW)
        assert pane["top"] <= row["y"] <= pane["bottom"] - row["height"]
        assert page.evaluate("scrollY") == 0
        assert page.locator("#pressure").bounding_box() == chart
        assert f"m={message}" in page.url
    visitor.is_clean()


@looks(1440, 1024, 420)
def test_clean_in_every_theme_and_width(visit, scheme, width):
    visitor = visit(color_scheme=scheme, viewport={"width": width, "height": 900})
    page = visitor.page
    open_demo(visitor)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    result = page.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})")
    assert [f"{v['id']}: {v['nodes'][0]['html'][:160]}" for v in result["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    visitor.is_clean()


STATE = """() => {
  const plot = document.getElementById('pressure');
  return [plot._fullLayout.xaxis.range.slice(), plot.data.map(trace => trace.x.length)];
}"""
TICKS = "() => [...document.querySelectorAll('#pressure .xtick text')].map(tick => tick.textContent)"
ZOOM = """range => new Promise(done => {
  const plot = document.getElementById('pressure');
  plot.addEventListener('chart:refined', done, {once: true});
  window.Plotly.relayout(plot, {'xaxis.range[0]': range[0], 'xaxis.range[1]': range[1]});
})"""


def test_a_zoom_into_a_long_session_shows_every_message_and_back_again(visit, tmp_path):
    """Of 1,602 messages two share a bar; within a zoom each has its own, and the pointer says so."""
    path = tmp_path / "long.jsonl"
    path.write_text(claude_session(800).replace("Never touch", "Walk along"), encoding="utf-8")
    visitor = visit(viewport={"width": 1440, "height": 900})
    page = visitor.page
    upload(page, path, "Walk along")
    whole, before = page.evaluate(STATE)
    marks = page.evaluate(TICKS)
    page.evaluate(f"async (range) => {{ await ({ZOOM})(range); }}", [1_000.5, 1_100.5])
    zoomed, near = page.evaluate(STATE)
    assert zoomed == [1_000.5, 1_100.5], "the zoom stays"
    assert page.evaluate(TICKS) == ["1,020", "1,040", "1,060", "1,080", "1,100"]
    assert sum(near) > sum(before)
    shown = swept(page, "yaxis")
    assert set(range(1_001, 1_100)) <= set(shown)
    assert not any("heaviest of" in words for message, words in shown.items() if 1_002 <= message <= 1_099)
    page.evaluate(f"async (range) => {{ await ({ZOOM})(range); }}", whole)
    assert page.evaluate(STATE) == [whole, before]
    assert page.evaluate(TICKS) == marks
    visitor.is_clean()


def test_a_narrow_zoom_names_whole_messages_only(visit):
    visitor = visit(viewport={"width": 420, "height": 900})
    open_demo(visitor)
    visitor.page.evaluate("Plotly.relayout('pressure', {'xaxis.range[0]': 3.4, 'xaxis.range[1]': 6.7})")
    visitor.page.wait_for_function(f"({TICKS})().join() === '4,5,6'")
    visitor.is_clean()


def test_a_card_and_its_part_of_the_chart_point_at_each_other_and_a_range_is_listed_alone(visit, tmp_path):
    """Pointing at a compaction's card marks what it cut, and back; a drag over the chart limits list and figures."""
    path = tmp_path / "cut.jsonl"
    path.write_text(claude_session(60, compact_after=40).replace("Never touch", "Leave alone"), encoding="utf-8")
    visitor = visit(viewport={"width": 1440, "height": 900})
    page = visitor.page
    upload(page, path, "Leave alone")
    page.wait_for_selector("#pressure .main-svg")
    page.wait_for_selector("#causes dl.after")
    page.hover("#cause-1 h3")
    marked, box = page.locator(".plot-segment").bounding_box(), page.locator("#pressure .nsewdrag").first.bounding_box()
    assert marked["x"] == pytest.approx(box["x"], abs=2)
    assert marked["width"] == pytest.approx(box["width"] * 83 / 124, abs=6)
    high = box["y"] + 60
    page.mouse.move(box["x"] + 0.9 * box["width"], high)
    assert page.locator(".cause.raised").count() == 0
    page.mouse.move(box["x"] + 0.3 * box["width"], high)
    assert page.locator(".cause.raised").get_attribute("id") == "cause-1"
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], high, steps=6)
    page.mouse.up()
    page.wait_for_selector(".list-part")
    first, last = map(int, re.findall(r"\d+", page.inner_text(".list-part strong")))
    assert (first, last) == pytest.approx((37, 61), abs=2)
    rows = page.locator("#rows tr[id]")
    assert rows.count() == last + 1 - first
    assert f"from={first}&to={last}" in page.url
    page.reload()
    page.wait_for_selector("#pressure .main-svg")
    assert rows.count() == last + 1 - first
    page.locator("[data-whole]").click()
    page.wait_for_selector(".list-part", state="detached")
    assert "from=" not in page.url
    visitor.is_clean()
