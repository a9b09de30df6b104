"""The Quality page: three states apart, rules first, links to messages, probes, what was carried, its JSON."""

from __future__ import annotations

import json
import re
import shlex
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from django.http import QueryDict
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from ctxweb.commands.probe import command
from sessions.engine.quality.carry import working_set
from sessions.models import ModelAnswer, Session, SummaryJob
from sessions.pages.quality import state as urlstate
from sessions.pages.quality import view as views
from sessions.pages.ui.figures import percent
from sessions.runs import quality as judging
from sessions.runs import warned
from sessions.runs.quality import judge
from sessions.runs.warned import warned_here
from sessions.services import indexed
from sessions.services.judging import chosen_probes
from sessions.services.prices import set_prices
from tests.engine.claude_lines import Lines
from tests.fake_anthropic import Answer, FakeAnthropic, Seen, message
from tests.web.stored import store

QUERY = "policy=sliding_window&window=20,000"
SUMMARY = "The port of the tests is 5433. Work goes on in /srv/app/src/pay_total.py."


def story(n_turns: int = 30) -> str:
    """A rule, a port in a summary, a function that only a dropped result names; used again after a compaction."""
    lines = Lines()
    lines.prompt("Fix the total. Never touch package-lock.json. Always run the tests before you commit anything.")
    for turn in range(n_turns):
        call = {
            "type": "tool_use",
            "id": f"t{turn}",
            "name": "Read",
            "input": {"file_path": f"/srv/app/src/m{turn}.py"},
        }
        lines.reply(turn, call)
        extra = " def computeGrandTotal(order): PAY_LIMIT_MS = 250 ms" if turn == 2 else ""
        lines.result(f"t{turn}", f"value{turn} = compute(1, 2)  # words\n" * 60 + extra)
        if turn == 15:
            lines.compact(SUMMARY)
        if turn == 22:
            call = {"type": "tool_use", "id": "again", "name": "Bash",
                    "input": {"command": "grep -n computeGrandTotal /srv/app/src/m2.py"}}  # fmt: skip
            lines.reply(100, call)
            lines.result("again", "nothing")
            call = {"type": "tool_use", "id": "lock", "name": "Write",
                    "input": {"file_path": "/srv/app/package-lock.json", "content": "{}"}}  # fmt: skip
            lines.reply(101, call)
            lines.result("lock", "written")
    return lines.text()


@pytest.fixture
def lossy(db: None, tmp_path: Path, settings: Settings) -> Session:
    """A stored session with a rule, a recorded compaction, and things used after it."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    return store(story().encode(), "lossy.jsonl")


def page(client: Client, session: Session, query: str = QUERY, status: int = 200) -> str:
    response = client.get(f"/s/{session.pk}/quality/?{query}")
    html = response.content.decode()
    assert response.status_code == status, html[:800]
    assert " style=" not in html
    return html


def words(html: str) -> str:
    html = html.split("<main")[1]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<template.*?</template>|<[^>]+>", " ", html, flags=re.DOTALL)))


def part(html: str, name: str) -> str:
    """One section of the page, by its heading's id."""
    return html.split(f'aria-labelledby="{name}"')[1].split("</section>", maxsplit=1)[0]


def judged(session: Session, query: str = QUERY) -> Any:
    state = urlstate.parse(QueryDict(query))
    return judge(session, state.judging)


def test_what_a_summary_without_text_keeps_is_not_called_lost(client: Client, lossy: Session) -> None:
    html = page(client, lossy, "policy=claude_code&window=60,000&summarizer=stub:4000")
    assert "Depends on the summary, which has no text: " in words(html)
    assert "lost" not in html.split("why-say")[1].split("</p>")[0]


def test_rules_come_first_with_their_state_and_whether_they_were_broken(client: Client, lossy: Session) -> None:
    html = page(client, lossy)
    kept = judged(lossy).events[0].constraints
    assert [k.state for k in kept] == ["gone", "gone"]
    broken = next(k for k in kept if k.broken_at is not None)
    rules = part(html, "h-rules")
    assert html.index('id="h-rules"') < html.index('id="h-lost"') < html.index('id="h-probes"')
    assert rules.count("badge-danger") == 1, "red is the broken one alone"
    assert broken.text in unescape(rules)
    assert f'?m={broken.broken_at}#m-{broken.broken_at}"' in rules
    assert f"broken at message {broken.broken_at}" in words("<main" + rules)
    assert html.index("2 rules were lost, 1 broken later") < html.index('id="h-events"')


