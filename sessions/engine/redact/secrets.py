"""Keys, tokens and passwords by where they stand, where no name is beside them: headers, addresses, commands, files.

Those of providers by what they look like: the beginnings that their makers give them.
"""

from __future__ import annotations

import re

from sessions.engine.redact import values
from sessions.engine.redact.kinds import COOKIES, EDGE, KEYS, PASSWORDS, PRIVATE, TOKENS, URLS, Pattern

_ARG = r"(?:\"([^\"\n]{3,200})\"|'([^'\n]{3,200})'|([^\s\"'|;&<>]{3,200}))"
"""An argument of a shell, in quotes or without."""
_FOREIGN = (
    "mot de passe", "contrase\u00f1a", "contrasena", "senha", "kennwort", "wachtwoord", "has\u0142o",
    "\u043f\u0430\u0440\u043e\u043b\u044c", "\u5bc6\u7801", "\u5bc6\u78bc", "\u30d1\u30b9\u30ef\u30fc\u30c9",
    "\ube44\ubc00\ubc88\ud638",
)  # fmt: skip
"""A password in other languages."""
_USER_OPTION = r"(?:-[A-Za-z]{0,6}[uU]|-a|-A|--user|--auth|--proxy-user)[ =]{0,4}"
_WITHIN = r"[^\n|;]{0,200}?"

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
"""How agents name their sessions, which are no cookies."""


def _token(value: str) -> bool:
    is_path = "/" in value and any(sign in value for sign in "._:")
    if not values.real(value) or value.startswith("AWS4-") or is_path:
        return False
    is_long = len(value) >= 32 and any(c.isupper() for c in value) and any(c.islower() for c in value)
    return is_long or value.endswith("=") or any(c.isdigit() for c in value)


def _cookie(value: str) -> bool:
    """Whether one of ``name=value`` in it is more than a placeholder or a flag."""
    pairs = [pair.partition("=")[2].strip() for pair in value.split(";")]
    return any(len(found) >= 6 and values.real(found) and re.search(r"[0-9A-Z]", found) for found in pairs)


def _login(value: str) -> bool:
    return values.bare_password(value) or values.quoted_password(value)


