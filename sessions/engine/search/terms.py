"""The terms of a text and of a query: what full-text search keeps and looks for, the same on every database.

A text is cut into compounds (``sessions/api/routes.py``, ``get_user_name``, ``getUserName``).  Its terms are the parts
of each compound, each two neighbours with the sign between them, and camel-cased parts in turn.  So a path or a name is
found by the whole of it and by any run of its parts.  Case does not matter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise

from sessions.engine.redact import Choice, redact
from sessions.engine.transcript.types import Content, Kind

RULES = 1
"""Version of these rules: an index of another version is made anew."""
SECRET = Choice(frozenset({"keys", "tokens", "private", "passwords", "urls", "env", "cards"}))
"""What is never a term: whatever opens something, and card numbers."""
MOST_CHARS = 64
"""Characters of a part; of a longer one the first 64 count, in texts as in queries."""
MOST_BYTES = 900_000
"""Bytes of the different terms of one message; PostgreSQL takes a megabyte."""
KNOWN_COMPOUNDS = 50_000
"""Compounds whose terms are remembered, most of a text's are said again."""

_JOINT = r"[-_./\\:@]{1,3}"
_COMPOUND = re.compile(rf"[^\W_]+(?:{_JOINT}[^\W_]+)*")
_SPLIT = re.compile(rf"({_JOINT})")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+|[^\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
"""Scripts that write no spaces between words: found by each sign and by two neighbours."""
_ESCAPED = ("n", "r", "t")
"""Behind a backslash, a letter that may be a line break in a quoted string, and no letter of the word."""

_known: dict[str, tuple[str, ...]] = {}


@dataclass(frozen=True, slots=True)
class Term:
    """A term looked for; ``is_start``: as the beginning of one."""

    text: str
    is_start: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a query as written; a text has it that has all terms of one of ``ways``."""

    text: str
    ways: tuple[tuple[Term, ...], ...]


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for: every word, and each of ``phrases`` word for word."""

    words: tuple[Word, ...] = ()
    phrases: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words)

    def holds(self, text: str) -> bool:
        """Whether ``text`` (of ``without_secrets``) has it."""
        found = terms_of(text)
        return all(any(_all_in(way, found) for way in word.ways) for word in self.words) and self.says(text)

    def may_stand_in(self, text: str) -> bool:
        """Whether it is worth cutting ``text`` into terms: the beginning of every word is somewhere in it."""
        if not text.isascii():
            return True
        lower = text.lower()
        return all(_CAMEL.findall(word.text)[0].lower() in lower for word in self.words if word.text.isascii())

    def says(self, text: str) -> bool:
        """Whether ``text`` has the phrases."""
        if not self.phrases:
            return True
        lower = _normal(text).lower()
        return all(_stands_in(phrase, lower) for phrase in self.phrases)


def said(contents: Iterable[Content]) -> str:
    """What a message says, with the names of its tools and without images."""
    return "\n".join(_texts(contents))


def without_secrets(text: str) -> str:
    """The same text with blanks where something stands that opens something, or the number of a card."""
    parts, at = [], 0
    for hit in redact(text, SECRET).hits:
        parts += [text[at : hit.start], " "]
        at = hit.end
    return "".join([*parts, text[at:]]) if parts else text


def _texts(contents: Iterable[Content]) -> Iterator[str]:
    for content in contents:
        if content.kind in (Kind.IMAGE, Kind.DOCUMENT):
            continue
        if content.name:
            yield content.name
        if content.text:
            yield content.text
        yield from _texts(content.parts)


def terms_of(text: str) -> set[str]:
    """The different terms of a text, the first 900,000 bytes of them."""
    found: set[str] = set()
    for compound in dict.fromkeys(_COMPOUND.findall(_normal(text))):
        found.update(_terms(compound))
    size = sum(map(len, found))
    return found if size * 4 <= MOST_BYTES else _capped(found)


def _capped(terms: AbstractSet[str]) -> set[str]:
    """The same terms whichever way the set runs: short ones first, they are words."""
    kept, room = set(), MOST_BYTES
    for term in sorted(terms, key=lambda one: (len(one), one)):
        room -= len(term.encode())
        if room < 0:
            break
        kept.add(term)
    return kept


def _terms(compound: str) -> tuple[str, ...]:
    known = _known.get(compound)
    if known is None:
        if len(_known) >= KNOWN_COMPOUNDS:
            _known.clear()
        known = _known[compound] = tuple(dict.fromkeys(_cut(compound)))
    return known


def _cut(compound: str) -> Iterator[str]:
    pieces = _SPLIT.split(compound)
    for at in range(0, len(pieces), 2):
        part = pieces[at][:MOST_CHARS]
        yield part.casefold()
        yield from _inside(part)
        if at:
            yield _joined(pieces[at - 2], pieces[at - 1], part)
            if "\\" in pieces[at - 1] and part[0] in _ESCAPED and len(part) > 1:
                yield part[1:].casefold()
                yield from _inside(part[1:])


def _joined(before: str, joint: str, part: str) -> str:
    sign = "/" if joint[0] == "\\" else joint[0]
    return f"{before[:MOST_CHARS].casefold()}{sign}{part[:MOST_CHARS].casefold()}"


def _inside(part: str) -> Iterator[str]:
    """The parts of a camel-cased word and each two neighbours; signs of a script without spaces likewise."""
    if part.isascii():
        if (part.islower() and part.isalpha()) or part.isdigit():
            return
        yield from _neighbours(_CAMEL.findall(part))
        return
    for run in _RUN.findall(part):
        if len(run) < len(part):
            yield run.casefold()
        if _spaceless(run):
            yield from _neighbours(run)


