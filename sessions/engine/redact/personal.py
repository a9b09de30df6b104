"""Details that name a person, a machine or an account: e-mail, home folders, hosts, addresses, phones, cards.

Numbers tell what they are by a check digit or by their range.
"""

from __future__ import annotations

import ipaddress
import re

from sessions.engine.redact.kinds import CARDS, EMAILS, HOMES, HOSTS, IBANS, IPS, PHONES, SSNS, Pattern, word_set

_FOLDER = r"(?!\[|\.{1,3}(?:[/\\]|\Z))[^\s/\\:;,'\"`<>|*?()\[\]{}$#&]{1,64}"
_NUMBER = r"(?<![\w.$#^*])(?<![0-9][-+/=,])"
"""Where a number may begin: no part of a word, a version, a sum."""
_APART = r"[ \u00a0\u202f-]{0,2}"
"""What may stand between the groups of a card's number."""

_NO_DOMAIN = word_set("""
self cls this np torch tf jnp pd weights data values shape matmul dot transpose length name names id key keys value
get set map append items join format local_cache setter getter property fixture parametrize route command task wraps
mock patch js jsx ts tsx py pyc rb go java kt css scss html png jpg jpeg gif svg webp ico json yml yaml toml lock
txt log sql zip gz tar whl
""")
"""What stands behind a dot in code and in names of files, and ends no address."""
_NOBODY = frozenset({"git", "hg", "svn", "noreply", "no-reply", "donotreply", "do-not-reply"})
"""Names of machines."""
_SHARED = re.compile(r"[/\\](?:runner|shared|public|default|all users|linuxbrew|%\w+%)\Z", re.IGNORECASE)
"""Folders that are nobody's."""


def _is_home(found: str) -> bool:
    return _SHARED.search(found) is None


_SCHEME = r"\b(?:https?|wss?|postgres(?:ql)?|mysql|mongodb|redis|amqps?|ssh|ldaps?|tcp|git)://"
_NAMED = re.compile(
    r"(?:://|@|\b(?:host\w{0,12}|server|ping|ssh|curl|dig|nslookup|nc)[\"'`]?[\s:=]{1,3}[\"'`]?)\Z", re.IGNORECASE
)
"""What stands before the name of a host."""


def _is_inside(text: str, start: int, end: int) -> bool:
    """Whether a name that ends as an organisation's own hosts do is one, and no attribute of code."""
    found = text[start:end]
    is_long = any(c.isdigit() or c == "-" for c in found) or found.count(".") > 1
    return is_long or _NAMED.search(text[max(0, start - 24) : start]) is not None


def _is_host(found: str) -> bool:
    return not found.endswith("localhost") and found.lower() not in _LOCAL


_LOCAL = frozenset({
    "localhost", "none", "unknown", "example", "0", "$hostname", "host", "hostname", "server", "domain", "foo", "bar",
    "api", "app", "backend", "broker", "cache", "database", "db", "elasticsearch", "frontend", "kafka", "minio",
    "mongo", "mongodb", "mysql", "nginx", "postgres", "proxy", "queue", "rabbitmq", "redis", "service", "web", "worker",
})  # fmt: skip
"""What names no machine: examples, and services of a compose file."""


def _mail(found: str) -> bool:
    """Whether it is an address and no code: a decorator, a matrix product, a package's version, a remote."""
    name, _, domain = found.rpartition("@")
    labels = domain.lower().split(".")
    if (
        name.lower() in _NOBODY
        or not any(c.isalnum() for c in name)
        or len(labels[-1]) < 2
        or labels[0] in {"self", "cls", "this"}
    ):
        return False
    return labels[-1] not in _NO_DOMAIN


def _is_dialled(found: str) -> bool:
    return 9 <= sum(c.isdigit() for c in found) <= 15


def _is_phone(text: str, start: int, end: int) -> bool:
    """Whether a number with a plus is one that is called, and no line of a diff or part of a sum."""
    at_line = text[max(0, start - 1) : start] in ("", "\n")
    return not at_line or any(c in " -(." for c in text[start:end])


