"""What fails in a browser says so beside its cause, with what to do: an upload, a paste, a session that is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.test_library_page import drop
from tests.services.claude_lines import session

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.exhaustive

WRONG = '{"foo": 1, "bar": [1, 2]}'
MOST_PIXELS = 120
"""Height of a note in the lab's column."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("dropped")
    (made / "good.jsonl").write_bytes(session(3))
    (made / "large.jsonl").write_bytes(b" " * 300_000)
    return made


def test_what_fails_says_so(visit: Any, files: Path) -> None:
    seen = visit()
    page = seen.page
    too_large_is_told_when_the_library_has_come(page, files)
    a_wrong_paste_keeps_its_text(page)
    a_session_deleted_elsewhere_is_told_briefly(seen)


def too_large_is_told_when_the_library_has_come(page: Any, files: Path) -> None:
    page.goto("/")
    assert page.query_selector(".first")
    page.evaluate("document.getElementById('upload-form').dataset.most = '250000'")
    drop(page, files)
    page.wait_for_selector("#sessions .lib")
    failed = page.wait_for_selector("#sending tr:has(.badge-danger)").inner_text()
    assert "large.jsonl" in failed
    assert "This upload is larger than" in failed
    assert "CTXWEB_MAX_UPLOAD_MB" in failed


def a_wrong_paste_keeps_its_text(page: Any) -> None:
    page.goto("/")
    page.click("#sessions .menu > summary")
    page.click("text=Paste JSON")
    page.fill("#paste-text", WRONG)
    page.click("#paste .btn-primary")
    page.wait_for_selector("#paste[open] [data-failure]")
    assert page.input_value("#paste-text") == WRONG
    assert "no known transcript format" in page.inner_text("#paste [data-failure]")
    page.fill("#paste-text", page.inner_text("#paste [data-shape] pre"))
    page.click("#paste .btn-primary")
    page.wait_for_selector("#paste:not([open])", state="attached")
    page.wait_for_selector("#uploads td a[href*='/s/']")


def a_session_deleted_elsewhere_is_told_briefly(seen: Any) -> None:
    page = seen.page
    page.goto("/")
    address = page.get_attribute("th a[href*='/s/']", "href").partition("?")[0]
    page.goto(f"{address}replay/")
    page.wait_for_selector("input[type=range]")
    other = page.context.new_page()
    other.goto(f"/delete/?s={address.strip('/').rpartition('/')[2]}")
    with other.expect_navigation():
        other.click("form .btn-danger")
    other.close()
    seen.complaints.clear()
    page.evaluate(
        "(() => { const e = document.querySelector('input[type=range]'); e.value = e.value / 2;"
        "for (const n of ['input', 'change']) e.dispatchEvent(new Event(n, { bubbles: true })); })()"
    )
    note = page.wait_for_selector("[data-failure]")
    assert [said for said in seen.complaints if "404" not in said] == []
    assert "There is no such session; it may have been deleted." in note.inner_text()
    assert note.bounding_box()["height"] < MOST_PIXELS
    assert note.query_selector("a").get_attribute("href") == "/"
