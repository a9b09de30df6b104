"""Every shared Gemini API and Gemini CLI sample against ``truth.json``."""

from __future__ import annotations

from collections import Counter

import pytest

from sessions.engine.reading.jsonio import Source
from tests.engine.truth_facts import (
    check_call_pairs,
    check_images,
    fact,
    one_session,
    parsed,
    place,
    raw_values,
    sample_names,
    used,
)

pytestmark = pytest.mark.samples
API, CLI = sample_names("gemini-api"), sample_names("gemini-cli")
LISTS = [n for n in (*API, *CLI) if ".request." in n or "trajectory" in n] or API[:1]


@pytest.mark.parametrize("name", LISTS)
def test_contents_parts_calls_and_images_of_gemini(name: str) -> None:
    session = one_session(name)
    raw = raw_values(name, session.messages)
    assert len(session.messages) == fact(name, "messages")
    assert Counter(value["role"] for value in raw) == fact(name, "messages_by_role")
    kinds = Counter(key for value in raw for part in value["parts"] for key in part if key != "thoughtSignature")
    assert kinds == fact(name, "parts_by_kind")
    n_parts = sum(len(value["parts"]) for value in raw)
    assert n_parts == sum(len(message.blocks) for message in session.messages)
    found = Counter(str(block.kind) for message in session.messages for block in message.blocks)
    expected = fact(name, "parts_by_kind")
    assert found["thinking"] == expected.get("thought", 0) == fact(name, "thought_parts", 0)
    assert found["text"] == expected["text"] - expected.get("thought", 0)
    assert (found["tool_use"], found["tool_result"]) == (
        expected.get("functionCall", 0), expected.get("functionResponse", 0),
    )  # fmt: skip
    assert not found["opaque"]
    check_call_pairs(name, fact(name, "tools"))
    check_images(name)
    assert not used(name)


@pytest.mark.parametrize("name", LISTS)
def test_compressions_and_masked_outputs_of_gemini(name: str) -> None:
    session = one_session(name)
    summaries = [m for m in session.messages if m.summary]
    found = [[m.index, sum(block.n_chars for block in m.blocks)] for m in summaries]
    assert found == fact(name, "compactions", [])
    assert [c.message for c in session.compactions] == [index for index, _ in fact(name, "compactions", [])]
    assert all(c.outside for c in session.compactions)
    n_masked = fact(name, "masked_tool_outputs", 0)
    said = [int(note.split(": ")[1].split(";")[0]) for note in session.warnings if "cleared" in note]
    assert said == ([n_masked] if n_masked else [])


@pytest.mark.parametrize("name", [n for n in API if ".response." in n] or API[:1])
def test_usage_of_a_gemini_response(name: str) -> None:
    (request,) = used(name)
    expected, usage = fact(name, "usage"), request.usage
    assert usage
    assert (request.model, one_session(name).model) == (fact(name, "model"), fact(name, "model"))
    assert (usage.context, usage.output) == (expected["input"], expected["output"])
    assert usage.context + usage.output == expected["total"]
    counts = ", ".join(f"{name} {count:,}" for name, count in expected["input_by_modality"].items())
    assert [note.partition("modality: ")[2] for note in one_session(name).warnings] == [counts]


@pytest.mark.parametrize("name", [n for n in CLI if n.endswith(".responses")] or CLI[:1])
def test_recorded_calls_of_gemini_cli(name: str) -> None:
    session = one_session(name)
    with place(name).open("rb") as file:
        methods = Counter(value["method"] for value in Source(file).head().values)
    assert methods == fact(name, "methods")
    assert len(session.requests) == len(session.messages) == fact(name, "records")
    assert not parsed(name).skipped
    for request, expected in zip(session.requests, fact(name, "usage"), strict=True):
        usage = request.usage
        assert usage
        assert (usage.context, usage.cache_read) == (expected["input"], expected.get("cached", 0))
        assert usage.output == expected.get("output", 0) + expected.get("thoughts", 0)
        assert usage.reasoning == expected.get("thoughts", 0)
        assert usage.context + usage.output == expected["total"]
        assert expected["input_by_modality"] == {"TEXT": expected["input"]}
