"""Who may go where: every route of the URL map × everybody who may come, by a table.

A route without an entry in ``TABLE`` fails here.  Each answer is only told apart as let in, told to sign in, not there,
or not allowed; what it shows is other tests' business.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from sessions.models import (
    ApiToken,
    MediaUse,
    ReplayLink,
    SavedView,
    Session,
    SummaryJob,
    SweepRun,
    Upload,
)
from sessions.services import people
from sessions.services.ingest import ingest
from sessions.services.links import Terms, create_link, reply
from sessions.services.tokens import make_token
from sessions.services.uploads import receive
from sessions.services.work import work_one
from tests.services.claude_lines import Lines, png
from tests.web.test_no_5xx import routes

pytestmark = pytest.mark.django_db

OPEN_TO_ALL = Terms(takes_replies=True)
ROUTES = routes()

IN, LOGIN, GONE, NO, LOCKED = "let in", "sign in", "not there", "not allowed", "password"

SEEN = {
    "private": {"owner": IN, "admin": IN, "member": GONE, "anonymous": LOGIN},
    "team": {"owner": IN, "admin": IN, "member": IN, "anonymous": LOGIN},
}
"""What shows a session: its owner and admins, and the team where it is the team's."""
OWNED = {
    "private": SEEN["private"],
    "team": {"owner": IN, "admin": IN, "member": NO, "anonymous": LOGIN},
}
"""What changes who sees it: its owner and admins; others who see it are told."""
MINE = {
    "private": {"owner": IN, "admin": GONE, "member": GONE, "anonymous": LOGIN},
    "team": {"owner": IN, "admin": GONE, "member": GONE, "anonymous": LOGIN},
}
"""What somebody keeps for themselves: saved views."""
ANYBODY = {"any": {"owner": IN, "admin": IN, "member": IN, "anonymous": LOGIN}}
"""Whoever has an account."""
NOWHERE = {"any": {"owner": GONE, "admin": GONE, "member": GONE, "anonymous": LOGIN}}
"""What only a server without accounts has: the sessions of the computer it runs on."""
LEAVES = {"any": dict.fromkeys(("owner", "admin", "member", "anonymous"), LOGIN)}
ADMINS = {"any": {"owner": NO, "admin": IN, "member": NO, "anonymous": LOGIN}}
OPEN = {"any": {"owner": IN, "admin": IN, "member": IN, "anonymous": IN}}
LINK = {
    "link": {
        "holder": IN, "without the password": LOCKED, "expired": GONE, "revoked": GONE, "unknown": GONE,
        "member with a revoked one": GONE,
    }
}  # fmt: skip
API_SEEN = {
    "api private": {"owner": IN, "admin": IN, "member": GONE, "no token": LOCKED, "revoked": LOCKED, "expired": LOCKED,
                    "other scope": NO},
    "api team": {"owner": IN, "admin": IN, "member": IN, "no token": LOCKED},
}  # fmt: skip
API_OWNED = {"api private": API_SEEN["api private"], "api team": API_SEEN["api team"] | {"member": NO}}
API_ANY = {"api team": API_SEEN["api private"] | {"member": IN}}
INVITED = {"invitation": {"holder": IN, "expired": GONE, "revoked": GONE, "unknown": GONE}}


@dataclass(frozen=True)
class Rule:
    """Who gets what from a route, and how it is asked."""

    cast: dict[str, dict[str, str]]
    method: str = "get"
    query: dict[str, str] = field(default_factory=dict)
    data: dict[str, str] = field(default_factory=dict)
    scope: str = "read"
    is_json: bool = False


