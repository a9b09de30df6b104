"""What of a Claude Code attachment is sent to the model (formats 3.2).

The file holds the client's facts; the client writes a reminder from them.  ``rendered`` is that text itself, where a
version records it; else the fields that the reminder says stand here by type, what it says around them is not in the
file.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from sessions.engine.base.words import words
from sessions.engine.reading.formats._anthropic_blocks import KNOWN_TYPES, contents_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind

UNSENT = words("""
    already_read_file command_permissions edited_image_file structured_output dynamic_skill hook_cancelled
    hook_error_during_execution hook_non_blocking_error hook_system_message hook_permission_decision
    autocheckpointing background_task_status todo task_progress ultramemory
""")
"""Types that the client shows to the user, or nobody."""
HEARD_HOOKS = ("SessionStart", "UserPromptSubmit")
"""Events whose hooks may speak to the model when they succeed."""
SENT = {
    "deferred_tools_delta": ("addedLines", "removedNames"),
    "agent_listing_delta": ("addedLines", "removedTypes"),
    "mcp_instructions_delta": ("addedBlocks", "removedNames"),
    "nested_memory": ("content.path", "content.content"),
    "relevant_memories": ("memories",),
    "invoked_skills": ("skills",),
    "plan_file_reference": ("planFilePath", "planContent"),
    "edited_text_file": ("filename", "snippet"),
    **dict.fromkeys(("compact_file_reference", "opened_file_in_ide"), ("filename",)),
    "selected_lines_in_ide": ("lineStart", "lineEnd", "filename", "content"),
    "diagnostics": ("files",),
    "date_change": ("newDate",),
    **dict.fromkeys(("hook_success", "hook_additional_context"), ("hookName", "content")),
    "hook_blocking_error": ("hookName", "blockingError.command", "blockingError.blockingError"),
    "hook_stopped_continuation": ("hookName", "message"),
    "async_hook_response": ("response.systemMessage", "response.hookSpecificOutput.additionalContext"),
    "task_status": ("taskId", "taskType", "status", "description", "deltaSummary", "outputFilePath"),
    **dict.fromkeys(("token_usage", "budget_usd"), ("used", "total", "remaining")),
    "output_style": ("style",),
    "agent_mention": ("agentType",),
    **dict.fromkeys(("plan_mode", "plan_mode_reentry", "plan_mode_exit"), ("planFilePath",)),
}
"""The fields of a type that its reminder says, in its order."""
NEEDED = {
    "hook_success": "content", "hook_additional_context": "content",
    "relevant_memories": "memories", "invoked_skills": "skills", "diagnostics": "files",
}  # fmt: skip
"""Nothing is sent where this field holds nothing."""
ITEM_KEYS = words("name path header uri content message")
"""Of the things that a field lists, what is said."""


def attachment_name(attachment: Record) -> str:
    """The type of an attachment; a reminder that comes in more than one form is named with its form."""
    kind, form = text_of(attachment.get("type")) or "attachment", text_of(attachment.get("reminderType"))
    return f"{kind}, {form}" if form and form != "full" else kind


def attachment_contents(attachment: Record, rendered: Any = None) -> tuple[Content, ...]:
    """The blocks that are sent for an attachment, by the line's own record of them or its type; of unknown ones all."""
    kind, target = text_of(attachment.get("type")), text_of(attachment.get("filename"))
    said = "\n".join(text_of(as_dict(item).get("content")) for item in as_list(rendered))
    if said.strip():
        return (Content(Kind.TEXT, text=said, target=target),)
    if kind in UNSENT or (kind == "hook_success" and attachment.get("hookEvent") not in HEARD_HOOKS):
        return ()
    if kind in NEEDED and not attachment.get(NEEDED[kind]):
        return ()
    if kind in SENT:
        whole: Any = attachment
        fields = (reduce(lambda held, key: as_dict(held).get(key), path.split("."), whole) for path in SENT[kind])
        text = "\n".join(filter(None, map(_said, fields)))
        return (Content(Kind.TEXT, text=text, target=target),) if text else ()
    if kind in LISTS and as_list(attachment.get("content")):
        return (Content(Kind.TEXT, text=LISTS[kind](as_list(attachment["content"]))),)
    return _held(attachment, target)


def _tasks(items: list[Any]) -> str:
    """Tasks as the reminder names them; their descriptions and what they block stay out."""
    tasks = map(as_dict, items)
    return "\n".join(f"#{_said(t.get('id'))}. [{_said(t.get('status'))}] {_said(t.get('subject'))}" for t in tasks)


def _todos(items: list[Any]) -> str:
    todos = enumerate(map(as_dict, items), 1)
    return "[" + "\n".join(f"{n}. [{_said(t.get('status'))}] {_said(t.get('content'))}" for n, t in todos) + "]"


LISTS = {"task_reminder": _tasks, "todo_reminder": _todos}
"""Reminders of a list: what they say of it."""


def _said(value: Any) -> str:
    """A field's value as text: things that it lists one after the other, of each what is said of it."""
    if isinstance(value, list):
        return "\n".join(filter(None, map(_said, value)))
    if isinstance(value, dict):
        return "\n".join(filter(None, [_said(value[key]) for key in (*ITEM_KEYS, "diagnostics") if key in value]))
    return value if isinstance(value, str) else "" if value is None or isinstance(value, bool) else str(value)


def _held(attachment: Record, target: str) -> tuple[Content, ...]:
    for key in ("content", "prompt", "snippet", "text"):
        held = attachment.get(key)
        if isinstance(held, str):
            return (Content(Kind.TEXT, text=held, target=target),)
        if isinstance(held, list) and held and all(text_of(as_dict(i).get("type")) in KNOWN_TYPES for i in held):
            return contents_of(held)
        if isinstance(held, dict) and isinstance(held.get("file"), dict):
            return (_file(held["file"], target),)
    if "content" in attachment:
        return (Content(Kind.TEXT, text=dumps(attachment["content"]), target=target),)
    rest = {key: item for key, item in attachment.items() if key != "type"}
    return (Content(Kind.TEXT, text=dumps(rest), target=target),)


def _file(file: Record, target: str) -> Content:
    """A file the client attached: its text, or its image or PDF where it has base64."""
    target = text_of(file.get("filePath")) or target
    data = text_of(file.get("base64"))
    if not data:
        content = file.get("content")
        return Content(Kind.TEXT, text=content if isinstance(content, str) else dumps(file), target=target)
    media_type = text_of(file.get("type"))
    kind = Kind.IMAGE if media_type.startswith("image/") else Kind.DOCUMENT
    return Content(kind, media_type=media_type or "application/pdf", data=data, target=target)
