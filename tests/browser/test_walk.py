"""What the walk of the pages sees: each kind of fault on the smallest page that has it, and none on one without."""

from __future__ import annotations

import pytest

from tests.browser.walked import MEASURE

BAR = '<path d="M0 0H90V90H0z" fill="#c00"/>'
WORDS = '<text x="10" y="40" font-size="16" fill="{}">×3,133</text>'
LONG = '<p>{0}</p><div style="block-size:3000px"></div><p>{0}</p>'
SEEN = {
    '<label for="a">Name</label><div style="block-size:60px"></div><input id="a">': "from its label",
    '<div style="inline-size:8px;overflow:auto"><code>ctxweb inspect</code></div>': "narrower than its first word",
    '<input value="200,000" style="inline-size:20px">': "narrower than its first word",
    '<div style="inline-size:99px;overflow:auto"><p style="inline-size:300px;text-align:end"><button>Revoke</button>'
    "</p></div>": "out of sight",
    "<p><b>1 rule lost</b><span>What about 75K?</span></p>": "no space between",
    '<p>Counted as text<span style="display:inline-block;background:#eee;padding:4px">false alarm</span></p>':
        "no space between",
    "<p>106,995 tokens tokens</p>": "said twice",
    "<p><b>Adjusted bytes</b> <span>bytes</span></p>": "said twice",
    '<p>first words</p><p style="position:relative;inset-block-start:-34px">other words</p>': "printed over each other",
    '<div style="inline-size:3000px">wide</div>': "scrolls sideways",
    f'<div style="overflow:hidden"><p style="position:sticky;top:0">head</p>{LONG.format("rows")}</div>':
        "does not stick",
    '<main style="display:grid;grid-template-columns:300px 1fr"><div><p>side</p></div><div>'
    + "".join(f"<p>row {n}</p>" for n in range(200)) + "</div></main>": "blank beside its neighbour",
    '<table style="inline-size:60px;table-layout:fixed"><thead><tr><th style="overflow:hidden;text-overflow:ellipsis;'
    'white-space:nowrap">Layer of compaction</th></tr></thead></table>': "heading cut",
    f'<div class="plot"><svg class="main-svg"><g class="bars">{BAR}</g>{WORDS.format("#b00")}</svg></div>':
        "on its own colour",
}  # fmt: skip
FINE = (
    '<label for="a">Name</label><br><input id="a" value="200,000">',
    '<div style="inline-size:99px;overflow:auto"><code>ctxweb inspect</code></div>',
    "<p><b>1 rule lost</b> <span>What about 75K?</span> 106,995 tokens</p>",
    '<p>Counted as text <span style="display:inline-block;background:#eee;padding:4px">false alarm</span></p>',
    f'<div><p style="position:sticky;top:0">head</p>{LONG.format("rows")}</div>',
    '<main style="display:grid;grid-template-columns:300px 1fr"><div style="position:sticky;top:0;align-self:start">'
    "<p>side</p></div><div>" + "".join(f"<p>row {n}</p>" for n in range(200)) + "</div></main>",
    f'<div class="plot"><svg class="main-svg"><g class="bars">{BAR}</g>{WORDS.format("#fff")}</svg></div>',
)


@pytest.fixture(scope="module")
def blank(chromium):
    """A page that is filled by each test."""
    page = chromium.new_page(viewport={"width": 1000, "height": 700})
    yield page
    page.close()


def faults(page, body: str) -> list[str]:
    """What the walk says of a page."""
    page.set_content(f'<!doctype html><body style="font:16px sans-serif">{body}')
    page.evaluate(MEASURE)
    return page.evaluate("async () => [...faults(), ...await faults.scrolled()]")


@pytest.mark.parametrize(("body", "kind"), SEEN.items(), ids=range(len(SEEN)))
def test_the_walk_sees_each_kind_of_fault(blank, body, kind):
    assert any(kind in fault for fault in faults(blank, body))


@pytest.mark.parametrize("body", FINE, ids=range(len(FINE)))
def test_the_walk_is_silent_where_nothing_is_wrong(blank, body):
    assert faults(blank, body) == []
