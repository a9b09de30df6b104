"""Every route of a link, as the URL resolver lists them: moves are counted, frames refused, one compaction is alone."""

from __future__ import annotations

import gzip
import html
import io
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from sessions.models import ReplayLink, Session
from sessions.pages.links import frozen
from sessions.pages.links.opened import stored
from sessions.runs import replays
from sessions.runs.replay_state import ReplayState
from sessions.runs.replays import ReplayRun
from sessions.services.ingest import ingest
from sessions.services.uploads import receive
from tests.services.claude_lines import Lines
from tests.web.test_link_crawl import compact, reached
from tests.web.test_links import STATE, session, share

__all__ = ["session"]
VIEWS = ("session", "replay", "diff")
BOTH = {"chosen": "1", "allow": ["move", "reply"]}
PASSWORD = "correct-horse"


def patterns(under: list[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    """Every route, as it is written."""
    for one in under:
        route = before + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from patterns(one.url_patterns, route)
        else:
            yield route


def routes(path: str, numbers: Sequence[int] = range(8)) -> list[str]:
    """The address of every route below a link, those of messages and compactions for each of the numbers."""
    found = []
    for pattern in patterns(get_resolver().url_patterns):
        if pattern.startswith("l/<str:token>/"):
            below = pattern.removeprefix("l/<str:token>/")
            found += dict.fromkeys(re.sub(r"<int:\w+>", str(n), below) for n in numbers)
    assert len(found) >= 12, "routes of a link are found"
    return [path + below for below in found]


def test_a_route_of_a_link_is_below_its_token() -> None:
    assert "x/chart/" in routes("x/")
    assert "x/compaction/3/" in routes("x/")


@pytest.mark.parametrize("view", VIEWS)
def test_every_route_counts_what_it_replays(session: Session, monkeypatch: pytest.MonkeyPatch, view: str) -> None:
    """Whatever an address is asked with, no more settings are replayed than it has moves."""
    monkeypatch.setattr("sessions.pages.links.gate.MOST_MOVES", 2)
    path = share(session, view, STATE if view != "session" else "", **BOTH)  # type: ignore[arg-type]
    known, run = set[str](), replays.run

    def watched(session_id: str, state: ReplayState) -> ReplayRun:
        known.add(str(state.params))
        return run(session_id, state)

    monkeypatch.setattr(replays, "run", watched)
    for n, route in enumerate(routes(path, numbers=(1,))):
        for way in ("get", "head", "post", "in an address"):
            known.clear()
            who = Client(REMOTE_ADDR=f"198.51.{n}.{len(way)}")
            codes = []
            for at in range(4):
                moved = {"compact_at": str(9_000 + 1_000 * n + 100 * at), "author": "Bob"}
                if way == "in an address":
                    codes.append(who.post(f"{route}?compact_at={moved['compact_at']}", {"author": "Bob"}).status_code)
                else:
                    codes.append(getattr(who, way)(route, moved).status_code)
            assert len(known - {str(stored(STATE).params)}) <= 2, (route, way, codes)
            assert set(codes[2:]) <= {429, 405} or view != "replay", (route, way, codes)


def test_moves_of_all_methods_are_counted_together(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions.pages.links.gate.MOST_MOVES", 3)
    path = share(session, **BOTH)  # type: ignore[arg-type]
    bob = Client()
    assert bob.get(f"{path}replay/?compact_at=9000").status_code == 200
    assert bob.head(f"{path}view.json?compact_at=9100").status_code == 200
    assert bob.post(f"{path}reply/", {"author": "Bob", "compact_at": "9200"}).status_code == 302
    refused = bob.post(f"{path}reply/", {"author": "Bob", "compact_at": "9300"})
    assert (refused.status_code, refused["Retry-After"]) == (429, "60")
    assert ReplayLink.objects.filter(reply_to__isnull=False).count() == 1


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("secret", ["", PASSWORD])
@pytest.mark.parametrize("view", VIEWS)
def test_only_the_chart_of_a_link_without_a_password_is_framed(
    session: Session, view: str, secret: str, opened: bool
) -> None:
    path = share(session, view, STATE if view != "session" else "", secret=secret, **BOTH)  # type: ignore[arg-type]
    who = Client()
    if opened and secret:
        assert who.post(path, {"password": PASSWORD}).status_code == 302
    framed = set()
    for route in routes(path):
        for answer in (who.get(route), who.post(route, {"password": "wrong-horse"})):
            kept_out = answer["X-Frame-Options"] == "DENY" if "X-Frame-Options" in answer else False
            alone = "frame-ancestors 'none'" in answer["Content-Security-Policy"]
            assert kept_out == alone, (route, answer.status_code)
            if not kept_out:
                framed.add(route)
                assert b"<form" not in answer.content
    assert framed == ({f"{path}chart/"} if view == "replay" and not secret else set())


TURNS = 60


@pytest.fixture
def planted(db: None, tmp_path: Path, settings: Any) -> Session:
    """A session in which each message says a word of its own; three compactions are recorded."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    lines = Lines().prompt("Deploy zqtitlez to the shop")
    for n in range(TURNS):
        lines.turn(f"zqresult{n}z " + "word " * 150, text=f"zqreply{n}z")
        if n % 20 == 19:
            compact(lines, f"They said zqsummary{n}z")
            lines.context = 12_000
    upload = receive(file=io.BytesIO(lines.bytes()), filename="zqnamez.jsonl").upload
    ingest(upload_id=upload.pk)
    return Session.objects.get()


def told(path: str) -> dict[str, str]:
    """Every answer of the link's routes and of what its pages lead to, with their heads."""
    found = reached(path)
    for route in routes(path):
        for asked in ("", "?compact_at=4000", "?now=1", "?event=0", "?event=0&request=3"):
            answer = Client().get(route + asked)
            heads = "\n".join(f"{name}: {value}" for name, value in answer.items())
            found[route + asked] = html.unescape(unquote(f"{heads}\n{answer.content.decode()}"))
    return found


@pytest.mark.parametrize("as_kept", [False, True])
def test_a_link_of_one_compaction_tells_nothing_of_the_others(planted: Session, as_kept: bool) -> None:
    state = "policy=sliding_window&window=9000"
    events = replays.run(planted.pk, stored(state)).replay.events
    assert len(events) > 3
    own = events[2]
    path = share(planted, "diff", f"{state}&event=2", remarks="1: zqremarkz", note="See it", **BOTH)  # type: ignore[arg-type]
    if as_kept:
        link = ReplayLink.objects.get()
        then = frozen.kept(link)
        then["figures"] |= {"lists": "others", "headline": "zqheadlinez", "n_events": 97_531}
        then["verdicts"], then["about"] = ["zqverdictz"], "zqtitlez"
        ReplayLink.objects.filter(pk=link.pk).update(results=gzip.compress(json.dumps(then).encode()))
    messages = {item.message.index for item in (*own.before, *own.after)}
    assert 0 not in messages, "the title is the text of a message that this compaction does not hold"
    held = [planted.title, *(one.preview for one in overview_messages(planted) if one.index in messages)]
    words = set(re.findall(r"zq\w+?z\b", " ".join(held[1:])))
    assert words
    others = [event for event in events if event.index != 2]
    figures = {f"{n:,}" for event in others for n in (event.before_tokens, event.after_tokens) if n > 1_000}
    figures |= {f"of {len(events)}", f"{len(events)} compactions", "97,531", "97531", f"{planted.n_messages} messages"}
    figures |= {f"Compaction {event.index + 1}:" for event in others} | {"3 recorded", f"{TURNS} requests"}
    figures -= {f"{n:,}" for n in (own.before_tokens, own.after_tokens)}
    pages = told(path)
    assert any("compaction 3" in page for page in pages.values())
    assert any("shown as the sender saw it" in page for page in pages.values()) == as_kept
    for address, page in pages.items():
        assert not set(re.findall(r"zq\w+?z\b", page)) - words, address
        for figure in figures:
            at = page.find(figure)
            assert at < 0, f"{figure} in {address}: {page[max(at - 80, 0) : at + 80]}"


def overview_messages(session: Session) -> Any:
    """The messages of the session, as read."""
    from sessions import selectors

    return selectors.load_weighed(session.pk).transcript.messages


@pytest.mark.parametrize("state", ["policy=sliding_window&window=9000&event=2", "policy=none", f"{STATE}&from=3&to=9"])
def test_a_title_of_one_compaction_is_its_own(planted: Session, state: str) -> None:
    share(planted, "diff", state)
    title = ReplayLink.objects.get().title
    kind = r"Compaction 3" if "event" in state else r"Requests 3 and 9" if "from" in state else ""
    assert re.fullmatch(rf"{kind}: [\d,]+ → [\d,]+ messages, [\d,]+ → [\d,]+ tokens", title) or (
        not kind and title == "No compaction with this setting"
    )


def test_the_dialog_says_what_files_hold_besides(planted: Session) -> None:
    says = "Only the link shows this compaction alone. File, report and SVG hold the whole replay."
    pages = {view: Client().get(f"/s/{planted.pk}/share/?view={view}&{STATE}").content.decode() for view in VIEWS}
    assert {view for view, page in pages.items() if says in page} == {"diff"}


def test_a_link_of_no_compaction_hands_over_no_other(planted: Session) -> None:
    path = share(planted, "diff", "policy=none")
    assert Client().get(f"{path}view.json").status_code == 404
    assert Client().get(path).status_code == 200


def test_what_was_removed_is_counted_in_one_compaction_alone(session: Session) -> None:
    """Forty secrets in all: fewer in the lists of one compaction."""
    of_all = Client().get(f"{share(session)}removed/").content.decode()
    of_one = Client().get(f"{share(session, 'diff', f'{STATE}&event=0')}removed/").content.decode()
    counts = [int(re.search(r"(\d+)</td><td[^>]*>API keys", page)[1]) for page in (of_all, of_one)]  # type: ignore[index]
    assert counts[0] == 46
    assert counts[1] < 46
