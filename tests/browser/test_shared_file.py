"""A replay as a file, opened from disk with the network off: its slider moves chart, totals and losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.testing import CliRunner

from ctxweb.commands import share
from tests.browser.test_whole_path import AXE
from tests.engine.claude_lines import claude_session

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser


def made(folder: Path) -> Path:
    """The file of a session that compacts under some thresholds and not under others."""
    transcript, out = folder / "session.jsonl", folder / "replay.html"
    transcript.write_text(claude_session(60), encoding="utf-8")
    options = ["--policy", "sliding_window", "--window", "60000", "--out", str(out)]
    result = CliRunner().invoke(share.command, [str(transcript), *options])
    assert result.exit_code == 0, result.output
    assert str(out) in result.output
    assert out.stat().st_size < 3_000_000
    return out


def test_it_works_offline(chromium: Browser, tmp_path: Path) -> None:
    file = made(tmp_path)
    context = chromium.new_context(offline=True, viewport={"width": 1024, "height": 900})
    page = context.new_page()
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda m: complaints.append(m.text) if m.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(file.as_uri())
    page.wait_for_selector("#chart .main-svg")
    slider = page.locator("#position")
    assert int(slider.get_attribute("max") or 0) >= 59
    assert page.locator("#back").is_disabled()

    def shown() -> tuple[str, str, str, int]:
        texts = [page.locator(f"#{name}").inner_text() for name in ("at", "count", "lost")]
        return texts[0], texts[1].split("\n")[0], texts[2], page.locator("#events tr").count()

    def drawn() -> list[float]:
        found: list[float] = page.evaluate("document.getElementById('chart').data.map(line => [...line.y]).flat()")
        return found

    first, line = shown(), drawn()
    assert int(first[1]) == first[3] >= 1
    slider.focus()
    page.keyboard.press("End")
    last = shown()
    assert last[0] != first[0]
    assert last[2] != first[2]
    assert drawn() != line
    assert last[1] == "0"
    assert page.locator("#none").is_visible()
    page.keyboard.press("Home")
    assert shown()[0] not in {first[0], last[0]}
    page.locator("#back").click()
    assert (shown(), drawn()) == (first, line)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    result = page.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})")
    assert [f"{v['id']}: {v['nodes'][0]['html'][:160]}" for v in result["violations"]] == []
    page.set_viewport_size({"width": 420, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    assert asked == [file.as_uri()]
    assert complaints == []
    context.close()
