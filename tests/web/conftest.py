"""What tests of pages share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.web.stored import pressed, store

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_django.fixtures import SettingsWrapper

    from sessions.models import Session


@pytest.fixture
def session(db: None, tmp_path: Path, settings: SettingsWrapper) -> Session:
    """A stored session with an over-counted screenshot."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    return store(pressed())
