"""The recommended threshold as a mark on the slider: Compare's own recommendation, whatever the slider says."""

from __future__ import annotations

import re

import pytest
from django.http import QueryDict
from django.test import Client

from sessions.engine.sweeps.advice import advise
from sessions.pages.replay.view import recommended_mark
from sessions.pages.sweep import state as sweepstate
from sessions.pages.sweep.picks import unbeaten
from sessions.runs import replay_state, sweeps
from sessions.runs.overview import overview
from tests.engine.claude_lines import claude_session
from tests.web.stored import demo_file, store

pytestmark = pytest.mark.django_db
QUERY = {"policy": "claude_code", "summarizer": "extractive"}


def test_the_mark_is_what_compare_recommends(client: Client) -> None:
    session = store(demo_file(), "demo.jsonl")
    weighed = overview(session.pk).weighed
    state = replay_state.parse(QUERY, weighed)
    mark = recommended_mark(session, weighed, state)
    moved = recommended_mark(session, weighed, replay_state.parse(QUERY | {"p.pct_override": "50"}, weighed))
    assert mark is not None
    assert mark == moved
    asked = sweepstate.completed(sweepstate.parse(QueryDict("&".join(map("=".join, QUERY.items()))), weighed), weighed)
    swept = sweeps.swept(sweepstate.options_of(asked, [session]), [session])
    found = advise(swept.sweeps[0])
    page = client.get(f"/s/{session.pk}/replay/recommended/", QUERY, headers={"HX-Request": "true"}).content.decode()
    assert found.recommended is not None
    assert mark.threshold == found.recommended.row.threshold
    assert f"Recommended: {mark.threshold:,}" in page
    there = client.get(mark.href).content.decode()
    assert re.search(rf'id="compact-now"[^>]*>{mark.threshold:,}<', there)


def test_an_answer_without_a_setting_is_said(client: Client) -> None:
    session = store(claude_session(30).encode())
    query = QUERY | {"window": "40000"}
    page = client.get(f"/s/{session.pk}/replay/recommended/", query, headers={"HX-Request": "true"}).content.decode()
    assert "Nothing to tune: the context peaked at" in page
    assert "Recommended" not in page


def test_a_page_of_its_own_it_is_not(client: Client) -> None:
    session = store(claude_session(6).encode())
    answer = client.get(f"/s/{session.pk}/replay/recommended/", {"policy": "claude_code"})
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith(f"/s/{session.pk}/replay/")


def test_the_line_joins_what_nothing_beats_on_the_two_axes(client: Client) -> None:
    session = store(claude_session(30).encode())
    weighed = overview(session.pk).weighed
    asked = sweepstate.completed(sweepstate.parse(QueryDict("policy=claude_code&window=40000"), weighed), weighed)
    rows = sweeps.swept(sweepstate.options_of(asked, [session]), [session]).sweeps[0].rows
    best = unbeaten(rows, "compactions", {})
    costs = {i: row.totals.cost.middle if row.totals.cost else row.totals.sent_tokens for i, row in enumerate(rows)}
    for index, row in enumerate(rows):
        beaten = any(
            costs[i] <= costs[index] and other.totals.compactions <= row.totals.compactions
            and (costs[i], other.totals.compactions) != (costs[index], row.totals.compactions)
            for i, other in enumerate(rows) if other.fits
        )  # fmt: skip
        assert (index in best) == (row.fits and not beaten)


def test_where_there_is_nothing_to_tune_no_chart_is_drawn_unless_it_is_asked_for(client: Client) -> None:
    session = store(claude_session(30).encode())
    html = client.get(f"/s/{session.pk}/compare/").content.decode()
    assert "When it would matter" in html
    assert "Nine in ten requests add at most" in html
    assert "None of your sessions compacted yet" in html
    assert 'id="front"' not in html
    (every,) = re.findall(r'href="([^"]+)">All settings<', html)
    shown = client.get(every.replace("&amp;", "&")).content.decode()
    assert 'id="front"' in shown
    assert "When it would matter" not in shown
    form = "policy=sliding_window&x=keep_last&x_from=2&x_to=8&x_n=3&window=9%2C000"
    typed = client.get(f"/s/{session.pk}/compare/?{form}")
    assert 'id="front"' in typed.content.decode()
