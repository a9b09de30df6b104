"""``ctxweb report``: what an issue tracker gets."""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from click.testing import CliRunner

from ctxweb.commands import replay, report
from tests.engine.claude_lines import claude_session

if TYPE_CHECKING:
    from pathlib import Path

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
    document: dict[str, list[int]] = json.loads(
        CliRunner().invoke(replay.command, [str(file), *SETTING, "--json"]).stdout
    )
    return document["context_tokens"]


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
    assert f"context differs at {len(off)} of {len(mine)} points, by at most {100 * max(off):.1f}%" in told
