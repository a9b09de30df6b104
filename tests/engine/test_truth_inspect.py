"""Every Inspect sample against ``truth.json``."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest

from sessions.engine.jsonio import Source
from sessions.engine.types import Kind, Request, Usage
from tests.engine.test_truth import all_messages, fact, leaves, parsed, sample_names
from tests.samples import samples_dir

pytestmark = pytest.mark.samples

NAMES = sample_names("inspect")


@cache
def raw_samples(name: str) -> list[dict[str, Any]]:
    """The samples of a file as they are written, in its order."""
    with (samples_dir() / name).open("rb") as file:
        source = Source(file)
        archive = source.archive()
        if archive is None:
            return list(source.document()["samples"])
        return [source.member(member) for member in archive.names if member.startswith("samples/")]


def header(name: str) -> dict[str, Any]:
    with (samples_dir() / name).open("rb") as file:
        source = Source(file)
        found: dict[str, Any] = source.document() if source.archive() is None else source.member("header.json")
        return found


def requests(name: str) -> list[Request]:
    return [request for transcript in parsed(name).transcripts for request in transcript.requests]


def reported(usages: list[Usage]) -> dict[str, int]:
    """The figures of these files, whose input includes what the cache read."""
    return {
        "input_tokens": sum(u.context for u in usages),
        "output_tokens": sum(u.output for u in usages),
        "total_tokens": sum(u.context + u.output for u in usages),
        "input_tokens_cache_read": sum(u.cache_read for u in usages),
        "reasoning_tokens": 0,
    }


@pytest.mark.parametrize("name", NAMES)
def test_samples_are_sessions_with_their_messages(name: str) -> None:
    sessions = parsed(name).transcripts
    assert parsed(name).skipped == ()
    assert len(sessions) == fact(name, "samples")
    assert [len(session.messages) for session in sessions] == fact(name, "messages_each")
    assert sum(len(session.messages) for session in sessions) == fact(name, "messages")
    assert {session.model for session in sessions} == {header(name)["eval"]["model"]}
    assert (header(name)["version"], header(name)["status"]) == (fact(name, "version"), fact(name, "status"))


@pytest.mark.parametrize("name", NAMES)
def test_roles_and_messages_that_are_an_attachment(name: str) -> None:
    roles: Counter[str] = Counter()
    n_whole = 0
    with (samples_dir() / name).open("rb") as file:
        source = Source(file)
        for message in all_messages(name):
            raw = source.read(message.origins[0])
            roles[raw["role"]] += 1
            n_whole += isinstance(raw["content"], str) and raw["content"].startswith("attachment://")
    assert roles == fact(name, "messages_by_role")
    assert n_whole == fact(name, "messages_that_are_an_attachment")


@pytest.mark.parametrize("name", NAMES)
def test_tool_calls_and_their_results(name: str) -> None:
    expected = fact(name, "tools")
    n_open = n_orphans = 0
    for transcript in parsed(name).transcripts:
        calls = {b.call_id for m in transcript.messages for b in m.leaves() if b.kind is Kind.TOOL_USE}
        results = {b.call_id for m in transcript.messages for b in m.leaves() if b.kind is Kind.TOOL_RESULT}
        n_open += len(calls - results)
        n_orphans += len(results - calls)
    assert len(leaves(name, Kind.TOOL_USE)) == expected["tool_calls"]
    assert len(leaves(name, Kind.TOOL_RESULT)) == expected["tool_messages"]
    assert (n_open, n_orphans) == (expected["calls_without_result"], expected["results_without_call"])
    assert len([leaf for leaf in leaves(name, Kind.OPAQUE) if leaf.name == "tool_use"]) == fact(name, "tool_use_parts")


@pytest.mark.parametrize("name", NAMES)
def test_images_are_resolved_from_attachments(name: str) -> None:
    found = [
        [[position, message.index], leaf.media.media_type, leaf.media.n_base64, leaf.media.width, leaf.media.height]
        for position, transcript in enumerate(parsed(name).transcripts)
        for message in transcript.messages
        for leaf in message.leaves()
        if leaf.kind is Kind.IMAGE and leaf.media
    ]
    assert found == fact(name, "image_list", [])
    assert len(found) == fact(name, "images")
    assert sum(row[2] for row in found) == fact(name, "image_base64_chars", 0)
    assert len({leaf.media.sha256 for leaf in leaves(name, Kind.IMAGE)}) == fact(name, "distinct_images")


@pytest.mark.parametrize("name", NAMES)
def test_events_attachments_and_pools_are_those_of_the_file(name: str) -> None:
    samples = raw_samples(name)
    events = Counter(event["event"] for sample in samples for event in sample.get("events", []))
    assert events == fact(name, "events", {})
    texts = [text for sample in samples for text in sample.get("attachments", {}).values()]
    assert (len(texts), sum(map(len, texts))) == (fact(name, "attachments"), fact(name, "attachment_chars"))
    assert [len(s["message_pool"]) for s in samples if "message_pool" in s] == fact(name, "message_pool", [])
    if events:
        assert len(requests(name)) == events["model"]
    assert sum(len(t.compactions) for t in parsed(name).transcripts) == events["compaction"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", ["usage_of_model_events", "model_usage_of_samples"])
def test_usage_of_model_events_adds_up(name: str, key: str) -> None:
    """Each model event once, those of graders included, is what the samples say they used."""
    by_model: dict[str, list[Usage]] = {}
    for request in requests(name):
        if request.usage:
            by_model.setdefault(request.model, []).append(request.usage)
    expected = fact(name, key)
    if expected is None:
        assert key == "usage_of_model_events" or not by_model
        return
    for model, figures in expected.items():
        used = reported(by_model[model])
        assert {k: used[k] for k in figures} == figures
    assert set(by_model) == set(expected)


@pytest.mark.parametrize("name", NAMES)
def test_the_header_may_cover_a_larger_run(name: str) -> None:
    of_header, of_samples = fact(name, "model_usage_of_header"), fact(name, "model_usage_of_samples")
    assert header(name)["stats"].get("model_usage", {}) == (of_header or {})
    for model, figures in (of_samples or {}).items():
        assert figures["input_tokens"] <= of_header[model]["input_tokens"]


@pytest.mark.parametrize("name", NAMES)
def test_every_reply_in_the_context_is_a_request_on_the_branch(name: str) -> None:
    for transcript in parsed(name).transcripts:
        replies = [m.index for m in transcript.messages if m.role == "assistant"]
        assert [r.message for r in transcript.requests if r.on_branch] == replies