def test_the_three_states_stand_apart_and_are_never_added(client: Client, lossy: Session) -> None:
    html = page(client, lossy)
    rows = re.findall(r'<tr(?: aria-selected="true")?>\s*<th scope="row"><a class="ev-n".*?</tr>', html, re.DOTALL)
    found = judged(lossy).events
    assert len(rows) == len(found) > 3
    for row, one in zip(rows, found, strict=True):
        states = [need.state for need in one.needs]
        cells = re.findall(r"<td class=\"r(?: q-\w+)?\">([\d,]+)</td>", row)
        assert cells[1:4] == [str(states.count(state)) for state in ("verbatim", "mentioned", "gone")]
    lost = words("<main" + part(html, "h-lost"))
    assert "needed" not in lost.lower().replace("needed in", "")


def test_every_loss_leads_to_where_it_stood_and_where_it_was_needed(client: Client, lossy: Session) -> None:
    one = judged(lossy, "of=recorded").recorded[0]
    gone = [need for need in one.needs if need.state == "gone"]
    assert {"computeGrandTotal", "/srv/app/src/m2.py"} <= {need.reference.text for need in gone}
    html = part(page(client, lossy, "of=recorded"), "h-lost").split("q-gone-list")[1]
    for need in gone:
        row = html.split(f'title="{need.reference.text}"')[1].split("</tr>")[0]
        assert f"?m={need.source_message}#" in row
        assert f"?m={need.needed_at}#" in row
        assert f"{need.distance} requests later" in row


def test_what_must_be_read_again_has_tokens_and_money(client: Client, lossy: Session) -> None:
    found = judged(lossy, "of=recorded")
    refetch = found.recorded[0].refetch
    price = found.weighed.model.input_price
    assert refetch.tokens
    assert price
    text = words("<main" + part(page(client, lossy, "of=recorded"), "h-lost"))
    assert f"{refetch.tokens:,}\N{NO-BREAK SPACE}tokens".replace("\N{NO-BREAK SPACE}", " ") in text
    assert f"${refetch.tokens * price / 1e6:,.4f}" in text
    assert "0 of 16 results that were dropped, within 20 calls" in text


def test_the_side_that_compacted_is_shown(client: Client, lossy: Session, session: Session) -> None:
    assert 'id="h-events">Compactions' in page(client, lossy, "policy=none")
    assert 'id="h-events">Compactions' in page(client, lossy)
    assert "This policy never compacts." in page(client, lossy, "policy=none&of=replay")
    assert "This session has no recorded compaction." in page(client, session, "of=recorded")


def test_the_event_of_the_address_is_shown_and_a_later_one_is_the_last(client: Client, lossy: Session) -> None:
    found = judged(lossy).events
    assert 'id="h-rules">Rules at compaction 3<' in page(client, lossy, QUERY + "&event=2")
    assert f'id="h-rules">Rules at compaction {found[-1].number + 1}<' in page(client, lossy, QUERY + "&event=999")


def test_the_target_table_says_colour_and_word(client: Client, lossy: Session) -> None:
    one = judged(lossy).events[0]
    text = part(page(client, lossy), "h-probes")
    for target in one.targets:
        row = text.split(f">{target.name.capitalize()}</th>")[1].split("</tr>")[0]
        assert f">{target.status}</span>" in row
    assert "badge-danger" in text
    assert "A keyword is a weak sign" in text


def test_own_probes_and_critical_kinds_change_the_score(client: Client, lossy: Session) -> None:
    plain = judged(lossy, "of=recorded").recorded[0]
    state = urlstate.parse(QueryDict("of=recorded&ask=!+Which+function%3F+computeGrandTotal&critical=none"))
    asked = judge(lossy, state.judging).recorded[0]
    assert (asked.score.n, asked.score.gone) == (plain.score.n + 1, plain.score.gone + 1)
    assert plain.score.critical_failed == 3
    assert asked.score.critical_failed == 1
    html = part(page(client, lossy, urlstate.query(state)), "h-probes")
    assert "Which function?" in html
    assert "! Which function? computeGrandTotal</textarea>" in html
    assert 'value="intent">' in html
    assert 'value="intent" checked' not in html


