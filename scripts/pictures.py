"""Takes the pictures of README and docs: two pages of the demo session, in headless Chromium.

``python scripts/pictures.py`` writes docs/images/*.png. Chromium has to be installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs/images"
PICTURES = {"replay.png": "replay/?policy=claude_code", "overview.png": ""}
"""Files, and what follows the session's address."""
PORT, SECONDS = 8597, 240
WIDTH, HEIGHT = 1280, 860


def main() -> None:
    """Serve the demo from an empty data folder, open its replay, and keep the picture."""
    with tempfile.TemporaryDirectory() as data:
        own = {**os.environ, "CTXWEB_DATA": data, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "ctxweb", "serve", "--demo", "--port", str(PORT)]
        server = subprocess.Popen(command, env=own, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            _take(_session())
        finally:
            server.terminate()
            server.wait(20)


def _session() -> str:
    """The address of the demo session, once it is there."""
    started = time.monotonic()
    while time.monotonic() - started < SECONDS:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/") as page:
                found = re.search(r"/s/[\w-]+/", page.read().decode())
        except OSError:
            found = None
        if found:
            return f"http://127.0.0.1:{PORT}{found[0]}"
        time.sleep(0.5)
    raise SystemExit("the demo session did not come up")


def _take(session: str) -> None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        FOLDER.mkdir(exist_ok=True)
        for name, at in PICTURES.items():
            page.goto(f"{session}{at}", wait_until="networkidle")
            page.wait_for_timeout(1_500)
            page.screenshot(path=FOLDER / name)
        browser.close()


if __name__ == "__main__":
    main()
