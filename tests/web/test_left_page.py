"""What is left after each compaction: the page counts as ``ctxweb generations``; red is a broken rule alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from django.test import Client
from pytest_django import Settings

from ctxweb.cli import cli
from sessions.engine.quality.doses import chance_words
from sessions.pages.quality.lost import shown_columns
from tests.engine.claude_lines import Lines
from tests.web.stored import store
from tests.web.test_quality_page import story, words

TWICE = "The port of the tests is 5433. Never touch package-lock.json. Work goes on in /srv/app/src/m3.py."


def twice() -> str:
    """The story with a second compaction before the first one's rule is broken."""
    lines = Lines()
    lines.prompt("Fix the total in /srv/app/src/m2.py and /srv/app/src/m3.py. Never touch package-lock.json.")
    for turn in range(12):
        call = {
            "type": "tool_use",
            "id": f"t{turn}",
            "name": "Read",
            "input": {"file_path": f"/srv/app/src/m{turn}.py"},
        }
        lines.reply(turn, call)
        lines.result(f"t{turn}", f"value{turn} = compute(1, 2)  # words\n" * 60)
        if turn in {4, 8}:
            lines.compact(TWICE if turn == 4 else "Work goes on in /srv/app/src/m3.py.")
    lock = {"type": "tool_use", "id": "l", "name": "Write",
            "input": {"file_path": "/srv/app/package-lock.json", "content": "{}"}}  # fmt: skip
    lines.reply(100, lock)
    lines.result("l", "written")
    return lines.text()


@pytest.fixture
def blobs(db: None, tmp_path: Path, settings: Settings) -> None:
    """Uploads go to the test's own folder."""
    settings.MEDIA_ROOT = tmp_path / "blobs"


def panel(html: str) -> str:
    """The section of the panel."""
    return html.split('id="left"')[1].split("</section>", maxsplit=1)[0]


@pytest.mark.parametrize(("query", "options"), [
    ("of=recorded", ()),
    ("policy=sliding_window&window=4000&of=replay", ("--policy", "sliding_window", "--window", "4000")),
])  # fmt: skip
def test_the_page_has_the_figures_of_the_command(
    client: Client, blobs: None, tmp_path: Path, query: str, options: tuple[str, ...]
) -> None:
    file = tmp_path / "twice.jsonl"
    file.write_text(twice())
    session = store(file.read_bytes(), file.name)
    html = panel(client.get(f"/s/{session.pk}/quality/?whole=1&{query}").content.decode())
    said = json.loads(CliRunner().invoke(cli, ["generations", str(file), *options, "--json"]).stdout)
    assert len(said["compactions"]) > 1
    for kind in said["kinds"]:
        assert f"{kind['kind']}s {kind['share_left'][-1]:.0%}</text>" in html
        shown = f", {min(kind['n'], 8)} shown" if kind["n"] > 8 else ""
        told = re.search(rf"{kind['n']:,} found{shown}, half-life ([\d.]+|above \d+) compactions", html)
        assert told is not None
        chance = chance_words(kind["kind"])
        assert not chance or f"a lost one is used again: {chance}</small>" in html
        if kind["half_life"] is None:
            assert told[1] == f"above {len(said['compactions'])}"
        else:
            assert float(told[1]) == pytest.approx(kind["half_life"], abs=0.06)
    assert f"{len(said['values']):,} values" in words("<main" + html)
    first = next(value for value in said["values"] if value["kind"] == "path")
    row = words("<main" + html.split(f'title="{first["text"]}"')[1].split("</tr>")[0])
    assert row.split()[row.split().index(first["text"]) + 1] == {"gone": "lost"}.get(
        first["states"][0], first["states"][0]
    )


def test_only_a_rule_that_was_broken_is_red(client: Client, blobs: None) -> None:
    session = store(twice().encode(), "twice.jsonl")
    html = panel(client.get(f"/s/{session.pk}/quality/?whole=1&of=recorded").content.decode())
    red = [row for row in html.split("<tr>") if 'class="lost"' in row or "st3 lost" in row]
    assert len(red) == 1
    assert "package-lock.json" in red[0]
    assert re.search(r"broken later", red[0])
    once = store(story().encode(), "once.jsonl")
    assert 'id="left"' not in client.get(f"/s/{once.pk}/quality/?whole=1&of=recorded").content.decode()


@pytest.mark.parametrize(("n", "shown"), [(2, (1, 2)), (6, (1, 2, 3, 4, 5, 6)), (11, (1, 3, 5, 7, 9, 11))])
def test_of_many_compactions_some_have_a_column(n: int, shown: tuple[int, ...]) -> None:
    assert shown_columns(n) == shown