TABLE = {
    "api:aftermath": Rule(API_SEEN),
    "api:api-root": Rule(OPEN),
    "api:diff": Rule(API_SEEN),
    "api:export": Rule(API_SEEN),
    "api:get_upload": Rule(API_SEEN),
    "api:inspect": Rule(API_SEEN),
    "api:list_links": Rule(API_OWNED),
    "api:list_sessions": Rule(API_ANY),
    "api:search": Rule(API_ANY, query={"q": "output"}),
    "api:make_link": Rule(API_OWNED, "post", scope="share", is_json=True),
    "api:openapi-json": Rule(OPEN),
    "api:probe": Rule(API_SEEN),
    "api:replay": Rule(API_SEEN),
    "api:revoke_link": Rule(API_OWNED, "delete", scope="share"),
    "api:sweep": Rule(API_SEEN, query={"policy": "claude_code"}),
    "api:upload": Rule(API_ANY, "post", scope="upload"),
    "api:why": Rule(API_SEEN),
    "api_docs": Rule(OPEN),
    "healthz": Rule(OPEN),
    "readyz": Rule(OPEN),
    "login": Rule(OPEN),
    "logout": Rule(LEAVES, "post"),
    "password": Rule(ANYBODY),
    "sessions:ab": Rule(SEEN),
    "sessions:ab_json": Rule(SEEN),
    "sessions:apply": Rule(SEEN),
    "sessions:apply_json": Rule(SEEN),
    "sessions:causes": Rule(SEEN),
    "sessions:count": Rule(SEEN),
    "sessions:delete": Rule(ANYBODY),
    "sessions:demo": Rule(ANYBODY, "post"),
    "sessions:diff": Rule(SEEN),
    "sessions:diff_json": Rule(SEEN),
    "sessions:events": Rule(SEEN),
    "sessions:export": Rule(SEEN),
    "sessions:fleet": Rule(ANYBODY),
    "sessions:fleet_csv": Rule(ANYBODY),
    "sessions:fleet_json": Rule(ANYBODY),
    "sessions:fleet_start": Rule(ANYBODY, "post"),
    "sessions:found": Rule(NOWHERE),
    "sessions:found_state": Rule(ANYBODY),
    "sessions:growth": Rule(SEEN),
    "sessions:inspector": Rule(SEEN),
    "sessions:invitation_withdraw": Rule(ADMINS, "post"),
    "sessions:invite": Rule(ADMINS, "post"),
    "sessions:join": Rule(INVITED),
    "sessions:library": Rule(ANYBODY),
    "sessions:link": Rule(LINK),
    "sessions:link_chart": Rule(LINK),
    "sessions:link_compaction": Rule(LINK),
    "sessions:link_diff": Rule(LINK),
    "sessions:link_csv": Rule(LINK),
    "sessions:link_json": Rule(LINK),
    "sessions:link_jsonl": Rule(LINK),
    "sessions:link_message": Rule(LINK),
    "sessions:link_removed": Rule(LINK),
    "sessions:link_replay": Rule(LINK),
    "sessions:link_recompute": Rule(OWNED, "post"),
    "sessions:link_replied": Rule(OWNED),
    "sessions:link_reply": Rule(LINK),
    "sessions:link_svg": Rule(LINK),
    "sessions:link_renew": Rule(OWNED, "post"),
    "sessions:link_answer": Rule(OWNED, "post"),
    "sessions:link_revoke": Rule(OWNED, "post"),
    "sessions:manual": Rule(ANYBODY),
    "sessions:manual_page": Rule(ANYBODY),
    "sessions:media": Rule(SEEN),
    "sessions:thumbnail": Rule(SEEN),
    "sessions:message_count": Rule(SEEN, "post"),
    "sessions:message_raw": Rule(SEEN),
    "sessions:messages": Rule(SEEN),
    "sessions:messages_csv": Rule(SEEN),
    "sessions:people": Rule(ANYBODY),
    "sessions:person_remove": Rule(ADMINS),
    "sessions:person_role": Rule(ADMINS, "post"),
    "sessions:quality": Rule(SEEN),
    "sessions:quality_json": Rule(SEEN),
    "sessions:quality_judge": Rule(SEEN, "post"),
    "sessions:quality_warned": Rule(ANYBODY),
    "sessions:replay": Rule(SEEN),
    "sessions:replay_json": Rule(SEEN),
    "sessions:replay_losses": Rule(SEEN),
    "sessions:save": Rule(SEEN),
    "sessions:saved": Rule(ANYBODY),
    "sessions:saved_delete": Rule(MINE),
    "sessions:session": Rule(SEEN),
    "sessions:session_chart": Rule(SEEN),
    "sessions:session_json": Rule(SEEN),
    "sessions:sessions_csv": Rule(ANYBODY),
    "sessions:sessions_json": Rule(ANYBODY),
    "sessions:settings": Rule(ANYBODY),
    "sessions:settings_key": Rule(ANYBODY, "post"),
    "sessions:settings_key_forget": Rule(ANYBODY, "post"),
    "sessions:settings_key_test": Rule(ANYBODY, "post"),
    "sessions:settings_models": Rule(ADMINS, "post"),
    "sessions:settings_prices": Rule(ADMINS, "post"),
    "sessions:share": Rule(OWNED),
    "sessions:share_chart": Rule(OWNED, query={"policy": "nope"}),
    "sessions:share_report": Rule(OWNED, query={"policy": "nope"}),
    "sessions:share_file": Rule(OWNED, query={"policy": "nope"}),
    "sessions:share_removed": Rule(OWNED),
    "sessions:step": Rule(SEEN),
    "sessions:recommended": Rule(SEEN),
    "sessions:summaries": Rule(SEEN, "post"),
    "sessions:summary_cancel": Rule(SEEN, "post"),
    "sessions:summary_job": Rule(SEEN),
    "sessions:sweep": Rule(SEEN),
    "sessions:sweep_cancel": Rule(SEEN, "post"),
    "sessions:sweep_csv": Rule(SEEN),
    "sessions:sweep_json": Rule(SEEN),
    "sessions:sweep_start": Rule(SEEN, "post", query={"s": "session_id"}),
    "sessions:sweeps": Rule(SEEN, query={"s": "session_id"}),
    "sessions:sweeps_csv": Rule(SEEN, query={"s": "session_id"}),
    "sessions:sweeps_json": Rule(SEEN, query={"s": "session_id"}),
    "sessions:token_revoke": Rule(MINE, "post"),
    "sessions:tokens": Rule(ANYBODY),
    "sessions:transcript": Rule(SEEN),
    "sessions:upload": Rule(ANYBODY, "post"),
    "sessions:upload_download": Rule(SEEN),
    "sessions:upload_rejected": Rule(SEEN),
    "sessions:upload_report": Rule(SEEN),
    "sessions:upload_report_json": Rule(SEEN),
    "sessions:uploads_status": Rule(ANYBODY),
    "sessions:upload_dismiss": Rule(ANYBODY, "post"),
    "sessions:uploads_dismiss": Rule(ANYBODY, "post"),
    "sessions:who": Rule(OWNED),
    "sessions:why": Rule(SEEN),
    "sessions:why_json": Rule(SEEN),
    "sessions:why_aftermath": Rule(SEEN),
    "sessions:why_chart": Rule(SEEN),
    "sessions:why_recorded": Rule(SEEN),
    "sessions:why_rules": Rule(SEEN),
}
"""Every route there is.  A new one: the rule that fits; ``SEEN`` for whatever shows a session."""


