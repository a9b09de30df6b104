"""Secrets and personal data as they are left in transcripts, and what only looks like them.

The list was written before the patterns of the redaction were looked at, from the kinds that the guide on sharing says
are removed (keys, tokens, private keys, passwords, credentials in URLs, `.env` values, e-mail addresses, home folders,
hosts, IP addresses, phone and card numbers) and from nothing else. It measures; it is not made to pass.

Sources
    gitleaks, detect-secrets, trufflehog: the shapes of the values that their own tests publish, both those that must be
    found and those that must not. Shapes alone are taken: prefix, alphabet, length, what stands around; every value is
    drawn anew. Where two of them disagree about a value, and where a published false positive is a value that the guide
    claims (private IP addresses) or is real but of low entropy, it is left out.
    own list: how people write secrets down (shells, configuration, code, commands, headers, URLs, logs, chat), odd
    places and encodings, personal data, and what looks like one of these.

What counts
    `secrets` are the exact pieces of `text` that must be gone. A value that is wrapped over lines or broken by
    invisible characters counts as its pieces, so each of them must go. Of a home folder only the user's name counts, of
    a URL only the credential, of a private key every whole line of its body. A case without secrets must stay as it is.
    Counted: private addresses (10.0.0.0/8 and the like; they tell of a network), keys for tests (`sk_test_`), a UUID
    where its name says that it is a token, weak passwords made of words and digits, hashes of passwords, signatures in
    URLs, hosts inside an organisation (`.internal`, `.corp`, `.lan`, a machine's name at a prompt, a database's
    endpoint).
    Not counted: placeholders (`changeme`, `<token>`, `${TOKEN}`, `xxxx`, `user:pass`), addresses of this machine
    (127.0.0.0/8, 0.0.0.0, ::1), netmasks, the ranges for documentation (192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24,
    2001:db8::/32), reserved domains (example.com, .test, .invalid), addresses of machines (git@github.com, noreply@),
    names of public sites, MAC addresses, public keys, digests, ids, versions, folders that are no user's
    (/home/runner, /Users/Shared, /root).
    IBANs, social security numbers and seed phrases are not among the kinds that the guide claims: `UNCLAIMED` names
    them, so that they can be reported apart.

No value stands in this file. `«…»` in a template is a secret that is made when the list is made, `‹…›` is made too but
is none; inside, `{a:20}` is twenty letters and digits, other letters are other alphabets (`ALPHABETS`), a name is one
of `MAKERS`, and `§1` means: the same value again. Checksums are right where the format has one. A template draws from
the seed and its own text, so a new one changes no other.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.redaction.strangers_alike import OWN_DECOYS
from tests.redaction.strangers_gitleaks import GITLEAKS_DECOYS, GITLEAKS_NAMED, GITLEAKS_TEXTS, GITLEAKS_TOKENS, SHAPES
from tests.redaction.strangers_personal import OWN_PERSONAL, OWN_PLACES, OWN_TOKENS
from tests.redaction.strangers_scanners import (
    DETECT_SECRETS_DECOYS,
    DETECT_SECRETS_TEXTS,
    TRUFFLEHOG_DECOYS,
    TRUFFLEHOG_LOG,
    TRUFFLEHOG_NAMED,
    TRUFFLEHOG_TEXTS,
)
from tests.redaction.strangers_values import USERS, b64, body, card, email, expand, fill, password
from tests.redaction.strangers_written import (
    OWN_ASSIGNMENTS,
    OWN_COMMANDS,
    OWN_FILES,
    OWN_HEADERS,
    OWN_PASSWORDS,
    OWN_URLS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

GITLEAKS = "gitleaks"
DETECT_SECRETS = "detect-secrets"
TRUFFLEHOG = "trufflehog"
OWN = "own list"

UNCLAIMED = frozenset({"iban", "ssn", "seed-phrase"})
"""Kinds in this list that the guide does not say are removed."""


@dataclass(frozen=True, slots=True)
class Case:
    """A snippet, and the exact pieces of it that must be gone; none of them: it must stay as it is."""

    kind: str
    text: str
    secrets: tuple[str, ...]
    source: str


# ---------------------------------------------------------------------------------------------------------------------
# Own list: what a template cannot say

KEY_KINDS = (
    ("RSA PRIVATE KEY", "MIIEpAIBAAKCAQEA", 1588, 64),
    ("EC PRIVATE KEY", "MHcCAQEEI", 164, 64),
    ("PRIVATE KEY", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", 1624, 64),
    ("ENCRYPTED PRIVATE KEY", "MIIFHDBOBgkqhkiG9w0BBQ0w", 1700, 64),
    ("OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ", 348, 70),
    ("PGP PRIVATE KEY BLOCK", "lQVYBGY", 900, 64),
    ("DSA PRIVATE KEY", "MIIBuwIBAAKBgQD", 620, 64),
)

INVISIBLE = ("\u200b", "\u200c", "\u2060", "\ufeff", "\u00ad", "\u200d")

WRAPS = (("\n", 40), ("\n", 64), ("\n", 76), ("\\\n", 64), ("\n    ", 40), ("\r\n", 76), ("\n> ", 64), (" │\n│ ", 40))


def private_keys(seed: int) -> Iterator[Case]:
    """Every kind of key in every way that one is shown."""
    for number, (name, start, length, width) in enumerate(KEY_KINDS):
        rng = random.Random(f"{seed}:{name}")
        lines = body(rng, start, length, width)
        top, end = f"-----BEGIN {name}-----", f"-----END {name}-----"
        block = [top, *lines, end]
        shown = (
            ("plain", "\n".join(block)),
            ("indented", "key: |\n" + "\n".join(f"    {line}" for line in block)),
            ("one-line", '{"key": "' + "\\n".join(block) + '"}'),
            ("escaped-twice", '{\\"key\\": \\"' + "\\\\n".join(block) + '\\"}'),
            ("quoted", "\n".join(f"> {line}" for line in block)),
            ("numbered", "\n".join(f"{place:6}→{line}" for place, line in enumerate(block, 1))),
            ("without-end", "\n".join(block[:-1])),
            ("crlf", "\r\n".join(block)),
            ("diff", "\n".join(f"+{line}" for line in block)),
            ("spaces", "KEY='" + " ".join(block) + "'"),
            ("grep", "\n".join(f"id_rsa:{place}:{line}" for place, line in enumerate(block, 1))),
            ("cat", "$ cat id_rsa\n" + "\n".join(block) + "\n$ "),
        )
        for way in range(4):
            how, text = shown[(number * 4 + way) % len(shown)] if way else shown[0]
            yield Case(f"private-key {how}", text, tuple(line for line in lines if len(line) > 15), OWN)


def odd_places(seed: int) -> Iterator[Case]:
    """Each place with three of the tokens, each token in nine of the places."""
    for number, (place, template) in enumerate(OWN_PLACES):
        for step in range(3):
            name, pattern = OWN_TOKENS[(number + step * 3) % len(OWN_TOKENS)]
            text, secrets = fill(random.Random(f"{seed}:{place}:{name}"), template.replace("@v", f"«{pattern}»"))
            yield Case(f"{name} {place}", text, secrets, OWN)


def broken_values(seed: int) -> Iterator[Case]:
    """Tokens over several lines, and tokens with characters in them that nobody sees."""
    for number, (mark, width) in enumerate(WRAPS):
        for step in range(2):
            name, pattern = OWN_TOKENS[(number * 2 + step) % len(OWN_TOKENS)]
            rng = random.Random(f"{seed}:{mark}:{width}:{name}")
            token = expand(rng, pattern)
            before = f"{name.upper().replace('-', '_')}_TOKEN="
            before = "# used in the last run: ".ljust(max(0, width - len(before) - len(token) // 2), ".") + before
            line = before[-(width - min(len(token), width) // 2) :] + token
            cuts = [line[at : at + width] for at in range(0, len(line), width)]
            start = len(line) - len(token)
            parts = (line[max(at, start) : at + width] for at in range(0, len(line), width))
            yield Case(f"wrapped {name}", mark.join(cuts), tuple(part for part in parts if len(part) > 5), OWN)
    for number, mark in enumerate(INVISIBLE):
        for step in range(2):
            name, pattern = OWN_TOKENS[(number + step * 5) % len(OWN_TOKENS)]
            token = expand(random.Random(f"{seed}:{mark}:{name}"), pattern)
            pieces = (token[: len(token) // 2], token[len(token) // 2 :])
            yield Case(f"invisible {name}", f'{{"{name}_token": "{mark.join(pieces)}"}}', pieces, OWN)


def encoded_values(seed: int) -> Iterator[Case]:
    """Secrets in base64, percent signs, entities and digits."""
    rng = random.Random(f"{seed}:encoded")
    for name, pattern in OWN_TOKENS[:4]:
        token = expand(rng, pattern)
        coded = b64(token)
        yield Case(f"base64 {name}", f"  token: {coded}\nkind: Secret\n", (coded,), OWN)
        coded = "".join(f"%{byte:02X}" for byte in token.encode())
        yield Case(f"percent {name}", f"https://www.nordwerk.de/a?token={coded}&x=1", (coded,), OWN)
    for text in ("Basic @v", 'auth = "@v"', "echo @v | base64 -d", '"auth": "@v"', "http_auth_basic: @v"):
        coded = b64(f"{rng.choice(USERS)}:{password(rng, '#')}")
        yield Case("base64 user-and-password", text.replace("@v", coded), (coded,), OWN)
    for text in ("password: @v", "<p>password: @v</p>"):
        coded = password(rng, "&").replace("&", "&amp;")
        yield Case("entity password", text.replace("@v", coded), (coded,), OWN)
    address = email(rng)
    yield Case("email entity", f"<a>{address.replace('@', '&#64;')}</a>", (address.replace("@", "&#64;"),), OWN)
    yield Case("email escaped", f'{{"to":"{address.replace("@", chr(92) + "u0040")}"}}', (address.split("@")[0],), OWN)
    number = card(rng, "4", 16)
    yield Case("card escaped", f'"{chr(92)}u0034{number[1:]}"', (number[1:],), OWN)
    secret = password(rng, "é!")
    coded = json.dumps(secret)[1:-1]
    yield Case("json-escaped password", f'{{"password": "{coded}"}}', (coded,), OWN)


def hard_passwords(seed: int) -> Iterator[Case]:
    """Each password in quotes, as two languages write it; the plain ones without quotes as well."""
    for pattern in OWN_PASSWORDS:
        secret = expand(random.Random(f"{seed}:{pattern}"), pattern)
        coded = json.dumps(secret, ensure_ascii=False)[1:-1]
        yield Case(f"password json {pattern}", f'{{"user": "ci", "password": "{coded}", "port": 1}}', (coded,), OWN)
        coded = repr(secret)[1:-1]
        yield Case(f"password python {pattern}", f"connect(user='ci', password={secret!r}, port=1)", (coded,), OWN)
        if re.fullmatch(r"(?!env)\w[\w!%+/:-]+", secret):
            yield Case(f"password bare {pattern}", f"DB_USER=ci\nDB_PASSWORD={secret}\n", (secret,), OWN)


# ---------------------------------------------------------------------------------------------------------------------


TEXTS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (GITLEAKS, GITLEAKS_TEXTS),
    (DETECT_SECRETS, DETECT_SECRETS_TEXTS),
    (TRUFFLEHOG, TRUFFLEHOG_TEXTS),
    (OWN, OWN_ASSIGNMENTS),
    (OWN, OWN_COMMANDS),
    (OWN, OWN_URLS),
    (OWN, OWN_HEADERS),
    (OWN, OWN_FILES),
    (OWN, OWN_PERSONAL),
)
DECOYS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (GITLEAKS, GITLEAKS_DECOYS),
    (DETECT_SECRETS, DETECT_SECRETS_DECOYS),
    (TRUFFLEHOG, TRUFFLEHOG_DECOYS),
    (OWN, OWN_DECOYS),
)


def templates() -> Iterator[tuple[str, str, str]]:
    """Kind, template and source of every case that a template can say."""
    shapes = (*SHAPES, *SHAPES)
    for number, (kind, name, value) in enumerate(GITLEAKS_TOKENS):
        shape = SHAPES[number % len(SHAPES)]
        yield kind, shape.replace("@i", name).replace("@I", name.upper()).replace("@v", value), GITLEAKS
    for number, (name, value) in enumerate(GITLEAKS_NAMED):
        for shape in shapes[number % len(SHAPES) :][:2]:
            yield name, shape.replace("@i", name).replace("@I", name.upper()).replace("@v", value), GITLEAKS
    for number, (name, value) in enumerate(TRUFFLEHOG_NAMED):
        around = TRUFFLEHOG_LOG[number % len(TRUFFLEHOG_LOG)]
        yield name, around.replace("@i", name).replace("@v", value), TRUFFLEHOG
    for source, listed in TEXTS:
        for kind, template in listed:
            yield kind, template, source
    for source, listed in DECOYS:
        for kind, template in listed:
            yield f"decoy {kind}", template, source


def cases(seed: int = 0) -> list[Case]:
    """The whole list; the same seed gives the same values."""
    made = []
    for kind, template, source in templates():
        text, secrets = fill(random.Random(f"{seed}:{template}"), template)
        made.append(Case(kind, text, secrets, source))
    for more in (private_keys, odd_places, broken_values, encoded_values, hard_passwords):
        made += more(seed)
    return made
