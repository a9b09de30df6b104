"""The library: rows and projects, filters, sort, paging, search, exports, first run."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.why.causes import CAUSES, MEDIA
from sessions.models import Job, Session, SessionFigures, Upload
from sessions.pages.library import state as urlstate
from sessions.pages.library.context import FIRST_ROWS, MORE_ROWS
from sessions.selectors import get_session
from sessions.selectors.library import PROJECTS, SHOWN, neighbours
from sessions.services.work import work_one
from tests.web.rows import NOON, make_session
from tests.web.stored import pressed, store

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def names(html: str) -> list[str]:
    return re.findall(r'<a class="name"[^>]*>([^<]*)</a>', html)


def get(client: Client, path: str, **headers: str) -> str:
    response = client.get(path, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def test_first_run_offers_the_demo_and_a_plain_upload_form(client: Client) -> None:
    html = get(client, "/")
    assert "What fills your agent" in html
    assert 'action="/demo/"' in html
    assert 'enctype="multipart/form-data"' in html
    assert "×1,540" in html


def test_an_upload_under_way_is_not_a_first_run(client: Client) -> None:
    upload = Upload.objects.create(sha256="1" * 64, filename="big.jsonl", n_bytes=10, status="reading")
    Job.objects.create(upload=upload, total_bytes=10, done_bytes=5, state="reading", heartbeat_at=NOON)
    html = get(client, "/")
    assert "What fills your agent" not in html
    assert "big.jsonl" in html
    upload.status, upload.error = "failed", "no format"
    upload.save()
    assert "What fills your agent" in get(client, "/")


def test_a_row_says_what_happened_how_full_it_got_and_what_it_cost(client: Client) -> None:
    made = make_session(1, title="Pay <b>button</b>", worst_overcount=1540.2, worst_message=37, n_compactions=2,
                        peak_context=150_000, peak_label="measured", wrong_cause=CAUSES[MEDIA])  # fmt: skip
    SessionFigures.objects.create(session=made, rules=1, dollars=5.77)
    make_session(2, n_compactions=1)
    make_session(3, n_compactions=4)
    make_session(4)
    make_session(5, title="Seen", worst_overcount=66.0, worst_message=3, n_compactions=6)
    make_session(6, peak_context=296_000, window=200_000, peak_label="measured")
    rows = get(client, "/").split('<tbody id="lib-rows">')[1].split("</tbody>")[0]
    for text in (
        "Pay &lt;b&gt;button&lt;/b&gt;", CAUSES[MEDIA], ">×1,540</span>", "75%", "150,000 tokens", "$5.77",
        'href="/s/s_000001/?m=37#m-37"', "Compacted once", "Compacted 4 times", "Never needed to compact",
        "Over its window",
    ):  # fmt: skip
        assert text in rows
    seen = rows.split(">Seen</a>")[1].split("</tr>")[0]
    assert "overcount" not in seen, "nothing followed from it"
    assert "Compacted 6 times" in seen
    found = get(client, "/?only=overcount").split(">Seen</a>")[1].split("</tr>")[0]
    assert "overcount <span" in found, "the reader asked for it"


def in_project(n: int, project: str, **fields: object) -> None:
    SessionFigures.objects.create(session=make_session(n, **fields), rules=1, project=project, dollars=1.5)


def test_sessions_stand_under_their_projects_the_newest_first(client: Client) -> None:
    for n in range(1, SHOWN + 3):
        in_project(n, "/home/x/old")
    in_project(90, "/home/x/new")
    make_session(99, title="Nowhere")
    html = get(client, "/")
    assert re.findall(r'"proj-name">([^<]*)<', html) == ["new", "old", "No project"]
    assert names(html) == ["Session 90", *(f"Session {n}" for n in range(SHOWN + 2, 2, -1)), "Nowhere"]
    assert 'href="/?project=%2Fhome%2Fx%2Fold"' in html
    assert f">All {SHOWN + 2} sessions</a>" in html
    assert "$12.00" in html
    assert "of them" not in html
    assert len(names(get(client, "/?project=%2Fhome%2Fx%2Fold"))) == SHOWN + 2
    for flat in ("/?by=none", "/?sort=title", "/?q=Session"):
        assert "proj-name" not in get(client, flat)


def test_a_sum_says_how_many_sessions_of_a_project_it_covers(client: Client) -> None:
    in_project(1, "/home/x/mine")
    in_project(2, "/home/x/mine")
    make_session(3)
    SessionFigures.objects.filter(session__title="Session 2").update(dollars=None)
    assert re.search(r"2 sessions, .*?\$1\.50.*? for 1 of them", get(client, "/"))


def test_several_sessions_are_compared_from_the_list(client: Client) -> None:
    make_session(1)
    html = get(client, "/")
    assert f'formaction="{reverse("sessions:sweeps")}"' in html
    assert f'<a href="{reverse("sessions:sweeps")}">' in html
    assert re.search(r'type="checkbox" name="s" value="\w+" form="picked"', html)


def test_neighbours_are_those_of_the_projects_list(client: Client) -> None:
    for n in range(1, 5):
        in_project(
            n, "/home/x/mine", ended_at=NOON if n in (2, 3) else None if n == 4 else NOON - dt.timedelta(hours=1)
        )
    in_project(8, "/home/x/other", ended_at=NOON)
    make_session(9, parent=Session.objects.get(pk="s_000001"))
    listed = re.findall(r'class="name" href="/s/(\w+)/"', get(client, "/?project=%2Fhome%2Fx%2Fmine"))
    for at, pk in enumerate(listed):
        beside = neighbours(get_session(pk))
        assert beside is not None
        found = [None if one is None else one.pk for one in beside]
        assert found == [listed[at - 1] if at else None, listed[at + 1] if at + 1 < len(listed) else None]
    assert len(listed) == 4
    assert neighbours(get_session("s_000008")) == (None, None)
    assert neighbours(get_session("s_000009")) is None


def test_more_projects_come_as_a_link_and_as_a_fragment(client: Client) -> None:
    for n in range(1, PROJECTS + 3):
        in_project(n, f"/p/{n}")
    html = get(client, "/")
    assert len(names(html)) == PROJECTS
    (address,) = set(re.findall(r'href="/(\?by=project[^"]*)"', html))
    plain = get(client, "/" + address.replace("&amp;", "&"))
    assert names(plain) == ["Session 2", "Session 1"]
    assert names(get(client, "/" + address.replace("&amp;", "&"), **HTMX, **{"HX-Target": "lib-more"})) == names(plain)


def test_filters_leave_what_they_say(client: Client) -> None:
    make_session(1, worst_overcount=1540.0, worst_message=3, n_images=1)
    make_session(2, n_compactions=2)
    make_session(3, worst_overcount=3.0, worst_message=3, n_images=4)
    assert names(get(client, "/?only=overcount")) == ["Session 1"]
    assert names(get(client, "/?only=compacted")) == ["Session 2"]
    assert names(get(client, "/?only=images")) == ["Session 3", "Session 1"]
    assert names(get(client, "/?only=nonsense")) == ["Session 3", "Session 2", "Session 1"]
    html = get(client, "/")
    assert "Compacted 1" in html
    assert "Overcounted 1" in html
    assert "with images" in get(client, "/?only=images")


def test_filtered_to_nothing_is_not_empty(client: Client) -> None:
    make_session(1)
    html = get(client, "/?only=compacted")
    assert "No session records a compaction" in html
    assert "Clear the filter" in html
    assert "What fills your agent" not in html


@pytest.mark.parametrize(
    ("sort", "first"),
    [("tokens", "Session 3"), ("-tokens", "Session 1"), ("title", "Session 1"), ("-title", "Session 3"),
     ("wire", "Session 3"), ("last", "Session 3"), ("-last", "Session 1"), ("format", "Session 2"),
     ("-format", "Session 1"), ("model", "Session 3"), ("nonsense", "Session 3")],
)  # fmt: skip
def test_every_column_sorts_both_ways(client: Client, sort: str, first: str) -> None:
    make_session(1, format="pi", model="b")
    make_session(2, format="claude_code", model="c")
    make_session(3, format="codex", model="a")
    assert names(get(client, f"/?sort={sort}"))[0] == first


def test_search_and_selects_combine(client: Client) -> None:
    make_session(1, title="Fix the pay button", model="gpt-5.5")
    make_session(2, title="Fix the tests", model="gpt-5.5")
    make_session(3, title="Fix the pay button", model="claude-opus-4-8")
    assert names(get(client, "/?q=pay+button&model=gpt-5.5")) == ["Fix the pay button"]
    assert 'value="pay button"' in get(client, "/?q=pay+button")


def test_paging_works_as_a_link_and_as_a_fragment(client: Client) -> None:
    total = FIRST_ROWS + 7
    for n in range(1, total + 1):
        make_session(n)
    html = get(client, "/")
    assert len(names(html)) == FIRST_ROWS
    assert "Load the other 7" in html
    plain = get(client, f"/?start={FIRST_ROWS}")
    assert names(plain) == [f"Session {n}" for n in range(7, 0, -1)]
    assert "<html" in plain
    part = get(client, f"/?start={FIRST_ROWS}", **HTMX, **{"HX-Target": "lib-more"})
    assert "<html" not in part
    assert names(part) == names(plain)
    assert 'hx-swap-oob="beforeend:#lib-rows"' in part
    assert f"{total} of {total}" in part


def test_what_is_left_is_loaded_in_bounded_steps(client: Client) -> None:
    for n in range(1, FIRST_ROWS + MORE_ROWS + 3):
        make_session(n)
    assert f"Load the next {MORE_ROWS} of {MORE_ROWS + 2}" in get(client, "/")


def test_htmx_gets_the_table_alone_and_caches_know(client: Client) -> None:
    make_session(1)
    response = client.get("/?only=compacted", headers=HTMX)
    assert b"<html" not in response.content
    assert b'id="sessions"' in response.content
    assert "HX-Request" in response["Vary"]
    boosted = client.get("/", headers={**HTMX, "HX-Boosted": "true"})
    assert b"<html" in boosted.content


def test_queries_do_not_grow_with_rows(client: Client, django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    for n in range(1, 31):
        make_session(n)
    with django_assert_max_num_queries(12):
        client.get("/")


def test_csv_and_json_hold_the_filtered_table(client: Client) -> None:
    make_session(1, title="=HYPERLINK(1)", n_compactions=1)
    make_session(2)
    rows = list(csv.DictReader(io.StringIO(client.get("/sessions.csv?only=compacted").content.decode())))
    assert [row["title"] for row in rows] == ["'=HYPERLINK(1)"]
    assert rows[0]["worst_overcount"] == ""
    document = client.get("/sessions.json?sort=title").json()
    assert document["schema"] == "ctxweb.sessions/1"
    assert [s["title"] for s in document["sessions"]] == ["=HYPERLINK(1)", "Session 2"]


def test_pages_hold_no_inline_style_or_script(client: Client) -> None:
    first_run = get(client, "/")
    make_session(1)
    for html in (first_run, get(client, "/"), get(client, "/?q=nothing")):
        assert not re.search(r"\sstyle=", html)
        assert not re.search(r"\son[a-z]+=", html)
        assert not re.search(r"<script(?![^>]*\ssrc=)", html)


def test_the_address_of_nowhere_says_so(client: Client) -> None:
    response = client.get("/nowhere/")
    assert response.status_code == 404
    assert b"Nothing is at this address" in response.content


@given(st.dictionaries(st.sampled_from(["q", "only", "format", "model", "sort", "start"]), st.text(max_size=30)))
def test_any_address_has_a_state_that_survives_its_own_query(query: dict[str, str]) -> None:
    state = urlstate.parse(query)
    from django.http import QueryDict

    again = urlstate.parse(QueryDict(urlstate.query(state).removeprefix("?")).dict())
    assert again == state


def test_a_column_head_turns_its_own_order_round() -> None:
    start = urlstate.parse({})
    assert urlstate.toggled(start, "last") == "?sort=-last"
    assert urlstate.toggled(start, "tokens") == "?sort=tokens"
    assert urlstate.toggled(urlstate.parse({"sort": "tokens"}), "tokens") == "?sort=-tokens"
    assert urlstate.toggled(urlstate.parse({"sort": "-tokens"}), "tokens") == "?sort=tokens"
    assert urlstate.parse({"sort": "-tokens"}).ascending
    assert urlstate.parse({"sort": "title"}).ascending


def test_a_search_looks_into_messages_and_leads_to_them(client: Client) -> None:
    session = store(pressed(6))
    assert "Searchable by text: 0 of 1 session, the others soon." in get(client, "/?q=screenshot+tell")
    while work_one():
        pass
    html = get(client, "/?q=screenshot+tell&only=images")
    assert "1 message in 1 session, most relevant first" in html
    assert f'href="/s/{session.pk}/?m=11#m-11"' in html
    assert "<mark>screenshot</mark>" in html
    assert "aria-sort" not in html
    assert 'aria-sort="descending"' in get(client, "/?q=screenshot&sort=last")
    transcript = get(client, f"/s/{session.pk}/transcript/?q=screenshot+tell")
    assert "1 message with" in transcript
