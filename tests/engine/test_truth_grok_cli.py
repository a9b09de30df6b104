"""Every shared Grok CLI session against its ``truth.json``."""

from __future__ import annotations

from collections import Counter

import pytest

from sessions.engine.transcript.types import Kind
from tests.engine.truth_facts import facts, leaves, lines, one_session, parsed, place, sample_names

pytestmark = pytest.mark.samples
NAMES = sample_names("grok-cli")


@pytest.mark.parametrize("name", NAMES)
def test_the_file_and_its_lines(name: str) -> None:
    said, entries = facts(name), lines(name)
    assert parsed(name).format == "grok_cli"
    assert not parsed(name).skipped
    assert (place(name).stat().st_size, len(entries)) == (said["bytes"], said["lines"])
    assert Counter(entry["type"] for entry in entries) == said["lines_by_type"]
    covered = sum(len(message.origins) for message in one_session(name).messages)
    assert covered == said["lines"] - said["lines_by_type"]["system"]
    assert one_session(name).id == name.split("/")[-2]


@pytest.mark.parametrize("name", NAMES)
def test_requests_models_usage_and_compactions(name: str) -> None:
    said, found = facts(name), one_session(name)
    assert len(found.requests) == said["requests"]
    assert Counter(request.model for request in found.requests) == said["models"]
    assert said["usage"] is None
    assert not any(request.usage for request in found.requests)
    assert len(found.compactions) == said["compactions"]


@pytest.mark.parametrize("name", NAMES)
def test_tools_images_and_injected_messages(name: str) -> None:
    said, found = facts(name), one_session(name)
    calls = [leaf for message in found.messages for leaf in message.leaves() if leaf.kind is Kind.TOOL_USE]
    assert sum(bool(call.call_id) for call in calls) == said["tool_calls"]
    assert sum(not call.call_id for call in calls) == said["backend_tool_calls"]
    assert len(leaves(name, Kind.TOOL_RESULT)) == said["tool_results"]
    assert len(leaves(name, Kind.OPAQUE)) == 0
    assert sum(message.meta for message in found.messages) == said["synthetic_user"]
    assert found.n_images == said["images"]
    media = [leaf.media for message in found.messages for leaf in message.leaves() if leaf.media]
    assert sum(one.n_base64 > 0 for one in media) == said["image_payloads"]
