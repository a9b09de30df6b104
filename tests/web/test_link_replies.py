"""What a recipient does with a link: moves where it compacts, replies with a setting, points at one place in it."""

from __future__ import annotations

import re

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from sessions.engine.redact import BY_KEY
from sessions.models import ReplayLink, Session
from sessions.pages.links.opened import moved, stored
from sessions.runs import replays
from sessions.runs.overview import overview
from sessions.runs.ranges import threshold_of
from sessions.services import links as service
from tests.web.test_links import HTMX, KEY, STATE, opened, session, share

__all__ = ["session"]
BOTH = {"chosen": "1", "hide": [*BY_KEY], "allow": ["move", "reply"]}


def shared(session: Session, **form: str | list[str]) -> str:
    return share(session, **{**BOTH, **form})  # type: ignore[arg-type]


def answer(path: str, **form: str) -> HttpResponse:
    """Bob's reply."""
    return Client().post(f"{path}reply/", {"author": "Bob", "note": "Better?", **form})  # type: ignore[return-value]


def test_a_moved_threshold_is_met_as_nearly_as_the_parameter_allows(session: Session) -> None:
    weighed, state = overview(session.pk).weighed, stored(STATE)
    low, high = (threshold_of(weighed, moved(weighed, state, at), {}) or 0 for at in (15_000, 25_000))
    assert abs(low - 15_000) < 200
    assert abs(high - 25_000) < 200
    assert moved(weighed, state, 15_000).window == state.window
    assert moved(weighed, stored("policy=none"), 15_000) == stored("policy=none")


def test_the_recipient_moves_the_slider_and_everything_follows(session: Session) -> None:
    path = shared(session)
    page = opened(path)
    assert 'id="try-slider"' in page
    assert "Move it to see what changes" in page
    part = opened(f"{path}replay/?compact_at=12000", **HTMX)
    assert "<html" not in part
    assert "You moved it. The sender's setting:" in part
    exact = threshold_of(overview(session.pk).weighed, moved(overview(session.pk).weighed, stored(STATE), 12_000), {})
    assert re.search(rf'id="try-now" hx-swap-oob="true">{exact:,} tokens', part)
    said = rf"At {exact:,} instead of [\d,]+ tokens: [^,]+ (?:than|as) recorded,"
    assert re.search(said, part), "as the bill beside it"
    assert 'id="shared-facts"' in part
    ran = replays.run(session.pk, moved(overview(session.pk).weighed, stored(STATE), 12_000))
    sent = replays.run(session.pk, stored(STATE))
    assert len(ran.replay.events) > len(sent.replay.events)
    assert part.count('class="ev-n"') == len(ran.replay.events)
    assert re.search(rf'href="{path}diff/\?[^"]*compact_at=12000', part)
    assert f"{path}reply/?compact_at=12000" in part
    assert "instead of" in part
    document = Client().get(f"{path}view.json?compact_at=12000").json()
    assert len(document["events"]) == len(ran.replay.events)


def test_a_link_that_keeps_still_and_a_wrong_number_show_the_senders_setting(session: Session) -> None:
    still = share(session, chosen="1", hide=["keys"])
    assert 'id="try-slider"' not in opened(still)
    n_events = len(replays.run(session.pk, stored(STATE)).replay.events)
    moving = shared(session)
    for asked in (
        f"{still}replay/?compact_at=12000",
        f"{moving}replay/?compact_at=-5",
        f"{moving}replay/?compact_at=x",
    ):
        assert opened(asked).count('class="ev-n"') == n_events
    assert Client().get(f"{still}reply/").status_code == 404


