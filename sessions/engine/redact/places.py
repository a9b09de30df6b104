"""Where a secret stands beside its name: assigned, as an option, a key, an argument, an element, in a sentence.

Or in the column of a table whose head names it, as Markdown and databases print tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sessions.engine.redact import values
from sessions.engine.redact.kinds import ENV, KEYS, PASSWORDS, Kind
from sessions.engine.redact.values import TRIGGERS, Sort, sort_of

Found = tuple[Kind, int, int]
Judge = Callable[[str], bool]
_Q = r"(?:[\"'`]{1,3})"
_WAYS = {
    "assign": (
        rf"{_Q}?\]?\)?[*_]{{0,2}}(?:\[\])?(?P<before>[ \t]{{0,20}}(?:\n(?=: ))?)"
        r"(?P<sign>=>|:=|\?{1,2}=|[+.]=|<-|<<<|\|\|=?(?=\s)|={1,3}|:|→)"
        r"[*_]{0,2}(?P<after>\s{0,40})"
    ),
    "value": (
        rf"{_Q}?\s?(?:,?\s{{1,30}}|[:=]?\s{{0,8}}\{{[^{{}}]{{0,160}}?)"
        r"[\"'-]{0,2}(?:value|default|plaintext)[\"']?\s?[:=]\s?"
    ),
    "pair": rf"{_Q}\s?,\s{{0,20}}(?={_Q})",
    "call": rf"\(\s?(?={_Q})",
    "element": r"[\"']?/?>(?=[^\s<])",
    "plist": r"</key>\s{0,40}<string>",
    "cell": rf"{_Q}?[*_]{{0,2}}[ \t]{{0,40}}[|│][ \t]{{0,40}}",
    "says": (
        rf"{_Q}?[ \t](?:(?:for|of|on)[ \t][\w.@-]{{1,40}}[ \t])?(?:is|was|are|to|ist|est|es|lautet)"
        r"(?: now| still| set to| just| generated| temporarily)?(?: for [\w.@-]{1,60})?:?[ \t]{1,4}"
    ),
    "space": r"[ \t]{1,8}",
}
"""What may stand between a name and its value, in small letters."""
_NAMED = re.compile(
    rf"(?:{TRIGGERS})[a-z0-9_-]{{0,30}}+(?:{'|'.join(f'(?P<{way}>{regex})' for way, regex in _WAYS.items())})"
)
_TYPE = re.compile(
    r"[A-Za-z]{1,20}(?:\[[\w, |]{1,30}\])?(?: ?\| ?[A-Za-z]{1,20}){0,2}\??[ \t]{1,4}=[ \t]{0,4}(?=[\"'`])"
)
"""A type between a name and its value: password: str = "…"."""
_OPENS = re.compile(r"[brufBRUFN@$]{0,2}(?P<quote>\"\"\"|'''|``|[\"'`])")
_BARE = re.compile(r"(?:[^\s\"'`<>,;&|]|[,;&|](?![ \t]*[\w.$-]{1,40}[=:]|[,;&|\s\"'`)\]}]|\Z)){1,4000}")
"""Up to a space, a quote, or a sign that another setting follows."""
_INNER = re.compile(r"\{[^{}]{0,160}?[\"']?\b(?:value|default|plaintext)[\"']?\s?[:=]\s?(?=[\"'])")
"""A value among what else is said of it: {"type": "string", "value": "…"}."""
_ITEMS = re.compile(r"\[\s{0,20}(?=[\"'])")
_NEXT_ITEM = re.compile(r"[\"'`]{1,3}\s?,\s{0,20}")
_LINE = re.compile(r"[^\n]{1,200}")
_INSTRUCTED = re.compile(r"\[[^\[\]\n]{0,60} [^\[\]\n]{0,60}\]|<[^<>\n]{0,120}>|\{\{[^{}\n]{0,120}\}\}")
"""[your password here]"""
_BLOCK = re.compile(r"[|>][-+]?\n[ \t]{1,20}(?=\S)")
_CLOSED = re.compile(r"[\s,;:)\]}>&|?.+/#]|\\|\Z")
"""What follows a quote that ends a value: inside of one another letter does."""
_LEAST_CUT = 20
"""Characters before dots that are more than the beginning that an example shows."""
_MOST_ITEMS = 50
_MOST_WITHIN = 4
"""Quotes that a value may hold."""
_MOST = 4000
"""Characters of a value."""
_LEFT = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-$")
_LEFTMOST = 60
"""Characters of a name."""
_OPTION = re.compile(r"[\s\"'\[(]/\Z")
_SETTER = re.compile(
    r"\b(?:ENV|ARG|setx|setenv|set -\w{1,2}|config(?:ure)? set(?: \S{0,80})?|secrets? set|(?:machine"
    r"|login) \S{1,80})\s{1,4}\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Place:
    """A name in ``text`` and what stands behind it: where the name starts and ends, where a value may start."""

    text: str
    match: re.Match[str]
    start: int
    end: int
    sort: Sort

    @property
    def at(self) -> int:
        return self.match.end()

    @property
    def name(self) -> str:
        return self.text[self.start : self.end]

    @property
    def before(self) -> str:
        return self.text[self.start - 1 : self.start]

    def judged(self, span: tuple[int, int] | None, password: Judge, secret: Judge) -> Found | None:
        if span is None:
            return None
        value = self.text[span[0] : span[1]]
        if self.sort in (Sort.PASSWORD, Sort.WORD):
            return (PASSWORDS, *span) if password(value) else None
        judge = secret if self.sort is Sort.SECRET else values.strict
        return (KEYS if values.varied(value) else ENV, *span) if judge(value) else None


def named(text: str, lower: str) -> Iterator[Found]:
    """Secrets of which a name beside them tells; ``lower`` is the text in small letters, of the same length."""
    for match in _NAMED.finditer(lower):
        way = next(way for way in _WAYS if match[way] is not None)
        start, end = match.start(), match.start(way)
        least = max(0, start - _LEFTMOST)
        while start > least and text[start - 1] in _LEFT:
            start -= 1
        sort = sort_of(text[start:end])
        if sort is None:
            continue
        place = _Place(text, match, start, end, sort)
        if sort is Sort.WORD and not _says_password(place, way):
            continue
        if way == "assign" and _ITEMS.match(text, match.end()):
            yield from _listed(place)
        elif (found := _FOUND[way](place)) is not None:
            yield found


def _says_password(place: _Place, way: str) -> bool:
    """Whether "pass" alone is a password's name: an option, an element, before an equals sign, small before a colon."""
    if way == "assign":
        is_code = place.text[place.at : place.at + 1] == "`"
        return not is_code and (place.match["sign"] in ("=", "<<<") or place.name.islower())
    return way == "element" or (way == "space" and place.name.startswith("-"))


