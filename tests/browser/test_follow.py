"""A watched file grows, and the page of its session with it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.processes import ROOT, environment, kill, rows, wait_for
from tests.services.claude_lines import Lines, session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.serving import Served

pytestmark = pytest.mark.exhaustive

RANGE = "document.getElementById('pressure')._fullLayout.xaxis.range.slice()"
N_BARS = "document.getElementById('pressure').data.filter(t => t.type === 'bar').flatMap(t => Array.from(t.x))"
PANE = "document.querySelector('#message-list .scroll')"


@pytest.fixture(scope="module")
def folder(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that ``ctxweb watch`` follows into the server's data directory."""
    watched = tmp_path_factory.mktemp("watched")
    command = [sys.executable, "-m", "ctxweb", "watch", str(watched)]
    process = subprocess.Popen(
        command, env=environment(served.data), cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True
    )
    yield watched
    kill(process)


@pytest.fixture
def session_of(served: Served):
    """The id of the session that a watched file became, once it is stored."""

    def found(path: Path) -> str:
        query = (
            "select s.id from agent_sessions_session s join agent_sessions_livesource l on l.upload_id = s.upload_id"
            f" where l.path = '{path}'"
        )
        wait_for(lambda: rows(served.data, query) != [], f"{path} is stored")
        return rows(served.data, query)[0][0]

    return found


def becomes_true(page, expression: str) -> None:
    """Until the expression holds; asked from here, because the page's policy forbids the eval of wait_for_function."""
    wait_for(lambda: page.evaluate(expression), expression)


def append(path: Path, lines: Lines, result: str | bytes) -> None:
    """One more turn at the end of the file, as an agent writes it."""
    n = len(lines.lines)
    lines.turn(result)
    with path.open("ab") as file:
        file.write(b"\n".join(lines.lines[n:]) + b"\n")


def test_new_lines_appear(visit, folder, session_of):
    path, lines = folder / "a.jsonl", Lines("aaaaaaaa-2222-3333-4444-555555555555").prompt("Follow me").turn("first")
    path.write_bytes(lines.bytes())
    key = session_of(path)
    visitor = visit()
    page = visitor.page
    page.goto(f"/s/{key}/")
    page.wait_for_selector("#pressure .main-svg")
    page.wait_for_selector("#follow[data-state=live]")
    assert page.get_attribute("#follow-switch", "aria-pressed") == "true", "the file has just changed"
    assert page.locator("#rows tr[id^=m-]").count() == 3
    bars = max(page.evaluate(N_BARS))

    append(path, lines, "the second result")
    page.wait_for_selector("#m-4")
    assert "the second result" in page.inner_text("#m-4")
    becomes_true(page, f"Math.max(...{N_BARS}) === 4")
    assert bars == 2
    assert "5" in page.inner_text("#message-filters [aria-current]")
    assert "2 requests" in page.inner_text("#session-head")

    # the row that was there stays selected, the inspector open, and a new row opens like any other
    assert page.locator("#rows tr[aria-selected]").count() == 1
    page.click("#m-4 [data-row]")
    page.wait_for_selector("#inspector [data-message='4']")
    visitor.is_clean()


