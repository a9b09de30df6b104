"""A link shows what its sender saw: computed by the version that made it, until the owner computes it anew."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from ctxweb.version import ctxweb_version
from sessions import selectors
from sessions.engine.replays.replay import Replay
from sessions.models import ModelPrice, ReplayLink, Session
from sessions.pages.links import frozen
from sessions.pages.links.opened import stored
from sessions.runs import losses, replays
from sessions.services.prices import forget_prices, set_prices
from tests.engine.claude_lines import claude_session
from tests.web.stored import store
from tests.web.test_link_replies import BOTH, answer, shared
from tests.web.test_links import HTMX, KEY, MAIL, STATE, opened, session, share

__all__ = ["session"]
SAW = re.compile(r'id="saw-figure"')


def older(path_of: ReplayLink, **figures: Any) -> None:
    """What the link kept, as another version would have computed it."""
    link = ReplayLink.objects.get(pk=path_of.pk)
    then = frozen.kept(link)
    then["version"] = "0.0.9"
    then["figures"] |= figures
    data = gzip.compress(json.dumps(then).encode())
    ReplayLink.objects.filter(pk=link.pk).update(results=data, version="0.0.9")


@pytest.fixture
def _dearer(session: Session) -> Iterator[None]:
    """Afterwards this installation's price of the session's model is another."""
    yield
    ModelPrice.objects.all().delete()
    forget_prices()


def raise_the_price(session: Session) -> None:
    set_prices(model=session.model, given={"input": "1000", "cache_read": "500"})


def test_nothing_is_said_while_this_server_computes_the_same(session: Session) -> None:
    path = shared(session)
    page = opened(path)
    assert f"Computed by ctxweb {ctxweb_version()}." in page
    assert "computes otherwise" not in page
    assert SAW.search(page)
    ReplayLink.objects.update(version="0.0.9")
    assert f"Computed by ctxweb 0.0.9; {ctxweb_version()} computes the same." in opened(path)


@pytest.mark.usefixtures("_dearer")
def test_the_sender_s_figures_stay_when_prices_change(session: Session) -> None:
    path = shared(session)
    cost = re.compile(r"<dt>Cost</dt><dd>(.*?)</dd>", re.S)
    before = re.sub("<[^>]+>", "", cost.search(opened(path))[1])  # type: ignore[index]
    raise_the_price(session)
    page = opened(path)
    assert re.sub("<[^>]+>", "", cost.search(page)[1]) == before  # type: ignore[index]
    assert "shown as the sender saw it" in page
    assert "computes otherwise now" in page
    assert not SAW.search(page)
    now = opened(f"{path}?now=1")
    assert re.sub("<[^>]+>", "", cost.search(now)[1]) != before  # type: ignore[index]
    assert "The sender saw other figures" in now
    assert SAW.search(now)
    assert 'id="try-slider"' in now
    pk = ReplayLink.objects.get().pk
    listed = opened(f"/s/{session.pk}/share/?view=replay")
    assert f"/links/{pk}/recompute/" in listed
    assert f"/links/{pk}/recompute/" not in Client().post(f"/links/{pk}/recompute/", headers=HTMX).content.decode()
    assert "computes otherwise" not in opened(path)


@pytest.mark.parametrize("view", ["session", "replay", "diff"])
def test_what_another_version_computed_is_shown_again(session: Session, view: str) -> None:
    path = share(session, view, STATE if view != "session" else "", **BOTH)  # type: ignore[arg-type]
    older(ReplayLink.objects.get(), headline="It compacted because of the moon.", lists="others")
    page = opened(path)
    assert "Computed by ctxweb 0.0.9: shown as the sender saw it." in page
    assert ("It compacted because of the moon." in page) == (view != "diff")
    if view != "session":
        event = replays.run(session.pk, stored(STATE)).replay.events[0]
        assert f"{event.before_tokens:,}" in page
        assert f"{event.n_before:,} → {event.n_after:,}" in page
        assert "<summary>Dropped" in page
    for secret in (KEY, KEY[:30], MAIL, "/home/mara"):
        assert secret not in page
    assert "of the moon" not in opened(f"{path}?now=1")


def test_other_words_of_what_was_lost_are_noticed(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many rules lost, and other ones: no figure says so."""
    lossy = store(claude_session(60).encode())
    path = share(lossy, "replay", "policy=sliding_window&window=60000", **BOTH)  # type: ignore[arg-type]
    assert "computes otherwise" not in opened(path)
    judged = losses.of_replay

    def others(whose: Session, ran: Replay) -> losses.Losses | None:
        found = judged(whose, ran)
        assert found is not None
        assert found.n_rules == 1
        events = [replace(one, rules=tuple(replace(fate, text="Else") for fate in one.rules)) for one in found.events]
        return replace(found, events=tuple(events))

    monkeypatch.setattr(losses, "of_replay", others)
    page = opened(path)
    assert "computes otherwise now" in page
    assert "What was lost" in page
    link = ReplayLink.objects.get(session=lossy)
    then = frozen.kept(link)
    assert not then["figures"].pop("losses").startswith("[")
    ReplayLink.objects.update(results=gzip.compress(json.dumps(then).encode()))
    assert "computes otherwise" not in opened(path), "an earlier version kept none to compare with"
    monkeypatch.setattr(losses, "of_replay", lambda *_: None)
    assert opened(path)


