"""The one way a figure is printed: its number, its unit, and how it is known, together.

Tokens, dollars, shares and factors say *measured*, *calibrated* or *estimated*; bytes say which bytes they are.  A
transcript is not the wire, so its bytes are transcript bytes unless the file is a capture of the wire.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from django.utils.html import format_html
from django.utils.safestring import SafeString

from sessions.engine.base import registry
from sessions.models import Session
from sessions.pages.ui import figures

LABELS = ("measured", "calibrated", "estimated")
BYTES = ("transcript", "wire", "file", "base64")
KIND_WORDS = {"tool_use": "tool call", "tool_result": "tool result"}
"""Block kinds as people say them, where the word differs from the name."""
HOWS = ("", "word", "cell", "quiet", "lead", "plain")


def _dollars(value: float | None) -> str:
    """Cents; of less than ten of them hundredths of one, too."""
    if value is None:
        return figures.NONE
    return f"${value:,.4f}" if 0 < abs(value) < 0.1 else f"${value:,.2f}"


UNITS: dict[str, Callable[[float | None], str]] = {
    "tokens": figures.count,
    "bytes": figures.count,
    "factor": figures.factor,
    "dollars": _dollars,
    "percent": lambda value: figures.percent(value, 100),
}
"""How the number of each unit is written; factors, dollars and shares carry their unit in the number."""


@cache
def trust_html(label: str, *, short: bool = False) -> SafeString:
    """How a figure is known: disc and word; with ``short`` the word is only for those who cannot see the disc."""
    if label not in LABELS:
        return SafeString("")
    disc = format_html('<svg viewBox="0 0 10 10" aria-hidden="true"><use href="#t-{}"/></svg>', label)
    if short:
        word = format_html('<span class="visually-hidden">{}</span>', label)
        return format_html('<span class="trust" title="{}">{}{}</span>', label, disc, word)
    return format_html('<span class="trust">{}{}</span>', disc, label)


def figure_html(value: float | None, unit: str, label: str, how: str = "", *, short: bool = False) -> SafeString:
    """The figure; ``value`` None reads "none".

    ``unit`` is a name of ``UNITS``; ``label`` one of ``LABELS``, for bytes one of ``BYTES``.  ``how``: "" is for
    sentences (number, unit, disc), "word" adds the label's word, "cell" is for tables whose heads name the unit,
    "quiet" the same where a head or a row's head has the disc, "lead" for the facts strip, "plain" has the words alone,
    for attributes.  ``short`` writes 62.1 K and 3.12 MB.
    Raises ValueError for a figure without its label.
    """
    if unit not in UNITS or how not in HOWS or label not in (BYTES if unit == "bytes" else LABELS + BYTES):
        raise ValueError(f"a figure needs a unit and how it is known, not {unit!r} and {label!r}")
    if value is None:
        return (
            format_html('<span class="muted">{}</span>', figures.NONE) if how != "plain" else SafeString(figures.NONE)
        )
    number, scale = _number(value, unit, short=short)
    if how == "plain":
        return format_html("{}", _sentence(number, scale, unit, label))
    if how in ("cell", "quiet"):
        return _cell(number, scale, unit, label, disc=how == "cell")
    if how == "lead":
        tail = format_html('<span class="unit">{}</span>', scale) if scale else ""
        return format_html('<span title="{}">{}{}</span>', told(unit, label), number, tail)
    says = _sentence(number, scale, unit, label)
    if label in BYTES:
        return format_html('<span class="fig" title="{}">{}</span>', told(unit, label), says)
    return format_html('<span class="fig">{} {}</span>', says, trust_html(label, short=how != "word"))


def _number(value: float, unit: str, *, short: bool) -> tuple[str, str]:
    """The number and what it is scaled by: ("3.12", "MB"), ("62.1", "K"), ("1,540", "")."""
    if unit == "bytes" and short:
        return figures.size(value)
    if unit == "tokens" and short and abs(value) >= 100_000:
        return figures.short(value)
    return UNITS[unit](value), ""


def _sentence(number: str, scale: str, unit: str, label: str) -> str:
    """3,118,884 transcript bytes; 3.12 MB; 62.1 K tokens; ×1,540."""
    shown = f"{number}\N{NO-BREAK SPACE}{scale}" if scale else number
    if unit == "bytes":
        return f"{shown} of base64" if label == "base64" and scale else shown if scale else f"{shown} {label} bytes"
    return f"{shown} {unit}" if unit == "tokens" else shown


def _cell(number: str, scale: str, unit: str, label: str, *, disc: bool) -> SafeString:
    """A number whose column names the unit: how it is known is seen as a disc, else told by the title."""
    shown = f"{number}\N{NO-BREAK SPACE}{scale}" if scale else number
    if disc and label in LABELS:
        return SafeString(f'<span class="fig">{shown} {trust_html(label, short=True)}</span>')  # digits and a unit
    return titled_html(shown, told(unit, label))


def titled_html(shown: str, title: str) -> SafeString:
    """Words of a figure with how it is known as its title, and for those who cannot see titles."""
    return format_html(
        '<span class="fig" title="{1}">{0}<span class="visually-hidden"> {1}</span></span>', shown, title
    )  # fmt: skip


def told(unit: str, label: str) -> str:
    """Unit and label in words: "tokens, calibrated", "transcript bytes"."""
    if label in BYTES and unit == "bytes":
        return f"{label} bytes"
    if label in BYTES:
        return f"of {label} bytes"
    return label if unit in ("factor", "dollars", "percent") else f"{unit}, {label}"


def format_label(name: str) -> str:
    """The format's own name for screens: "Claude Code" for claude_code."""
    plugin = registry.plugins("formats").get(name)
    return name.replace("_", " ") if plugin is None else str(plugin.label)


def client_words(session: Session) -> str:
    """The agent that wrote it, with its version as far as known: "Claude Code 2.1.97"."""
    client = session.client
    label = format_label(session.format)
    return f"{label} {client}" if client[:1].isdigit() else client or label
