"""What was worked out of a session once is read by every process, as long as it holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from sessions import selectors
from sessions.adapters import own_models
from sessions.engine.base.errors import EngineError
from sessions.engine.models.model_info import normalised, use_own_models
from sessions.engine.packing import pack
from sessions.engine.packing.section_file import Sections, seal, unseal
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.weigh.calibration import calibrate
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.models import Session, SessionColumns
from sessions.pages.why import fit, over_counts
from sessions.runs import overview as overviews
from sessions.runs import replays, stored
from sessions.runs.overview import STORED_AS, Overview
from sessions.selectors import columns as stored_columns
from sessions.services import column_runs, deleting
from sessions.services.prices import set_prices
from tests.engine.claude_lines import claude_session
from tests.services.claude_lines import Lines
from tests.web.stored import pressed, store

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "transcripts"
VALUES = (
    "kinds", "n_bytes", "factors", "contexts", "pairs", "per_token", "full_weight", "shares", "verdicts", "headline",
    "n_images", "tools", "only", "worst", "context_label", "gates", "aftermaths", "comparison",
)  # fmt: skip


@pytest.fixture(autouse=True)
def every_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short sessions are kept, too."""
    monkeypatch.setattr(stored_columns, "LEAST_MESSAGES", 0)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is worked out, or unpacked, from here on."""
    done: list[str] = []

    def counted(place: object, name: str) -> None:
        inside: Callable[..., object] = getattr(place, name)
        monkeypatch.setattr(place, name, lambda *given, **named: (done.append(name), inside(*given, **named))[1])

    counted(calibrate, "weigh")
    counted(overviews, "verdicts_of")
    counted(overviews, "message_sizes")
    counted(overviews, "over_count")
    counted(overviews, "aftermaths")
    counted(overviews, "compare")
    counted(fit, "_measured")
    counted(over_counts, "gates_figure")
    counted(replays, "cost_document")
    counted(pack, "_messages")
    return done


def test_what_is_made_later_stands_beside_what_was_kept_before(talk: Session) -> None:
    view = overviews.overview(talk.pk)
    for name in ("n_bytes", "pairs", "verdicts"):
        getattr(view, name)
        view.keep()
    row = SessionColumns.objects.get(session=talk, name="session")
    assert set(unseal(bytes(row.data))) == {"bytes", "pairs", "verdicts"}


def another_process() -> None:
    """This process forgets all that it knows of sessions."""
    selectors.weighed_cache.clear()


def body(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return re.sub(r'nonce="[^"]*"|csrfmiddlewaretoken" value="[^"]*"', "", answer.content.decode())


def long_talk() -> bytes:
    """Over a thousand messages; three sections of them."""
    lines = Lines().prompt("Count")
    for turn in range(600):
        lines.turn(f"output {turn}\n" * (turn % 9), text=f"step {turn}")
    return lines.bytes()


@pytest.fixture
def talk(db: None, tmp_path: Path, settings: Settings) -> Session:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    return store(long_talk(), "talk.jsonl")


def test_another_process_reads_what_one_worked_out(client: Client, talk: Session, work: list[str]) -> None:
    first = body(client, f"/s/{talk.pk}/")
    assert {"weigh", "verdicts_of", "message_sizes", "cost_document"} <= set(work)
    another_process()
    work.clear()
    assert body(client, f"/s/{talk.pk}/") == first
    assert set(work) == {"_messages"}, "one section of messages, for the rows that are shown"
    assert len(work) <= 2, "the part of the message that is shown, and its neighbour where the list goes into that"
    assert body(client, f"/s/{talk.pk}/?m=900").count("m-900")
    assert work.count("_messages") <= 3
    assert set(work) == {"_messages"}


WHY = {"weigh", "verdicts_of", "over_count", "aftermaths", "compare", "_measured", "gates_figure"}


def test_another_process_reads_why_it_compacted(
    client: Client, db: None, tmp_path: Path, settings: Settings, work: list[str]
) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    talk = store(claude_session(900, compact_after=700).encode(), "why.jsonl")
    work.clear()
    first = {path: body(client, f"/s/{talk.pk}/{path}") for path in ("why/", "why/aftermath/", "why/recorded/")}
    document = body(client, f"/s/{talk.pk}/why.json")
    assert set(work) >= WHY
    assert {name: work.count(name) for name in WHY if work.count(name) > 1} == {}
    another_process()
    work.clear()
    assert {path: body(client, f"/s/{talk.pk}/{path}") for path in first} == first
    assert not WHY & set(work)
    assert work.count("_messages") < 1_800 // pack.MESSAGES
    assert body(client, f"/s/{talk.pk}/why.json") == document


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The policies that are replayed from here on."""
    done: list[str] = []
    inside = replays.engine.replay

    def counted(weighed: Weighed, policy: str, **options: Any) -> Any:
        done.append(policy)
        return inside(weighed, policy, **options)

    monkeypatch.setattr(replays.engine, "replay", counted)
    return done


def test_another_process_replays_no_more_than_the_policy_that_is_looked_at(
    client: Client, talk: Session, work: list[str], replayed: list[str]
) -> None:
    replayed.clear()
    path = f"/s/{talk.pk}/replay/?window=40000&policy=pi"
    first = body(client, path)
    assert replayed == ["pi", "none"]
    assert "cost_document" in work
    another_process()
    work.clear()
    replayed.clear()
    assert body(client, path) == first
    assert replayed == ["pi"]
    assert not {"weigh", "cost_document"} & set(work)
    set_prices(model=normalised(talk.model), given={"input": "300", "output": "1500"})
    another_process()
    replayed.clear()
    assert body(client, path) != first
    assert replayed == ["pi", "none"]


