"""Details that name a person, a machine or an account: e-mail, home folders, hosts, addresses, phones, cards."""

from __future__ import annotations

import ipaddress

from sessions.engine.redact.kinds import BROKEN, CARDS, EMAILS, HOMES, HOSTS, IPS, PHONES, pattern

_FOLDER = r"(?!\[)[^\s/\\:;,'\"`<>|*?()\[\]{}]{1,64}"
_START = rf"(?:(?<![A-Za-z0-9._%+\\-])|{BROKEN})"
"""Where an address may begin: a JSON string's line break is none of its letters."""
_NUMBER = rf"(?:(?<![\w.$#/+,=*^-])|{BROKEN})"
"""Where a number may begin: no part of a word, a version, a sum."""

_DOMAINS = """
com org net edu gov mil int info biz name pro io ai dev app co me cloud tech online site store shop blog xyz
page email company agency digital studio design systems software solutions network team group world life live
news london berlin bank finance health care academy school university science engineering ventures partners
consulting internal local corp lan test example invalid localhost
"""
DOMAINS = frozenset(_DOMAINS.split())
"""Ends of mail domains that are taken for one; any two letters are, too."""


def _mail(found: str) -> bool:
    """Whether it is an address and no code: a decorator, a matrix product, a package's version."""
    name, _, domain = found.rpartition("@")
    end = domain.rpartition(".")[2].lower()
    return any(c.isalnum() for c in name) and (end in DOMAINS or len(end) == 2) and name != "git"


def _public(found: str) -> bool:
    """A number that is an address of one machine: not loopback, not a mask, not "any"."""
    try:
        address = ipaddress.ip_address(found)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified or address.is_multicast or found.startswith("255."))


def _luhn(found: str) -> bool:
    """ISO/IEC 7812-1, annex B: the check digit of a card number."""
    digits = [int(c) for c in reversed(found) if c.isdigit()]
    total = sum(digits[::2]) + sum(sum(divmod(2 * d, 10)) for d in digits[1::2])
    return 13 <= len(digits) <= 19 and total % 10 == 0 and len(set(digits)) > 2


_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_VERSION = r"(?<![\w.=~^<>@/-])(?<!version )(?<!Version )(?<!release )(?<!ython )"

PERSONAL = (
    # An address before a colon and a path is a remote (git@host:path), one before a bracket a call.
    pattern(
        EMAILS,
        "@ %40",
        _START
        + r"[A-Za-z0-9._%+-]{1,64}(?:@|%40)(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9_(-]|\.[a-z])",
        holds=lambda found: _mail(found.replace("%40", "@")),
    ),
    # What a colour (ESC[31m) stands before, also where a preview has lost the ESC, begins anew.
    pattern(HOMES, "/home/ /users/", rf"(?:(?<![A-Za-z0-9_.~/])|{BROKEN})/(?:home|Users)/{_FOLDER}"),
    pattern(HOMES, "users\\", rf"(?<![A-Za-z])[A-Za-z]:\\{{1,4}}Users\\{{1,4}}{_FOLDER}"),
    pattern(
        HOSTS,
        ".internal .local .corp .lan .intranet .home.arpa",
        r"(?<![A-Za-z0-9.@_-])(?:[A-Za-z0-9-]{1,63}\.){1,6}(?:internal|local|corp|lan|intranet|home\.arpa)(?![A-Za-z0-9_(=-]|\.\w)",
        holds=lambda found: any(c.isdigit() or c == "-" for c in found) or found.count(".") > 1,
    ),
    pattern(
        HOSTS,
        "@",
        rf"(?:(?<![^\s(\[\"'`])|{BROKEN})[a-z_][a-z0-9_-]{{0,31}}@[A-Za-z0-9][A-Za-z0-9.-]{{0,62}}"
        r"(?=[: ][~/][^\s]{0,120}[$#%](?:\s|\Z))",
    ),
    pattern(
        HOSTS,
        "ssh ",
        r"\bssh[ \t]+(?:-[A-Za-z][ \t]+)?([a-z_][a-z0-9_-]{0,31}@[A-Za-z0-9][A-Za-z0-9.-]{0,62})",
        group=1,
    ),
    pattern(
        IPS,
        ".",
        rf"(?:{_VERSION}|{BROKEN}){_OCTET}(?:\.{_OCTET}){{3}}(?![\w.-]*[A-Za-z_]|\.[0-9]|[0-9])",
        holds=_public,
        near=r"[0-9]\.[0-9]{1,3}\.[0-9]",
    ),
    pattern(
        IPS,
        ":",
        rf"(?:(?<![A-Za-z0-9:.])|{BROKEN})[0-9a-fA-F]{{1,4}}(?::[0-9a-fA-F]{{0,4}}){{3,7}}(?![A-Za-z0-9:.])",
        holds=_public,
        near=r":[0-9a-fA-F]{0,4}:[0-9a-fA-F]{0,4}:",
    ),
    pattern(
        PHONES,
        "+",
        rf"{_NUMBER}(?<!^)(?<![\n])\+[1-9][0-9]{{0,2}}[ .-]?(?:\([0-9]{{1,4}}\)[ .-]?)?"
        r"[0-9]{1,4}(?:[ .-]?[0-9]{2,4}){2,4}"
        r"(?![\w,:/=-]*[0-9]|\.[0-9])",
        holds=lambda found: 9 <= sum(c.isdigit() for c in found) <= 15,
        near=r"\+[1-9][0-9 .(-]{8}",
    ),
    pattern(
        PHONES,
        "( -",
        rf"{_NUMBER}(?:\([2-9][0-9]{{2}}\) ?|[2-9][0-9]{{2}}[-.])[2-9][0-9]{{2}}[-.][0-9]{{4}}(?![\w-]|\.[0-9])",
        near=r"[0-9]{3}[-.][0-9]{4}",
    ),
    pattern(
        CARDS,
        "",
        rf"{_NUMBER}(?:[456][0-9]{{3}}|2[2-7][0-9]{{2}}|3[47][0-9]{{2}})"
        r"(?:[ -]?[0-9]{4,6})(?:[ -]?[0-9]{4,5})(?:[ -]?[0-9]{1,4})?"
        r"(?![\w/-]|\.[0-9])",
        holds=_luhn,
        near=r"[0-9]{4}[ -]?[0-9]{4}",
    ),
)
