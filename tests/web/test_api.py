"""The API answers what the command line prints, page by page, with ETags, and says what is wrong as a problem."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from ctxweb.cli import cli
from sessions.engine.redact import BY_KEY
from sessions.models import ApiToken, ReplayLink, Session, Upload
from sessions.services.tokens import make_token
from sessions.services.work import work_one
from tests.services.claude_lines import Lines
from tests.web.stored import pressed, store

pytestmark = pytest.mark.django_db

WINDOW = ["--policy", "sliding_window", "--window", "20000"]
ASKED = {"policy": "sliding_window", "window": "20000"}


@pytest.fixture
def file(tmp_path: Path, settings: Settings) -> Path:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    path = tmp_path / "pay-button.jsonl"
    path.write_bytes(pressed())
    return path


def printed(*words: str) -> Any:
    """The document that a command prints."""
    result = CliRunner().invoke(cli, [*words, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def got(path: str, query: dict[str, Any] | None = None) -> Any:
    response = Client().get(f"/api{path}", query or {})
    assert response.status_code == 200, response.content
    assert response["Content-Type"] == "application/json"
    return response.json()


@pytest.mark.parametrize(
    ("name", "words", "query"),
    [
        ("inspect", (), {}),
        ("why", (), {}),
        ("why", ("--window", "30000"), {"window": "30000"}),
        ("aftermath", (), {}),
        ("replay", (*WINDOW, "--set", "keep_last=3"), ASKED | {"set": ["keep_last=3"]}),
        ("diff", WINDOW, ASKED),
        ("probe", WINDOW, ASKED),
        ("sweep", (*WINDOW, "--regret", "--over", "window=20000:60000:3"), ASKED | {"over": ["window=20000:60000:3"]}),
    ],
)
def test_the_document_is_the_one_of_the_command_line(
    name: str, words: tuple[str, ...], query: dict[str, Any], file: Path
) -> None:
    session = store(file.read_bytes(), file.name)
    ours, theirs = got(f"/sessions/{session.pk}/{name}", query), printed(name, str(file), *words)
    differing = {key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)}
    assert differing == set()


def test_export_is_the_one_of_the_command_line(file: Path) -> None:
    session = store(file.read_bytes(), file.name)
    response = Client().get(f"/api/sessions/{session.pk}/export/jsonl")
    result = CliRunner().invoke(cli, ["export", str(file), "--to", "jsonl"])
    assert result.exit_code == 0, result.output
    assert b"".join(response.streaming_content).decode() == result.stdout  # type: ignore[attr-defined]


def test_sessions_come_in_pages(file: Path) -> None:
    for n in range(3):
        store(b"\n" * n + pressed(4 + n), f"{n}.jsonl")
    client = Client()
    first = client.get("/api/sessions?limit=2")
    assert (len(first.json()["sessions"]), first.json()["total"]) == (2, 3)
    assert first["Link"] == '</api/sessions?limit=2&offset=2>; rel="next"'
    last = client.get("/api/sessions?limit=2&offset=2")
    assert len(last.json()["sessions"]) == 1
    assert last["Link"] == '</api/sessions?limit=2&offset=0>; rel="prev"'


def test_words_are_found_in_messages_with_their_places() -> None:
    """The same document as the command line's; parameters are held by the contract test."""
    session = store(pressed(4), "a.jsonl")
    while work_one():
        pass
    found = got("/search", {"q": '"all good"', "limit": "1"})
    assert (found["schema"], found["total"], found["n_messages"]) == ("ctxweb.search/1", 1, 4)
    [one] = found["sessions"]
    assert one["path"] == f"/s/{session.pk}/?m={one['message']}#m-{one['message']}"
    assert "all good" in one["snippet"]
    assert Client().get(one["path"].partition("#")[0]).status_code == 200
    assert Client().get("/api/search").status_code == 422


def test_an_unchanged_document_is_not_sent_again(file: Path) -> None:
    session, client = store(file.read_bytes()), Client()
    first = client.get(f"/api/sessions/{session.pk}/why")
    again = client.get(f"/api/sessions/{session.pk}/why", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(f"/api/sessions/{session.pk}/why?window=30000")["ETag"] != first["ETag"]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/sessions/s_aaaaaaaaaaaa/why", 404, "There is no such session."),
        ("/sessions/nope/why", 422, "Some parameters are wrong."),
        ("/sessions/{}/replay?policy=nope", 400, "There is no policy 'nope'."),
        ("/sessions/{}/replay?policy=sliding_window&set=n", 400, "A parameter is key=value."),
        ("/sessions/{}/diff?event=900", 400, "There is no compaction 901"),
        ("/sessions/{}/export/nope", 404, "There is no export 'nope'."),
        ("/sessions?limit=0", 422, "Some parameters are wrong."),
    ],
)
def test_what_is_wrong_is_a_problem_document(path: str, status: int, words: str, file: Path) -> None:
    session = store(file.read_bytes())
    response = Client().get("/api" + path.format(session.pk))
    assert (response.status_code, response["Content-Type"]) == (status, "application/problem+json")
    found = response.json()
    assert found["status"] == status
    assert words in found["detail"]


