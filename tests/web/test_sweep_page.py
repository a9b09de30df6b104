"""The sweep page: what is advised and why, charts, heat map, table, Apply it; its JSON and CSV; background runs."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from sessions import selectors
from sessions.engine.demo.session import write_demo
from sessions.engine.quality.recall import Recall, recall_words
from sessions.engine.reading import jsonio
from sessions.engine.replays.replay import replay
from sessions.engine.sweeps.advice import advise
from sessions.models import Session, Sweeping, SweepRun
from sessions.pages.sweep import context as sweep_view
from sessions.pages.sweep import state as urlstate
from sessions.runs import sweeps
from sessions.services import sweep_runs
from tests.engine.claude_lines import claude_session
from tests.web.stored import store

GRID = "policy=anchored_iterative&window=40000&over=trigger=20:80:4&over=keep_last=2:8:3"


@pytest.fixture
def long(db: None, tmp_path: Path, settings: Settings) -> Session:
    """A stored session that a window of 40,000 tokens has to compact."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    return store(claude_session(60).encode(), "slow-build.jsonl")


@pytest.fixture
def other(long: Session) -> Session:
    """Another one beside it."""
    return store(claude_session(45).encode(), "other-build.jsonl")


def page(client: Client, address: str, status: int = 200) -> str:
    response = client.get(address)
    html = response.content.decode()
    assert response.status_code == status, html[:500]
    assert " style=" not in html
    assert "onclick" not in html
    return html