_KEYS = {
    # With a figure near its start, or in one piece that no word is as long as.
    "sk- sk_": (
        r"sk[-_](?:ant-|proj-|svcacct-|admin-|or-v1-|lf-|live[-_])?"
        r"(?:(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{20,400}|[A-Za-z0-9]{32}[A-Za-z0-9_-]{0,400})"
    ),
    "aiza": r"AIza[0-9A-Za-z_-]{35}",
    "aqvn": r"AQVN[A-Za-z0-9_-]{35,38}",
    "a3t akia asia abia acca aroa aida agpa": (
        r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA|AROA|AIDA|AGPA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    ),
    "absk": r"ABSK[A-Za-z0-9+/]{80,400}={0,2}",
    "fwogzxivyxdz iqojb3jpz2lu": r"(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9+/=]{60,4000}",
    "k_live_ k_test_ whsec_": r"(?:[rsp]k_(?:live|test)_|whsec_)[A-Za-z0-9+/]{16,200}={0,2}",
    "sg.": r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}",
    "gsk_ xai- pplx- r8_ fw_ tvly- lsv2_": (r"(?:gsk_|xai-|pplx-|r8_|fw_|tvly-|lsv2_(?:pt|sk)_)[A-Za-z0-9_-]{24,200}"),
    "csk- nvapi- pcsk_ jina_ hcaik_ hcxik_ hcaic_ phx_ phc_ pnu_ pnb_ sgp_ ddp_ bkua_ tk-us- phs_ fc-": (
        r"(?:csk-|nvapi-|pcsk_|jina_|hca?xi?k_|hcaik_|hcaic_|phx_|phc_|phs_|pnu_|pnb_|sgp_|ddp_|bkua_|tk-us-|fc-)"
        r"(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{24,200}"
    ),
    "key- pubkey-": r"key-[0-9a-f]{32}(?![0-9a-f])",
    "-us": r"[0-9a-f]{32}-us[0-9]{1,2}(?![0-9])",
    "pmak- nrak- nrjs- nrii- nral-": r"(?:PMAK-[0-9a-f]{24}-[0-9a-f]{34}|NR(?:AK|JS|II|AL)-[A-Za-z0-9_-]{19,36})",
    "age-secret-key-": r"AGE-SECRET-KEY-1[0-9A-Z]{58}",
    "lin_ ntn_ figd_ rnd_ sbp_ figo_": (r"(?:lin_(?:api|oauth)_|ntn_|fig[do]_|rnd_|sbp_)[A-Za-z0-9_-]{24,200}"),
    "sb_secret_": r"sb_secret_[A-Za-z0-9_-]{20,100}",
    "dapi": r"dapi[a-f0-9]{32}(?:-[0-9])?",
    "hrku-": r"HRKU-[A-Za-z0-9_-]{36,100}",
    "sntrys_ sntryu_": r"sntry[su]_[A-Za-z0-9+/=_-]{40,400}",
    "ltai": r"LTAI[A-Za-z0-9]{12,24}(?![A-Za-z0-9])",
    "akc cmvmd 4b1d": r"(?:AKC[A-Za-z0-9]{60,80}|cmVmd[A-Za-z0-9]{59}|4b1d[A-Za-z0-9]{38})(?![A-Za-z0-9])",
    "q~": r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])",
    "a3-": r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}(?![A-Z0-9])",
    "rzp_ shippo_ duffel_ easypost_ ezak eztk": (
        r"(?:rzp_(?:live|test)_[A-Za-z0-9]{14,24}|shippo_(?:live|test)_[a-f0-9]{40}"
        r"|duffel_(?:live|test)_[A-Za-z0-9_-]{43}|EZ[AT]K[A-Za-z0-9]{54})"
    ),
    "flwpubk flwseck": r"FLW(?:PUBK|SECK)(?:_TEST)?-[A-Za-z0-9]{12,40}(?:-X)?",
    "xkeysib- xsmtpsib-": r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}",
    "p8e- tly- ico-": r"(?:p8e-[a-z0-9]{32}|ico-[A-Za-z0-9]{32})(?![A-Za-z0-9])",
    "api-": r"(?:API-[A-Z0-9]{25,34}|api-" + _UUID + r")(?![A-Za-z0-9-])",
    "sdk- mob- rgapi- secret-live- secret-test-": rf"(?:sdk|mob|RGAPI|secret-(?:live|test))-{_UUID}",
    "oy2": r"oy2[a-z0-9]{43}(?![a-z0-9])",
    "xprv": r"[xyz]prv[A-Za-z0-9]{100,115}",
    "v1.0-": r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}",
}
_TOKENS = {
    "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_": r"(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255})",
    "glpat- gldt- glrt glo gls glptt- glcbt- glft- glimt- glagent- glffct- gr1348941": (
        r"(?:gl(?:pat|dt|rt|oas|soat|ptt|cbt|ft|imt|agent|ffct|rtr)-[A-Za-z0-9_.-]{20,300}|GR1348941[A-Za-z0-9_-]{20})"
    ),
    "xox xapp-": r"(?:xox[abeoprsd]|xapp|xoxe\.xox[bp])-(?=[A-Za-z-]{0,40}[0-9])[A-Za-z0-9-]{10,300}",
    "hf_ npm_ pypi- dop_v1_ dor_v1_ doo_v1_ api_org_": (
        r"(?:hf_[A-Za-z0-9]{30,60}|api_org_[A-Za-z0-9]{34}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,400}|do[opr]_v1_"
        r"[a-f0-9]{64})"
    ),
    "eyj": r"eyJ[A-Za-z0-9_-]{8,8000}\.eyJ[A-Za-z0-9_-]{8,8000}(?:\.[A-Za-z0-9_-]{0,8000})?",
    "ops_eyj": r"ops_eyJ[A-Za-z0-9+/_-]{40,4000}={0,3}",
    "pk.eyj": r"[ps]k\.eyJ[A-Za-z0-9_-]{20,400}\.[A-Za-z0-9_-]{20,100}",
    "shp": r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    "sq0 eaaa": r"(?:sq0[a-z]{3}-[A-Za-z0-9_-]{22,50}|EAAA[A-Za-z0-9_-]{60})",
    "hvs. hvb. hvr.": r"hv[sbr]\.[A-Za-z0-9_-]{24,400}",
    "atlasv1.": r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,100}",
    "glsa_ glc_": r"(?:glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|glc_[A-Za-z0-9+/=]{32,400})",
    "eyjrijoi": r"eyJrIjoi[A-Za-z0-9]{40,400}={0,2}",
    "dp.": r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,100}",
    "pscale_": r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,64}",
    "fo1_ fm1": r"(?:fo1_|fm1[ar]_)[A-Za-z0-9+/=_-]{40,400}",
    "fm2_": r"fm2_[A-Za-z0-9+/=_-]{40,400}",
    "rubygems_": r"rubygems_[a-f0-9]{48}",
    "dckr_": r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,64}",
    "atatt3 atctt3 atbb atta": r"(?:AT[AC]TT3[A-Za-z0-9_=-]{100,300}|ATBB[A-Za-z0-9_=]{24,40}|ATTA[a-f0-9]{60,80})",
    "gocspx-": r"GOCSPX-[A-Za-z0-9_-]{28}",
    "ya29.": r"ya29\.[A-Za-z0-9_-]{40,400}",
    "1//0 4/0a": r"(?:1//0|4/0A)[A-Za-z0-9_-]{40,150}",
    # The settings of docker, which begin with "auths", in base64.
    "eyjhdxro": r"eyJhdXRo[A-Za-z0-9+/_-]{20,8000}={0,2}",
    "nfp_ vcp_ vci_ vca_ vcr_ vck_": r"(?:nfp_[A-Za-z0-9]{36}|vc[piark]_[A-Za-z0-9]{24,64})",
    ":aa": r"(?:bot)?[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])",
    "sl.": r"sl\.(?:u\.|B)?[A-Za-z0-9_-]{100,400}",
    "ccipat_ cciprj_": r"CCI(?:PAT|PRJ)_[A-Za-z0-9_]{20,100}",
    "tskey-": r"tskey-[a-z]{3,10}-[A-Za-z0-9_-]{16,100}",
    "squ_ sqp_ sqa_": r"sq[upa]_[a-f0-9]{40}",
    "clojars_": r"CLOJARS_[a-z0-9]{60}",
    "pul-": r"pul-[a-f0-9]{40}",
    "cfpat- pat-na pat-eu": r"(?:CFPAT-[A-Za-z0-9_-]{43}|pat-(?:na|eu)[0-9]-" + _UUID + ")",
    "dt0": r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}",
    "sha256~": r"sha256~[A-Za-z0-9_-]{43}",
    "access-": rf"access-(?:sandbox|development|production)-{_UUID}",
    "access_token$": r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
    "rdme_ slk_": r"(?:rdme_[a-z0-9]{70}|slk_[a-f0-9]{64})",
    "tfp_ sm_": r"(?:tfp_[A-Za-z0-9_.=-]{40,80}|sm_(?:pat|aat|sat)_[A-Za-z0-9]{16})",
    "eaa": r"EAA[MC]?[A-Za-z0-9]{60,400}",
    "mfa.": r"mfa\.[A-Za-z0-9_-]{80,95}",
    "mdb_sa_sk_": r"mdb_sa_sk_[A-Za-z0-9_-]{30,60}",
    "fio-u-": r"fio-u-[A-Za-z0-9_=-]{64}",
    "aio_": r"aio_[A-Za-z0-9]{28}(?![A-Za-z0-9])",
    "amzn1.": r"amzn1\.(?:oa2-cs\.v1\.[a-f0-9]{64}|[a-z]{2,12}\.[A-Za-z0-9._-]{30,400})",
    ".acc- .acc_": (
        r"(?:scauth|sc|ext|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}"
    ),
}

