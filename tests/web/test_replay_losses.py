"""What a replay loses, where one tunes: in its totals, on each compaction, on the axis and in the three groups."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from django.urls import reverse

from sessions.engine.reading import jsonio
from sessions.pages.ui.before_after import MOST_TOLD
from sessions.runs import losses, replays
from sessions.runs.replay_state import ReplayState
from tests.web.stored import demo_file, store

if TYPE_CHECKING:
    from django.test import Client

    from sessions.models import Session

OWN = ReplayState(policy="buzz_handoff", summarizer="extractive", params=(("measure", "wire_bytes"),))
QUERY = "?policy=buzz_handoff&summarizer=extractive&p.measure=wire_bytes"


@pytest.fixture
def demo(db: None) -> Session:
    return store(demo_file(), "demo.jsonl")


def page(client: Client, found: Session, query: str = QUERY) -> str:
    return client.get(reverse("sessions:replay", args=[found.pk]) + query).content.decode()


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def figure_of(html: str) -> dict[str, Any]:
    found = re.search(r'<template id="saw-figure">(.*?)</template>', html, re.DOTALL)
    assert found
    return jsonio.loads(found[1].encode())  # type: ignore[no-any-return]


def test_totals_and_compactions_say_what_is_lost(client: Client, demo: Session) -> None:
    """The page's figures are the engine's."""
    found = losses.of_replay(demo, replays.run(demo.pk, OWN).replay)
    assert found is not None
    assert found.n_rules > 0
    assert found.n_gone > 0
    html = page(client, demo)
    mine = html[html.index('<tr class="mine">') :]
    cells = [words(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", mine, re.DOTALL)[:5]]
    assert cells[3:] == [str(found.n_rules), str(found.n_gone)]
    lost = found.of(1)
    assert lost is not None
    assert f"{len(lost.rules)} rules lost" in words(html)


def test_a_false_alarm_is_red_with_the_actual_tokens(client: Client, demo: Session) -> None:
    html = page(client, demo)
    assert "false alarm: 17,297" in words(html)
    said = [note["text"] for note in figure_of(html)["layout"]["annotations"]]
    assert "false alarm: 17,297 tokens actual" in said
    right = page(client, demo, "?policy=buzz_handoff&summarizer=extractive")
    assert "false alarm" not in words(right)


def test_the_rug_has_a_tick_for_each_later_use_and_breach(client: Client, demo: Session) -> None:
    found = losses.of_replay(demo, replays.run(demo.pk, OWN).replay)
    assert found is not None
    uses = {need.needed_request for one in found.events for need in one.gone}
    broken = {at for one in found.events for at in one.broken}
    assert broken == {78}
    shapes = figure_of(page(client, demo))["layout"]["shapes"]
    ticks = {color: {s["x0"] for s in shapes if s["line"].get("color") == f"@chart-{color}" and s["type"] == "line"
                     and s["y0"] == 0} for color in ("over", "other")}  # fmt: skip
    assert ticks == {"over": broken, "other": uses}


def test_a_placeholder_leaves_it_open(client: Client, demo: Session) -> None:
    """A summary without text is not known to lose anything: grey, in words."""
    html = page(client, demo, QUERY.replace("extractive", "stub:4000"))
    assert "depends on the summary" in words(html)
    assert not [s for s in figure_of(html)["layout"]["shapes"] if s["line"].get("color") == "@chart-over"]


def test_a_rule_that_a_placeholder_may_keep_is_not_called_lost(client: Client, demo: Session) -> None:
    html = page(client, demo, "?policy=claude_code&summarizer=stub:4000")
    assert 'class="needs">depends on the summary<' in html
    assert 'class="needs">lost<' not in html


def test_the_selected_compaction_stands_in_three_groups(client: Client, demo: Session) -> None:
    """Rules first, then what was used later; the rest is a sum; every call kept its result."""
    html = page(client, demo, QUERY + "&event=1")
    groups = html[html.index("Compaction 2, before and after") :]
    rows = [words(row) for row in re.findall(r'<div class="ba-row.*?</div>', groups, re.DOTALL)]
    assert "Rule:" in rows[0]
    assert any("package-lock.json" in row and "broken in message 160" in row for row in rows)
    assert "Kept or put back" in groups
    assert re.search(r"\d+ more messages", words(groups))


def test_no_compaction_is_told_by_request_not_as_impossible(client: Client, demo: Session) -> None:
    html = words(page(client, demo))
    assert "over the window from request" in html
    assert "not possible" not in html
    assert "over the window" not in words(page(client, demo, QUERY + "&window=1000000").split("Totals compared")[1])


def test_along_the_recorded_context_its_compactions_are_counted_beside_the_replays_own(
    client: Client, demo: Session
) -> None:
    """A replay that follows the recording never says that nothing was compacted."""
    html = page(client, demo, "?policy=none&base=recorded")
    mine = words(html[html.index('<tr class="mine">') :].split("</tr>")[0])
    assert "0 of its own, 2 recorded" in mine


def test_each_way_of_being_said_again_is_a_group_of_its_own(client: Client, demo: Session) -> None:
    """What a tool gives again later does not stand under the summary."""
    html = page(client, demo, "?policy=claude_code&window=100000")
    heads = [words(head) for head in re.findall(r"<h3>(.*?)</h3>", html)]
    assert [head for head in heads if head in {"Mentioned in the summary", "Appeared again later"}] == [
        "Mentioned in the summary", "Appeared again later",
    ]  # fmt: skip
    found = losses.of_replay(demo, replays.run(demo.pk, ReplayState(policy="claude_code", window=100_000)).replay)
    assert found is not None
    again = html.split("<h3>Appeared again later</h3>")[1].split("<h3>")[0]
    assert again.count('class="ba-row') == min(MOST_TOLD, sum(need.how == "returned" for need in found.events[0].needs))
    assert "may be re-read" in words(html)