def test_a_file_is_uploaded_and_its_sessions_are_told(file: Path) -> None:
    client = Client()
    response = client.post("/api/uploads", {"files": io.BytesIO(file.read_bytes())})
    assert response.status_code == 202
    entry = client.get(response.json()["uploads"][0]["url"]).json()["uploads"][0]
    assert (entry["status"], entry["sessions"]) == ("done", [Session.objects.get().pk])
    again = client.post("/api/uploads", {"files": io.BytesIO(file.read_bytes())}).json()["uploads"][0]
    assert (again["status"], again["id"], again["new_messages"]) == ("duplicate", entry["id"], None)
    longer = client.post("/api/uploads", {"files": io.BytesIO(file.read_bytes() + b"\n")}).json()["uploads"][0]
    assert (longer["status"], longer["id"], longer["new_messages"]) == ("done", entry["id"], 0)
    shorter = client.post("/api/uploads", {"files": io.BytesIO(file.read_bytes()[:-1])}).json()["uploads"][0]
    assert (shorter["status"], shorter["id"], shorter["new_messages"]) == ("duplicate", entry["id"], None)
    assert client.post("/api/uploads").status_code == 422


def test_a_link_is_made_listed_and_revoked(file: Path) -> None:
    session, client = store(file.read_bytes()), Client()
    body = {
        "view": "replay",
        "state": "policy=sliding_window&window=20000",
        "title": "Look",
        "days": 7,
        "allow": ["move", "reply"],
    }
    made = client.post(f"/api/sessions/{session.pk}/links", body, content_type="application/json").json()["links"][0]
    listed = got(f"/sessions/{session.pk}/links")["links"][0]
    assert made["allow"] == ["move", "reply"]
    assert "Reply with my setting" in Client().get(made["url"]).content.decode()
    still = client.post(f"/api/sessions/{session.pk}/links", {"allow": []}, content_type="application/json").json()
    assert 'id="try-slider"' not in Client().get(still["links"][0]["url"]).content.decode()
    assert client.delete(f"/api/links/{still['links'][0]['id']}").status_code == 204
    replied = Client().post(f"{made['url']}reply/", {"author": "Bob", "compact_at": "9000"})
    assert replied.status_code == 302
    reply = got(f"/sessions/{session.pk}/links")["links"][0]
    assert (reply["reply_to"], reply["author"]) == (made["id"], "Bob")
    assert client.delete(f"/api/links/{reply['id']}").status_code == 204
    assert listed == {key: value for key, value in made.items() if key != "url"}
    assert client.delete(f"/api/links/{made['id']}").status_code == 204
    assert Client().get(made["url"]).status_code == 404
    assert client.delete("/api/links/999").status_code == 404


def test_a_link_redacts_what_its_maker_asked_for(file: Path) -> None:
    secret, lines = "sk-ant-api03-" + "Zq7" * 20, Lines()
    lines.prompt(f"In /home/mara/shop with {secret}: Project Falcon, ticket AB-1234").turn("done", text="Yes")
    session = store(lines.bytes())

    def made(**asked: Any) -> Any:
        body = {"state": "policy=sliding_window"} | asked
        return Client().post(f"/api/sessions/{session.pk}/links", body, content_type="application/json")

    def seen(**body: Any) -> tuple[bool, ...]:
        """Which of the four pieces a recipient reads in the message."""
        response = made(**body)
        assert response.status_code == 201, response.content
        text = Client().get(f"{response.json()['links'][0]['url']}m/0/").content.decode()
        assert "Project" in text
        return tuple(piece in text for piece in ("/home/mara", secret, "Falcon", "AB-1234"))

    assert seen() == (False, False, True, True)
    assert seen(show=["homes"]) == (True, False, True, True)
    assert seen(show=["homes", "keys"], hide=[" falcon ", r"/AB-\d+/"]) == (True, True, False, False)
    entry = got(f"/sessions/{session.pk}/links")["links"][0]
    assert (entry["show"], entry["hide"]) == (["homes", "keys"], ["falcon", r"/AB-\d+/"])
    wrong: list[dict[str, list[str]]] = [
        {"show": ["own"]}, {"show": ["passports"]}, {"hide": ["/(/"]}, {"hide": [" "]}, {"hide": ["x"] * 101},
        {"hide": ["/(ab|c?d){20}/"]}, {"hide": ["two\nlines"]},
    ]  # fmt: skip
    for body in wrong:
        answer = made(**body)
        assert answer.status_code == 422, body
        assert next(iter(body)) in str(answer.json()["errors"])
    assert ReplayLink.objects.count() == 3
    described = Client().get("/api/openapi.json").json()["components"]["schemas"]
    assert described["KindKey"]["enum"] == list(BY_KEY)
    assert {"show", "hide"} <= described["NewLinkBody"]["properties"].keys()


