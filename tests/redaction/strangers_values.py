"""The strangers' list: how its values are drawn."""

from __future__ import annotations

import base64
import json
import re
import string
import urllib.parse
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

# ---------------------------------------------------------------------------------------------------------------------
# Values

BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
ALPHABETS = {
    "h": string.digits + "abcdef",
    "H": string.digits + "ABCDEF",
    "d": string.digits,
    "n": "23456789",
    "l": string.ascii_lowercase,
    "U": string.ascii_uppercase,
    "z": string.ascii_letters,
    "a": string.ascii_letters + string.digits,
    "L": string.ascii_lowercase + string.digits,
    "K": string.ascii_uppercase + string.digits,
    "3": string.ascii_uppercase + "234567",
    "c": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "u": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
    "w": string.ascii_letters + string.digits + "_-.=",
    "q": string.ascii_letters + string.digits + "_~.-",
}

USERS = (
    "mkowalczyk", "jnovakova", "tlangenfeld", "aishakhan", "pperezruiz", "svenhalvor", "lindqvist", "rtanaka",
    "bosmanwout", "ofarrellc", "dimitrov", "yuliasid", "hgrunewald", "vbhattach", "fmoreau", "kwiatkowska",
)  # fmt: skip
FIRST = ("marek", "jana", "tobias", "aisha", "pilar", "sven", "linnea", "ryota", "wouter", "ciara", "yulia", "farid")
LAST = ("kowalczyk", "novakova", "langenfeld", "khalil", "perezruiz", "halvorsen", "lindqvist", "tanaka", "bosman")
COMPANIES = ("brightforge", "nordwerk", "halcyonlabs", "quantfeld", "tidewater-soft", "ostrava-data", "pelicanpay")
TLDS = ("com", "io", "de", "co.uk", "fr", "dev", "nl", "se")
MAILERS = ("gmail.com", "outlook.com", "web.de", "proton.me", "yahoo.co.jp", "icloud.com", "gmx.net")
WORDS = ("otter", "maple", "falcon", "copper", "harbor", "violet", "winter", "pepper", "rocket", "cactus", "lemon")


def chars(rng: random.Random, alphabet: str, length: int) -> str:
    """Characters of an alphabet; digits, small and capital letters all occur where there is room for them."""
    wanted = [
        kind for kind in (string.digits, string.ascii_lowercase, string.ascii_uppercase) if set(kind) & set(alphabet)
    ]
    made = ""
    for _ in range(1000):
        made = "".join(rng.choice(alphabet) for _ in range(length))
        plain = length < 2 or (made[0].isalnum() and made[-1].isalnum())
        if plain and (length < 10 or all(set(kind) & set(made) for kind in wanted)):
            break
    return made


def base62(number: int, width: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, 62)
        digits = BASE62[rest] + digits
    return digits.rjust(width, "0")


def with_crc(rng: random.Random, prefix: str) -> str:
    """A token of GitHub's (and npm's) making: thirty characters and their CRC-32."""
    body = chars(rng, ALPHABETS["a"], 30)
    return f"{prefix}{body}{base62(zlib.crc32(body.encode()), 6)}"


def b64(data: bytes | str) -> str:
    return base64.b64encode(data.encode() if isinstance(data, str) else data).decode()


def b64url(data: bytes | str) -> str:
    return base64.urlsafe_b64encode(data.encode() if isinstance(data, str) else data).decode().rstrip("=")


def jwt(rng: random.Random) -> str:
    header = json.dumps({"alg": "HS256", "typ": "JWT"}, separators=(",", ":"))
    claims = {"sub": chars(rng, string.digits, 10), "name": rng.choice(FIRST), "iat": 1700000000 + rng.randrange(10**7)}
    return f"{b64url(header)}.{b64url(json.dumps(claims, separators=(',', ':')))}.{chars(rng, ALPHABETS['u'], 43)}"


def unsigned_jwt(rng: random.Random) -> str:
    return jwt(rng).rsplit(".", 1)[0] + "."


