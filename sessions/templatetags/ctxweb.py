"""Template tags of the product's own marks: figures, labels, kinds, over-count badges, weight bars, sparklines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from sessions import figures
from sessions.listing import format_label
from sessions.marks import spark_marks, weight_marks

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable

    from sessions.models import Session

register = template.Library()

LABELS = ("measured", "calibrated", "estimated")
KINDS = ("text", "thinking", "tool_use", "tool_result", "image", "document", "summary", "opaque")

register.filter("format_label", format_label)
register.filter("count", figures.count)
register.filter("factor", figures.factor)
register.filter("signed", figures.signed)
register.filter("moment", figures.moment)
register.filter("stamp", figures.stamp)


@register.filter
def size(n_bytes: float | None) -> str:
    """Bytes with their unit in one text: 3.12 MB, with a space that does not break."""
    return "\N{NO-BREAK SPACE}".join(part for part in figures.size(n_bytes) if part)


@register.filter
def short(value: float | None) -> str:
    """A shortened count in one text: 62.1 K."""
    return "\N{NO-BREAK SPACE}".join(part for part in figures.short(value) if part)


@register.filter
def share(part: float | None, whole: float | None) -> str:
    """``part|share:whole``: 11 %."""
    return figures.percent(part, whole)


def _with_unit(pair: tuple[str, str]) -> SafeString:
    number, unit = pair
    return format_html('{}<span class="unit">{}</span>', number, unit) if unit else format_html("{}", number)


@register.simple_tag
def bytes_figure(n_bytes: float | None) -> SafeString:
    """Bytes for a facts strip, the unit set smaller."""
    return _with_unit(figures.size(n_bytes))


@register.simple_tag
def short_figure(value: float | None) -> SafeString:
    """A large count for a facts strip: in full below 100,000, else shortened."""
    if value is None or abs(value) < 100_000:
        return format_html("{}", figures.count(value))
    return _with_unit(figures.short(value))


@register.simple_tag
def trust(label: str, *, short: bool = False) -> SafeString:
    """How a figure is known: disc and word; with ``short`` the word is only for those who cannot see the disc."""
    if label not in LABELS:
        return SafeString("")
    disc = format_html('<svg viewBox="0 0 10 10" aria-hidden="true"><use href="#t-{}"/></svg>', label)
    if short:
        word = format_html('<span class="visually-hidden">{}</span>', label)
        return format_html('<span class="trust" title="{}">{}{}</span>', label, disc, word)
    return format_html('<span class="trust">{}{}</span>', disc, label)


@register.simple_tag
def kind(name: str, *, word: bool = False, chip: bool = False) -> SafeString:
    """A block kind: its shape, and its word (seen with ``word`` or ``chip``, else as title and hidden text)."""
    known = name if name in KINDS else "opaque"
    shape = format_html('<svg viewBox="0 0 14 14" aria-hidden="true"><use href="#k-{}"/></svg>', known)
    if word or chip:
        extra = " kind-chip" if chip else ""
        return format_html('<span class="kind{} k-{}">{}{}</span>', extra, known, shape, name)
    hidden = format_html('<span class="visually-hidden">{}</span>', name)
    return format_html('<span class="kind k-{}" title="{}">{}{}</span>', known, name, shape, hidden)


@register.simple_tag
def overcount(value: float | None) -> SafeString:
    """The over-count badge: nothing where there is no factor, plain below 10, tinted from 10, solid from 100."""
    if value is None:
        return SafeString("")
    loud = figures.loudness(value)
    return format_html('<span class="over{}">{}</span>', f" over-{loud}" if loud else "", figures.factor(value))


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

    A triangle marks the most over-counted message where its badge is tinted or solid.
    """
    marks = spark_marks({**session.spark, "window": session.window})
    alarm = bool(figures.loudness(session.worst_overcount))
    if marks is None:
        return format_html('<span class="muted">{}</span>', figures.NONE)
    limit = mark_safe('<path class="limit" d="M0 3H132"/>') if marks.limit else ""
    ticks = format_html_join("", '<path class="mark" d="M{} 0v4"/>', ((f"{x:g}",) for x in marks.ticks))
    if alarm and marks.alarm is not None:
        ticks += format_html('<path class="alarm" d="M{} 1h8l-4 6z"/>', f"{marks.alarm - 4:g}")
    return format_html(
        '<svg class="spark" width="132" height="22" viewBox="0 0 132 22" preserveAspectRatio="none" role="img"'
        ' aria-label="{0}">'
        '<path class="area" d="{1}V21H0z"/>{2}<path class="line" d="{1}"/>{3}</svg>',
        marks.says, marks.line, limit, ticks,
    )  # fmt: skip


@register.simple_tag
def when(value: dt.datetime | None, *, full: bool = False) -> SafeString:
    """A point in time as a ``time`` element; the full stamp is its title."""
    if value is None:
        return format_html('<span class="muted">{}</span>', figures.NONE)
    text = figures.stamp(value) if full else figures.moment(value)
    return format_html('<time datetime="{}" title="{}">{}</time>', value.isoformat(), figures.stamp(value), text)


@register.simple_tag
def plural(number: int, one: str, many: str = "") -> str:
    """A count with its noun: "1 session", "1,204 sessions"."""
    return f"{figures.count(number)} {one if number == 1 else many or one + 's'}"