_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_ROOTS = (
    r"/(?:nfs|net|export|var|data|misc|storage|private|[vV]olumes?/[\w-]{1,40}|System/Volumes/Data|host_mnt|mnt(?:/"
    r"[\w-]{1,20})?|cygdrive/[a-z]"
    r"|media/[\w-]{1,20}|run/media|rootfs|host|proc/1/root|afs|gpfs|lustre|scratch|srv|usr|[a-zA-Z])"
)
_CALLED = r"(?:phone|tel|telephone|mobile|cell|fax|whatsapp|sms|telefon|handy|call(?: me)?(?: at| on)?|dial|contact)"

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
    return 13 <= len(digits) <= 19 and total % 10 == 0 and len(set(digits)) > 1


_IBANS = word_set("""
AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18
FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21
MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25
SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20
""")
"""Countries, each with the characters of an account number there (SWIFT, IBAN registry)."""


def iban(found: str) -> bool:
    """ISO 13616: the length of its country and the check digits."""
    number = "".join(c for c in found if c.isalnum()).upper()
    if f"{number[:2]}{len(number)}" not in _IBANS:
        return False
    return int("".join(str(int(c, 36)) for c in number[4:] + number[:4])) % 97 == 1


PERSONAL = (
    # An address before a colon and a path is a remote (git@host:path), one before a bracket a call.
    Pattern(
        EMAILS, "@",
        r"(?<![\w.%+-])[^\W_](?:[\w.%+'-]{0,62}[\w+-])?@(?:(?!-)[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}(?:xn--"
        r"[a-z0-9-]{2,40}|[^\W\d_]{2,24})"
        r"(?![\w(@-]|\.[a-z]|:[\w~/]*\.git|:[~/\w-]+/)",
        holds=_mail,
    ),
    Pattern(EMAILS, "@", r"(?<=<)[^\s<>@\"]{1,64}@[^\s<>@\"]{1,200}\.[^\W\d_]{2,24}(?=>)", holds=_mail),
    Pattern(
        EMAILS, "@",
        r"(?<![\w.%+-])_[\w.%+-]{1,62}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w(@-]|\.[a-z])",
        holds=_mail,
    ),
    Pattern(
        EMAILS, "at",
        r"(?<![\w.+-])[\w.+-]{1,64}\s?[\[({<]\s?at\s?[\])}>]\s?[\w-]{1,63}(?:\s?(?:[\[({<]\s?dot\s?[\])}>]|\.)\s?[\w-]{2,63}){1,5}",
        any_case=True, near=r"[\[({<]\s?(?:at|AT)\s?[\])}>]",
    ),
    Pattern(
        HOMES, "/home/ /users/",
        rf"(?:(?<![\w.~/-])|(?<=file://)|(?<=localhost))(?:{_ROOTS})?/(?:home|[Uu]sers)/{_FOLDER}",
        near=r"/(?:home|[Uu]sers)/", holds=_is_home,
    ),
    Pattern(
        HOMES, "sftp:// ssh:// vscode scp:// nfs:// smb:// afp://",
        rf"(?:s?ftp|ssh|scp|nfs|smb|afp|vscode[\w-]{{0,16}})://[^\s/]{{0,120}}(/(?:home|Users)/{_FOLDER})",
        holds=_is_home,
    ),
    Pattern(
        HOMES, "users",
        rf"(?<![A-Za-z])[A-Za-z]:(?:\\{{1,8}}|/)(?:Users|Documents and Settings)(?:\\{{1,8}}|/){_FOLDER}",
        any_case=True, holds=_is_home,
    ),
    Pattern(
        HOMES, "users\\ home\\",
        rf"\\{{2,8}}[\w.$-]{{1,60}}\\{{1,4}}(?:[A-Za-z]\$\\{{1,4}})?(?:Users|home)\\{{1,4}}{_FOLDER}",
        any_case=True, holds=_is_home,
    ),
    Pattern(
        HOMES, "-home- -users-",
        r"(?:(?<![\w.-])|(?<=[/\\]))(?:[A-Z]-)?-(?:home|Users)-[A-Za-z0-9_]{1,40}(?=-|[/\\\"'\s]|\Z)",
        holds=_is_home,
    ),
    Pattern(
        HOSTS, ".internal .local .corp .lan .intra .home.arpa",
        r"(?<![A-Za-z0-9._-])(?:[A-Za-z0-9-]{1,63}\.){1,6}(?:internal|local|corp|lan|intranet|intra(?:\.net)?|home\.arpa)(?!"
        r"[A-Za-z0-9_(=-]|\.\w)",
        stands=_is_inside,
    ),
    Pattern(
        HOSTS, "://",
        rf"{_SCHEME}(?:[^\s/@]{{1,80}}@)?([A-Za-z](?:[A-Za-z0-9-]{{0,62}}[A-Za-z0-9])?)(?=[:/\s\"'`)]|\Z)(?!:[^0-9/])(?!:[^\s/@\"'`]{{1,80}}@)",
        holds=_is_host,
    ),
    Pattern(HOMES, "~", r"(?<![\w/~.$-])~(?!user/|root/)[a-z_][a-z0-9_-]{2,31}(?=/)"),
    Pattern(HOMES, "users/", r"(?<![\w.~/-])/Users/[A-Za-z.]{2,30}(?: [A-Za-z.]{2,30}){1,2}(?=/)"),
    Pattern(
        HOSTS, "[",
        r"(?<![^\s\"'`])\[([a-z_][a-z0-9_-]{0,31}@[A-Za-z0-9][A-Za-z0-9.-]{0,62})[ :][^\]\n]{1,80}\][$#%](?=\s|\Z)",
        holds=_is_host,
    ),
    Pattern(
        HOSTS, "hostname computername",
        r"(?:hostname|computername)[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?=[a-z]{0,40}[0-9-])([a-z][a-z0-9-]{3,62})(?![\w.(-])",
        any_case=True, holds=_is_host,
    ),
    Pattern(HOSTS, "linux ", r"\bLinux ([A-Za-z0-9][\w.-]{1,62}) [2-9]\.[0-9]{1,2}\.[0-9]", holds=_is_host),
    Pattern(
        HOSTS, ".amazonaws.com",
        r"(?<![\w.-])[A-Za-z0-9-]{1,63}\.(?:cluster-(?:ro-)?)?[a-z0-9]{6,16}\.(?:[a-z0-9]{1,8}\.)?[a-z]{2}-[a-z]{2,12}-[0-9]\."
        r"(?:rds|redshift|cache|es|docdb|neptune)\.amazonaws\.com",
    ),
    Pattern(
        HOSTS, ":",
        r"(?:(?<=\n)|\A)[A-Z][a-z]{2} [ 0-3][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} "
        r"([A-Za-z0-9][\w.-]{1,62}) [\w./-]{1,40}(?:\[[0-9]{1,8}\])?:",
        holds=_is_host, near=r"[A-Z][a-z]{2} [ 0-3][0-9] [0-9]{2}:",
    ),
    Pattern(
        HOSTS, "@",
        r"(?<![^\s(\[\"'`])[a-z_][a-z0-9_-]{0,31}@[A-Za-z0-9][A-Za-z0-9.-]{0,62}(?=[: ][~/][^\s]{0,120}[$#%](?:\s|\Z))",
    ),
    Pattern(
        HOSTS, "ssh scp sftp rsync mosh",
        r"\b(?:ssh|scp|sftp|rsync|mosh|ssh-copy-id)[ \t]+(?:[^\n|;]{0,120}?[ \t])?([a-z_][a-z0-9_.-]{0,31}@(?!github"
        r"|gitlab|bitbucket)[A-Za-z0-9][A-Za-z0-9.-]{0,62})",
        holds=_is_host,
    ),
    Pattern(
        IPS, ".",
        rf"(?<![\w.]){_OCTET}(?:\.{_OCTET}){{3}}(?![\w-]*[A-Za-z_]|\.(?!(?:log|txt|json|csv|pcap|conf)\b)[0-9A-Za-z]|[0-9])",
        holds=public, near=r"[0-9]\.[0-9]{1,3}\.[0-9]", stands=is_address,
    ),
    Pattern(
        IPS, ":",
        r"(?<![A-Za-z0-9:.])[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{0,4}){2,7}(?![A-Za-z0-9:.])",
        holds=public6, near=r":[0-9a-fA-F]{0,4}:",
    ),
    Pattern(
        PHONES, "+",
        rf"{_NUMBER}\+[1-9][0-9]{{0,2}}[ ./-]?(?:\([0-9]{{1,4}}\)[ ./-]?)?[0-9]{{1,4}}(?:[ ./-]?[0-9]{{2,4}}){{2,4}}"
        rf"(?![\w/=-]*[0-9]|\.[0-9]|:[0-9])",
        holds=_is_dialled, near=r"\+[1-9][0-9 ./(-]{8}", stands=_is_phone,
    ),
    Pattern(
        PHONES, "( - .",
        rf"{_NUMBER}(?:1[-. ])?(?:\([2-9][0-9]{{2}}\) ?|[2-9][0-9]{{2}}[-.])[2-9][0-9]{{2}}[-. ][0-9]{{4}}(?![\w-]|\."
        rf"[0-9])",
        near=r"[0-9]{3}[-. ][0-9]{4}",
    ),
    Pattern(
        PHONES, "00",
        r"(?<![\w.$#+-])00[1-9][0-9]{0,2}[ ./-]\(?[0-9]{1,4}\)?(?:[ ./-]?[0-9]{2,4}){2,4}(?![\w-]|\.[0-9])",
        holds=_is_dialled, near=r"00[1-9][0-9]{0,2}[ ./-]",
    ),
    Pattern(
        PHONES, "phone tel mobile cell fax whatsapp sms handy call dial contact",
        rf"(?<![A-Za-z]){_CALLED}(?:_?(?:number|no|nr))?[\"'.]{{0,2}}\s{{0,2}}(?:[:=]|is)?\s{{0,3}}[\"']?((?:\+"
        rf"|00)?\(?[0-9](?:[ ./()-]{{0,2}}[0-9]){{8,13}})(?![\w-])",
        any_case=True, holds=_is_dialled,
    ),
    Pattern(
        CARDS, "",
        rf"(?<![^\W_]|\.)(?<![0-9][-+/=,])(?:(?:[456][0-9]{{3}}|2[2-7][0-9]{{2}}|3[0478][0-9]{{2}})(?:{_APART}[0-9]{{4,6}})"
        rf"(?:{_APART}[0-9]{{4,5}})(?:{_APART}[0-9]{{1,4}})?|[2-6][0-9]{{3}}(?:(?:\.[0-9]{{4}}){{3}}|(?:/[0-9]{{4}}){{3}}))"
        rf"(?![\w-]|\.[0-9])",
        holds=luhn, near=r"[0-9]{4}[ \u00a0\u202f./-]{0,2}[0-9]{4}",
    ),
    Pattern(
        IBANS, "",
        r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?(?![A-Za-z0-9])",
        holds=iban, near=r"[A-Z]{2}[0-9]{2}[ -]?[A-Z0-9]{4}",
    ),
    Pattern(
        SSNS, "-",
        r"(?<![\w.-])(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![\w-]|\.[0-9])",
        near=r"[0-9]-[0-9]{2}-[0-9]{4}",
    ),
    Pattern(
        SSNS, "ssn social",
        r"(?:ssn|social[ _-]?security(?:[ _-]?(?:number|no|num|nr))?)[\"'#.]{0,2}\s{0,2}(?:[:=]|is|of)?\s{0,3}[\"']?("
        r"(?!000|666|9)[0-9]{3}[ ]?[0-9]{2}[ ]?[0-9]{4})(?![\w-])",
        any_case=True,
    ),
)  # fmt: skip
