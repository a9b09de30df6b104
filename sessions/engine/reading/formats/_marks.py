"""Which readers a file can be meant for, by the shape and the names at its start: the others are never loaded.

``MARKS`` has of each format the shapes that its files come in and names of which one at least stands in all of them: a
key, a short value, a table or a column.  A format without marks is always asked, so leaving them out costs time alone.

Below stands what tells Qwen Code's lines from Claude Code's (formats 22), and an OpenAI chat request from one of the
Messages API: both are lists of messages with roles (formats 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessions.engine.base.words import words
from sessions.engine.reading.formats._values import Record, as_list, text_of
from sessions.engine.reading.jsonio import Head

DOCUMENT, LINES, TEXT, DATABASE, ZIP = "document", "lines", "text", "database", "zip"
MAX_VALUES, MAX_DEPTH, MAX_LISTED, MAX_WORD = 20_000, 12, 50, 40
JSON = (DOCUMENT, LINES)
ROLES = ("tool", "developer", "function")
PART_TYPES = ("image_url", "input_audio", "file")
REQUEST_KEYS = words("""
    frequency_penalty presence_penalty response_format stream_options parallel_tool_calls max_completion_tokens
    reasoning_effort logit_bias
""")
FOREIGN_KEYS = words("""
    info trajectory trajectory_format sessionId session_id events history steps instance_id conversations images
    samples eval agentMode usageLedger observation in_context_message_indices in_context_message_ids summary
""")
"""Keys of other tools' files that hold chat messages too."""
FOREIGN_TURN_KEYS = words("""
    ts isSummary condenseId condenseParent truncationId truncationParent stopReason createdAt messageId parts
    toolInvocations turn_idx message_type created session_id raw token_usage
""")
"""Keys beside role and content of Cline and Roo (formats 17), Amp (42), the AI SDK (44), tau2-bench (64), SWE-agent
(13), goose (9), Hermes (50), pi (11) and an envelope around an event."""
FOREIGN_PART_KEYS = ("toolUseID", "toolCallId")
"""Keys of parts in Amp's results (formats 42) and in the calls and results of the AI SDK."""
MODELS = ("gpt-", "chatgpt-", "o1", "o3", "o4", "openai/")


def _marks(shapes: tuple[str, ...], names: str = "") -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(shapes), frozenset(words(names))


