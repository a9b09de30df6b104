"""The replay lab in a browser: stepping, play, two replays, saved views, the diff; keys, axe, no script."""

from __future__ import annotations

import json
import re
import time

import pytest

from tests.browser.looks import looks
from tests.browser.test_whole_path import axe, pick, upload
from tests.engine.claude_lines import claude_session

pytestmark = pytest.mark.exhaustive

QUERY = "?policy=sliding_window&window=40000"


@pytest.fixture(scope="module")
def transcript(tmp_path_factory):
    """A session of 60 tool turns, 12,000 to about 60,000 tokens of context."""
    path = tmp_path_factory.mktemp("upload") / "stepped-build.jsonl"
    path.write_text(claude_session(60), encoding="utf-8")
    return path


def lab(visitor, transcript, tail: str = f"replay/{QUERY}") -> str:
    """Open a page of the session; its address."""
    upload(visitor.page, transcript, "Never touch the lock file")
    session = visitor.page.url.split("?")[0]
    visitor.page.goto(f"{session}{tail}")
    return session


def until(page, condition: str, patience: float = 60) -> None:
    """Wait until a JavaScript expression holds (the page's own policy forbids Playwright's waiting for one)."""
    stop = time.monotonic() + patience
    while not page.evaluate(f"Boolean({condition})"):
        assert time.monotonic() < stop, condition
        page.wait_for_timeout(50)


def last(page) -> int:
    """The last request of the branch."""
    return int(page.locator("#scrub").get_attribute("max"))


def place(page) -> int:
    """The request that the scrubber stands at."""
    return int(page.locator("#scrub").input_value())


def test_what_takes_a_moment_shows_that_it_is_under_way(visit, transcript):
    """A click whose answer is held up: a line along the top, and what it goes into is busy, until it is there."""
    visitor = visit()
    page, held = visitor.page, []
    lab(visitor, transcript)
    page.wait_for_selector("#saw .main-svg")
    assert not page.locator("body.busy, [aria-busy]").count()

    def hold(route):
        held.append(route)

    page.route("**/replay/?*", hold)
    page.locator(".events a.ev-n").last.click()
    until(page, "document.body.classList.contains('busy')")
    assert page.locator("#replay-view").get_attribute("aria-busy") == "true"
    held[0].continue_()
    until(page, "!document.querySelector('body.busy, [aria-busy]')")


def test_stepping_by_keys_buttons_and_hand(visit, transcript):
    """Each way leads to the same list, the address follows, and the reader's focus stays where it was."""
    visitor = visit()
    page = visitor.page
    lab(visitor, transcript)
    page.wait_for_selector("#saw .main-svg")
    start = place(page)
    page.locator("#main").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".step-box")
    page.wait_for_url(re.compile(rf"request={start + 1}$"))
    assert page.locator("#step-place").inner_text() == f"request {start + 1}"
    assert page.locator(".step-facts").inner_text().startswith("Context sent")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(re.compile(rf"request={start}$"))
    page.wait_for_selector(".gap-row")
    assert "dropped here" in page.locator(".gap-row").first.inner_text()
    page.locator("#step-after").click()
    page.wait_for_url(re.compile(rf"request={start + 1}$"))
    scrub = page.locator("#scrub")
    scrub.focus()
    scrub.press("End")
    page.wait_for_url(re.compile(rf"request={last(page)}$"))
    assert page.evaluate("document.activeElement.id") == "scrub"
    until(page, f"document.querySelector('.step-box').getAttribute('aria-label').endsWith('request {last(page)}')")
    assert page.locator(".plot-step").get_attribute("data-x") == str(last(page))
    visitor.is_clean()


def test_typing_is_not_stepping(visit, transcript):
    """Arrow keys in a field, on a slider and on the threshold belong to them."""
    visitor = visit()
    page = visitor.page
    lab(visitor, transcript)
    page.wait_for_selector("#saw .main-svg")
    before = place(page)
    for selector in ("#f-window", "#compact-slider", "#threshold-box .pill"):
        page.locator(selector).focus()
        page.keyboard.press("ArrowRight")
    page.wait_for_load_state("networkidle")
    assert page.locator(".step-box").count() == 0
    assert "request=" not in page.url
    assert before >= 0
    visitor.is_clean()


