"""The main job, as a person does it: upload, look, move a slider, open the diff, share, revoke."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.browser.looks import looks
from tests.engine.claude_lines import claude_session
from tests.samples import samples_dir

AXE = Path(__file__).parent / "vendor" / "axe.min.js"


@pytest.fixture(scope="module")
def transcript(tmp_path_factory) -> Path:
    """A session of 60 tool turns, 12,000 to about 60,000 tokens of context."""
    path = tmp_path_factory.mktemp("upload") / "slow-build.jsonl"
    path.write_text(claude_session(60), encoding="utf-8")
    return path


def upload(page, path: Path, title: str) -> None:
    """Choose a file on the library page, which opens the session it becomes."""
    page.goto("/")
    page.set_input_files("#pick-files", str(path))
    page.wait_for_selector("#pressure .main-svg")
    assert page.get_by_role("heading", name=title).first.is_visible()


def pick(page, words: str, side: str = "") -> None:
    """Choose a policy as a hand on the keys does: open the picker, type, Enter."""
    page.locator(f"#f-{side}policy-picker").click()
    page.locator(".picker-find").fill(words)
    page.keyboard.press("Enter")


def axe(page) -> list[str]:
    """What axe finds wrong with the page."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    result = page.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})")
    return [f"{v['id']}: {v['nodes'][0]['html'][:160]}" for v in result["violations"]]


def test_the_whole_path(visit, transcript):
    """Upload → chart → slider changes the events → diff → link → a stranger reads it → revoked."""
    mine = visit()
    page = mine.page
    upload(page, transcript, "Never touch the lock file")
    assert page.locator("#messages-body tr, [id^=m-]").count() >= 100

    page.get_by_role("link", name="Replay", exact=True).click()
    page.wait_for_selector("#saw .main-svg")
    pick(page, "sliding_window")
    page.wait_for_selector("#f-trigger", state="attached")  # the form is the new policy's
    page.wait_for_load_state("networkidle")
    page.fill("#f-window", "40000")
    page.wait_for_selector("tr[data-event]")
    before = page.locator("tr[data-event]").count()
    slider = page.locator("#compact-slider")
    slider.focus()
    slider.press("PageDown")
    page.wait_for_url(re.compile(r"p\.trigger="))
    page.wait_for_function("n => document.querySelectorAll('tr[data-event]').length >= n", arg=before)

    page.get_by_role("link", name=re.compile("Full width")).click()
    page.wait_for_url(re.compile("/diff/"))
    assert page.get_by_text("dropped").first.is_visible()
    diff_figures = page.locator("dl.facts").inner_text()

    page.get_by_role("link", name="Share").click()
    page.get_by_text("A link for this machine alone").click()
    page.get_by_role("button", name="Make it").click()
    link = page.locator("#ln").input_value()
    assert re.fullmatch(rf"{mine.origin}/l/[\w-]{{20,}}/", link)

    stranger = visit()
    assert stranger.page.goto(link).status == 200
    assert stranger.page.get_by_text(re.compile("dropped")).first.is_visible()
    html = stranger.page.content()
    assert html.count(diff_figures.split("\n")[1]) > 0
    assert re.findall(r".{40}[\"']/s/.{40}", html) == []
    assert stranger.page.locator("form").count() == 0

    page.get_by_role("button", name="Revoke").first.click()
    page.wait_for_selector("text=revoked")
    assert stranger.page.goto(link).status == 404
    stranger.complaints.clear()  # the console notes the 404 that was asked for
    stranger.is_clean()
    mine.is_clean()


@pytest.mark.exhaustive
def test_a_real_transcript(visit):
    """A shared sample from choosing the file to its chart; its screenshots stand out."""
    visitor = visit()
    upload(
        visitor.page,
        samples_dir() / "claude-code" / "trycua-pgadmin.jsonl",
        "Create install and launch scripts for: pgAdmin",
    )
    assert visitor.page.get_by_text("×91").first.is_visible()
    visitor.is_clean()


@pytest.mark.exhaustive
def test_the_demo_says_what_happened(visit):
    """The founding example: ×1,540, 2,025 tokens; a byte trigger fires on it falsely, adjusted bytes do not."""
    visitor = visit()
    page = visitor.page
    page.goto("/?q=nothing-is-called-this")
    page.request.post("/demo/", headers={"X-CSRFToken": csrf(page), "Referer": visitor.origin + "/"})
    page.goto("/")
    page.get_by_role("link", name="Pay button covers the total").first.click(timeout=30_000)
    page.wait_for_selector("#pressure .main-svg")
    assert page.get_by_text("×1,540").first.is_visible()
    assert page.get_by_text("2,025").first.is_visible()
    session = page.url
    for measure, fires in (("wire_bytes", True), ("pressure_bytes", False)):
        page.goto(f"{session}replay/?policy=buzz_handoff&window=200000&p.max_output=32768&p.measure={measure}")
        page.wait_for_selector("#saw .main-svg")
        first = page.locator("tr[data-event]").first.inner_text()
        assert (re.search(r"\b18\b", first) is not None) is fires
    visitor.is_clean()


def csrf(page) -> str:
    """The visitor's CSRF token."""
    return page.locator("input[name=csrfmiddlewaretoken]").first.input_value()


@pytest.mark.exhaustive
@looks(1440, 420)
def test_pages_are_accessible_and_never_scroll_sideways(visit, transcript, scheme, width):
    """Axe is clean and the page fits, in both themes, wide and narrow."""
    visitor = visit(color_scheme=scheme, viewport={"width": width, "height": 900})
    page = visitor.page
    upload(page, transcript, "Never touch the lock file")
    session = page.url.split("?")[0]
    query = "?policy=sliding_window&window=40000"
    for address in (
        "/",
        session,
        f"{session}replay/{query}",
        f"{session}diff/{query}",
        f"{session}m/1/",
        f"{session}why/",
    ):
        page.goto(address)
        page.wait_for_load_state("networkidle")
        assert axe(page) == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
    visitor.is_clean()


@pytest.mark.exhaustive
def test_keys(visit, transcript):
    """/ finds the search, t changes the theme, ? opens the help, j moves on, never while typing."""
    visitor = visit()
    page = visitor.page
    upload(page, transcript, "Never touch the lock file")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.locator("[aria-selected=true]").count() == 1
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") in {"light", "dark"}
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.type") == "search"
    page.keyboard.type("jt?")
    assert page.locator("dialog[open]").count() == 0
    visitor.is_clean()


@pytest.mark.exhaustive
def test_reading_needs_no_script(visit, transcript):
    """Without JavaScript every page still shows its figures."""
    upload(visit().page, transcript, "Never touch the lock file")
    plain = visit(java_script_enabled=False)
    plain.page.goto("/")
    plain.page.get_by_role("link", name="Never touch the lock file").first.click()
    assert plain.page.get_by_text("Why it compacted").first.is_visible()
    plain.page.goto(plain.page.url.split("?")[0] + "replay/?policy=sliding_window&window=40000")
    assert plain.page.locator("tr[data-event]").count() > 0
    plain.page.goto(plain.page.url.replace("/replay/", "/diff/"))
    assert plain.page.get_by_text("dropped").first.is_visible()