MARKS = {
    "acp": _marks((LINES,), "sessionUpdate tag session/prompt direction"),
    "ag_ui": _marks((*JSON, TEXT), "messageId threadId toolCallId"),
    "agent_zero": _marks((DOCUMENT,), "history"),
    "agents_sdk": _marks((DATABASE, *JSON), "message_data span_data"),
    "ai_sdk": _marks(JSON, "parts tool-call tool-result finishReason"),
    "aider": _marks((TEXT,)),
    "amp": _marks((DOCUMENT,), "messages"),
    "anthropic_messages": _marks((*JSON, TEXT), "messages stop_reason message_start content_block_delta error"),
    "amazon_q": _marks((*JSON, DATABASE), "conversation_id conversations"),
    "antigravity": _marks((LINES,), "source"),
    "atif": _marks((DOCUMENT,), "steps parent"),
    "autogen": _marks((*JSON, DATABASE), "agent_states llm_context llm_messages models_usage error_message"),
    "braintrust": _marks(JSON, "span_attributes"),
    "browser_use": _marks((DOCUMENT,), "model_output"),
    "camel": _marks(JSON, "role_at_backend"),
    "chatgpt_export": _marks(JSON, "mapping"),
    "claude_ai_export": _marks(JSON, "chat_messages"),
    "claude_code": _marks(JSON, "uuid parentUuid leafUuid sessionId session_id isSidechain snapshot"),
    "cline": _marks((DOCUMENT,)),
    "codex": _marks((LINES,), "payload record_type instructions git"),
    "codex_exec": _marks((LINES,), "thread.started turn.started item.started item.completed turn.completed"),
    "copilot_cli": _marks(JSON, "data"),
    "crush": _marks((DATABASE,), "prompt_tokens"),
    "ctxweb_jsonl": _marks((LINES,), "ctxweb ctxweb_block n_messages"),
    "cursor": _marks((LINES,), "role"),
    "cursor_db": _marks((DATABASE,), "cursorDiskKV ItemTable blobs"),
    "dsh": _marks((LINES,), "data"),
    "entire": _marks((LINES,), "agent"),
    "factory_droid": _marks((LINES,), "session_start message tool_call completion system"),
    "gemini_api": _marks(JSON, "parts contents candidates"),
    "gemini_cli": _marks(JSON, "sessionId session_id"),
    "google_adk": _marks(JSON, "appName app_name invocationId invocation_id evalCases eval_cases"),
    "genkit": _marks(JSON, "genkit:type genkit:name genkit:input"),
    "goose": _marks((*JSON, DATABASE), "created content_json"),
    "grok_cli": _marks((LINES,), "model_id synthetic_reason prompt_index backend_tool_call"),
    "hermes": _marks((*JSON, DATABASE), "messages end_reason"),
    "hf_traces": _marks(JSON, "harness"),
    "inspect": _marks((DOCUMENT, ZIP)),
    "kimi_cli": _marks((LINES,), "_system_prompt _usage _checkpoint"),
    "kimi_code": _marks((LINES,), "protocol_version"),
    "langchain": _marks(JSON, "lc additional_kwargs response_metadata usage_metadata tool_call_id human ai"),
    "langfuse": _marks(JSON, "observations traceId trace_id"),
    "langsmith": _marks(JSON, "run_type"),
    "letta": _marks(JSON, "message_type in_context_message_indices in_context_message_ids"),
    "librechat": _marks(JSON, "parentMessageId"),
    "litellm": _marks(JSON, "call_type"),
    "lm_studio": _marks((DOCUMENT,), "versions"),
    "managed_agents": _marks(
        JSON,
        """agent.message agent.thinking agent.tool_use agent.mcp_tool_use agent.custom_tool_use agent.tool_result
        agent.mcp_tool_result agent.thread_context_compacted span.model_request_start span.model_request_end""",
    ),
    "mastra": _marks(
        (*JSON, DATABASE),
        """mastra_messages model_generation model_step model_inference llm_generation agent_run tool_call workflow_run
        processor_run""",
    ),
    "mini_swe_agent": _marks((DOCUMENT,), "role messages"),
    "open_webui": _marks(JSON, "childrenIds"),
    "openai_chat": _marks(JSON, "choices messages tool_calls tool_call_id function_call messages_display traj error"),
    "openai_responses": _marks(
        (*JSON, TEXT), "input output response reasoning function_call input_text output_text compaction error"
    ),
    "opencode": _marks((*JSON, DATABASE), "parts part sessionID"),
    "openhands": _marks(JSON, "action observation kind history"),
    "otel": _marks(JSON, "attributes"),
    "pi": _marks((LINES,), "session parentId toolResult toolCall stopReason"),
    "pydantic_ai": _marks(JSON, "part_kind"),
    "qwen_code": _marks(JSON, "parts systemPayload"),
    "role_content": _marks(JSON, "role"),
    "sharegpt": _marks(JSON, "conversations conversation messages"),
    "server_log": _marks((TEXT, LINES)),
    "smolagents": _marks(JSON, "model_output"),
    "swe_agent": _marks((DOCUMENT,), "history trajectory"),
    "tau2": _marks(JSON, "task_id"),
    "vscode_chat": _marks(JSON, "requests"),
    "wire_capture": _marks(
        JSON, "messages contents request request_body requestBody req body kwargs payload input inputBodyJson"
    ),
    "zed": _marks((DATABASE,), "data_type"),
}


LAST = "message_lists"
"""What is asked where no other format claims a file."""
PLAIN = frozenset(words("anthropic_messages openai_chat openai_responses role_content sharegpt")) | {LAST}
"""Formats of bare messages and API calls, which files of many tools hold."""


