"""Secrets in the shapes that people write: where they stand, apart from what they look like."""

from __future__ import annotations

import base64
import json
import random
import string
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from sessions.engine.redact import EVERYTHING, Choice, redact

if TYPE_CHECKING:
    from collections.abc import Callable

DRAW = random.Random(27)
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def some(length: int, alphabet: str = ALNUM) -> str:
    """Drawn characters with a figure among the first."""
    return DRAW.choice("23456789") + "".join(DRAW.choices(alphabet, k=length - 1))


WORD = "Kr" + some(8) + "!"
KEY = some(40)
TOKEN = "ghp" + "_" + some(36)
B64 = base64.b64encode(f"svc:{some(18)}".encode()).decode()

GONE = {
    # Addresses, after any sign.
    "ip in an address": ("http://{}:8080/x", "10.77.31.5"),
    "ip of a setting": ("DB_HOST={}", "10.77.31.6"),
    "ip of a user": ("ssh root@{}", "10.77.31.7"),
    "ip after a dash": ("node-{}", "10.77.31.8"),
    "ip in a list": ("allow 10.1.2.3,{};", "203.0.113.77"),
    "ip and its net": ("route add {}/24", "172.20.4.0"),
    "ip of six": ("ping fd12:3456::7, {}", "2001:db8:4::17"),
    # Home folders.
    "home of an address": ("file:///home/{}/x.py", "tokafor"),
    "home in a mount": ("/mnt/c/Users/{}/repo", "tokafor"),
    "home of git bash": ("/c/Users/{}/repo", "tokafor"),
    "home on a server": ("/nfs/home/{}/data", "tokafor"),
    "home encoded": ("%2Fhome%2F{}%2Fsrc", "tokafor"),
    "home of a project": ("~/.claude/projects/-home-{}-proj/x.jsonl", "tokafor"),
    "home of Windows": ('"C:\\\\Users\\\\{}\\\\repo"', "tokafor"),
    "home with slashes": ("C:/Users/{}/repo", "tokafor"),
    # Passwords that begin like placeholders or hold signs.
    "password my_": ("DB_PASSWORD=my_{}", some(8)),
    "password test_": ('password: "test_{}"', some(8)),
    "password secret_": ("password='secret_{}'", some(8)),
    "password with a dollar": ("PASSWORD='pa$$w{}'", some(6)),
    "password with a bracket": ('password = "x[{}"', some(7)),
    "password with a space": ('"password": "{}"', "correct horse battery staple"),
    "password with a quote": ('{{"password": "ab\\"{}"}}', some(8)),
    # Commands.
    "curl -u": ("curl -u admin:{} https://x.test/", WORD),
    "curl --user": ("curl -s --user 'admin:{}' https://x.test/", WORD),
    "--password": ("tool --password {} --verbose", WORD),
    "--password=": ("tool --db-password={} --verbose", WORD),
    "mysql -p": ("mysql -u root -p{} shop", WORD),
    "sshpass": ("sshpass -p {} ssh x", WORD),
    "sshpass quoted": ("sshpass -p '{}' ssh x", WORD),
    "docker login": ("docker login -u bot -p {} registry.test", WORD),
    "redis-cli": ("redis-cli -h cache -a {} ping", WORD),
    # Files.
    "netrc": ("machine x.test login bot password {}", WORD),
    "netrc in lines": ("machine x.test\n  login bot\n  password {}\n", WORD),
    "pgpass": ("db.test:5432:shop:app:{}", WORD),
    "db_pass": ("db_pass={}", "hunterhunter"),
    "docker auth": ('{{"auths": {{"r.test": {{"auth": "{}"}}}}}}', B64),
    "WireGuard": ("[Interface]\nPrivateKey = {}\n", base64.b64encode(DRAW.randbytes(32)).decode()),
    "npmrc": ("//registry.test/:_authToken={}", KEY),
    "xml": ("<DbPassword>{}</DbPassword>", WORD),
    "appsettings": ('<add key="DbPassword" value="{}" />', WORD),
    "Kubernetes": ("- name: DB_PASSWORD\n  value: {}\n", WORD),
    "Kubernetes JSON": ('{{"name": "API_TOKEN", "value": "{}"}}', KEY),
    "connection string": ("Server=x;User Id=sa;Password={};Encrypt=true", WORD),
    "SQL": ("CREATE USER app WITH PASSWORD '{}';", WORD),
    "PHP": ("define('DB_PASSWORD', '{}');", WORD),
    "a sentence": ("The password is {} for now.", WORD),
    "typed": ('password: str = "{}"', WORD),
    # Keys by their names in any spelling.
    "PascalCase": ('"SecretAccessKey": "{}"', KEY),
    "camelCase": ('"clientSecret": "{}"', some(8) + "~" + some(30)),
    "kebab-case": ("client-secret: {}", KEY),
    "dots": ("spring.datasource.password={}", WORD),
    "X-Amz-Signature": ("https://b.s3.test/k?X-Amz-Expires=60&X-Amz-Signature={}", some(64, HEX)),
    "SAS": ("https://a.blob.test/c?sv=2024&sig={}&se=1", quote(some(42) + "/=", safe="")),
    "access_token": ("https://x.test/cb#access_token={}&state=1", KEY),
    "X-Api-Key": ("X-Api-Key: {}", KEY),
    "header token": ("Authorization: token {}", KEY),
    "header in Python": ('headers={{"Authorization": "Token {}"}}', KEY),
    "header in Python, bearer": ("{{'Authorization': 'Bearer {}'}}", KEY),
    "cookie": ("Cookie: sessionid={}; theme=dark", some(32)),
    "set-cookie": ("Set-Cookie: sid={}; Path=/; HttpOnly", some(32)),
    # Keys and tokens by what they look like.
    "supabase": ("key sb_secret_{}", some(31)),
    "1Password": ("ops_eyJ{}", some(300)),
    "CircleCI": ("CCIPAT_{}", some(22) + "_" + some(40, HEX)),
    "PostHog": ("phx_{}", some(43)),
    "Azure": ("x {} y", "aB3" + some(1) + "Q~" + some(34)),
    "after a low line": ("mcp__{}", TOKEN),
    "after a dash": ("x-{}", TOKEN),
    "IBAN": ("IBAN {}", "GB82 WEST 1234 5698 7654 32"),
    "SSN": ("SSN: {}", "219-09-9998"),
    "e-mail, other end": ("ask {}", "mara@acme.museum"),
    "e-mail, other letters": ("ask {}", "müller@bücher.example"),
    "e-mail, xn--": ("ask {}", "mara@xn--bcher-kva.xn--p1ai"),
    "phone of a setting": ("PHONE={}", "+4915123456789"),
    "address with signs": ("postgres://app:{}@db.test/main", "pa$$[x]" + some(4)),
}  # fmt: skip


