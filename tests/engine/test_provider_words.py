"""Refusals and failed compactions in the words of further providers, gateways and agents (formats 21)."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.engine.reading.formats._provider_errors import Refusal, refusal_of
from sessions.engine.transcript.recorded_events import ErrorKind
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.verdict_files import Claude
from tests.why_cases.agents import Copilot, Gemini, Qwen

TOO_LONG = "Prompt is too long"

CONTEXT = (
    (
        "Ran into this error: Request failed: Input does not fit in context length. The input has 31430 tokens, but "
        "the context length only supports 30000 tokens..",
        31_430,
        30_000,
    ),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context "
        "length is 131072 tokens and your request has 99073 input tokens (32000 > 131072 - 99073).",
        99_073,
        131_072,
    ),
    (
        "You passed 130001 input tokens and requested 2000 output tokens. However, the model's context "
        "length is only 131072 tokens, resulting in a maximum input length of 129072 tokens.",
        130_001,
        131_072,
    ),
    (
        "This model's maximum context length is 131072 tokens. However, you requested 32000 output "
        "tokens and your prompt contains at least 99073 input tokens, for a total of at least 131073 "
        "tokens.",
        99_073,
        131_072,
    ),
    (
        "Requested token count exceeds the model's maximum context length of 131072 tokens. You "
        "requested a total of 136071 tokens: 8071 tokens from the input messages and 128000 tokens for "
        "the completion.",
        8_071,
        131_072,
    ),
    ("The input (130000 tokens) is longer than the model's context length (128000 tokens).", 130_000, 128_000),
    ("Input length (130000) exceeds model's maximum context length (128000).", 130_000, 128_000),
    (
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 3900 `inputs` tokens and 1000 `max_new_tokens`",
        3_900,
        4_096,
    ),
    ("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]", None, 98_304),
    ("Prompt exceeds max length", None, None),
    ("Your request exceeded model token limit: 262144 (requested: 270001)", 270_001, 262_144),
    ("The prompt is too long: 132000, model maximum context length: 131071", 132_000, 131_071),
    (
        "too many tokens: total number of tokens in the prompt cannot exceed 128000 - received 130000. "
        "Try using a shorter prompt",
        130_000,
        128_000,
    ),
    ("API Error: The model has reached its context window limit.", None, None),
    (
        "Context length exceeded: request (51210 tokens) exceeds the available context size (49152 tokens)",
        51_210,
        49_152,
    ),
    (
        "Trying to keep the first 33114 tokens when context the overflows. However, the model is loaded "
        "with context length of only 32768 tokens, which is not enough.",
        None,
        32_768,
    ),
    ("Cannot truncate prompt with n_keep (33114) >= n_ctx (32768)", 33_114, 32_768),
    ("400 `prompt too long; exceeded max context length by 100918 tokens`", None, None),
    ("Requested tokens (5000) exceed context window of 4096", 5_000, 4_096),
    ("Context window exceeded: 306234 tokens exceeds the limit of 272000 tokens", 306_234, 272_000),
    (
        "400 Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000",
        42_328,
        40_000,
    ),
    ("Session token limit exceeded: 308,113 tokens > 256,000 limit.", 308_113, None),
    ("Total tokens of image and text exceed max message tokens", None, None),
    ("Message exceeds token limit.", None, None),
    (
        "Sending this message (9 tokens) might exceed the context window limit (-31,601,307 tokens left).",
        None,
        None,
    ),
    (
        "This endpoint's maximum context length is 1048756 tokens. However, you requested about 1087438 "
        "tokens (4999 of text input, 33863 of tool input, 1048576 in the output).",
        38_862,
        1_048_756,
    ),
)
FAILED = (
    ("Context overflow recovery failed: Context compaction did not meet the strict 40% reduction requirement"),
    "Manual compaction failed: overloaded",
    (
        "Auto-compaction failed: Turn prefix summarization failed: 400 max_tokens: 250000 > 128000, "
        "which is the maximum allowed number of output tokens"
    ),
    "Error: [compaction.unable] No prefix that can be compacted in current history.",
    "summarizer unexpectedly failed for all models",
    "Compaction failed: received empty response from model",
    "Compacting failed: API Error: Request was aborted",
    "Could not compact the conversation",
    "Error while summarizing conversation: timeout",
    "Context overflow: Summarization failed: You have hit your ChatGPT usage limit (plus plan).",
)
OTHER = (
    "Error during compaction: Error: Not enough messages to compact.",
    "You have exceeded your monthly token limit",
    "Conversation compacted",
    "Compression was not beneficial for this history size.",
    "Failed to compile the project",
    "API Error: 529 overloaded_error",
    "Your account has insufficient quota",
    ("max_tokens: 250000 > 128000, which is the maximum allowed number of output tokens for claude-opus-4-7"),
)


@pytest.mark.parametrize(("text", "tokens", "limit"), CONTEXT)
def test_what_was_sent_and_what_is_allowed(text: str, tokens: int | None, limit: int | None) -> None:
    found = refusal_of(text)
    assert found is not None
    assert (found.kind, found.tokens, found.limit, found.of_compaction) == ("context", tokens, limit, False)


@pytest.mark.parametrize("text", FAILED)
def test_a_failed_compaction_in_an_agents_own_words(text: str) -> None:
    found = refusal_of(text)
    assert found is not None
    assert (found.kind, found.of_compaction) == (ErrorKind.COMPACTION, True)


@pytest.mark.parametrize("text", OTHER)
def test_what_is_no_refusal_for_size(text: str) -> None:
    assert refusal_of(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "An image in the conversation exceeds the dimension limit for many-image requests (2000px). Run /compact to",
        "messages.3.content.71.image.source.base64.data: At least one of the image dimensions exceed max allowed size",
        "image exceeds 5 MB maximum: 5355736 bytes > 5242880 bytes",
        "Too much media: 0 document pages + 102 images > 100",
        "A maximum of 100 PDF pages may be provided.",
    ],
)
def test_a_picture_or_document_over_a_limit(text: str) -> None:
    assert refusal_of(text) == Refusal("media")
    assert refusal_of(f"Error during compaction: {text}") == Refusal(ErrorKind.COMPACTION, of_compaction=True)


def errors_of(session: Any) -> list[tuple[str, bool]]:
    """Kinds of a session's errors, and whether a compaction got each."""
    return [(error.kind, error.of_compaction) for error in session.weighed().transcript.errors]