def can_mean(name: str, found: frozenset[str], names: frozenset[str] | None) -> bool:
    """Whether a file of these shapes (``shapes_of``) and names (``names_in``) can be of the format."""
    if name == LAST:
        return False
    shapes, marks = MARKS.get(name, (found, frozenset[str]()))
    return not shapes.isdisjoint(found) and (TEXT in found or not marks or names is None or not marks.isdisjoint(names))


def shapes_of(head: Head) -> frozenset[str]:
    """What a file is, by its start: a document on one line is a line, too."""
    held = {ZIP: head.members, DATABASE: head.tables, DOCUMENT: head.document is not None, LINES: head.values}
    return frozenset(shape for shape, there in held.items() if there) or frozenset([TEXT])


def names_in(head: Head) -> frozenset[str] | None:
    """Keys and short values at the start of a file, and its tables; None where there are too many to look at."""
    found = {*head.tables, *(column for columns in head.tables.values() for column in columns)}
    waiting = [(value, 0) for value in (head.values if head.document is None else (head.document,))]
    n_seen = 0
    while waiting:
        value, depth = waiting.pop()
        n_seen += 1
        if n_seen > MAX_VALUES:
            return None
        if isinstance(value, dict):
            found.update(value)
            inner = list(value.values())
        else:
            inner = value[:MAX_LISTED] if isinstance(value, list) else []
        found.update([part for part in inner if isinstance(part, str) and len(part) <= MAX_WORD])
        waiting += [(part, depth + 1) for part in inner if isinstance(part, (dict, list)) and depth < MAX_DEPTH]
    return frozenset(found)


def is_qwen_record(value: Record) -> bool:
    """A chained line whose message is Gemini's content, or a system record with a payload."""
    if not isinstance(value.get("uuid"), str) or not isinstance(value.get("sessionId"), str):
        return False
    message = value.get("message")
    if isinstance(message, dict):
        return isinstance(message.get("parts"), list) and "content" not in message
    return value.get("type") == "system" and "systemPayload" in value


def chat_mark(request: Record) -> str:
    """What makes a request OpenAI's, in words; empty where nothing does."""
    if found := message_mark(as_list(request.get("messages"))):
        return found
    if any(isinstance(tool, dict) and tool.get("type") == "function" for tool in as_list(request.get("tools"))):
        return "tools are of type function"
    if key := next((key for key in REQUEST_KEYS if key in request), ""):
        return f"it has {key}"
    model = text_of(request.get("model"))
    return f"the model is {model}" if model.startswith(MODELS) else ""


def foreign_key(request: Record) -> str:
    """A key that no chat request has and another tool's file does; empty where there is none."""
    return next((key for key in FOREIGN_KEYS if key in request), "")


def foreign_turn(turns: Sequence[Any]) -> str:
    """A key or role that no message of the API has and another tool's turn or part does; empty where there is none."""
    held = [turn for turn in turns if isinstance(turn, dict)]
    if mark := next((role for turn in held if (role := text_of(turn.get("role"))).startswith("_")), ""):
        return mark
    own = next((key for turn in held for key in FOREIGN_TURN_KEYS if key in turn), "")
    parts = [part for turn in held for part in as_list(turn.get("content")) if isinstance(part, dict)]
    inner = (key for part in parts for key in FOREIGN_PART_KEYS if key in part)
    return own or next(inner, "")


def message_mark(messages: Sequence[Any]) -> str:
    """What makes one of the messages OpenAI's; empty where nothing does."""
    for part in messages:
        if not isinstance(part, dict):
            continue
        found = next((key for key in ("tool_calls", "tool_call_id", "function_call") if key in part), "")
        if found or part.get("role") in ROLES:
            return f"a message has {found or 'role ' + repr(part['role'])}"
        for block in as_list(part.get("content")):
            if isinstance(block, dict) and block.get("type") in PART_TYPES and block["type"] in block:
                return f"a block is {block['type']}"
    return ""
