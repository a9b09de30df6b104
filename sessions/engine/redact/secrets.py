"""Keys, tokens, passwords: what opens something."""

from __future__ import annotations

import re

from sessions.engine.redact.kinds import (
    ASSIGN,
    BROKEN,
    EDGE,
    ENV,
    KEYS,
    PASSWORDS,
    PRIVATE,
    QUOTE,
    TOKENS,
    URLS,
    pattern,
)

PLACEHOLDER = re.compile(
    r"(?:<.*>|\.{3}.*|\*+|[xX]{4,}.*|(?:your|my|the|some|insert|replace|change|example|dummy|fake|test|sample|todo|"
    r"none|null|true|false|required|optional|string|secret|password|env|process|os|settings|config|get|self|this)"
    r"(?:[_\-. ].*|me|me_?.*)?)\Z",
    re.IGNORECASE,
)
"""What stands where a secret would: an instruction to put one there, a type, a look-up."""


def real(value: str) -> bool:
    """Whether a value is more than the sign that one belongs there."""
    return not PLACEHOLDER.match(value)


def _varied(value: str) -> bool:
    """Letters and digits of many sorts: no word in dots, dashes or the same sign over and over."""
    return len(set(value)) >= 8 and real(value)


_KEY_PREFIXES = {
    # With a figure near its start, or in one piece that no word is as long as.
    "sk-": (
        r"sk-(?:ant-|proj-|svcacct-|admin-|or-v1-|lf-|live-)?"
        r"(?:(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32}[A-Za-z0-9_-]*)"
    ),
    "aiza": r"AIza[0-9A-Za-z_-]{35}",
    "akia asia aroa aida agpa": r"(?:AKIA|ASIA|AROA|AIDA|AGPA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "absk": r"ABSK[A-Za-z0-9+/]{80,}={0,2}",
    "k_live_ k_test_ whsec_": r"(?:[rsp]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}",
    "sg.": r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}",
    "gsk_ xai- pplx- r8_ fw_ tvly- lsv2_": r"(?:gsk_|xai-|pplx-|r8_|fw_|tvly-|lsv2_(?:pt|sk)_)[A-Za-z0-9_]{24,}",
    "key-": r"key-[0-9a-f]{32}(?![0-9a-f])",
    "-us": r"[0-9a-f]{32}-us[0-9]{1,2}(?![0-9])",
    "pmak- nrak-": r"(?:PMAK-[0-9a-f]{24}-[0-9a-f]{34}|NRAK-[A-Z0-9]{27})",
    "age-secret-key-": r"AGE-SECRET-KEY-1[0-9A-Z]{58}",
    "lin_api_ ntn_ figd_ rnd_ sbp_": r"(?:lin_api_|ntn_|figd_|rnd_|sbp_)[A-Za-z0-9_-]{24,}",
    "dapi": r"dapi[a-f0-9]{32}(?:-[0-9])?",
    "hrku-": r"HRKU-[A-Za-z0-9_-]{36,}",
    "sntrys_ sntryu_": r"sntry[su]_[A-Za-z0-9+/=_-]{40,}",
}
_TOKEN_PREFIXES = {
    "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_": r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})",
    "glpat- gldt- glrt- gloas- glptt- glcbt-": r"gl(?:pat|dt|rt|oas|ptt|cbt)-[A-Za-z0-9_.-]{20,}",
    "xox xapp-": r"(?:xox[abeoprs]|xapp)-(?=[A-Za-z-]{0,40}[0-9])[A-Za-z0-9-]{10,}",
    "hf_ npm_ pypi- dop_v1_": (
        r"(?:hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|dop_v1_[a-f0-9]{64})"
    ),
    "eyj": r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
    "shpat_ shpca_ shppa_ shpss_": r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    "sq0atp- sq0csp-": r"sq0(?:atp|csp)-[A-Za-z0-9_-]{22,}",
    "hvs. hvb.": r"hv[sb]\.[A-Za-z0-9_-]{24,}",
    "atlasv1.": r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}",
    "glsa_ glc_": r"(?:glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|glc_[A-Za-z0-9+/=]{32,})",
    "dp.": r"dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9_.-]{40,}",
    "pscale_": r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,}",
    "fo1_ fm2_": r"(?:fo1_|fm2_)[A-Za-z0-9+/=_-]{40,}",
    "rubygems_": r"rubygems_[a-f0-9]{48}",
    "dckr_": r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}",
    "atatt3": r"ATATT3[A-Za-z0-9_=-]{100,}",
    "gocspx-": r"GOCSPX-[A-Za-z0-9_-]{28}",
    "ya29.": r"ya29\.[A-Za-z0-9_-]{40,}",
    "nfp_": r"nfp_[A-Za-z0-9]{36}",
    ":aa": r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])",
    "sl.": r"sl\.(?:u\.)?[A-Za-z0-9_-]{100,}",
}
_NAMES = (
    r"(?:(?:api|secret|access|account|encryption|signing|subscription)[_-]?key|client[_-]?secret|"
    r"(?:auth|access|refresh|bot|session)[_-]?token|secret|token)"
)
_TAIL = r"(?![\w(]|\.\w)"
"""Not the start of a longer word, of a call or of an attribute."""

