"""The replay form starts as the client was that recorded the session; everything of it can be changed."""

from __future__ import annotations

import json
import re

import pytest
from django.http import QueryDict
from django.test import Client

from sessions import selectors
from sessions.models import Session
from sessions.pages.sweep import state as sweep_state
from sessions.runs import replay_state as urlstate
from tests.web.stored import pressed, store

WORDS = "Starts as recorded: threshold 155,000 (Claude Code 2.1.14)."
PLAIN = "p.max_output=none&p.output_reserve_cap=20000&p.output=real"


@pytest.fixture
def old(db: None) -> Session:
    """A session that Claude Code 2.1.14 recorded."""
    data = re.sub(rb'"version": ?"[^"]*"', b'"version":"2.1.14"', pressed())
    assert b"2.1.14" in data
    return store(data, "old.jsonl")


def threshold(client: Client, session: Session, query: str = "") -> tuple[int, str | None]:
    """The threshold of the page's JSON, and whose it says it is."""
    document = json.loads(client.get(f"/s/{session.pk}/replay.json?{query}").content)
    weighed = selectors.load_weighed(session.pk)
    state = urlstate.parse({key: value for key, _, value in (p.partition("=") for p in query.split("&") if p)}, weighed)
    assert document["params"]["output"] in {"written", "real"}
    reserve = document["params"]["output_reserve_cap"]
    most = document["params"]["max_output"] or weighed.model.max_output
    assert state.policy == "claude_code"
    return weighed.window - (most if reserve is None else min(most, reserve)) - 13_000, document["as_recorded"]


def test_the_form_starts_as_the_client_was(client: Client, old: Session) -> None:
    html = client.get(f"/s/{old.pk}/replay/").content.decode()
    assert WORDS in html
    assert threshold(client, old) == (155_000, WORDS.removeprefix("Starts ").removesuffix("."))
    field = re.search(r'name="p.max_output"[^>]*value="([^"]*)"', html)
    assert field
    assert field[1] == "32,000"
    assert "as recorded: 32,000 tokens" in html


def test_a_form_sent_as_it_stands_changes_nothing(client: Client, old: Session) -> None:
    weighed = selectors.load_weighed(old.pk)
    as_sent = {"p.max_output": "32,000", "p.output_reserve_cap": "none", "p.output": "written", "p.tail": "on"}
    assert urlstate.parse(as_sent, weighed).params == ()


def test_the_policys_own_defaults_are_a_link_away(client: Client, old: Session) -> None:
    """A default of the policy is a choice here: it stays in the address, with a session at hand and without."""
    html = client.get(f"/s/{old.pk}/replay/").content.decode()
    href = re.search(r'href="([^"]*)">Use the policy&#x27;s own defaults|href="([^"]*)">Use the policy\'s own', html)
    assert href
    query = (href[1] or href[2]).replace("&amp;", "&").partition("?")[2]
    assert sorted(query.split("&")) == sorted(["policy=claude_code", *PLAIN.split("&")])
    assert threshold(client, old, query)[0] == 167_000
    given = {key: value for key, _, value in (pair.partition("=") for pair in query.split("&"))}
    assert urlstate.parse(given).params == urlstate.parse(given, selectors.load_weighed(old.pk)).params != ()
    assert client.get(f"/s/{old.pk}/replay/?{query}").content.decode().count("Reset everything to as recorded") == 1


def test_a_sweep_starts_there_too(client: Client, old: Session) -> None:
    html = client.get(f"/s/{old.pk}/compare/?policy=claude_code").content.decode()
    field = re.search(r'name="p.max_output"[^>]*value="([^"]*)"', html)
    assert field
    assert field[1].replace(",", "") == "32000"


def test_a_default_in_the_form_of_several_sessions_undoes_no_client() -> None:
    query = QueryDict("policy=claude_code&p.output_reserve_cap=20000&p.buffer=9000")
    assert sweep_state.parse(query).replay.params == (("buffer", "9000"),)


def test_a_newer_client_says_its_version_and_starts_from_the_defaults(client: Client, session: Session) -> None:
    html = client.get(f"/s/{session.pk}/replay/").content.decode()
    assert "Starts as recorded: threshold 167,000 (Claude Code" in html
    assert "own defaults" not in html
