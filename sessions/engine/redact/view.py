"""Text as a reader would see it, with a way back to where each piece stood: escapes, colours, folds, base64 undone.

A view serves to find things in, never to be shown, so a piece that was no escape after all does no harm.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

from sessions.engine.redact.values import telling

_ESCAPES = re.compile(
    # Signs without width, and a soft hyphen; the same in a JSON string, an address and a web page.
    r"(?P<gone>[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]+"
    r"|\\{1,8}u(?:00[aA][dD]|200[b-fB-F]|202[a-eA-E]|206[0-9a-fA-F]|[fF][eE][fF][fF])"
    r"|%(?:[cC]2%[aA][dD]|[eE]2%80%8[b-fB-F]|[eE]2%81%[aA][0-4]|[eE][fF]%[bB][bB]%[bB][fF])"
    r"|&(?:ZeroWidthSpace|shy|zwn?j|\#(?:173|820[3-7]|8288|65279|[xX](?:[aA][dD]|200[b-fB-F]|2060|[fF][eE][fF][fF])));"
    # A terminal's colours, also where a log has lost the escape; a line that goes on behind a backslash.
    r"|(?:\x1b|\\{1,8}(?:u001[bB]|x1[bB]|033|e))\[[0-9;?]{0,16}[A-Za-z]|\[[0-9]{1,2}(?:;[0-9]{1,3}){0,4}m"
    r"|(?<!\\)\\\r?\n|\r(?=\n))"
    r"|\\{1,8}(?:u\{?(?P<unit>[0-9a-fA-F]{4})\}?|x(?P<hex>[2-7][0-9a-fA-F])|(?P<one>[nrt\"'/`]))"
    r"|%(?:25){0,3}(?P<percent>[2-7][0-9a-fA-F]|0[aAdD9])"
    r"|(?P<entity>&(?:amp;){0,2}(?:quot|apos|amp|lt|gt|nbsp|colon|commat|equals|\#[0-9]{1,4}|\#[xX][0-9a-fA-F]{1,4});)"
)
_SIGNS = re.compile(r"[\\%&\r\x1b\u00ad\u034f\u061c\u180e\u200b-\u206f\ufe00-\ufe0f\ufeff]|\[[0-9][0-9;]{0,16}m")
"""What a text must hold for one of them to be in it."""
_LETTERS = {"n": "\n", "r": "\n", "t": "\t"}

_LEAST, _MOST = 20, 400
"""Characters of a line that a terminal or a mail may have wrapped."""
_LEAST_TAIL = 6
"""Characters of the last word of a line that is no longer than its neighbours."""
_SIGN = r"[A-Za-z0-9+/=_.~:@$%!#*?&-]"
_TAIL = re.compile(rf"{_SIGN}{{1,12}}\Z")
_HELD = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z+/=_.~-]{0,40}[0-9])[A-Za-z0-9+/=_.~-]{8,400}\Z|[A-Z]{4}[A-Z0-9]{4,40}\Z"
)
"""The beginning of a key at the end of a line, of which the next line holds more and nothing else."""
_BORDER = " \t\r│|"
_LEAD = re.compile(r"[ \t]{0,24}(?:[│|>][ \t]{0,4})?")
_WORD = re.compile(rf"{_SIGN}{{1,400}}")
_BEGINS = re.compile(
    r"[A-Za-z_][\w.-]*(?:=(?!=?(?:\s|\Z))|:(?:\s|\Z)|\(|\[|\s?=\s)|#|--|//|[-*+](?:\s|\Z)|[0-9]{1,6}(?:[→:\t]|\.\s|\Z)"
)
"""How a line begins that goes on with nothing: a setting, a key, a call, a comment, an option, an item."""
_MIXED = re.compile(r"(?=.{0,80}[0-9]).{3}|[A-Za-z]{0,40}[a-z][A-Z]|[0-9]{7,}\Z")

_RUN = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{16,}={0,2}(?![A-Za-z0-9+/_])")
_MOST_BASE64 = 200_000
"""Characters of a run that is decoded: longer ones are images and archives."""
_FIRST = 24


@dataclass(frozen=True, slots=True)
class View:
    """``text``, and for knots in it where the original goes on; ``ends`` where a replaced sign ends there."""

    text: str
    knots: list[int]
    origins: list[int]
    ends: dict[int, int]
    base: View | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where the piece from ``start`` to ``end`` stands in the original."""
        last = self.ends.get(end)
        found = self._at(start), last if last is not None else self._at(end - 1) + 1
        return self.base.span(*found) if self.base is not None else found

    def _at(self, place: int) -> int:
        index = bisect_right(self.knots, place) - 1
        return self.origins[index] + place - self.knots[index]