def test_figures_under_another_model_table_are_worked_out_anew(
    client: Client, talk: Session, work: list[str], tmp_path: Path, settings: Settings
) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    first = body(client, f"/s/{talk.pk}/")
    try:
        settings.MODELS_FILE.write_text(f'[models."{normalised(talk.model)}"]\nwindow = 700_000\n')
        own_models.look_again()
        another_process()
        work.clear()
        other = body(client, f"/s/{talk.pk}/")
        assert selectors.load_weighed(talk.pk).window == 700_000
        assert other != first
        assert "weigh" in work
        another_process()
        assert body(client, f"/s/{talk.pk}/") == other
    finally:
        use_own_models({})
        own_models.look_again()
    settings.MODELS_FILE.unlink()
    another_process()
    assert body(client, f"/s/{talk.pk}/") == first


def test_other_prices_are_other_costs(client: Client, talk: Session, work: list[str]) -> None:
    first = body(client, f"/s/{talk.pk}/")
    set_prices(model=normalised(talk.model), given={"input": "300", "output": "1500"})
    another_process()
    work.clear()
    assert body(client, f"/s/{talk.pk}/") != first
    assert set(work) == {"_messages", "cost_document"}
    set_prices(model=normalised(talk.model), given={})
    another_process()
    assert body(client, f"/s/{talk.pk}/") == first


def test_another_program_reads_nothing(
    client: Client, talk: Session, work: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = body(client, f"/s/{talk.pk}/")
    another_process()
    work.clear()
    monkeypatch.setattr("sessions.selectors.columns.program", lambda: "another")
    assert body(client, f"/s/{talk.pk}/") == first
    assert "weigh" in work


def damaged(data: bytes) -> bytes:
    return data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]


@pytest.mark.parametrize(
    "change",
    [damaged, lambda data: b"", lambda data: data[:50], lambda data: seal("under another key", {})],
    ids=["damaged", "empty", "cut", "another key"],
)
def test_what_is_damaged_is_worked_out_anew(
    client: Client, talk: Session, work: list[str], change: Callable[[bytes], bytes]
) -> None:
    first = body(client, f"/s/{talk.pk}/")
    for row in SessionColumns.objects.filter(session=talk):
        row.data = change(bytes(row.data))
        row.save()
    another_process()
    work.clear()
    assert body(client, f"/s/{talk.pk}/") == first
    assert {"weigh", "verdicts_of", "message_sizes", "cost_document"} <= set(work)
    another_process()
    work.clear()
    assert body(client, f"/s/{talk.pk}/") == first
    assert set(work) == {"_messages"}, "mended by that visit"
    assert len(work) <= 2, "the part of the message that is shown, and its neighbour where the list goes into that"


def test_deleting_a_session_deletes_its_columns(client: Client, talk: Session) -> None:
    body(client, f"/s/{talk.pk}/")
    assert set(SessionColumns.objects.values_list("name", flat=True)) == {"weighed", "session", "cost"}
    deleting.delete(sessions=[talk.pk])
    assert not SessionColumns.objects.exists()


def test_nothing_is_kept_of_a_session_that_changed_meanwhile(talk: Session) -> None:
    assert not column_runs.keep(talk.pk, "session", "of another version", {"a": b"1"})
    assert not SessionColumns.objects.exists()


def test_nothing_is_kept_of_a_short_session(
    client: Client, db: None, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    monkeypatch.setattr(stored_columns, "LEAST_MESSAGES", 1_000)
    body(client, f"/s/{store(pressed()).pk}/")
    assert not SessionColumns.objects.exists()


@pytest.fixture
def on_shelves(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[tuple[str, str, str], Sections]]:
    """What is kept, in memory."""
    held: dict[tuple[str, str, str], Sections] = {}

    def keep(session_id: str, name: str, version: str, sections: dict[str, bytes], other: str = "") -> bool:
        held[session_id, name, other] = Sections("", sections)  # type: ignore[arg-type]
        return True

    monkeypatch.setattr(Sections, "__getitem__", lambda self, name: self._packed[name])
    monkeypatch.setattr(column_runs, "keep", keep)
    monkeypatch.setattr(stored.kept, "sections", lambda pk, name, version, other="": held.get((pk, name, other)))
    monkeypatch.setattr(selectors, "version_of", lambda pk: "1")
    return held


@pytest.mark.parametrize("folder", sorted(FIXTURES.iterdir()), ids=lambda folder: folder.name)
def test_kept_values_are_the_fresh_ones(folder: Path, on_shelves: dict[tuple[str, str, str], Sections]) -> None:
    for path in sorted(folder.rglob("*")):
        try:
            found = read_transcripts(BytesIO(path.read_bytes()), path.name).transcripts if path.is_file() else ()
        except EngineError:
            continue
        for n, transcript in enumerate(found):
            weighed = calibrate.weigh(transcript)
            fresh, first, later = Overview(weighed), *(Overview(weighed, f"{path} {n}") for _ in range(2))
            expected = {name: getattr(fresh, name) for name in VALUES}
            assert {name: getattr(first, name) for name in VALUES} == expected
            first.keep()
            assert {name for pk, name, _ in on_shelves if pk == f"{path} {n}"} == {"session", "why"}
            assert {name: getattr(later, name) for name in VALUES} == expected
            kept = (later._made.get(f"stored {name}") for name in STORED_AS)
            assert not any(one._made for one in kept if one is not None)
