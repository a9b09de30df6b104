"""What tests of pages share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import plotly.io
import pytest
from pytest_django import Settings

from sessions.models import Session
from tests.web.drawn import check
from tests.web.stored import pressed, store


@pytest.fixture(autouse=True)
def valid_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """No page shows a figure that Plotly would refuse."""
    serialised = plotly.io.to_json

    def checked(figure: dict[str, Any], **options: Any) -> str | None:
        check(figure)
        return serialised(figure, **options)

    monkeypatch.setattr(plotly.io, "to_json", checked)


@pytest.fixture
def session(db: None, tmp_path: Path, settings: Settings) -> Session:
    """A stored session with an over-counted screenshot."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    return store(pressed())


@pytest.fixture
def team(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that asks for signing in, on which no worker reads by itself."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    settings.REQUIRE_LOGIN = True
    monkeypatch.setattr("sessions.tasks.wake", lambda n: None)
