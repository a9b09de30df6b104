"""How long a person waits: from choosing a file to readable rows, and from moving a slider to the redrawn chart.

``python -m tests.bench pages`` drives Chromium against a real ``ctxweb serve`` and writes docs/benchmarks/pages.md.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.conftest import FLAGS
from tests.cli.serving import Served
from tests.engine.claude_lines import claude_session
from tests.samples import find_samples

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "benchmarks" / "pages.md"
MOVES = 15
FIRST = "\n## The first visit"
"""The section that ``tests.bench first`` measures stays as it is."""

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


def main() -> None:
    """Measure the shared sample (where it is there) and a generated session of 10,000 messages."""
    samples = find_samples()
    files = [("generated, 10,000 messages", _generated(5_000))]
    if samples:
        files.insert(0, ("trycua-pgadmin.jsonl, 256 messages", samples / "claude-code" / "trycua-pgadmin.jsonl"))
    from playwright.sync_api import sync_playwright

    rows = []
    with tempfile.TemporaryDirectory() as data, sync_playwright() as playwright:
        served = Served(Path(data))
        try:
            served.worker()
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
            for name, file in files:
                page = browser.new_context(base_url=f"http://127.0.0.1:{served.port()}").new_page()
                rows.append((name, *_measured(page, file)))
                print(rows[-1])
        finally:
            served.stop()
    held = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    kept = held[held.index(FIRST) :] if FIRST in held else ""
    RESULTS.write_text(_report(rows) + kept, encoding="utf-8")


def _generated(n_turns: int) -> Path:
    path = Path(tempfile.mkdtemp()) / "long.jsonl"
    path.write_text(claude_session(n_turns), encoding="utf-8")
    return path


def _measured(page: Page, file: Path) -> tuple[float, float, list[float]]:
    """Milliseconds: choosing the file to its library row, opening it to first rows, and each slider move."""
    page.goto("/")
    before = page.locator("a[href^='/s/']").count()
    started = time.perf_counter()
    page.set_input_files("#pick-files", str(file))
    page.locator("a[href^='/s/']").nth(before).wait_for(timeout=120_000)
    stored = (time.perf_counter() - started) * 1_000
    address = page.locator("a[href^='/s/']").first.get_attribute("href") or ""
    started = time.perf_counter()
    page.goto(address)
    page.wait_for_selector("[id^=m-]")
    opened = (time.perf_counter() - started) * 1_000
    page.goto(address.split("?")[0] + "replay/?policy=sliding_window&window=60000")
    page.wait_for_selector("#saw .main-svg")
    page.wait_for_timeout(500)
    moves = [
        page.evaluate(WAIT_FOR_DRAWING, ["input[type=range][data-for=f-trigger]", 1 if move % 2 else -1 - move])
        for move in range(MOVES)
    ]
    return stored, opened, moves


def _report(rows: list[tuple[str, float, float, list[float]]]) -> str:
    load = os.getloadavg()[0]
    lines = [
        "# What a person waits for",
        "",
        "Made by `python -m tests.bench pages`: Chromium, headless, against `ctxweb serve` with its worker.",
        f"Machine: {os.cpu_count()} cores, load {load:.1f} when it ended. Milliseconds.",
        "",
        "| session | file chosen to row in the library | opened to first rows "
        "| slider moved to chart redrawn: median | 90th percentile |",
        "|---|---|---|---|---|",
    ]
    for name, stored, opened, moves in rows:
        ninety = sorted(moves)[int(len(moves) * 0.9)]
        lines.append(f"| {name} | {stored:,.0f} | {opened:,.0f} | {statistics.median(moves):,.0f} | {ninety:,.0f} |")
    return "\n".join(lines) + "\n"
