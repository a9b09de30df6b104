"""Names that say that their value is secret, in any spelling: db_pass, dbPassword, DB-PASSWORD, spring.db.password."""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import lru_cache


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
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_PASSWORD_ENDS = (
    "password", "passwd", "passwort", "passphrase", "passcode", "pwd", "pswd", "dbpass", "pgpass", "userpass",
    "sshpass", "smtppass", "mailpass", "ldappass", "ftppass", "becomepass", "keypass", "storepass",
)  # fmt: skip
_WORDS = frozenset(("pass", "pw", "pwd"))
_PLURALS = frozenset(("passwords", "secrets", "keys", "passphrases"))
_PASSWORDS = frozenset(("pass", "pw", "psk", "passw"))
_SECRET_ENDS = (
    "secret", "token", "apikey", "accesskey", "secretkey", "privatekey", "authkey", "accountkey", "masterkey",
    "sharedkey",
)  # fmt: skip
_SECRETS = frozenset(
    ("credential", "credentials", "cred", "creds", "signature", "pat", "jwt", "bearer", "otp", "sas", "salt", "pepper")
)
_KEYS = """
api access secret private auth account encryption encrypt signing master shared subscription service app application
consumer write admin deploy storage license licence webhook hmac aes jwt session cipher crypto client function functions
server integration ingest instrumentation data host project primary secondary preshared anon role cookie fernet live
"""
_KEY_OF = frozenset(_KEYS.split())
"""Words before "key" that make it secret."""
_MAYBE = frozenset(("key", "auth", "sig", "dsn", "pin", "webhook"))
_QUALIFIERS = """
prod production dev development test testing staging stage live value val old new main primary secondary base v
default current previous plain plaintext text string env base64 enc here is data x sha hs admin master root rw ro a
b raw backup
"""
_QUALIFIER = frozenset(_QUALIFIERS.split())
"""What follows the word and changes nothing of it, as numbers do."""
_LISTS = """
page next prev continuation sync cursor pagination eos bos pad unk sep cls mask lock idempotency cache partition sort
foreign public pub
"""
_LISTED = frozenset(_LISTS.split())
"""Words beside which a key or token is never secret."""
_OTHERS = """
special stop start end max min num input output prompt completion total group row map dict lookup translation by per
cancel cancellation first last tokenizer routing hash index unique composite object label known hot has no use
forgot css tree shift arrow enter on if show hide toggle keyboard press query react message json answer type column
field
"""
_HARMLESS = frozenset(_OTHERS.split())
"""Words that make a key or token of a list, a page, a model's text or a keyboard of it."""

_NAMED_SO = frozenset(("password", "secret", "token", "apikey", "passwd", "privatekey", "key"))
_ABOUT_TEXT = """
name names id ids file files path url uri type types count counts limit limits length len size hash ttl expiry
expires expire expiration expired arn ref header field column kind usage used rate index version format policy rule
rules error errors hint label prompt manager service store provider class func function method exists valid invalid
required at in on of for time
"""
_ABOUT = frozenset(_ABOUT_TEXT.split())
"""What is said about a secret and is none."""


@lru_cache(maxsize=20_000)
def sort_of(name: str) -> Sort | None:
    """What a name says of its value; None where it says nothing, as of a count, a file or an id of the secret."""
    words = [word.lower() for word in _WORD.findall(name)]
    if words and words[-1] in _PLURALS:
        words[-1] = words[-1][:-1]
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _QUALIFIER):
        words.pop()
    if not words:
        return None
    joined, last = "".join(words), words[-1]
    if joined in _WORDS:
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
