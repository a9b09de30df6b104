"""What Claude Code puts back after a compaction, looked up from the end of the list (policies 4.9; estimators 17)."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.policies._claude_attached import READ, SKILL, is_excluded
from sessions.engine.sweeps.fast.track import messages_of
from sessions.engine.types import Kind, Role

if TYPE_CHECKING:
    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.types import Block, Message


class Held(NamedTuple):
    """Something that may be put back: where it stands, where what called for it does, its name and its tokens."""

    position: int
    call_position: int
    name: str
    tokens: int


class Found(NamedTuple):
    """Of a session, in order: results of its own reads, and instructions that invoked skills brought."""

    reads: list[Held]
    bodies: list[Held]


@dataclass(frozen=True, slots=True)
class PutBack:
    """How much of it: each file and skill cut, all of them within their budgets."""

    max_files: int
    file_tokens: int
    files_budget: int
    skill_tokens: int
    skills_budget: int

    def tokens(self, found: Found, start: int, stop: int) -> list[int]:
        """Display tokens of what is put back of the messages at positions ``start`` to ``stop``: files, then skills."""
        files = self._files(found.reads, start, stop)
        return files + self._skills(found.bodies, start, stop) if found.bodies else files

    def _files(self, reads: list[Held], start: int, stop: int) -> list[int]:
        n, left, seen = bisect_left(reads, (stop,)) - 1, self.files_budget, set[str]()
        made: list[int] = []
        while n >= 0 and len(made) < self.max_files:
            position, call_position, path, tokens = reads[n]
            if position < start:
                break
            n -= 1
            if path in seen or not start <= call_position < stop:
                continue
            seen.add(path)
            kept = min(tokens, self.file_tokens, left)
            if kept > 0:
                left -= kept
                made.append(kept)
        return made

    def _skills(self, bodies: list[Held], start: int, stop: int) -> list[int]:
        n, left, seen = bisect_left(bodies, (stop,)) - 1, self.skills_budget, set[str]()
        made: list[int] = []
        while n >= 0 and bodies[n].position >= start:
            _, call_position, skill, tokens = bodies[n]
            n -= 1
            kept = min(tokens, self.skill_tokens, left)
            if call_position >= start and kept > 0 and (skill == SKILL or skill not in seen):
                seen.add(skill)
                left -= kept
                made.append(kept)
        return made


def found_in(weighed: Weighed) -> Found:
    """What may be put back anywhere in a session."""
    messages = messages_of(weighed)
    return Found(_reads(weighed, messages), _bodies(weighed, messages))


def _reads(weighed: Weighed, messages: list[Message]) -> list[Held]:
    calls = {
        block.call_id: (position, block.target)
        for position, message in enumerate(messages)
        for block in message.blocks
        if block.kind is Kind.TOOL_USE and block.name == READ
    }
    found: list[Held] = []
    for position, message in enumerate(messages):
        for block in message.blocks:
            if block.kind is not Kind.TOOL_RESULT or block.is_error or block.call_id not in calls:
                continue
            call_position, path = calls[block.call_id]
            if path and not is_excluded(path):
                found.append(Held(position, call_position, path, _share(weighed, message, block)))
    return found


def _share(weighed: Weighed, message: Message, block: Block) -> int:
    """Display tokens of one block of a message that stands as recorded (``edits.result_tokens``)."""
    whole = sum(leaf.n_tokens for leaf in message.leaves())
    mine = sum(leaf.n_tokens for leaf in block.leaves())
    return weighed.tokens[message.index] * mine // whole if whole else 0


def _bodies(weighed: Weighed, messages: list[Message]) -> list[Held]:
    found: list[Held] = []
    name, called_at = "", -1
    for position, message in enumerate(messages):
        if message.role is Role.ASSISTANT:
            calls = (b.target or SKILL for b in message.blocks if b.kind is Kind.TOOL_USE and b.name == SKILL)
            name, called_at = next(calls, ""), position
        elif name and message.meta and not message.summary:
            found.append(Held(position, called_at, name, weighed.tokens[message.index]))
    return found