def test_another_sites_page_changes_nothing(file: Path) -> None:
    """Without accounts a browser carries requests of any site to this machine."""
    session = store(file.read_bytes())
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"},
                    {"Sec-Fetch-Site": "same-site"}, {"Origin": "null"}):  # fmt: skip
        client = Client(headers=headers)
        made = client.post(f"/api/sessions/{session.pk}/links", {"view": "session"}, content_type="application/json")
        assert made.status_code == 403, headers
        assert client.post("/api/uploads", {"files": io.BytesIO(b"x")}).status_code == 403
    assert not ReplayLink.objects.exists()
    assert Upload.objects.count() == 1


def test_a_token_acts_for_its_owner_and_no_longer(file: Path, settings: Settings) -> None:
    settings.REQUIRE_LOGIN = True
    alice = User.objects.create_user("alice", password="x")
    made = make_token(name="CI", scopes=["upload"], owner_id=alice.pk)
    assert made.secret not in repr(list(ApiToken.objects.values()))
    client = Client(headers={"Authorization": f"Bearer {made.secret}"})
    assert client.post("/api/uploads", {"files": io.BytesIO(file.read_bytes()), "who": "mine"}).status_code == 202
    upload = Upload.objects.get()
    assert (upload.owner, upload.private) == (alice, True)
    assert client.get("/api/sessions").status_code == 403
    assert client.get("/").status_code == 302, "a token opens no page"
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert client.post("/api/uploads").status_code == 401
    assert client.post("/api/uploads")["WWW-Authenticate"].startswith("Bearer")


def test_an_upload_token_follows_its_accounts_uploads_alone(file: Path, settings: Settings) -> None:
    settings.REQUIRE_LOGIN = True
    alice, bob = (User.objects.create_user(name) for name in ("alice", "bob"))
    carol = User.objects.create_superuser("carol")

    def api(owner: User, scope: str) -> Client:
        made = make_token(name="CI", scopes=[scope], owner_id=owner.pk)
        return Client(headers={"Authorization": f"Bearer {made.secret}"})

    ci = api(alice, "upload")
    (sent,) = ci.post("/api/uploads", {"files": io.BytesIO(file.read_bytes())}).json()["uploads"]
    assert ci.get(sent["url"]).json()["uploads"][0]["id"] == sent["id"]
    assert api(alice, "upload").get(sent["url"]).status_code == 200, "another token of the same account"
    assert [api(one, "upload").get(sent["url"]).status_code for one in (bob, carol)] == [404, 404]
    assert [api(one, "read").get(sent["url"]).status_code for one in (bob, carol)] == [200, 200]
    assert api(alice, "share").get(sent["url"]).status_code == 403
    assert ci.get("/api/uploads/00000000-0000-0000-0000-000000000000").status_code == 404
    assert ci.get(f"/api/sessions/{Session.objects.values_list('pk', flat=True)[0]}/why").status_code == 403


def test_tokens_are_made_on_the_page_and_shown_once(settings: Settings) -> None:
    settings.REQUIRE_LOGIN = True
    client = Client()
    client.force_login(User.objects.create_user("alice"))
    page = client.post("/settings/tokens/", {"name": "CI", "scopes": ["read"], "days": "30"})
    secret = page.context["made"].secret
    assert secret in page.content.decode()
    assert secret not in client.get("/settings/tokens/").content.decode()
    assert client.post("/settings/tokens/", {"name": "CI"}).status_code == 422
    api = Client(headers={"Authorization": f"Bearer {secret}"})
    assert api.get("/api/sessions").status_code == 200
    client.post(f"/settings/tokens/{ApiToken.objects.get().pk}/revoke/")
    assert api.get("/api/sessions").status_code == 401


def test_the_console_makes_lists_and_ends_tokens() -> None:
    User.objects.create_user("alice")
    run = CliRunner().invoke
    made = run(cli, ["token", "CI", "--for", "alice", "--scope", "upload", "--days", "5"])
    assert made.stdout.startswith("ctxweb_")
    listed = run(cli, ["token", "--list", "--for", "alice"]).stdout
    assert listed.endswith(f"CI\t…{made.stdout.strip()[-4:]}\tupload\n")
    number = listed.split("\t")[0]
    assert run(cli, ["token", "--revoke", number]).exit_code == 1, "nobody else's"
    assert run(cli, ["token", "--revoke", number, "--for", "alice"]).exit_code == 0
    assert not run(cli, ["token", "--list", "--for", "alice"]).stdout


def test_the_page_describes_every_operation() -> None:
    page = Client().get("/api/").content.decode()
    paths = Client().get("/api/openapi.json").json()["paths"]
    assert len(paths) >= 12
    for path, methods in paths.items():
        for method in methods:
            assert f"<code>{method.upper()} {path}</code>" in page
