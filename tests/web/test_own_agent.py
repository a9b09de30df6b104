"""A session whose agent ships no policy: Replay opens on four controls, and Apply it has the setting as code."""

from __future__ import annotations

import ast
import json
import re
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner
from django.test import Client
from pytest_django import Settings

from ctxweb.cli import cli
from sessions.models import Session
from tests.web.stored import store


@pytest.fixture
def bot(db: None, tmp_path: Path, settings: Settings) -> Session:
    """A chat of somebody's own bot."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    messages = [{"role": "system", "content": "You book tables."}]
    for turn in range(12):
        messages += [{"role": "user", "content": f"Book table {turn}. " + "please " * 400},
                     {"role": "assistant", "content": f"Table {turn} is booked."}]  # fmt: skip
    return store(json.dumps({"model": "gpt-4.1", "messages": messages}).encode(), "bot.json")


def test_replay_opens_on_four_controls(client: Client, bot: Session) -> None:
    page = client.get(f"/s/{bot.pk}/").content.decode()
    way = re.search(rf'href="/s/{bot.pk}/replay/(\?policy=parametric[^"]*)"', page)
    assert way is not None, "the tab leads to one's own policy"
    html = client.get(f"/s/{bot.pk}/replay/{unescape(way[1])}").content.decode()
    seen, folded = html.split('class="more-settings"')
    places = [seen.index(words) for words in (
        'id="l-compact">Compact at', "What happens to old messages", "What to do with old messages",
        "How much is kept", "Context window",
    )]  # fmt: skip
    assert places == sorted(places)
    assert "Trigger counts with" not in seen
    assert "Trigger counts with" in folded
    assert 'name="summarizer"' in folded
    assert ">My own agent</option>" in html


def test_apply_it_has_the_function_first(client: Client, bot: Session) -> None:
    query = "policy=parametric&window=20,000&p.keep_last=4"
    html = client.get(f"/s/{bot.pk}/apply/?{query}").content.decode()
    text = unescape(html.split('id="snippet-text">')[1].split("</code>")[0])
    assert "Exactly this policy" not in html
    assert "Stop after failures: 3 is not in the function." in html
    assert 'data-copy-from="#snippet-text"' in html
    assert any(isinstance(one, ast.FunctionDef) and one.name == "compact" for one in ast.parse(text).body)
    options = ("--policy", "parametric", "--window", "20000", "--set", "keep_last=4", "--for", "python")
    said = CliRunner().invoke(cli, ["apply", *options])
    assert said.stdout == text, "the page and the command write the same"
    script = client.get(f"/s/{bot.pk}/apply/?{query}&agent=typescript").content.decode()
    assert "export async function compact(" in unescape(script)
