"""Two replays side by side, and views kept under a name."""

from __future__ import annotations

import html as markup
import re
from urllib.parse import urlencode

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from pytest_django import Settings

from sessions.engine.reading import jsonio
from sessions.engine.replays.replay import replay
from sessions.engine.reports import report
from sessions.models import SavedView, Session
from sessions.pages.ab import state as urlstate
from sessions.pages.ab.context import AbView
from sessions.selectors import load_weighed
from tests.web.stored import pressed, store

HTMX = {"HX-Request": "true"}
TWO = "policy=sliding_window&window=20000&p.trigger=80&b.policy=sliding_window&b.window=20000&b.p.trigger=60"


def parsed(query: str) -> urlstate.AbState:
    """The state of a query string."""
    return urlstate.parse(dict(pair.split("=") for pair in query.split("&")))


def test_the_address_is_the_whole_state() -> None:
    state = parsed(f"{TWO}&request=7")
    assert urlstate.parse(dict(pair.split("=") for pair in urlstate.query(state).split("&"))) == state
    assert (state.a.params, state.b.params) == ((("trigger", "80"),), (("trigger", "60"),))
    assert (state.a.request, state.b.request) == (7, None)


def test_without_a_second_replay_it_is_a_copy_of_the_first() -> None:
    state = parsed("policy=kimi&window=50000")
    assert state.b == state.a
    assert "b.policy=kimi" in urlstate.query(state)


def test_the_second_default_policy_is_named() -> None:
    assert urlstate.query(parsed("policy=kimi&b.policy=claude_code")) == "policy=kimi&b.policy=claude_code"


def test_errors_name_their_side() -> None:
    assert set(parsed("policy=nobody&b.window=1").errors) == {"policy", "b.window"}


def test_axes_are_shared_and_figures_are_the_engines(session: Session) -> None:
    weighed = load_weighed(session.pk)
    a, b = (replay(weighed, "sliding_window", params={"trigger": t}, window=20_000) for t in ("80", "60"))
    view = AbView(session, session, parsed(TWO))
    figures = [jsonio.loads(side.figure.encode()) for side in view.sides]
    assert figures[0]["layout"]["yaxis"]["range"] == figures[1]["layout"]["yaxis"]["range"]
    assert figures[0]["layout"]["xaxis"]["range"] == figures[1]["layout"]["xaxis"]["range"]
    rows = {row.name: row for row in view.rows}
    assert rows["Compactions"].cells[0].value == f"{len(a.events):,}"
    assert rows["Compactions"].cells[1].value == f"{len(b.events):,}"
    peaks = [max(t for t in made.context_tokens if t is not None) for made in (a, b)]
    assert [cell.value for cell in rows["Peak context"].cells[:2]] == [f"{peak:,}" for peak in peaks]
    assert view.request == min(a.events[0].request, b.events[0].request)


def test_two_sessions_under_one_policy(client: Client, session: Session) -> None:
    other = store(b"\n" + pressed(40), "longer.jsonl")
    page = client.get(f"/s/{session.pk}/compare/ab/?policy=none&b.policy=none&b.session={other.pk}").content.decode()
    assert "These are two sessions" in page
    document = client.get(f"/s/{session.pk}/ab.json?policy=none&b.policy=none&b.session={other.pk}").json()
    assert document["sessions"] == {"a": session.pk, "b": other.pk}
    expected = report.replay_document(replay(load_weighed(other.pk), "none"))
    assert document["b"] == jsonio.loads(jsonio.dumps(expected).encode())
    figures = re.findall(r'<template id="saw-\w-figure">(.*?)</template>', page, re.DOTALL)
    ranges = [jsonio.loads(figure.encode())["layout"]["xaxis"]["range"] for figure in figures]
    assert ranges[0] == ranges[1]
    assert ranges[0][1] > 39
    assert client.get(f"/s/{session.pk}/compare/ab/?b.policy=none&b.session=s_nothing").status_code == 404


def test_a_wrong_side_says_so(client: Client, session: Session) -> None:
    response = client.get(f"/s/{session.pk}/compare/ab/?b.policy=nobody")
    assert response.status_code == 400
    assert "The default is used." in response.content.decode()
    assert client.get(f"/s/{session.pk}/ab.json?b.policy=nobody").status_code == 400


def test_a_form_that_is_sent_as_it_stands_keeps_what_was_chosen(client: Client, session: Session) -> None:
    """The hidden fields say which policies the fields are of: with others in them every parameter is dropped."""
    page = client.get(f"/s/{session.pk}/compare/ab/?{TWO}").content.decode()
    was = re.findall(r'name="(b\.was|was)" value="([^"]*)"', page)
    assert was == [("was", "sliding_window"), ("b.was", "sliding_window")]
    sent = client.get(f"/s/{session.pk}/compare/ab/?{TWO}&{urlencode(was)}").content.decode()
    assert re.search(r'name="b\.p\.trigger" value="60%"', sent)
    assert " at 0x" not in page


