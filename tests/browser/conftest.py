"""Chromium for the browser tests, and a real server with its worker behind it.

Without Chromium the tests skip and say so; in CI they fail.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.cli.processes import set_up
from tests.cli.serving import Served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here drives a browser."""
    for item in items:
        if "tests/browser" in str(item.path):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """The distribution's Chromium, headless.

    It ends with the last test of this folder: Playwright's event loop would have Django refuse the tests after it.
    """
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        message = "Chromium is not installed (apt-get install chromium): browser tests cannot run"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """``ctxweb serve`` in an empty data directory."""
    running = Served(set_up(tmp_path_factory.mktemp("data")))
    try:
        running.port()
        yield running
    finally:
        running.stop()


class Visit:
    """One visitor: a fresh context whose console, errors and requests are watched."""

    def __init__(self, browser: Browser, origin: str, **options: object) -> None:
        self.origin = origin
        self.context = browser.new_context(base_url=origin, **options)  # type: ignore[arg-type]
        self.context.set_default_timeout(60_000)  # patience with a busy machine; what is there is not waited for
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.elsewhere: list[str] = []
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type in {"error", "warning"} else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self._note(request.url))

    def _note(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"data", "blob"} and f"{parts.scheme}://{parts.netloc}" != self.origin:
            self.elsewhere.append(url)

    def is_clean(self) -> None:
        """Nothing on the console, no request to another origin."""
        assert self.elsewhere == []
        assert self.complaints == []


@pytest.fixture
def visit(chromium: Browser, served: Served) -> Iterator[object]:
    """Makes visitors; closes them afterwards."""
    made: list[Visit] = []

    def make(**options: object) -> Visit:
        made.append(Visit(chromium, f"http://127.0.0.1:{served.port()}", **options))
        return made[-1]

    yield make
    for visitor in made:
        visitor.context.close()
