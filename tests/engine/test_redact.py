"""Secrets never survive, everything else does, and twice is the same as once."""

from __future__ import annotations

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.redact import Choice, name_in, redact
from sessions.engine.redact.kinds import BY_KEY, EMAILS, HOMES, KEYS, PASSWORDS, PRIVATE, TOKENS

ALNUM = string.ascii_letters + string.digits
WORDS = st.text(alphabet=string.ascii_lowercase + " .,\n()", max_size=60)


def _of(length: int, alphabet: str = ALNUM) -> st.SearchStrategy[str]:
    return st.text(alphabet=alphabet, min_size=length, max_size=length)


def _with(prefix: str, length: int, alphabet: str = ALNUM) -> st.SearchStrategy[str]:
    return _of(length, alphabet).map(lambda tail: prefix + tail)


SECRETS = {
    "anthropic": (KEYS, _with("sk-ant-api03-", 80)),
    "openai": (KEYS, _with("sk-proj-", 48)),
    "openai old": (KEYS, _with("sk-", 48)),
    "google": (KEYS, _with("AIza", 35)),
    "aws id": (KEYS, _with("AKIA", 16, string.ascii_uppercase + string.digits)),
    "stripe": (KEYS, _with("sk_live_", 24)),
    "groq": (KEYS, _with("gsk_", 52)),
    "github": (TOKENS, _with("ghp_", 36)),
    "github fine": (TOKENS, _with("github_pat_", 60)),
    "gitlab": (TOKENS, _with("glpat-", 20)),
    "slack": (TOKENS, _with("xoxb-1", 40)),
    "hugging face": (TOKENS, _with("hf_", 34)),
    "jwt": (TOKENS, st.tuples(_of(20), _of(30), _of(43)).map(lambda p: f"eyJ{p[0]}.eyJ{p[1]}.{p[2]}")),
}


@pytest.mark.parametrize("sort", SECRETS)
@given(data=st.data())
def test_a_secret_never_survives(sort: str, data: st.DataObject) -> None:
    name, strategy = SECRETS[sort]
    secret = data.draw(strategy)
    before, after = data.draw(WORDS), data.draw(WORDS)
    # a word that runs into the secret is another word: secrets stand after a space, a quote or an equals sign
    found = redact(f"{before} {secret} {after}")
    assert secret not in found.text
    assert found.counts[name] >= 1
    assert before in found.text
    assert after in found.text


@pytest.mark.parametrize("tail", ["A" * 48, "A" * 41 + "0" * 7, "0" * 48, "aB" * 16])
def test_a_key_without_a_figure_near_its_start_is_one(tail: str) -> None:
    for prefix in ("sk-proj-", "sk-"):
        assert redact(f"key {prefix}{tail} end").text == f"key {KEYS.marker} end"


def test_words_behind_sk_are_no_key() -> None:
    text = "sk-some-longer-name-of-a-branch-without-figures and sk-learn"
    assert redact(text).text == text


@given(st.text(max_size=400))
def test_twice_is_the_same_as_once(text: str) -> None:
    once = redact(text)
    assert redact(once.text).text == once.text


@given(st.lists(st.sampled_from([
    "sk-ant-" + "a1" * 20, "password: hunter2hunter", "https://bob:s3cret@example.org/x", "mail me@example.org now",
    "/home/mara/src", "Bearer " + "x9" * 12, "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
    "API_KEY=" + "q7" * 12, "plain words", "\n", '"token": "' + "z8" * 10 + '"',
]), max_size=8), st.sampled_from([" ", "\n", ", ", '"', "\\n"]))  # fmt: skip
def test_a_second_pass_finds_nothing(parts: list[str], joint: str) -> None:
    assert redact(redact(joint.join(parts)).text).counts == {}


@given(st.text(alphabet=string.ascii_letters + " .,;!?\n\t#*_-()[]{}<>'\"", max_size=500))
def test_prose_without_digits_and_signs_is_left_alone(text: str) -> None:
    found = redact(text)
    if set(found.counts) <= {PRIVATE}:
        assert found.text == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgres://app:hunter2@db/prod", "postgres://app:[password]@db/prod"),
        ("redis://:hunter2@cache:6379/0", "redis://:[password]@cache:6379/0"),
        ("Authorization: Bearer abcdef0123456789abcdef", "Authorization: Bearer [token]"),
        ('{"password": "correct horse"}', '{"password": "[password]"}'),
        ('{"password": "correct-horse"}', '{"password": "[password]"}'),
        ("STRIPE_KEY=sk_live_0123456789abcdef0123", "STRIPE_KEY=[key]"),
        ("export MY_API_KEY='0123456789abcdef'", "export MY_API_KEY='[key]'"),
        ("PASSWORD=hunterhunter", "PASSWORD=[password]"),
        ("password: hunter2hunter", "password: [password]"),
        ("author: mara@example.org", "author: [e-mail]"),
        ("cd /home/mara/storefront/src", "cd [home]/storefront/src"),
        ("/Users/Mara/x and C:\\Users\\Mara\\x", "[home]/x and [home]\\x"),
        ("curl https://grafana.internal/x", "curl https://[host]/x"),
        ('{"host": "db.internal"}', '{"host": "[host]"}'),
        ("http://build-01:8080/ or http://jenkins/", "http://[host]:8080/ or http://[host]/"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = [key]"),
    ],
)
def test_what_is_shown_instead(text: str, shown: str) -> None:
    assert redact(text).text == shown


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens: 128000 and n_tokens = 4096",
        "token = get_token()",
        "password: required",
        "function login(user: string, password: string): void",
        "the secret: nobody reads these",
        "see https://example.org:8080/a@b",
        "a decorator @pytest.fixture and user@host",
        "git@github.com is not shown as an address without a dot after it? it has one",
        "task-sk-learn-something-long-enough-to-look-odd",
        "cache_key = f'{name}:{size}'",
        "just normal text here",
        "import app.internal; self.local = settings.local; http://localhost:8400/ or http://redis:6379, http://host:80",
    ],
)
def test_ordinary_text_is_not_flagged(text: str) -> None:
    counts = dict(redact(text).counts)
    counts.pop(EMAILS, None)
    assert counts == {}