def test_the_reader_keeps_place_and_zoom(visit, folder, session_of):
    path = folder / "b.jsonl"
    lines = Lines("bbbbbbbb-2222-3333-4444-555555555555").prompt("Follow me")
    for n in range(30):
        lines.turn(f"result {n}")
    path.write_bytes(lines.bytes())
    visitor = visit(viewport={"width": 1300, "height": 760})
    page = visitor.page
    page.goto(f"/s/{session_of(path)}/?follow=on")
    page.wait_for_selector("#pressure .main-svg")
    page.wait_for_selector("#follow[data-state=live]")
    box = page.locator("#pressure .nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 22, steps=5)
    page.mouse.up()
    becomes_true(page, f"{RANGE}[0] > 1")
    zoomed = page.evaluate(RANGE)
    append(path, lines, "one more")
    becomes_true(page, f"Math.max(...{N_BARS}) === 62")
    wait_for(lambda: page.evaluate(RANGE) == zoomed, "the zoom is kept")
    assert page.locator("#m-62").count() == 0, "the list is of the range"

    page.click("[data-whole]")
    page.wait_for_selector("#m-62", state="attached")
    page.evaluate(f"{PANE}.scrollTop = 300")
    append(path, lines, "and one more")
    page.wait_for_selector("#m-64", state="attached")
    assert page.evaluate(f"{PANE}.scrollTop") == 300

    page.evaluate(f"{PANE}.scrollTop = {PANE}.scrollHeight")
    append(path, lines, "at the end")
    page.wait_for_selector("#m-66", state="attached")
    becomes_true(page, f"{PANE}.scrollHeight - {PANE}.scrollTop - {PANE}.clientHeight < 5")

    page.click("#follow-switch")
    assert page.get_attribute("#follow-switch", "aria-pressed") == "false"
    beside = visit().page
    beside.goto(f"/s/{session_of(path)}/?follow=on")
    beside.wait_for_selector("#follow[data-state=live], #follow[data-state=polling]")
    append(path, lines, "unseen")
    beside.wait_for_selector("#m-68", state="attached")
    assert page.locator("#m-68").count() == 0, "another reader has it"
    page.click("#follow-switch")
    page.wait_for_selector("#m-68", state="attached")
    visitor.is_clean()


def test_rows_wait_for_the_end_of_the_list(visit, folder, session_of):
    """A long list that is not shown to its end gets no rows out of turn: only the way to them changes."""
    path = folder / "long.jsonl"
    lines = Lines("cccccccc-2222-3333-4444-555555555555").prompt("Follow me")
    for n in range(120):
        lines.turn(f"result {n}")
    path.write_bytes(lines.bytes())
    page = visit().page
    page.goto(f"/s/{session_of(path)}/?follow=on")
    page.wait_for_selector("#follow[data-state=live]")
    assert page.locator("#rows tr[id^=m-]").count() == 100
    assert "of 141" in page.inner_text("#more-next")
    append(path, lines, "one more")
    becomes_true(page, "document.getElementById('more-next').innerText.includes('of 143')")
    assert page.locator("#rows tr[id^=m-]").count() == 100
    assert page.locator("#more-next").count() == 1


def test_a_replaced_file_says_so(visit, folder, session_of):
    path = folder / "c.jsonl"
    path.write_bytes(session(3, session="dddddddd-2222-3333-4444-555555555555"))
    visitor = visit()
    page = visitor.page
    page.goto(f"/s/{session_of(path)}/")
    page.wait_for_selector("#follow[data-state=live]")
    path.write_bytes(session(1, session="eeeeeeee-2222-3333-4444-555555555555"))
    page.wait_for_selector("#follow[data-state='file replaced']")
    assert page.locator("#rows tr[id^=m-]").count() == 7
    page.reload()
    assert page.locator("#follow").count() == 0
    visitor.is_clean()


def test_more_readers_than_streams_poll(visit, folder, session_of, served):
    path, lines = folder / "d.jsonl", Lines("ffffffff-2222-3333-4444-555555555555").prompt("Follow me").turn("first")
    path.write_bytes(lines.bytes())
    key = session_of(path)
    pages = []
    for _ in range(9):  # four streams in each of two processes
        pages.append(visit().page)
        pages[-1].goto(f"/s/{key}/?follow=on")
        pages[-1].wait_for_selector("#follow[data-state=live], #follow[data-state=polling]")
    states = [page.get_attribute("#follow", "data-state") for page in pages]
    assert states.count("polling") >= 1, states
    assert served.get("/healthz").status == 200
    append(path, lines, "for all")
    for page in pages:
        page.wait_for_selector("#m-4")
