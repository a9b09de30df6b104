"""The documentation's flowcharts are pictures on the site: every box and every arrow is drawn, and inside the frame."""

from __future__ import annotations

import re

import pytest

from scripts.diagrams import ARROW, BLOCK, HEIGHT, WIDTH, pictures, svg
from tests.arch.repository import ROOT, files, text

BOX = re.compile(r'^ +\w+\["(.+)"\]$', re.MULTILINE)


def test_every_flowchart_is_drawn_whole() -> None:
    source = text(ROOT / "docs/architecture.md")
    charts = BLOCK.findall(source)
    assert charts
    for chart in charts:
        drawn = svg(chart)
        assert re.findall(r"<text [^>]*>([^<]*)<", drawn) == BOX.findall(chart)
        assert drawn.count("<path") == len(ARROW.findall(chart))
        height = float(re.findall(rf'viewBox="0 0 {WIDTH} ([0-9.]+)"', drawn)[0])
        for x, y, width in re.findall(r'<rect x="([0-9.]+)" y="([0-9.]+)" width="([0-9.]+)"', drawn):
            assert float(x) + float(width) <= WIDTH
            assert float(y) + HEIGHT <= height
    assert "```mermaid" not in pictures(source)


def test_no_other_page_has_a_diagram_that_is_not_known() -> None:
    left = [
        path for path in files(".md") if path.is_relative_to(ROOT / "docs") and "```mermaid" in pictures(text(path))
    ]
    assert not left


def test_a_line_that_is_not_known_fails_the_build() -> None:
    with pytest.raises(ValueError, match="a --- b"):
        svg("a --- b\n")