def test_a_question_whose_answer_nobody_said_is_left_out_and_said_so(client: Client, lossy: Session) -> None:
    html = page(client, lossy, "of=recorded&ask=Which+moon%3F+Ganymede")
    assert "1 question is left out" in html


def test_a_text_is_followed_to_the_compaction_that_lost_it(client: Client, lossy: Session) -> None:
    found = part(page(client, lossy, "of=recorded&find=COMPUTEgrandtotal"), "h-find")
    assert "Lost at compaction 1." in found
    assert "?m=6#m-6" in found
    kept = part(page(client, lossy, "of=recorded&find=no+such+words"), "h-find")
    assert "stands in no message" in kept


def test_what_was_carried_is_a_curve_and_a_bill(client: Client, lossy: Session) -> None:
    html = page(client, lossy)
    carried = judged(lossy).carried
    found = re.search(r'<template id="carried-figure">(.*?)</template>', html, re.DOTALL)
    assert found is not None
    drawn = json.loads(found[1])
    assert drawn["data"][0]["y"] == list(carried.carried)
    assert drawn["data"][2]["y"] == list(carried.needed)
    bill = words("<main" + part(html, "h-carried"))
    assert f"{sum(block.idle_token_requests for block in carried.blocks):,} tokens" in bill


def test_the_hand_off_can_be_copied(client: Client, lossy: Session) -> None:
    html = part(page(client, lossy, "of=recorded"), "h-oracle")
    assert 'data-copy-from="#oracle-text"' in html
    text = html.split('id="oracle-text"')[1].split("</pre>")[0]
    assert "Never touch package-lock.json." in text
    assert "computeGrandTotal" in text


@pytest.mark.parametrize("more", ["", "&event=1", "&horizon=3", "&find=computeGrandTotal&ask=Which?+computeGrandTotal"])
def test_json_is_what_the_command_prints(client: Client, lossy: Session, tmp_path: Path, more: str) -> None:
    """The command line of the page, run on the file, prints the document of the same address."""
    html = page(client, lossy, QUERY + more)
    found = re.search(r'<code id="cli-text">(.*?)</code>', html, re.DOTALL)
    assert found is not None
    line = shlex.split(unescape(found[1]))
    assert line[:3] == ["ctxweb", "probe", "path/to/lossy.jsonl"]
    path = tmp_path / "lossy.jsonl"
    path.write_text(story(), encoding="utf-8")
    result = CliRunner().invoke(command, [str(path), *line[3:], "--json"])
    assert result.exit_code == 0, result.output
    document = client.get(f"/s/{lossy.pk}/quality.json?{QUERY}{more}").json()
    assert document == json.loads(result.stdout) | {"session": document["session"]}
    assert document["schema"] == "ctxweb.probe/1"


def test_wrong_addresses_are_refused_beside_the_page(client: Client, lossy: Session) -> None:
    html = page(client, lossy, "horizon=soon&critical=everything", status=400)
    assert "The horizon is a number of requests" in html
    assert "no kind of probe" in unescape(html)
    answer = client.get(f"/s/{lossy.pk}/quality.json?horizon=0")
    assert answer.status_code == 400
    assert "horizon" in answer.json()["errors"]
    assert client.get(f"/s/{lossy.pk}/quality.json?{QUERY}&event=99").status_code == 400
    assert client.get("/s/s_nothing/quality/").status_code == 404


