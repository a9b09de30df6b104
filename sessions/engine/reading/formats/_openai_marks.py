"""What tells an OpenAI chat request from a Messages API request: both are lists of messages with roles (formats 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessions.engine.base.words import words
from sessions.engine.reading.formats._values import Record, as_list

MESSAGE_KEYS = ("tool_calls", "tool_call_id", "function_call")
ROLES = ("tool", "developer", "function")
PART_TYPES = ("image_url", "input_audio", "file")
REQUEST_KEYS = words("""
    frequency_penalty presence_penalty response_format stream_options parallel_tool_calls max_completion_tokens
    reasoning_effort logit_bias
""")
FOREIGN_KEYS = words("""
    info trajectory trajectory_format sessionId session_id events history steps instance_id conversations images
    samples eval agentMode usageLedger observation
""")
"""Keys of other tools' files that hold chat messages too."""
FOREIGN_TURN_KEYS = (
    *("ts", "isSummary", "condenseId", "condenseParent", "truncationId", "truncationParent"),
    *("messageId", "parts", "toolInvocations", "turn_idx", "message_type", "created", "session_id", "raw"),
)
"""Keys beside role and content of Cline and Roo (formats 17), Amp (42), the AI SDK (44), tau2-bench (64), SWE-agent
(13), goose (9), Hermes (50) and an envelope around an event."""
FOREIGN_PART_KEYS = ("toolUseID", "toolCallId")
"""Keys of parts in Amp's results (formats 42) and in the calls and results of the AI SDK."""
MODELS = ("gpt-", "chatgpt-", "o1", "o3", "o4", "openai/")


def chat_mark(request: Record) -> str:
    """What makes a request OpenAI's, in words; empty where nothing does."""
    messages = request.get("messages")
    found = message_mark(messages) if isinstance(messages, list) else ""
    if found:
        return found
    tools = request.get("tools")
    if isinstance(tools, list) and any(isinstance(tool, dict) and tool.get("type") == "function" for tool in tools):
        return "tools are of type function"
    key = next((key for key in REQUEST_KEYS if key in request), "")
    if key:
        return f"it has {key}"
    model = request.get("model")
    return f"the model is {model}" if isinstance(model, str) and model.startswith(MODELS) else ""


def foreign_key(request: Record) -> str:
    """A key that no chat request has and another tool's file does; empty where there is none."""
    return next((key for key in FOREIGN_KEYS if key in request), "")


def foreign_turn(turns: Sequence[Any]) -> str:
    """A key that no message of the API has and a turn or part of another tool's does; empty where there is none."""
    held = [turn for turn in turns if isinstance(turn, dict)]
    own = next((key for turn in held for key in FOREIGN_TURN_KEYS if key in turn), "")
    parts = [part for turn in held if isinstance(turn.get("content"), list) for part in turn["content"]]
    inner = (key for part in parts if isinstance(part, dict) for key in FOREIGN_PART_KEYS if key in part)
    return own or next(inner, "")


def message_mark(messages: Sequence[Any]) -> str:
    """What makes one of the messages OpenAI's; empty where nothing does."""
    for part in messages:
        if not isinstance(part, dict):
            continue
        found = next((key for key in MESSAGE_KEYS if key in part), "")
        if found or part.get("role") in ROLES:
            return f"a message has {found or 'role ' + repr(part['role'])}"
        for block in as_list(part.get("content")):
            if isinstance(block, dict) and block.get("type") in PART_TYPES and block["type"] in block:
                return f"a block is {block['type']}"
    return ""
