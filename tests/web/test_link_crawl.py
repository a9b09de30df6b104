"""Whatever a link leads to, and whatever is handed over, holds no secret of the session, wherever it was planted."""

from __future__ import annotations

import gzip
import html
import io
import json
import random
import re
import string
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as drawing
from hypothesis import strategies as st

from sessions.engine.redact import BY_KEY
from sessions.models import ReplayLink, Session
from sessions.pages.links import frozen
from sessions.services.ingest import ingest
from sessions.services.uploads import receive
from tests.every import EVERY
from tests.services.claude_lines import MODEL, Lines

LETTERS = string.ascii_letters + string.digits
MOST_ALIKE = 2 if EVERY else 1
"""Addresses that differ in numbers alone and are asked for."""
PARTS = (
    "m/0/", "m/1/", "m/2/", "chart/", "chart.svg", "compaction/1/", "replay/?compact_at=4000", "view.json", "view.csv",
    "view.jsonl", "view.json?compact_at=4000", "diff/?layout=", "diff/?layout=unified", "diff/?rows=0-60", "?now=1",
    "removed/",
)  # fmt: skip
HTMX = {"HX-Request": "true"}
STATE = "policy=claude_code&window=40000"  # it compacts, so that pages of a compaction are reached
_LINK = re.compile(r'(?:href|hx-get|action)="(/l/[^"#]+)')


_PART = re.compile(r"/(replay|diff|removed)/")
"""Addresses that answer htmx otherwise."""


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


def dumps_of(value: dict[str, Any]) -> bytes:
    """The arguments of a tool as the file has them."""
    return f'"input":{json.dumps(value)}'.encode()


def think(lines: Lines, words: str) -> None:
    """A thinking block of its own."""
    content = [{"type": "thinking", "thinking": words, "signature": "c2ln"}]
    usage = {"input_tokens": 4, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 9_000, "output_tokens": 9}
    message = {"id": f"msg_t{lines.n}", "type": "message", "role": "assistant", "model": MODEL, "content": content,
               "usage": usage}  # fmt: skip
    lines.emit("assistant", requestId=f"req_t{lines.n}", message=message)


def compact(lines: Lines, summary: str) -> None:
    """A recorded compaction with its summary."""
    about = {"trigger": "auto", "preTokens": lines.context}
    lines.emit("system", subtype="compact_boundary", content="Conversation compacted", compactMetadata=about)
    lines.emit("user", isCompactSummary=True, message={"role": "user", "content": summary})


def planted(secrets: list[str]) -> Session:
    """A session with a secret wherever text stands.

    In its prompt, replies, thinking, arguments of tools, a recorded summary, its folder, and results: bare, in JSON,
    after a colour, and before a line's end.
    """
    lines = Lines().prompt(f"Never print {secrets[0]} anywhere. Deploy.")
    for turn in range(20):
        one = secrets[turn % len(secrets)]
        result = (f"token {one} ok", f'{{"a": "{one}", "n": 1}}', f"\x1b[31m{one}\x1b[0m", f"see {one}\nand on")[
            turn % 4
        ]
        lines.turn(f"{result} " + "word " * 60, text=f"I use {one} here" if turn % 5 == 0 else "Let me look.")
        if turn % 9 == 4:
            think(lines, f"With {one} it should work")
        if turn == 10:
            compact(lines, f"They deployed with {one}, see {secrets[3]}")
    data = lines.bytes().replace(
        b'"input":{}', dumps_of({"command": f"curl -H 'X: {secrets[0]}'", "env": {"K": secrets[1]}})
    )
    data = data.replace(b"/home/u/proj", secrets[4].encode())
    assert data.count(b'"command":') >= 20
    assert data.count(core(secrets[4]).encode()) > 50
    upload = receive(file=io.BytesIO(data), filename=f"{secrets[2]}.jsonl").upload
    ingest(upload_id=upload.pk)
    return Session.objects.get(upload=upload)


def reached(path: str) -> dict[str, str]:
    """Every answer below a link, by address: one of each kind that its pages lead to, whole and as parts."""
    client, found, kinds = Client(), {}, Counter[str]()
    waiting = [path, *(f"{path}{part}" for part in PARTS)]
    while waiting:
        address = html.unescape(waiting.pop(0))
        kind = re.sub(r"\d+", "1", address.removeprefix(path))
        kinds[kind] += address not in found
        if address in found or kinds[kind] > MOST_ALIKE:
            continue
        content = b""
        for headers in ({}, HTMX) if _PART.search(address) else ({},):
            response = client.get(address, headers=headers)
            content += response.content
        found[address] = html.unescape(unquote(content.decode()))
        waiting += [one for one in _LINK.findall(content.decode()) if one.startswith(path)]
    return found


def shared(session: Session, view: str, form: dict[str, Any]) -> str:
    """The path of a new link."""
    state = "" if view == "session" else f"&{STATE}"
    made = Client().post(f"/s/{session.pk}/share/?view={view}{state}", form).content.decode()
    found = re.search(r'value="http://testserver(/l/[^"]+)"', made)
    assert found is not None
    return found[1]


def handed(session: Session, secret: str) -> dict[str, str]:
    """The files that the dialog makes, with a secret in the words that go with them."""
    found = {}
    for name in ("share/file/", "share/report.md", "share/chart.svg"):
        response = Client().get(f"/s/{session.pk}/{name}?{STATE}&title=Look&note=Use+{secret}")
        assert response.status_code == 200, name
        found[name] = html.unescape(response.content.decode())
    return found


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_no_planted_secret_is_reached(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"

    @drawing(
        max_examples=5 if EVERY else 1, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
    )
    @given(st.integers(0, 2**32).filter(lambda seed: seed > 1_000))  # the one example is no simple one
    def holds(seed: int) -> None:
        secrets = drawn(seed)
        cache.clear()
        with transaction.atomic():
            session = planted(secrets)
            form = {"chosen": "1", "hide": [*BY_KEY], "allow": ["move", "reply"], "remarks": f"0: see {secrets[0]}"}
            form["note"] = f"Use {secrets[2]}"
            paths = [shared(session, view, form) for view in ("replay", "session", "diff")]
            answer = Client().post(f"{paths[0]}reply/", {"author": f"Bob {core(secrets[3])}@storefront.example"[:60],
                                                         "compact_at": "4000", "note": secrets[1]})  # fmt: skip
            pages = handed(session, secrets[0])
            for path in (*paths, answer["Location"].partition("?")[0]):
                pages |= reached(path)
            for link in ReplayLink.objects.all():  # as if another version had made it
                then = frozen.kept(link)
                then["figures"] |= {"n_events": 99, "lists": "others"}
                ReplayLink.objects.filter(pk=link.pk).update(results=gzip.compress(json.dumps(then).encode()))
                pages[f"kept {link.pk}"] = str(then)
            pages |= {f"{path} as sent": Client().get(path).content.decode() for path in paths}
            assert all("shown as the sender saw it" in pages[f"{path} as sent"] for path in paths)
            assert sum("Compaction 1" in page or "compaction 1" in page for page in pages.values()) > 1
            for address, page in pages.items():
                for secret in secrets:
                    at = page.find(core(secret))
                    assert at < 0, f"{secret} in {address}: …{page[max(at - 60, 0) : at + 60]}…"
            transaction.set_rollback(True)

    holds()
