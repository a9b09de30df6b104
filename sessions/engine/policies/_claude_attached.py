"""What Claude Code puts back after a compaction, and what it takes out of the summary call (policies 4.9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessions.engine.policies.edits import drop_media, result_tokens
from sessions.engine.policies.params import param
from sessions.engine.policies.policy import Draft, Item, View
from sessions.engine.transcript.types import Block, Kind, Role

READ, SKILL = "Read", "Skill"
TOUCHING = frozenset({READ, "Edit", "MultiEdit", "Write"})
"""Tools after which the client holds a file: it is read again, whole, however small the part that was shown."""
COMMAND, LOCAL = "<command-", "<local-command-"
"""How a typed command's line begins, whose instructions are the unprompted message after it; how the client's own."""
MEMORY_FILES = ("CLAUDE.md", "CLAUDE.local.md", "MEMORY.md")
PLANS = "/.claude/plans/"


def max_files_param() -> Any:
    """How many files are put back."""
    return param(5, "Files re-attached", "Most recently read files", "files", 0, 50)


def cut_param(one: str, text: str) -> Any:
    """What one file or skill may weigh."""
    return param(5_000, f"Tokens per {one}", text, "tokens", 0, 100_000, 500)


def budget_param(default: int, all_of: str, text: str) -> Any:
    """What all files or skills may weigh together."""
    return param(default, f"Tokens for all {all_of}", text, "tokens", 0, 500_000, 1_000)


def attachments(params: Any, items: Sequence[Item], kept: Sequence[Item] = ()) -> list[Draft]:
    """Files read, then skills invoked, newest first, each cut and all within their budgets."""
    return [*reattached(params, items, kept), *skills(params, items)]


def reattached(params: Any, items: Sequence[Item], kept: Sequence[Item] = ()) -> list[Draft]:
    """The files touched last, each at the most read of it; not memory files, plans or what is still visible."""
    calls, most = _file_calls(items), dict[str, int]()
    results = [
        (calls[b.call_id], result_tokens(item, b))
        for item in items
        for b in item.message.blocks
        if b.kind is Kind.TOOL_RESULT and not b.is_error and b.call_id in calls
    ]
    for call, tokens in results:
        if call.name == READ:
            most[call.target] = max(tokens, most.get(call.target, 0))
    seen = {call.target for call in _file_calls(kept).values() if call.name == READ}
    files: list[Draft] = []
    left = params.files_budget
    for path in dict.fromkeys(call.target for call, _ in reversed(results)):
        tokens = min(most.get(path, 0), params.file_tokens, left)
        if tokens > 0 and path and path not in seen and len(files) < params.max_files and not is_excluded(path):
            left -= tokens
            files.append(Draft(f"[file read before the compaction: {path}]", tokens))
    return files


def _file_calls(items: Sequence[Item]) -> dict[str, Block]:
    calls = (b for item in items for b in item.message.blocks if b.kind is Kind.TOOL_USE and b.name in TOUCHING)
    return {call.call_id: call for call in calls}


def is_excluded(path: str) -> bool:
    """Whether a path is a memory file or a plan: those are never put back."""
    return path.replace("\\", "/").rsplit("/", 1)[-1] in MEMORY_FILES or PLANS in path


def skills(params: Any, items: Sequence[Item]) -> list[Draft]:
    """The instructions of invoked skills and typed commands, newest first: the unprompted messages after each."""
    bodies: list[tuple[str, int]] = []
    name = ""
    for item in items:
        message = item.message
        if message.role is Role.ASSISTANT:
            named = [b.target or SKILL for b in message.blocks if b.name == SKILL and b.kind is Kind.TOOL_USE]
            name = named[0] if named else ""
        elif message.preview.startswith((COMMAND, LOCAL)):
            name = "" if message.preview.startswith(LOCAL) else message.preview
        elif name and message.meta and not message.summary:
            bodies.append((name, item.tokens))
    drafts: list[Draft] = []
    seen: set[str] = set()
    left = params.skills_budget
    for skill, tokens in reversed(bodies):
        cut = min(tokens, params.skill_tokens, left)
        if cut > 0 and (skill == SKILL or skill not in seen):
            seen.add(skill)
            left -= cut
            drafts.append(Draft(f"[skill invoked before the compaction: {skill}]", cut))
    return drafts


def described(view: View, items: Sequence[Item]) -> list[Item]:
    """What the summary call is given: images and documents as a word."""
    return [drop_media(view, item, lambda block: f"[{block.kind}]") for item in items]