def test_play_runs_to_the_end_and_can_be_stopped(visit, transcript):
    """Play steps at the speed chosen; with less motion asked for, once a second at most."""
    visitor = visit()
    page = visitor.page
    lab(visitor, transcript, f"replay/{QUERY}&request=50")
    page.wait_for_selector("#saw .main-svg")
    page.select_option("#speed", "10")
    page.get_by_role("button", name="Play").click()
    until(page, "Number(document.getElementById('scrub').value) > 52")
    page.get_by_role("button", name="Pause").click()
    page.wait_for_load_state("networkidle")
    stopped = place(page)
    page.wait_for_timeout(400)
    assert place(page) == stopped
    page.get_by_role("button", name="Play").click()
    until(page, f"document.getElementById('scrub').value === '{last(page)}'", 30)
    until(page, "document.getElementById('play').getAttribute('aria-pressed') === 'false'")
    visitor.is_clean()

    calm = visit(reduced_motion="reduce")
    calm.page.goto(re.sub(r"request=\d+", "request=10", page.url))
    calm.page.wait_for_selector("#saw .main-svg")
    calm.page.select_option("#speed", "10")
    started = time.monotonic()
    calm.page.get_by_role("button", name="Play").click()
    calm.page.wait_for_timeout(1_600)
    assert place(calm.page) <= 11 + time.monotonic() - started
    calm.is_clean()


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_show_it_happen_plays_once_by_itself(visit, transcript, motion):
    """Up to its request and no further; who asked for less motion finds that request; a reload plays nothing."""
    visitor = visit(reduced_motion=motion)
    page = visitor.page
    page.add_init_script("""window.places = new Set();
        const note = () => window.places.add(Number(document.getElementById('scrub').value));
        setInterval(() => { if (document.getElementById('scrub')) note(); }, 40);""")
    lab(visitor, transcript, tail=f"replay/{QUERY}&request=40#play")
    page.wait_for_selector("#saw .main-svg")
    until(page, "location.hash === ''")
    if motion != "reduce":
        until(page, "window.places.has(34)")
    until(page, "window.places.has(40) && document.getElementById('play').getAttribute('aria-pressed') === 'false'")
    page.wait_for_url(re.compile(r"request=40$"))
    assert sorted(page.evaluate("[...window.places]")) == ([40] if motion == "reduce" else list(range(34, 41)))
    page.reload()
    page.wait_for_selector("#saw .main-svg")
    page.wait_for_timeout(500)
    assert page.evaluate("[...window.places]") == [40]
    visitor.is_clean()


def test_a_slider_keeps_the_request_and_the_list_follows(visit, transcript):
    """The policy changes under the same request; the list is asked for once the hand rests."""
    visitor = visit()
    page = visitor.page
    lab(visitor, transcript, f"replay/{QUERY}&request=45")
    page.wait_for_selector("#saw .main-svg")
    before = page.locator(".step-facts").inner_text()
    slider = page.locator("#compact-slider")
    slider.focus()
    for _ in range(20):
        slider.press("ArrowLeft")
    page.wait_for_url(re.compile(r"p\.trigger="))
    until(page, f"document.querySelector('.step-facts')?.innerText !== {json.dumps(before)}")
    assert "request=45" in page.url
    assert place(page) == 45
    page.get_by_role("link", name=re.compile("Reset everything")).click()
    until(page, "!location.search.includes('p.trigger')")
    visitor.is_clean()


def test_two_replays_from_one(visit, transcript):
    """A/B begins with a copy; a change of one moves its chart and the table; a policy brings its own fields."""
    visitor = visit()
    page = visitor.page
    lab(visitor, transcript)
    page.get_by_role("link", name="Compare with another").click()
    page.wait_for_url(re.compile("/ab/"))
    page.wait_for_selector("#saw-A .main-svg")
    page.wait_for_selector("#saw-B .main-svg")
    assert page.get_by_text("Both replays are the same").is_visible()
    page.locator("#f-b-trigger").fill("50")
    page.wait_for_url(re.compile(r"b\.p\.trigger=50"))
    until(page, "!document.body.innerText.includes('Both replays are the same')")
    counts = page.locator(".ab-table tr", has_text="Compactions").first.locator("td").all_inner_texts()
    assert int(counts[1]) > int(counts[0])
    pick(page, "No compaction", "b-")
    until(page, "document.getElementById('f-b-trigger') === null")
    page.wait_for_url(re.compile(r"b\.policy=none"))
    page.get_by_role("link", name=re.compile("Compare the lists")).click()
    page.wait_for_url(re.compile(r"/diff/.*b\.policy=none"))
    assert page.get_by_text("A: what sliding_window sends").is_visible()
    visitor.is_clean()