def test_a_reply_shows_both_settings_and_stands_in_the_senders_list(session: Session) -> None:
    path = shared(session, title="Too early?")
    form = opened(f"{path}reply/?compact_at=12000")
    assert "your setting" in form
    assert 'name="compact_at" value="12000"' in form
    made = answer(path, compact_at="12000")
    assert made.status_code == 302
    page = opened(made["Location"].partition("?")[0])
    assert "A reply to “Too early?”" in page
    assert "Bob's setting. Move it to see what changes." in page
    assert 'id="side-A"' in page
    assert 'id="side-B"' in page
    assert "Rules lost" in page
    assert "Better?" in page
    link = ReplayLink.objects.get(reply_to__isnull=False)
    assert stored(link.state).params
    assert link.title.startswith("At 1")
    listed = opened(f"/s/{session.pk}/share/?view=replay")
    assert "Reply by Bob to “Too early?”" in listed
    beside = Client().get(f"/links/{link.pk}/replied/")
    assert beside["Location"].startswith(f"/s/{session.pk}/compare/ab/?policy=sliding_window")
    assert "b.p." in beside["Location"]
    assert Client().get(f"{made['Location'].partition('?')[0]}reply/").status_code == 404


def test_the_owner_sees_how_many_replied(session: Session) -> None:
    """On every page of the session, beside Share; revoked ones no longer count."""
    pages = [f"/s/{session.pk}/{tail}" for tail in ("", "replay/", "transcript/")]
    path = shared(session)
    badge = 'to links of this session">'
    assert not any(badge in opened(page) for page in pages)
    answer(path, note="What about 75K?")
    assert all(f'1 reply {badge}1<span class="visually-hidden"> reply' in opened(page) for page in pages)
    answer(path)
    assert all(f"2 replies {badge}2" in opened(page) for page in pages)
    service.revoke_link(link_id=ReplayLink.objects.filter(reply_to__isnull=False).latest("pk").pk)
    assert all(f"1 reply {badge}1" in opened(page) for page in pages)
    listed = re.sub(r"<[^>]+>", "", opened(f"/s/{session.pk}/share/?view=replay"))
    assert " “What about 75K?” " in listed, "apart from the title before it"


def test_a_reply_lives_on_the_terms_of_its_link(session: Session) -> None:
    path = shared(session, secret="correct-horse")
    assert answer(path).status_code == 403  # the password comes first
    bob = Client()
    bob.post(path, {"password": "correct-horse"})
    made = bob.post(f"{path}reply/", {"author": "Bob"})["Location"].partition("?")[0]
    assert bob.get(made).status_code == 200
    assert Client().get(made).status_code == 401
    first = ReplayLink.objects.get(reply_to=None)
    ReplayLink.objects.filter(pk=first.pk).update(expires_at=timezone.now())
    assert bob.get(made).status_code == 404
    ReplayLink.objects.filter(pk=first.pk).update(expires_at=None)
    assert bob.get(made).status_code == 200
    service.revoke_link(link_id=first.pk)
    assert bob.get(made).status_code == 404


