"""Details that name a person, a machine or an account: e-mail, home folders, hosts, addresses, phones, cards."""

from __future__ import annotations

import re

from sessions.engine.redact import numbers
from sessions.engine.redact.kinds import CARDS, EMAILS, HOMES, HOSTS, IBANS, IPS, PHONES, SSNS, pattern

_FOLDER = r"(?!\[|\.{1,3}(?:[/\\]|\Z))[^\s/\\:;,'\"`<>|*?()\[\]{}$#&]{1,64}"
_NUMBER = r"(?<![\w.$#^*])(?<![0-9][-+/=,])"
"""Where a number may begin: no part of a word, a version, a sum."""

_NO_DOMAINS = """
self cls this np torch tf jnp pd weights data values shape matmul dot transpose length name names id key keys value
get set map append items join format local_cache setter getter property fixture parametrize route command task wraps
mock patch js jsx ts tsx py pyc rb go java kt css scss html png jpg jpeg gif svg webp ico json yml yaml toml lock
txt log sql zip gz tar whl
"""
_NO_DOMAIN = frozenset(_NO_DOMAINS.split())
"""What stands behind a dot in code and in names of files, and ends no address."""
_NOBODY = frozenset({"git", "hg", "svn", "noreply", "no-reply", "donotreply", "do-not-reply"})
"""Names of machines."""
_SHARED = re.compile(r"[/\\](?:runner|shared|public|default|all users|linuxbrew|%\w+%)\Z", re.IGNORECASE)
"""Folders that are nobody's."""


def _is_home(found: str) -> bool:
    return _SHARED.search(found) is None


def _is_host(found: str) -> bool:
    return not found.endswith("localhost") and found.lower() not in _LOCAL


_LOCAL = frozenset({"localhost", "none", "unknown", "example", "0", "$hostname"})


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

