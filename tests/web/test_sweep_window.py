"""A window typed on Compare, and the session's own: which of them a share is of."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

from tests.engine.claude_lines import claude_session
from tests.web.stored import store

if TYPE_CHECKING:
    from django.test import Client


def words(client: Client, address: str) -> str:
    html = client.get(address).content.decode()
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


def test_a_window_typed_by_hand_is_told_from_the_sessions_own(client: Client, db: None) -> None:
    """Under its field, and wherever a share of it is told: the recording keeps its own."""
    made = store(claude_session(60).encode(), "slow-build.jsonl")
    own = "the session's own, 200,000 tokens, the model's"
    asked = f"/s/{made.pk}/compare/?policy=claude_code&over=pct_override=20:80:4&pick=2"
    typed = words(client, f"{asked}&window=60000")
    assert f"Typed. Empty: {own}" in typed
    assert "% of the 60,000 typed" in typed
    assert "21% of the session's own 200,000" in typed
    assert "% of the window" not in typed
    plain = words(client, asked)
    assert "typed" not in plain.lower()
    assert "% of the window" in plain
    swept = words(client, f"/s/{made.pk}/compare/?policy=claude_code&over=window=30000:60000:4&pick=2")
    assert "typed" not in swept.lower()
