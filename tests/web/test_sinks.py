"""Every way out of ctxweb, found by itself: no text of a transcript acts there, and none that was hidden shows.

Each text of a transcript holds a word that its sender hides, a key, markup, a mention, codes that steer a terminal and
the beginning of a formula.
"""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sessions.engine.redact import BY_KEY, Choice
from sessions.engine.redact.escaping import FORMULA, csv_cell, markdown_text
from sessions.models import Session
from sessions.services.links import Terms, create_link
from tests.engine.claude_lines import Lines
from tests.web.stored import store
from tests.web.test_no_5xx import routes

HIDDEN = "zanzibar"
KEY = "ghp_" + "aB3" * 12
HOSTILE = f"=HYPERLINK(1) {HIDDEN} {KEY} <img src=x onerror=alert(1)> @octocat ![p](http://e.vil/x.png) \x1b[31m\u202e"
FENCE = "```\n# out\n"


def hostile_file() -> bytes:
    """A session of Claude Code whose every text is hostile: title, model, folder, tool, file, branch, version, ids."""
    lines = Lines(session_id=f"5e55 {HOSTILE}")
    lines.lines.append(json.dumps({"type": "summary", "summary": HOSTILE, "leafUuid": "x"}))
    lines.prompt(f"Never touch {HOSTILE}. {FENCE} always keep this rule: never delete {HIDDEN}. " * 3)
    for turn in range(14):
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": f"Read {HOSTILE}",
                "input": {"file_path": f"/srv/{HOSTILE}/m{turn % 5}.py", "command": HOSTILE}}  # fmt: skip
        lines.reply(turn, {"type": "text", "text": f"{HOSTILE} part {turn}"}, call)
        lines.result(f"toolu_{turn}", f"{HOSTILE} error: {HIDDEN}\n" + "value = compute(1)\n" * 400)
        if turn == 8:
            lines.compact(f"{HOSTILE} the build is slow. " * 20)
    lines.emit("system", subtype="api_error", content=f"{HOSTILE} prompt is too long: 210000 tokens > 200000 maximum",
               error={"message": HOSTILE, "type": HOSTILE})  # fmt: skip
    text = lines.text().replace('"claude-sonnet-4-5"', json.dumps(f"claude-sonnet-4-5 {HOSTILE}"))
    found = []
    for line in text.splitlines():
        value = json.loads(line)
        value |= {"cwd": f"/home/{HOSTILE}", "gitBranch": HOSTILE, "version": f"2.1.150 {HOSTILE}"}
        found.append(json.dumps(value))
    return ("\n".join(found) + "\n").encode()


@pytest.fixture
def hostile(db: None, tmp_path: Path, settings: Settings) -> Session:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    return store(hostile_file(), "session.jsonl")


JSON_LINES = re.compile(r"[^\n]+[}\]]\n[{\[]")
STEERS = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]")


def acts(kind: str, text: str) -> list[str]:
    """What of the planted markup could act in an output of this kind."""
    found = ["steers a terminal"] if kind in {"markdown", "svg", "terminal"} and STEERS.search(text) else []
    if kind == "html" and "<img src=x" in text:
        found.append("raw HTML")
    if kind == "svg":
        if "<img" in text:
            found.append("raw markup")
        ET.fromstring(text)
    if kind == "markdown":
        outside = re.sub(r"\\.", "", re.sub(r"(`{3,})sh\n.*?\n\1", "", text, flags=re.DOTALL))
        found += [what for what in ("<img", "@octocat", "![", "](http", "http://", "\n# out") if what in outside]
    if kind == "csv":
        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        found += [f"formula {cell[:20]!r}" for cell in cells if cell.startswith(FORMULA) and csv_cell(cell) != cell]
    if kind == "json":
        for value in filter(str.strip, text.splitlines() if JSON_LINES.match(text) else [text]):
            json.loads(value)
    return found