def stored(owner: User, *, private: bool, n_turns: int) -> Session:
    """A session of ``owner`` with an image, and everything that hangs on one."""
    lines = Lines().prompt(f"Look at {n_turns}").turn(png(8, 8, 900 + n_turns), text="A screenshot")
    for turn in range(n_turns):
        lines.turn(f"output {turn}")
    file = io.BytesIO(lines.bytes())
    got = receive(file=file, filename=f"{n_turns}.jsonl", owner_id=owner.pk, private=private)
    ingest(upload_id=got.upload.pk)
    found = Session.objects.roots().get(upload=got.upload)
    now = timezone.now()
    SavedView.objects.create(session=found, owner=owner, kind="replay", name="mine")
    SweepRun.objects.create(key=found.pk, options={"sessions": [found.pk]}, n_total=1, heartbeat_at=now, state="done")
    SummaryJob.objects.create(session=found, model="m", n_total=1, heartbeat_at=now, state="done")
    first = create_link(session=found, view="replay", terms=OPEN_TO_ALL, maker_id=owner.pk).link
    reply(to=first, state="", title="t", note="", author="Bob", maker_id=None)
    make_token(name=found.pk, owner_id=owner.pk)
    return found


def arguments(name: str, session: Session | None) -> dict[str, Any]:
    """What the route is asked for: things of ``session``."""
    known: dict[str, Callable[[], Any]] = {
        "index": lambda: 0,
        "suffix": lambda: "jsonl",
        "user_id": lambda: User.objects.get(username="bob").pk,
        "invitation_id": lambda: 1,
        "target": lambda: "jsonl",
        "name": lambda: "reference/",
    }
    if session is not None:
        known |= {
            "session_id": lambda: session.pk,
            "upload_id": lambda: session.upload_id,
            "sha256": lambda: MediaUse.objects.filter(session=session).values_list("sha256", flat=True)[0],
            "run_id": lambda: SweepRun.objects.get(key=session.pk).pk,
            "job_id": lambda: session.summary_jobs.get().pk,
            "view_id": lambda: session.saved_views.get().pk,
            "link_id": lambda: session.links.get(reply_to__isnull=False).pk,
            "token_id": lambda: ApiToken.objects.get(name=session.pk).pk,
        }
    return {one: known[one]() for one in ROUTES[name] if one in known}


