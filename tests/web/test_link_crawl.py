"""Whatever a link leads to, and whatever is handed over, holds no secret of the session, wherever it was planted."""

from __future__ import annotations

import html
import io
import random
import re
import string
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as drawing
from hypothesis import strategies as st

from sessions.engine.redact import BY_KEY
from sessions.models import Session
from sessions.services.ingest import ingest
from sessions.services.uploads import receive
from tests.every import EVERY
from tests.services.claude_lines import Lines

if TYPE_CHECKING:
    from pathlib import Path

LETTERS = string.ascii_letters + string.digits
MOST_PAGES = 24
HTMX = {"HX-Request": "true"}
STATE = "policy=sliding_window&window=9000"
_LINK = re.compile(r'(?:href|hx-get|action)="(/l/[^"#]+)')


def drawn(seed: int) -> list[str]:
    """Secrets of five kinds, random ones: a repeated letter is no secret to anybody."""
    chance = random.Random(seed)

    def word(letters: str, n: int) -> str:
        return "".join(chance.choice(letters) for _ in range(n))

    return [
        f"sk-ant-api03-{word(LETTERS, 90)}AA", f"AKIA{word(string.ascii_uppercase + '234567', 16)}",
        f"ghp_{word(LETTERS, 36)}", f"{word(string.ascii_lowercase, 9)}@storefront.example",
        f"/home/{word(string.ascii_lowercase, 9)}/shop",
    ]  # fmt: skip


def core(secret: str) -> str:
    """The part of a secret that may stand nowhere."""
    return secret.removesuffix("/shop").removeprefix("/home/").partition("@")[0]


def planted(secrets: list[str]) -> Session:
    """A session with a secret in its prompt, a reply, and results: bare, in JSON, and after a colour."""
    lines = Lines().prompt(f"Never print {secrets[0]} anywhere. Deploy.")
    for turn in range(26):
        one = secrets[turn % len(secrets)]
        result = (f"token {one} ok", f'{{"a": "{one}", "n": 1}}', f"\x1b[31m{one}\x1b[0m", f"see {one}\nand on")[
            turn % 4
        ]
        lines.turn(f"{result} " + "word " * 60, text=f"I use {one} here" if turn % 5 == 0 else "Let me look.")
    upload = receive(file=io.BytesIO(lines.bytes()), filename="planted.jsonl").upload
    ingest(upload_id=upload.pk)
    return Session.objects.get(upload=upload)


def reached(path: str) -> dict[str, str]:
    """Every answer below a link, by address: what its pages lead to, whole and as parts, messages first and last."""
    client, found, waiting = Client(), {}, [path, f"{path}m/0/", f"{path}m/1/", f"{path}m/2/", f"{path}chart/"]
    waiting += [f"{path}compaction/1/", f"{path}replay/?compact_at=4000", f"{path}view.json", f"{path}diff/?layout="]
    while waiting and len(found) < MOST_PAGES:
        address = html.unescape(waiting.pop(0))
        if address in found:
            continue
        for headers in ({}, HTMX):
            response = client.get(address, headers=headers)
            found[address] = found.get(address, "") + html.unescape(unquote(response.content.decode()))
        waiting += [one for one in _LINK.findall(response.content.decode()) if "/m/" not in one]
    return found


def handed(session: Session, secret: str) -> dict[str, str]:
    """The files that the dialog makes, with a secret in the words that go with them."""
    found = {}
    for name in ("share/file/", "share/report.md", "share/chart.svg"):
        response = Client().get(f"/s/{session.pk}/{name}?{STATE}&title=Look&note=Use+{secret}")
        assert response.status_code == 200, name
        found[name] = html.unescape(response.content.decode())
    return found


@pytest.mark.django_db
def test_no_planted_secret_is_reached(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"

    @drawing(
        max_examples=2 if EVERY else 1, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
    )
    @given(st.integers(0, 2**32))
    def holds(seed: int) -> None:
        secrets = drawn(seed)
        cache.clear()
        with transaction.atomic():
            session = planted(secrets)
            form = {"chosen": "1", "hide": [*BY_KEY], "allow": ["move", "reply"], "remarks": f"0: see {secrets[0]}"}
            made = Client().post(f"/s/{session.pk}/share/?view=replay&{STATE}", form).content.decode()
            path = re.search(r'value="http://testserver(/l/[^"]+)"', made)[1]  # type: ignore[index]
            answer = Client().post(f"{path}reply/", {"author": "Bob", "compact_at": "4000"})
            pages = reached(path) | reached(answer["Location"].partition("?")[0]) | handed(session, secrets[0])
            assert sum("Compaction 1" in page or "compaction 1" in page for page in pages.values()) > 1
            for address, page in pages.items():
                for secret in secrets:
                    at = page.find(core(secret))
                    assert at < 0, f"{secret} in {address}: …{page[max(at - 60, 0) : at + 60]}…"
            transaction.set_rollback(True)

    holds()
