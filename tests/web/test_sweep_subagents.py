"""The subagents of a session beside its sweep, by type, with what to set for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.models import Session
from sessions.pages.sweep import subagents as page_of
from sessions.runs.subagents import by_type
from tests.services.families import HOME, project
from tests.services.packs import zipped
from tests.web.stored import store
from tests.web.test_sweep_page import page, words

if TYPE_CHECKING:
    import pytest
    from django.test import Client

RANGE = "policy=claude_code&over=pct_override=40:80:3"


def test_each_type_stands_with_its_number_its_peak_and_what_to_set(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(zipped(project()), "projects.zip")
    home = Session.objects.get(native_id=HOME)
    ((name, those),) = by_type(home).items()
    assert (name, {one.native_id for one in those}) == ("x", {"agent-a111", "agent-a222"})
    said = words(page(client, f"/s/{home.pk}/compare/?{RANGE}").split('id="h-sub"')[1])
    peak = max(one.peak_context or 0 for one in those)
    assert f"x 2 0 {peak:,} tokens Nothing to tune in any of them" in said
    monkeypatch.setattr(page_of, "SECONDS", -1)
    late = page(client, f"/s/{home.pk}/compare/?{RANGE}").split('id="h-sub"')[1]
    assert "Compare settings for this type" in words(late)
    for one in those:
        assert f"s={one.pk}" in late
        assert "Subagents by type" not in page(client, f"/s/{one.pk}/compare/?{RANGE}")