def test_every_field_stands_twice_under_its_own_name(client: Client, session: Session) -> None:
    page = client.get(f"/s/{session.pk}/compare/ab/?{TWO}").content.decode()
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert sorted({name for name in ids if ids.count(name) > 1}) == []
    assert {"p.trigger", "b.p.trigger", "window", "b.window", "fail", "b.fail"} <= set(
        re.findall(r'name="([^"]+)"', page)
    )
    assert re.search(r'name="b\.p\.trigger" value="60%"', page)


def test_results_alone_for_htmx(client: Client, session: Session) -> None:
    part = client.get(f"/s/{session.pk}/compare/ab/?{TWO}&was=sliding_window&b.was=sliding_window", headers=HTMX)
    assert "<form" not in part.content.decode()
    swapped = client.get(
        f"/s/{session.pk}/compare/ab/?{TWO}&was=sliding_window&b.was=kimi", headers=HTMX
    ).content.decode()
    assert '<form class="controls ab-form"' in swapped
    assert "b.p.trigger" in swapped


# ---- saved views


def save(client: Client, session: Session, query: str, name: str, kind: str = "replay") -> SavedView:
    """A view saved as a person does."""
    response = client.post(f"/s/{session.pk}/save/?kind={kind}&{query}", {"name": name, "note": "why"})
    assert response.status_code == 201, response.content.decode()[:400]
    return SavedView.objects.latest("id")


def test_a_saved_replay_opens_where_it_was(client: Client, session: Session) -> None:
    kept = save(client, session, "policy=sliding_window&p.trigger=80&request=9", "Later")
    page = client.get("/saved/").content.decode()
    href = re.search(r'<a data-row href="([^"]+)">Later', page)
    assert href
    assert markup.unescape(href[1]) == f"/s/{session.pk}/replay/?policy=sliding_window&request=9&p.trigger=80"
    assert client.get(markup.unescape(href[1])).status_code == 200
    assert (kept.owner, kept.note) == (None, "why")
    assert "--set trigger=80" in page or "trigger=80" in page


def test_two_saved_replays_are_set_side_by_side(client: Client, session: Session) -> None:
    other = store(b"\n" + pressed(30), "other.jsonl")
    one = save(client, session, "policy=sliding_window&p.trigger=80", "One")
    two = save(client, other, "policy=kimi", "Two")
    response = client.get(f"/saved/?pick={one.pk}&pick={two.pk}")
    assert response.status_code == 302
    assert response["Location"] == (
        f"/s/{session.pk}/compare/ab/?policy=sliding_window&p.trigger=80&b.policy=kimi&b.session={other.pk}"
    )
    assert client.get(response["Location"]).status_code == 200
    alone = client.get(f"/saved/?pick={one.pk}")
    assert alone.status_code == 400
    assert "Two replays are compared, 1 picked." in alone.content.decode()


def test_a_saved_view_is_deleted_after_a_question(client: Client, session: Session) -> None:
    kept = save(client, session, TWO, "Both", kind="ab")
    asked = client.get(f"/saved/{kept.pk}/delete/")
    assert "Delete <strong>Both</strong>" in asked.content.decode()
    assert SavedView.objects.count() == 1
    assert client.post(f"/saved/{kept.pk}/delete/").status_code == 302
    assert SavedView.objects.count() == 0


def test_a_name_is_needed_and_a_kind_must_be(client: Client, session: Session) -> None:
    assert client.post(f"/s/{session.pk}/save/?kind=replay", {"name": " "}).status_code == 422
    assert client.get(f"/s/{session.pk}/save/?kind=library").status_code == 404
    dialog = client.get(f"/s/{session.pk}/save/?kind=replay&policy=kimi", headers=HTMX).content.decode()
    assert "<dialog" in dialog
    assert 'value="kimi: ' in dialog


@pytest.mark.django_db
def test_with_accounts_only_the_owner_sees_a_view(client: Client, session: Session, settings: Settings) -> None:
    settings.REQUIRE_LOGIN = True
    alice, bob = (get_user_model().objects.create_user(name, password="correct horse") for name in ("alice", "bob"))
    client.force_login(alice)
    kept = save(client, session, "policy=kimi", "Mine alone")
    assert kept.owner == alice
    assert "Mine alone" in client.get("/saved/").content.decode()
    client.force_login(bob)
    assert "Mine alone" not in client.get("/saved/").content.decode()
    assert client.get(f"/saved/{kept.pk}/delete/").status_code == 404
    assert client.post(f"/saved/{kept.pk}/delete/").status_code == 404
    assert client.get(f"/saved/?pick={kept.pk}&pick={kept.pk}").status_code == 400
    assert SavedView.objects.filter(pk=kept.pk).exists()