def test_saved_views_are_kept_compared_and_deleted(visit, transcript):
    """Two replays saved by name, set side by side from the list, one deleted after a question."""
    visitor = visit()
    page = visitor.page
    session = lab(visitor, transcript)
    for name, query in (("Sliding at 40 k", QUERY), ("Nothing at all", "?policy=none")):
        page.goto(f"{session}replay/{query}")
        page.get_by_role("link", name="Save", exact=True).click()
        page.wait_for_selector("dialog[open]")
        page.fill("#save-name", name)
        page.get_by_role("button", name="Save", exact=True).click()
        page.wait_for_selector(f"dialog[open] strong:has-text('{name}')")
    page.goto("/saved/")
    for name in ("Sliding at 40 k", "Nothing at all"):
        page.get_by_label(f"Pick {name}").check()
    assert axe(page) == []
    page.get_by_role("button", name="Compare the two picked").click()
    page.wait_for_selector("#saw-B .main-svg")
    page.goto("/saved/")
    page.get_by_role("link", name="Delete Nothing at all").click()
    page.wait_for_selector("dialog[open]")
    page.get_by_role("button", name="Delete it").click()
    page.wait_for_url(re.compile(r"/saved/$"))
    assert page.get_by_text("Nothing at all").count() == 0
    visitor.is_clean()


def test_the_diff_by_keys(visit, transcript):
    """N and p walk the changes, one fate can be shown alone, two requests are asked for by number."""
    visitor = visit()
    page = visitor.page
    lab(visitor, transcript, f"diff/{QUERY}")
    page.keyboard.press("n")
    assert page.locator("#change-place").inner_text().startswith("change 1 of")
    page.get_by_role("link", name="− dropped").click()
    page.wait_for_url(re.compile("only=dropped"))
    assert page.locator(".diff-lists .d-kept").count() == 2, "the system prompt alone"
    page.get_by_label("Request before").fill("5")
    page.get_by_label(re.compile("Request after")).fill("30")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url(re.compile(r"from=5&to=30"))
    assert page.locator(".diff-heads").get_by_text("sent at request 30").is_visible()
    visitor.is_clean()


@looks(1440, 420)
def test_the_lab_is_accessible_and_never_scrolls_sideways(visit, transcript, scheme, width):
    """Axe is clean and every page fits, in both themes, wide and narrow."""
    visitor = visit(color_scheme=scheme, viewport={"width": width, "height": 900})
    page = visitor.page
    session = lab(visitor, transcript)
    for tail in (
        f"replay/{QUERY}&request=40",
        "replay/?policy=claude_code&window=40000&summarizer=stub:500&fail=always",
        f"compare/ab/{QUERY}&b.policy=claude_code",
        f"diff/{QUERY}&from=5&to=30",
        "diff/?policy=anthropic_clear_tool_uses&p.trigger=20000",
        f"diff/{QUERY}&b.policy=none&request=40",
    ):
        page.goto(f"{session}{tail}")
        page.wait_for_load_state("networkidle")
        assert axe(page) == [], tail
        assert page.evaluate("document.documentElement.scrollWidth") <= width, tail
    visitor.is_clean()


def test_stepping_needs_no_script(visit, transcript):
    """Without JavaScript the links step, the list stands there, and A/B is a form."""
    session = lab(visit(), transcript)
    plain = visit(java_script_enabled=False)
    plain.page.goto(f"{session}replay/{QUERY}&request=40")
    assert plain.page.locator(".step-box tbody tr").count() > 5
    plain.page.locator("#step-after").click()
    assert "request=41" in plain.page.url
    plain.page.goto(f"{session}compare/ab/{QUERY}&b.policy=none")
    assert plain.page.locator(".ab-table tr").count() > 5
    plain.page.get_by_role("button", name="Replay both").click()
    assert "b.policy=none" in plain.page.url