def test_replies_are_short_and_few(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    path = shared(session)
    for wrong in ({"author": ""}, {"author": "x" * 61}, {"note": "x" * 501}, {"author": "a\0b"}):
        assert answer(path, **wrong).status_code == 422
    assert not ReplayLink.objects.filter(reply_to__isnull=False).exists()
    monkeypatch.setattr("sessions.pages.links.stranger.MOST_AN_HOUR", 2)
    assert [answer(path).status_code for _ in range(3)] == [302, 302, 429]
    monkeypatch.setattr(service, "MOST_REPLIES", 3)
    elsewhere = Client(REMOTE_ADDR="192.0.2.9")
    codes = [elsewhere.post(f"{path}reply/", {"author": "Eve"}).status_code for _ in range(2)]
    assert codes == [302, 429]
    assert Client(enforce_csrf_checks=True).post(f"{path}reply/", {"author": "Bob"}).status_code == 403


def test_messages_and_compactions_have_addresses_inside_a_link(session: Session) -> None:
    path = shared(session)
    page = opened(f"{path}m/3/")
    assert "Message #3" in page
    assert '<pre class="passage-text"' in page
    assert opened(f"{path}compaction/2/").count("compaction 2") > 0
    for gone in ("m/999999/", "compaction/0/", "compaction/999/"):
        assert Client().get(path + gone).status_code == 404


def test_notes_on_messages_stand_beside_them(session: Session) -> None:
    path = shared(session, remarks="3: Look here\n#1: And there")
    assert "Look here" in opened(path)
    assert "Look here" in opened(f"{path}m/3/")
    wrong = Client().post(f"/s/{session.pk}/share/?view=replay", {**BOTH, "remarks": "Look"})
    assert wrong.status_code == 422
    assert "one a line" in wrong.content.decode()


def test_a_link_of_one_compaction_shows_that_one_alone(session: Session) -> None:
    path = share(session, "diff", f"{STATE}&event=1")
    page = opened(path)
    assert "compaction 2" in page
    assert opened(f"{path}diff/?event=0").count("compaction 1,") == 0
    assert Client().get(f"{path}replay/").status_code == 404
    assert Client().get(f"{path}chart/").status_code == 404
    assert Client().get(f"{path}compaction/1/").status_code == 404
    assert Client().get(f"{path}compaction/2/").status_code == 200
    event = replays.run(session.pk, stored(STATE)).replay.events[1]
    shown = {item.message.index for item in (*event.before, *event.after)}
    last = len(overview(session.pk).messages) - 1
    assert last not in shown
    assert Client().get(f"{path}m/{last}/").status_code == 404
    assert Client().get(f"{path}m/{max(shown)}/").status_code == 200
    assert Client().get(f"{path}view.json").json()["schema"] == "ctxweb.diff/1"


def test_a_card_says_title_and_figures_unless_there_is_a_password(session: Session) -> None:
    page = opened(shared(session, title="Too early?"))
    assert '<meta property="og:title" content="Too early?">' in page
    assert re.search(r'<meta property="og:description" content="[^"]*Cost: ', page)
    locked = Client().get(shared(session, title="Too early?", secret="correct-horse")).content.decode()
    assert "og:" not in locked
    assert "Too early" not in locked


def test_the_chart_alone_may_stand_in_a_frame(session: Session) -> None:
    path = shared(session)
    chart, page = Client().get(f"{path}chart/"), Client().get(path)
    assert "frame-ancestors *" in chart["Content-Security-Policy"]
    assert "X-Frame-Options" not in chart
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert page["X-Frame-Options"] == "DENY"
    assert "<form" not in chart.content.decode()


def test_a_long_message_counts_what_is_not_shown(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    path = shared(session)
    words = "word " * 50_000 + KEY
    monkeypatch.setattr("sessions.pages.links.stranger.message_text", lambda *_: words)
    page = opened(f"{path}m/3/")
    left = re.search(r"([\d,]+) more characters not shown", page)
    assert left is not None
    assert abs(int(left[1].replace(",", "")) - (len(words) - 20_000)) <= 5
    monkeypatch.setattr("sessions.pages.links.stranger.LONG", 40)
    monkeypatch.setattr("sessions.pages.links.stranger.message_text", lambda *_: f"Deploy with it: {KEY}")
    assert KEY[:12] not in opened(f"{path}m/3/")


def test_the_name_of_a_reply_is_redacted(session: Session) -> None:
    path = shared(session)
    theirs = answer(path, author="bob@storefront.example")["Location"].partition("?")[0]
    assert "storefront" not in opened(theirs)


def test_the_library_leads_to_a_reply_and_its_page_has_the_senders_answer(session: Session) -> None:
    made = answer(shared(session), compact_at="12000")
    path = made["Location"].partition("?")[0]
    assert "their answer stands here" in opened(made["Location"])
    assert "none yet. It stands here" in opened(path)
    library = Client().get("/").content.decode()
    assert f'<a href="/s/{session.pk}/share/?view=replay">1 reply</a>' in library
    reply = ReplayLink.objects.get(reply_to__isnull=False)
    address = f"/links/{reply.pk}/answer/"
    assert f'action="{address}"' in Client().get(f"/s/{session.pk}/share/?view=replay").content.decode()
    assert Client().post(address, {"answer": f" Taken, without {KEY} "}).status_code == 302
    assert "The sender's answer:</strong> Taken, without [key]<" in opened(path)
    assert Client().post(f"/links/{reply.reply_to_id}/answer/", {"answer": "x"}).status_code == 404
