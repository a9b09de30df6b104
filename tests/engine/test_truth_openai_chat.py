"""Every shared chat completions sample against ``truth.json``."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.engine.truth_facts import (
    all_messages,
    check_call_pairs,
    check_images,
    check_single_usage,
    fact,
    one_session,
    parsed,
    raw_values,
    sample_names,
    used,
)

pytestmark = pytest.mark.samples
NAMES = sample_names("openai-chat")
REQUESTS = [name for name in NAMES if ".request." in name] or NAMES[:1]
RESPONSES = [name for name in NAMES if ".response." in name] or NAMES[:1]


@pytest.mark.parametrize("name", REQUESTS)
def test_messages_tools_images_and_model_of_a_chat_request(name: str) -> None:
    session = one_session(name)
    assert fact(name, "side") == "request"
    assert len(session.messages) == fact(name, "messages")
    roles = Counter(value["role"] for value in raw_values(name, session.messages))
    assert roles == fact(name, "messages_by_role")
    assert session.model == fact(name, "model")
    check_call_pairs(name, fact(name, "tools"), "tool_calls", "tool_results")
    check_images(name)
    assert (session.requests[-1].message, session.requests[-1].usage) == (None, None)
    assert not used(name)


@pytest.mark.parametrize("name", RESPONSES)
def test_usage_calls_and_model_of_a_chat_response(name: str) -> None:
    session = one_session(name)
    assert fact(name, "side") == "response"
    assert len(session.messages) == len(session.requests) == 1
    assert session.model == session.requests[0].model == fact(name, "model")
    assert session.n_tool_calls == fact(name, "tool_calls")
    check_single_usage(name)


@pytest.mark.parametrize("name", [name for name in NAMES if "gpt-4o-airline" in name] or NAMES[:1])
def test_conversations_of_tau_bench(name: str) -> None:
    transcripts = parsed(name).transcripts
    assert len(transcripts) == fact(name, "conversations")
    assert [len(transcript.messages) for transcript in transcripts] == fact(name, "messages_each")
    assert len(all_messages(name)) == fact(name, "messages")
    roles = Counter(value["role"] for t in transcripts for value in raw_values(name, t.messages))
    assert roles == fact(name, "messages_by_role")
    check_images(name)
    calls = [call for t in transcripts for message in t.messages for call in message.call_ids()]
    results = [call for t in transcripts for message in t.messages for call in message.result_ids()]
    expected = fact(name, "tools")
    assert (len(calls), len(results)) == (expected["tool_calls"], expected["tool_results"])
    assert len(set(calls) ^ set(results)) == expected["unpaired_ids"]
    assert not used(name)


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".jsonl")] or NAMES[:1])
def test_each_flattened_conversation_is_a_session(name: str) -> None:
    transcripts = parsed(name).transcripts
    assert len(transcripts) == fact(name, "lines") == fact(name, "keys")["messages_display"]
    assert not parsed(name).skipped
    for transcript in transcripts:
        (raw,) = set(raw_values(name, transcript.messages))
        n_labels = sum(len(message.role) for message in transcript.messages)
        n_said = sum(block.n_chars for message in transcript.messages for block in message.leaves())
        assert n_said <= len(raw)
        assert len(raw) - n_said <= n_labels + 4 * len(transcript.messages), "nothing but labels is left out"
