"""Numbers that tell what they are by a check digit or by their range: addresses of machines, cards, accounts."""

from __future__ import annotations

import ipaddress
import re

_AFTER_WORD = r"[\"'`]?\s{0,3}[:=>(,]{0,2}\s{0,3}[\"'`(\[]{0,2}\Z"
_VERSION = re.compile(
    r"(?:versions?|(?<![A-Za-z])(?:ver|vsn|releases?|released|revision|rev|build|tag|upgrad\w{1,3}|downgrad\w{1,3}|bump\w{0,3}"
    r"|python"
    r"|node|npm|pip|java|jdk|chrome|chromium|edge|firefox|safari|opera|electron|windows|macos|ios|android|kernel"
    r"|driver|cuda"
    r"|firmware|section|chapter|clause|table|figure|fig|appendix|§|v|oid|soversion|api|sdk|cli|package|assembly|file"
    r"|product))"
    rf"(?:_?(?:version|number|no|string|from|to|info|str))?{_AFTER_WORD}",
    re.IGNORECASE,
)
_ADDRESSED = re.compile(
    r"(?:(?<![A-Za-z])(?:host\w{0,12}|ips?|ip_?address\w{0,2}|ipv4|addr\w{0,8}|server|from|at|to|by|ping|ssh|scp|curl|telnet|nc"
    r"|nmap|dig"
    r"|traceroute|connect\w{0,5}|listen\w{0,4}|bind|nameserver|dns|gateway|client|remote|peer|origin|forward\w{0,3}|for"
    r"|real-ip|inet|via|proxy\w{0,8}|endpoint|subnet|cidr|route|whitelist|allow\w{0,4}|deny|block\w{0,3}|banned"
    r"|source|src"
    rf"|dst|dest\w{{0,8}}|target|machine|vm|instance|resolver){_AFTER_WORD}"
    r"|//\Z|\b(?:root|admin|ubuntu|ec2-user|deploy|user|pi|git|debian|centos|ops)@\Z)",
    re.IGNORECASE,
)
_UPDATED = re.compile(r"(?:updat|upgrad|bump|downgrad)[^\n]{0,30} (?:to|from) \Z|\blinux[ -]\Z", re.IGNORECASE)
_COMPARED = re.compile(r"(?:[=~!<>^]=|[~^<>])\s?[\"']?\Z")
_DECIMAL_BEFORE = re.compile(r"\.[0-9]{1,4}(?:[ ,]-?|-)\Z")
_QUAD_BEFORE = re.compile(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}[ ,-]{1,2}\Z")
_DECIMAL_AFTER = re.compile(
    r"\s?,?\s?-?[0-9]{0,4}\.[0-9]{1,4}(?![0-9]*\.[0-9]{1,3}\.)|[A-Za-z]|-\.?[0-9]{1,3}(?:\.[0-9]{1,3})?(?![0-9.])"
)
_PORT = re.compile(r":[0-9]{2,5}(?![0-9])|/(?:[89]|[12][0-9]|3[0-2])(?![0-9./])")


def public(found: str) -> bool:
    """A number that is an address of one machine: not loopback, not a mask, not "any"."""
    try:
        address = ipaddress.ip_address(found)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified or address.is_multicast or found.startswith("255."))


def public6(found: str) -> bool:
    """An address of IPv6: eight groups, or two colons behind a group that is no number of code."""
    if not public(found) or not any(c.isdigit() for c in found):
        return False
    return (
        found.count(":") > 2
        or re.match(r"[0-9a-fA-F]{3,4}::[0-9a-fA-F]|f[c-e][0-9a-f]{2}::|2[0-9a-f]{3}::", found) is not None
    )


def is_address(text: str, start: int, end: int) -> bool:
    """Whether four numbers with dots are an address where they stand, and no version, section or drawing."""
    before = text[max(0, start - 40) : start]
    octets = [int(octet) for octet in text[start:end].split(".")]
    if any(version.search(before) for version in (_VERSION, _COMPARED, _UPDATED)):
        return False
    is_private = octets[0] == 10 or octets[:2] == [192, 168] or (octets[0] == 172 and 16 <= octets[1] < 32)
    if not is_private and before[-1:] in ("-", "/", "_") and before[-2:-1].isalnum():
        return before[-1] != "/" and sum(octet >= 100 for octet in octets) > 1
    if _ADDRESSED.search(before) or _PORT.match(text, end):
        return True
    if _drawn(text, end, before):
        return False
    if is_private:
        return octets[1:] != [0, 0, 0] or _PORT.match(text, end) is not None
    return octets[0] >= 20 or max(octets) >= 100


def _drawn(text: str, end: int, before: str) -> bool:
    """Whether other numbers with a point stand around it, as in the path of a drawing."""
    if _DECIMAL_AFTER.match(text, end) is not None or before[-1:].isalpha():
        return True
    return _DECIMAL_BEFORE.search(before) is not None and _QUAD_BEFORE.search(before) is None


def luhn(found: str) -> bool:
    """ISO/IEC 7812-1, annex B: the check digit of a card number."""
    digits = [int(c) for c in reversed(found) if c.isdigit()]
    total = sum(digits[::2]) + sum(sum(divmod(2 * d, 10)) for d in digits[1::2])
    return 13 <= len(digits) <= 19 and total % 10 == 0 and len(set(digits)) > 2


_IBAN_LENGTHS = """
AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18
FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21
MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25
SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20
"""
IBAN_LENGTHS = {entry[:2]: int(entry[2:]) for entry in _IBAN_LENGTHS.split()}
"""Characters of an account number by country (SWIFT, IBAN registry)."""


def iban(found: str) -> bool:
    """ISO 13616: the length of its country and the check digits."""
    number = "".join(c for c in found if c.isalnum()).upper()
    if IBAN_LENGTHS.get(number[:2]) != len(number):
        return False
    return int("".join(str(int(c, 36)) for c in number[4:] + number[:4])) % 97 == 1
