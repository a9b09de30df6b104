"""The sweep page in a browser: a point opens the lab, keys reach every setting, agents' tabs, readable at any width."""

from __future__ import annotations

import re

import pytest

from tests.browser.looks import looks
from tests.browser.test_whole_path import axe, upload
from tests.engine.claude_lines import claude_session

pytestmark = pytest.mark.exhaustive

GRID = "policy=anchored_iterative&window=40000&over=trigger=40:80:5&over=keep_last=2:8:3"


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A session that a window of 40,000 tokens has to compact."""
    path = tmp_path_factory.mktemp("upload") / "swept-build.jsonl"
    path.write_text(claude_session(60), encoding="utf-8")
    return path


def opened(page, build) -> str:
    """The session's address."""
    upload(page, build, "Never touch the lock file")
    return re.search(r"/s/[^/]+/", page.url)[0]


def test_from_a_point_to_the_lab_and_from_there_to_an_agent(visit, build):
    """Sweep, click a point: the lab at that setting; Apply there; and back."""
    visitor = visit()
    page = visitor.page
    home = opened(page, build)
    page.get_by_role("link", name="Compare", exact=True).click()
    page.wait_for_selector("text=When it would matter")  # nothing was asked: its own window is never near full
    page.goto(f"{home}compare/?{GRID}")
    page.wait_for_selector("#curve .main-svg")
    point = page.locator("#curve .scatterlayer .points path.point").first
    box = point.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url(re.compile(r"/replay/\?policy=anchored_iterative&.*p\.trigger=40"))
    page.wait_for_selector("#saw .main-svg")
    assert page.locator("#f-trigger").input_value().startswith("40")
    page.locator(".apply-open summary").click()
    page.wait_for_selector(".apply-slot .snippet")
    page.locator(".apply-slot").get_by_role("link", name="Codex").click()
    page.wait_for_selector(".apply-slot #snippet-text:has-text('model_auto_compact_token_limit = 16000')")
    assert axe(page) == []
    page.go_back()
    page.wait_for_selector("#front .main-svg")
    visitor.is_clean()


def test_keys_reach_every_setting(visit, build):
    """A cell of the heat map is a link: focus and Enter open the lab there."""
    visitor = visit()
    page = visitor.page
    home = opened(page, build)
    page.goto(f"{home}compare/?{GRID}")
    assert page.locator(".heat td a").count() == 15
    cell = page.locator(".heat td.pick a")
    wanted = cell.get_attribute("href")
    cell.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{wanted}")
    visitor.is_clean()


def test_the_form_and_a_limit_change_what_may_be_advised(visit, build):
    """Open the form, set a limit, sweep: what is over it is marked."""
    visitor = visit()
    page = visitor.page
    home = opened(page, build)
    page.goto(f"{home}compare/?{GRID}")
    page.wait_for_selector("#front .main-svg")
    counts = sorted(
        int(cell) for cell in page.locator("#sweep-table tbody tr[data-row] > td:nth-child(5)").all_inner_texts()
    )
    limit = counts[len(counts) // 2]
    assert limit < counts[-1]
    page.locator(".sweep-change > summary").click()
    page.locator("#sw-max_compactions-a").fill(str(limit))
    page.get_by_role("button", name="Compare", exact=True).first.click()
    page.wait_for_url(re.compile(f"max_compactions={limit}"))
    assert page.locator("tr.over-limit").count() > 0
    page.locator(".sweep-change > summary").click()
    assert axe(page) == []
    visitor.is_clean()


def test_the_choice_of_the_second_axis_stays_in_its_pane(visit, build):
    """Five choices are wider than half of a small screen; the last, what is forgotten, leads to its axis."""
    visitor = visit(viewport={"width": 1_280, "height": 900})
    page = visitor.page
    home = opened(page, build)
    page.goto(f"{home}compare/?{GRID}")
    page.wait_for_selector("#front .main-svg")
    choices, pane = page.locator(".seg-links").first, page.locator("section:has(> .pane-head .seg-links)").first
    inner, outer = choices.bounding_box(), pane.bounding_box()
    assert inner["x"] + inner["width"] <= outer["x"] + outer["width"]
    choices.get_by_role("link", name="forgotten").click()
    page.wait_for_selector("#front .main-svg >> text=/Forgotten( at most)?, %/")
    visitor.is_clean()


@looks(1440, 420)
def test_nothing_scrolls_sideways_and_axe_is_clean(visit, build, scheme, width):
    """One session, several policies, several sessions."""
    visitor = visit(color_scheme=scheme, viewport={"width": width, "height": 900})
    page = visitor.page
    home = opened(page, build)
    session = home.split("/")[2]
    several = "policy=claude_code&policy=codex_local&policy=anchored_iterative&policy=parametric&window=60000"
    for address in (f"{home}compare/?{GRID}", f"{home}compare/?{several}", f"/sweep/?s={session}", f"{home}apply/"):
        page.goto(address)
        if "apply" not in address:
            page.wait_for_selector("#front .main-svg")
        assert axe(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    visitor.is_clean()


def test_a_long_sweep_runs_in_the_background_while_the_page_waits(visit, tmp_path):
    """Started by the button, followed on the page, its rows appear."""
    path = tmp_path / "long-build.jsonl"
    path.write_text(claude_session(600).replace("Never touch the lock file", "Leave the lock file"), encoding="utf-8")
    visitor = visit()
    page = visitor.page
    upload(page, path, "Leave the lock file")
    home = re.search(r"/s/[^/]+/", page.url)[0]
    page.goto(f"{home}compare/?policy=anchored_iterative&over=trigger=20:80:40")
    page.get_by_role("button", name="Run in the background").click()
    page.wait_for_selector("#sweep-table tbody tr[data-row]:nth-child(41)", timeout=60_000)
    page.wait_for_selector("#front .main-svg")
    visitor.is_clean()
