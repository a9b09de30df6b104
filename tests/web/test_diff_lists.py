"""The diff of any two lists: of an event, of two requests, of two replays; and what is known of an edited text."""

from __future__ import annotations

import html as markup
import re
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from ctxweb.commands.diff import command as diff_command
from sessions.engine.reading import jsonio
from sessions.engine.replays.lists import items_at
from sessions.engine.replays.markers import known_texts, text_of
from sessions.engine.replays.replay import replay
from sessions.pages.diff.context import DiffView, build_diff, build_run
from sessions.runs import replay_state as urlstate
from sessions.selectors import load_weighed
from tests.web.stored import pressed

if TYPE_CHECKING:
    from pathlib import Path

    from django.test import Client

    from sessions.models import Session

FIRES = "policy=sliding_window&window=20000&p.trigger=80&p.target=70"
ASKED = {"policy": "sliding_window", "window": "20000", "p.trigger": "80", "p.target": "70"}
OPTIONS = ["--policy", "sliding_window", "--window", "20000", "--set", "trigger=80", "--set", "target=70"]


def viewed(session: Session, b: dict[str, str] | None = None, **more: str) -> DiffView:
    """The diff of a state."""
    second = urlstate.parse(b) if b is not None else None
    view = build_diff(session, urlstate.parse(ASKED | more), b=second)
    assert isinstance(view, DiffView)
    return view


def test_page_document_and_command_line_show_the_same_lists(client: Client, session: Session, tmp_path: Path) -> None:
    """Every row of every event, in order: from the page's own rows, its .json and ``ctxweb diff --json``."""
    file = tmp_path / "pay-button.jsonl"
    file.write_bytes(pressed())
    made = replay(load_weighed(session.pk), "sliding_window", params={"trigger": "80", "target": "70"}, window=20_000)
    assert made.events
    for event in made.events:
        document = client.get(f"/s/{session.pk}/diff.json?{FIRES}&event={event.index}").json()
        said = CliRunner().invoke(diff_command, [str(file), *OPTIONS, "--compaction", str(event.index + 1), "--json"])
        assert said.exit_code == 0, said.output
        assert jsonio.loads(said.stdout.encode())["rows"] == document["rows"]
        last = len(document["rows"]) - 1
        shown = build_run(session, urlstate.parse(ASKED | {"event": str(event.index), "rows": f"0-{last}"}))
        page = [(one.line.op, one.line.tokens_before, one.line.tokens_after, one.line.wire_after) for one in shown]
        names = ("op", "tokens_before", "tokens_after", "wire_after")
        assert page == [tuple(row[name] for name in names) for row in document["rows"]]
        assert [row["id"] for row in document["rows"] if row["before"] is not None] == [i.id for i in event.before]
        assert [row["id"] for row in document["rows"] if row["after"] is not None] == [i.id for i in event.after]


def test_two_requests(client: Client, session: Session) -> None:
    made = replay(load_weighed(session.pk), "sliding_window", params={"trigger": "80", "target": "70"}, window=20_000)
    last = made.weighed.steps[-1].request
    view = viewed(session, **{"from": "3", "to": str(last)})
    assert view.n_before == len(items_at(made, 3))
    assert view.n_after == len(items_at(made, last))
    assert (view.tokens_before, view.tokens_after) == (made.context_tokens[3], made.context_tokens[last])
    document = client.get(f"/s/{session.pk}/diff.json?{FIRES}&from=3&to={last}").json()
    assert (document["event"], document["from"], document["to"]) == (None, 3, last)
    assert [row["id"] for row in document["rows"] if row["after"] is not None] == [i.id for i in items_at(made, last)]
    assert client.get(f"/s/{session.pk}/diff.json?{FIRES}&from=3&to=9999").status_code == 400
    assert "no request" in viewed(session, **{"from": "3", "to": "9999"}).error


def test_what_arrived_between_two_requests_is_folded(session: Session) -> None:
    view = build_diff(session, urlstate.parse({"policy": "none", "from": "2", "to": "15"}))
    assert isinstance(view, DiffView)
    assert any(shown.line.op == "inserted" and shown.line.folded for shown in view.lines)
    assert all(shown.body is None for shown in view.lines)


def test_one_request_alone_is_not_enough(client: Client, session: Session) -> None:
    response = client.get(f"/s/{session.pk}/diff/?{FIRES}&from=3")
    assert response.status_code == 400
    assert "give from and to" in response.content.decode()


