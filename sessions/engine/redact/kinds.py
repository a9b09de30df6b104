"""The kinds of what is redacted and what is not looked for, as dialog and guide list them; and what a pattern is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of secret: its key in addresses and options, its names as shown, the marker that stands in its place."""

    key: str
    one: str
    name: str
    marker: str

    def noun(self, number: int) -> str:
        return self.one if number == 1 else self.name


KEYS = Kind("keys", "API key", "API keys", "[key]")
TOKENS = Kind("tokens", "access token", "access tokens", "[token]")
PRIVATE = Kind("private", "private key", "private keys", "[private key]")
PASSWORDS = Kind("passwords", "password", "passwords", "[password]")
URLS = Kind("urls", "password in an address", "passwords in addresses", "[password]")
COOKIES = Kind("cookies", "cookie", "cookies", "[cookie]")
ENV = Kind("env", "secret setting", "secret settings", "[value]")
EMAILS = Kind("emails", "e-mail address", "e-mail addresses", "[e-mail]")
NAMES = Kind("names", "name of a person", "names of people", "[name]")
HOMES = Kind("homes", "home folder", "home folders", "[home]")
HOSTS = Kind("hosts", "host name", "host names", "[host]")
IPS = Kind("ips", "IP address", "IP addresses", "[ip]")
PHONES = Kind("phones", "phone number", "phone numbers", "[phone]")
CARDS = Kind("cards", "card number", "card numbers", "[card]")
IBANS = Kind("ibans", "bank account (IBAN)", "bank accounts (IBAN)", "[iban]")
SSNS = Kind("ssns", "US social security number", "US social security numbers", "[ssn]")
OWN = Kind("own", "hidden word", "hidden words", "[hidden]")

KINDS = (
    KEYS, TOKENS, PRIVATE, PASSWORDS, URLS, COOKIES, ENV,
    EMAILS, NAMES, HOMES, HOSTS, IPS, PHONES, CARDS, IBANS, SSNS, OWN,
)  # fmt: skip
"""In the order that lists show them; of two that overlap the first names the piece."""

BY_KEY = {kind.key: kind for kind in KINDS if kind is not OWN}
"""The kinds that can be switched, by key."""

EDGE = r"(?<![A-Za-z0-9])"
"""The start of a word; what a line or a tool's name puts before it with a low line is another."""
NOT_LOOKED_FOR = (
    "names of companies and customers, and of people outside of mail, commits and lists of users",
    "postal addresses and dates of birth", "user names and account numbers",
    "tax, passport and identity numbers of other countries", "public host names", "seed phrases of wallets",
    "words spelled out or translated", "text in images, and text that is compressed or encrypted",
)  # fmt: skip
"""What no pattern looks for: people hide it by words of their own."""


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CAPITAL = re.compile(r"\\.|[A-Z]")


class Pattern:
    """The last group of ``regex`` that matched, or all of it, is a piece of ``kind`` where ``holds`` says so of it.

    ``hints`` are lower-case pieces, with spaces between them, of which the text must contain one for the regex to be
    tried; ``near`` is a quick expression that must be found in it first.  ``stands`` is asked of the text and of where
    the piece stands in it.  In any case: ``regex`` is for the text in small letters.
    """

    def __init__(
        self,
        kind: Kind,
        hints: str,
        regex: str,
        *,
        any_case: bool = False,
        holds: Callable[[str], bool] | None = None,
        near: str = "",
        stands: Callable[[str, int, int], bool] | None = None,
    ) -> None:
        if any_case:
            # Small letters, but for a class: a backslash and a letter.
            regex = _CAPITAL.sub(lambda found: found[0] if len(found[0]) > 1 else found[0].lower(), regex)
        self.kind, self.regex, self.hints = kind, re.compile(regex), tuple(hints.split()) or ("",)
        self.near = re.compile(near) if near else None
        self.any_case, self.holds, self.stands = any_case, holds, stands

    def found(self, text: str, lower: str) -> Iterator[tuple[Kind, int, int]]:
        """Pieces in ``text``, whose small letters are ``lower``."""
        # A loop, not any(): this is asked of every pattern for every text, and most are short.
        for hint in self.hints:
            if hint in lower:
                break
        else:
            return iter(())
        if self.near is not None and not self.near.search(text):
            return iter(())
        return self._matches(text, lower if self.any_case else text)

    def _matches(self, text: str, seen: str) -> Iterator[tuple[Kind, int, int]]:
        for match in self.regex.finditer(seen):
            start, end = match.span(match.lastindex or 0)
            value = text[start:end]
            if value == self.kind.marker or (self.holds is not None and not self.holds(value)):
                continue
            if self.stands is None or self.stands(text, start, end):
                yield self.kind, start, end
