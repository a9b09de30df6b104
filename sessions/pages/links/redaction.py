"""What a link shows: its claim, and any page context with its text cleaned."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from datetime import date, timedelta
from enum import Enum
from types import NoneType
from typing import Any

from django.utils.safestring import SafeString

from sessions.engine.base import limits
from sessions.engine.reading import jsonio
from sessions.engine.redact import EVERYTHING, Choice, redact
from sessions.pages.diff.bodies import Body, TextSpan, word_diff
from sessions.pages.ui.chart import figure_json

TEXTLESS = (int, float, NoneType, date, timedelta, Enum, range)


def cleaned(value: Any, choice: Choice = EVERYTHING) -> Any:
    """A page context with every text in it redacted by ``choice``, however deep; markup made safe stays as it is.

    Dataclasses are rebuilt from their fields, so what they compute is computed from cleaned text.  Raises TypeError for
    an object of which it is not known what text it holds.
    """
    if isinstance(value, Body):
        return _cleaned_body(value, choice)
    if isinstance(value, str):
        return value if isinstance(value, SafeString) else redact(limits.cut_clean(value), choice).text
    if isinstance(value, Mapping):
        return {key: cleaned(inner, choice) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        found = [cleaned(inner, choice) for inner in value]
        return type(value)(*found) if hasattr(value, "_fields") else type(value)(found)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _cleaned_fields(value, choice)
    if not isinstance(value, TEXTLESS):
        raise TypeError(f"{type(value).__name__} may hold text that is not redacted: make it a dataclass")
    return value


def _cleaned_fields(value: Any, choice: Choice) -> Any:
    fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
    fresh = {name: cleaned(inner, choice) for name, inner in fields.items()}
    changed = {name: inner for name, inner in fresh.items() if inner != fields[name]}
    return dataclasses.replace(value, **changed) if changed else value


def _cleaned_body(body: Body, choice: Choice) -> Body:
    """A message's text cleaned, then its words compared again: a secret may lie across two spans of a word diff."""
    old, new = ("".join(span.text for span in spans) for spans in (body.before, body.after))
    if body.left:
        old, new = without_stump(old), without_stump(new)
    old, new, note = (redact(text, choice).text for text in (old, new, body.note))
    if old and new:
        before, after = word_diff(old, new)
        return Body(before, after, body.left, note)
    before, after = (tuple([TextSpan("same", text)] if text else []) for text in (old, new))
    return Body(before, after, body.left, note)


def without_stump(text: str) -> str:
    """A cut text without its last word, which may be the beginning of a secret too short to be known as one."""
    return re.sub(r"\S{1,300}\Z", "", text)


def cleaned_figure(figure: str, choice: Choice) -> SafeString:
    """A chart's JSON with every text in it redacted, value by value so that no pattern reaches across two of them."""
    return figure_json(cleaned(jsonio.loads(figure.encode()), choice))
