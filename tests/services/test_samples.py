"""Every shared sample of the three formats is ingested, and every message can be read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions import selectors
from sessions.adapters import storage
from sessions.models import Session, State
from tests.samples import find_samples, samples_dir
from tests.services.conftest import Ingest

pytestmark = [pytest.mark.samples, pytest.mark.django_db]

FOLDERS = ("claude-code", "anthropic-api", "learn-claude-code")


def sample_names() -> list[str]:
    root = find_samples()
    if root is None:
        return ["(no samples)"]
    found = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.is_file()]
    return [str(path.relative_to(root)) for path in found]


@pytest.mark.parametrize("name", sample_names())
def test_every_sample_is_ingested(name: str, ingested: Ingest) -> None:
    data = (samples_dir() / name).read_bytes()
    upload = ingested(data, Path(name).name)
    assert (upload.status, upload.error) == (State.DONE, "")
    for session in Session.objects.all():
        assert len(selectors.load_weighed(session.pk).transcript.messages) == session.n_messages > 0
        for index in {0, session.n_messages // 2, session.n_messages - 1}:
            assert selectors.message_contents(session, index)
    with storage.open_blob(upload.sha256) as file:
        assert file.read() == data