def test_a_policy_is_found_by_what_it_does(visit, transcript):
    """Typing filters by name and line; arrows, Enter and Esc; focus comes back; a select without a script."""
    visitor = visit()
    page = visitor.page
    session = lab(visitor, transcript)
    page.wait_for_selector("#saw .main-svg")
    button = page.locator("#f-policy-picker")
    assert "Sliding window" in button.inner_text()
    assert not page.locator("#f-policy").is_visible()
    button.focus()
    page.keyboard.press("ArrowDown")
    assert page.locator(".picker-group").first.get_attribute("aria-label") == "Used by this session"
    page.keyboard.press("Escape")
    assert page.locator(".picker-pop").count() == 0
    assert page.evaluate("document.activeElement.id") == "f-policy-picker"
    page.keyboard.type("nine tenths codex")
    found = page.locator(".picker-option strong").all_inner_texts()
    assert "Codex local compaction" in found
    assert all("Codex" in name for name in found)
    while "local" not in page.locator(".picker-option.at").inner_text():
        page.keyboard.press("ArrowDown")
    assert page.locator(".picker-find").get_attribute("aria-activedescendant") == "f-policy-codex_local"
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("policy=codex_local"))
    until(page, "document.activeElement.id === 'f-policy-picker'")
    page.keyboard.press("Enter")
    page.locator(".picker-find").fill("no such words")
    assert page.locator(".picker-none").is_visible()
    assert axe(page) == []
    page.go_back()
    page.wait_for_url(re.compile("policy=sliding_window"))
    visitor.is_clean()

    bare = visit(java_script_enabled=False)
    bare.page.goto(f"{session}replay/{QUERY}")
    assert bare.page.locator("#f-policy").is_visible()
    bare.page.select_option("#f-policy", "codex_local")
    bare.page.get_by_role("button", name="Replay").click()
    assert "policy=codex_local" in bare.page.url
    assert "Codex local compaction" in bare.page.locator("#f-policy").inner_text()
    bare.is_clean()


def test_compact_at_writes_the_parameter_that_moves_the_trigger(visit, transcript):
    """The slider speaks tokens; the address has the policy's own parameter; the number and the pill agree with it."""
    visitor = visit()
    page = visitor.page
    lab(visitor, transcript, "replay/?policy=claude_code")
    page.wait_for_selector("#saw .main-svg")
    assert page.locator("#compact-now").inner_text() == "167,000"
    slider = page.locator("#compact-slider")
    slider.focus()
    slider.press("PageDown")
    page.wait_for_url(re.compile(r"p\.pct_override=\d+"))
    shown = page.locator("#compact-now").inner_text()
    assert int(shown.replace(",", "")) < 167_000
    until(page, f"document.querySelector('#threshold-box .pill').textContent.endsWith('{shown}')")
    # The percentage is a whole one: what it comes to is said while the hand is on the slider, and stays.
    slider.evaluate("s => { s.value = 75000; s.dispatchEvent(new Event('input', { bubbles: true })); }")
    assert page.locator("#compact-now").inner_text() == "75,600"
    page.wait_for_url(re.compile(r"p\.pct_override=42"))
    until(page, "document.querySelector('#threshold-box .pill').textContent.endsWith('75,600')")
    page.get_by_role("link", name=re.compile("As recorded|Default")).click()
    until(page, "!location.search.includes('pct_override')")
    until(page, "document.getElementById('compact-now').textContent === '167,000'")
    visitor.is_clean()


def test_the_slider_s_ends_follow_the_window(visit, transcript):
    """Range, track and mark are those of the window that stands in its field."""
    visitor = visit()
    page = visitor.page
    lab(visitor, transcript, "replay/?policy=parametric")
    page.wait_for_selector("#saw .main-svg")
    page.locator("#f-window").fill("128,000")
    until(page, "document.querySelector('.compact-marks span:last-child').textContent === '128,000'")
    until(page, "document.getElementById('compact-slider').max === '128000'")
    assert page.locator("#compact-now").inner_text() == "102,400"
    assert page.locator("#compact-range .compact-mark").inner_text() == "Default: 102,400"
    visitor.is_clean()


def test_every_other_setting_is_searched(visit, transcript):
    """Words find a setting by what it does, what is set is replayed, and what was changed stands in sight."""
    visitor = visit()
    page = visitor.page
    lab(visitor, transcript, "replay/?policy=claude_code")
    page.wait_for_selector("#saw .main-svg")
    listed = page.locator(".more-settings [data-field]:visible")
    assert listed.count() == 0
    search = page.get_by_placeholder("Search all settings")
    search.click()
    n_all = listed.count()
    assert n_all > 30
    search.fill("trigger sizes")
    assert [text.split("\n")[0] for text in listed.all_inner_texts()] == ["Trigger counts with"]
    search.press("Enter")
    page.select_option("#f-estimator", "wire_bytes")
    page.wait_for_url(re.compile(r"\?.*estimator=wire_bytes$"))
    search.fill("no such words")
    assert page.get_by_text("No setting has these words.").is_visible()
    assert axe(page) == []
    search.press("Escape")
    assert listed.count() == n_all
    page.reload()
    page.wait_for_selector("#saw .main-svg")
    assert page.locator("#f-estimator").is_visible()
    page.get_by_role("link", name=re.compile("reset Trigger counts with")).click()
    page.wait_for_url(lambda url: "estimator" not in url)
    visitor.is_clean()