SECRETS = (
    # A block that was cut off still ends at the end of the text.
    pattern(
        PRIVATE,
        "private key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----BEGIN )[\s\S])*?"
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z|(?=-----BEGIN ))",
    ),
    *(pattern(KEYS, hints, EDGE + regex) for hints, regex in _KEY_PREFIXES.items()),
    *(pattern(TOKENS, hints, EDGE + regex) for hints, regex in _TOKEN_PREFIXES.items()),
    pattern(
        KEYS,
        "secret",
        rf"aws_?secret_?(?:access_?)?key{ASSIGN}{QUOTE}?([a-z0-9/+]{{40}})(?![a-z0-9/+])",
        group=1,
        any_case=True,
    ),
    pattern(KEYS, "accountkey=", r"AccountKey=([A-Za-z0-9+/]{86}==)", group=1),
    pattern(TOKENS, "hooks.slack.com", r"hooks\.slack\.com/services/([a-z0-9/_-]{20,})", group=1, any_case=True),
    pattern(
        TOKENS,
        "/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/([0-9]{15,20}/[A-Za-z0-9_-]{40,})",
        group=1,
    ),
    pattern(
        TOKENS,
        ".",
        EDGE + r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}(?![A-Za-z0-9_.-])",
        near=r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}",
    ),
    pattern(
        TOKENS,
        "bearer basic",
        EDGE + r"(?:bearer|basic)(?:[ \t]|%20){1,4}([a-z0-9._~+/-]{16,}={0,2})",
        group=1,
        any_case=True,
        holds=lambda value: any(c.isdigit() for c in value) or value.endswith("="),
    ),
    pattern(
        URLS,
        "://",
        rf"(?:(?<![A-Za-z0-9+.-])|{BROKEN})[A-Za-z][A-Za-z0-9+.-]{{1,30}}://[^\s/:@'\"<>\[\]]{{0,200}}:([^\s/@'\"<>\[\]{{}}$]{{1,200}})@",
        group=1,
        holds=real,
    ),
    # Quoted, after an equals sign without spaces, or with a digit in it: "password: string" is a type, not a secret.
    pattern(
        PASSWORDS,
        "passw passphrase pwd",
        rf"(?:password|passwd|passphrase|pwd)(?:{ASSIGN}\\{{0,3}}\"([^\"\\\s\[\]]{{4,200}})\\{{0,3}}\"|"
        rf"{ASSIGN}\\{{0,3}}'([^'\\\s\[\]]{{4,200}})\\{{0,3}}'|{ASSIGN}&(?:quot|#x27);([^&\s]{{4,200}})&|"
        rf"=([^\s\"',;&()\[\]{{}}<>$\\]{{4,200}}){_TAIL}|"
        rf"{ASSIGN}((?=[^\s0-9]{{0,80}}[0-9])[^\s\"',;&()\[\]{{}}<>$\\]{{6,200}}){_TAIL})",
        group=-1,
        any_case=True,
        holds=real,
    ),
    # The value must hold a digit: "token: required" and "secret = get_secret" are prose and code.
    pattern(
        KEYS,
        "key secret token",
        rf"(?:(?<![a-z])|{BROKEN})(?:[a-z0-9]{{1,40}}[_-]){{0,6}}{_NAMES}{ASSIGN}{QUOTE}?"
        rf"((?=[a-z_./+-]{{0,80}}[0-9])[a-z0-9_/+-]{{12,200}}={{0,2}}){_TAIL}",
        group=1,
        any_case=True,
        holds=_varied,
    ),
    # A line of a settings file whose name says that it is secret, whatever its value looks like.
    pattern(
        ENV,
        "=",
        r"(?:^|(?<=\\n)|(?<=[\n\"'> ]))(?:export[ \t]+)?[A-Z][A-Z0-9_]{0,40}"
        r"(?:SECRET|TOKEN|API_?KEY|PRIVATE_KEY|PASS|PASSWORD|PASSWD|"
        r"CREDENTIALS?|_SALT|_KEY)(?:_[A-Z0-9]{1,20})?=(?:\\?[\"'])?([^\s\"'\\$<>{}()\[\],;]{6,300})(?![\w(\[])",
        group=1,
        holds=real,
        near=r"[A-Z]=",
    ),
)
