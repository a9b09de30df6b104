"""Every page of the demo once at each width: nothing cut, overprinted or under 12 px, axe is silent, focus is seen.

A new page is one line of ``OF_A_SESSION`` or ``OTHERS``.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.test_overview_page import open_demo
from tests.browser.test_whole_path import AXE

pytestmark = pytest.mark.exhaustive

MEASURE = (Path(__file__).parent / "every_page.js").read_text(encoding="utf-8").split("\n", 2)[2]
TIGHT = "policy=claude_code&p.pct_override=30"
OF_A_SESSION = (
    "", "replay/", f"replay/?{TIGHT}&request=40", "replay/?policy=none", f"diff/?{TIGHT}", "compare/",
    f"compare/ab/?{TIGHT}", "transcript/", "quality/?of=recorded", f"quality/?{TIGHT}", "why/", "why/rules/", "apply/",
    "count/", "share/", "who/", "m/37/", "save/",
)  # fmt: skip
OTHERS = (
    "/", "/?q=nothing", "/settings/", "/settings/tokens/", "/fleet/", "/saved/", "/sweep/", "/quality/", "/people/",
    "/api/", "/login/", "/nothing/", "/join/nothing/", "/l/nothing/", "/uploads/",
)  # fmt: skip
STRANGE = ("a link", "a link with a password", "an invitation", "what was read")
DRAWN = """() => [...document.querySelectorAll('.plot[data-figure]')].every((plot) =>
  !plot.checkVisibility() || !plot.clientWidth ||
  (plot._fullLayout && Math.abs(plot._fullLayout.width - Math.floor(plot.clientWidth)) < 1))"""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
STAGES = ((1440, "light", RULES), (1024, "light", []), (420, "dark", ["color-contrast"]), (320, "light", []))
"""Width, theme and what axe looks for: the theme changes nothing but contrast.

