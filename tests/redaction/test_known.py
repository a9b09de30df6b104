"""What was recognised once in a session is hidden wherever it stands; names of people and cards in every form."""

from __future__ import annotations

import base64

import pytest

from sessions.engine.redact import BY_KEY, Choice, recognised, redact
from sessions.engine.redact.known import Known

ONCE = {
    "password of a setting": ("DB_PASSWORD=tiger-lily-4451", "DB password {}", "tiger-lily-4451"),
    "in another case": ("DB_PASSWORD=tiger-lily-4451", "say {}!", "TIGER-LILY-4451"),
    "in base64": ("DB_PASSWORD=tiger-lily-4451", "echo {}", base64.b64encode(b"use tiger-lily-4451 now").decode()),
    "in an address": ("DB_PASSWORD=tiger-lily-4451", "https://x.test/?q={}", "tiger%2Dlily-4451"),
    "out of base64": (
        f"Authorization: Basic {base64.b64encode(b'svc:Tiger!lily44').decode()}", "it was {}", "Tiger!lily44",
    ),
    "password in an address": ("postgres://app:p%40ss-word7@db.test/x", "log in with {}.", "p@ss-word7"),
    "passphrase": ('"password": "correct horse battery staple"', "type {}", "correct horse battery staple"),
    "host": ("ssh deploy@build07.corp.example uptime", "on {} it runs", "build07.corp.example"),
    "first part of a host": ("ssh deploy@build07.corp.example uptime", "the load of {}?", "build07"),
    "host of a prompt": ("mara@mq-thinkpad:~/shop$ make", "back on {}", "mq-thinkpad"),
    "name": ("From: Jane Doe <jane@acme.test>", "{} wrote it", "Jane Doe"),
    "name of a user": ("jane:x:1000:1000:Jane Doe,,,:/home/jane:/bin/bash", "{} wrote it", "Jane Doe"),
}  # fmt: skip


@pytest.mark.parametrize("name", ONCE)
def test_what_was_recognised_once_is_hidden_wherever_it_stands(name: str) -> None:
    first, frame, value = ONCE[name]
    text = frame.format(value)
    assert redact(text).text == text, "it is not known by itself"
    found = redact(text, Choice(known=Known(recognised(first)))).text
    assert found.startswith(frame.partition("{")[0])
    assert value not in found
    assert redact(found, Choice(known=Known(recognised(first)))).text == found


@pytest.mark.parametrize(
    ("first", "text"),
    [
        ("POSTGRES_PASSWORD=postgres", "start postgres now"),
        ("secretKey: Uint8Array", "new Uint8Array(4)"),
        ("PASSWORD=abc12", "abc12 is a room"),
        ("DB_PASSWORD=tiger-lily-4451", "tiger-lily-44512 and xtiger-lily-4451"),
        ("http://jenkins/", "the jenkins job"),
        ("Cookie: sid=a83bd83hd8x92jd8; theme=dark-2", "theme dark-2"),
    ],
)
def test_words_of_other_meaning_stay(first: str, text: str) -> None:
    known = Known(recognised(first))
    assert redact(text, Choice(known=known)).text == text


def test_a_kind_that_is_left_in_stays_everywhere() -> None:
    known = Known(recognised("ssh deploy@build07.corp.example uptime"))
    left = Choice(BY_KEY.keys() - {"hosts"}, known=known)
    assert redact("the load of build07", left).text == "the load of build07"


@pytest.mark.parametrize(
    "card",
    [
        "4111 1111 1111 1111", "4111-1111-1111-1111", "4111111111111111", "4111.1111.1111.1111",
        "4111\u00a01111\u00a01111\u00a01111", "4111  1111  1111  1111", "3782 822463 10005", "5500 0000 0000 0004",
    ],
)  # fmt: skip
@pytest.mark.parametrize("frame", ["{}", "**{}**", "card #{}, 12/27", "card_{}", '"{}"', "{}/12/27", "${}"])
def test_a_card_number_is_hidden_in_every_form(card: str, frame: str) -> None:
    assert redact(frame.format(card)).text == frame.format("[card]")


@pytest.mark.parametrize("text", ["4111 1111 1111 1112", "4111.1111111111111", "x = 0.4111111111111111"])
def test_other_numbers_stay(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    "frame",
    [
        "From: {} <[e-mail]>", 'To: "{}" <[e-mail]>', "Author: {} <[e-mail]>\nDate: now", "Author: {}\nDate: now",
        '{{"author": "{} <[e-mail]>"}}', "Signed-off-by: {} <[e-mail]>", "ask {} <[e-mail]>",
        'git config user.name "{}"',
        "git -c user.name='{}' commit",
        "user.name={}\nuser.email=[e-mail]", "[user]\n\temail = [e-mail]\n\tname = {}\n",
        "GIT_AUTHOR_NAME='{}' git commit", "^1a2b3c4 ({} 2026-01-01 10:00:00 +0100 12) x", "Login: jd  Name: {}",
        "jane:x:1000:1000:{}:[home]:/bin/bash", "jane:*:501:20:{}:[home]:/bin/zsh", "useradd -m -c '{}' jane",
        "From: {} &lt;[e-mail]&gt;",
    ],
)  # fmt: skip
@pytest.mark.parametrize("person", ["Jane Doe", "Jürgen O'Neil-Müller"])
def test_names_of_people_are_hidden_where_their_place_tells(frame: str, person: str) -> None:
    if "'{}'" in frame and "'" in person:
        person = "Jürgen Müller"
    given = frame.format(person).replace("[e-mail]", "jane@acme.test").replace("[home]", "/home/jane")
    assert redact(given).text == frame.format("[name]")


@pytest.mark.parametrize(
    "text",
    [
        "Co-Authored-By: Claude <noreply@anthropic.com>", "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin",
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin", "git config user.name $NAME",
        "user.name = req.body.name", "from: main to: release", "Author: unknown\n",
    ],
)  # fmt: skip
def test_what_names_nobody_keeps_its_name(text: str) -> None:
    assert "[name]" not in redact(text).text
