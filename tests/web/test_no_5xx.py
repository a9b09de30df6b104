"""Every session of a library through every address, with every parameter that pages offer: no answer is 5xx.

The addresses come from the URL map, the parameters from the pages' forms and links.  Values are sampled, the same ones
every time; ``CTXWEB_EVERY=1`` takes many more and adds the shared samples, where they are.
"""

from __future__ import annotations

import io
import random
import re
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.urls import resolve, reverse
from pytest_django import Settings

from sessions.models import Media, Session, Upload
from sessions.services.ingest import ingest
from sessions.services.links import Terms, create_link
from sessions.services.uploads import receive
from tests.engine.test_formats_mutations import FILES
from tests.every import EVERY
from tests.fuzz.mutations import mutant
from tests.misuse.test_misuse import hostile_session
from tests.routes import routes
from tests.samples import find_samples
from tests.web.form_fields import JUNK, Fields, FormFields

N_SESSIONS_OF_A_ROUTE = 10_000 if EVERY else 1
N_VALUES_OF_A_FIELD = 10_000 if EVERY else 1
N_MIXED = 60 if EVERY else 3
LARGEST_SAMPLE = 3_000_000
MAY_SAY_NO = {"readyz"}
"""No worker runs here, and that is what it says."""
SAME_ADDRESS = {"api:api-root", "api:make_link"}
"""Names of an address that another name has too, under which it is counted."""
GONE = str(uuid.UUID(int=7))


OBJECT = re.compile(rb"(?:&lt;|<)(?:function|bound method|[A-Za-z_.]+ object) [^<>]{0,80}at 0x[0-9a-f]{6,}")
"""What a template prints of a value that it was to take the name of."""


class Walk:
    """Asks for addresses and notes what went wrong, and which routes answered."""

    def __init__(self) -> None:
        self.client = Client(raise_request_exception=False)
        self.wrong: dict[str, str] = {}
        self.seen: Counter[str] = Counter()
        self.fields: dict[tuple[str, str], Fields] = {}
        self.forms_read: Counter[str] = Counter()

    def ask(self, method: str, path: str, data: dict[str, str], *, htmx: bool = False) -> None:
        headers = {"HX-Request": "true"} if htmx else {}
        response = getattr(self.client, method)(path, data, headers=headers)
        body = _body(response)
        name = resolve(path).view_name
        self.seen[name] += 1
        if response.status_code >= 500 and name not in MAY_SAY_NO:
            said = f"{response.status_code} {method} {path} {dict(data)} {'htmx' if htmx else ''}"
            error = getattr(response, "exc_info", None)
            self.wrong.setdefault(f"{name}: {error[1]!r}"[:300] if error else said, said)
        elif OBJECT.search(body):
            self.wrong.setdefault(f"{name}: the name of an object of ours", f"{method} {path} {dict(data)}")
        elif response.headers.get("Content-Type", "").startswith("text/html") and self.forms_read[name] < 4:
            self.forms_read[name] += 1
            self._learn(path, body.decode("utf-8"))

    def _learn(self, path: str, page: str) -> None:
        parser = FormFields(path)
        parser.feed(page)
        for (method, address), fields in parser.found.items():
            try:
                name = resolve(address).view_name
            except Exception:
                continue
            known = self.fields.setdefault((method, name), Fields())
            for field, values in fields.values.items():
                known.add(field, *values)


def _body(response: HttpResponseBase) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content  # type: ignore[attr-defined]


def library() -> list[Session]:
    """Sessions of every fixture, of damaged ones, of a hostile one; at length of the shared samples too."""
    files = [(path.name, path.read_bytes()) for _, path in FILES]
    files += [(f"damaged-{path.name}", mutant(name, path, 3)) for name, path in FILES[:: 1 if EVERY else 9]]
    files.append(("hostile.jsonl", hostile_session("[/]\x1b[31m\u202e<script>{{ 7*7 }}")))
    samples = find_samples() if EVERY else None
    if samples:
        found = sorted(path for path in samples.rglob("*") if path.is_file() and path.stat().st_size < LARGEST_SAMPLE)
        files += [(path.name, path.read_bytes()) for path in found]
    for name, data in files:
        ingest(upload_id=receive(file=io.BytesIO(data), filename=name).upload.pk)
    return list(Session.objects.order_by("pk"))