def words(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<template.*?</template>|<[^>]+>", " ", html, flags=re.DOTALL)))


def figure(html: str, name: str) -> Any:
    found = re.search(rf'<template id="{name}-figure">(.*?)</template>', html, re.DOTALL)
    assert found, name
    return jsonio.loads(found[1].encode())


def test_a_plain_address_sweeps_the_policys_threshold_where_the_session_reaches_it(
    client: Client, long: Session
) -> None:
    html = page(client, f"/s/{long.pk}/compare/")
    assert 'aria-current="page">Compare</a>' in html
    assert "claude_code" in words(html)
    query = "policy=anchored_iterative"
    weighed = selectors.load_weighed(long.pk)
    over = urlstate.completed(urlstate.parse(_query(query)), weighed).overs[0]
    reached = 100 * (weighed.overhead + weighed.total_tokens) / weighed.window
    assert over.key == "trigger"
    assert 8 <= over.n <= 20
    step = (over.high - over.low) / (over.n - 1)
    assert over.low % step == pytest.approx(0, abs=1e-6), "round steps"
    assert 0.3 * reached <= over.low < over.high <= reached
    compactions = [row["compactions"] for row in _json(client, long, query)["rows"]]
    assert min(compactions[:10]) >= 1


@pytest.fixture
def demo(db: None, tmp_path: Path, settings: Settings) -> Session:
    """The session of the README, which compacted twice."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    file = io.BytesIO()
    write_demo(file)
    return store(file.getvalue(), "demo.jsonl")


RANGE = "policy=claude_code&over=pct_override=40:100:13"


def test_the_advice_is_the_engines_and_comes_first(client: Client, demo: Session) -> None:
    """Answer, cards, reasons; one is marked, in the table too, and is what agents are set to."""
    html = page(client, f"/s/{demo.pk}/compare/?{RANGE}")
    state = urlstate.parse(_query(RANGE), selectors.load_weighed(demo.pk))
    swept = sweeps.swept(urlstate.options_of(state, [demo]), [selectors.get_session(demo.pk)])
    found = advise(swept.sweeps[0])
    assert found.recommended is not None
    main = html.split("<main")[1]
    assert main.index('class="advice"') < main.index('class="pick3"') < main.index('id="front"')
    assert found.sentence in words(html)
    assert main.count('class="pick"') == len(found.picks)
    assert all(pick.reason in words(html) for pick in found.picks)
    assert main.count('<article class="pick" aria-current="true">') == 1
    assert f'title="recommended">{found.recommended.name}</span>' in main
    percent = found.recommended.row.values["pct_override"]
    assert f"export CLAUDE_AUTOCOMPACT_PCT_OVERRIDE={percent}" in html
    assert '<tr class="as-recorded">' in main


def test_where_there_is_nothing_to_tune_nothing_is_applied(client: Client, long: Session) -> None:
    html = page(client, f"/s/{long.pk}/compare/?{GRID}")
    assert "Nothing to tune: the context peaked at 21% of the session's own 200,000" in words(html)
    assert 'id="apply"' not in html
    assert 'class="pick' not in html


def test_limits_that_nothing_keeps_are_said(client: Client, demo: Session) -> None:
    html = page(client, f"/s/{demo.pk}/compare/?{RANGE}&max_cost=0.001")
    assert "No setting meets the limits" in words(html)
    assert 'id="apply"' not in html


def test_without_losses_there_is_no_advice(client: Client, demo: Session) -> None:
    html = page(client, f"/s/{demo.pk}/compare/?{RANGE}&losses=off")
    assert "No advice before losses are counted" in words(html)
    assert ">Count what is lost</a>" in html
    assert 'class="pick' not in html


def test_every_row_leads_to_the_lab_at_exactly_its_setting(client: Client, long: Session) -> None:
    html = page(client, f"/s/{long.pk}/compare/?{GRID}")
    rows = re.findall(r'<tr data-row="(\d+)".*?class="lab-link" href="([^"]+)"', html, re.DOTALL)
    document = _json(client, long, GRID)
    assert len(rows) == len(document["rows"]) == 12
    for index, href in rows:
        answer = client.get(unescape(href).replace("/replay/", "/replay.json"))
        assert answer.json()["totals"]["compactions"] == document["rows"][int(index)]["compactions"]


def test_the_heat_map_is_a_table_of_links_coloured_within_the_limits(client: Client, long: Session) -> None:
    html = page(client, f"/s/{long.pk}/compare/?{GRID}&max_compactions=6")
    heat = re.search(r'<table class="heat">.*?</table>', html, re.DOTALL)
    assert heat
    cells = re.findall(r'<td class="([^"]*)"><a href="([^"]+)" title="([^"]+)">([^<]+)</a>', heat[0])
    assert len(cells) == 12
    for classes, href, says, value in cells:
        n = int(re.search(r"(\d+) compaction", says)[1])  # type: ignore[index]
        assert ("low" in classes) == (n > 6 or "over the window" in says)
        assert "/replay/?policy=anchored_iterative" in href
        assert float(value) > 0
    assert sum("pick" in classes for classes, *_ in cells) == 1
    kept = sorted((float(v), int(c.split()[0][-1])) for c, _, _, v in cells if "low" not in c)
    assert [heat for _, heat in kept] == sorted(heat for _, heat in kept)
    assert {kept[0][1], kept[-1][1]} == {1, 7}


def test_charts_hold_every_row_and_the_cost_band(client: Client, long: Session) -> None:
    html = page(client, f"/s/{long.pk}/compare/?{GRID}")
    front = figure(html, "front")
    drawn = [row for trace in front["data"] for row in trace.get("customdata", [])]
    assert sorted(drawn) == list(range(12))
    curve = figure(html, "curve")
    lows, highs = curve["data"][0]["y"], curve["data"][1]["y"]
    assert len(lows) == 4
    assert all(low <= high for low, high in zip(lows, highs, strict=True))
    assert curve["data"][1]["fill"] == "tonexty"


def test_settings_of_a_trigger_that_counts_no_tokens_are_told_apart(client: Client, demo: Session) -> None:
    """The agent of the demo counted bytes: A and B are never called alike."""
    html = page(client, f"/s/{demo.pk}/compare/?policy=buzz_handoff&p.measure=wire_bytes&pick=1&b=2")
    said = re.search(r'<h2 id="h-sel">.*?<p class="second">(.*?)</p>', html, re.DOTALL)
    assert said is not None
    found = re.match(r"At ([\d,]+): .* (?:as|than) at ([\d,]+), ", said[1])
    assert found is not None, said[1]
    assert found[1] != found[2]


def test_several_policies_stand_side_by_side(client: Client, long: Session) -> None:
    html = page(client, f"/s/{long.pk}/compare/?policy=none&policy=codex_local&policy=parametric&window=40000")
    assert "3 policies" in words(html)
    assert 'id="curve"' not in html
    assert html.count("<tr data-row=") == 3
    heat = page(client, f"/s/{long.pk}/compare/?policy=codex_local&policy=parametric&over=window=30000:60000:4")
    assert re.search(r'<th scope="row" title="codex_local">', heat)


def test_sorting_puts_the_cheapest_first_and_says_so(client: Client, long: Session) -> None:
    html = page(client, f"/s/{long.pk}/compare/?{GRID}&sort=cost")
    order = [int(n) for n in re.findall(r'<tr data-row="(\d+)"', html)]
    rows = _json(client, long, GRID)["rows"]
    middles = [(rows[n]["cost_usd"]["low"] + rows[n]["cost_usd"]["high"]) / 2 for n in order]
    assert middles == sorted(middles)
    assert 'aria-sort="ascending"' in html
    back = [
        int(n) for n in re.findall(r'<tr data-row="(\d+)"', page(client, f"/s/{long.pk}/compare/?{GRID}&sort=-peak"))
    ]
    peaks = [rows[n]["peak_context_tokens"] for n in back]
    assert peaks == sorted(peaks, reverse=True)


def test_a_row_taken_in_hand_is_what_agents_are_set_to(client: Client, long: Session) -> None:
    html = page(client, f"/s/{long.pk}/compare/?policy=claude_code&window=150000&over=pct_override=20:80:4&pick=2")
    assert "export CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=60" in html
    assert "Selected: Claude Code auto-compact, percent override 60%" in words(html)
    codex = page(client, f"/s/{long.pk}/compare/?policy=claude_code&over=pct_override=20:80:4&pick=2&agent=codex")
    assert "model_auto_compact_token_limit = " in codex
    assert "Nearest fit, not the same policy" in words(codex)


def test_swept_values_have_their_unit(client: Client, long: Session) -> None:
    html = page(client, f"/s/{long.pk}/compare/?{GRID}")
    heads = [words(head).strip() for head in re.findall(r'<th scope="col".*?</th>', html, re.DOTALL)]
    assert {"Trigger, at or above, %", "Keep last messages"} <= set(heads)


def test_a_row_in_hand_beyond_those_listed_is_set_too(
    client: Client, long: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_view, "MOST_ROWS", 2)
    query = "policy=claude_code&window=150000&over=pct_override=20:80:4"
    order = [int(n) for n in re.findall(r'<tr data-row="(\d+)"', page(client, f"/s/{long.pk}/compare/?{query}"))]
    pick = next(n for n in range(1, 4) if n not in order)
    html = page(client, f"/s/{long.pk}/compare/?{query}&pick={pick}")
    assert f"export CLAUDE_AUTOCOMPACT_PCT_OVERRIDE={20 + 20 * pick}" in html


def test_the_document_is_the_command_lines(client: Client, long: Session) -> None:
    document = _json(client, long, GRID)
    assert document["schema"] == "ctxweb.sweep/1"
    assert [axis["key"] for axis in document["axes"]] == ["trigger", "keep_last"]
    assert document["rows"][0]["regret"] >= 0
    weighed = selectors.load_weighed(long.pk)
    made = replay(weighed, "anchored_iterative", params={"trigger": 20, "keep_last": 2}, window=40_000)
    assert document["rows"][0]["compactions"] == len(made.events)
    html = page(client, f"/s/{long.pk}/compare/?{GRID}")
    cli = "ctxweb sweep path/to/slow-build.jsonl --policy anchored_iterative --window 40000 --over trigger=20:80:4"
    assert cli in unescape(html)
    rows = list(csv.DictReader(io.StringIO(client.get(f"/s/{long.pk}/sweep.csv?{GRID}").content.decode())))
    assert [row["compactions"] for row in rows] == [str(row["compactions"]) for row in document["rows"]]


def test_losses_are_columns_and_no_limit_is_set_unasked(client: Client, long: Session) -> None:
    address = f"/s/{long.pk}/compare/?policy=anchored_iterative&window=40000&over=trigger=20:80:2&summarizer=extractive"
    html = page(client, address)
    assert all(head in words(html) for head in ("Used later, lost", "Still answers"))
    document = client.get(address.replace("/compare/", "/sweep.json")).json()
    for row in document["rows"]:
        assert recall_words(Recall(row["recall"], row["asked"], row["retained_tokens"], at_least=False)) in words(html)
    assert "Forgotten, % of what is used later" in unescape(page(client, f"{address}&against=forgotten"))
    bound = unescape(page(client, f"{address.replace('extractive', 'stub:500')}&against=forgotten"))
    assert "Forgotten at most, % of" in bound
    assert (document["floors"], min(row["rules_gone"] for row in document["rows"]) >= 0) == ({}, True)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("over=trigger", "A range needs a start, an end and a number of steps"),
        ("policy=anchored_iterative&over=nothing=1:2:3", "policy anchored_iterative has no number"),
        ("over=window=1:2:3:4", "A range needs"),
        ("max_cost=cheap", "A limit is a number"),
        ("losses=off&max_rules_gone=1", "Count what is lost"),
        ("summarizer=anthropic", "cannot be swept"),
        ("policy=anchored_iterative&over=trigger=1:100:100&over=keep_last=1:100:100", "are more than 2,000"),
    ],
)
def test_a_wrong_address_says_what_is_wrong(client: Client, long: Session, query: str, said: str) -> None:
    html = page(client, f"/s/{long.pk}/compare/?{query}", 400)
    assert said in words(html)
    assert client.get(f"/s/{long.pk}/sweep.json?{query}").status_code == 400


def test_another_policys_form_leaves_its_ranges_behind(client: Client, long: Session) -> None:
    query = "was=claude_code&policy=anchored_iterative&x=pct_override&x_from=30&x_to=90&x_n=4&window=40000"
    html = page(client, f"/s/{long.pk}/compare/?{query}")
    assert "trigger" in words(html.split('class="advice"')[1])


def test_a_sweep_is_saved_with_both_its_ranges(client: Client, long: Session) -> None:
    html = unescape(page(client, f"/s/{long.pk}/save/?kind=sweep&{GRID}"))
    assert (
        f"/s/{long.pk}/compare/?policy=anchored_iterative&window=40000&over=trigger=20:80:4&over=keep_last=2:8:3"
        in html
    )


def test_a_form_never_sends_the_range_of_another(client: Client, long: Session) -> None:
    html = page(client, f"/s/{long.pk}/compare/?{GRID}")
    several = html.split('aria-label="Several policies"')[1]
    assert '<option value="" selected>nothing</option>' in several
    assert 'name="x_from" value=""' in several
    one = html.split('aria-label="Ranges of one policy"')[1].split("</form>")[0]
    assert 'name="x_from" value="20"' in one
    assert 'name="y_n" value="3"' in one


def test_form_fields_and_the_command_lines_range_are_one_thing() -> None:
    form = urlstate.parse(_query("policy=none&x=window&x_from=100,000&x_to=200,000&x_n=3"))
    assert form.overs == urlstate.parse(_query("policy=none&over=window=100000:200000:3")).overs
    assert urlstate.parse(_query(urlstate.query(form))) == form


def test_over_several_sessions_it_is_cross_validated(client: Client, demo: Session) -> None:
    other = store(claude_session(45).encode(), "other-build.jsonl")
    assert "No advice before losses are counted" in words(page(client, f"/sweep/?s={demo.pk}&s={other.pk}&{RANGE}"))
    query = f"s={demo.pk}&s={other.pk}&{RANGE}&losses=on"
    html = page(client, f"/sweep/?{query}")
    assert "Each session left out in turn" in words(html)
    assert "the best for cost and losses together over 2 sessions" in words(html).lower()
    document = client.get(f"/sweep.json?{query}").json()
    assert document["schema"] == "ctxweb.sweeps/1"
    assert len(document["sweeps"]) == len(document["recommended"]["judged"]) == 2
    lines = client.get(f"/sweep.csv?{query}").content.decode().splitlines()
    assert lines[0].startswith("session,pct_override,")
    assert len(lines) == 1 + 26


def test_without_sessions_they_are_chosen(client: Client, long: Session, other: Session) -> None:
    html = page(client, "/sweep/")
    assert html.count('name="s"') == 2
    assert client.get("/sweep.json").status_code == 400


def test_a_larger_sweep_is_offered_and_run_in_the_background(
    client: Client, long: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "INLINE_WORK", 10)
    html = page(client, f"/s/{long.pk}/compare/?{GRID}")
    assert "take longer than a page should wait" in words(html)
    assert not SweepRun.objects.exists()
    assert client.get(f"/s/{long.pk}/sweep.json?{GRID}").status_code == 409
    start = unescape(re.search(r'action="(/sweep/run/[^"]+)"', html)[1])  # type: ignore[index]
    answer = client.post(start)
    assert answer.status_code == 302
    run = SweepRun.objects.get()
    assert (run.state, run.n_done, run.n_total) == (Sweeping.DONE, 12, 12)
    done = page(client, answer["Location"])
    assert done.count("<tr data-row=") == 12
    monkeypatch.setattr(sweeps, "INLINE_WORK", 10_000_000)
    kept = _json(client, long, GRID)
    SweepRun.objects.all().delete()
    assert kept == _json(client, long, GRID)


def test_a_run_under_way_shows_how_far_it_is_and_can_be_stopped(
    client: Client, long: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "INLINE_WORK", 10)
    monkeypatch.setattr("sessions.tasks.wake", lambda: None)
    html = page(client, f"/s/{long.pk}/compare/?{GRID}")
    client.post(unescape(re.search(r'action="(/sweep/run/[^"]+)"', html)[1]))  # type: ignore[index]
    waiting = page(client, f"/s/{long.pk}/compare/?{GRID}")
    assert "0 of 12 replays done" in words(waiting)
    assert 'hx-trigger="load delay:1s"' in waiting
    assert '<meta http-equiv="refresh"' in waiting
    run = SweepRun.objects.get()
    assert client.post(f"/sweep/{run.pk}/cancel/").status_code == 302
    stopped = page(client, f"/s/{long.pk}/compare/?{GRID}")
    assert "Stopped." in words(stopped)
    assert "Go on" in words(stopped)


def test_apply_is_a_page_a_part_of_the_lab_and_a_document(client: Client, long: Session) -> None:
    query = "policy=langchain_summarization&p.trigger_fraction=none&p.trigger_tokens=120000"
    html = page(client, f"/s/{long.pk}/apply/?{query}")
    assert "SummarizationMiddleware(" in html
    assert "Exactly this policy" in words(html)
    part = client.get(f"/s/{long.pk}/apply/?{query}&agent=codex", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert "model_auto_compact_token_limit = 120000" in part
    document = client.get(f"/s/{long.pk}/apply.json?{query}").json()
    assert document["schema"] == "ctxweb.apply/1"
    assert client.get(f"/s/{long.pk}/apply.json?p.share=1").status_code == 400
    lab = page(client, f"/s/{long.pk}/replay/?{query}")
    assert f'hx-get="/s/{long.pk}/apply/?' in lab


def test_a_run_goes_on_where_it_was_stopped(long: Session) -> None:
    state = urlstate.parse(_query(GRID))
    found = selectors.get_session(long.pk)
    options, versions = urlstate.options_of(state, [long]), sweeps.versions([found])
    run, new = sweep_runs.start(options=options, versions=versions, query="")
    assert new
    held = sweep_runs.claim(run_id=run.pk)
    assert held is not None
    sweep_runs.run_claimed(held)
    run.refresh_from_db()
    whole = run.rows[long.pk]
    SweepRun.objects.filter(pk=run.pk).update(state=Sweeping.CANCELLED, rows={long.pk: whole[:5]}, n_done=5)
    again, to_send = sweep_runs.start(options=options, versions=versions, query="")
    assert (again.pk, to_send) == (run.pk, True)
    held = sweep_runs.claim(run_id=run.pk)
    assert held is not None
    sweep_runs.run_claimed(held)
    run.refresh_from_db()
    assert run.state == Sweeping.DONE
    assert run.rows[long.pk] == whole


def _query(text: str) -> Any:
    from django.http import QueryDict

    return QueryDict(text)


def _json(client: Client, session: Session, query: str) -> Any:
    response = client.get(f"/s/{session.pk}/sweep.json?{query}")
    assert response.status_code == 200, response.content[:300]
    return response.json()


def test_what_an_unwritten_summary_may_keep_is_at_most_lost(client: Client, long: Session) -> None:
    """A placeholder has no text: what it may keep is not called lost."""
    address = (
        f"/s/{long.pk}/compare/?policy=anchored_iterative&window=40000&over=trigger=20:80:2&summarizer=stub:500&pick=0"
    )
    html = words(page(client, address))
    assert "losses depend on the summary" in html
    assert "depends on the summary: " in html


def test_a_selected_setting_says_what_it_costs_and_loses(client: Client, long: Session) -> None:
    """Against the session as recorded, or against the row that the reader chose as B."""
    address = f"/s/{long.pk}/compare/?policy=sliding_window&window=40000&over=trigger=40:80:2"
    document = _json(client, long, address.partition("?")[2])
    rows, held = document["rows"], document["recorded"]
    for query, other in (("pick=0&b=1", rows[1]), ("pick=0", held)):
        html = page(client, f"{address}&{query}")
        said = re.search(r'<h2 id="h-sel">.*?<p class="second">(.*?)</p>', html, re.DOTALL)
        assert said is not None
        against = "at 32,000" if other is rows[1] else "recorded"
        found = re.match(rf"At 16,000: (.*?) (?:than|as) (?:as )?{against}, ", unescape(said[1]))
        assert found is not None, said[1]
        low, high = (100 * (rows[0]["cost_usd"][end] / other["cost_usd"]["low"] - 1) for end in ("low", "high"))
        if low <= 0 <= high:
            assert found[1] == "the same cost"
        else:
            assert {int(n) for n in re.findall(r"\d+", found[1])} <= {round(abs(low)), round(abs(high))}
            assert ("dearer" in found[1]) == (low > 0)