320 px is a window of 1,280 at a zoom of 400% (WCAG 1.4.10), and of 640 at 200% (1.4.4).
"""
MOVES = """() => [...document.querySelectorAll('*')].filter((e) => {
  const style = getComputedStyle(e), some = (time) => /[1-9]/.test(time);
  return some(style.transitionDuration) || style.animationName !== 'none' && some(style.animationDuration);
}).map((e) => 'moves: ' + e.outerHTML.slice(0, 80)).slice(0, 3)"""
FOLDED = "document.querySelectorAll('main details:not(.menu)').forEach((one) => { one.open = true; })"
FOCUSED = """() => {
  const e = document.activeElement;
  if (e === document.body) return null;
  const shown = e.matches('.seg input, .pick, .search input') ? e.closest('label, .search, td, th') ?? e : e;
  const box = shown.getBoundingClientRect(), style = getComputedStyle(shown);
  const styles = [shown, e].map((one) => getComputedStyle(one));
  const lined = styles.some((one) => one.outlineStyle !== 'none' && one.outlineWidth !== '0px');
  const clear = box.width >= 4 && box.height >= 4 && box.right > 0 && box.bottom > 0 && box.left < innerWidth;
  const shows = style.visibility === 'visible' && style.opacity !== '0';
  return {at: e.outerHTML.slice(0, 120), seen: lined && clear && shows};
}"""
PRINTED = """() => {
  window.cut = null;
  matchMedia('print').addEventListener('change', (print) => {
    if (!print.matches) return;
    const wide = document.documentElement.clientWidth, right = (e) => e.getBoundingClientRect().right;
    window.cut = [...document.querySelectorAll('.plot .main-svg, table')].filter((e) => right(e) > wide + 1)
      .map((e) => [e.className.baseVal ?? e.className, right(e), wide]);
  });
}"""
KNOB = """() => {
  const input = document.getElementById('scrub'), box = input.getBoundingClientRect();
  const share = (input.value - input.min) / (input.max - input.min);
  const line = document.querySelector('.plot-step').getBoundingClientRect();
  return [box.left + 8 + (box.width - 16) * share, line.left];
}"""


@pytest.fixture(scope="module")
def strange(served, visit_once) -> dict[str, str]:
    """Addresses that somebody else opens: a link, a link with a password, an invitation."""
    page = visit_once.page
    open_demo(visit_once)
    session = page.url.split("?")[0]
    links = []
    for secret in ("", "correct horse"):
        page.goto(f"{session}share/?view=replay")
        page.locator("#share-secret").fill(secret)
        page.get_by_text("A link for this machine alone").click()
        page.get_by_role("button", name="Make it").click()
        links.append(page.locator("#ln").input_value())
    invited = subprocess.run(
        [sys.executable, "-m", "ctxweb", "user", "mira", "--invite"], capture_output=True, text=True, check=True,
        cwd=served.data, env=served.env,
    )  # fmt: skip
    found = re.search(r"/join/\S+", invited.stdout)
    assert found is not None, invited.stdout
    page.goto(session)
    report = page.get_by_role("link", name="What was read").get_attribute("href")
    return {"session": session, **dict(zip(STRANGE, [*links, found[0], report], strict=True))}


@pytest.fixture(scope="module")
def visit_once(chromium, served):
    """One visitor for all of this file: a page opened twice is asked for once."""
    from tests.browser.conftest import Visit

    visitor = Visit(chromium, f"http://127.0.0.1:{served.port()}", bypass_csp=True)
    yield visitor
    visitor.context.close()


def faults(page, *, axe: list[str]) -> list[str]:
    """What is wrong with the page that is open."""
    page.evaluate(FOLDED)
    found = page.evaluate(MEASURE)
    if axe == RULES:
        found += page.evaluate(MOVES)
    if axe:
        page.evaluate(AXE.read_text(encoding="utf-8"))
        result = page.evaluate("rules => axe.run(document, {runOnly: rules})", axe)
        found += [f"{v['id']}: {v['nodes'][0]['html'][:160]}" for v in result["violations"]]
    return found


@pytest.mark.parametrize("address", [*OF_A_SESSION, *OTHERS, *STRANGE])
def test_no_page_is_cut_small_or_out_of_reach(visit_once, strange, address):
    """Loaded once, then looked at in every width and theme."""
    page = visit_once.page
    page.goto(strange.get(address, address if address in OTHERS else strange["session"] + address))
    for width, theme, axe in STAGES:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.wait_for_function(DRAWN)
        assert page.evaluate("matchMedia('(prefers-reduced-motion: reduce)').matches")
        assert faults(page, axe=axe) == [], f"{width} px, {theme}"


@pytest.mark.parametrize(
    ("address", "opener"),
    [
        ("/?q=nothing", "[data-dialog=help]"), ("", "a[href*='/share/']"), (f"replay/?{TIGHT}", "a[href*='/save/']"),
        ("/?q=nothing", "[data-dialog=paste]"),
    ],
)  # fmt: skip
def test_no_dialog_is_cut_or_out_of_reach(visit_once, strange, address, opener):
    """Opened by its button, in both themes and on the narrowest window; the focus is inside."""
    page = visit_once.page
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(address if address.startswith("/") else strange["session"] + address)
    page.evaluate("opener => document.querySelector(opener).click()", opener)
    page.wait_for_selector("dialog[open] h2")
    assert page.evaluate("document.querySelector('dialog[open]').contains(document.activeElement)")
    page.evaluate(
        "document.querySelectorAll('main, header, .viewbar').forEach((e) => { e.style.visibility = 'hidden'; })"
    )
    for width, theme, axe in STAGES:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        assert faults(page, axe=axe) == [], f"{width} px, {theme}"


@pytest.mark.parametrize("tail", ["", f"replay/?{TIGHT}", "compare/"])
def test_focus_is_always_seen(visit_once, strange, tail):
    """From the first element to the last, by the tab key."""
    page = visit_once.page
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(strange["session"] + tail)
    page.wait_for_selector(".plot .main-svg")
    met = 0
    for _ in range(60):
        page.keyboard.press("Tab")
        at = page.evaluate(FOCUSED)
        if at is None:
            break
        met += 1
        assert at["seen"], at["at"]
    assert met >= 20


@pytest.mark.parametrize("tail", ["", f"replay/?{TIGHT}", "compare/", "why/"])
def test_paper_has_the_whole_chart(visit_once, strange, tail):
    """Drawn for a wide window, printed on A4: no chart and no table reaches over the right edge."""
    page = visit_once.page
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(strange["session"] + tail)
    page.wait_for_selector(".plot .main-svg")
    page.evaluate(PRINTED)
    page.pdf(format="A4")
    assert page.evaluate("window.cut") == []


def test_the_knob_stands_under_its_request(visit_once, strange):
    """The scrubber's thumb and the line of the chart are at the same place, also after the window changed."""
    page = visit_once.page
    page.goto(strange["session"] + f"replay/?{TIGHT}&request=32")
    for width in (1440, 800):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(DRAWN)
        knob, line = page.evaluate(KNOB)
        assert abs(knob - line) < 2
