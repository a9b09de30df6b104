"""Keys, tokens and passwords by where they stand, where no name is beside them: headers, addresses, commands, files."""

from __future__ import annotations

import re

from sessions.engine.redact import values
from sessions.engine.redact.kinds import COOKIES, EDGE, KEYS, PASSWORDS, PRIVATE, TOKENS, URLS, pattern
from sessions.engine.redact.providers import PROVIDERS

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

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
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


SECRETS = (
    # A block that was cut off still ends at the end of the text.
    pattern(
        PRIVATE, "private key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----BEGIN )[\s\S])*?"
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z|(?=-----BEGIN ))",
    ),
    pattern(PRIVATE, "private-lines:", r"Private-Lines: [0-9]{1,3}\s{1,4}([A-Za-z0-9+/=\s]{40,8000})", group=1),
    *PROVIDERS,
    pattern(
        TOKENS, "bearer basic authorization",
        EDGE + r"(?:(?:bearer|basic)[\"'`]?[ \t:]\s{0,8}[\"'`]?"
        r"|authorization[\"']?\]?\s{0,4}[:=,]\s{0,8}[\"']?(?:token|bot|apikey|api-key|key|digest|ghp|oauth|ssws"
        r"|splunk|negotiate"
        r"|genie(?:key)?|klaviyo-api-key|snowflake token=)?\s{0,4}[\"']?)"
        r"([a-z0-9._~+/:|-]{12,4000}={0,2})",
        group=1, any_case=True, holds=_token,
    ),
    pattern(TOKENS, "aws4-hmac", r"AWS4-HMAC-SHA256[^\n]{0,300}?Signature=([0-9a-f]{64})", group=1),
    pattern(
        COOKIES, "cookie",
        r"(?<![a-z_])(?:set-)?cookies?[\"']?\s{0,2}[:=]\s{0,4}[\"']?((?:[\w.!$%-]{1,80}=[^\s;\"'`,]{0,4000})(?:;"
        r"[ \t]?[\w.!$%-]{1,80}(?:=[^\s;\"'`]{0,4000})?){0,40})",
        group=1, any_case=True, holds=_cookie,
    ),
    pattern(
        COOKIES, "curl",
        rf"\bcurl\b{_WITHIN}\s(?:-b|--cookie)[ =]?[\"']?([\w.-]{{1,80}}=[^\s\"'`]{{6,4000}}(?:;[ ]"
        rf"[^\"'`\n]{{1,4000}})?)",
        group=1, holds=_cookie,
    ),
    pattern(
        COOKIES,
        "sessid jsessionid aspsession connect.sid sessionid session= _session= csrftoken "
        "xsrf-token remember_ __secure- __host- .asp sid=",
        r"(?<![A-Za-z0-9])(?:PHPSESSID|JSESSIONID|ASPSESSIONID\w{0,12}|connect\.sid|sessionid|session|laravel_session"
        r"|_session_id|\w{1,30}_session"
        r"|csrftoken|XSRF-TOKEN|remember_(?:user_)?token|__(?:Secure|Host)-[\w.-]{1,40}|ASP\.NET_SessionId|\.ASPXAUTH"
        r"|\.AspNetCore\.[A-Za-z.]{1,40}|sid|sessid|auth_session)[\"']?\s?[=:]\s?[\"']?([A-Za-z0-9%._~+/:=-]{16,4000})",
        group=1, holds=lambda value: values.strict(value) and _UUID.search(value) is None,
    ),
    # What stands before the last @ of an address, after its first colon; an address in brackets, too.
    pattern(
        URLS, "://", r"://[^\s/:@'\"<>\[\]`]{0,200}:([^\s/'\"<>`|]{1,200})@(?=[\w\[$%{-])", group=1, holds=values.real
    ),
    pattern(
        URLS, "://",
        r"://[^\s/:@'\"<>\[\]`]{0,200}:([^\s'\"<>`@|?]{1,80})@(?=[\w.-]{1,80}(?::[0-9]{1,5})?(?:[/\s\"'?]|\Z))",
        group=1, holds=lambda value: values.real(value) and "/" in value and not value.partition("/")[0].isdigit(),
    ),
    pattern(URLS, "://", r"(?:https?|git|ssh)://([A-Za-z0-9_-]{20,255})@(?=[\w.-])", group=1, holds=values.strict),
    # Commands that take a password or "user:password" as an argument.
    pattern(
        PASSWORDS, "curl wget http xh",
        rf"\b(?:curl|http|https|xh|wget|ab)\b{_WITHIN}\s{_USER_OPTION}"
        r"(?:\"[^\s:\"]{0,80}:([^\"\n]{2,200})\"|'[^\s:']{0,80}:([^'\n]{2,200})'"
        r"|[^\s:\"']{0,80}:[\"']?([^\s\"']{2,200}))",
        group=-1, near=rf"\s{_USER_OPTION}[\"']?[^\s:\"']{{0,80}}:", holds=_login,
    ),
    pattern(
        KEYS, "curl wget http xh",
        rf"\b(?:curl|http|https|xh|wget)\b{_WITHIN}\s{_USER_OPTION}[\"']?([A-Za-z0-9_-]{{16,255}}):?[\"']?(?=\s|\Z)",
        group=1, near=rf"\s{_USER_OPTION}", holds=values.strict,
    ),
    pattern(
        PASSWORDS, "mysql mariadb mongo",
        rf"\b(?:mysql\w{{0,8}}|mariadb[\w-]{{0,8}})\b{_WITHIN}\s-p{_ARG}",
        group=-1, holds=values.bare_password,
    ),
    pattern(
        PASSWORDS, "sshpass login mongo redis-cli sqlcmd ldap zip 7z rar",
        r"\b(?:sshpass\s{1,4}-p|(?:docker|podman|nerdctl|helm registry|buildah|oc|az|cf)(?:\s[^\n|;]{0,80}?)?\slogin"
        rf"(?=\s){_WITHIN}\s-p|mongo(?:sh|dump|restore|export|import)?\b{_WITHIN}\s-p|redis-cli\b{_WITHIN}\s-a"
        rf"|sqlcmd\b{_WITHIN}\s-P"
        rf"|ldap[a-z]{{3,8}}\b{_WITHIN}\s-w|(?:un)?zip\b{_WITHIN}\s-P|7z\w?\b{_WITHIN}\s-p"
        rf"|rar\b{_WITHIN}\s-h?p)\s?{_ARG}",
        group=-1, holds=values.bare_password,
    ),
    pattern(
        PASSWORDS, "htpasswd",
        rf"\bhtpasswd\s{{1,4}}(?:-\w*b\w*)\s[^\n|;]{{0,120}}?\s?[\w.@-]{{1,64}}\s{_ARG}(?=\s|\Z|[\"'`])",
        group=-1, holds=values.bare_password,
    ),
    pattern(
        PASSWORDS, "smbclient rpcclient mount.cifs",
        rf"\b(?:smb|rpc)client\b{_WITHIN}\s-U\s?[\"']?[^\s%\"']{{1,80}}%([^\s\"']{{3,200}})",
        group=1, holds=_login,
    ),
    pattern(
        PASSWORDS, "pass:", r"\s-(?:pass|passin|passout|k)\s{1,2}[\"']?pass:([^\s\"']{3,200})", group=1, holds=_login
    ),
    pattern(
        PASSWORDS, "/user:",
        r"\bnet use\b[^\n]{0,120}?/user:\S{1,80}\s([^\s/\"']{3,200})",
        group=1, any_case=True, holds=_login,
    ),
    pattern(
        PASSWORDS, "chpasswd",
        r"echo\s{1,2}(?:-n\s)?[\"']?[\w.-]{1,64}:([^\s\"'|]{3,200})[\"']?\s{0,3}\|\s?(?:sudo\s)?chpasswd",
        group=1, holds=_login,
    ),
    pattern(
        PASSWORDS, "--password-stdin sudo passwd",
        rf"(?:echo|printf|<<<)\s{{1,2}}(?:-n\s|-e\s|[\"']%s\s?[\"']\s)?{_ARG}\s{{0,3}}\|\s?(?:[^\n|]{{0,100}}--(?:password|token)-stdin"
        rf"|sudo\s[^\n|]{{0,20}}-\w*S|passwd\s[^\n|]{{0,40}}--stdin)",
        group=-1, holds=_login,
    ),
    pattern(
        PASSWORDS, "convertto-securestring",
        rf"ConvertTo-SecureString\s(?:-String\s|-AsPlainText\s|-Force\s){{0,3}}{_ARG}",
        group=-1, any_case=True, holds=_login,
    ),
    pattern(
        PASSWORDS, "identified",
        r"\bIDENTIFIED\s{1,4}(?:WITH\s{1,4}\S{1,60}\s{1,4})?BY\s{1,4}(?:PASSWORD\s)?(?:\"([^\"\n]{3,200})\"|'([^'\n]{3,200})')",
        group=-1, any_case=True, holds=values.mixed_password,
    ),
    pattern(PASSWORDS, "identified", r"\bIDENTIFIED BY [\"']?([^\s\"';]{4,200})", group=1, holds=_login),
    pattern(
        PASSWORDS, "requirepass masterauth", rf"\b(?:requirepass|masterauth)\s{{1,8}}{_ARG}", group=-1, holds=_login
    ),
    # Files: netrc, pgpass, docker's config, shadow and htpasswd.
    pattern(
        PASSWORDS, "password passwd",
        r"\b(?:login|user)[ \t\n]{1,8}[^\s]{1,120}[ \t\n]{1,8}(?:password|passwd)[ \t\n]{1,8}([^\s\"]{3,200})",
        group=1, any_case=True, near=r"(?i)(?:login|user)[ \t\n]{1,8}\S{1,120}\s{1,8}passw", holds=values.real,
    ),
    pattern(
        PASSWORDS, ":",
        r"(?:(?<![^\s\"'`>+])|(?<=\n-))(?:[\w.-]{1,120}|\*):(?:[0-9]{4,5}|\*):(?:[\w-]{1,64}|\*):[\w.@-]{1,64}:("
        r"[^\s\"'`]{4,200})(?=[\s\"'`]|\Z)",
        group=1, holds=lambda value: values.mixed_password(value) and re.fullmatch(r"[0-9a-f:]+", value) is None,
        near=r":(?:[0-9]{4,5}|\*):(?:[\w-]{1,64}|\*):[\w.@-]{1,64}:",
    ),
    pattern(
        PASSWORDS, "auth\" auth' token\" token'",
        r"[\"'](?:_auth|auth|identitytoken|registrytoken)[\"']\s{0,4}:\s{0,4}[\"']([A-Za-z0-9+/_.-]{12,4000}={0,2})"
        r"[\"']",
        group=1, holds=_token,
    ),
    pattern(
        KEYS, "_auth", r"(?<![A-Za-z0-9])_auth\s{0,2}=\s{0,2}[\"']?([A-Za-z0-9+/]{12,400}={0,2})", group=1, holds=_token
    ),
    pattern(
        PASSWORDS, "$",
        r"\$(?:1|2[abxy]|5|6|y|apr1|argon2(?:id?|d)|pbkdf2[\w-]{0,16}|scrypt)\$[A-Za-z0-9./$=,+-]{20,300}",
        near=r"\$(?:[1256y]|2[abxy]|a)",
    ),
    pattern(
        PASSWORDS, "pbkdf2_ argon2 bcrypt_ scrypt",
        r"(?:pbkdf2_sha(?:1|256|512)|bcrypt_sha256|scrypt)\$[A-Za-z0-9./$=+]{30,300}",
    ),
    pattern(
        KEYS, "accountkey= accesskey=",
        r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,90}={0,2})",
        group=1, any_case=True,
    ),
    pattern(KEYS, "azure windows.net", r"(?<!sha512-)(?<![A-Za-z0-9+/])([A-Za-z0-9+/]{86}==)(?![A-Za-z0-9=])", group=1),
    pattern(TOKENS, "digest", r"\bDigest\s[^\n]{0,600}?response=\"?([0-9a-f]{32,64})", group=1),
    # Logins by place: a connection's arguments, the last of which is the password.
    pattern(
        PASSWORDS, "getconnection opendsobject basicauth digestauth auth= auth =( login( basic_auth( connect( pdo(",
        r"(?:getConnection|OpenDSObject|(?:HTTP)?(?:Basic|Digest)Auth\w{0,12}|\bauth\s?=\s?|\.login|basic_auth|_connect|\bPDO)\s?\("
        r"(?:[^,()\n]{1,160},\s{0,4}){1,3}[\"']([^\"'\n]{4,200})[\"']",
        group=1, holds=values.mixed_password,
    ),
    pattern(PASSWORDS, ":thin:", r":thin:[^\s/@]{1,64}/([^\s@\"']{3,200})@", group=1, holds=_login),
    pattern(PASSWORDS, "sqlplus", r"\bsqlplus\s[^\n]{0,60}?[\w.$]{1,64}/([^\s@\"']{3,200})@", group=1, holds=_login),
    pattern(
        PASSWORDS, "expect",
        r"\bsend\s(?:--\s)?[\"']([^\"'\r\n\\]{6,200})(?:\r|\n|\\+r)",
        group=1, holds=values.mixed_password, near=r"\bsend\s",
    ),
    pattern(PASSWORDS, "openssl", rf"\bopenssl\b{_WITHIN}\s-k\s{{1,4}}{_ARG}", group=-1, holds=_login),
    pattern(PASSWORDS, "use", r"\bnet\suse\s[^\n]{0,20}?\\\\[^\s]{1,100}\s([^\s/\"'*]{3,200})", group=1, holds=_login),
    pattern(
        PASSWORDS, "-file=<(", r"pass\w{0,8}-file[= ]<\(\s?(?:echo|printf)\s(?:-n\s)?[\"']?([^\s\"')]{3,200})", group=1
    ),
    pattern(
        KEYS, "secret",
        rf"\bsecrets?\sset\s{_WITHIN}(?:--body|-b|--value|--secret-string)[ =]{_ARG}",
        group=-1, holds=_login,
    ),
    # The word in other languages, which no name of code has.
    pattern(
        PASSWORDS, " ".join(_FOREIGN).replace("mot de passe", "passe"),
        rf"(?:{'|'.join(_FOREIGN)})[\"'*]{{0,3}}\s{{0,2}}(?:[:=\uff1a]|is|es|est|lautet)?\s{{0,3}}[\"'`]?"
        r"([^\s\"'`<>,;]{4,200})",
        group=1, any_case=True, holds=values.mixed_password,
    ),
)  # fmt: skip
