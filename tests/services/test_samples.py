"""Every shared sample of the three formats is ingested, and every message can be read again."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db.models import Count, Sum

from sessions import selectors
from sessions.models import MessageRow, Session, State
from tests.samples import find_samples, samples_dir
from tests.services.conftest import Ingest  # noqa: TC001 - a fixture's type

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
    sums = Session.objects.aggregate(messages=Sum("n_messages"), wire=Sum("wire_bytes"))
    rows = MessageRow.objects.aggregate(messages=Count("id"), wire=Sum("wire_bytes"))
    assert (sums["messages"], sums["wire"]) == (rows["messages"], rows["wire"])
    assert sums["messages"] > 0
    for session in Session.objects.all():
        for index in {0, session.n_messages // 2, session.n_messages - 1}:
            assert selectors.message_contents(session, index)
    with selectors.open_blob(upload.sha256) as file:
        assert file.read() == data