def _listed(place: _Place) -> Iterator[Found]:
    opens = _ITEMS.match(place.text, place.at)
    at = opens.end() if opens else place.at
    for _ in range(_MOST_ITEMS):
        span = _quoted(place.text, at)
        if span is None:
            return
        found = place.judged(span, values.mixed_password, values.varied)
        if found is not None:
            yield found
        following = _NEXT_ITEM.match(place.text, span[1])
        if following is None:
            return
        at = following.end()


def _assigned(place: _Place) -> Found | None:
    text, at, match = place.text, place.at, place.match
    tight = match["sign"] == "=" and not match["before"] and not match["after"]
    if tight and place.before in {"?", "&", "#"}:
        return _in_address(place)
    if typed := _TYPE.match(text, at) or _INNER.match(text, at):
        at = typed.end()
    if block := _BLOCK.match(text, at):
        return _blocked(place, block.end())
    if span := _quoted(text, at):
        is_scoped = text[place.start - 2 : place.start] == "::"
        return None if is_scoped else place.judged(span, values.quoted_password, values.varied)
    # Without quotes no line is passed, and no name within others: AWS::KMS::Key, arn:…:secret:x.
    if "\n" in match["after"] or (place.before == ":" and match["sign"] == ":"):
        return None
    is_set = tight and (place.sort is not Sort.MAYBE or _is_setting(place))
    span = _bare(text, at)
    return _setting(place, span) if is_set else place.judged(span, values.mixed_password, values.bare_key)


def _blocked(place: _Place, at: int) -> Found | None:
    """The one line of a block of YAML."""
    line = _LINE.match(place.text, at)
    span = (at, line.end()) if line and place.sort is Sort.PASSWORD else _bare(place.text, at)
    return place.judged(span, values.quoted_password, values.varied)


def _is_setting(place: _Place) -> bool:
    """Whether the name is one of the environment: SHOP_KEY."""
    return place.name.isupper() and "_" in place.name and (not place.before or place.before in "\n \t\"'+-")


def _setting(place: _Place, span: tuple[int, int] | None) -> Found | None:
    """Behind an equals sign without spaces: a setting, whatever it looks like where its name is in capitals."""
    if span and place.sort is Sort.MAYBE:
        return (ENV, *span) if values.shorter(place.text[span[0] : span[1]]) else None
    return place.judged(span, values.bare_password, values.shorter if place.name.isupper() else values.bare_key)


def _in_address(place: _Place) -> Found | None:
    span = _bare(place.text, place.at)
    if span is None:
        return None
    value = re.split(r"[&#;]", place.text[span[0] : span[1]], maxsplit=1)[0]
    if place.sort is Sort.PASSWORD:
        is_secret = values.bare_password(value)
    else:
        is_secret = len(value) >= 8 and values.shorter(value) and any(c.isdigit() for c in value)
    return (PASSWORDS if place.sort is Sort.PASSWORD else KEYS, span[0], span[0] + len(value)) if is_secret else None


