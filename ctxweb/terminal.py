"""What commands write for people: text of a transcript is shown, never obeyed, neither by rich nor by the terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from typing import TextIO

_UNSAFE = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"
)
"""Control characters but tab and newline, marks that turn the reading direction, lone surrogates."""


def printable(text: str) -> str:
    """``text`` with the replacement character for everything that steers a terminal or cannot be encoded."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def say(text: str) -> None:
    """One message on standard error."""
    click.echo(printable(text), err=True)


class Terminal(Console):
    """A console that reads no markup: ``[/]`` in a title is two brackets and a slash, escape sequences are shown."""

    def render_str(self, text: str, **options: Any) -> Text:
        """``text`` as it is, whatever it holds; called by rich for every text, cells of tables included."""
        return super().render_str(printable(text), **{**options, "markup": False, "emoji": False})


def terminal(file: TextIO | None = None) -> Terminal:
    """A console on standard output, or on ``file``."""
    return Terminal(file=file, markup=False, emoji=False)


def titled(title: str, rest: str = "", *, style: str = "bold") -> Text:
    """``title`` in bold (or another style), then ``rest`` with its figures highlighted."""
    text = Text(printable(title), style)
    plain = terminal().highlighter(Text(printable(rest)))
    return Text.assemble(text, plain)
