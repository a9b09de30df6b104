"""Every shared Responses sample against ``truth.json``."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from sessions.engine.reading.formats._records import events
from sessions.engine.reading.jsonio import Source
from tests.engine.truth_facts import (
    check_images,
    check_single_usage,
    fact,
    one_session,
    parsed,
    place,
    raw_values,
    sample_names,
    used,
)

pytestmark = pytest.mark.samples
NAMES = sample_names("openai-responses")
REQUESTS = [name for name in NAMES if ".request." in name] or NAMES[:1]
RESPONSES = [name for name in NAMES if ".response." in name] or NAMES[:1]


def items_of(name: str) -> list[dict[str, Any]]:
    return [
        item if isinstance(item, dict) else {"role": "user"} for item in raw_values(name, one_session(name).messages)
    ]


@pytest.mark.parametrize("name", REQUESTS)
def test_items_of_a_responses_request(name: str) -> None:
    session, items = one_session(name), items_of(name)
    assert fact(name, "side") == "request"
    assert session.model == fact(name, "model")
    assert len(session.messages) == fact(name, "input_items")
    assert Counter(item.get("type", "message") for item in items) == fact(name, "items_by_type")
    assert Counter(item["role"] for item in items if "role" in item) == fact(name, "messages_by_role")
    assert not used(name)
    assert (session.requests[-1].message, session.requests[-1].on_branch) == (None, True)
    check_images(name)


@pytest.mark.parametrize("name", REQUESTS)
def test_compactions_of_a_responses_request(name: str) -> None:
    session = one_session(name)
    assert len(session.compactions) == sum(m.summary for m in session.messages) == fact(name, "compaction_items")
    asked = [note.split()[-2].replace(",", "") for note in session.warnings if "compact above" in note]
    assert [int(tokens) for tokens in asked] == fact(name, "compact_threshold", [])
    for compaction in session.compactions:
        assert compaction.message == compaction.boundary
        assert compaction.request == len(session.requests) - 1, "the pending request is the first after it"
        assert session.messages[compaction.boundary].blocks[0].n_payload > 1000


@pytest.mark.parametrize("name", RESPONSES)
def test_output_usage_and_compactions_of_a_response(name: str) -> None:
    session, items = one_session(name), items_of(name)
    assert fact(name, "side") == "response"
    assert len(session.requests) == 1
    assert session.model == fact(name, "model", "")
    assert Counter(item["type"] for item in items) == fact(name, "output_items")
    assert len(session.compactions) == sum(m.summary for m in session.messages) == fact(name, "compaction_items")
    check_single_usage(name)
    assert not parsed(name).skipped


@pytest.mark.parametrize("name", [name for name in RESPONSES if "compact_messages.2" in name] or NAMES[:1])
def test_a_compaction_call_is_told_from_a_reply(name: str) -> None:
    assert fact(name, "object") == "response.compaction"
    session = one_session(name)
    (compaction,) = session.compactions
    assert (compaction.trigger, compaction.outside, compaction.tokens_before) == ("manual", True, 156)
    assert [(r.message, r.on_branch) for r in session.requests] == [(None, False)]


@pytest.mark.parametrize("name", [name for name in RESPONSES if name.endswith(".sse.txt")] or NAMES[:1])
def test_every_event_of_a_stream_is_read(name: str) -> None:
    assert fact(name, "stream")
    with place(name).open("rb") as file:
        assert len(list(events(Source(file)))) == fact(name, "events")
