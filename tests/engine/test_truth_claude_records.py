"""Single Claude Code records against ``truth.json``: read without loss, with the checks that whole sessions pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sessions.engine.base import registry
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.reading import read_contents
from tests.engine import test_truth as truth
from tests.engine.test_formats_mutations import measure

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.samples

NAMES = truth.sample_names("claude-code-records")
CHECKS: list[Callable[[str], None]] = [
    lambda name: truth.test_requests_contexts_outputs_and_usage_of_claude_code(name, "main"),
    lambda name: truth.test_requests_contexts_outputs_and_usage_of_claude_code(name, "sidechain"),
    truth.test_requests_are_responses_and_replies_without_an_id,
    truth.test_models_of_claude_code,
    truth.test_tool_calls_and_results_of_claude_code,
    truth.test_thinking_and_signatures_of_claude_code,
    truth.test_images_their_sizes_and_base64_lengths,
    truth.test_what_an_image_cost,
    truth.test_attachments_and_other_lines_of_claude_code,
    truth.test_compactions_of_claude_code,
]


@pytest.mark.parametrize("name", NAMES)
def test_a_record_is_recognised_and_nothing_in_it_is_skipped(name: str) -> None:
    plugin = registry.get("formats", "claude_code")
    with (truth.place(name)).open("rb") as file:
        source = Source(file, name)
        head = source.head()
        guesses = [of for of, p in registry.plugins("formats").items() if (guess := p.sniff(head)) and guess.score > 0]
        assert guesses == ["claude_code"]
        parsed = plugin.read(source, measure)
        assert not parsed.skipped
        messages = [message for transcript in parsed.transcripts for message in transcript.messages]
        assert [measure(read_contents(source, "claude_code", message)) for message in messages] == [
            message.blocks for message in messages
        ]
    kinds = set(truth.fact(name, "lines_by_type"))
    assert len(messages) == (truth.fact(name, "lines") if kinds <= {"user", "assistant"} else 0)


@pytest.mark.parametrize("name", NAMES)
def test_a_record_passes_the_checks_of_a_session(name: str) -> None:
    if not set(truth.fact(name, "lines_by_type")) & {"user", "assistant"}:
        with pytest.raises(UnreadableInput, match="holds no messages"):
            truth.parsed(name)
        assert truth.fact(name, "responses") == truth.fact(name, "images") == 0
        return
    for check in CHECKS:
        check(name)
