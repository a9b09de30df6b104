"""Losses of a very long session are counted some at each request, behind a page that is there at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from sessions import selectors
from sessions.engine.quality.assess import Assessor
from sessions.engine.quality.index import IndexBuilder
from sessions.models import Session
from sessions.pages.quality import view as quality
from sessions.runs import losses
from sessions.runs import quality as judging
from sessions.services import indexed
from sessions.services.gradually import Gradual
from tests.web.stored import store
from tests.web.test_quality_page import QUERY, story

pytestmark = pytest.mark.django_db
FRAGMENT = {"HX-Request": "true"}
MESSAGES = re.compile(r"Counting what was lost: (\d+) of (\d+) messages read<")
COMPACTIONS = re.compile(r"Counting what was lost: (\d+) of (\d+) compactions?<")


@pytest.fixture
def long(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session that counts as very long, of which each request does one step."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    found = store(story().encode(), "long.jsonl")
    monkeypatch.setattr(losses, "AT_ONCE", 10)
    monkeypatch.setattr(quality, "AT_ONCE", 10)
    for runs in (losses, judging):
        monkeypatch.setattr(runs, "SECONDS", -1)
    return found


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Messages read and lists judged from here on."""
    done: list[str] = []

    def counted(place: type, name: str, word: str) -> None:
        inside: Callable[..., object] = getattr(place, name)

        def counting(*given: object) -> object:
            done.append(word)
            return inside(*given)

        monkeypatch.setattr(place, name, counting)

    counted(IndexBuilder, "add", "read")
    counted(Assessor, "look", "judged")
    return done


def asked(client: Client, address: str) -> str:
    answer = client.get(address, headers=FRAGMENT)
    assert answer.status_code == 200
    return answer.content.decode()


def at_once(session: Session, monkeypatch: pytest.MonkeyPatch, address: str) -> str:
    """The same part of a session that is not very long."""
    selectors.weighed_cache.clear()
    with monkeypatch.context() as short:
        short.setattr(losses, "AT_ONCE", 10_000)
        return asked(Client(), address)


def test_a_replay_is_shown_before_its_losses_are_counted_some_at_each_request(
    client: Client, long: Session, work: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page, count = f"/s/{long.pk}/replay/?{QUERY}", f"/s/{long.pk}/replay/losses/?{QUERY}"
    first = client.get(page).content.decode()
    assert MESSAGES.search(first)
    assert work == [], "the page itself counts nothing"
    n_messages = long.n_messages
    for n in range(1, n_messages):
        found = MESSAGES.search(asked(client, count))
        assert found
        assert found.groups() == (str(n), str(n_messages))
    assert work == ["read"] * (n_messages - 1)
    work.clear()
    told = [COMPACTIONS.search(asked(client, count)) for _ in range(2)]
    n_total = int(told[0][2]) if told[0] else 0
    assert n_total > 2
    for _ in range(3, n_total):
        assert 'hx-target="#replay-view"' not in asked(client, count)
    assert 'hx-target="#replay-view"' in asked(client, count)
    assert work == ["read", *["judged"] * n_total], "each once, one in each request"
    work.clear()
    whole = asked(client, page)
    assert "Counting what was lost" not in whole
    assert work == ["judged"], "the chosen compaction in full"
    assert whole == at_once(long, monkeypatch, page)


def test_without_a_script_a_link_counts_on_and_leads_back(client: Client, long: Session) -> None:
    count = f"/s/{long.pk}/replay/losses/?{QUERY}"
    answer = client.get(count)
    assert answer.status_code == 302
    assert "1 of" in str(MESSAGES.search(client.get(answer.headers["Location"]).content.decode()))
    whole = f"/s/{long.pk}/quality/?{QUERY}&whole=1"
    pages = [client.get(whole).content.decode() for _ in range(3)]
    assert all(MESSAGES.search(page) and "<noscript>" in page for page in pages)


def test_the_losses_page_fills_in_when_all_is_judged(
    client: Client, long: Session, work: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = f"/s/{long.pk}/quality/?{QUERY}"
    n_asked = 0
    while "Counting what was lost" in (part := asked(client, page)):
        n_asked += 1
        assert n_asked < 200
        assert n_asked == len(work) - (work.count("read") == long.n_messages), "the last message with the first judged"
    assert work.count("read") == long.n_messages
    assert part == at_once(long, monkeypatch, page)


def test_where_the_upload_is_gone_nothing_is_asked_for_again(
    client: Client, long: Session, settings: Settings, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path / "elsewhere"
    part = asked(client, f"/s/{long.pk}/replay/losses/?{QUERY}")
    assert "hx-get" not in part
    assert 'role="status"' in part


@pytest.mark.parametrize("address", ["replay/losses", "quality"])
def test_what_fails_while_it_is_judged_fails_at_each_request_and_is_counted_once_it_can_be(
    client: Client, long: Session, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    page = f"/s/{long.pk}/{address}/?{QUERY}"
    for _ in range(long.n_messages - 1):
        assert "hx-get" in asked(client, page)
    with monkeypatch.context() as broken:
        broken.setattr(Assessor, "look", failing)
        for _ in range(3):
            assert "hx-get" not in asked(client, page)
    assert COMPACTIONS.search(asked(client, page))


def failing(*_: object) -> None:
    raise OSError("the disk is gone")


def test_one_that_ends_before_its_time_is_done() -> None:
    short = Gradual(3, lambda: iter([1, 2]))
    assert [short.go_on(-1).is_done for _ in range(3)] == [False, False, True]


def test_two_very_long_sessions_that_take_turns_are_both_read(
    client: Client, long: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kept in (indexed.INDEX, indexed.READING):
        monkeypatch.setattr(kept, "most", min(kept.most or 0, long.n_messages))
    lines = re.sub("00000000-0000|11111111-1111", "22222222-2222", story())
    other = store(lines.encode(), "other.jsonl")
    pages = [f"/s/{one.pk}/replay/losses/?{QUERY}" for one in (long, other)]
    assert len({*pages}) == 2
    asked_in_turn = [asked(client, page) for _ in range(long.n_messages) for page in pages]
    assert all(map(COMPACTIONS.search, asked_in_turn[-2:]))
