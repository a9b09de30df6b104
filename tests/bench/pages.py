"""How long a person waits: from choosing a file to readable rows, and from moving a slider to the redrawn chart.

``python -m tests.bench pages`` drives Chromium against a real ``ctxweb serve`` and writes docs/benchmarks/pages.md.
Sessions are opened in a server that was started after they were stored and worked out, by a browser that knows none of
its files; only the library was visited before.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.browser.conftest import FLAGS
from tests.cli.serving import Served
from tests.samples import find_samples, samples_dir

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "benchmarks" / "pages.md"
MOVES, OPENINGS = 15, 5
FIRST = "\n## The first visit"
"""What other commands measure stays as it is from here on."""

WAIT_FOR_DRAWING = """([selector, step]) => new Promise((resolve) => {
  const slider = document.querySelector(selector);
  const threshold = () => document.getElementById("saw-data").dataset.threshold;
  const before = threshold();
  const started = performance.now();
  const drawn = () => {
    if (threshold() === before) return;
    document.removeEventListener("chart:drawn", drawn);
    resolve(performance.now() - started);
  };
  document.addEventListener("chart:drawn", drawn);
  slider.value = Number(slider.value) + step;
  slider.dispatchEvent(new Event("input", {bubbles: true}));
})"""
WATCH = """
window.seen = {};
const note = (name) => { window.seen[name] ??= performance.now(); };
document.addEventListener("chart:drawn", () => note("chart"));
const watcher = new MutationObserver(() => {
  if (!document.querySelector("[id^=m-]")) return;
  watcher.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => note("rows")));
});
watcher.observe(document, {childList: true, subtree: true});
"""
SEEN = "() => window.seen.rows && window.seen.chart && window.seen"


class Opened(NamedTuple):
    """Milliseconds from asking for a session's page to its first rows on the screen, and to its drawn chart."""

    rows: float
    chart: float


def main() -> None:
    """Measure the shared sample (where it is there) and two generated sessions."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as data, sync_playwright() as playwright:
        files = [(f"generated, {n:,} lines", _generated(Path(data, f"{n}"), n)) for n in (10_000, 100_000)]
        if find_samples():
            sample = samples_dir() / "claude-code" / "trycua-pgadmin.jsonl"
            files.insert(0, ("trycua-pgadmin.jsonl, 256 messages with images", sample))
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        stored = _stored(Path(data), browser, [file for _, file in files])
        rows = _opened(Path(data), browser, stored)
    lines = [(name, n, *row) for (name, _), (n, _), row in zip(files, stored, rows, strict=True)]
    held = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    kept = held[held.index(FIRST) :] if FIRST in held else ""
    RESULTS.write_text(_report(lines) + kept, encoding="utf-8")


def _generated(folder: Path, n_lines: int) -> Path:
    maker = samples_dir().parent / "bench" / "make_transcripts.py"
    subprocess.run([sys.executable, maker, "--messages", str(n_lines), folder], check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.jsonl"))


def _stored(data: Path, browser: Browser, files: list[Path]) -> list[tuple[float, str]]:
    """Milliseconds from choosing each file to its library row, and its address, once all that is kept is kept."""
    served, found = Served(data), []
    try:
        served.worker()
        page = browser.new_context(base_url=f"http://127.0.0.1:{served.port()}").new_page()
        for file in files:
            page.goto("/")
            before = page.locator("a[href^='/s/']").count()
            started = time.perf_counter()
            page.set_input_files("#pick-files", str(file))
            page.locator("a[href^='/s/']").nth(before).wait_for(timeout=300_000)
            taken = (time.perf_counter() - started) * 1_000
            address = page.locator("a[href^='/s/']").first.get_attribute("href") or ""
            found.append((taken, address.split("?")[0]))
            while page.request.get(f"{found[-1][1]}replay/", timeout=300_000).status == 202:
                time.sleep(0.5)
            for path in ("", "why/"):
                page.request.get(found[-1][1] + path, timeout=300_000)
    finally:
        served.stop()
    return found


def _opened(data: Path, browser: Browser, stored: list[tuple[float, str]]) -> list[tuple[list[Opened], list[float]]]:
    """Each session's openings and slider moves, in a server that has seen none of them."""
    served = Served(data)
    try:
        origin = f"http://127.0.0.1:{served.port()}"
        browser.new_page().goto(origin)
        openings: list[list[Opened]] = [[] for _ in stored]
        for _ in range(OPENINGS):
            for (_, address), row in zip(stored, openings, strict=True):
                row.append(_opening(browser, origin + address))
        moves = []
        for _, address in stored:
            page = browser.new_page()
            moves.append(_moves(page, origin + address))
            page.close()
        return list(zip(openings, moves, strict=True))
    finally:
        served.stop()


def _opening(browser: Browser, url: str) -> Opened:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(url, wait_until="commit", timeout=120_000)
    seen = page.wait_for_function(SEEN, timeout=120_000).json_value()
    context.close()
    return Opened(seen["rows"], seen["chart"])


def _moves(page: Page, url: str) -> list[float]:
    page.goto(url + "replay/?policy=sliding_window&window=60000", timeout=120_000)
    page.wait_for_selector("#saw .main-svg", timeout=60_000)
    page.wait_for_timeout(500)
    return [
        page.evaluate(WAIT_FOR_DRAWING, ["input[type=range][data-for=f-trigger]", 1 if move % 2 else -1 - move])
        for move in range(MOVES)
    ]


def _report(rows: list[tuple[str, float, list[Opened], list[float]]]) -> str:
    load = os.getloadavg()[0]
    lines = [
        "# What a person waits for",
        "",
        "Made by `python -m tests.bench pages`: Chromium, headless, against `ctxweb serve`. Sessions are opened in a "
        "server that was started",
        f"after they were stored and worked out, each {OPENINGS} times by a browser that knows none of its files.",
        f"Machine: {os.cpu_count()} cores, load {load:.1f} when it ended. Milliseconds.",
        "",
        "| session | file chosen to row in the library | opened to first rows: first time | median "
        "| opened to drawn chart: median | slider moved to chart redrawn: median | 90th percentile |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, stored, opened, moves in rows:
        shown = [row.rows for row in opened]
        chart = statistics.median(row.chart for row in opened)
        ninety = sorted(moves)[int(len(moves) * 0.9)]
        figures = (stored, shown[0], statistics.median(shown), chart, statistics.median(moves), ninety)
        lines.append(f"| {name} | " + " | ".join(f"{figure:,.0f}" for figure in figures) + " |")
    return "\n".join(lines) + "\n"
