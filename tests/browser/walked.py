"""What the walk opens: every page that the URL resolver knows, its states, who opens it, how it is looked at.

A new page is walked without a line here, as long as its arguments are among ``Places``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.urls import reverse

from tests.every import EVERY
from tests.routes import routes

if TYPE_CHECKING:
    from playwright.sync_api import Page

MEASURE = (Path(__file__).parent / "every_page.js").read_text(encoding="utf-8")
TIGHT = "policy=claude_code&p.pct_override=30"
STATES: dict[str, tuple[str, ...]] = {
    "sessions:library": ("", "q=nothing", "q=Pay", "find=1", "only=overcount", "sort=title"),
    "sessions:session": ("", "m=37", "m=160"),
    "sessions:replay": ("", f"{TIGHT}&request=40", "policy=none", "policy=nope"),
    "sessions:diff": (TIGHT, ""),
    "sessions:quality": (TIGHT, "of=recorded"),
    "sessions:ab": (TIGHT,),
    "sessions:sweep": ("", "p.pct_override=40:100:4"),
    "sessions:transcript": ("", "m=100", "q=total", "q=nothing-has-this", "show=words"),
    "sessions:share": ("view=replay", "view=session", f"view=diff&{TIGHT}"),
    "sessions:save": (f"kind=replay&{TIGHT}",),
    "sessions:delete": ("", "s={session_id}"),
}
"""Queries of a route beside none."""
BOTH = {"sessions:session", "sessions:replay", "sessions:transcript", "sessions:quality", "sessions:why"}
"""Pages that every day are walked, in their first state, for the long session too."""
NO_PAGE = ("api:", "healthz", "readyz", "logout")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
STAGES: tuple[tuple[int, str, list[str]], ...] = (
    (1440, "light", RULES), (420, "dark", ["color-contrast"]), (320, "light", []),
)  # fmt: skip
"""Width, theme and what axe looks for: the theme changes nothing but contrast.

320 px is a window of 1,280 at a zoom of 400% (WCAG 1.4.10), and of 640 at 200% (1.4.4).
"""
if EVERY:
    STAGES += (
        (1440, "dark", ["color-contrast"]), (1024, "light", []), (1024, "dark", []), (420, "light", []),
    )  # fmt: skip
DRAWN = """() => [...document.querySelectorAll('.plot[data-figure], .js-plotly-plot')].every((plot) =>
  !plot.checkVisibility() || !plot.clientWidth ||
  (plot._fullLayout && Math.abs(plot._fullLayout.width - Math.floor(plot.clientWidth)) < 1))"""
SETTLED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""What follows a window's new width, tables laid out anew, has been done."""
FOLDED = "document.querySelectorAll('main details:not(.menu)').forEach((one) => { one.open = true; })"
MENUS = "() => [...document.querySelectorAll('details.menu')].filter((one) => one.checkVisibility()).length"
MENU = """at => [...document.querySelectorAll('details.menu')].filter((one) => one.checkVisibility())
  .forEach((one, n) => { one.open = n === at; })"""
OPENERS = """() => [...document.querySelectorAll("[data-dialog], [hx-target='#dialog-slot']")]
  .map((one) => one.dataset.dialog ?? one.getAttribute('hx-get').split('&')[0])"""
OPEN = """name => [...document.querySelectorAll("[data-dialog], [hx-target='#dialog-slot']")]
  .find((one) => (one.dataset.dialog ?? one.getAttribute('hx-get').split('&')[0]) === name).click()"""


@dataclass(slots=True)
class Places:
    """Values for the arguments of routes, by name; ``long`` is the session beside the demo."""

    values: dict[str, object]
    long: str = ""
    opened: set[str] = field(default_factory=set)

    def address(self, route: str, query: str, *, long: bool = False) -> str:
        """Where a route is in a state, for the demo or for the long session."""
        names = routes()[route]
        unknown = set(names) - set(self.values)
        assert not unknown, f"{route}: say in Places what {unknown} may be"
        values = {**self.values, "session_id": self.long} if long else self.values
        path = reverse(route, kwargs={name: values[name] for name in names})
        return f"{path}?{query.format(**values)}" if query else path


def states(route: str) -> list[tuple[str, bool]]:
    """The queries of a route, and whether it is the long session's: each for the demo, some for both."""
    found = [(query, False) for query in STATES.get(route, ("",))]
    if "session_id" in routes()[route]:
        found += [(query, True) for query, _ in found[: len(found) if EVERY else int(route in BOTH)]]
    return found


def pages(*, of_links: bool = False) -> list[str]:
    """Routes that may answer with a page; ``of_links``: only those that a token opens."""
    return [
        name for name, arguments in routes().items()
        if not name.startswith(NO_PAGE) and (not of_links or "token" in arguments)
    ]  # fmt: skip


def opens(page: Page, address: str) -> bool:
    """Go there, where it is a page of its own and not a document, an image, a form's target or another's address."""
    answer = page.request.get(address, max_redirects=0, timeout=180_000)
    if not answer.headers.get("content-type", "").startswith("text/html") or answer.status in {301, 302, 405}:
        return False
    if "<html" not in answer.text()[:400] or "attachment" in answer.headers.get("content-disposition", ""):
        return False
    page.goto(address)
    return True


def look(page: Page, width: int, theme: str) -> None:
    """A window of that width in that theme, its charts drawn."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
    page.wait_for_function(DRAWN)
    page.evaluate(SETTLED)


def seen(page: Page, within: str = "body") -> list[str]:
    """What is wrong with what the window shows now of the first ``within``, by ``every_page.js``."""
    if not page.evaluate("'faults' in window"):
        page.evaluate(MEASURE)
    return list(page.evaluate("within => faults(document.querySelector(within))", within))


def below(page: Page) -> list[str]:
    """What is wrong once the page or one of its boxes is scrolled."""
    if not page.evaluate("'faults' in window"):
        page.evaluate(MEASURE)
    return list(page.evaluate("faults.scrolled()"))


def menus(page: Page) -> list[str]:
    """What is wrong with each menu, opened alone."""
    found = []
    for at in range(page.evaluate(MENUS)):
        page.evaluate(MENU, at)
        found += [f"menu {at + 1}: {fault}" for fault in seen(page, "details.menu[open] > :not(summary)")]
    page.evaluate(MENU, -1)
    return found


def dialogs(page: Page, known: set[str]) -> list[str]:
    """Names of dialogs that this page opens and that are not ``known`` yet."""
    new = [one for one in dict.fromkeys(page.evaluate(OPENERS)) if urlsplit(one).path not in known]
    known.update(urlsplit(one).path for one in new)
    return new