def card(rng: random.Random, prefix: str, length: int) -> str:
    """A card number that passes Luhn's test."""
    body = prefix + chars(rng, string.digits, length - len(prefix) - 1)
    total = 0
    for place, digit in enumerate(reversed(body)):
        value = int(digit) * (2 if place % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return body + str(-total % 10)


def grouped(text: str, mark: str, *sizes: int) -> str:
    groups, start = [], 0
    for size in sizes:
        groups.append(text[start : start + size])
        start += size
    return mark.join(group for group in groups if group)


def iban(rng: random.Random, country: str, bban: str) -> str:
    """An account number whose check digits are right (ISO 7064, modulo 97)."""
    account = expand(rng, bban)
    number = int("".join(str(int(char, 36)) for char in f"{account}{country}00"))
    return f"{country}{98 - number % 97:02}{account}"


def ssn(rng: random.Random) -> str:
    return f"{rng.randrange(1, 666):03}-{rng.randrange(1, 99):02}-{rng.randrange(1, 9999):04}"


def public4(rng: random.Random) -> str:
    first = rng.choice((18, 34, 46, 52, 62, 78, 85, 91, 104, 138, 151, 178, 185, 212))
    return f"{first}.{rng.randrange(20, 250)}.{rng.randrange(20, 250)}.{rng.randrange(2, 250)}"


def private4(rng: random.Random) -> str:
    tail = f"{rng.randrange(2, 250)}.{rng.randrange(2, 250)}"
    return rng.choice((f"10.{rng.randrange(2, 250)}.{tail}", f"192.168.{tail}", f"172.{rng.randrange(16, 31)}.{tail}"))


def public6(rng: random.Random) -> str:
    return "2a02:" + ":".join(f"{rng.randrange(4096, 65535):x}" for _ in range(7))


def short6(rng: random.Random) -> str:
    return f"2a01:{rng.randrange(4096, 65535):x}:{rng.randrange(4096, 65535):x}::{rng.randrange(2, 4095):x}"


def password(rng: random.Random, marks: str = "") -> str:
    """Twelve letters and digits, and each of the marks somewhere between them."""
    made = list(chars(rng, ALPHABETS["a"], 12))
    for mark in marks:
        made.insert(rng.randrange(2, len(made) - 1), mark)
    return "".join(made)


def words(rng: random.Random, mark: str) -> str:
    return mark.join(rng.sample(WORDS, 3)) + str(rng.randrange(10, 99))


def company(rng: random.Random) -> str:
    return f"{rng.choice(COMPANIES)}.{rng.choice(TLDS)}"


def email(rng: random.Random, tag: str = "", domain: str = "") -> str:
    name = f"{rng.choice(FIRST)}.{rng.choice(LAST)}{tag}"
    return f"{name}@{domain or rng.choice((*MAILERS, company(rng)))}"


def body(rng: random.Random, start: str, length: int, width: int) -> list[str]:
    """The lines of a key in base64."""
    text = start + chars(rng, ALPHABETS["b"], length - len(start) - 2) + "=="
    return [text[at : at + width] for at in range(0, len(text), width)]


def percent(text: str) -> str:
    return urllib.parse.quote(text, safe="")


MAKERS: dict[str, Callable[[random.Random], str]] = {
    "ghp": lambda rng: with_crc(rng, "ghp_"),
    "gho": lambda rng: with_crc(rng, "gho_"),
    "ghs": lambda rng: with_crc(rng, "ghs_"),
    "ghu": lambda rng: with_crc(rng, "ghu_"),
    "ghr": lambda rng: with_crc(rng, "ghr_"),
    "npm": lambda rng: with_crc(rng, "npm_"),
    "jwt": jwt,
    "jwt_unsigned": unsigned_jwt,
    "uuid": lambda rng: grouped(chars(rng, ALPHABETS["h"], 32), "-", 8, 4, 4, 4, 12),
    "pw": password,
    "pw_bang": lambda rng: password(rng, "!"),
    "pw_dollar": lambda rng: password(rng, "$$"),
    "pw_brackets": lambda rng: password(rng, "[]"),
    "pw_hash": lambda rng: password(rng, "#"),
    "pw_percent": lambda rng: password(rng, "%"),
    "pw_at": lambda rng: password(rng, "@!"),
    "pw_all": lambda rng: password(rng, "!#%^&*+~"),
    "pw_slash": lambda rng: password(rng, "/+"),
    "pw_comma": lambda rng: password(rng, ",;"),
    "pw_single": lambda rng: password(rng, "'"),
    "pw_double": lambda rng: password(rng, '"'),
    "pw_back": lambda rng: password(rng, "\\"),
    "pw_umlaut": lambda rng: password(rng, "üß"),
    "pw_colon": lambda rng: password(rng, ":"),
    "pw_braces": lambda rng: password(rng, "{})("),
    "pw_angle": lambda rng: password(rng, "<>"),
    "pw_spaces": lambda rng: words(rng, " "),
    "pw_dashes": lambda rng: words(rng, "-"),
    "pw_words": lambda rng: "".join(word.title() for word in rng.sample(WORDS, 2)) + str(rng.randrange(1000, 9999)),
    "pw_quoted_json": lambda rng: json.dumps(password(rng, '"'))[1:-1],
    "pw_url": lambda rng: percent(password(rng, "@:/")),
    "basic": lambda rng: b64(f"{rng.choice(USERS)}:{password(rng, '!')}"),
    "aws_secret": lambda rng: chars(rng, ALPHABETS["b"], 40),
    "aws_session": lambda rng: "FwoGZXIvYXdzE" + chars(rng, ALPHABETS["b"], 260) + "==",
    "sas": lambda rng: percent(chars(rng, ALPHABETS["b"], 43) + "="),
    "b64key": lambda rng: chars(rng, ALPHABETS["b"], 43) + "=",
    "user": lambda rng: rng.choice(USERS),
    "email": email,
    "email_tag": lambda rng: email(rng, f"+{rng.choice(WORDS)}"),
    "email_url": lambda rng: percent(email(rng)),
    "email_work": lambda rng: email(rng, "", company(rng)),
    "company": company,
    "host": lambda rng: f"{rng.choice(WORDS)}-{rng.randrange(1, 99):02}.{rng.choice(COMPANIES)}.internal",
    "machine": lambda rng: f"{rng.choice(WORDS)}-{rng.choice(('laptop', 'mbp', 'ws', 'build'))}{rng.randrange(10, 99)}",
    "ip": public4,
    "ip_private": private4,
    "ip6": public6,
    "ip6_short": short6,
    "visa": lambda rng: card(rng, "4", 16),
    "mastercard": lambda rng: card(rng, "5" + rng.choice("12345"), 16),
    "amex": lambda rng: card(rng, "37", 15),
    "visa_spaced": lambda rng: grouped(card(rng, "4", 16), " ", 4, 4, 4, 4),
    "mastercard_dashed": lambda rng: grouped(card(rng, "55", 16), "-", 4, 4, 4, 4),
    "amex_spaced": lambda rng: grouped(card(rng, "34", 15), " ", 4, 6, 5),
    "discover": lambda rng: card(rng, "6011", 16),
    "iban_de": lambda rng: iban(rng, "DE", "{d:18}"),
    "iban_gb": lambda rng: iban(rng, "GB", "{U:4}{d:14}"),
    "iban_nl": lambda rng: grouped(iban(rng, "NL", "{U:4}{d:10}"), " ", 4, 4, 4, 4, 4),
    "iban_fr": lambda rng: grouped(iban(rng, "FR", "{d:10}{K:11}{d:2}"), " ", 4, 4, 4, 4, 4, 4, 4),
    "ssn": ssn,
    "discord": lambda rng: (
        f"{b64url(chars(rng, ALPHABETS['n'], 18))}.{chars(rng, ALPHABETS['u'], 6)}.{chars(rng, ALPHABETS['u'], 27)}"
    ),
    "age": lambda rng: "AGE-SECRET-KEY-1" + chars(rng, ALPHABETS["c"], 58),
    "png": lambda rng: "iVBORw0KGgoAAAANSUhEUgAA" + chars(rng, ALPHABETS["b"], 180) + "=",
    "sri": lambda rng: "sha512-" + chars(rng, ALPHABETS["b"], 86) + "==",
}

_PLACE = re.compile(r"\{(\w):(\d+)\}")
_MARK = re.compile("«([^»]*)»|‹([^›]*)›")


def expand(rng: random.Random, pattern: str) -> str:
    if pattern in MAKERS:
        return MAKERS[pattern](rng)
    return _PLACE.sub(lambda found: chars(rng, ALPHABETS[found[1]], int(found[2])), pattern)


def fill(rng: random.Random, template: str) -> tuple[str, tuple[str, ...]]:
    """The template with its values, and those of them that are secrets."""
    secrets: dict[str, None] = {}
    known: dict[str, str] = {}

    def value(found: re.Match[str]) -> str:
        pattern = found[1] if found[1] is not None else found[2]
        if pattern not in known or "§" not in pattern:
            known[pattern] = expand(rng, pattern.split("§")[0])
        if found[1] is not None:
            secrets[known[pattern]] = None
        return known[pattern]

    return _MARK.sub(value, template), tuple(secrets)
