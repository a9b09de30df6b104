"""What fills the context at each request, and what the first look at a session shows of it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from django.test import Client

from sessions.models import Session
from sessions.pages.session import causes
from sessions.pages.session.bars import Mark
from sessions.pages.session.chart import pressure_figure
from sessions.pages.session.lanes import LAYERS, layers
from sessions.runs.overview import overview
from tests.web.stored import demo_file, store
from tests.web.test_charts import session_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def demo(db: None) -> Session:
    return store(demo_file(), "demo.jsonl")


def test_layers_add_up_to_the_context_and_none_is_negative(demo: Session) -> None:
    view = overview(demo.pk)
    found = layers(view)
    assert [sum(one) for one in found] == [tokens for _, tokens, _ in view.contexts.values()]
    assert min(min(one) for one in found) >= 0
    at = dict(zip(LAYERS, zip(*found, strict=True), strict=True))
    first, second = (compaction.request for compaction in view.weighed.transcript.compactions)
    assert not any(at["summary"][:first])
    assert at["summary"][first]
    assert at["tool results"][second - 1] > 10 * at["tool results"][second], "the second compaction dropped them"


def test_the_chart_draws_each_layer_and_numbers_each_compaction() -> None:
    figure = pressure_figure(session_of(120, {37: 1_540.2}))
    words = [note["text"] for note in figure["layout"]["annotations"]]
    assert "167,371 → 38,940" in words
    assert "window 200,000" in words
    (discs,) = (trace for trace in figure["data"] if trace["name"] == "compactions")
    assert discs["text"] == ["1"]


def test_what_was_cleared_and_what_fell_without_a_record_are_told_apart() -> None:
    marks = [
        Mark(20.5, 90_000, "Tool results cleared: 9", 58_820),
        Mark(80.5, 70_000, "Fell", 30_000, is_recorded=False),
    ]
    figure = pressure_figure(replace(session_of(120, {}), cleared=marks))
    words = [note["text"] for note in figure["layout"]["annotations"]]
    assert "cleared −58,820" in words
    assert "fell −30,000, no record" in words


def test_an_ordinary_message_shows_beside_a_giant() -> None:
    """A message of a hundredth of the largest stands a tenth as high: by the square root, up and down."""
    figure = pressure_figure(session_of(120, {}))
    data = {trace["name"]: trace for trace in figure["data"]}
    assert min(data["tool_result"]["y"]) > 0.05
    assert min(data["bytes"]["y"]) > 0.05


def test_each_compaction_has_its_card_and_a_false_alarm_two_meters(client: Client, demo: Session) -> None:
    html = client.get(f"/s/{demo.pk}/").content.decode()
    assert re.findall(r'class="disc( disc-alarm)?"', html) == [" disc-alarm", ""]
    assert html.count("Replay this") == 2
    assert "Count images as billed" in html
    meters = html.split('class="meters"')[1].split("</dl>")[0]
    assert ("3,134,818" in meters, "17,297" in meters) == (True, True)
    assert f"estimator={causes.AS_BILLED}" in html


def test_the_inspector_opens_on_the_content_of_the_message_that_matters(client: Client, demo: Session) -> None:
    html = client.get(f"/s/{demo.pk}/").content.decode()
    assert "Message 37</h2>" in html
    assert 'class="inspector-text"' in html
    assert "A byte counter charges this" in html


def test_the_content_of_a_large_upload_comes_after_the_page(
    client: Client, demo: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.pages.session.view.AT_ONCE", 10)
    html = client.get(f"/s/{demo.pk}/").content.decode()
    assert f'hx-get="/s/{demo.pk}/m/37/" hx-trigger="load"' in html


def test_a_session_that_never_compacted_says_what_weighs_most(client: Client, session: Session) -> None:
    view = overview(session.pk)
    assert not view.verdicts
    html = client.get(f"/s/{session.pk}/").content.decode()
    assert "It never needed to compact." in html
    heavy = [one.tokens for one in causes.heavy(view)]
    assert heavy == sorted(heavy, reverse=True)
    assert heavy[0] == max(view.weighed.tokens)


def test_many_plain_compactions_are_one_card_that_leads_to_each(demo: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    view = overview(demo.pk)
    monkeypatch.setattr(causes, "ALONE", 0)
    rows = causes.build_causes(demo.pk, view)
    assert [row.n for row in rows] == [1, 1]
    twice = type(view)(view.weighed)
    twice.__dict__["verdicts"] = (*view.verdicts, view.verdicts[-1])
    grouped = causes.build_causes(demo.pk, twice)[-1]
    assert (grouped.n, len(grouped.ways)) == (2, 2)
