"""Who started a compaction of Codex, by its place in the turn (formats 7): a rollout has no field that says so.

``/compact`` is a turn of its own, in which nothing is said; Codex itself compacts before or within a turn that works.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sessions.engine.transcript.types import Role

if TYPE_CHECKING:
    from sessions.engine.reading.formats._thread import Entry, Mark

AUTO, MANUAL = "auto", "manual"


@dataclass(slots=True)
class Turn:
    """The turn that a reading stands in.

    ``is_open`` where its start was recorded, ``has_work`` where a prompt, a reply or a result stands in it; ``waiting``
    are compactions at its start, told when something follows or it ends; ``is_running`` after a tool's result.
    """

    is_open: bool = False
    has_work: bool = False
    is_running: bool = False
    waiting: list[Mark] = field(default_factory=list)

    def start(self) -> None:
        """A turn began; whoever started a compaction in one without an end is not known."""
        self.is_open, self.has_work, self.is_running = True, False, False
        self.waiting.clear()

    def take(self, entry: Entry) -> None:
        """An item: a prompt, a reply or a result is work, what is put around it (instructions, wrappers) is none."""
        is_result = any(block.call_id for block in entry.blocks) and entry.role is Role.USER
        self.is_running = is_result
        if not (entry.typed or is_result or entry.role is Role.ASSISTANT):
            return
        self.has_work = True
        for mark in self.waiting:
            mark.trigger = AUTO
        self.waiting.clear()

    def compacted(self, mark: Mark) -> None:
        """A compaction where the turn stands; one whose item and line are both recorded comes twice."""
        if mark.trigger is not None or any(known is mark for known in self.waiting):
            return
        if self.is_running or (self.is_open and self.has_work):
            mark.trigger = AUTO
        elif self.is_open:
            self.waiting.append(mark)

    def end(self, *, is_whole: bool) -> None:
        """The turn ended, broken off unless ``is_whole``: one that held nothing but compactions was ``/compact``."""
        for mark in self.waiting if is_whole else ():
            mark.trigger = MANUAL
        self.is_open = self.has_work = self.is_running = False
        self.waiting.clear()
