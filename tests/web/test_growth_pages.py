"""The figures of every page grow with what there is more of in a session; work is counted as in test_growth."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from sessions.models import Session
from tests.engine.test_growth import MOST, work
from tests.every import EVERY
from tests.web.growing import MANY, grown
from tests.web.stored import store

pytestmark = pytest.mark.django_db

PAGES = {
    "overview": "", "session document": "../{pk}.json", "chart": "chart.json", "replay": "replay/",
    "replay document": "replay.json", "recommended": "replay/recommended/", "quality": "quality/?whole=1",
    "quality document": "quality.json", "why": "why/", "why document": "why.json", "aftermath": "why/aftermath/",
    "recorded": "why/recorded/", "rules": "why/rules/", "compare": "compare/", "diff": "diff/",
    "transcript": "transcript/", "messages": "messages.csv", "export": "export.jsonl", "report": "share/report.md",
    "share": "share/",
}  # fmt: skip
"""What is asked of a session, each for the first time."""
TIMES = (1, 2, 4, 8) if EVERY else (1, 2, 4)
EACH_OVER_ALL = {("compactions", "quality document")}
"""Left: the document has every compaction with all rules and all that is used later.  Pages judge the first alone."""


def costs(found: Session) -> dict[str, int]:
    """The work of each page's first answer, in this order."""
    client = Client(SERVER_NAME="localhost")
    made = {}
    for page, path in PAGES.items():
        address = f"/s/{path[3:].format(pk=found.pk)}" if path.startswith("../") else f"/s/{found.pk}/{path}"

        def ask(address: str = address) -> None:
            answer = client.get(address, headers={"HX-Request": "true"} if "recommended" in address else {})
            assert answer.status_code < 500, (address, answer.status_code)
            _ = b"".join(answer) if answer.streaming else answer.content

        made[page] = work(ask)
    return made


def faults(what: str, times: tuple[int, ...]) -> list[str]:
    costs(store(grown(what, 1, "first")))  # what the first request of all loads is nobody's work
    found = [costs(store(grown(what, n))) for n in times]
    rows = {page: [one[page] for one in found] for page in PAGES}
    return [f"{page}: {row}" for page, row in rows.items() if (what, page) not in EACH_OVER_ALL and too_steep(row)]


def too_steep(row: list[int]) -> bool:
    """Whether a doubling costs too much, but for one at which something shows for the first time (a compaction)."""
    steep = [large > MOST * small for small, large in pairwise(row)]
    return sum(steep) > 1 or (len(row) == 2 and any(steep))


@pytest.mark.exhaustive
@pytest.mark.parametrize("what", list(MANY)[:: 1 if EVERY else 3])
def test_the_figures_of_a_page_grow_with_the_session(what: str, tmp_path: Path, settings: Settings) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    assert not (found := faults(what, TIMES)), "\n".join(found)


@pytest.mark.parametrize("what", ["bad usages", "rules, calls and lines"])
def test_a_first_visit_costs_what_there_is(what: str, tmp_path: Path, settings: Settings) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    assert not (found := faults(what, (1, 2))), "\n".join(found)