def arguments(names: tuple[str, ...], session: Session, chance: random.Random) -> dict[str, Any]:
    """Values for a route's arguments: mostly those that exist."""
    upload = Upload.objects.order_by("pk").first()
    media = Media.objects.first()
    odd = chance.random() < 0.2
    known: dict[str, Any] = {
        "session_id": session.pk,
        "index": chance.choice((0, 1, max(0, session.n_messages - 1), session.n_messages, 10**6, 10**30)),
        "upload_id": GONE if odd else str(session.upload_id or (upload and upload.pk)),
        "sha256": "0" * 64 if odd or media is None else media.pk,
        "suffix": chance.choice(("jsonl", "anthropic.json", "openai.json", "nope")),
        "run_id": GONE, "job_id": GONE,
        "user_id": chance.choice((1, 10**30)), "invitation_id": chance.choice((1, 10**30)),
        "target": chance.choice(("jsonl", "nope")), "token_id": chance.choice((1, 10**30)),
        "view_id": chance.choice((1, 10**30)), "link_id": chance.choice((1, 10**30)),
        "token": "nope" if odd or "token" not in names else _link(session, chance),
        "number": chance.choice((0, 1, 2, 10**30)), "name": chance.choice(("nope", "x" * 5_000, "a/../b", "a\0b")),
    }  # fmt: skip
    return {name: known[name] for name in names}


def _link(session: Session, chance: random.Random) -> str:
    """The token of a new link to a session."""
    view = chance.choice(("replay", "replay", "session", "diff"))
    return create_link(session=session, view=view, terms=Terms(takes_replies=True)).token


@pytest.mark.exhaustive
def test_no_address_answers_5xx(db: None, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    settings.ANTHROPIC_BASE_URL = "http://127.0.0.1:9"
    monkeypatch.setattr("sessions.runs.handout.POSITIONS", 4)  # of 64, which a file works out for each address
    stored = library()
    assert any(not one.n_requests for one in stored)
    walk, chance = Walk(), random.Random(5)
    every = routes()
    _plainly(walk, every, stored, chance)
    _field_by_field(walk, every, stored, chance)
    assert set(every) - SAME_ADDRESS == set(walk.seen), "these routes were never asked"
    assert not walk.wrong, f"{len(walk.wrong)} of {walk.seen.total()} answers: {walk.wrong}"


def _plainly(walk: Walk, every: dict[str, tuple[str, ...]], stored: list[Session], chance: random.Random) -> None:
    """Every session through some of the routes, every route with some of the sessions, without parameters."""
    bare = [one for one in stored if not one.n_requests][: 2 if EVERY else 1]
    for number, (name, names) in enumerate(every.items()):
        n = min(len(stored), N_SESSIONS_OF_A_ROUTE)
        some = [stored[(number * n + step) % len(stored)] for step in range(n)]
        chosen = some if "session_id" in names else some[:1]
        for session in [*chosen, *(bare if "session_id" in names else [])]:
            path = reverse(name, kwargs=arguments(names, session, chance))
            walk.ask("get", path, {})
            walk.ask("post", path, {}, htmx=chance.random() < 0.5)
            walk.ask("get", path, {"request": "0", "event": "0", "m": "0"}, htmx=True)


def _field_by_field(
    walk: Walk, every: dict[str, tuple[str, ...]], stored: list[Session], chance: random.Random
) -> None:
    """Each field of each route: values that it does not offer; then some fields at once, with values that it does."""
    bare = [one for one in stored if not one.n_requests]
    rich = sorted(stored, key=lambda one: -one.n_requests)[:8]
    for (method, name), fields in sorted(walk.fields.items()):
        if name not in every:
            continue
        for field, offered in sorted(fields.values.items()):
            values = chance.sample(offered, min(40, len(offered))) if EVERY else []
            values += chance.sample(JUNK, min(len(JUNK), N_VALUES_OF_A_FIELD))
            for value in values:
                session = chance.choice(bare if chance.random() < 0.3 else rich)
                path = reverse(name, kwargs=arguments(every[name], session, chance))
                walk.ask(method, path, {field: value}, htmx=chance.random() < 0.5)
        for _ in range(N_MIXED):
            session = chance.choice(bare if chance.random() < 0.3 else rich)
            path = reverse(name, kwargs=arguments(every[name], session, chance))
            mixed = {
                field: chance.choice(offered if chance.random() < 0.7 and offered else JUNK)
                for field, offered in sorted(fields.values.items())
                if chance.random() < 0.5
            }
            walk.ask(method, path, mixed, htmx=chance.random() < 0.5)
