"""A replay as a file, opened from disk with the network off: its slider moves chart, totals and losses."""

from __future__ import annotations

import base64
import random
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from ctxweb.commands import share
from sessions.engine.reading.reading import read_transcripts
from tests.browser.test_whole_path import AXE
from tests.engine.claude_lines import Lines
from tests.services.claude_lines import png

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.exhaustive


N_MESSAGES = 500
SCREENSHOT = 150_000
"""Bytes of an image."""


BROKEN = """() => [...document.querySelectorAll('h1, p, th, td:not(.text)')].flatMap((cell) => {
  const texts = [...cell.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
  return texts.flatMap((node) => [...node.data.matchAll(/[A-Za-z0-9,.]+/g)].filter((word) => {
    const range = document.createRange();
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    return range.getClientRects().length > 1;
  }).map((word) => word[0]));
})"""
"""Words of the page that are broken in two, but for texts of messages."""


def rich_session() -> str:
    """500 messages and more: rules, long results that are read again, screenshots, a compaction in the middle."""
    lines, drawn = Lines(), random.Random(3)
    lines.prompt("Never touch the lock file. Always run `make check` before you commit. Make the build fast.")
    for turn in range(N_MESSAGES // 2):
        if turn % 40 == 39:
            lines.prompt(f"Do not edit m{turn % 9}.py from now on. Go on with part {turn}: " + "why is it slow? " * 40)
        path = f"/home/me/app/m{turn % 9}.py"
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "Read", "input": {"file_path": path}}
        lines.reply(turn, {"type": "text", "text": f"Now part {turn}: value_{turn * 7} comes from {path}."}, call)
        if turn % 12 == 5:
            data = base64.b64encode(png(1_600, 900, SCREENSHOT, seed=turn)).decode()
            lines.result(
                f"toolu_{turn}",
                [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}],
            )
            lines.context += 1_900 - len(data) // 4
        else:
            rows = range(drawn.randint(10, 120))
            lines.result(f"toolu_{turn}", "\n".join(f"{n}: value_{n * turn} = compute({n}, 'é{turn}')" for n in rows))
        if turn == N_MESSAGES // 4:
            lines.compact("Every module is compiled twice. The lock file stays as it is. " * 40)
    lines.reply(N_MESSAGES, {"type": "text", "text": "The build is fast now."})
    return lines.text()


def made(folder: Path) -> Path:
    """The file of a rich session that compacts under some thresholds and not under others: at most 3 MB."""
    transcript, out = folder / "session.jsonl", folder / "replay.html"
    transcript.write_text(rich_session(), encoding="utf-8")
    with transcript.open("rb") as stream:
        (session,) = read_transcripts(stream, transcript.name).transcripts
    assert len(session.messages) >= N_MESSAGES
    assert session.n_images >= 20
    options = ["--policy", "sliding_window", "--out", str(out)]
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
    for width in (1_440, 1_024, 420):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(BROKEN) == []
    assert asked == [file.as_uri()]
    assert complaints == []
    context.close()


def test_no_word_of_the_axis_stands_on_another(chromium: Browser, tmp_path: Path) -> None:
    file = made(tmp_path)
    for width in (420, 1440):
        context = chromium.new_context(viewport={"width": width, "height": 900}, offline=True)
        page = context.new_page()
        page.goto(file.as_uri())
        title = page.locator("#chart .xtitle").bounding_box()
        ticks = [tick.bounding_box() for tick in page.locator("#chart .xtick text").all()]
        assert title is not None
        assert ticks
        assert all(tick is not None and tick["y"] + tick["height"] <= title["y"] for tick in ticks), (title, ticks)
        context.close()