def test_two_replays_at_a_request(client: Client, session: Session) -> None:
    weighed = load_weighed(session.pk)
    a = replay(weighed, "sliding_window", params={"trigger": "80", "target": "70"}, window=20_000)
    b = replay(weighed, "none")
    at = a.events[0].request
    query = f"{FIRES}&b.policy=none&request={at}"
    document = client.get(f"/s/{session.pk}/diff.json?{query}").json()
    assert [row["id"] for row in document["rows"] if row["before"] is not None] == [i.id for i in items_at(a, at)]
    assert [row["id"] for row in document["rows"] if row["after"] is not None] == [i.id for i in items_at(b, at)]
    page = client.get(f"/s/{session.pk}/diff/?{query}").content.decode()
    assert "A: what sliding_window sends" in page
    links = [markup.unescape(href) for href in re.findall(r'href="([^"]*/diff/\?[^"]*layout=unified[^"]*)"', page)]
    assert links
    assert all("b.policy=none" in href for href in links), "the second replay stays in every link"


def test_both_lists_can_be_taken_away(client: Client, session: Session) -> None:
    """Each download of the page holds exactly the list that the page shows."""
    made = replay(load_weighed(session.pk), "sliding_window", params={"trigger": "80", "target": "70"}, window=20_000)
    at = made.events[0].request
    for query, lists in (
        (f"{FIRES}&event=0", [made.events[0].before, made.events[0].after]),
        (f"{FIRES}&from=2&to={at}", [items_at(made, 2), items_at(made, at)]),
        (
            f"{FIRES}&b.policy=claude_code&request={at}",
            [items_at(made, at), items_at(replay(made.weighed, "none"), at)],
        ),
    ):
        page = client.get(f"/s/{session.pk}/diff/?{query}").content.decode()
        hrefs = [markup.unescape(href) for href in re.findall(r'href="([^"]*export\.jsonl[^"]*)"', page)]
        assert len(hrefs) == 2, query
        for href, items in zip(hrefs, lists, strict=True):
            body = b"".join(client.get(href).streaming_content)  # type: ignore[attr-defined]
            rows = [jsonio.loads(line) for line in body.splitlines()]
            assert [row["id"] for row in rows[1:]] == [item.id for item in items], href


@pytest.mark.parametrize("op", ["dropped", "kept"])
def test_one_fate_alone(session: Session, op: str) -> None:
    view = viewed(session, only=op)
    assert {shown.line.op for shown in view.lines} == {op}
    assert sum(shown.line.count for shown in view.lines) == next(n for name, _, n in view.counts if name == op)
    assert [tab.words for tab in view.filters if tab.current] == [f"{'−' if op == 'dropped' else '='} {op}"]


def test_a_cleared_results_text_is_known_from_the_policy(session: Session) -> None:
    state = urlstate.parse({"policy": "anthropic_clear_tool_uses", "p.trigger": "4000", "p.keep": "2"})
    view = build_diff(session, state)
    assert isinstance(view, DiffView)
    bodies = [shown.body for shown in view.lines if shown.line.op == "edited" and shown.body]
    assert bodies
    assert "".join(span.text for span in bodies[0].after) == "[Tool result cleared]"
    assert "known from the policy" in bodies[0].note


def test_a_text_that_nothing_says_is_not_made_up(session: Session) -> None:
    made = replay(load_weighed(session.pk), "anthropic_clear_tool_uses", params={"trigger": "4000"})
    texts = known_texts(made)
    block = made.weighed.transcript.messages[2].blocks[0]
    assert text_of(block, texts) == ""


def test_texts_of_one_size_are_not_told_apart(session: Session) -> None:
    """``known_texts`` leaves out what two constants of a policy share in all three sizes."""
    texts = known_texts(replay(load_weighed(session.pk), "claude_code"))
    assert "[Old tool result content cleared]" in texts.values()
    assert len(set(texts.values())) == len(texts)


def test_three_groups_hold_every_row_once(client: Client, session: Session) -> None:
    """Each row of the diff stands in one group; side by side a dropped message says when it is used."""
    view = viewed(session, layout="groups")
    stand = [group for group, _ in view.groups if group.name in {"Dropped", "Kept or put back"}]
    lines = [line for group in stand for line in (*group.lines, *group.rest) if line.row is not None]
    assert len(lines) == len({id(line.row) for line in lines}) == sum(n for _, _, n in view.counts)
    assert {line.op for line in stand[0].lines + stand[0].rest} <= {"dropped"}
    page = client.get(f"/s/{session.pk}/diff/?{FIRES}&layout=groups").content.decode()
    assert page.index("<h3>Dropped</h3>") < page.index("<h3>Kept or put back</h3>")
    assert "By consequence" in page
    assert "Event" not in page
    plain = viewed(session)
    alone = {shown.line.message: shown.used for shown in plain.lines if shown.used}
    first = [line.message for group, _ in view.groups for line in group.lines if line.op == "dropped" and line.used]
    assert set(first) <= set(alone)
