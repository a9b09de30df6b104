"""What a page keeps for the next one never costs it its answer."""

from __future__ import annotations

from contextlib import AbstractContextManager

import pytest
from django.db import OperationalError

from sessions.models import Session, SessionColumns
from sessions.services import column_runs
from tests.services.claude_lines import session
from tests.services.conftest import Ingest

pytestmark = pytest.mark.django_db


def test_a_writer_that_is_there_first_costs_only_what_would_be_kept(
    ingested: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With IMMEDIATE transactions SQLite refuses at the begin, before anything is written."""
    ingested(session(2))
    stored = Session.objects.get()

    class Busy:
        def __enter__(self) -> None:
            raise OperationalError("database is locked")

        def __exit__(self, *error: object) -> None: ...

    def atomic() -> AbstractContextManager[None]:
        return Busy()

    with monkeypatch.context() as patched:
        patched.setattr(column_runs.transaction, "atomic", atomic)
        assert column_runs.keep(stored.pk, "session", stored.version, {"a": b"1"}) is False
    assert not SessionColumns.objects.exists()
    assert column_runs.keep(stored.pk, "session", stored.version, {"a": b"1"}) is True
    assert column_runs.keep(stored.pk, "session", "another version", {"a": b"2"}) is False
    assert SessionColumns.objects.count() == 1
