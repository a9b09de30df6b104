"""The shared Cline sample against ``truth.json``, and Roo's marks and the ui messages on our own fixtures."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.reading import read_contents
from sessions.engine.transcript.types import Kind
from tests.engine.test_formats_contract import FIXTURES, read
from tests.engine.truth_facts import fact, one_session, parsed, sample_names

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

NAMES = sample_names("cline")
samples = pytest.mark.samples


def ours(name: str) -> Transcript:
    (session,) = read(FIXTURES / "cline" / name).transcripts
    return session


@samples
@pytest.mark.parametrize("name", NAMES)
def test_messages_and_blocks_of_cline(name: str) -> None:
    session = one_session(name)
    assert parsed(name).format == "cline"
    assert not parsed(name).skipped
    assert len(session.messages) == fact(name, "messages")
    assert Counter(str(message.role) for message in session.messages) == fact(name, "messages_by_role")
    blocks = [block for message in session.messages for block in message.blocks]
    found = Counter("file" if block.name == "file" else str(block.kind) for block in blocks)
    assert found == fact(name, "blocks_by_type")
    assert {kind: found[kind] for kind in ("tool_use", "tool_result")} == fact(name, "tools")
    assert session.n_images == fact(name, "images")


@samples
@pytest.mark.parametrize("name", NAMES)
def test_usage_of_cline_includes_what_the_cache_read(name: str) -> None:
    session = one_session(name)
    used = [request.usage for request in session.requests if request.usage]
    assert len(used) == len(session.requests) == fact(name, "calls")
    assert [use.context for use in used] == fact(name, "input")
    assert [use.cache_read for use in used] == fact(name, "cache_read")
    assert [use.output for use in used] == fact(name, "output")
    assert {
        "inputTokens": sum(use.context for use in used),
        "outputTokens": sum(use.output for use in used),
        "cacheReadTokens": sum(use.cache_read for use in used),
        "cacheWriteTokens": sum(use.cache_write for use in used),
    } == fact(name, "totals")


@samples
@pytest.mark.parametrize("name", NAMES)
def test_a_fall_of_the_context_is_no_compaction(name: str) -> None:
    """The model was changed for a short prompt; the file records no compaction."""
    session = one_session(name)
    contexts = [request.usage.context if request.usage else 0 for request in session.requests]
    found = [
        [i, contexts[i - 1], contexts[i]] for i in range(1, len(contexts)) if contexts[i] <= 0.75 * contexts[i - 1]
    ]
    assert found == fact(name, "falls")
    assert session.compactions == ()


def test_a_session_file_of_ours() -> None:
    session = ours("session.json")
    assert (session.id, session.model, len(session.system)) == ("1770000000000_ab", "anthropic/claude-sonnet-4.5", 1)
    first, second = session.requests
    assert first.usage
    assert (first.usage.input, first.usage.cache_read, first.usage.cache_write) == (50, 1000, 150)
    assert (second.message, second.usage) == (3, None)
    file = session.messages[0].blocks[1]
    assert (file.kind, file.name, file.target) == (Kind.TEXT, "file", "/a/lamp.ts")
    assert session.messages[2].blocks[0].n_chars == len('[{"query":"edit","result":"ok","success":true}]')


def test_a_condensed_history_of_roo() -> None:
    session = ours("roo_history.json")
    condensed, truncated = session.compactions
    assert (condensed.boundary, condensed.message, condensed.preserved, condensed.outside) == (3, 3, (0,), False)
    assert session.messages[3].summary
    assert condensed.request == 2, "three messages behind the summary are older than it"
    assert [request.message for request in session.requests] == [1, 4, 7, 9]
    assert (truncated.boundary, truncated.message, truncated.preserved) == (6, None, (0, 3))
    assert truncated.request == 3
    assert [message.compaction for message in session.messages if message.compaction is not None] == [0, 1]
    assert [block.kind for block in session.messages[1].blocks] == [Kind.THINKING, Kind.TEXT]
    assert (session.messages[10].blocks[0].kind, session.messages[10].blocks[0].n_payload) == (Kind.OPAQUE, 4)


def test_a_classic_history_is_known_by_its_task() -> None:
    session = ours("classic_history.json")
    assert [(r.message, r.usage) for r in session.requests] == [(1, None)]
    assert (session.n_images, session.messages[0].typed) == (1, True)


def test_requests_of_ui_messages_exclude_what_the_cache_read() -> None:
    session = ours("ui.json")
    assert [str(message.role) for message in session.messages] == ["user", "assistant"] * 3 + ["user"]
    used = [request.usage for request in session.requests]
    assert [(u.input, u.cache_write, u.cache_read, u.output) for u in used if u] == [
        (900, 100, 0, 30),
        (20, 60, 1000, 25),
        (500, 0, 0, 11),
    ]
    assert [request.message for request in session.requests] == [1, 3, 5]
    kinds = [[str(block.kind) for block in message.blocks] for message in session.messages]
    assert kinds[:3] == [["text", "image"], ["thinking", "text", "tool_use"], ["text"]]
    assert session.warnings == ("The client's own entries, not context: 1 checkpoint_created",)


def test_a_deleted_range_is_a_truncation_before_the_request_that_shows_it() -> None:
    session = ours("ui.json")
    (compaction,) = session.compactions
    assert (compaction.boundary, compaction.preserved, compaction.message) == (4, (0, 1), None)
    assert (compaction.request, compaction.tokens_before, compaction.tokens_after) == (2, 1105, 500)


def test_ui_text_is_read_out_of_the_json_in_an_entry() -> None:
    session = ours("ui.json")
    with (FIXTURES / "cline/ui.json").open("rb") as file:
        (sent,) = read_contents(Source(file), "cline", session.messages[2])
        thought, said, call = read_contents(Source(file), "cline", session.messages[1])
    assert sent.text == "[execute_command] Result:\nsocks\nties"
    assert (thought.text, said.text, call.name, call.text) == (
        "Socks first.",
        "I look inside.",
        "execute_command",
        "ls drawer",
    )
