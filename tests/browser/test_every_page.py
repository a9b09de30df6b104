"""Every page, dialog and menu at each width: nothing cut, overprinted, apart, out of sight or under 12 px.

Pages come from the URL resolver (``walked.py``); ``every_page.js`` says what is a fault.  Axe is silent, focus is seen.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.browser import walked
from tests.browser.team import PASSWORD, Team, sign_in
from tests.browser.test_whole_path import AXE
from tests.browser.walked import FOLDED, RULES, STAGES, TIGHT
from tests.cli.processes import set_up
from tests.every import EVERY

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.exhaustive

MOVES = """() => [...document.querySelectorAll('*')].filter((e) => {
  const style = getComputedStyle(e), some = (time) => /[1-9]/.test(time);
  return some(style.transitionDuration) || style.animationName !== 'none' && some(style.animationDuration);
}).map((e) => 'moves: ' + e.outerHTML.slice(0, 80)).slice(0, 3)"""
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
UNSAID = """() => {
  const said = (e) => e && e.checkVisibility() && e.innerText.trim();
  const terms = [...document.querySelectorAll('.why dt, .words dt')].filter((e) => e.checkVisibility());
  const labels = [...document.querySelectorAll('label.field-label')].filter((e) => e.checkVisibility());
  return [
    ...terms.filter((e) => !said(e.nextElementSibling)),
    ...labels.filter((e) => ![...e.parentElement.querySelectorAll('input, select, .picker')]
      .some((one) => one.checkVisibility())),
  ].map((e) => e.innerText);
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
FOLDS = """() => [...document.querySelectorAll('.turn')]
  .map((turn) => [turn, turn.querySelector('.turn-body').children])
  .filter(([, blocks]) => blocks.length === 1 && blocks[0].matches('details.call:not([open])'))
  .map(([turn, blocks]) => [turn.id, turn.offsetHeight, blocks[0].offsetHeight])"""

BY_RIGHTS = [
    "sessions:library",
    "sessions:session",
    "sessions:replay",
    "sessions:share",
    "sessions:people",
    "sessions:settings",
    "sessions:tokens",
    "sessions:delete",
    "sessions:saved",
    "sessions:upload",
]
"""Pages that differ for a member."""


@pytest.fixture(scope="module")
def team(chromium, tmp_path_factory) -> Iterator[Team]:
    """One server for all of this file: a page opened twice is asked for once."""
    made = Team(chromium, set_up(tmp_path_factory.mktemp("team")))
    try:
        yield made
    finally:
        made.stop()


def axe(page, rules: list[str], within: str = ":root") -> list[str]:
    """What axe finds in the first ``within``, and what moves although nothing should."""
    found = page.evaluate(MOVES) if rules == RULES else []
    if rules:
        page.evaluate(AXE.read_text(encoding="utf-8"))
        result = page.evaluate("([within, rules]) => axe.run(within, {runOnly: rules})", [within, rules])
        found += [f"{v['id']}: {v['nodes'][0]['html'][:160]}" for v in result["violations"]]
    return found


def walk(page, stages=STAGES) -> list[str]:
    """What is wrong with the page that is open: as it comes, scrolled, with its menus and with its folds open."""
    found = []
    for folded in (True, False):
        if not folded:
            page.evaluate(FOLDED)
        for width, theme, rules in stages:
            walked.look(page, width, theme)
            wrong = walked.below(page) + walked.menus(page) if folded else walked.seen(page) + axe(page, rules)
            found += [f"{width} px, {theme}: {fault}" for fault in wrong]
    return found


def walk_dialogs(page, address: str, known: set[str]) -> list[str]:
    """What is wrong with each dialog that the page opens and no page before it did; the focus is inside."""
    found = []
    page.set_viewport_size({"width": 1440, "height": 900})
    for name in walked.dialogs(page, known):
        page.goto(address)
        page.evaluate(walked.OPEN, name)
        page.wait_for_selector("dialog[open] h2")
        assert page.evaluate("document.querySelector('dialog[open]').contains(document.activeElement)"), name
        page.evaluate("document.querySelectorAll('dialog[open] details').forEach((one) => { one.open = true; })")
        for width, theme, rules in STAGES:
            walked.look(page, width, theme)
            wrong = walked.seen(page, "dialog[open]") + axe(page, rules, "dialog[open]")
            found += [f"{name}, {width} px, {theme}: {fault}" for fault in wrong]
    return found


def ways() -> list[tuple[str, str, str, bool]]:
    """Who opens which route in which state, of which session; every day a member opens what rights change, once."""
    members = walked.pages() if EVERY else BY_RIGHTS
    shown = {"admin": walked.pages(), "member": members, "link holder": walked.pages(of_links=True)}
    return [
        (who, name, query, long) for who, names in shown.items() for name in names
        for query, long in walked.states(name)[: 1 if who == "member" and not EVERY else None]
    ]  # fmt: skip


@pytest.mark.parametrize(("who", "route", "query", "long"), ways())
def test_no_page_is_cut_apart_or_out_of_reach(team, who, route, query, long):
    """Loaded once, then looked at in every width and theme; every day further states of a page at one width alone."""
    page, places = team.visits[who].page, team.places
    address = places.address(route, query, long=long)
    if not walked.opens(page, address):
        return
    is_first = (query, long) == walked.states(route)[0]
    found = walk(page, STAGES if EVERY else STAGES[:1] if who == "member" else STAGES if is_first else STAGES[1:2])
    if who == "admin":
        found += walk_dialogs(page, address, places.opened)
    assert found == []


@pytest.mark.parametrize("state", ["signed out", "wrong password", "invitation", "locked link", "gone", "not found"])
def test_no_page_for_nobody_is_cut_or_apart(team, state):
    """What somebody sees who is not signed in."""
    page, values = team.visits["nobody"].page, team.places.values
    addresses = {
        "signed out": "/", "invitation": f"/join/{values['invitation']}/", "locked link": f"/l/{values['locked']}/",
        "gone": "/l/nothing/", "not found": "/join/nothing/",
    }  # fmt: skip
    if state == "wrong password":
        sign_in(page, "ada", PASSWORD[1:])
        page.wait_for_selector("#login-error")
    else:
        page.goto(addresses[state])
    assert walk(page) == []


def test_the_file_of_a_replay_is_not_cut_or_apart(team):
    """The page that is handed over, opened from disk."""
    where = team.running.data / "replay.html"
    team.ctxweb("share", str(team.running.data / "long.jsonl"), "--policy", "claude_code", "--out", str(where))
    page = team.visits["nobody"].page
    page.goto(where.as_uri())
    page.wait_for_selector("#chart .main-svg")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert walk(page, [(width, theme, []) for width, theme, _ in STAGES]) == []


@pytest.mark.parametrize(("tail", "most"), [("", 4), (f"replay/?{TIGHT}", 8)])
def test_paper_says_what_the_screen_says(team, tail, most):
    """On few pages: the policy by its name, each term with its words; no list of hundreds of rows."""
    page = team.visits["admin"].page
    page.set_viewport_size({"width": 703, "height": 900})
    page.goto(f"/s/{team.places.values['session_id']}/{tail}")
    page.wait_for_selector(".plot .main-svg")
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= most
    page.emulate_media(media="print")
    unsaid = page.evaluate(UNSAID)
    page.emulate_media(media="null")
    assert unsaid == []


def test_the_first_page_is_not_cut_or_apart(visit):
    """The library of a server on which nothing is yet and nobody needs an account."""
    page = visit(bypass_csp=True).page
    page.goto("/")
    assert walk(page) + walk_dialogs(page, "/", set()) == []


@pytest.mark.parametrize("tail", ["", f"replay/?{TIGHT}", "compare/"])
def test_focus_is_always_seen(team, tail):
    """From the first element to the last, by the tab key."""
    page = team.visits["admin"].page
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"/s/{team.places.values['session_id']}/" + tail)
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
def test_paper_has_the_whole_chart(team, tail):
    """Drawn for a wide window, printed on A4: no chart and no table reaches over the right edge."""
    page = team.visits["admin"].page
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"/s/{team.places.values['session_id']}/" + tail)
    page.wait_for_selector(".plot .main-svg")
    page.evaluate(PRINTED)
    page.pdf(format="A4")
    assert page.evaluate("window.cut") == []


def test_the_knob_stands_under_its_request(team):
    """The scrubber's thumb and the line of the chart are at the same place, also after the window changed."""
    page = team.visits["admin"].page
    page.goto(f"/s/{team.places.values['session_id']}/" + f"replay/?{TIGHT}&request=32")
    for width in (1440, 800):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(walked.DRAWN)
        knob, line = page.evaluate(KNOB)
        assert abs(knob - line) < 2


@pytest.mark.parametrize("long", [False, True])
def test_a_row_of_one_fold_is_little_taller_than_its_summary(team, long):
    """In the transcript a message of one folded call or result is at most twice as high as the fold."""
    page = team.visits["admin"].page
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(team.places.address("sessions:transcript", "", long=long))
    rows = page.evaluate(FOLDS)
    assert len(rows) >= 10
    assert [row for row in rows if row[1] > 2 * row[2]] == []
