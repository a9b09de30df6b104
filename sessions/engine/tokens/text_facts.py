"""What a text is made of, beside its tokens: found where they are counted, so that reading a file does not wait."""

from __future__ import annotations

import re
import string
from json.encoder import encode_basestring
from typing import NamedTuple

PROSE, ARGUMENTS, VALUE = range(3)
"""How a text is looked at: as text, as the JSON arguments of a call, as another JSON value."""

MARK = "REDACTED"
"""What tools that take secrets out of transcripts leave in their place."""

_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_STRUCTURE = re.compile(r"[][{},:]")
_SIGNED = re.compile(rf"(?<=\?){MARK}|(?<={MARK}\.){MARK}")
_CLASSES = tuple(chars.encode() for chars in (string.digits, string.ascii_uppercase, string.punctuation, " "))


class TextFacts(NamedTuple):
    """``Block.n_non_ascii``, ``Block.n_json`` and ``Block.classes`` of a text."""

    n_non_ascii: int = 0
    n_json: int = 0
    classes: tuple[int, ...] = ()


def text_facts(text: str, look: int = PROSE) -> TextFacts:
    """The facts of ``text``, looked at as one of PROSE, ARGUMENTS and VALUE."""
    return TextFacts(
        0 if text.isascii() else len(text) - len(text.encode("ascii", "ignore")),
        json_escapes(text) if look == PROSE else json_blanks(text),
        text_classes(text, arguments=look == ARGUMENTS),
    )


def text_classes(text: str, *, arguments: bool = False) -> tuple[int, ...]:
    """How many bytes of ``text`` are digits, capitals, punctuation and blanks; () for an empty text.

    What sets code, listings, JSON and paths apart from prose (estimators 7.3).  Three numbers more where one of them is
    not 0: marks of redaction, those of them that stand for a part of a signed token, and of ``arguments`` the
    separators inside of lists and objects that are arguments.
    """
    if not text:
        return ()
    data = text.encode("utf-8", "surrogatepass")
    sizes = tuple([len(data) - len(data.translate(None, each)) for each in _CLASSES])
    n_marks = text.count(MARK)
    n_signed = len(_SIGNED.findall(text)) if n_marks else 0
    n_nested = _nested_separators(text) if arguments else 0
    return (*sizes, n_marks, n_signed, n_nested) if n_marks or n_nested else sizes


def n_marks(classes: tuple[int, ...]) -> int:
    """Marks of redaction among the ``classes`` of a text."""
    return classes[len(_CLASSES)] if len(classes) > len(_CLASSES) else 0


def json_escapes(text: str) -> int:
    """Characters that JSON adds to a text, its quotes left out: ``json.dumps(text, ensure_ascii=False)``."""
    return len(encode_basestring(text)) - 2 - len(text)


def json_blanks(compact: str) -> int:
    """Blanks that ``json.dumps`` puts into compact JSON: one after each comma and colon outside of strings."""
    bare = _JSON_STRING.sub("", compact)
    return bare.count(",") + bare.count(":")


def _nested_separators(compact: str) -> int:
    """Commas and colons of compact JSON that stand inside of its parts, not between them."""
    found, depth = 0, 0
    for mark in _STRUCTURE.findall(_JSON_STRING.sub("", compact)):
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
        else:
            found += depth > 1
    return found
