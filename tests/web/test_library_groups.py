"""Many conversations of one file are one row of the library, with their sums; it unfolds, filters, sorts and pages."""

from __future__ import annotations

import datetime as dt
import re
import uuid

import pytest
from django.test import Client

from sessions import selectors
from sessions.models import Session
from sessions.pages.library.context import FIRST_ROWS
from sessions.selectors.files import GROUPED_FROM, key
from tests.web.rows import NOON, make_file, make_session

pytestmark = pytest.mark.django_db


def get(client: Client, url: str, **headers: str) -> str:
    response = client.get(url, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def rows(html: str) -> list[str]:
    """The names of the rows, those of files with a "+"."""
    links = re.findall(r'<a class="name"([^>]*)>(?:<svg.*?</svg>)?([^<]*)</a>', html)
    return [f"{'+' if 'data-unfold' in attributes else ''}{name}" for attributes, name in links]


def test_a_file_with_many_sessions_is_one_row_with_its_sums(client: Client) -> None:
    found = make_file(1, 200, n_images=1, worst_overcount=4.0, worst_message=2)
    Session.objects.filter(pk=found[7].pk).update(n_compactions=2, worst_overcount=700.0, tokens_label="estimated")
    make_session(2)
    html = get(client, "/")
    assert rows(html) == ["Session 2", "+file-1.jsonl"]
    assert "200 sessions in one file" in html
    assert "2 of 2 rows, 201 sessions" in html
    (group,) = selectors.session_list(grouped=True).groups.values()
    assert (group.n_sessions, group.n_messages, group.tokens) == (200, 2_000, 60_000)
    assert (group.n_images, group.n_compactions, group.worst_overcount) == (200, 2, 700.0)
    assert (group.label, group.model) == ("estimated", "claude-opus-4-8")


def test_few_sessions_of_a_file_stay_rows_of_their_own(client: Client) -> None:
    make_file(1, GROUPED_FROM - 1)
    assert len(rows(get(client, "/"))) == GROUPED_FROM - 1


def test_files_of_an_archive_are_apart() -> None:
    for n, session in enumerate(make_file(1, 2 * GROUPED_FROM)):
        session.member = "a.json" if n % 2 else f"{n}.json"
        session.save()
    page = selectors.session_list(grouped=True)
    assert page.total == GROUPED_FROM + 1
    (group,) = page.groups.values()
    assert group.n_sessions == GROUPED_FROM


def test_it_unfolds_in_place_and_as_a_page(client: Client) -> None:
    upload = make_file(1, 8)[0].upload
    make_session(2)
    address = f"/?file={key(upload.pk, '')}"
    assert f'hx-get="{address}"' in get(client, "/")
    part = get(client, address, **{"HX-Request": "true", "HX-Target": "group-s_000001"})
    assert "<html" not in part
    assert len(rows(part)) == part.count('data-of="group-s_000001"') == 8
    page = get(client, address)
    assert len(rows(page)) == 8
    assert "file: file-1.jsonl" in page
    assert rows(get(client, f"/?file={uuid.uuid4()}")) == rows(get(client, "/?file=nonsense")) == []


def test_a_long_file_unfolds_to_its_first_rows_and_leads_to_all(client: Client) -> None:
    upload = make_file(1, FIRST_ROWS + 10)[0].upload
    part = get(client, f"/?file={upload.pk}", **{"HX-Request": "true", "HX-Target": "group-s_000001"})
    assert len(rows(part)) == FIRST_ROWS
    assert f"All {FIRST_ROWS + 10} sessions of this file" in part


@pytest.mark.parametrize(
    ("sort", "place"), [("tokens", 0), ("-tokens", 2), ("messages", 0), ("last", 0), ("-last", 0), ("title", 1)]
)
def test_it_stands_where_its_first_session_would(client: Client, sort: str, place: int) -> None:
    make_session(1, title="A", tokens=100)
    make_session(2, title="Z", tokens=50)
    found = make_file(3, GROUPED_FROM, title="M", tokens=200)
    Session.objects.filter(pk=found[1].pk).update(n_messages=99, ended_at=NOON + dt.timedelta(hours=9))
    Session.objects.filter(pk=found[2].pk).update(ended_at=NOON - dt.timedelta(hours=9))
    assert rows(get(client, f"/?sort={sort}")).index("+file-3.jsonl") == place


def test_a_filter_counts_those_that_match(client: Client) -> None:
    found = make_file(1, 12)
    Session.objects.filter(pk__in=[one.pk for one in found[:6]]).update(n_compactions=1)
    Session.objects.filter(pk__in=[one.pk for one in found[:2]]).update(n_images=1)
    html = get(client, "/?only=compacted")
    assert rows(html) == ["+file-1.jsonl"]
    assert "6 matching sessions in one file" in html
    assert "only=compacted&amp;file=" in html or "file=" in html
    assert len(rows(get(client, "/?only=images"))) == 2


def test_pages_hold_every_row_once(client: Client) -> None:
    for n in range(1, FIRST_ROWS + 2):
        make_session(n)
    for n in range(1, 4):
        make_file(100 + n, GROUPED_FROM)
    first = get(client, "/")
    assert len(rows(first)) == FIRST_ROWS
    seen = rows(first) + rows(get(client, f"/?start={FIRST_ROWS}"))
    assert len(seen) == len(set(seen)) == FIRST_ROWS + 1 + 3


def test_lists_for_programs_stay_flat(client: Client) -> None:
    make_file(1, GROUPED_FROM)
    assert len(client.get("/sessions.json").json()["sessions"]) == GROUPED_FROM
    assert len(selectors.session_list().sessions) == GROUPED_FROM


def test_what_has_no_date_says_so(client: Client) -> None:
    make_session(1, ended_at=None)
    assert ">unknown</td>" in get(client, "/")