@pytest.mark.parametrize("name", GONE)
def test_every_place_and_look_is_found(name: str) -> None:
    frame, secret = GONE[name]
    text = frame.format(secret)
    assert secret in text.replace("%2B", "+")
    found = redact(text).text
    assert secret not in found, found
    assert secret[3:9] not in found, found


WRAPPED: dict[str, Callable[[str], str]] = {
    "JSON": json.dumps,
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)),
    "unicode": lambda text: "".join(f"\\u{ord(c):04x}" for c in text),
    "unicode quotes": lambda text: text.replace('"', "\\u0022"),
    "address": lambda text: quote(text, safe=""),
    "address twice": lambda text: quote(quote(text, safe=""), safe=""),
    "without width": lambda text: text[:9] + "\u200b".join(text[9:16]) + text[16:],
    "without width, escaped": lambda text: text[:12] + "\\u200b" + text[12:],
    "HTML": lambda text: text.replace('"', "&quot;").replace("@", "&#64;"),
    "lines of 40": lambda text: "\n".join(textwrap.wrap("The value that we have talked about is this: " + text, 40)),
    "columns of 40": lambda text: "\n".join(textwrap.wrap(text + " and some more words behind it, to be cut", 40)),
    "base64": lambda text: base64.b64encode(f"config:\n{text}\n".encode()).decode(),
    "base64 in lines": lambda text: base64.encodebytes(f"config: some text before it\n{text}\n".encode()).decode(),
}
PIECES = {
    "key": ("{}", "sk-ant-api03" + "-" + some(90)),
    "token": ("{}", TOKEN),
    "setting": ("API_KEY={}", some(44)),
    "json key": ('{{"api_key": "{}"}}', some(44)),
    "address": ("postgres://app:{}@db.test:5432/main", some(16)),
    "mail": ("mail {} now", "mara.lind@acme-data.com"),
}


