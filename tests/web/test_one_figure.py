"""One fact has one figure, whichever page tells it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.web.stored import demo_file, store

if TYPE_CHECKING:
    from django.test import Client

    from sessions.models import Session

SETTINGS = (20, 25)


@pytest.fixture
def demo(db: None) -> Session:
    return store(demo_file(), "demo.jsonl")


def told(client: Client, path: str) -> str:
    """The words of a page."""
    html = re.sub(r"(?s)<(script|style|template).*?</\1>", " ", client.get(path).content.decode())
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def numbers(pattern: str, text: str) -> list[int]:
    """What the pattern's groups hold."""
    found = re.search(pattern, text)
    assert found, text
    return [int(one.replace(",", "")) for one in found.groups()]


def test_what_is_used_later_and_lost_is_one_count(client: Client, demo: Session) -> None:
    """Replay's totals, the title of Losses and the sum of its rows; a thing that two compactions lose counts twice."""
    several = False
    for at in SETTINGS:
        query = f"policy=claude_code&summarizer=extractive&p.pct_override={at}"
        losses = told(client, f"/s/{demo.pk}/quality/?{query}")
        rows = [int(n) for n in re.findall(r"compaction \d+ [\d,]+ \d+ of \d+ \d+ \d+ (\d+)", losses)]
        if not sum(rows):
            continue
        (title,) = numbers(r"Used later and lost: ([\d,]+) things?, after", losses)
        replay = told(client, f"/s/{demo.pk}/replay/?{query}")
        _, totals = numbers(r"this replay .*?tokens, \w+ ([\d,]+) ([\d,]+) [\d,]+ tokens", replay)
        assert title == sum(rows) == totals
        several |= len(rows) > 1
    assert several