def answered(response: HttpResponse) -> str:
    """What an answer says about who asks."""
    if response.status_code in (301, 302, 303) and "/login/" in response["Location"]:
        return LOGIN
    known = {401: LOCKED, 403: NO, 404: GONE}
    assert response.status_code < 500 or response.status_code == 503, response.status_code
    is_login = response.status_code == 401 and b"Sign in first" in response.content
    return LOGIN if is_login else known.get(response.status_code, IN)


@pytest.fixture
def team(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> dict[str, Client]:
    """The cast, signed in: alice owns, bob is a member, carol an admin."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    settings.REQUIRE_LOGIN = True
    settings.DOCS = tmp_path / "docs"
    for folder in ("", "reference"):
        (tmp_path / "docs" / folder).mkdir(exist_ok=True)
        (tmp_path / "docs" / folder / "index.html").write_text("<title>The manual</title>")
    monkeypatch.setattr("sessions.tasks.wake", lambda n: None)
    cast = {"anonymous": Client()}
    for role, name in (("owner", "alice"), ("member", "bob"), ("admin", "carol")):
        user = User.objects.create_user(name, password="x", is_superuser=role == "admin")
        cast[role] = Client()
        cast[role].force_login(user)
    return cast


def asked(client: Client, rule: Rule, path: str, query: dict[str, str], headers: dict[str, str] | None = None) -> str:
    """The answer's kind; what the request changed is undone."""
    where = f"{path}?{'&'.join(f'{k}={v}' for k, v in query.items())}" if query else path
    with transaction.atomic():
        response = getattr(client, rule.method)(
            where, rule.data, headers=headers, **({"content_type": "application/json"} if rule.is_json else {})
        )
        kind = answered(response)
        if response.streaming:
            b"".join(response.streaming_content)  # which closes it
        transaction.set_rollback(True)
    return kind


def test_every_route_has_its_rule() -> None:
    assert set(TABLE) == set(ROUTES), "add the route to TABLE, or take it out"


def test_everybody_gets_what_the_table_says(team: dict[str, Client], settings: Settings) -> None:
    settings.ANTHROPIC_BASE_URL = "http://127.0.0.1:9"
    alice = User.objects.get(username="alice")
    sessions = {
        "private": stored(alice, private=True, n_turns=8),
        "team": stored(alice, private=False, n_turns=9),
        "any": None,
    }
    wrong = []
    for name, rule in TABLE.items():
        for of, cast in rule.cast.items():
            if of not in sessions:
                continue
            given = arguments(name, sessions[of] or sessions["team"])
            query = {key: given.get(value, str(getattr(sessions[of], "pk", value))) if value == "session_id" else value
                     for key, value in rule.query.items()}  # fmt: skip
            for who, expected in cast.items():
                client = team[who] if name != "logout" or who == "anonymous" else Client()
                if client is not team[who]:
                    client.force_login(User.objects.get(username={"owner": "alice", "member": "bob"}.get(who, "carol")))
                got = asked(client, rule, reverse(name, kwargs=given), query)
                if got != expected:
                    wrong.append(f"{name} of {of}: {who} is {got}, not {expected}")
    assert not wrong, "\n".join(wrong)


def test_links_open_for_their_holders_alone(team: dict[str, Client]) -> None:
    session = stored(User.objects.get(username="alice"), private=True, n_turns=8)
    state = "policy=sliding_window&window=8000&p.max_messages=4"
    tokens = {"holder": create_link(session=session, view="replay", state=state, terms=OPEN_TO_ALL).token}
    tokens["unknown"] = "x" * 22
    tokens["without the password"] = create_link(session=session, view="replay", terms=Terms(password="secret12")).token
    for way, change in (("expired", {"expires_at": timezone.now()}), ("revoked", {"revoked_at": timezone.now()})):
        made = create_link(session=session, view="replay")
        ReplayLink.objects.filter(pk=made.link.pk).update(**change)
        tokens[way] = made.token
    tokens["member with a revoked one"] = tokens["revoked"]
    wrong = []
    for name, rule in TABLE.items():
        for who, expected in rule.cast.get("link", {}).items():
            client = team["member" if who.startswith("member") else "anonymous"]
            given = {"token": tokens[who], "index": 0, "number": 1}
            path = reverse(name, kwargs={one: given[one] for one in routes()[name]})
            got = asked(client, rule, path, {})
            if got != expected:
                wrong.append(f"{name}: {who} is {got}, not {expected}")
    assert not wrong, "\n".join(wrong)


def test_the_api_lets_in_whom_the_table_says(team: dict[str, Client]) -> None:
    alice = User.objects.get(username="alice")
    sessions = {"private": stored(alice, private=True, n_turns=8), "team": stored(alice, private=False, n_turns=9)}
    people_of = {"owner": "alice", "member": "bob", "admin": "carol"}
    wrong = []
    for name, rule in TABLE.items():
        for of, session in sessions.items():
            for who, expected in rule.cast.get(f"api {of}", {}).items():
                owner = User.objects.get(username=people_of.get(who, "alice"))
                scope = rule.scope if who != "other scope" else "read" if rule.scope == "share" else "share"
                made = make_token(name="t", scopes=[scope], owner_id=owner.pk)
                if who in ("revoked", "expired"):
                    ended = "expires_at" if who == "expired" else "revoked_at"
                    ApiToken.objects.filter(pk=made.token.pk).update(**{ended: timezone.now()})
                headers = {} if who == "no token" else {"Authorization": f"Bearer {made.secret}"}
                path = reverse(name, kwargs=arguments(name, session))
                # a cookie counts for nothing: the browser of an admin who is signed in asks
                got = asked(team["admin"], rule, path, rule.query, headers)
                if got != expected:
                    wrong.append(f"{name} of {of}: {who} is {got}, not {expected}")
    assert not wrong, "\n".join(wrong)


def test_invitations_open_once(team: dict[str, Client]) -> None:
    tokens = {who: people.invite() for who in ("holder", "expired", "revoked")}
    tokens["expired"].invitation.expires_at = timezone.now() - dt.timedelta(seconds=1)
    tokens["expired"].invitation.save()
    tokens["revoked"].invitation.delete()
    for who, expected in INVITED["invitation"].items():
        token = tokens[who].token if who in tokens else "x" * 43
        assert answered(team["anonymous"].get(f"/join/{token}/")) == expected, who


def test_lists_hold_what_one_sees(team: dict[str, Client]) -> None:
    alice = User.objects.get(username="alice")
    hidden = stored(alice, private=True, n_turns=8)
    shown = stored(alice, private=False, n_turns=9)
    while work_one():
        pass
    word = "output"
    lists = (f"?q={word}", f"sessions.json?q={word}", "", "sessions.json",
             "sessions.csv", "sweep/", "people/", "saved/", "settings/", "quality/", "fleet/",
             "fleet.json", "fleet.csv", f"s/{shown.pk}/compare/ab/", f"s/{shown.pk}/",
             f"uploads/status/?ids={hidden.upload_id}")  # fmt: skip
    for path in lists:
        assert hidden.pk not in team["member"].get(f"/{path}").content.decode(), path
    for who, total in (("bob", 1), ("alice", 2), ("carol", 2)):
        made = make_token(name="t", scopes=["read"], owner_id=User.objects.get(username=who).pk)
        found = Client().get(f"/api/search?q={word}", headers={"Authorization": f"Bearer {made.secret}"}).json()
        assert (found["total"], found["searchable"]["n_sessions"]) == (total, total), who
    assert hidden.pk in team["owner"].get("/").content.decode()
    assert hidden.pk in team["admin"].get("/").content.decode()


def test_a_member_deletes_nothing_of_others(team: dict[str, Client]) -> None:
    alice = User.objects.get(username="alice")
    hidden, shown = stored(alice, private=True, n_turns=8), stored(alice, private=False, n_turns=9)
    bob = team["member"]
    for data in ({"s": hidden.pk}, {"s": shown.pk}, {"upload": hidden.upload_id}, {"upload": shown.upload_id},
                 {"older": "1"}):  # fmt: skip
        page = bob.post("/delete/", data).content.decode()
        assert str(hidden) not in page or str(hidden) == str(shown)
        assert hidden.pk not in page
    assert Session.objects.count() == 2
    assert "Only alice or an admin may do this." in bob.post("/delete/", {"s": shown.pk}).content.decode()
    assert team["owner"].post("/delete/", {"s": shown.pk}).status_code == 302
    assert team["admin"].post("/delete/", {"s": hidden.pk}).status_code == 302
    assert not Upload.objects.exists()
