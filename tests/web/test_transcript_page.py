"""The transcript to read: pages, search, cuts, and what every tab carries."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from django.urls import reverse

from tests.engine.claude_lines import Lines, claude_session
from tests.web.stored import demo_file, store

if TYPE_CHECKING:
    from django.test import Client

    from sessions.models import Session


@pytest.fixture
def demo(db: None) -> Session:
    return store(demo_file(), "demo.jsonl")


def page(client: Client, found: Session, query: str = "") -> str:
    response = client.get(reverse("sessions:transcript", args=[found.pk]) + query)
    assert response.status_code == 200
    return response.content.decode()


def test_pages_follow_each_other_to_the_end(client: Client, demo: Session) -> None:
    seen: list[int] = []
    query = ""
    while True:
        html = page(client, demo, query)
        seen += map(int, re.findall(r'<article class="turn[^"]*" id="m-(\d+)"', html))
        later = re.search(r'href="[^"]*(\?start=\d+)">[\d,]+ later message', html)
        if later is None:
            break
        query = later[1]
    assert seen == list(range(179))


def test_a_cut_says_that_it_was_a_false_alarm_and_what_left(client: Client, demo: Session) -> None:
    html = page(client, demo, "?m=37")
    cut = html[html.index("cutline-x") :]
    assert "Compaction 1" in cut
    assert "false alarm" in cut
    assert "17,297" in cut
    assert "3,134,818" in cut
    assert "37 messages above left the context" in cut
    assert 'title="Compaction 1 dropped it">dropped<' in html


def test_search_finds_marks_and_leads_on(client: Client, demo: Session) -> None:
    html = page(client, demo, "?q=PACKAGE-LOCK.json")
    assert re.search(r"\d+ messages with", html)
    assert "turn-match" in html
    following = re.search(r'href="([^"]*)">Next</a>', html)
    assert following
    assert "m=" in following[1]
    assert "No message has" in page(client, demo, "?q=nobody+wrote+this")


def test_a_search_marks_the_word_where_it_stands(client: Client, demo: Session) -> None:
    """In prose and in folded results alike, which then stand open; never in a tag or in what is not found."""
    for query in ("package-lock.json", "CheckoutPage"):
        html = page(client, demo, f"?q={query}")
        turns = [turn for turn in html.split("<article ") if turn.startswith('class="turn')]
        found = [turn for turn in turns if "turn-match" in turn.split(">")[0]]
        assert found
        assert all(re.search(f"<mark>{query}</mark>", turn, re.IGNORECASE) for turn in found)
        assert not any("<mark>" in turn for turn in turns if turn not in found)
        assert not re.search(r"<[^<>]*<mark>", html)
    calls = [call for turn in found for call in turn.split('<details class="call"')[1:]]
    marked = [call for call in calls if "<mark>" in call.split("</details>")[0]]
    assert marked
    assert all(call.startswith(" open>") for call in marked)


def test_a_place_that_is_a_cut_leads_to_its_line(client: Client, demo: Session) -> None:
    html = page(client, demo)
    assert re.search(r'href="[^"]*\?m=38#cut-1"[^>]*>Compaction 1', html)
    assert 'class="cutline cutline-x" id="cut-1"' in page(client, demo, "?m=38")


def test_a_result_in_parts_has_the_characters_of_its_parts(db: None, client: Client) -> None:
    """What a subagent answers comes as a list of texts: it is counted, and its first words stand on the folded row."""
    lines = Lines()
    lines.prompt("Ask somebody.")
    lines.reply(1, {"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {"prompt": "look"}})
    lines.result("toolu_1", [{"type": "text", "text": "Found it: "}, {"type": "text", "text": "the lock file."}])
    lines.reply(2, {"type": "text", "text": "Done."})
    html = page(client, store(lines.text().encode(), "parts.jsonl"))
    result = html[html.index("tool result") :]
    assert "<code>Found it: </code>" in result
    assert '<span class="r">24 characters</span>' in result


def test_words_only_leaves_calls_and_results_out(client: Client, demo: Session) -> None:
    assert '<details class="call"' in page(client, demo)
    assert '<details class="call"' not in page(client, demo, "?show=words")


@pytest.mark.parametrize("name", ["session", "replay", "sweep", "transcript"])
def test_every_tab_carries_the_replay(client: Client, demo: Session, name: str) -> None:
    """Policy, parameters and message go on; what only one page understands does not."""
    query = "?policy=buzz_handoff&p.measure=wire_bytes&m=37&only=&layout="
    html = client.get(reverse(f"sessions:{name}", args=[demo.pk]) + query).content.decode()
    tabs = re.findall(r'<a href="([^"]*)" data-carry-tab', html)
    assert len(tabs) == 4
    assert {tab.split("?")[1] for tab in tabs} == {"policy=buzz_handoff&amp;p.measure=wire_bytes&amp;m=37"}


def test_a_call_is_told_by_what_it_names_and_a_message_by_its_time(db: None, client: Client) -> None:
    """The path stands in the folded row, the arguments as JSON inside; the recorded time beside the message."""
    html = page(client, store(claude_session(3).encode(), "call.jsonl"))
    row = re.search(r"tool call.*?<code>(.*?)</code>", html, re.DOTALL)
    assert row
    assert row[1]
    assert "{" not in row[1]
    assert re.search(r'<div class="turn-side">.*?<time datetime="20\d\d-', html, re.DOTALL)


@pytest.mark.parametrize("tail", ["", "transcript/", "why/", "m/0/"])
def test_tabs_of_a_session_without_a_known_agent_lead_to_ones_own(client: Client, db: None, tail: str) -> None:
    """From each page that has no replay in its address."""
    chat = [{"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi."}]}]
    found = store("\n".join(map(json.dumps, chat)).encode(), "bot.jsonl")
    html = client.get(f"/s/{found.pk}/{tail}").content.decode()
    assert f'href="/s/{found.pk}/replay/?policy=parametric"' in html
    assert f'href="/s/{found.pk}/compare/?policy=parametric"' in html


def test_compare_leaves_the_recorded_history_where_it_is(client: Client, demo: Session) -> None:
    """No advice stands along a context that was compacted already."""
    html = page(client, demo, "?policy=claude_code&base=recorded&request=18")
    assert f'href="/s/{demo.pk}/replay/?policy=claude_code&amp;base=recorded&amp;request=18"' in html
    assert f'href="/s/{demo.pk}/compare/?policy=claude_code&amp;request=18"' in html
