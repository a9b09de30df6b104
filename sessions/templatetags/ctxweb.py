"""Template tags of the product's own marks: figures, labels, kinds, over-count badges, weight bars, sparklines."""

from __future__ import annotations

import datetime as dt
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlencode

from django import template
from django.contrib.staticfiles import finders
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from sessions.engine.base.words import counted
from sessions.engine.reading.reading import EXAMPLE
from sessions.models import Session
from sessions.pages.manual.text import glossary
from sessions.pages.ui import figures
from sessions.pages.ui.addresses import message_href, project_words, travels
from sessions.pages.ui.labelled import (
    KIND_WORDS,
    client_words,
    figure_html,
    format_label,
    titled_html,
    told,
    trust_html,
)
from sessions.runs.overview import bytes_label
from sessions.selectors.library import neighbours

register = template.Library()

KINDS = ("text", "thinking", "tool_use", "tool_result", "image", "document", "summary", "opaque")

register.filter("format_label", format_label)
register.filter("client_words", client_words)
register.filter("count", figures.count)
register.filter("message_href", message_href)
register.filter("first_clause", figures.first_clause)
register.filter("shortened", figures.shortened)
register.filter("sign", figures.sign)
register.filter("bytes_label", bytes_label)
register.filter("moment", figures.moment)
register.filter("stamp", figures.stamp)
register.simple_tag(figures.plural, name="plural")
register.simple_tag(figures.percent, name="share")
register.simple_tag(trust_html, name="trust")
register.simple_tag(figure_html, name="figure")
register.simple_tag(neighbours, name="neighbours")
register.filter("project_word", lambda folder: project_words(folder)[0])
register.simple_tag(lambda: EXAMPLE, name="paste_example")


@register.simple_tag
def meanings(*words: str) -> list[tuple[str, str]]:
    """Each word with what the glossary says about it; those that it has."""
    known = glossary()
    return [(word, known[word]) for word in words if word in known]


@register.simple_tag
def worded(words: str, unit: str, label: str) -> SafeString:
    """A figure that is more than one number (a range, a change) in ``words``, with its unit and label as its title."""
    return titled_html(words, told(unit, label))


@register.simple_block_tag
def fact(
    content: str, name: str, value: float | str | None, unit: str = "", label: str = "", *,
    alarm: bool = False, href: str = "", short: bool = False,
) -> SafeString:  # fmt: skip
    """One fact of a strip around its note; without ``unit`` the value is a count of things, or words."""
    if unit:
        shown = figure_html(
            None if isinstance(value, str) else value, unit, label, how="lead", short=short or unit == "bytes"
        )
    else:
        shown = format_html("{}", value if isinstance(value, str) else figures.count(value))
    linked = format_html('<a href="{}">{}</a>', href, shown) if href else shown
    return format_html(
        '<div class="fact{}"><dt>{}</dt><dd>{}</dd><dd class="fact-note">{}{}</dd></div>',
        " fact-alarm" if alarm else "", name, linked, trust_html(label), content,
    )  # fmt: skip


@register.simple_tag
@cache
def kind(name: str, *, word: bool = False, chip: bool = False) -> SafeString:
    """A block kind: its shape, and its word (seen with ``word`` or ``chip``, else as title and hidden text)."""
    known = name if name in KINDS else "opaque"
    shape = format_html('<svg viewBox="0 0 14 14" aria-hidden="true"><use href="#k-{}"/></svg>', known)
    if word or chip:
        extra = " kind-chip" if chip else ""
        return format_html('<span class="kind{} k-{}">{}{}</span>', extra, known, shape, kind_word(name))
    hidden = format_html('<span class="visually-hidden">{}</span>', kind_word(name))
    return format_html('<span class="kind k-{}" title="{}">{}{}</span>', known, kind_word(name), shape, hidden)


@register.simple_tag(takes_context=True)
def travelling(context: template.Context, but: str = "") -> str:
    """What a tab of a session carries of this page's address: the replay and the message, ``but`` one, with its "?"."""
    request = context.get("request")
    kept = [] if request is None else [(n, v) for n, v in request.GET.items() if travels(n) and n != but]
    return f"?{urlencode(kept, safe=':,')}" if kept else ""


