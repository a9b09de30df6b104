"""``ctxweb report``: what an issue tracker gets."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from click.testing import CliRunner

from ctxweb.commands import replay, report
from tests.engine.claude_lines import Lines, claude_session

KEY = "sk-ant-api03-" + "Zq7" * 20
SETTING = ["--policy", "claude_code", "--set", "pct_override=20", "--summarizer", "stub:4000"]


def reported(folder: Path, *options: str) -> str:
    file = folder / "session.jsonl"
    file.write_text(claude_session(60).replace("Never touch", f"My key is {KEY}. @all | Never touch"), encoding="utf-8")
    result = CliRunner().invoke(report.command, [str(file), *SETTING, *options])
    assert result.exit_code == 0, result.output
    return result.stdout


def replayed(file: Path) -> list[int]:
    """The context at each request, as the command beside the report replays it."""
    found: list[int] = document(file)["context_tokens"]
    return found


def document(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(CliRunner().invoke(replay.command, [str(file), *SETTING, "--json"]).stdout)
    return found


def test_a_report_holds_verdict_setting_and_compactions(tmp_path: Path) -> None:
    text = reported(tmp_path, "--title", "Too early | <b>", "--note", f"See {KEY}")
    assert text.startswith("# Too early \\| \\<b\\>\n")
    for head in ("## Verdict", "## Setting: ", "## Compactions"):
        assert head in text
    assert "ctxweb replay session.jsonl --policy claude_code" in text
    assert KEY[:20] not in text
    assert "@" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.replace("\\|", "").count("|") for line in rows}) >= 1
    compactions = re.search(r"\| Compactions \| (\d+), recorded", text)
    assert compactions is not None
    table = text.split("## Compactions")[1].split("##")[0]
    assert len(re.findall(r"^\| \d+ \|", table, re.M)) == int(compactions[1]) >= 1


def test_chart_and_skeleton_stand_beside_it(tmp_path: Path) -> None:
    svg, skeleton, out = (tmp_path / name for name in ("chart.svg", "shape.jsonl.gz", "report.md"))
    reported(tmp_path, "--svg", str(svg), "--skeleton", str(skeleton), "-o", str(out), "--title", "a & <b>")
    drawn = ET.fromstring(svg.read_text(encoding="utf-8"))
    assert drawn.tag.endswith("svg")
    assert "a & <b>" in "".join(drawn.itertext())
    assert KEY not in gzip.decompress(skeleton.read_bytes()).decode()
    told = out.read_text(encoding="utf-8")
    file = tmp_path / "shape.jsonl"
    file.write_bytes(gzip.decompress(skeleton.read_bytes()))
    mine, theirs = (replayed(tmp_path / name) for name in ("session.jsonl", "shape.jsonl"))
    off = [abs(one - other) / other for one, other in zip(theirs, mine, strict=True) if one != other]
    assert off
    assert f"context at {len(off)} of {len(mine)} points, by at most {100 * max(off):.1f}%" in told
    costs = [document(tmp_path / name)["totals"]["cost_usd"]["low"] for name in ("shape.jsonl", "session.jsonl")]
    assert [round(cost, 4) for cost in costs] != [round(costs[1], 4)] * 2
    assert f"cost ${costs[0]:.2f}, here ${costs[1]:.2f}" in told.replace("\\", "")
    assert "Losses are read from words" in told


def test_a_skeleton_that_gives_the_same_says_so(tmp_path: Path) -> None:
    """Of a session whose texts are filler already."""
    file, skeleton, out = tmp_path / "a.jsonl", tmp_path / "shape.jsonl.gz", tmp_path / "report.md"
    lines = Lines()
    lines.prompt("x" * 400)
    for turn in range(4):
        lines.reply(turn, {"type": "text", "text": "xxx xxxx " * 60})
        lines.prompt("xx xx " * 300)
    file.write_text(lines.text(), encoding="utf-8")
    options = [*SETTING, "--skeleton", str(skeleton), "-o", str(out)]
    assert CliRunner().invoke(report.command, [str(file), *options]).exit_code == 0
    assert "the same compactions, context at each request, cost and causes: " in out.read_text(encoding="utf-8")