@pytest.mark.parametrize("way", WRAPPED)
@pytest.mark.parametrize("piece", PIECES)
def test_what_is_encoded_or_wrapped_is_found(way: str, piece: str) -> None:
    frame, secret = PIECES[piece]
    text = WRAPPED[way](frame.format(secret))
    hits = redact(text).hits
    assert hits, text
    left = "".join(text[a.end : b.start] for a, b in pairwise(hits))
    left += text[: hits[0].start] + text[hits[-1].end :]
    assert secret[8:14] not in left.replace("\n", ""), left
    assert secret[-4:] not in left, left


STAYS = (
    "your-api-key-here", "<your-token>", "${DB_PASSWORD}", "$DB_PASSWORD", "xxxxxxxx", "changeme", "CHANGE_ME",
    "********", "{{ password }}", "%DB_PASSWORD%", "[your password]", "...", "my_password", "your_password",
)  # fmt: skip


@pytest.mark.parametrize("value", STAYS)
@pytest.mark.parametrize("frame", ["DB_PASSWORD={}", 'password: "{}"', "API_KEY={}", "--password {}"])
def test_a_placeholder_stays(value: str, frame: str) -> None:
    assert redact(frame.format(value)).text == frame.format(value)


@pytest.mark.parametrize(
    "text",
    [
        'password = os.environ["DB_PASSWORD"]',
        'token = os.getenv("API_TOKEN")',
        "password=process.env.DB_PASSWORD",
        "const password = req.body.password;",
        "password: z.string().min(8)",
        '{"password": "Enter your password"}',
        '"password": {"type": "string"}',
        'fields = ["username", "password", "email"]',
        "password := getPassword(ctx)",
        "Windows 10.0.19041.1",
        "v1.2.3.4",
        "version 1.2.3.4",
        'Version="4.0.0.0"',
        "Chrome/120.0.0.0 Safari/537.36",
        "libfoo-1.2.3.4.tar.gz",
        "foo==1.2.3.4",
        "lodash@1.2.3.4",
        '<path d="M10 8.5.3.2 1.4.5.6l1.1.2.3.4-.5.6.7.8z"/>',
        '<path d="M8 0C3.58 0 0 3.58 0 8c0 3.54 2.29 6.53 5.47 7.59.4.07.55-.17.55-.38 0-.19 2.12.51.56.82.72"/>',
        "max_tokens=4096, next_page_token=abc",
        "the token limit is 200000",
        "key: value",
        "sort_key=created_at_2024",
        "git@github.com:acme/shop.git",
        "@pytest.fixture",
        "icon@2x.png",
        "x = w@self.weights",
        '"sessionId": "0b8e7f5e-8f0d-4d3b-9d2c-3f0c1f6f2a11"',
        "DE89 is how an IBAN begins",
        "part 123-45-678",
    ],
)
def test_what_is_none_stays(text: str) -> None:
    assert redact(text).text == text


def test_words_of_ones_own_are_found_in_escapes_and_without_width() -> None:
    choice = Choice(frozenset(), ("Northwind",))
    for text in ("North\u200bwind", "\\u004eorthwind", "%4eorthwind", "Northwind"):
        assert redact(f"to {text} now", choice).text == "to [hidden] now"


def test_what_tests_and_code_print_is_no_password() -> None:
    for text in (
        "--- PASS: TestHash/empty_string_(main_7) (0.00s)",
        "All tests pass: `mise run test:ci`",
        "grep -E '(FAIL|PASS|ok|---)'",
        'problems identified by "Cursor" and others',
        '"AWS::EC2::KeyPair": "349deb28f79434e4"',
        "token = self._code.get_token(1, 0)",
        "Session: 2026-01-23-914e68cc-d156-4742-8af4-439ddb54a7c0",
        '"node_id":"MDQ6VXNlcjMzNjk0MDA="',
        "arn:aws:secretsmanager:us-west-2:111122223333:secret:mySecret1",
    ):
        assert redact(text).text == text


def test_nothing_is_found_twice() -> None:
    for frame, secret in GONE.values():
        once = redact(frame.format(secret)).text
        assert redact(once, EVERYTHING).text == once
