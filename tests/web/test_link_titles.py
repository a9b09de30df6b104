"""The title of a link and the table under it: the same figures, held against the session as recorded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from sessions.models import ReplayLink, Session
from sessions.pages.links.opened import stored
from sessions.pages.ui.results import totals_table
from sessions.runs import losses, replays
from tests.web.test_links import opened, session, share

if TYPE_CHECKING:
    from sessions.pages.ui.results import TotalsRow

__all__ = ["session"]
SETTINGS = (
    "policy=sliding_window&window=30000", "policy=none",
    "policy=claude_code&window=40000&p.pct_override=45", "policy=claude_code", "policy=claude_code&base=recorded",
)  # fmt: skip


def rows(session: Session, state: str) -> dict[str, TotalsRow]:
    """The rows of the replay's table, by their key."""
    ran = replays.run(session.pk, stored(state))
    return {row.key: row for row in totals_table(session.pk, ran, (losses.of_replay(session, ran.replay), None))}


@pytest.mark.parametrize("state", SETTINGS)
def test_a_title_says_what_its_table_says(session: Session, state: str) -> None:
    page = opened(share(session, "replay", state))
    title, table = ReplayLink.objects.get().title, rows(session, state)
    share_of_cost = table["delta"].cells[0].value.partition(", ")[2]
    assert f": {share_of_cost} cost {table['delta'].name}" in title
    assert title in page
    assert share_of_cost in page.partition("</header>")[2], "in the table too"
    assert "instead of" not in title, "no other setting was ever in force"
    lost = re.search(r"(\d+|no) rules? lost", title)
    shown = table["mine"].cells[3].value
    assert (lost is None) == shown.startswith("depends")
    if lost is not None:
        assert lost[1].replace("no", "0") == shown


@pytest.mark.parametrize("state", SETTINGS)
def test_no_difference_is_claimed_to_a_cost_that_is_only_a_least_one(
    session: Session, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = replays.spent(session.pk)
    assert known is not None
    monkeypatch.setattr(replays, "spent", lambda _: {**known, "is_lower_bound": True})
    page = opened(share(session, "replay", state))
    title, table = ReplayLink.objects.get().title, rows(session, state)
    assert table["delta"].cells[0].value == "unknown"
    assert f"cost {table['mine'].cells[0].value}, recorded {table['recorded'].cells[0].value}" in title
    assert table["recorded"].cells[0].value.startswith("≥ $")
    assert not re.search(r"[+−]\d[\d.,]*% cost", page)


def test_a_title_without_recorded_usage_is_held_against_no_compaction(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "as_recorded", lambda _: None)
    share(session, "replay", SETTINGS[0])
    table = rows(session, SETTINGS[0])
    assert table["delta"].name == "against no compaction"
    assert f"% cost {table['delta'].name}" in ReplayLink.objects.get().title
