"""What text, and what stands around it, weighs before a session says anything itself (estimators 7.3, 7.4)."""

from __future__ import annotations

from operator import mul
from typing import NamedTuple

from sessions.engine.transcript.types import Block, Kind, Message

FEATURES = (
    "o200k", "characters", "non_ascii", "json", "digits", "capitals", "punctuation", "blanks", "redacted", "signed",
    "nested",
)  # fmt: skip
"""What a text is weighed by, in the order of coefficients; ``json`` as in ``Block.n_json``, the last from classes."""
PLAIN_WEIGHT = 100
"""Tokens of text that one ratio counts for beside the growths, so that a few words alone fit no other."""

WRITTEN_LATER = frozenset({"ExitPlanMode"})
"""Calls into which Claude Code writes arguments that were not sent: the plan is a file's."""

AROUND = {
    "task_reminder": 110, "task_reminder, empty": 104, "todo_reminder": 107, "todo_reminder, empty": 97,
    "edited_text_file": 78, "compact_file_reference": 41, "selected_lines_in_ide": 33, "opened_file_in_ide": 32,
    "plan_file_reference": 42, "plan_mode": 1_100, "plan_mode_reentry": 220, "plan_mode_exit": 49, "invoked_skills": 25,
    "skill_listing": 22, "nested_memory": 14, "date_change": 34, "diagnostics": 27, "deferred_tools_delta": 21,
    "agent_listing_delta": 21, "mcp_instructions_delta": 31, "hook_additional_context": 15,
}  # fmt: skip
"""What Claude Code says around an attachment and leaves out of the transcript, by sort.

Tokens of o200k, the reminder's own tags included, counted over the words of clients 2.1.60 to 2.1.219; where a
session's growths tell, they decide (``scale``).  Of plan mode: its full instructions, measured; those that repeat it
briefly are a sort of their own."""


class Prior(NamedTuple):
    """Tokens of text and of what surrounds it, before a session's own evidence.

    ``text`` and ``arguments`` are coefficients by FEATURES, () where one ratio of o200k tokens is all that is known;
    ``factor`` is what a text's weight is multiplied with, and what a session's growths move.  ``call``, ``wrapper`` and
    ``prompt`` are around a call, a result and a prompt, ``frame`` around an image in a result, ``signature`` tokens for
    each character of a thinking's signature beyond ``signature_head``; ``reminder`` what a reminder about the to-do
    list weighs that the client does not record, ``reminder_task`` each task in it; ``plan`` what it says when it may
    only plan, ``relisted`` what it says anew after a compaction; ``untold`` the share of a large growth that it adds
    in the mean and no line tells (``hidden``), measured on versions of the client from the first to the last of
    ``clients``.  ``weight`` is how many o200k tokens of text the prior counts for beside the session's growths,
    ``results`` how many of their results.
    """

    factor: float
    text: tuple[float, ...] = ()
    arguments: tuple[float, ...] = ()
    call: float = 0.0
    wrapper: int = 0
    prompt: int = 0
    frame: int = 0
    signature: float = 0.0
    signature_head: float = 0.0
    reminder: float = 0.0
    reminder_task: float = 0.0
    plan: float = 0.0
    relisted: float = 0.0
    untold: float = 0.0
    clients: tuple[tuple[int, ...], ...] = ()
    weight: int = PLAIN_WEIGHT
    results: int = 0

    def tells(self, block: Block) -> bool:
        """Whether the prior weighs the block's text by more than its o200k tokens."""
        return bool(self.text and block.classes)

    def weight_of(self, block: Block) -> float:
        """Tokens of a block's own text before ``factor``; its o200k tokens where no more is known."""
        if not self.text or not block.classes:
            return block.n_tokens
        if block.name in WRITTEN_LATER:
            return 0.0
        rates = self.arguments if block.kind is Kind.TOOL_USE else self.text
        sizes = (block.n_tokens, block.n_chars, block.n_non_ascii, block.n_json, *block.classes)
        tokens: float = sum(map(mul, rates, sizes))
        return max(0.0, tokens)

    def thinking(self, block: Block) -> float | None:
        """Tokens of a signed thinking block by its signature; None where its text is all that tells."""
        if not self.signature or block.kind is not Kind.THINKING or not block.n_payload:
            return None
        return max(0.0, self.signature * (block.n_payload - self.signature_head))


def attachment_sort(message: Message) -> str:
    """The sort of an attachment that is sent, "" for others; other words stand around an empty list than a full one."""
    if not message.attachment or not message.blocks:
        return ""
    empty = sum(leaf.n_tokens for leaf in message.leaves()) <= 2
    return f"{message.attachment}, empty" if empty else message.attachment