_EMPTY = re.compile(r"(?i)x{6}|AKIA[A-Z0-9]{9}EXAMPLE\\Z|sk-(?:your|my|the|some)-[a-z-]*\\Z")


def _filled(found: str) -> bool:
    """Whether it is no pattern of a key, as documents have it: ghp_xxxxxxxx."""
    return _EMPTY.search(found) is None


PROVIDERS = (
    *(Pattern(KEYS, hints, EDGE + regex, holds=_filled) for hints, regex in _KEYS.items()),
    *(Pattern(TOKENS, hints, EDGE + regex, holds=_filled) for hints, regex in _TOKENS.items()),
    Pattern(KEYS, "softlayer.com/", r"softlayer\.com/(?:soap|rest)/v[0-9.]{1,4}/([a-z0-9]{32,64})"),
    Pattern(
        TOKENS, "hooks.slack.com",
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,120})",
        any_case=True,
    ),
    Pattern(
        TOKENS, "/api/webhooks/",
        r"discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/([0-9]{15,20}/[A-Za-z0-9_-]{40,100})",
    ),
    Pattern(TOKENS, "webhook.office.com", r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{60,200})"),
    *(
        Pattern(kind, hints, EDGE + regex, near=regex.partition("(?=")[0] + after)
        for kind, hints, regex, after in (
            (TOKENS, "s.", r"s\.(?=[A-Za-z]{0,12}[0-9])[A-Za-z0-9]{24}(?![A-Za-z0-9.(_-])", "[A-Za-z0-9]{24}"),
            (TOKENS, "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}", ""),
            (KEYS, "sk ac", r"(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])", ""),
            (
                KEYS,
                "re_",
                r"re_(?=[A-Za-z_]{0,12}[0-9])[A-Za-z0-9]{8}_[A-Za-z0-9]{20,32}(?![A-Za-z0-9])",
                "[A-Za-z0-9]{8}_",
            ),
        )
    ),
    Pattern(
        TOKENS, ".",
        EDGE + r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}(?![A-Za-z0-9_.-])",
        near=r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}",
    ),
)  # fmt: skip