def test_a_claim_of_ctxweb_s_own_follows_and_one_of_the_sender_stays(session: Session) -> None:
    for title, kept in (("", False), ("Too early?", True)):
        shared(session, title=title)
        link = ReplayLink.objects.latest("pk")
        then = frozen.kept(link) | {"claim": "It was otherwise"}
        data = gzip.compress(json.dumps(then).encode())
        ReplayLink.objects.filter(pk=link.pk).update(results=data, title=title or "It was otherwise")
        assert Client().post(f"/links/{link.pk}/recompute/").status_code == 302
        link.refresh_from_db()
        assert link.title == (title if kept else frozen.kept(link)["claim"])
        assert "otherwise" not in link.title


def test_a_link_that_kept_nothing_is_shown_as_computed_now(session: Session) -> None:
    path = shared(session)
    ReplayLink.objects.update(results=None, version="", prices="")
    assert SAW.search(opened(path))
    pk = ReplayLink.objects.get().pk
    assert Client().post(f"/links/{pk}/recompute/").status_code == 302
    link = ReplayLink.objects.get()
    assert link.version == ctxweb_version()
    assert frozen.kept(link)["handout"]["positions"][0]["events"]


def test_a_reply_keeps_its_own_figures(session: Session) -> None:
    path = shared(session)
    theirs = answer(path, compact_at="12000")["Location"].partition("?")[0]
    link = ReplayLink.objects.get(reply_to__isnull=False)
    assert frozen.kept(link)["claim"] == link.title
    older(link, n_events=99)
    page = opened(theirs)
    assert "shown as the sender saw it" in page
    assert 'id="side-A"' not in page
    assert 'id="side-A"' in opened(f"{theirs}?now=1")


def test_one_compaction_keeps_that_one_alone(session: Session) -> None:
    path = share(session, "diff", f"{STATE}&event=1")
    older(ReplayLink.objects.get(), n_events=99, lists="others")
    page = opened(path)
    assert "shown as the sender saw it" in page
    assert "99" not in page.split("<h1>")[1].split("<aside")[0].split("<table")[1]
    events = replays.run(session.pk, stored(STATE)).replay.events
    assert f"{events[1].before_tokens:,}" in page
    assert f"{events[0].n_before:,} → {events[0].n_after:,}" not in page
    assert "chart.svg" not in page
    assert Client().get(f"{path}chart.svg").status_code == 404


def test_the_chart_is_an_image_without_secrets(session: Session) -> None:
    path = shared(session, title=f"See {KEY}")
    image = Client().get(f"{path}chart.svg")
    assert image["Content-Type"] == "image/svg+xml"
    assert image.content.startswith(b"<svg")
    assert KEY.encode() not in image.content
    moved = Client().get(f"{path}chart.svg?compact_at=12000").content
    assert moved.count(b"<circle") >= image.content.count(b"<circle")
    assert moved != image.content


def test_the_slider_of_a_stranger_has_a_limit(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions.pages.links.gate.MOST_MOVES", 3)
    path = shared(session)
    codes = [Client().get(f"{path}replay/?compact_at={at}", headers=HTMX).status_code for at in range(9000, 9004)]
    assert codes == [200, 200, 200, 429]
    refused = Client().get(f"{path}view.json?compact_at=9000")
    assert (refused.status_code, refused["Retry-After"]) == (429, "60")
    assert "Wait a minute" in refused.content.decode()
    assert Client().get(path).status_code == 200
    assert Client(REMOTE_ADDR="192.0.2.9").get(f"{path}replay/?compact_at=9000").status_code == 200


def test_figures_are_taken_along_as_rows(session: Session) -> None:
    path = shared(session)
    ran = replays.run(session.pk, stored(STATE)).replay
    text = Client().get(f"{path}view.csv").content.decode()
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [int(line["tokens"]) for line in lines] == list(ran.context_tokens)
    assert [int(line["compaction"]) for line in lines if line["compaction"]] == [e.index + 1 for e in ran.events]
    same = [json.loads(line) for line in Client().get(f"{path}view.jsonl").content.splitlines()]
    assert [line["tokens"] for line in same] == list(ran.context_tokens)
    moved = [json.loads(line) for line in Client().get(f"{path}view.jsonl?compact_at=12000").content.splitlines()]
    assert sum(line["compaction"] is not None for line in moved) > len(ran.events)
    page = opened(f"{path}replay/?compact_at=12000", **HTMX)
    assert f"{path}view.csv?compact_at=12000" in page


def test_rows_of_one_compaction_are_its_lines(session: Session) -> None:
    path = share(session, "diff", f"{STATE}&event=1")
    lines = list(csv.DictReader(io.StringIO(Client().get(f"{path}view.csv").content.decode())))
    event = replays.run(session.pk, stored(STATE)).replay.events[1]
    kept = {int(line["message"]) for line in lines if line["message"]}
    assert kept == {item.message.index for item in (*event.before, *event.after) if item.message.index >= 0}
    recorded = Client().get(f"{share(session, 'session', '')}view.csv").content.decode()
    assert recorded.splitlines()[0] == "request,recorded_tokens"


def test_a_session_that_goes_on_leaves_the_link_as_it_was(session: Session) -> None:
    path = share(session, "session", "", **BOTH)  # type: ignore[arg-type]
    before = session.n_messages
    assert "computes otherwise" not in opened(path)
    with selectors.open_upload(session.upload) as file:
        lines = file.read().splitlines(keepends=True)
    longer = store(b"".join(lines) + lines[-1].replace(b'"uuid":"', b'"uuid":"f'), "longer.jsonl")
    assert (longer.pk, longer.n_messages > before) == (session.pk, True)
    page = opened(path)
    assert "shown as the sender saw it" in page
    assert f"{longer.n_messages} messages" not in page
    assert f"{longer.n_messages} messages" in opened(f"{path}?now=1")
