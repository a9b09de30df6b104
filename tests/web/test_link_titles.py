"""The title of a link and the table under it: the same figures, held against the session as recorded."""

from __future__ import annotations

import re

import pytest

from sessions.engine.costs.cost_report import span
from sessions.models import ReplayLink, Session
from sessions.pages.links.opened import stored
from sessions.pages.ui.results import TotalsRow, totals_table
from sessions.runs import losses, replays
from tests.web.test_links import opened, session, share

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
    change = table["delta"].cells[0].value
    assert re.search(rf": {re.escape(change)} (as|than) recorded", title), title
    assert title in page
    assert change in page.partition("</header>")[2], "in the table too"
    lost = re.search(r"(\d+|no) rules? lost", title)
    shown = table["mine"].cells[3].value
    assert (lost is None) == shown.startswith("depends")
    if lost is not None:
        assert lost[1].replace("no", "0") == shown


@pytest.mark.parametrize("state", SETTINGS)
def test_the_baseline_is_the_same_model_of_what_was_sent(session: Session, state: str) -> None:
    """What the usage adds up to may be too low, and is no baseline."""
    table, base = rows(session, state), replays.recording(session.pk).totals
    assert base.cost is not None
    assert table["recorded"].cells[0].value == span(base.cost.low, base.cost.high)
    assert table["recorded"].cells[2].value == f"{base.peak_context_tokens:,}"


def test_a_link_to_a_session_counts_what_it_has_and_says_the_verdict_once(session: Session) -> None:
    page = opened(share(session, "session", ""))
    said = page.partition('<div class="pane"')[2]
    assert f"<span>{session.n_messages} messages, {session.n_requests} requests" in said
    verdict = re.search(r"</h1>\s*<p>([^<]+)</p>", page)
    assert verdict is not None
    assert page.count(verdict[1]) == 1
    assert re.search(r"css/overview[^\"]*\.css", page)
