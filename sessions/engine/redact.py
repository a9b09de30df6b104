"""Secrets out of text: keys, tokens, passwords, private-key blocks, e-mail addresses and home folders.

Every pattern is anchored on something that a secret of its sort always carries (a provider's prefix, a scheme, a name
before an equals sign), because a scan for "random looking" words flags prose.  What is taken out leaves a marker in
brackets, so a reader sees that something stood there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Pattern:
    """One sort of secret: ``group`` of ``regex`` is replaced by ``marker`` and counted under ``name``.

    ``hint`` is a lower-case piece that the text must contain for the regex to be tried (any one of them).
    """

    name: str
    marker: str
    regex: re.Pattern[str]
    hints: tuple[str, ...]
    group: int = 0


@dataclass(frozen=True, slots=True)
class Redaction:
    """Text without its secrets, and how many of each sort were taken out."""

    text: str
    counts: Mapping[str, int]


KEYS, TOKENS, PRIVATE = "API keys", "access tokens", "private keys"
PASSWORDS, EMAILS, HOMES = "passwords", "e-mail addresses", "home folders"

_EDGE = r"(?<![A-Za-z0-9_])"
_NAMES = r"(?:(?:api|secret|access)[_-]?key|client[_-]?secret|(?:auth|access|refresh)[_-]?token|secret|token)"
_ASSIGN = r"[\"']?\s{0,4}[=:]\s{0,4}"
_FOLDER = r"(?!\[)[^\s/\\:;,'\"`<>|*?()\[\]{}]{1,64}"


def _p(name: str, marker: str, hints: str, *regex: str, group: int = 0, flags: int = 0) -> Pattern:
    return Pattern(name, marker, re.compile("".join(regex), flags), tuple(hints.split(",")), group)


def _key(hints: str, *regex: str, group: int = 0) -> Pattern:
    return _p(KEYS, "[key]", hints, *regex, group=group, flags=re.IGNORECASE if group else 0)


def _token(hints: str, *regex: str, group: int = 0) -> Pattern:
    return _p(TOKENS, "[token]", hints, *regex, group=group, flags=re.IGNORECASE if group else 0)


PATTERNS: tuple[Pattern, ...] = (
    # A block that was cut off still ends at the end of the text.
    _p(
        PRIVATE, "[private key]", "private key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----BEGIN )[\s\S])*?",
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z|(?=-----BEGIN ))",
    ),
    _key("sk-", r"(?<![A-Za-z0-9_-])sk-(?:ant-|proj-|svcacct-|admin-|or-v1-|lf-)?[A-Za-z0-9_-]{20,}"),
    _key("aiza", _EDGE, r"AIza[0-9A-Za-z_-]{35}"),
    _key("akia,asia,aroa,aida,agpa", _EDGE, r"(?:AKIA|ASIA|AROA|AIDA|AGPA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _key("secret", r"aws_?secret_?(?:access_?)?key", _ASSIGN, r"[\"']?([a-z0-9/+]{40})(?![a-z0-9/+])", group=1),
    _key("k_live_,k_test_,whsec_", _EDGE, r"(?:[rsp]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}"),
    _key("sg.", _EDGE, r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    _key(
        "gsk_,xai-,pplx-,r8_,fw_,tvly-,lsv2_",
        _EDGE, r"(?:gsk_|xai-|pplx-|r8_|fw_|tvly-|lsv2_(?:pt|sk)_)[A-Za-z0-9_]{24,}",
    ),
    _token(
        "ghp_,gho_,ghu_,ghs_,ghr_,github_pat_",
        _EDGE, r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})",
    ),
    _token("glpat-,gldt-,glrt-,gloas-,glptt-,glcbt-", _EDGE, r"gl(?:pat|dt|rt|oas|ptt|cbt)-[A-Za-z0-9_.-]{20,}"),
    _token("xox,xapp-", _EDGE, r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}"),
    _token("hooks.slack.com", r"hooks\.slack\.com/services/([a-z0-9/_-]{20,})", group=1),
    _token(
        "hf_,npm_,pypi-,dop_v1_",
        _EDGE, r"(?:hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|dop_v1_[a-f0-9]{64})",
    ),
    _token("eyj", _EDGE, r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
    _token("bearer,basic", _EDGE, r"(?:bearer|basic)[ \t]{1,4}([a-z0-9._~+/-]{16,}={0,2})", group=1),
    _p(
        PASSWORDS, "[password]", "://",
        r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/:@'\"<>\[\]]{0,200}:([^\s/@'\"<>\[\]]{1,200})@",
        group=1,
    ),
    # Quoted, after an equals sign without spaces, or with a digit in it: "password: string" is a type, not a secret.
    _p(
        PASSWORDS, "[password]", "passw,passphrase,pwd",
        r"(?:password|passwd|passphrase|pwd)(?:", _ASSIGN, r"\"([^\"\s\[\]]{4,200})\"|", _ASSIGN,
        r"'([^'\s\[\]]{4,200})'|=([^\s\"',;&()\[\]{}<>$]{4,200})(?![\w.(\[])|",
        _ASSIGN, r"((?=[^\s0-9]{0,80}[0-9])[^\s\"',;&()\[\]{}<>$]{6,200})(?![\w.(\[]))",
        group=-1, flags=re.IGNORECASE,
    ),
    # The value must hold a digit: "token: required" and "secret = get_secret" are prose and code.
    _key(
        "key,secret,token",
        r"(?<![a-z])(?:[a-z0-9]{1,40}[_-]){0,6}", _NAMES, _ASSIGN,
        r"[\"']?((?=[a-z_./+-]{0,80}[0-9])[a-z0-9_/+-]{12,200}={0,2})(?![\w.(])",
        group=1,
    ),
    _p(
        EMAILS, "[e-mail]", "@",
        r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-])",
    ),
    _p(HOMES, "[home]", "/home/,/users/", r"(?<![A-Za-z0-9_.~/])/(?:home|Users)/", _FOLDER),
    _p(HOMES, "[home]", "users\\", r"(?<![A-Za-z])[A-Za-z]:\\{1,2}Users\\{1,2}", _FOLDER),
)  # fmt: skip

ORDER = (KEYS, TOKENS, PASSWORDS, PRIVATE, EMAILS, HOMES)
"""Sorts of secrets in the order that a list shows them."""


def redact(text: str, *, emails: bool = True) -> Redaction:
    """Take secrets out of ``text``; ``emails=False`` leaves e-mail addresses in.

    Redacting twice changes nothing more.  Time is linear in the text: every repetition is bounded or unambiguous.
    """
    counts: dict[str, int] = {}
    lower = text.lower()
    for pattern in PATTERNS:
        if pattern.name == EMAILS and not emails:
            continue
        if not any(hint in lower for hint in pattern.hints):
            continue
        text, n = _replaced(text, pattern)
        if n:
            counts[pattern.name] = counts.get(pattern.name, 0) + n
    return Redaction(text, counts)


def _replaced(text: str, pattern: Pattern) -> tuple[str, int]:
    """The text with every match's group replaced, and how many there were."""
    parts, at, n = [], 0, 0
    for match in pattern.regex.finditer(text):
        group = (match.lastindex or 0) if pattern.group < 0 else pattern.group
        start, end = match.span(group)
        if match[group] == pattern.marker:
            continue
        parts += [text[at:start], pattern.marker]
        at, n = end, n + 1
    return ("".join([*parts, text[at:]]), n) if n else (text, 0)