KINDS = {
    "text/html": "html", "text/csv": "csv", "text/markdown": "markdown", "image/svg+xml": "svg",
    "application/json": "json", "application/jsonl": "json", "application/problem+json": "json",
}  # fmt: skip
"""Media types that hold text, and the rule of each; any other that an address answers has to be added."""
OTHERS = {"application/octet-stream", "image/png", "image/webp", "image/jpeg", "text/plain", "text/event-stream"}
STATE = "policy=claude_code&p.pct_override=20"
REDACTED = {
    "sessions:share_file", "sessions:share_report", "sessions:share_chart", "sessions:link", "sessions:link_replay",
    "sessions:link_diff", "sessions:link_compaction", "sessions:link_message", "sessions:link_chart",
    "sessions:link_svg", "sessions:link_removed", "sessions:link_json", "sessions:link_csv", "sessions:link_jsonl",
    "sessions:link_reply",
}  # fmt: skip
"""Addresses that leave the team's hands: what the sender hid stands in none of them."""


@pytest.mark.exhaustive
def test_no_address_lets_a_text_act_or_a_hidden_one_through(hostile: Session) -> None:
    choice = {"words": HIDDEN, "chosen": "1", "hide": [*BY_KEY], "policy": "claude_code", "p.pct_override": "20"}
    made = {view: create_link(session=hostile, state=STATE, view=view, title=HOSTILE, note=HOSTILE,
                              terms=Terms(choice=Choice(words=(HIDDEN,)), takes_replies=True)).token
            for view in ("replay", "session", "diff")}  # fmt: skip
    values: dict[str, Any] = {"session_id": hostile.pk, "index": 1, "number": 1, "suffix": "jsonl", "target": "jsonl",
                              "upload_id": hostile.upload_id}  # fmt: skip
    client, wrong, seen = Client(), [], set()
    for name, names in routes().items():
        if not set(names) <= {*values, "token"}:
            continue
        for token in made.values() if "token" in names else ("",):
            path = reverse(name, kwargs={one: (values | {"token": token})[one] for one in names})
            response = client.get(path, choice if "share" in name else {"policy": "sliding_window"})
            kind = response.headers.get("Content-Type", "").partition(";")[0]
            if kind == "text/event-stream":
                continue
            # Read to its end, not closed: close() tells that the request ended, which ends the test's transaction.
            body = b"".join(response.streaming_content) if response.streaming else response.content
            if response.status_code >= 300 or kind in OTHERS:
                continue
            seen.add(name)
            text = body.decode()
            wrong += [f"{name}: {what}" for what in acts(KINDS[kind], text)]
            if name in REDACTED:
                wrong += [f"{name} shows {what} {around(text, what)}" for what in (HIDDEN, KEY) if what in text]
    assert not wrong
    assert seen >= REDACTED, REDACTED - seen


def around(text: str, what: str) -> str:
    return text[max(0, text.index(what) - 80) :][:120]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("=1+1", "'=1+1"), ("@SUM(A1)", "'@SUM(A1)"), ("\tx", "'\tx"), ("+1 x", "'+1 x"), ("＝A1", "'＝A1"),
        ("-5", "-5"), ("+1,234.5", "+1,234.5"), ("-1e-3", "-1e-3"), ("-41%", "-41%"), ("a=b", "a=b"), (-3, -3),
    ],
)  # fmt: skip
def test_no_cell_is_a_formula_and_numbers_stay_numbers(given: object, shown: object) -> None:
    assert csv_cell(given) == shown


@pytest.mark.parametrize(
    "words", ["@octocat", "#12", "GH-12", "https://e.vil/x", "www.e.vil", "a@b.com", "0123abcd", "o/r@0123abcd"]
)
def test_no_text_is_a_reference_in_an_issue(words: str) -> None:
    said = markdown_text(words).replace("\\", "")
    assert said != words
    assert said.replace("\N{WORD JOINER}", "") == words


@pytest.mark.parametrize("words", ["- a", "1. a", "<b>", "![a](b)", "[a](b)", "`a`", "| a", "> a", "&lt;", "# a", "=="])
def test_no_text_is_markup(words: str) -> None:
    said = markdown_text(words)
    assert re.sub(r"\\(\W)", "", said) != words
    assert said.replace("\\", "").replace("\N{WORD JOINER}", "") == words