def _neighbours(atoms: Sequence[str]) -> Iterator[str]:
    if len(atoms) > 1:
        for atom in atoms:
            yield atom.casefold()
        for one, other in pairwise(atoms):
            yield (one + other).casefold()


def _spaceless(run: str) -> bool:
    return "\u3040" <= run[0] <= "\u30ff" or "\u3400" <= run[0] <= "\u9fff" or "\uf900" <= run[0] <= "\ufaff"


def _normal(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


# ---- queries

_PART = re.compile(r"[^\W_]+")
_GAP, _START, _END = r"[\W_]{1,40}?", r"(?<![^\W_])", r"(?![^\W_])"
_ASKED = re.compile(r'"([^"]*)"?|([^\s"]+)')
MOST_WORDS = 24
"""Words of a query that are looked for; of phrases each word counts."""


def read_query(text: str) -> Query:
    """What ``text`` asks for; any text is a query, one without letters and digits asks for nothing.

    Words stand for all of them, ``"in quotes"`` for a phrase, ``auth*`` for words that begin so.
    """
    words: list[Word] = []
    phrases: list[str] = []
    for match in _ASKED.finditer(_normal(text.replace("\0", " "))):
        quoted, plain = match[1], match[2]
        given = quoted if plain is None else plain
        compounds = list(_COMPOUND.finditer(given))
        if plain is None and len(compounds) > 1:
            phrases.append(given)
        for found in compounds:
            last = plain is not None and found.end() == len(given) - 1 and given.endswith("*")
            words.append(Word(found[0], _ways(found[0], is_start=last)))
    return Query(tuple(dict.fromkeys(words))[:MOST_WORDS], tuple(phrases[:MOST_WORDS]))


def _ways(compound: str, *, is_start: bool) -> tuple[tuple[Term, ...], ...]:
    pieces = _SPLIT.split(compound)
    if len(pieces) > 1:
        pairs = [_joined(pieces[at - 2], pieces[at - 1], pieces[at]) for at in range(2, len(pieces), 2)]
        return (_ended(pairs, is_start=is_start),)
    part = compound[:MOST_CHARS]
    whole = _ended([part.casefold()], is_start=is_start)
    if part.isascii():
        atoms = _CAMEL.findall(part)
        split = len(atoms) > 2
        return (
            (whole, _ended([(a + b).casefold() for a, b in pairwise(atoms)], is_start=is_start)) if split else (whole,)
        )
    runs = [_pairs_of(run) for run in _RUN.findall(part)]
    return (whole, _ended([term for terms in runs for term in terms], is_start=False))


def _pairs_of(run: str) -> list[str]:
    if not _spaceless(run) or len(run) == 1:
        return [run.casefold()]
    return [(a + b).casefold() for a, b in pairwise(run)]


def _ended(terms: Sequence[str], *, is_start: bool) -> tuple[Term, ...]:
    return (*(Term(one) for one in terms[:-1]), Term(terms[-1], is_start))


def _all_in(way: Sequence[Term], found: AbstractSet[str]) -> bool:
    return all(
        term.text in found or (term.is_start and any(one.startswith(term.text) for one in found)) for term in way
    )


def _stands_in(phrase: str, lower: str) -> bool:
    """Whether a text in small letters has the phrase as whole words; no look behind, which is slow."""
    parts = _PART.findall(phrase.lower())
    if not all(part in lower for part in parts):
        return False
    found = re.finditer(_GAP.join(map(re.escape, parts)) + _END, lower)
    return any(not match.start() or not lower[match.start() - 1].isalnum() for match in found)


# ---- what is shown of a hit

BEFORE, AFTER = 60, 140
AROUND = 4_000
"""Characters around a hit in which secrets are looked for before it is shown."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of a snippet; ``is_match``: what was looked for."""

    text: str
    is_match: bool


def snippet(text: str, query: Query) -> tuple[Piece, ...]:
    """The piece of ``text`` around the first hit, its white space as single blanks, without secrets."""
    normal = _normal(text)
    pattern = marker(query, normal)
    found = pattern.search(normal)
    start = max(found.start() - AROUND, 0) if found else 0
    near = redact(normal[start : start + 2 * AROUND], SECRET).text
    found = pattern.search(near)
    at = found.start() if found else 0
    low, high = max(at - BEFORE, 0), min(at + AFTER, len(near))
    line = " ".join(near[low:high].split())
    pieces, end = [Piece("…", is_match=False)] if low + start else [], 0
    for match in pattern.finditer(line):
        pieces += [Piece(line[end : match.start()], is_match=False), Piece(match[0], is_match=True)]
        end = match.end()
    tail = line[end:] + ("…" if start + high < len(normal) else "")
    return tuple(piece for piece in (*pieces, Piece(tail, is_match=False)) if piece.text)


def marker(query: Query, text: str) -> re.Pattern[str]:
    """What is marked in ``text``: whole words and phrases; where it has none, parts of words."""
    whole = _shown(query)
    return whole if whole.search(text) else _shown(query, anywhere=True)


def _shown(query: Query, *, anywhere: bool = False) -> re.Pattern[str]:
    """Phrases and words as whole ones; ``anywhere``: also inside of others, as parts of camel-cased ones are."""
    found = [_START + _GAP.join(map(re.escape, _PART.findall(phrase))) + _END for phrase in query.phrases]
    start, end = ("", "") if anywhere else (_START, _END)
    for word in query.words:
        parts = map(re.escape, _PART.findall(word.text))
        found.append(start + _JOINT.join(parts) + ("" if word.ways[0][-1].is_start else end))
    return re.compile("|".join(found) or "(?!)", re.IGNORECASE)
