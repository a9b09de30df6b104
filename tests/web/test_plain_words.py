"""Words about a file of another agent than Claude Code: who speaks, which model, what is missing."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client

from sessions.models import Session
from tests.web.stored import store

CHAT = [
    {"role": "system", "content": "You book flights. " * 40},
    {"role": "user", "content": "Book one to Oslo."},
    {
        "role": "assistant",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "Oslo, 09:40"},
    {"role": "assistant", "content": "Booked."},
]


@pytest.fixture
def chat(db: None) -> Session:
    return store(json.dumps({"messages": CHAT}).encode(), "chat.json")


def told(client: Client, path: str) -> str:
    html = client.get(path).content.decode()
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_a_tools_result_is_the_tools(client: Client, chat: Session) -> None:
    """OpenAI's role ``tool``: each page names it so, none calls it the user's."""
    roles = re.findall(r'<th scope="row" class="opt">(\w+)</th>', client.get(f"/s/{chat.pk}/").content.decode())
    assert roles == ["system", "user", "assistant", "tool", "assistant"]
    transcript = client.get(f"/s/{chat.pk}/transcript/").content.decode()
    assert re.findall(r'aria-label="Message \d+, (\w+)"', transcript) == roles
    assert re.search(r"turn-tool", transcript)


def test_what_is_missing_is_said_as_it_is(client: Client, chat: Session) -> None:
    """The file has a system message and names no model."""
    text = " ".join(told(client, f"/s/{chat.pk}/{page}") for page in ("", "replay/", "why/"))
    assert "The file names no model: a window of 200,000 tokens" in text
    assert "no model is not in" not in text
    assert "no usage and no tools in the file: the fixed overhead (tools, hidden text) is unknown" in text
    assert "no system prompt" not in text
