"""What tests of services share."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from sessions.models import Upload
from sessions.services.ingest import ingest
from sessions.services.uploads import receive

Ingest = Callable[..., Upload]


@pytest.fixture(autouse=True)
def blobs(tmp_path: Path, settings: pytest.FixtureRequest) -> Path:
    """A blob store of its own for every test."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    return tmp_path / "blobs"


@pytest.fixture
def ingested(db: None) -> Ingest:
    """Stores and reads bytes; returns the upload."""

    def store(data: bytes, filename: str = "session.jsonl") -> Upload:
        return ingest(upload_id=receive(file=io.BytesIO(data), filename=filename).upload.pk)

    return store