def test_a_long_session_is_read_after_the_first_paint(
    client: Client, lossy: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page asks for its content; without a script one link has it whole; once read it comes at once."""
    monkeypatch.setattr(views, "AT_ONCE", 10)
    indexed.INDEX.forget()
    html = page(client, lossy)
    assert 'id="h-rules"' not in html
    assert 'hx-trigger="load"' in html
    assert "whole=1" in html
    fragment = client.get(f"/s/{lossy.pk}/quality/?{QUERY}", headers={"HX-Request": "true"}).content.decode()
    assert 'id="h-rules"' in fragment
    assert "<main" not in fragment
    assert 'id="cli-line" hx-swap-oob="true"' in fragment
    assert 'id="h-rules"' in page(client, lossy)
    assert 'id="h-rules"' in page(client, lossy, QUERY + "&of=recorded")
    indexed.INDEX.forget()
    assert 'id="h-rules"' in page(client, lossy, QUERY + "&horizon=9&whole=1")


def test_queries_stay_the_same_for_longer_sessions(
    client: Client, lossy: Session, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    page(client, lossy)
    with django_assert_max_num_queries(6):  # prices among them: another process may have changed them
        page(client, lossy)


def test_without_the_upload_the_page_says_so(client: Client, lossy: Session, settings: Settings) -> None:
    indexed.INDEX.forget()
    for path in settings.MEDIA_ROOT.rglob("*"):
        if path.is_file():
            path.unlink()
    assert "cannot be read: its stored bytes are missing" in page(client, lossy)
    assert client.get(f"/s/{lossy.pk}/quality.json").status_code == 410


def test_how_often_warnings_came_true_says_n_and_the_interval(client: Client, lossy: Session) -> None:
    found = warned_here()
    assert (found.n_sessions, found.n_compactions, found.n_left) == (1, 1, 0)
    assert found.warned.n + found.others.n == 16
    html = client.get("/quality/").content.decode()
    text = words(html)
    assert f"re-read {found.warned.n_again} of {found.warned.n} dropped result within" in text
    low, high = (percent(limit, 1) for limit in found.warned.interval or ())
    assert f"95% interval {low} to {high}" in text
    assert found.reading in text


def test_without_compactions_nobody_knows_yet(client: Client, session: Session) -> None:
    assert "Unknown: no recorded compaction here" in client.get("/quality/").content.decode()


def test_every_screen_of_the_session_leads_to_the_page(client: Client, lossy: Session) -> None:
    for tail in ("replay/", "diff/", "quality/"):
        html = client.get(f"/s/{lossy.pk}/{tail}").content.decode()
        assert f"/s/{lossy.pk}/quality/" in html, tail


@pytest.fixture
def api(fake_anthropic: FakeAnthropic, settings: Settings) -> FakeAnthropic:
    """The installation's own key; its tasks run in place.  It knows one answer, and greps for the function next."""

    def decide(seen: Seen) -> Answer:
        tool = seen.body["tools"][0]["name"]
        said = seen.body["messages"][0]["content"]
        if tool == "answer":
            known = "user ask" in said.split("Question:")[1]
            return message(tools=[("answer", {"answer": "the total" if known else "no", "found": known})])
        if tool == "grade":
            return message(tools=[("grade", {"verdict": "partial", "reason": "half of it"})])
        path = "/srv/app/src/m16.py" if "computeGrandTotal" in said else "/srv/app/src/m2.py"
        return message(tools=[("act", {"tool": "Read", "target": path})])

    settings.ANTHROPIC_BASE_URL = fake_anthropic.base_url
    settings.ANTHROPIC_API_KEY = f"sk-{fake_anthropic.base_url}"
    fake_anthropic.decide = decide
    return fake_anthropic


def test_without_a_key_the_page_says_what_one_would_add(client: Client, lossy: Session) -> None:
    assert "Without a key there are keywords only" in page(client, lossy)
    answer = client.post(f"/s/{lossy.pk}/quality/judge/?of=recorded")
    assert answer["Location"] == "/settings/"
    assert not SummaryJob.objects.exists()


def test_a_model_judges_the_event_and_its_judgement_is_kept(client: Client, lossy: Session, api: FakeAnthropic) -> None:
    """One question is found and graded, the others are not in the context; the next action is compared, both ways."""
    before = page(client, lossy, "of=recorded")
    one = judged(lossy, "of=recorded").recorded[0]
    n = len(chosen_probes(one))
    assert f"{2 * n + 6} calls" in words(before)
    assert api.requests == []
    where = client.post(f"/s/{lossy.pk}/quality/judge/?of=recorded")["Location"]
    job = SummaryJob.objects.get()
    assert (job.state, job.error, job.purpose) == ("done", "", "judgement")
    back = client.get(where)["Location"]
    assert back.startswith(f"/s/{lossy.pk}/quality/?")
    n_calls = len(api.requests)
    assert n_calls == n + 1 + 6
    text = words(page(client, lossy, "of=recorded"))
    assert f"0 correct, 1 partial, {n - 1} wrong" in text
    assert "Same tool and target: 3 before, 0 after. Same tool: 3 before, 3 after." in text
    assert len(api.requests) == n_calls
    assert "Ask claude" in page(client, lossy, "of=recorded&critical=none")


def test_a_judge_that_fails_says_so_and_keeps_nothing(client: Client, lossy: Session, api: FakeAnthropic) -> None:
    api.decide = lambda _: message("no tool is called")
    where = client.post(f"/s/{lossy.pk}/quality/judge/?of=recorded")["Location"]
    html = client.get(where).content.decode()
    assert "The model gave no answer." in html
    assert "Nothing was kept." in html
    assert not ModelAnswer.objects.exists()


def test_two_ways_of_summarising_are_set_beside_the_page_s_own(client: Client, lossy: Session) -> None:
    """The telephone game: each course in words and in the chart, only when it is asked for."""
    html = page(client, lossy)
    assert "compare=on" in html
    found = re.search(r'<template id="phone-figure">(.*?)</template>', html, re.DOTALL)
    assert found is not None
    drawn = json.loads(found[1])["data"]
    course = [round(100 * one.telephone.score, 1) for one in judged(lossy).events]
    assert [trace["y"] for trace in drawn] == [course]
    html = page(client, lossy, QUERY + "&compare=on")
    found = re.search(r'<template id="phone-figure">(.*?)</template>', html, re.DOTALL)
    assert found is not None
    names = [trace["name"] for trace in json.loads(found[1])["data"]]
    assert names == ["sliding_window", "anchored_iterative, extractive", "regenerative_full, extractive"]
    assert f"sliding_window: {course[0]:.0f}% after the first compaction, {course[-1]:.0f}% after the last of" in html


def test_the_bill_names_what_was_carried(client: Client, lossy: Session) -> None:
    bill = part(page(client, lossy), "h-carried")
    assert "Read /srv/app/src/m2.py" in words("<main" + bill)


def test_the_study_is_made_once_and_again_for_other_sessions(
    client: Client, lossy: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left when time is up is said, and made at the next request."""
    whole = warned_here()
    monkeypatch.setattr(warned, "study", None)
    assert warned_here() is whole
    monkeypatch.undo()
    store(b"\n" + story(40).encode(), "longer.jsonl")
    monkeypatch.setattr(warned, "SECONDS", -1.0)
    assert (warned_here().n_sessions, warned_here().n_left) == (1, 1)
    html = client.get("/quality/", headers={"HX-Request": "true"}).content.decode()
    assert "1 more being read" in html
    assert 'hx-trigger="load delay' in html
    monkeypatch.undo()
    assert (warned_here().n_sessions, warned_here().n_left) == (2, 0)
    monkeypatch.setattr(warned, "MOST_MESSAGES", lossy.n_messages)
    found = warned_here()
    assert (found.n_sessions, found.n_left, found.n_long) == (1, 0, 1)
    assert "; 1 session of over 20,000 messages left out" in client.get("/quality/").content.decode()


def test_money_is_at_the_installations_own_prices(client: Client, lossy: Session) -> None:
    plain = judged(lossy, "of=recorded")
    assert plain.prices is not None
    model = plain.weighed.model.name
    set_prices(model=model, given={"input": "1000", "cache_read": "500"})
    tokens = plain.recorded[0].refetch.tokens
    idle = sum(block.idle_token_requests for block in working_set(plain.weighed, plain.index).blocks)
    text = words(page(client, lossy, "of=recorded"))
    assert f"${tokens * 1000 / 1e6:,.2f}" in text
    assert f"${idle * 500 / 1e6:,.2f} estimated as cache reads" in text


def test_judgements_are_kept_up_to_a_bound(lossy: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """The least recently used goes first; the newest stays whatever its length."""
    first = judged(lossy)
    assert first.n_held == 0
    n = len(first.events)
    assert n
    assert first.n_held == sum(len(one.before.whole) + len(one.after.whole) for one in first.events)
    assert judged(lossy) is first
    monkeypatch.setattr(judging.JUDGED, "most", first.n_held - 1)
    newest = judged(lossy, QUERY + "&horizon=4")
    assert judged(lossy, QUERY + "&horizon=4") is newest
    assert judged(lossy) is not first
