"""An address of a replay that names no policy is the one of the session's own agent, wherever it leads."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from sessions import selectors
from sessions.engine.agents.setting import OWN_AGENT
from sessions.models import Session
from sessions.runs import replay_state
from tests.engine.test_why_evidence import calls
from tests.engine.test_why_kept_facts import codex
from tests.web.stored import store

FILES = (("rollout-1.jsonl", codex(60_000), "codex_local"), ("calls.jsonl", calls([30_000, 31_000], 0, {}), OWN_AGENT))


@pytest.fixture(params=FILES, ids=[name for name, *_ in FILES])
def found(request: pytest.FixtureRequest, db: None, tmp_path: Path, settings: Settings) -> tuple[Session, str]:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    name, text, policy = request.param
    return store(text.encode(), name), policy


def test_it_is_the_own_agents(found: tuple[Session, str]) -> None:
    session, policy = found
    own = selectors.load_weighed(session.pk)
    bare, other = replay_state.parse({}, own), replay_state.parse({"policy": "claude_code"}, own)
    assert (bare.policy, other.policy) == (policy, "claude_code")
    for state in (bare, other):
        address = dict(pair.split("=", 1) for pair in replay_state.query(state).split("&"))
        assert replay_state.parse(address, own) == state
    assert replay_state.parse({}).policy == replay_state.DEFAULT_POLICY, "without a session there is none"


@pytest.mark.parametrize("page", ["replay", "apply", "quality"])
def test_what_a_bare_address_answers_is_what_the_own_policy_does(
    client: Client, found: tuple[Session, str], page: str
) -> None:
    session, policy = found
    address = f"/s/{session.pk}/{page}.json"
    bare, own, other = (client.get(f"{address}{query}") for query in ("", f"?policy={policy}", "?policy=claude_code"))
    assert bare.status_code == own.status_code == other.status_code == 200
    assert bare.json() == own.json() != other.json()
