"""Prices given on the settings page: kept, checked, used by every cost."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.test import Client

from sessions.engine.models.model_info import normalised
from sessions.models import ModelPrice, Session
from sessions.services.prices import forget_prices

pytestmark = pytest.mark.django_db
FIRES = "replay.json?policy=claude_code&p.pct_override=8&summarizer=stub:500"


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """No price of one test is remembered in another."""
    forget_prices()
    yield
    forget_prices()


def cost(client: Client, session: Session) -> dict[str, float]:
    return json.loads(client.get(f"/s/{session.pk}/{FIRES}").content)["totals"]["cost_usd"]


def test_given_prices_stand_in_place_of_list_prices(client: Client, session: Session) -> None:
    model = normalised(session.model)
    before = cost(client, session)
    page = client.get("/settings/").content.decode()
    assert model in page
    given = {"input": "20", "output": "100", "cache_read": "2", "cache_write": "25", "cache_write_1h": "40"}
    answer = client.post("/settings/prices/", {"model": model, **given})
    assert (answer.status_code, answer["Location"]) == (302, "/settings/#h-prices")
    assert 'value="25"' in client.get("/settings/").content.decode()
    after = cost(client, session)
    assert after["low"] > before["low"]
    assert client.post("/settings/prices/", {"model": model}).status_code == 302
    assert not ModelPrice.objects.exists()
    assert cost(client, session) == before


def test_two_replays_are_priced_as_one_is(client: Client, session: Session) -> None:
    given = {"input": "20", "output": "100"}
    assert client.post("/settings/prices/", {"model": normalised(session.model), **given}).status_code == 302
    both = json.loads(client.get(f"/s/{session.pk}/ab.json?{FIRES.partition('?')[2]}&b.policy=none").content)
    assert both["a"]["totals"]["cost_usd"] == cost(client, session)


def test_what_is_no_price_is_refused_and_nothing_is_lost(client: Client, session: Session) -> None:
    answer = client.post("/settings/prices/", {"model": normalised(session.model), "input": "cheap", "output": "7"})
    assert answer.status_code == 422
    html = answer.content.decode()
    assert "a price is a number of dollars per million tokens, not &#x27;cheap&#x27;" in html
    assert 'value="cheap"' in html
    assert 'value="7"' in html
    assert not ModelPrice.objects.exists()


def test_a_model_without_list_prices_needs_both(client: Client) -> None:
    answer = client.post("/settings/prices/", {"model": "my-own-model", "input": "1"})
    assert answer.status_code == 422
    assert "give input and output" in answer.content.decode()
    assert client.post("/settings/prices/", {"model": "my-own-model", "input": "1", "output": "0"}).status_code == 302
    assert ModelPrice.objects.get().output == 0


def test_the_page_says_what_large_requests_cost(client: Client, session: Session) -> None:
    """Policies 14.4: from the list, until prices are given by hand, which stand for every size."""
    line = "above 200,000 tokens of input: $2.5 input, $15 output"
    Session.objects.filter(pk=session.pk).update(model="gemini-2.5-pro")
    assert line in client.get("/settings/").content.decode()
    Session.objects.filter(pk=session.pk).update(model="gemini-2.5-flash")
    assert "tokens of input" not in client.get("/settings/").content.decode()
    Session.objects.filter(pk=session.pk).update(model="gemini-2.5-pro")
    client.post("/settings/prices/", {"model": "gemini-2.5-pro", "input": "3"})
    assert line not in client.get("/settings/").content.decode()