@register.simple_tag(takes_context=True)
def without_wrong(context: template.Context, errors: Mapping[str, str]) -> str:
    """This page's address without the fields that are wrong."""
    request = context["request"]
    wrong = {name.rpartition(".")[2] for name in errors} | ({"from", "to"} if "between" in errors else set())
    kept = [(n, v) for n, vs in request.GET.lists() for v in vs if n.rpartition(".")[2] not in wrong]
    return f"{request.path}?{urlencode(kept, safe=':,')}" if kept else request.path


@register.simple_tag
def kind_word(name: str) -> str:
    """A block kind as people say it: tool_use is a tool call."""
    return KIND_WORDS.get(name, name)


@register.simple_tag
def overcount(value: float | None) -> SafeString:
    """The over-count badge: nothing where there is no factor, plain below 10, tinted from 10, solid from 100."""
    if value is None:
        return SafeString("")
    loud = figures.loudness(value)
    return format_html(
        '<span class="over{}" title="estimated: one counter over the tokens the model is charged">{}</span>',
        f" over-{loud}" if loud else "", figures.factor(value),
    )  # fmt: skip


@register.simple_tag
def weight(
    parts: Iterable[tuple[str, int]],
    n_bytes: int,
    bytes_per_token: float,
    full: float,
    *,
    over: bool = False,
    width: int = 148,
) -> SafeString:
    """The weight bar: tokens by kind over bytes.

    ``parts`` are (kind, tokens); ``bytes_per_token`` is the session's own, so that text is symmetric; ``full`` is the
    number of tokens that fills the width (the session's 95th percentile); ``over`` paints the bytes red.
    """
    marks = weight_marks(parts, n_bytes, bytes_per_token, full, width)
    tokens = format_html_join(
        "",
        '<rect class="k-{}" x="{}" y="1" width="{}" height="7"/>',
        ((k, f"{x:g}", f"{w:g}") for k, x, w in marks.tokens),
    )
    paint = "x" if over else "b"
    shape = format_html('<rect class="{}" x="0" y="9" width="{}" height="4"/>', paint, f"{marks.n_bytes:g}")
    if marks.torn:
        outline = f"M0 9h{width - 22}l-4 5H0zM{width - 18} 9h4l-4 5h-4zM{width - 10} 9h10v5h-14z"
        shape = format_html('<path class="{}" d="{}"/>', paint, outline)
    return format_html(
        '<svg class="weight" width="{0}" height="14" viewBox="0 0 {0} 14" preserveAspectRatio="none"'
        ' aria-hidden="true">{1}{2}</svg>',
        width, tokens, shape,
    )  # fmt: skip


@register.simple_tag
def spark(session: Session) -> SafeString:
    """The sparkline of a session: context against its window, a tick at each recorded compaction.

    A triangle marks the most over-counted message where something followed from it.
    """
    marks = spark_marks({**session.spark, "window": session.window})
    if marks is None:
        return format_html('<span class="muted">{}</span>', figures.NONE)
    limit = mark_safe('<path class="limit" d="M0 3H132"/>') if marks.limit else ""
    ticks = format_html_join("", '<path class="mark" d="M{} 0v4"/>', ((f"{x:g}",) for x in marks.ticks))
    if session.is_hurt_by_overcount and marks.alarm is not None:
        ticks += format_html('<path class="alarm" d="M{} 1h8l-4 6z"/>', f"{marks.alarm - 4:g}")
    return format_html(
        '<svg class="spark" width="132" height="22" viewBox="0 0 132 22" preserveAspectRatio="none" role="img"'
        ' aria-label="{0}">'
        '<path class="area" d="{1}V21H0z"/>{2}<path class="line" d="{1}"/>{3}</svg>',
        marks.says, marks.line, limit, ticks,
    )  # fmt: skip


@register.simple_tag
def when(value: dt.datetime | None, *, full: bool = False, clock: bool = False) -> SafeString:
    """A point in time as a ``time`` element, with ``clock`` hour and minute alone; the full stamp is its title."""
    if value is None:
        return format_html('<span class="muted">{}</span>', figures.NONE)
    text = figures.stamp(value) if full else f"{timezone.localtime(value):%H:%M}" if clock else figures.moment(value)
    return format_html('<time datetime="{}" title="{}">{}</time>', value.isoformat(), figures.stamp(value), text)


@register.simple_tag
def inlined(name: str) -> SafeString:
    """A script or style sheet of ours as an element of the page itself, for one that asks for nothing else.

    Raises FileNotFoundError where the installation lacks it.
    """
    element = "style" if name.endswith(".css") else "script"
    code = _own_file(name).decode().replace(f"</{element}", f"<\\/{element}")
    return SafeString(f"<{element}>{code}</{element}>")


