"""What was recognised somewhere in a session: there it is taken out wherever it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from sessions.engine.redact import values
from sessions.engine.redact.kinds import COOKIES, ENV, HOSTS, KEYS, KINDS, NAMES, PRIVATE, TOKENS, Kind

LEAST = 6
"""Characters of a value that is hidden wherever it stands: shorter ones are words and numbers, too."""
_OF_WORDS = "-_./:"
"""Signs that names are made with."""
_RUN = re.compile(r"[^\W_]+")
_MARKERS = " ".join(kind.marker for kind in KINDS)


class Known:
    """Values by the first run of letters and figures in each; ``found``: where one stands as a word, in any case."""

    def __init__(self, recognised: Iterable[tuple[Kind, str]] = ()) -> None:
        self._by_run: dict[str, set[tuple[str, Kind]]] = {}
        for kind, whole in recognised:
            for value in _pieces(kind, whole):
                if _is_told(kind, value):
                    self._by_run.setdefault(_RUN.findall(value)[0].lower(), set()).add((value.lower(), kind))

    def found(self, lower: str) -> Iterator[tuple[Kind, int, int]]:
        """Where they stand in a text in small letters."""
        if not self._by_run:
            return
        for run in self._by_run.keys() & set(_RUN.findall(lower)):
            for value, kind in self._by_run[run]:
                at = lower.find(value)
                while at >= 0:
                    end = at + len(value)
                    if not (_joined(lower[at - 1 : at + 1]) or _joined(lower[end - 1 : end + 1])):
                        yield kind, at, end
                    at = lower.find(value, end)


def _is_told(kind: Kind, value: str) -> bool:
    """Whether it is long enough, and no word or name of code that stands elsewhere with another meaning: "postgres"."""
    if len(value) < LEAST or value.isalpha() or value in _MARKERS or not (_RUN.search(value) and values.real(value)):
        return False
    if kind is COOKIES or (kind in (KEYS, TOKENS, ENV) and value.isidentifier()):
        return values.strict(value)
    return kind is HOSTS or any(not c.isalpha() and c not in _OF_WORDS for c in value)


def _joined(two: str) -> bool:
    """Whether two characters are of one word."""
    return len(two) == 2 and two.isalnum()


def _pieces(kind: Kind, value: str) -> Iterable[str]:
    """What of a value is one by itself: the cookies of a line, the lines of a key, a host and the first part of it."""
    if kind is COOKIES:
        return (pair.partition("=")[2].strip() for pair in value.split(";"))
    if kind is PRIVATE:
        return (line for line in value.split() if len(line) > 4 * LEAST and "-----" not in line)
    if kind is HOSTS:
        host = value.rpartition("@")[2]
        return chain((host,), (host.partition(".")[0],) if re.search("[0-9-]", host.partition(".")[0]) else ())
    return (value.partition(",")[0],) if kind is NAMES else (value,)