def test_a_private_key_block_goes_whole_even_when_cut_off() -> None:
    block = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAA\n-----END OPENSSH PRIVATE KEY-----"
    assert redact(f"a {block} b").text == "a [private key] b"
    assert redact("x -----BEGIN RSA PRIVATE KEY-----\nMIIE").text == "x [private key]"
    assert redact(block.replace("\n", "\\n")).counts == {PRIVATE: 1}


def test_a_kind_can_stay() -> None:
    choice = Choice(frozenset(BY_KEY) - {"emails"})
    assert redact("mara@example.org", choice).text == "mara@example.org"
    assert redact("mara@example.org and password=abc123def", choice).counts == {PASSWORDS: 1}


@pytest.mark.parametrize(
    ("folder", "text", "shown"),
    [
        ("/home/soph/work", "soph@box, Soph, sophie", "[hidden]@box, [hidden], sophie"),
        (r"C:\Users\soph\work", "Author: soph", "Author: [hidden]"),
        ("/Users/soph", "/tmp/soph/x", "/tmp/[hidden]/x"),
        ("/home/runner/work", "the runner", "the runner"),
        ("/srv/soph", "soph", "soph"),
    ],
)
def test_a_home_folder_tells_the_users_name(folder: str, text: str, shown: str) -> None:
    assert redact(text, Choice(frozenset(), name_in(folder))).text == shown


def test_words_of_ones_own_go_in_any_case_and_by_expression() -> None:
    choice = Choice(frozenset(), ("Northwind", r"/ticket-\d+/"))
    assert redact("northwind and TICKET-77, a+b", choice).text == "[hidden] and [hidden], a+b"
    with pytest.raises(ValueError, match="no regular expression"):
        Choice(words=("/(/",))
    with pytest.raises(ValueError, match="unknown kind"):
        Choice(frozenset({"colours"}))


@pytest.mark.parametrize(
    "word",
    [
        "/(a+)+$/",
        "/(a|a)*b/",
        "/a*a*a*b/",
        r"/(?:\b){400000000}/",
        "/(?:(?:ab){999}){999}/",
        "/(?=(a+)+$)x/",
        r"/\*+\*+/",
    ],
)
def test_an_expression_that_could_hold_up_a_reader_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match="too many ways"):
        Choice(words=(word,))


@pytest.mark.parametrize(
    ("word", "text"),
    [
        (r"/cust-\d+/", "cust-" + "7" * 12),
        (r"/acme\s*corp/", "ACME   corp"),
        (r"/(x|y)\1/", "yy"),
        (r"/[*+]+?z/", "*+*z"),
        (r"/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/", "0123abcd-0a0b-0c0d"),
        ("/(?s)begin.{0,9}end/", "begin\nend"),
        (r"/\d*+z/", "77z"),
    ],
)
def test_expressions_that_end_are_taken(word: str, text: str) -> None:
    choice = Choice(frozenset(), ("Northwind", "/(n)o-such/", word))
    assert redact(f"<{text}>", choice).text == "<[hidden]>"


def test_expressions_together_have_a_bound() -> None:
    one = r"/a+b+/"
    assert redact("aab", Choice(frozenset(), (one,))).text == "[hidden]"
    with pytest.raises(ValueError, match="too many ways"):
        Choice(words=(one, r"/c+d+/"))


def test_pieces_that_overlap_go_as_one() -> None:
    found = redact('password="ghp_' + "a1" * 18 + '!"')
    assert found.text == 'password="[token]"'
    assert [hit.kind for hit in found.hits] == [TOKENS]


def test_one_of_a_kind_is_told_as_one() -> None:
    assert (PASSWORDS.noun(1), PASSWORDS.noun(2)) == ("password", "passwords")
    assert all(kind.one != kind.name for kind in BY_KEY.values())


def test_home_folders_are_counted_each() -> None:
    assert redact("/home/a/x /home/b/y").counts == {HOMES: 2}


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a.",
        "a@",
        "A_",
        "a-",
        "://",
        "password=",
        "eyJ",
        "sk-",
        "/home/",
        "-----BEGIN PRIVATE KEY-----",
        'password="a',
        "pass ",
        "%25",
        "\\u00",
        "\\",
        "key: {",
        "k|\n-|-\n",
        "curl -u ",
        "x9" * 20 + "\n",
        "eyJa",
        "1.",
        "&amp;",
    ],
)
def test_time_is_linear(unit: str) -> None:
    def took(n: int) -> float:
        start = time.process_time()
        redact(unit * (n // len(unit)))
        return time.process_time() - start

    # What else the machine does lengthens some runs, never the shortest; a square would be a hundred times as long.
    took(1_000)
    short = max(min(took(20_000) for _ in range(3)), 0.01)
    assert any(took(200_000) < 40 * short for _ in range(5))