PERSONAL = (
    # An address before a colon and a path is a remote (git@host:path), one before a bracket a call.
    pattern(
        EMAILS, "@",
        r"(?<![\w.%+-])[^\W_](?:[\w.%+'-]{0,62}[\w+-])?@(?:(?!-)[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}(?:xn--"
        r"[a-z0-9-]{2,40}|[^\W\d_]{2,24})"
        r"(?![\w(@-]|\.[a-z]|:[\w~/]*\.git|:[~/\w-]+/)",
        holds=_mail,
    ),
    pattern(EMAILS, "@", r"(?<=<)[^\s<>@\"]{1,64}@[^\s<>@\"]{1,200}\.[^\W\d_]{2,24}(?=>)", holds=_mail),
    pattern(
        EMAILS, "@",
        r"(?<![\w.%+-])_[\w.%+-]{1,62}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w(@-]|\.[a-z])",
        holds=_mail,
    ),
    pattern(
        EMAILS, "at",
        r"(?<![\w.+-])[\w.+-]{1,64}\s?[\[({<]\s?at\s?[\])}>]\s?[\w-]{1,63}(?:\s?(?:[\[({<]\s?dot\s?[\])}>]|\.)\s?[\w-]{2,63}){1,5}",
        any_case=True, near=r"[\[({<]\s?(?:at|AT)\s?[\])}>]",
    ),
    pattern(
        HOMES, "/home/ /users/",
        rf"(?:(?<![\w.~/-])|(?<=file://)|(?<=localhost))(?:{_ROOTS})?/(?:home|[Uu]sers)/{_FOLDER}",
        near=r"/(?:home|[Uu]sers)/", holds=_is_home,
    ),
    pattern(
        HOMES, "sftp:// ssh:// vscode scp:// nfs:// smb:// afp://",
        rf"(?:s?ftp|ssh|scp|nfs|smb|afp|vscode[\w-]{{0,16}})://[^\s/]{{0,120}}(/(?:home|Users)/{_FOLDER})",
        group=1, holds=_is_home,
    ),
    pattern(
        HOMES, "users",
        rf"(?<![A-Za-z])[A-Za-z]:(?:\\{{1,8}}|/)(?:Users|Documents and Settings)(?:\\{{1,8}}|/){_FOLDER}",
        any_case=True, holds=_is_home,
    ),
    pattern(
        HOMES, "users\\ home\\",
        rf"\\{{2,8}}[\w.$-]{{1,60}}\\{{1,4}}(?:[A-Za-z]\$\\{{1,4}})?(?:Users|home)\\{{1,4}}{_FOLDER}",
        any_case=True, holds=_is_home,
    ),
    pattern(
        HOMES, "-home- -users-",
        r"(?:(?<![\w.-])|(?<=[/\\]))(?:[A-Z]-)?-(?:home|Users)-[A-Za-z0-9_]{1,40}(?=-|[/\\\"'\s]|\Z)",
        holds=_is_home,
    ),
    pattern(
        HOSTS, ".internal .local .corp .lan .intra .home.arpa",
        r"(?<![A-Za-z0-9._-])(?:[A-Za-z0-9-]{1,63}\.){1,6}(?:internal|local|corp|lan|intranet|intra(?:\.net)?|home\.arpa)(?!"
        r"[A-Za-z0-9_(=-]|\.\w)",
        holds=lambda found: any(c.isdigit() or c == "-" for c in found) or found.count(".") > 1,
    ),
    pattern(HOMES, "~", r"(?<![\w/~.$-])~(?!user/|root/)[a-z_][a-z0-9_-]{2,31}(?=/)"),
    pattern(HOMES, "users/", r"(?<![\w.~/-])/Users/[A-Za-z.]{2,30}(?: [A-Za-z.]{2,30}){1,2}(?=/)"),
    pattern(
        HOSTS, "[",
        r"(?<![^\s\"'`])\[([a-z_][a-z0-9_-]{0,31}@[A-Za-z0-9][A-Za-z0-9.-]{0,62})[ :][^\]\n]{1,80}\][$#%](?=\s|\Z)",
        group=1, holds=_is_host,
    ),
    pattern(
        HOSTS, "hostname computername",
        r"(?:hostname|computername)[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?=[a-z]{0,40}[0-9-])([a-z][a-z0-9-]{3,62})(?![\w.(-])",
        group=1, any_case=True, holds=_is_host,
    ),
    pattern(HOSTS, "linux ", r"\bLinux ([A-Za-z0-9][\w.-]{1,62}) [2-9]\.[0-9]{1,2}\.[0-9]", group=1, holds=_is_host),
    pattern(
        HOSTS, ".amazonaws.com",
        r"(?<![\w.-])[A-Za-z0-9-]{1,63}\.(?:cluster-(?:ro-)?)?[a-z0-9]{6,16}\.(?:[a-z0-9]{1,8}\.)?[a-z]{2}-[a-z]{2,12}-[0-9]\."
        r"(?:rds|redshift|cache|es|docdb|neptune)\.amazonaws\.com",
    ),
    pattern(
        HOSTS, ":",
        r"(?:(?<=\n)|\A)[A-Z][a-z]{2} [ 0-3][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} "
        r"([A-Za-z0-9][\w.-]{1,62}) [\w./-]{1,40}(?:\[[0-9]{1,8}\])?:",
        group=1, holds=_is_host, near=r"[A-Z][a-z]{2} [ 0-3][0-9] [0-9]{2}:",
    ),
    pattern(
        HOSTS, "@",
        r"(?<![^\s(\[\"'`])[a-z_][a-z0-9_-]{0,31}@[A-Za-z0-9][A-Za-z0-9.-]{0,62}(?=[: ][~/][^\s]{0,120}[$#%](?:\s|\Z))",
    ),
    pattern(
        HOSTS, "ssh scp sftp rsync mosh",
        r"\b(?:ssh|scp|sftp|rsync|mosh|ssh-copy-id)[ \t]+(?:[^\n|;]{0,120}?[ \t])?([a-z_][a-z0-9_.-]{0,31}@(?!github"
        r"|gitlab|bitbucket)[A-Za-z0-9][A-Za-z0-9.-]{0,62})",
        group=1, holds=_is_host,
    ),
    pattern(
        IPS, ".",
        rf"(?<![\w.]){_OCTET}(?:\.{_OCTET}){{3}}(?![\w-]*[A-Za-z_]|\.(?!(?:log|txt|json|csv|pcap|conf)\b)[0-9A-Za-z]|[0-9])",
        holds=numbers.public, near=r"[0-9]\.[0-9]{1,3}\.[0-9]", stands=numbers.is_address,
    ),
    pattern(
        IPS, ":",
        r"(?<![A-Za-z0-9:.])[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{0,4}){2,7}(?![A-Za-z0-9:.])",
        holds=numbers.public6, near=r":[0-9a-fA-F]{0,4}:",
    ),
    pattern(
        PHONES, "+",
        rf"{_NUMBER}\+[1-9][0-9]{{0,2}}[ ./-]?(?:\([0-9]{{1,4}}\)[ ./-]?)?[0-9]{{1,4}}(?:[ ./-]?[0-9]{{2,4}}){{2,4}}"
        rf"(?![\w/=-]*[0-9]|\.[0-9]|:[0-9])",
        holds=_is_dialled, near=r"\+[1-9][0-9 ./(-]{8}", stands=_is_phone,
    ),
    pattern(
        PHONES, "( - .",
        rf"{_NUMBER}(?:1[-. ])?(?:\([2-9][0-9]{{2}}\) ?|[2-9][0-9]{{2}}[-.])[2-9][0-9]{{2}}[-. ][0-9]{{4}}(?![\w-]|\."
        rf"[0-9])",
        near=r"[0-9]{3}[-. ][0-9]{4}",
    ),
    pattern(
        PHONES, "00",
        r"(?<![\w.$#+-])00[1-9][0-9]{0,2}[ ./-]\(?[0-9]{1,4}\)?(?:[ ./-]?[0-9]{2,4}){2,4}(?![\w-]|\.[0-9])",
        holds=_is_dialled, near=r"00[1-9][0-9]{0,2}[ ./-]",
    ),
    pattern(
        PHONES, "phone tel mobile cell fax whatsapp sms handy call dial contact",
        rf"(?<![A-Za-z]){_CALLED}(?:_?(?:number|no|nr))?[\"'.]{{0,2}}\s{{0,2}}(?:[:=]|is)?\s{{0,3}}[\"']?((?:\+"
        rf"|00)?\(?[0-9](?:[ ./()-]{{0,2}}[0-9]){{8,13}})(?![\w-])",
        group=1, any_case=True, holds=_is_dialled,
    ),
    pattern(
        CARDS, "",
        rf"{_NUMBER}(?:[456][0-9]{{3}}|2[2-7][0-9]{{2}}|3[0478][0-9]{{2}})(?:[ -]?[0-9]{{4,6}})(?:[ -]?[0-9]{{4,5}})"
        rf"(?:[ -]?[0-9]{{1,4}})?(?![\w/-]|\.[0-9])",
        holds=numbers.luhn, near=r"[0-9]{4}[ -]?[0-9]{4}",
    ),
    pattern(
        IBANS, "",
        r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?(?![A-Za-z0-9])",
        holds=numbers.iban, near=r"[A-Z]{2}[0-9]{2}[ -]?[A-Z0-9]{4}",
    ),
    pattern(
        SSNS, "-",
        r"(?<![\w.-])(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![\w-]|\.[0-9])",
        near=r"[0-9]-[0-9]{2}-[0-9]{4}",
    ),
    pattern(
        SSNS, "ssn social",
        r"(?:ssn|social[ _-]?security(?:[ _-]?(?:number|no|num|nr))?)[\"'#.]{0,2}\s{0,2}(?:[:=]|is|of)?\s{0,3}[\"']?("
        r"(?!000|666|9)[0-9]{3}[ ]?[0-9]{2}[ ]?[0-9]{4})(?![\w-])",
        group=1, any_case=True,
    ),
)  # fmt: skip
