"""Figures as words, labels, badges, weight bars and sparklines."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise

import pytest
from django.template import Context, Template
from hypothesis import given
from hypothesis import strategies as st

from sessions.pages.ui import figures
from sessions.pages.ui.labelled import figure_html
from sessions.runs.overview import bytes_label
from sessions.templatetags import ctxweb as tags
from sessions.templatetags.ctxweb import SPARK_WIDTH, spark_marks, weight_marks

NOW = dt.datetime(2026, 11, 21, 15, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("n", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.00 KB"), (72_400, "72.4 KB"), (702_000, "702 KB"), (3_118_884, "3.12 MB"),
     (238_000_000, "238 MB"), (999_600, "1.00 MB"), (2_590_000_000, "2.59 GB"), (None, "none")],
)  # fmt: skip
def test_sizes_are_powers_of_ten_with_three_digits(n: int | None, text: str) -> None:
    shown = figure_html(n, "bytes", "transcript", "quiet", short=True)
    assert f">{text}<" in shown.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("value", "text", "loud"),
    [(3.44, "×3.4", ""), (9.94, "×9.9", ""), (9.97, "×10", ""), (10.0, "×10", "over-some"), (62.4, "×62", "over-some"),
     (99.9, "×100", "over-some"), (100.0, "×100", "over-much"), (1540.2, "×1,540", "over-much")],
)  # fmt: skip
def test_overcount_has_three_loudnesses(value: float, text: str, loud: str) -> None:
    badge = tags.overcount(value)
    assert text in badge
    assert ("over-some" in badge, "over-much" in badge) == (loud == "over-some", loud == "over-much")


def test_overcount_without_a_factor_is_nothing() -> None:
    assert tags.overcount(None) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(NOW, "15:00"), (NOW - dt.timedelta(days=1), "yesterday"), (NOW - dt.timedelta(days=3), "18 Nov"),
     (NOW - dt.timedelta(days=400), "17 Oct 2025"), (None, "none")],
)  # fmt: skip
def test_moments_are_as_short_as_they_are_clear(value: dt.datetime | None, text: str) -> None:
    assert figures.moment(value, NOW) == text


def test_counts_signs_and_shares() -> None:
    assert figures.count(1540) == "1,540"
    assert figures.signed(-108_780) == "−108,780"
    assert figures.signed(2025) == "+2,025"
    assert figures.percent(11, 100) == "11%"
    assert figures.percent(1, 0) == "none"
    assert " ".join(figures.short(62_100)) == "62.1 K"


@pytest.mark.parametrize("how", ["", "word", "cell", "quiet", "plain"])
def test_a_figure_prints_its_unit_and_its_label(how: str) -> None:
    tokens = figure_html(1540, "tokens", "calibrated", how)
    shown = figure_html(3_118_884, "bytes", "wire", how)
    assert "1,540" in tokens
    assert "3,118,884" in shown
    assert "wire bytes" in shown
    if how in {"", "word", "plain"}:
        assert "1,540 tokens" in tokens
    if how != "plain":
        assert "calibrated" in tokens


@pytest.mark.parametrize(
    ("unit", "label"),
    [("tokens", ""), ("tokens", "sure"), ("bytes", "measured"), ("bytes", ""), ("dollars", ""), ("lines", "measured")],
)
def test_a_figure_without_its_label_is_refused(unit: str, label: str) -> None:
    with pytest.raises(ValueError, match="needs a unit and how it is known"):
        figure_html(1, unit, label)


def test_a_figure_that_is_not_there_claims_nothing() -> None:
    assert figure_html(None, "tokens", "measured") == '<span class="muted">none</span>'


def test_bytes_of_a_capture_are_wire_bytes() -> None:
    assert bytes_label("wire_capture") == "wire"
    assert bytes_label("claude_code") == "transcript"
    assert bytes_label("gone") == "transcript"


def test_a_fact_prints_name_figure_and_label() -> None:
    page = Template(
        '{% load ctxweb %}{% fact "Peak" 167232 "tokens" "measured" href="?m=3" alarm=True %}<b>84%</b>{% endfact %}'
    )
    html = page.render(Context())
    assert '<div class="fact fact-alarm"><dt>Peak</dt><dd><a href="?m=3">' in html
    assert "167,232" in html
    assert "#t-measured" in html
    assert "<b>84%</b></dd></div>" in html


@pytest.mark.parametrize("label", ["measured", "calibrated", "estimated"])
def test_a_label_is_a_disc_and_a_word(label: str) -> None:
    for html in (tags.trust_html(label), tags.trust_html(label, short=True)):
        assert f"#t-{label}" in html
        assert f">{label}<" in html.replace("</svg>", ">")


def test_an_unknown_label_claims_nothing() -> None:
    assert tags.trust_html("sure") == ""


def test_a_kind_keeps_its_word_and_escapes_it() -> None:
    assert "#k-image" in tags.kind("image")
    assert "image</span>" in tags.kind("image")
    assert "#k-opaque" in tags.kind("<new>")
    assert "<new>" not in tags.kind("<new>", word=True)


@given(
    st.lists(st.tuples(st.sampled_from(["text", "image"]), st.integers(0, 10**7)), max_size=6),
    st.integers(0, 10**9), st.floats(0, 100), st.floats(0, 10**6),
)  # fmt: skip
def test_a_weight_bar_stays_in_its_box(
    parts: list[tuple[str, int]], n_bytes: int, per_token: float, full: float
) -> None:
    marks = weight_marks(parts, n_bytes, per_token, full, 148)
    assert 0 <= marks.n_bytes <= 148
    for _, left, wide in marks.tokens:
        assert left >= 0
        assert left + wide <= 148.2


def test_a_text_message_is_symmetric_and_a_picture_is_torn() -> None:
    fair = weight_marks([("text", 1000)], 3500, 3.5, 2000, 148)
    assert fair.tokens[0][2] == fair.n_bytes
    over = weight_marks([("image", 2025)], 3_118_884, 3.5, 2000, 148)
    assert over.torn
    assert "<path" in tags.weight([("image", 2025)], 3_118_884, 3.5, 2000, over=True)


def test_a_sparkline_says_what_it_draws() -> None:
    marks = spark_marks({"points": [100, 168_000, 30_000], "compactions": [0.5], "worst": 0.1, "window": 200_000})
    assert marks is not None
    assert marks.says == "peak 84% of the window, 1 compaction"
    assert marks.ticks == (SPARK_WIDTH / 2,)
    crowd = spark_marks({"points": [1], "compactions": [at / 315 for at in range(315)]})
    assert crowd is not None
    assert "315" in crowd.says
    assert min(b - a for a, b in pairwise(crowd.ticks)) >= 3, "ticks that touch are a bar"
    assert spark_marks({"points": []}) is None
    assert spark_marks({}) is None


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=60), st.integers(0, 10**7))
def test_a_sparkline_stays_in_its_box(points: list[int], window: int) -> None:
    marks = spark_marks({"points": points, "window": window})
    assert marks is not None
    heights = [float(part.split("H")[0]) for part in marks.line.replace("M0 ", "V").split("V")[1:]]
    assert all(2.9 <= y <= 20.1 for y in heights)
