"""Stepping through a replay: the list sent at a request, its cached prefix, what the policy has changed so far."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from sessions import selectors
from sessions.engine.replays.lists import entered_at, items_at
from sessions.engine.replays.replay import replay
from sessions.engine.reports.export import sent_at
from sessions.pages.replay.context import build_replay, failures
from sessions.pages.replay.step import PAGE, build_step
from sessions.pages.ui.addresses import session_urls
from sessions.runs import replay_state as urlstate
from tests.web.stored import pressed, store

if TYPE_CHECKING:
    from pathlib import Path

    from django.test import Client
    from pytest_django import Settings

    from sessions.engine.replays.replay import Replay
    from sessions.models import Session

HTMX = {"HX-Request": "true"}
FIRES = "policy=sliding_window&window=20000&p.trigger=80&p.target=70"
STATE = urlstate.parse({"policy": "sliding_window", "window": "20000", "p.trigger": "80", "p.target": "70"})


@pytest.fixture
def made(session: Session) -> Replay:
    """The replay of ``FIRES``."""
    return replay(selectors.load_weighed(session.pk), "sliding_window", params=STATE.given, window=20_000)


def at(state: urlstate.ReplayState, request: int, **more: int) -> urlstate.ReplayState:
    """The state at a request."""
    return urlstate.parse(
        {"policy": "sliding_window", "window": "20000", "p.trigger": "80", "p.target": "70", "request": str(request)}
        | {name: str(value) for name, value in more.items()}
    )


def test_every_request_shows_the_list_that_was_sent(session: Session, made: Replay) -> None:
    assert made.events
    for k, step in enumerate(made.weighed.steps):
        view = build_step(session.pk, made, at(STATE, step.request), step.request)
        assert view
        entries = sent_at(made, step.request).entries
        assert [row.number for row in view.rows] == [str(entry.message.index) for entry in entries]
        assert view.context_tokens == made.context_tokens[step.request]
        assert view.cached_tokens + view.fresh_tokens == view.context_tokens
        assert view.cached_tokens == made.sent.cached[k]
        assert view.n_messages + view.n_dropped - view.n_inserted == len(entered_at(made, step.request))


def test_what_was_dropped_stands_where_it_was(session: Session, made: Replay) -> None:
    event = made.events[0]
    view = build_step(session.pk, made, at(STATE, event.request), event.request)
    assert view
    assert view.event_here
    assert view.n_dropped == event.dropped
    gaps = [row.gap for row in view.rows if row.gap] + ([view.tail] if view.tail else [])
    assert sum(gap.n for gap in gaps) == event.dropped
    assert sum(gap.tokens for gap in gaps) == view.dropped_tokens
    before = build_step(session.pk, made, at(STATE, event.request - 1), event.request - 1)
    assert before
    assert (before.n_dropped, before.event) == (0, None)


def test_the_cached_prefix_ends_where_the_lists_part(session: Session, made: Replay) -> None:
    quiet = made.events[0].request - 1
    view = build_step(session.pk, made, at(STATE, quiet), quiet)
    assert view
    assert view.n_cached == len(items_at(made, quiet - 1))
    assert [row.cached for row in view.rows].count(True) == view.n_cached
    assert [row.number for row in view.rows if row.last_cached] == [str(items_at(made, quiet - 1)[-1].message.index)]
    broken = build_step(session.pk, made, at(STATE, quiet + 1), quiet + 1)
    assert broken
    assert broken.n_cached == 0, "the oldest were dropped: nothing but the overhead is the same"
    assert broken.cached_tokens == made.weighed.overhead


def test_a_long_list_is_paged_and_opens_at_its_newest(db: None, tmp_path: Path, settings: Settings) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    long = store(pressed(90), "long.jsonl")
    made = replay(selectors.load_weighed(long.pk), "none")
    last = made.weighed.steps[-1].request
    view = build_step(long.pk, made, urlstate.parse({"policy": "none", "request": str(last)}), last)
    assert view
    assert len(view.rows) <= PAGE
    assert view.rows[-1].position == str(view.n_messages - 1)
    first = build_step(long.pk, made, urlstate.parse({"policy": "none", "request": str(last), "at": "0"}), last)
    assert first
    assert [row.position for row in first.rows] == [str(k) for k in range(PAGE)]
    assert [turn.words for turn in view.pages] == ["First", "Older", "Newer", "Newest"]


def test_the_page_without_a_script_steps_by_links(client: Client, session: Session, made: Replay) -> None:
    html = client.get(f"/s/{session.pk}/replay/?{FIRES}&request=9").content.decode()
    links = dict(re.findall(r'id="(step-before|step-after)" href="([^"]+)"', html))
    assert "request=8" in links["step-before"]
    assert "request=10" in links["step-after"]
    assert html.count('<tr class="cached') + html.count('<tr class="fresh') == len(items_at(made, 9)) + 1
    assert 'class="step-box"' not in client.get(f"/s/{session.pk}/replay/?{FIRES}").content.decode()


def test_the_part_for_one_request(client: Client, session: Session) -> None:
    part = client.get(f"/s/{session.pk}/replay/step/?{FIRES}&request=9", headers=HTMX)
    assert "<html" not in part.content.decode()
    assert 'id="step-body"' in part.content.decode()
    plain = client.get(f"/s/{session.pk}/replay/step/?{FIRES}&request=9")
    assert (plain.status_code, plain["Location"]) == (302, f"{session_urls(session.pk).to_replay(at(STATE, 9))}")


def test_a_moving_slider_does_not_ask_for_the_list(session: Session) -> None:
    assert build_replay(session, at(STATE, 9), steering=True).step is None
    assert build_replay(session, at(STATE, 9)).step is not None


def test_failing_summary_calls_are_listed_with_what_stopped_the_policy(client: Client, session: Session) -> None:
    query = "policy=claude_code&window=40000&p.pct_override=50&summarizer=stub:500&fail=always"
    made = replay(
        selectors.load_weighed(session.pk), "claude_code", params={"pct_override": "50"}, window=40_000,
        summarizer="stub:500", fail="always",
    )  # fmt: skip
    assert made.attempts
    found = failures(made, session_urls(session.pk), urlstate.parse({"policy": "claude_code"}))
    assert found
    assert found.n_failed == len(made.attempts)
    html = client.get(f"/s/{session.pk}/replay/?{query}").content.decode()
    assert "Failed attempts" in html
    assert "failed (injected)" in html
    assert ("stopped at request" in html) is bool(found.stopped)
    assert "--fail always" in html


@pytest.mark.parametrize("fail", ["sometimes", "every:0", "every:x", "first:-1", "first:99999"])
def test_failure_is_written_one_way(client: Client, session: Session, fail: str) -> None:
    assert client.get(f"/s/{session.pk}/replay.json?fail={fail}").status_code == 400


def test_failure_from_the_forms_own_fields() -> None:
    assert urlstate.parse({"fail": "every", "fail_n": "3"}).fail == "every:3"
    assert urlstate.parse({"fail": "always", "fail_n": "3"}).fail == "always"
    assert urlstate.query(urlstate.parse({"fail": "first:2"})) == "policy=claude_code&fail=first:2"


def test_layers_add_up_to_what_an_event_freed(session: Session) -> None:
    state = urlstate.parse({"policy": "layered_v2", "window": "8000"})
    view = build_replay(session, state)
    assert view.chosen, "the small window makes events"
    assert view.chosen.layers
    assert sum(layer.freed_tokens for layer, _ in view.chosen.layers) == view.chosen.freed_tokens


def test_policies_stand_in_groups(client: Client, session: Session) -> None:
    html = client.get(f"/s/{session.pk}/replay/?policy=kimi").content.decode()
    groups = re.findall(r'<optgroup label="([^"]+)">(.*?)</optgroup>', html, re.DOTALL)
    assert [title for title, _ in groups][:2] == ["Used by this session", "Common"]
    assert re.search(r'value="kimi"[^>]* selected', dict(groups)["Other agents"])


def test_a_changed_value_can_be_put_back(client: Client, session: Session) -> None:
    html = client.get(f"/s/{session.pk}/replay/?{FIRES}").content.decode()
    one = re.search(r'class="reset-one" href="([^"]+)" data-reset-one title="[^"]*: 70%"(?! hidden)', html)
    assert one
    assert "p.trigger" not in one[1]
    assert "p.target=70" in one[1]
