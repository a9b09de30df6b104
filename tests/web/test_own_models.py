"""The settings page's model table: kept in a file, in use at once, told where it is wrong."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from sessions import selectors
from sessions.adapters import own_models
from sessions.engine.models.model_info import model_info, normalised, use_own_models
from sessions.models import Session


@pytest.fixture
def file(tmp_path: Path, settings: Settings) -> Iterator[Path]:
    """A table that is not there yet."""
    settings.MODELS_FILE, settings.MODELS_FILE_IS_NAMED = tmp_path / "models.toml", False
    own_models.look_again()
    yield tmp_path / "models.toml"
    use_own_models({})
    own_models.look_again()
    selectors.weighed_cache.clear()


def test_a_model_of_ones_own_is_kept_shown_used_and_forgotten(client: Client, session: Session, file: Path) -> None:
    name = normalised(session.model)
    before = selectors.load_weighed(session.pk).window
    answer = client.post(
        "/settings/models/", {"name": name, "window": "96,000", "max_output": "8000", "like": "gpt-4o"}
    )
    assert (answer.status_code, answer["Location"]) == (302, "/settings/#h-models")
    assert "window = 96000" in file.read_text()
    html = client.get("/settings/").content.decode()
    assert "your table" in html
    assert "96,000" in html
    assert model_info(name).window == 96_000
    page = client.get(f"/s/{session.pk}/replay.json").json()
    assert page["window"] == selectors.load_weighed(session.pk).window == 96_000
    assert client.post("/settings/models/", {"name": name, "window": ""}).status_code == 302
    assert selectors.load_weighed(session.pk).window == before


@pytest.mark.parametrize(
    ("posted", "words"),
    [
        ({"name": "x", "window": "big"}, "window: a whole number of tokens, not &#x27;big&#x27;"),
        ({"name": "x", "window": "12"}, "from 1,000"),
        ({"name": 'a"b', "window": "5000"}, "without quotes"),
    ],
)
def test_a_wrong_entry_is_told_and_stays_in_the_form(
    client: Client, db: None, file: Path, posted: dict[str, str], words: str
) -> None:
    answer = client.post("/settings/models/", posted)
    html = answer.content.decode()
    assert answer.status_code == 422
    assert words in html
    assert f'value="{posted["window"]}"' in html
    assert not file.exists()


def test_a_file_that_a_setting_names_is_not_written(client: Client, db: None, file: Path, settings: Settings) -> None:
    settings.MODELS_FILE_IS_NAMED = True
    file.write_text('[models."glm-9"]\nwindow = 300_000\n')
    html = client.get("/settings/").content.decode()
    assert "300,000" in html
    assert "glm-9" in html
    assert "edit it there" in html
    assert "Save model" not in html
    answer = client.post("/settings/models/", {"name": "x", "window": "5000"})
    assert answer.status_code == 422
    assert "CTXWEB_MODELS names" in answer.content.decode()


def test_a_file_that_goes_wrong_keeps_what_was_known_and_is_told(client: Client, db: None, file: Path) -> None:
    file.write_text('[models."glm-9"]\nwindow = 300_000\n')
    assert own_models.refresh()
    file.write_text("[models\n")
    own_models.look_again()
    assert not own_models.refresh()
    assert model_info("glm-9").window == 300_000
    assert "models.toml" in client.get("/settings/").content.decode()


def test_it_is_looked_at_again_after_a_while(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.monotonic()
    monkeypatch.setattr(own_models.time, "monotonic", lambda: now)
    assert not own_models.refresh()
    file.write_text('[models."glm-9"]\nwindow = 300_000\n')
    assert not own_models.refresh()
    now += own_models.SECONDS
    assert own_models.refresh()
    assert model_info("glm-9").window == 300_000
