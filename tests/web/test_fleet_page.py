"""The fleet page: groups, the sessions behind every figure, what is worked out later, and the same in a terminal."""

from __future__ import annotations

import html as markup
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from django.test import Client
from pytest_django import Settings

from ctxweb.commands.fleet import command
from sessions.engine.models.model_info import normalised
from sessions.engine.sweeps.fleet.values import RULES
from sessions.models import CatchingUp, FiguresRun, ModelPrice, Session, SessionFigures
from sessions.selectors import open_text
from sessions.services import figures, prices
from sessions.services.work import work_one
from tests.engine.test_fleet import compacted
from tests.web.stored import pressed, store
from tests.why_cases.claude import claude

pytestmark = pytest.mark.django_db


@pytest.fixture
def library(tmp_path: Path, settings: Settings) -> list[Session]:
    """One session that was compacted, one with a screenshot that is overcounted, one without either."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    plain = claude()
    plain.until(20_000)
    made = ["\n".join(build.lines).encode() for build in (compacted(), plain)]
    return [store(pressed()), *(store(b"\n" * n + data, f"{n}.jsonl") for n, data in enumerate(made))]


def read(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


def test_every_figure_leads_to_its_sessions(client: Client, library: list[Session]) -> None:
    document = json.loads(read(client, "/fleet.json?by=client"))
    page = read(client, "/fleet/?by=client")
    body = page.split("<tbody>")[1].split("</tbody>")[0]
    assert document["totals"]["sessions"] == len(library)
    assert document["totals"]["compactions"] == document["totals"]["overcounted"] == 1
    for row in re.findall(r"<tr>.*?</tr>", body, re.DOTALL):
        name, *links = re.findall(r'<a href="([^"]*)"([^>]*)>([^<]*)</a>', row)
        group = next(one for one in document["groups"] if one["key"] == name[2])
        for href, _, shown in links:
            listed = read(client, markup.unescape(href))
            n_listed = len(re.findall(r'<a class="name"', listed))
            wanted = re.fullmatch(r"(?:in )?(\d+)(?: sessions?)?", shown.strip())
            assert n_listed == (int(wanted[1]) if wanted else n_listed)
            assert n_listed
        assert read(client, markup.unescape(name[0])).count("<tbody>") == 2
        assert group["sessions"] == int(links[0][2])


def test_terminal_and_page_show_the_same_figures(client: Client, library: list[Session], tmp_path: Path) -> None:
    page = json.loads(read(client, "/fleet.json?by=model"))
    files = [tmp_path / f"{n}.jsonl" for n in range(3)]
    for file, session in zip(files, library, strict=True):
        with open_text(session) as stored:
            file.write_bytes(stored.read())
    said = CliRunner().invoke(command, [*map(str, files), "--by", "model", "--json"])
    assert said.exit_code == 0
    assert json.loads(said.stdout) == page
    said = CliRunner().invoke(command, [*map(str, files), "--by", "project", "--sessions"])
    assert said.exit_code == 0
    assert "At another threshold" in said.stdout
    named = said.stdout[said.stdout.rindex("session") :]
    assert all(f"{n}.jsonl" in "".join(named.split()) for n in range(3))


def test_what_is_not_worked_out_is_said_and_caught_up_on(client: Client, library: list[Session]) -> None:
    before = json.loads(read(client, "/fleet.json"))
    SessionFigures.objects.filter(session=library[1]).delete()
    SessionFigures.objects.filter(session=library[2]).update(rules=RULES + 1)
    page = read(client, "/fleet/")
    assert "2 sessions of the library are not in these figures yet" in page
    assert json.loads(read(client, "/fleet.json"))["n_waiting"] == 2
    assert figures.start()
    assert "0 of 2 sessions done" in read(client, "/fleet/")
    assert not figures.start()
    assert work_one()
    run = FiguresRun.objects.get()
    assert (run.state, run.n_done, run.n_total) == (CatchingUp.DONE, 2, 2)
    assert json.loads(read(client, "/fleet.json")) == before
    SessionFigures.objects.all().delete()
    assert client.post("/fleet/run/?by=week").headers["Location"] == "/fleet/?by=week"
    assert json.loads(read(client, "/fleet.json")) == before


def test_the_two_costs_as_recorded_have_two_names(client: Client, library: list[Session]) -> None:
    """What the usage comes to, and what was sent priced as the thresholds are: never under one word."""
    heads = re.findall(r"<th [^>]*>([^<]*)</th>", read(client, "/fleet/?by=client"))
    assert heads.count("Cost, recorded") == heads.count("Cost, by rule") == 1
    assert "Cost" not in heads


def test_a_view_works_nothing_out(client: Client, library: list[Session], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("sessions.selectors.load_weighed", refuse)
    assert "At another threshold" in read(client, "/fleet/")
    assert library


def test_another_price_is_worked_out_again(client: Client, library: list[Session]) -> None:
    before = json.loads(read(client, "/fleet.json"))["totals"]
    prices.set_prices(model=library[1].model, given={"input": "1000"})
    assert json.loads(read(client, "/fleet.json"))["n_waiting"] == len(library)
    assert figures.catch_up(lambda *_: None) == 0
    after = json.loads(read(client, "/fleet.json"))["totals"]
    assert after["cost_usd"] > before["cost_usd"]
    assert after["compactions"] == before["compactions"]


def test_figures_are_never_kept_at_prices_read_before_another_process_changed_them(library: list[Session]) -> None:
    before = SessionFigures.objects.get(session=library[1]).dollars
    prices.given_prices()
    ModelPrice.objects.create(model=normalised(library[1].model), input=1000.0)
    SessionFigures.objects.update(rules=0)
    assert figures.catch_up(lambda *_: None) == 0
    assert SessionFigures.objects.get(session=library[1]).dollars > before


def test_a_session_that_cannot_be_read_fails_alone(client: Client, library: list[Session]) -> None:
    SessionFigures.objects.all().delete()
    library[0].facts.delete()
    figures.start()
    assert work_one()
    assert FiguresRun.objects.get().state == CatchingUp.FAILED
    assert "1 could not be worked out" in read(client, "/fleet/")
    assert json.loads(read(client, "/fleet.json"))["totals"]["sessions"] == 2


def test_an_empty_library_says_so(client: Client) -> None:
    assert "No session is stored yet" in read(client, "/fleet/")


def test_filters_of_the_fleet_are_named_in_the_library(client: Client, library: list[Session]) -> None:
    page = read(client, "/?only=overcount&project=/home/u/proj&week=2026-W36")
    assert "project: /home/u/proj" in page
    assert "week: 2026-W36" in page
    assert len(re.findall(r'<a class="name"', page)) == 1
    assert library
    assert "with a false alarm" in read(client, "/?only=false")
    assert "project: not recorded" in read(client, "/?project=-")