@register.simple_tag
def inlined_font(family: str, name: str) -> SafeString:
    """A font of ours in the page itself, as a style; raises FileNotFoundError where the installation lacks it."""
    data = b64encode(_own_file(name)).decode()
    face = f'font-family:"{family}";font-weight:400 600;src:url(data:font/woff2;base64,{data}) format("woff2")'
    return SafeString(f"<style>@font-face{{{face}}}</style>")


def _own_file(name: str) -> bytes:
    path = finders.find(name)
    if not isinstance(path, str):
        raise FileNotFoundError(f"static file {name} is missing: install ctxweb again")
    return Path(path).read_bytes()


SPARK_WIDTH = 132.0
SPARK_TOP = 3.0
SPARK_FLOOR = 20.0
TICKS_APART = 3.0
"""Pixels from one tick of a compaction to the next."""


@dataclass(frozen=True, slots=True)
class WeightMarks:
    """A weight bar in pixels: ``tokens`` are (kind, x, width); ``torn`` says that the bytes run on past the edge."""

    tokens: tuple[tuple[str, float, float], ...]
    n_bytes: float
    torn: bool


@dataclass(frozen=True, slots=True)
class SparkMarks:
    """A sparkline as path data, tick positions in pixels and the sentence that says the same."""

    line: str
    limit: bool
    ticks: tuple[float, ...]
    alarm: float | None
    says: str


def weight_marks(
    parts: Iterable[tuple[str, int]], n_bytes: int, bytes_per_token: float, full: float, width: float
) -> WeightMarks:
    """Lay out tokens by kind over bytes; ``full`` tokens fill the width, ``bytes_per_token`` scales the bytes."""
    per_token = width / max(full, 1.0) if full > 0 else 0.0
    left, rects = 0.0, []
    for kind, tokens in parts:
        if tokens <= 0 or left >= width:
            continue
        wide = min(max(tokens * per_token, 1.0), width - left)
        rects.append((kind, round(left, 1), round(wide, 1)))
        left += wide
    reach = n_bytes / bytes_per_token * per_token if bytes_per_token > 0 else 0.0
    shown = min(max(reach, 1.0 if n_bytes else 0.0), width)
    return WeightMarks(tuple(rects), round(shown, 1), reach > width * 1.02)


def spark_marks(spark: Mapping[str, object]) -> SparkMarks | None:
    """A stepped line of context sizes against the window; None where the session has no requests to draw.

    ``points`` are tokens; ``compactions`` and ``worst`` positions from 0 to 1 over the requests.
    """
    points = [p for p in _numbers(spark.get("points")) if p >= 0]
    if not points:
        return None
    window = next(iter(_numbers([spark.get("window")])), 0.0)
    top = max(window, *points, 1.0)
    ticks = sorted(round(x * SPARK_WIDTH, 1) for x in _numbers(spark.get("compactions")) if 0 <= x <= 1)
    worst = next((x for x in _numbers([spark.get("worst")]) if 0 <= x <= 1), None)
    alarm = None if worst is None else round(min(max(worst * SPARK_WIDTH, 4.0), SPARK_WIDTH - 4.0), 1)
    peak = max(points)
    share = f"{100 * peak / window:.0f}% of the window" if window else f"{peak:,.0f} tokens, window not known"
    says = f"peak {share}, {counted(len(ticks), 'compaction')}"
    return SparkMarks(_steps(points, top), window > 0, _apart(ticks), alarm, says)


def _apart(ticks: list[float]) -> tuple[float, ...]:
    """The first tick of every few pixels: nearer ones run into each other."""
    shown: list[float] = []
    for x in ticks:
        if not shown or x - shown[-1] >= TICKS_APART:
            shown.append(x)
    return tuple(shown)


def _steps(points: list[float], top: float) -> str:
    """Path data of the steps, without the closing corner."""
    scale = (SPARK_FLOOR - SPARK_TOP) / top
    heights = [f"{SPARK_FLOOR - p * scale:.1f}" for p in points]
    step = SPARK_WIDTH / len(points)
    moves = [f"M0 {heights[0]}"]
    moves += [f"H{i * step:.1f}V{y}" for i, y in enumerate(heights) if i]
    return "".join(moves) + f"H{SPARK_WIDTH:g}"


def _numbers(values: object) -> list[float]:
    if not isinstance(values, (list, tuple)):
        return []
    return [float(v) for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
