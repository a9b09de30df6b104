"""Walks every screen of given sessions, at three widths and in two themes: faults of the look, and a picture of each.

``python scripts/looks.py http://127.0.0.1:8000/s/NAME/ [another …]`` asks a running server, prints one line per fault
(tests/browser/every_page.js says what counts) and writes the pictures into ``--into``. Ends with 1 where it found one.
Chromium has to be installed.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import click
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Page

MEASURE = (Path(__file__).parents[1] / "tests/browser/every_page.js").read_text(encoding="utf-8").split("\n", 2)[2]
SCREENS = (
    "", "replay/?policy=claude_code&p.pct_override=30", "diff/?policy=claude_code&p.pct_override=30", "compare/",
    "compare/ab/?policy=claude_code&p.pct_override=30", "transcript/", "quality/?of=recorded", "why/",
    "apply/", "share/",
)  # fmt: skip
AROUND = ("/", "/settings/", "/fleet/", "/saved/")
"""Screens that are no session's."""
WIDTHS, THEMES, HEIGHT = (1440, 1024, 420), ("light", "dark"), 900
DRAWN = """() => [...document.querySelectorAll('.plot[data-figure]')].every((plot) =>
  !plot.checkVisibility() || !plot.clientWidth ||
  (plot._fullLayout && Math.abs(plot._fullLayout.width - Math.floor(plot.clientWidth)) < 1))"""


@click.command()
@click.argument("sessions", nargs=-1, required=True)
@click.option("--into", type=click.Path(path_type=Path), default=Path("looks"), help="Folder for the pictures.")
def main(sessions: tuple[str, ...], into: Path) -> None:
    """Walk SESSIONS (addresses of session pages) and the screens around them."""
    into.mkdir(parents=True, exist_ok=True)
    addresses = [urljoin(sessions[0], at) for at in AROUND] + [one + tail for one in sessions for tail in SCREENS]
    n_faults = 0
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(bypass_csp=True)
        page.set_default_timeout(180_000)
        for address in addresses:
            page.goto(address)
            for fault in sorted(_faults(page, into / re.sub(r"\W+", "-", address.split("/", 3)[3]).strip("-"))):
                print(f"{address}  {fault}", flush=True)
                n_faults += 1
        browser.close()
    sys.exit(min(n_faults, 1))


def _faults(page: Page, picture: Path) -> set[str]:
    """What is wrong with the page that is open, a screenful at a time."""
    found = set()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        for theme in THEMES:
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
            page.wait_for_function(DRAWN)
            page.screenshot(path=f"{picture}-{width}-{theme}.png")
        high = page.evaluate("document.scrollingElement.scrollHeight")
        for top in range(0, min(high, 12 * HEIGHT), HEIGHT - 100):
            page.evaluate("top => scrollTo(0, top)", top)
            found |= {f"{width} px: {fault}" for fault in page.evaluate(MEASURE)}
        page.evaluate("scrollTo(0, 0)")
    return found


if __name__ == "__main__":
    main()