def plain(text: str) -> View:
    return View(text, [0], [0], {})


def decoded(text: str) -> View:
    """The text with escapes undone and with what has no width left out."""
    if _SIGNS.search(text) is None:
        return plain(text)
    parts, knots, origins, ends = [], [0], [0], {}
    at = size = 0
    for match in _ESCAPES.finditer(text):
        sign = _sign(match)
        start, end = match.span()
        parts += [text[at:start], sign]
        size += start - at
        if sign:
            knots.append(size)
            origins.append(start)
            size += len(sign)
            ends[size] = end
        knots.append(size)
        origins.append(end)
        at = end
    return View("".join([*parts, text[at:]]), knots, origins, ends)


def _sign(match: re.Match[str]) -> str:
    """The one character that an escape stands for; none for what has no width."""
    sort, found = match.lastgroup, match[match.lastgroup or 0]
    if sort == "gone":
        return ""
    if sort == "one":
        return _LETTERS.get(found, found)
    if sort == "entity":
        return unescape(found.replace("amp;", "") if found.count(";") > 1 else found)[:1] or " "
    return chr(int(found, 16))


def unfolded(view: View) -> View | None:
    """Lines that were wrapped at a width, each joined with what it goes on with; None where there are none."""
    lines = view.text.split("\n")
    joins = [_goes_on(lines, index) for index in range(len(lines) - 1)]
    if not any(joins):
        return None
    joins = [False, *joins, False, False]
    parts, knots, origins = [], [], []
    at = size = 0
    for index, line in enumerate(lines):
        was, goes = joins[index : index + 2]
        # The line before may hold the name of what follows.
        if was or goes or joins[index + 2]:
            skip = len(_LEAD.match(line)[0]) if was else 0  # type: ignore[index]
            end = len(line.rstrip(_BORDER)) if goes else len(line)
            knots.append(size)
            origins.append(at + skip)
            parts.append(line[skip:end] if goes else line[skip:] + "\n")
            size += len(parts[-1])
        at += len(line) + 1
    return View("".join(parts), knots, origins, {}, view)


def _goes_on(lines: list[str], index: int) -> bool:
    """Whether a line was broken at its width, in the middle of a word, rather than at its end."""
    line, after = lines[index].rstrip(_BORDER), lines[index + 1]
    if not after or not 1 < len(line) <= _MOST:
        return False
    tail = _TAIL.search(line, max(0, len(line) - 12))
    next_word = _WORD.match(after, _LEAD.match(after).end())  # type: ignore[union-attr]
    if tail is None or next_word is None or _BEGINS.match(after, next_word.start()):
        return False
    is_mixed = _MIXED.match(next_word[0]) is not None
    is_alone = next_word.end() == len(after.rstrip(_BORDER)) >= _LEAST_TAIL
    if is_mixed and ((is_alone and _HELD.search(line)) or (re.search(r"\w-\Z", line) and len(after) > len(line))):
        return True
    if not _LEAST <= len(line) >= len(after):
        return False
    is_even = len(line) == len(after) or (index > 0 and len(line) == len(lines[index - 1]))
    return is_even or (is_mixed and len(tail[0]) >= _LEAST_TAIL)


def base64_texts(text: str) -> Iterator[tuple[int, int, str]]:
    """Where base64 of text stands, and the text."""
    for match in _RUN.finditer(text):
        run = match[0]
        if len(run) <= _MOST_BASE64 and _read(run[:_FIRST]) and (found := _read(run)):
            yield (*match.span(), found)


def _read(run: str) -> str:
    """The text of a run, also where Windows wrote two bytes for a letter; nothing where it is none."""
    bare = run.rstrip("=").replace("-", "+").replace("_", "/")
    bare = bare[: len(bare) - 1] if len(bare) % 4 == 1 else bare
    try:
        data = base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
        if data[1:8:2] == b"\0\0\0\0":
            return data.decode("utf-16-le")
        found = data.decode("utf-8", "strict" if len(run) != _FIRST else "ignore")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return found if all(c.isprintable() or c in "\n\r\t" for c in found) else ""


def is_login(text: str) -> bool:
    """Whether it is a user's name and a password, as a header has them."""
    name, _, password = text.strip().partition(":")
    return (
        re.fullmatch(r"[\w.@-]{0,40}[A-Za-z][\w.@-]{0,40}", name) is not None
        and telling(password)
        and " " not in password
    )
