"""What a secret looks like, what stands in the place of one (placeholders, types, look-ups), and what its name says.

A name says that its value is secret in any spelling: db_pass, dbPassword, DB-PASSWORD, spring.db.password.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import lru_cache
from itertools import pairwise

from sessions.engine.redact.kinds import KINDS, word_set

_MARKER = re.compile("|".join(re.escape(kind.marker) for kind in KINDS))

_PLACE_WORDS = word_set("""
a access account admin an and any api app auth aws azure base64 bearer blah client cloud code credential credentials
custom db default sk pk ant proj api03 ghp akia demo docker dummy empty encryption env example fake field fill foo
bar baz from gcp generate generated get github gitlab given google here hidden hunter in input insert is jwt key
keys login long masked me missing mock my name new none null change changeme changeit changethis replaceme old
openai anthropic option optional or org our paste pass password passwords passwd passphrase personal please
placeholder private prod project public pwd put random real redacted removed replace required sample secret secrets
secure sensitive service session set signing slack some something somewhere staging strong string stripe super tbd
test testing text that the this to todo token tokens type undefined unset update use user username value values var
variable webhook with xxx xyz you your yours
""")
"""Words of which a placeholder is made from end to end: your-api-key-here, CHANGE_ME."""
_LITERALS = word_set("""
any array blank bool boolean bytes char date enabled disabled false float function int integer list map nil no none
null number object off on ok optional password prompt required secret secretstr str string text true undefined
unknown varchar void yes
""")
"""Types, and values that say whether: what a key of that name has in code."""
_SENTENCE = word_set("""
a an and are at be by can cannot did do does enter failed for from has have if in incorrect invalid is it its least
match may minimum missing must new no not of on only or password passwords passphrase please required reset secret
set should that the their this to token too use user using wrong was when will with you your forgot change confirm
current
""")
"""Words of a label or a message; a passphrase that is quoted has none of them."""
_BRACKETED = re.compile(
    r"<[^<>]*>|\{[^{}]*\}|\{\{.*\}\}|\[[^\[\]]*\]|%\([^()]*\)s?|%[A-Za-z_]+%|%[sdrvq]|@[A-Z_]+@|#\{.*|__.*__"
)
_VARIABLE = re.compile(
    r"\$\{.*|\$\(.*|\$\$?[A-Za-z_]\w*(?:->\w+|\[['\"]?\w*['\"]?\])?|\$env:.*|\$\{\{.*|!(?:Ref|Sub|vault|secret|env\w*|GetAtt|ImportValue)\b.*|ENC\[.*|enc:.*|vault:.*"
)
_REPEATED = re.compile(r"[xX]{4}|\*{3}|\.{3}|…|[•●█]{2}|_{4}|\A(.)\1*\Z")
_DOTTED = re.compile(r"(?:[A-Za-z_$][\w$]{0,60}(?:\.|->|::|\?\.|!\.)){1,8}[A-Za-z_$][\w$]{0,60}[,;)]{0,4}\Z")
"""config.db.password"""
_CALL = re.compile(
    r"(?:await |new |not )?[A-Za-z_$@][\w$]{0,60}(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]{0,60}){0,8}[!?]?[(\[{<`]"
    r"|[!&*(]{1,3}[A-Za-z_][\w.]*\Z"
)
"""get_secret(…"""
_BRACKETS = re.compile(r"[()\[\]{};]")
_EXPRESSION = re.compile(r"\[[^\]]{0,40}-[^\]]{0,40}\]|\(\?|\\[dwsb]|\{[0-9],?[0-9]?\}")
"""What a regular expression has."""
_SETTING = re.compile(r"(?!.*[0-9]{4})[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z")
"""The name of a variable, where a value would be."""
_PATH = re.compile(
    r"(?:~?/|\.{1,2}/|[A-Za-z]:[\\/])[\w./\\@ -]*\Z|(?:https?|file|s3|gs|arn|vault|ssm|op)://?[^@]*\Z|arn:.*"
)
_WORDS = re.compile(r"[^\W_]+")
_SPLIT = re.compile(r"[_\-. /:]+")


def real(value: str) -> bool:
    """Whether a value is more than the sign that one belongs there."""
    inner = value.strip("'\"` ")
    if len(inner) < 2 or _MARKER.search(inner):
        return False
    if (_BRACKETED.fullmatch(inner) or _VARIABLE.fullmatch(inner)) and not _is_drawn(inner[1:].strip("{}")):
        return False
    lower = inner.lower()
    if lower in _LITERALS or _REPEATED.search(inner) or _SETTING.match(inner):
        return False
    return not all(word in _PLACE_WORDS for word in _SPLIT.split(lower.strip("_-.!:;,<>")) if word)


def _is_drawn(value: str) -> bool:
    """Whether small and large letters, figures or signs are mixed as no name has them."""
    if not value.isalnum() and not re.fullmatch(r"[\w!#%&*+,.:;=?@^~/$-]{12,}", value):
        return False
    sorts = (str.isdigit, str.islower, str.isupper)
    return len(value) >= 8 and all(any(map(sort, value)) for sort in sorts)


def _is_dotted(value: str) -> bool:
    return _DOTTED.match(value) is not None and not _is_drawn(value.rpartition(".")[2])


def _is_code(value: str) -> bool:
    """Whether a value that stands without quotes is a name, a look-up or a call of code."""
    return any(code.match(value) for code in (_DOTTED, _CALL, _PATH))


def _has_figure(value: str) -> bool:
    return any(c.isdigit() for c in value)


def _has_sign(value: str) -> bool:
    return any(not c.isalnum() and c not in "_-. /:" for c in value)


def quoted_password(value: str) -> bool:
    """A password in quotes: anything of four characters, but no label and no name."""
    if not 4 <= len(value) <= 200 or not real(value) or _is_dotted(value) or value.startswith(("http://", "https://")):
        return False
    words = _WORDS.findall(value.lower())
    if " " in value and not words:
        return False
    return not (" " in value and (len(words) > 8 or any(word in _SENTENCE for word in words)))


def bare_password(value: str) -> bool:
    """A password without quotes, where nothing may stand but a value: no code, no number that counts."""
    return 4 <= len(value) <= 200 and real(value) and not _is_code(value)


def mixed_password(value: str) -> bool:
    """A password where code or prose may stand, too: it has a figure or a sign within."""
    return (
        len(value) >= 6
        and bare_password(value)
        and (_has_figure(value) or _has_sign(value.rstrip("!?;,")) or value[-1:] == "!")
        and any(c.isalpha() for c in value)
    )


def varied(value: str) -> bool:
    """A key or token: letters and digits of many sorts, no word in dots or dashes, no place, no version."""
    if _EXPRESSION.search(value):
        return False
    if not 12 <= len(value) <= 4000 or len(set(value)) < 8 or not real(value):
        return len(value) >= 8 and _is_drawn(value) and real(value)
    return _has_figure(value) and not _PATH.match(value) and " " not in value and not is_name(value)


def bare_key(value: str) -> bool:
    """A key without quotes: no code."""
    return varied(value) and not _is_code(value) and not _BRACKETS.search(value)


def strict(value: str) -> bool:
    """A key where much else may stand as well: a long piece that no name has."""
    if not varied(value) or len(_BRACKETS.findall(value)) > 2 or _EXPRESSION.search(value):
        return False
    n_signs = sum(not c.isalnum() and c not in "_-./:" for c in value)
    return any(_scattered(part) for part in _SPLIT.split(value)) or (len(value) >= 12 and n_signs >= 3)


def shorter(value: str) -> bool:
    """A secret after a name that says so and an equals sign: of six characters, more than a number or a word."""
    return 6 <= len(value) <= 4000 and real(value) and not _is_code(value) and not value.isdigit() and " " not in value


def is_name(value: str) -> bool:
    """Words with numbers behind them, as models, versions, files and fields have: gpt-4o-mini-2024, user_token_v2."""
    parts = [part for part in _SPLIT.split(value) if part]
    return all(
        (part.isdigit() and len(part) <= 8) or re.fullmatch(r"[A-Za-z]+[0-9]{0,2}[a-z]?|v?[0-9]{1,4}", part)
        for part in parts
    ) and any(part.isalpha() for part in parts)


def _scattered(part: str) -> bool:
    """Letters and digits by turns, as no word has them."""
    turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(part))
    return len(part) >= 8 and turns >= 3


def telling(value: str) -> bool:
    """A password behind the bare word: of figures, small and large letters and signs at least three."""
    sorts = (str.isdigit, str.islower, str.isupper, lambda c: not c.isalnum())
    n_sorts = sum(any(map(sort, value)) for sort in sorts)
    return (
        mixed_password(value)
        and len(value) >= 8
        and n_sorts >= 3
        and _has_figure(value)
        and value[0] not in "(-"
        and not is_name(value)
    )


class Sort(Enum):
    """How much a name says: a password; a key or token; a word that is secret only beside a value that looks so;
    "pass" alone, which tests print as well.
    """

    PASSWORD = auto()
    SECRET = auto()
    MAYBE = auto()
    WORD = auto()


TRIGGERS = (
    "passw|passphrase|passcode|pass|pwd|pswd|pw|secret|token|key|credential|cred|signature|sig|auth|salt|pepper|bearer"
    "|webhook|dsn|pat|psk|pin|otp|jwt|sas|sid"
)
"""Small letters of which a name has some; what comes before and after says the rest."""
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_PASSWORD_ENDS = (
    "password", "passwd", "passwort", "passphrase", "passcode", "pwd", "pswd", "dbpass", "pgpass", "userpass",
    "sshpass", "smtppass", "mailpass", "ldappass", "ftppass", "becomepass", "keypass", "storepass",
)  # fmt: skip
_PASS = word_set("pass pw pwd")
_PLURALS = word_set("passwords secrets keys passphrases")
_PASSWORDS = word_set("pass pw psk passw")
_SECRET_ENDS = (
    "secret", "token", "apikey", "accesskey", "secretkey", "privatekey", "authkey", "accountkey", "masterkey",
    "sharedkey",
)  # fmt: skip
_SECRETS = word_set("credential credentials cred creds signature pat jwt bearer otp sas salt pepper")
_KEY_OF = word_set("""
api access secret private auth account encryption encrypt signing master shared subscription service app application
consumer write admin deploy storage license licence webhook hmac aes jwt session cipher crypto client function functions
server integration ingest instrumentation data host project primary secondary preshared anon role cookie fernet live
""")
"""Words before "key" that make it secret."""
_MAYBE = word_set("key auth sig dsn pin webhook")
_QUALIFIER = word_set("""
prod production dev development test testing staging stage live value val old new main primary secondary base v
default current previous plain plaintext text string env base64 enc here is data x sha hs admin master root rw ro a
b raw backup
""")
"""What follows the word and changes nothing of it, as numbers do."""
_LISTED = word_set("""
page next prev continuation sync cursor pagination eos bos pad unk sep cls mask lock idempotency cache partition sort
foreign public pub
""")
"""Words beside which a key or token is never secret."""
_HARMLESS = word_set("""
special stop start end max min num input output prompt completion total group row map dict lookup translation by per
cancel cancellation first last tokenizer routing hash index unique composite object label known hot has no use
forgot css tree shift arrow enter on if show hide toggle keyboard press query react message json answer type column
field
""")
"""Words that make a key or token of a list, a page, a model's text or a keyboard of it."""

_NAMED_SO = word_set("password secret token apikey passwd privatekey key")
_ABOUT = word_set("""
name names id ids file files path url uri type types count counts limit limits length len size hash ttl expiry
expires expire expiration expired arn ref header field column kind usage used rate index version format policy rule
rules error errors hint label prompt manager service store provider class func function method exists valid invalid
required at in on of for time
""")
"""What is said about a secret and is none."""


@lru_cache(maxsize=20_000)
def sort_of(name: str) -> Sort | None:
    """What a name says of its value; None where it says nothing, as of a count, a file or an id of the secret."""
    words = [word.lower() for word in _NAME_WORD.findall(name)]
    if words and words[-1] in _PLURALS:
        words[-1] = words[-1][:-1]
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _QUALIFIER):
        words.pop()
    if not words:
        return None
    joined, last = "".join(words), words[-1]
    if joined in _PASS:
        return Sort.WORD
    if joined.endswith(_PASSWORD_ENDS) or last in _PASSWORDS:
        return Sort.PASSWORD
    is_key = last == "key" and len(words) > 1 and words[-2] in _KEY_OF
    return _key_or_token(words, is_secret=is_key or joined.endswith(_SECRET_ENDS) or last in _SECRETS)


def _key_or_token(words: list[str], *, is_secret: bool) -> Sort | None:
    last, is_harmless = words[-1], not _HARMLESS.isdisjoint(words)
    if last in ("key", "token") and not _LISTED.isdisjoint(words):
        return None
    if is_secret:
        return Sort.MAYBE if is_harmless else Sort.SECRET
    if last in _MAYBE:
        return None if is_harmless else Sort.MAYBE
    return None if last in _ABOUT or _NAMED_SO.isdisjoint(words) else Sort.MAYBE