def test_where_agents_write_a_failed_compaction() -> None:
    said = "<local-command-stderr>Error: Compaction failed: Request timed out</local-command-stderr>"
    claude = Claude()
    claude.turns(1, 200)
    claude.emit("user", message={"role": "user", "content": said})
    copilot = Copilot().prompt().turn(200)
    copilot.event("session.warning", {"message": "Failed to compact: the model gave no answer"})
    copilot.event("session.info", {"message": "prompt is too long, as the page says"})
    gemini = Gemini().prompt().turn(200)
    gemini.add("info", content="Failed to compress chat history: no answer")
    gemini.add("info", content="prompt is too long, as the page says")
    qwen = Qwen(100_000).prompt().turn(200)
    qwen.record("system", subtype="chat_compression", systemPayload={"info": {"compressionStatus": 2}})
    for session in (claude, copilot, gemini, qwen):
        assert errors_of(session) == [("compaction", True)]


def test_a_message_that_the_client_holds_back_and_a_made_up_reply_are_refusals() -> None:
    gemini = Gemini().prompt().turn(200)
    gemini.add("info", content="Sending this message (9 tokens) might exceed the context window limit (7 tokens left).")
    claude = Claude()
    claude.turns(1, 200)
    made_up = {"id": "e", "model": "<synthetic>", "role": "assistant", "content": [{"type": "text", "text": TOO_LONG}]}
    claude.emit("assistant", message=made_up)
    for session in (gemini, claude):
        assert errors_of(session) == [("context", False)]


def test_a_refusal_behind_a_compaction_is_not_its_trigger() -> None:
    session = Gemini().prompt().until(700_000).compress(900_000).prompt()
    session.refuse("The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).")
    found = verdicts_of(session.weighed())
    assert [v.what for v in found] == ["compaction", "error"]
    assert found[0].cause != "after_refusal"
    assert found[1].cause == "retained_through_compaction"


def test_one_text_over_its_limit_is_refused_for_its_bytes() -> None:
    found = refusal_of(
        "string too long. Expected a string with maximum length 10485760, but got a string with length 12000000"
    )
    assert found is not None
    assert (found.kind, found.tokens, found.limit) == ("body", 12_000_000, 10_485_760)
