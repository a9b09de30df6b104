"""The kinds of what is redacted, and what is not looked for: the lists that dialog and guide show."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of secret: its key in addresses and options, its name as shown, the marker that stands in its place."""

    key: str
    name: str
    marker: str


KEYS = Kind("keys", "API keys", "[key]")
TOKENS = Kind("tokens", "access tokens", "[token]")
PRIVATE = Kind("private", "private keys", "[private key]")
PASSWORDS = Kind("passwords", "passwords", "[password]")
URLS = Kind("urls", "passwords in addresses", "[password]")
COOKIES = Kind("cookies", "cookies", "[cookie]")
ENV = Kind("env", "secret settings", "[value]")
EMAILS = Kind("emails", "e-mail addresses", "[e-mail]")
HOMES = Kind("homes", "home folders", "[home]")
HOSTS = Kind("hosts", "host names", "[host]")
IPS = Kind("ips", "IP addresses", "[ip]")
PHONES = Kind("phones", "phone numbers", "[phone]")
CARDS = Kind("cards", "card numbers", "[card]")
IBANS = Kind("ibans", "bank accounts (IBAN)", "[iban]")
SSNS = Kind("ssns", "US social security numbers", "[ssn]")
OWN = Kind("own", "your own words", "[hidden]")

KINDS = (
    KEYS, TOKENS, PRIVATE, PASSWORDS, URLS, COOKIES, ENV,
    EMAILS, HOMES, HOSTS, IPS, PHONES, CARDS, IBANS, SSNS, OWN,
)  # fmt: skip
"""In the order that lists show them; of two that overlap the first names the piece."""

BY_KEY = {kind.key: kind for kind in KINDS if kind is not OWN}
"""The kinds that can be switched, by key."""

NOT_LOOKED_FOR = (
    "names of people, companies and customers", "postal addresses and dates of birth", "user names and account numbers",
    "tax, passport and identity numbers of other countries", "public host names", "seed phrases of wallets",
    "words spelled out or translated", "text in images, and text that is compressed or encrypted",
)  # fmt: skip
"""What no pattern looks for: people hide it by words of their own."""
