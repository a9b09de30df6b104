"""A server of a team with something of everything: accounts, sessions, links, an invitation, a token, a saved view."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from sessions.selectors.files import GROUPED_FROM
from tests.browser.conftest import Visit
from tests.browser.test_overview_page import open_demo
from tests.browser.test_shared_file import rich_session
from tests.browser.walked import TIGHT, Places
from tests.cli.serving import Served

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

PASSWORD = "correct-horse-battery"
LOCKED = "correct horse"
GONE = "00000000-0000-4000-8000-000000000007"


class Team:
    """The server, one visitor for each who, and the addresses of what is there."""

    def __init__(self, chromium: Browser, data: Path) -> None:
        self.chromium = chromium
        self.running = Served(data, CTXWEB_REQUIRE_LOGIN="1")
        self.origin = f"http://127.0.0.1:{self.running.port()}"
        for name, role in (("ada", "--admin"), ("mem", "--member")):
            self.ctxweb("user", name, role, "--password-stdin", said=f"{PASSWORD}\n")
        self.visits = {
            "admin": self.signed_in("ada"), "member": self.signed_in("mem"), "nobody": self.visitor(),
            "link holder": self.visitor(),
        }  # fmt: skip
        self.places = self.fill(self.visits["admin"])

    def ctxweb(self, *arguments: str, said: str = "") -> str:
        """What a command of ctxweb prints, run beside the server."""
        command = [sys.executable, "-m", "ctxweb", *arguments]
        data, env = self.running.data, self.running.env
        return subprocess.run(command, input=said, capture_output=True, text=True, check=True, cwd=data, env=env).stdout

    def visitor(self) -> Visit:
        """Somebody who is not signed in."""
        return Visit(self.chromium, self.origin, bypass_csp=True)

    def signed_in(self, name: str) -> Visit:
        """Somebody who is."""
        made = self.visitor()
        sign_in(made.page, name, PASSWORD)
        made.page.wait_for_selector("#pick-files", state="attached")
        return made

    def fill(self, admin: Visit) -> Places:
        """Sessions, uploads and what is made of them."""
        page, data = admin.page, self.running.data
        open_demo(admin)
        session = page.url.split("?")[0].rstrip("/").rsplit("/", 1)[1]
        (data / "long.jsonl").write_text(rich_session(), encoding="utf-8")
        (data / "no-session.txt").write_text("not a transcript\n", encoding="utf-8")
        nightly = "nightly-runs-of-the-checkout-agent-in-october-2026.jsonl"
        said = [{"role": "user", "content": "Is the build green?"}, {"role": "assistant", "content": "It is."}]
        (data / nightly).write_text(
            "".join(
                json.dumps({"messages": [*said, said[0], {**said[1], "content": f"Run {n}"}]}) + "\n"
                for n in range(GROUPED_FROM)
            )
        )
        for name, then in (
            ("no-session.txt", "text=no-session.txt"), (nightly, f"#sessions >> text={nightly}"),
            ("long.jsonl", "h1:has-text('Never touch the lock file')"),
        ):  # fmt: skip
            page.goto("/")
            page.set_input_files("#pick-files", str(data / name))
            page.wait_for_selector(then)
        page.wait_for_selector("#pressure .main-svg")
        long = page.url.split("?")[0].rstrip("/").rsplit("/", 1)[1]
        tokens = [shared(page, session, secret) for secret in (LOCKED, "")]
        reply(self.visits["link holder"].page, tokens[1])
        page.goto(f"/s/{session}/save/?kind=replay&{TIGHT}")
        page.locator("main input[name=name]").fill("Tight")
        page.locator("main form button").first.click()
        page.goto("/settings/tokens/")
        page.locator("main form input[name=name]").fill("ci")
        page.locator("main form button").first.click()
        invited = re.search(r"/join/(\S+)/", self.ctxweb("user", "mira", "--invite"))
        page.goto(f"/s/{session}/")
        upload = re.search(r"/uploads/([0-9a-f-]+)/", page.content())
        assert invited is not None
        assert upload is not None
        values: dict[str, object] = {
            "session_id": session, "index": 37, "number": 1, "suffix": "jsonl", "target": "jsonl", "name": "reference/",
            "upload_id": upload[1], "run_id": GONE, "job_id": GONE, "sha256": "0" * 64, "user_id": 2,
            "invitation_id": 1, "token_id": 1, "view_id": 1, "link_id": 2, "token": tokens[1],
            "locked": tokens[0], "invitation": invited[1],
        }  # fmt: skip
        return Places(values, long)

    def stop(self) -> None:
        """End the visits, then the server."""
        for one in self.visits.values():
            one.context.close()
        self.running.stop()


def sign_in(page: Page, name: str, password: str) -> None:
    """Fill in the form and send it."""
    page.goto("/login/")
    page.fill("[name=username]", name)
    page.fill("[name=password]", password)
    page.keyboard.press("Enter")


def reply(page: Page, token: str) -> None:
    """An answer with a note to the link of that token."""
    page.goto(f"/l/{token}/reply/")
    page.locator("#reply-author").fill("Bob")
    page.locator("#reply-note").fill("What about 75K?")
    page.get_by_role("button", name="Send reply").click()


def shared(page: Page, session: str, secret: str) -> str:
    """The token of a new link to the replay."""
    page.goto(f"/s/{session}/share/?view=replay")
    page.locator("#share-secret").fill(secret)
    page.get_by_text("A link for this machine alone").click()
    page.get_by_role("button", name="Make it").click()
    return str(page.locator("#ln").input_value()).rstrip("/").rsplit("/", 1)[1]