SECRETS = (
    # A block that was cut off still ends at the end of the text.
    Pattern(
        PRIVATE, "private key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----BEGIN )[\s\S])*?"
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z|(?=-----BEGIN ))",
    ),
    Pattern(PRIVATE, "private-lines:", r"Private-Lines: [0-9]{1,3}\s{1,4}([A-Za-z0-9+/=\s]{40,8000})"),
    *PROVIDERS,
    Pattern(
        TOKENS, "bearer basic authorization",
        EDGE + r"(?:(?:bearer|basic)[\"'`]?[ \t:]\s{0,8}[\"'`]?"
        r"|authorization[\"']?\]?\s{0,4}[:=,]\s{0,8}[\"']?(?:token|bot|apikey|api-key|key|digest|ghp|oauth|ssws"
        r"|splunk|negotiate"
        r"|genie(?:key)?|klaviyo-api-key|snowflake token=)?\s{0,4}[\"']?)"
        r"([a-z0-9._~+/:|-]{12,4000}={0,2})",
        any_case=True, holds=_token,
    ),
    Pattern(TOKENS, "aws4-hmac", r"AWS4-HMAC-SHA256[^\n]{0,300}?Signature=([0-9a-f]{64})"),
    Pattern(
        COOKIES, "cookie",
        r"(?<![a-z_])(?:set-)?cookies?[\"']?\s{0,2}[:=]\s{0,4}[\"']?((?:[\w.!$%-]{1,80}=[^\s;\"'`,]{0,4000})(?:;"
        r"[ \t]?[\w.!$%-]{1,80}(?:=[^\s;\"'`]{0,4000})?){0,40})",
        any_case=True, holds=_cookie,
    ),
    Pattern(
        COOKIES, "curl",
        rf"\bcurl\b{_WITHIN}\s(?:-b|--cookie)[ =]?[\"']?([\w.-]{{1,80}}=[^\s\"'`]{{6,4000}}(?:;[ ]"
        rf"[^\"'`\n]{{1,4000}})?)",
        holds=_cookie,
    ),
    Pattern(
        COOKIES,
        "sessid jsessionid aspsession connect.sid sessionid session= _session= csrftoken "
        "xsrf-token remember_ __secure- __host- .asp sid=",
        r"(?<![A-Za-z0-9])(?:PHPSESSID|JSESSIONID|ASPSESSIONID\w{0,12}|connect\.sid|sessionid|session|laravel_session"
        r"|_session_id|\w{1,30}_session"
        r"|csrftoken|XSRF-TOKEN|remember_(?:user_)?token|__(?:Secure|Host)-[\w.-]{1,40}|ASP\.NET_SessionId|\.ASPXAUTH"
        r"|\.AspNetCore\.[A-Za-z.]{1,40}|sid|sessid|auth_session)[\"']?\s?[=:]\s?[\"']?([A-Za-z0-9%._~+/:=-]{16,4000})",
        holds=lambda value: values.strict(value) and re.search(_UUID, value) is None,
    ),
    # What stands before the last @ of an address, after its first colon; an address in brackets, too.
    Pattern(URLS, "://", r"://[^\s/:@'\"<>\[\]`]{0,200}:([^\s/'\"<>`|]{1,200})@(?=[\w\[$%{-])", holds=values.real),
    Pattern(
        URLS, "://",
        r"://[^\s/:@'\"<>\[\]`]{0,200}:([^\s'\"<>`@|?]{1,80})@(?=[\w.-]{1,80}(?::[0-9]{1,5})?(?:[/\s\"'?]|\Z))",
        holds=lambda value: values.real(value) and "/" in value and not value.partition("/")[0].isdigit(),
    ),
    Pattern(URLS, "://", r"(?:https?|git|ssh)://([A-Za-z0-9_-]{20,255})@(?=[\w.-])", holds=values.strict),
    # Commands that take a password or "user:password" as an argument.
    Pattern(
        PASSWORDS, "curl wget http xh",
        rf"\b(?:curl|http|https|xh|wget|ab)\b{_WITHIN}\s{_USER_OPTION}"
        r"(?:\"[^\s:\"]{0,80}:([^\"\n]{2,200})\"|'[^\s:']{0,80}:([^'\n]{2,200})'"
        r"|[^\s:\"']{0,80}:[\"']?([^\s\"']{2,200}))",
        near=rf"\s{_USER_OPTION}[\"']?[^\s:\"']{{0,80}}:", holds=_login,
    ),
    Pattern(
        KEYS, "curl wget http xh",
        rf"\b(?:curl|http|https|xh|wget)\b{_WITHIN}\s{_USER_OPTION}[\"']?([A-Za-z0-9_-]{{16,255}}):?[\"']?(?=\s|\Z)",
        near=rf"\s{_USER_OPTION}", holds=values.strict,
    ),
    Pattern(
        PASSWORDS, "mysql mariadb mongo",
        rf"\b(?:mysql\w{{0,8}}|mariadb[\w-]{{0,8}})\b{_WITHIN}\s-p{_ARG}",
        holds=values.bare_password,
    ),
    Pattern(
        PASSWORDS, "sshpass login mongo redis-cli sqlcmd ldap zip 7z rar",
        r"\b(?:sshpass\s{1,4}-p|(?:docker|podman|nerdctl|helm registry|buildah|oc|az|cf)(?:\s[^\n|;]{0,80}?)?\slogin"
        rf"(?=\s){_WITHIN}\s-p|mongo(?:sh|dump|restore|export|import)?\b{_WITHIN}\s-p|redis-cli\b{_WITHIN}\s-a"
        rf"|sqlcmd\b{_WITHIN}\s-P"
        rf"|ldap[a-z]{{3,8}}\b{_WITHIN}\s-w|(?:un)?zip\b{_WITHIN}\s-P|7z\w?\b{_WITHIN}\s-p"
        rf"|rar\b{_WITHIN}\s-h?p)\s?{_ARG}",
        holds=values.bare_password,
    ),
    Pattern(
        PASSWORDS, "htpasswd",
        rf"\bhtpasswd\s{{1,4}}(?:-\w*b\w*)\s[^\n|;]{{0,120}}?\s?[\w.@-]{{1,64}}\s{_ARG}(?=\s|\Z|[\"'`])",
        holds=values.bare_password,
    ),
    Pattern(
        PASSWORDS, "smbclient rpcclient mount.cifs",
        rf"\b(?:smb|rpc)client\b{_WITHIN}\s-U\s?[\"']?[^\s%\"']{{1,80}}%([^\s\"']{{3,200}})",
        holds=_login,
    ),
    Pattern(PASSWORDS, "pass:", r"\s-(?:pass|passin|passout|k)\s{1,2}[\"']?pass:([^\s\"']{3,200})", holds=_login),
    Pattern(
        PASSWORDS, "/user:", r"\bnet use\b[^\n]{0,120}?/user:\S{1,80}\s([^\s/\"']{3,200})", any_case=True, holds=_login
    ),
    Pattern(
        PASSWORDS, "chpasswd",
        r"echo\s{1,2}(?:-n\s)?[\"']?[\w.-]{1,64}:([^\s\"'|]{3,200})[\"']?\s{0,3}\|\s?(?:sudo\s)?chpasswd",
        holds=_login,
    ),
    Pattern(
        PASSWORDS, "--password-stdin sudo passwd",
        rf"(?:echo|printf|<<<)\s{{1,2}}(?:-n\s|-e\s|[\"']%s\s?[\"']\s)?{_ARG}\s{{0,3}}\|\s?(?:[^\n|]{{0,100}}--(?:password|token)-stdin"
        rf"|sudo\s[^\n|]{{0,20}}-\w*S|passwd\s[^\n|]{{0,40}}--stdin)",
        holds=_login,
    ),
    Pattern(
        PASSWORDS, "convertto-securestring",
        rf"ConvertTo-SecureString\s(?:-String\s|-AsPlainText\s|-Force\s){{0,3}}{_ARG}",
        any_case=True, holds=_login,
    ),
    Pattern(
        PASSWORDS, "identified",
        r"\bIDENTIFIED\s{1,4}(?:WITH\s{1,4}\S{1,60}\s{1,4})?BY\s{1,4}(?:PASSWORD\s)?(?:\"([^\"\n]{3,200})\"|'([^'\n]{3,200})')",
        any_case=True, holds=values.mixed_password,
    ),
    Pattern(PASSWORDS, "identified", r"\bIDENTIFIED BY [\"']?([^\s\"';]{4,200})", holds=_login),
    Pattern(PASSWORDS, "requirepass masterauth", rf"\b(?:requirepass|masterauth)\s{{1,8}}{_ARG}", holds=_login),
    # Files: netrc, pgpass, docker's config, shadow and htpasswd.
    Pattern(
        PASSWORDS, "password passwd",
        r"\b(?:login|user)[ \t\n]{1,8}[^\s]{1,120}[ \t\n]{1,8}(?:password|passwd)[ \t\n]{1,8}([^\s\"]{3,200})",
        any_case=True, near=r"(?i)(?:login|user)[ \t\n]{1,8}\S{1,120}\s{1,8}passw", holds=values.real,
    ),
    Pattern(
        PASSWORDS, ":",
        r"(?:(?<![^\s\"'`>+])|(?<=\n-))(?:[\w.-]{1,120}|\*):(?:[0-9]{4,5}|\*):(?:[\w-]{1,64}|\*):[\w.@-]{1,64}:("
        r"[^\s\"'`]{4,200})(?=[\s\"'`]|\Z)",
        holds=lambda value: values.mixed_password(value) and re.fullmatch(r"[0-9a-f:]+", value) is None,
        near=r":(?:[0-9]{4,5}|\*):(?:[\w-]{1,64}|\*):[\w.@-]{1,64}:",
    ),
    Pattern(
        PASSWORDS, "auth\" auth' token\" token'",
        r"[\"'](?:_auth|auth|identitytoken|registrytoken)[\"']\s{0,4}:\s{0,4}[\"']([A-Za-z0-9+/_.-]{12,4000}={0,2})"
        r"[\"']",
        holds=_token,
    ),
    Pattern(KEYS, "_auth", r"(?<![A-Za-z0-9])_auth\s{0,2}=\s{0,2}[\"']?([A-Za-z0-9+/]{12,400}={0,2})", holds=_token),
    Pattern(
        PASSWORDS, "$",
        r"\$(?:1|2[abxy]|5|6|y|apr1|argon2(?:id?|d)|pbkdf2[\w-]{0,16}|scrypt)\$[A-Za-z0-9./$=,+-]{20,300}",
        near=r"\$(?:[1256y]|2[abxy]|a)",
    ),
    Pattern(
        PASSWORDS, "pbkdf2_ argon2 bcrypt_ scrypt",
        r"(?:pbkdf2_sha(?:1|256|512)|bcrypt_sha256|scrypt)\$[A-Za-z0-9./$=+]{30,300}",
    ),
    Pattern(
        KEYS, "accountkey= accesskey=", r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,90}={0,2})", any_case=True
    ),
    Pattern(KEYS, "azure windows.net", r"(?<!sha512-)(?<![A-Za-z0-9+/])([A-Za-z0-9+/]{86}==)(?![A-Za-z0-9=])"),
    Pattern(TOKENS, "digest", r"\bDigest\s[^\n]{0,600}?response=\"?([0-9a-f]{32,64})"),
    # Logins by place: a connection's arguments, the last of which is the password.
    Pattern(
        PASSWORDS, "getconnection opendsobject basicauth digestauth auth= auth =( login( basic_auth( connect( pdo(",
        r"(?:getConnection|OpenDSObject|(?:HTTP)?(?:Basic|Digest)Auth\w{0,12}|\bauth\s?=\s?|\.login|basic_auth|_connect|\bPDO)\s?\("
        r"(?:[^,()\n]{1,160},\s{0,4}){1,3}[\"']([^\"'\n]{4,200})[\"']",
        holds=values.mixed_password,
    ),
    Pattern(PASSWORDS, ":thin:", r":thin:[^\s/@]{1,64}/([^\s@\"']{3,200})@", holds=_login),
    Pattern(PASSWORDS, "sqlplus", r"\bsqlplus\s[^\n]{0,60}?[\w.$]{1,64}/([^\s@\"']{3,200})@", holds=_login),
    Pattern(
        PASSWORDS, "expect",
        r"\bsend\s(?:--\s)?[\"']([^\"'\r\n\\]{6,200})(?:\r|\n|\\+r)",
        holds=values.mixed_password, near=r"\bsend\s",
    ),
    Pattern(PASSWORDS, "openssl", rf"\bopenssl\b{_WITHIN}\s-k\s{{1,4}}{_ARG}", holds=_login),
    Pattern(PASSWORDS, "use", r"\bnet\suse\s[^\n]{0,20}?\\\\[^\s]{1,100}\s([^\s/\"'*]{3,200})", holds=_login),
    Pattern(PASSWORDS, "-file=<(", r"pass\w{0,8}-file[= ]<\(\s?(?:echo|printf)\s(?:-n\s)?[\"']?([^\s\"')]{3,200})"),
    Pattern(
        KEYS, "secret", rf"\bsecrets?\sset\s{_WITHIN}(?:--body|-b|--value|--secret-string)[ =]{_ARG}", holds=_login
    ),
    # The word in other languages, which no name of code has.
    Pattern(
        PASSWORDS, " ".join(_FOREIGN).replace("mot de passe", "passe"),
        rf"(?:{'|'.join(_FOREIGN)})[\"'*]{{0,3}}\s{{0,2}}(?:[:=\uff1a]|is|es|est|lautet)?\s{{0,3}}[\"'`]?"
        r"([^\s\"'`<>,;]{4,200})",
        any_case=True, holds=values.mixed_password,
    ),
)  # fmt: skip