def _element(place: _Place) -> Found | None:
    if not place.before or place.before not in "<:\"'=":
        return None
    end = place.text.find("<", place.at, place.at + _MOST)
    if end < 0 or "\n" in place.text[place.at : end].strip():
        return None
    return place.judged((place.at, end), values.quoted_password, _some_varied)


def _some_varied(value: str) -> bool:
    return values.varied(value) or any(values.strict(word) for word in value.strip("{}").split())


def _spaced(place: _Place) -> Found | None:
    """Behind a space: of an option, or of a command that sets."""
    span = _either(place)
    if span is None or place.text[span[0]] == "-" or (place.sort is Sort.MAYBE and place.name[0] != "-"):
        return None
    before = place.text[max(0, place.start - 100) : place.start]
    if place.name.startswith("-") or _OPTION.search(before[-2:]):
        return place.judged(span, values.bare_password, values.bare_key)
    is_quoted = span[0] > place.at
    if is_quoted and place.name.lower() == "password":
        return place.judged(span, values.quoted_password, values.strict)
    # The command is looked for only behind what is worth it.
    may = is_quoted or (values.mixed_password(place.text[slice(*span)]) and _SETTER.search(before))
    judge = values.mixed_password if may else values.telling
    return place.judged(span, judge, values.strict)


def _either(place: _Place) -> tuple[int, int] | None:
    return _quoted(place.text, place.at) or _bare(place.text, place.at)


def _quoted(text: str, at: int) -> tuple[int, int] | None:
    """What stands between quotes; a quote with a letter behind it is one of the value."""
    opens = _OPENS.match(text, at)
    if opens is None:
        return None
    quote, start = opens["quote"], opens.end()
    line = text.find("\n", start, start + _MOST)
    most = line if line >= 0 else start + _MOST
    first = end = text.find(quote, start, most)
    for _ in range(_MOST_WITHIN):
        if end < 0 or _CLOSED.match(text, end + len(quote)):
            break
        end = text.find(quote, end + 1, most)
    end = first if end < 0 else end
    return (start, end) if end > start else None


def _bare(text: str, at: int) -> tuple[int, int] | None:
    """What stands up to a space or a sign that ends a value, without the sentence's full stop or a bracket's end."""
    found = _BARE.match(text, at)
    if found is None or _INSTRUCTED.match(text, at):
        return None
    value = found[0].rstrip(".:\\")
    if found[0].endswith(("...", "…")) and len(value) < _LEAST_CUT:
        return None
    for opening, closing in ("()", "[]", "{}"):
        while value.endswith(closing) and value.count(closing) > value.count(opening):
            value = value[:-1].rstrip(".:")
    return (at, at + len(value)) if value else None


def _valued(place: _Place) -> Found | None:
    return place.judged(_either(place), values.quoted_password, values.varied)


def _loose(place: _Place) -> Found | None:
    """Where much else may stand: in a cell of a table, in a sentence, as an argument or what a call is given."""
    return place.judged(_either(place), values.mixed_password, values.strict)


_FOUND = {
    "assign": _assigned, "value": _valued, "pair": _loose, "call": _loose, "element": _element,
    "plist": _valued, "cell": _loose, "says": _loose, "space": _spaced,
}  # fmt: skip


_HEAD = re.compile(r"(?:(?<=\n)|\A)([^\n]{3,400})\n[ \t]*[|+]?[ \t]*:?-{2,400}:?[ \t]*[|+][-+:| \t]{0,400}(?:\n|\Z)")
_CELL = re.compile(r"[^|│\n]+")
MOST_ROWS = 1_000


def tabled(text: str) -> Iterator[tuple[Kind, int, int]]:
    """What stands under a head that says "password" or "token"."""
    done = 0
    for head in _HEAD.finditer(text):
        # A line within a table is no head of another: each is read once.
        if "|" not in head[1] or head.start() < done:
            continue
        names = (cell[0].strip(" *`") for cell in _CELL.finditer(head[1].strip(" |")))
        columns = {index: sort for index, sort in enumerate(map(sort_of, names)) if sort is not None}
        at = head.end()
        for _ in range(MOST_ROWS if columns else 0):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            if "|" not in text[at:end]:
                break
            yield from _row(text, at, end, columns)
            done = at = end + 1


def _row(text: str, at: int, end: int, columns: dict[int, Sort]) -> Iterator[tuple[Kind, int, int]]:
    at += len(text[at:end]) - len(text[at:end].lstrip(" \t|"))
    for index, cell in enumerate(_CELL.finditer(text, at, end)):
        value = cell[0].strip(" \t*`'\"")
        sort = columns.get(index)
        judge = values.mixed_password if sort is Sort.PASSWORD else values.strict
        if sort is not None and judge(value):
            start = cell.start() + cell[0].index(value)
            yield (PASSWORDS if sort is Sort.PASSWORD else KEYS), start, start + len(value)
