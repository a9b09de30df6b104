"""What Claude Code says around an attachment and leaves out of the transcript (estimators 7.4).

Tokens of o200k, the reminder's own tags included, counted over the words of clients 2.1.60 to 2.1.219; where a
session's growths tell, they decide (``scale``).
"""

from __future__ import annotations

from collections.abc import Iterable

from sessions.engine.transcript.types import Message

AROUND = {
    "task_reminder": 110, "task_reminder, empty": 104, "todo_reminder": 107, "todo_reminder, empty": 97,
    "edited_text_file": 78, "compact_file_reference": 41, "selected_lines_in_ide": 33, "opened_file_in_ide": 32,
    "plan_file_reference": 42, "plan_mode": 1_100, "plan_mode_reentry": 220, "plan_mode_exit": 49, "invoked_skills": 25,
    "skill_listing": 22, "nested_memory": 14, "date_change": 34, "diagnostics": 27, "deferred_tools_delta": 21,
    "agent_listing_delta": 21, "mcp_instructions_delta": 31, "hook_additional_context": 15,
}  # fmt: skip
"""By sort.  Of plan mode: its full instructions, measured; those that repeat it briefly are a sort of their own."""


def attachment_sort(message: Message) -> str:
    """The sort of an attachment that is sent, "" for other messages; one that lists nothing is a sort of its own.

    Harnesses put other words around an empty list (``[]``) than around a full one.
    """
    if not message.attachment or not message.blocks:
        return ""
    empty = sum(leaf.n_tokens for leaf in message.leaves()) <= 2
    return f"{message.attachment}, empty" if empty else message.attachment


def words_around(messages: Iterable[Message], ratio: float) -> dict[str, int]:
    """Tokens around the attachments of each sort among the messages, as far as they are known."""
    sorts = {sort for message in messages if (sort := attachment_sort(message)) in AROUND}
    return {sort: round(ratio * AROUND[sort]) for sort in sorted(sorts)}
