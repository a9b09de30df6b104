"""Walks every page of given sessions, at three widths and in two themes: faults of the look, and a picture of each.

``python scripts/looks.py http://127.0.0.1:8000/s/NAME/ [another …]`` asks a running server without accounts, prints
one line per fault (tests/browser/every_page.js says what counts, walked.py which pages and states) and writes the
pictures into ``--into``. Ends with 1 where it found one. Chromium has to be installed.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxweb.settings")

import click  # noqa: E402
import django  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

django.setup()

from tests.browser import walked  # noqa: E402
from tests.routes import routes  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDTHS, THEMES, HEIGHT = (1440, 1024, 420), ("light", "dark"), 900
MOST_SCREENS = 12


@click.command()
@click.argument("sessions", nargs=-1, required=True)
@click.option("--into", type=click.Path(path_type=Path), default=Path("looks"), help="Folder for the pictures.")
def main(sessions: tuple[str, ...], into: Path) -> None:
    """Walk SESSIONS (addresses of session pages) and the pages around them."""
    into.mkdir(parents=True, exist_ok=True)
    n_faults = 0
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(bypass_csp=True, base_url=urljoin(sessions[0], "/"))
        page.set_default_timeout(180_000)
        for address in _addresses(sessions):
            if not walked.opens(page, address):
                continue
            for fault in sorted(_faults(page, into / (re.sub(r"\W+", "-", address).strip("-") or "library"))):
                print(f"{address}  {fault}", flush=True)
                n_faults += 1
        browser.close()
    sys.exit(min(n_faults, 1))


def _addresses(sessions: tuple[str, ...]) -> list[str]:
    """Every page that needs no more than a session and a message."""
    found = []
    for one in sessions:
        values = {"session_id": one.rstrip("/").rsplit("/", 1)[1], "index": 0}
        places = walked.Places(dict(values))
        found += [
            places.address(name, query)
            for name in walked.pages()
            if set(routes()[name]) <= set(values)
            for query, long in walked.states(name)
            if not long
        ]
    return list(dict.fromkeys(found))


def _faults(page: Page, picture: Path) -> set[str]:
    """What is wrong with the page that is open, a screenful at a time."""
    found = set()
    for width in WIDTHS:
        for theme in THEMES:
            walked.look(page, width, theme)
            page.screenshot(path=f"{picture}-{width}-{theme}.png")
        wrong = walked.below(page) + walked.menus(page)
        high = page.evaluate("document.scrollingElement.scrollHeight")
        for top in range(0, min(high, MOST_SCREENS * HEIGHT), HEIGHT - 100):
            page.evaluate("top => scrollTo(0, top)", top)
            wrong += walked.seen(page)
        page.evaluate("scrollTo(0, 0)")
        found |= {f"{width} px: {fault}" for fault in wrong}
    return found


if __name__ == "__main__":
    main()
