"""Which readers a file can be meant for, by the shape and the names at its start: the others are never loaded.

``MARKS`` has of each format the shapes that its files come in and names of which one at least stands in all of them: a
key, a short value, a table or a column.  A format without marks is always asked, so leaving them out costs time alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.base.words import words

if TYPE_CHECKING:
    from sessions.engine.reading.jsonio import Head

DOCUMENT, LINES, TEXT, DATABASE, ZIP = "document", "lines", "text", "database", "zip"
MAX_VALUES, MAX_DEPTH, MAX_LISTED, MAX_WORD = 20_000, 12, 50, 40
JSON = (DOCUMENT, LINES)


def _marks(shapes: tuple[str, ...], names: str = "") -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(shapes), frozenset(words(names))


MARKS = {
    "acp": _marks((LINES,), "sessionUpdate tag session/prompt"),
    "ag_ui": _marks(JSON, "messageId threadId toolCallId"),
    "agents_sdk": _marks((DATABASE,), "message_data"),
    "ai_sdk": _marks(JSON, "parts tool-call tool-result"),
    "aider": _marks((TEXT,)),
    "amp": _marks((DOCUMENT,), "messages"),
    "anthropic_messages": _marks((*JSON, TEXT), "messages stop_reason message_start content_block_delta error"),
    "antigravity": _marks((LINES,), "source"),
    "atif": _marks((DOCUMENT,), "steps parent"),
    "autogen": _marks((DOCUMENT,), "agent_states llm_context llm_messages"),
    "braintrust": _marks(JSON, "span_attributes"),
    "browser_use": _marks((DOCUMENT,), "model_output"),
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
    "goose": _marks(JSON, "created"),
    "grok_cli": _marks((LINES,), "model_id synthetic_reason prompt_index backend_tool_call"),
    "hermes": _marks((*JSON, DATABASE), "messages end_reason"),
    "hf_traces": _marks(JSON, "harness"),
    "inspect": _marks((DOCUMENT, ZIP)),
    "kimi_code": _marks((LINES,), "protocol_version"),
    "langchain": _marks(JSON, "lc additional_kwargs response_metadata usage_metadata tool_call_id human ai"),
    "langfuse": _marks(JSON, "observations traceId trace_id"),
    "langsmith": _marks(JSON, "run_type"),
    "letta": _marks(JSON, "message_type"),
    "managed_agents": _marks(
        JSON,
        """agent.message agent.thinking agent.tool_use agent.mcp_tool_use agent.custom_tool_use agent.tool_result
        agent.mcp_tool_result agent.thread_context_compacted span.model_request_start span.model_request_end""",
    ),
    "mini_swe_agent": _marks((DOCUMENT,), "role messages"),
    "openai_chat": _marks(JSON, "choices messages tool_calls tool_call_id function_call messages_display traj error"),
    "openai_responses": _marks(
        (*JSON, TEXT), "input output response reasoning function_call input_text output_text compaction error"
    ),
    "opencode": _marks((*JSON, DATABASE), "parts part"),
    "openhands": _marks(JSON, "action observation kind history"),
    "otel": _marks(JSON, "attributes"),
    "pi": _marks((LINES,), "session parentId toolResult toolCall"),
    "pydantic_ai": _marks(JSON, "part_kind"),
    "qwen_code": _marks(JSON, "parts systemPayload"),
    "role_content": _marks(JSON, "role"),
    "sharegpt": _marks(JSON, "conversations conversation messages"),
    "swe_agent": _marks((DOCUMENT,), "history trajectory"),
    "tau2": _marks(JSON, "task_id"),
    "vscode_chat": _marks(JSON, "requests"),
    "wire_capture": _marks(JSON, "messages request request_body requestBody req body kwargs payload input"),
}


def can_mean(name: str, found: frozenset[str], names: frozenset[str] | None) -> bool:
    """Whether a file of these shapes (``shapes_of``) and names (``names_in``) can be of the format."""
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
