"""What Gemini CLI's notes for the screen tell of a compression (formats 8)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sessions.engine.reading.formats._thread import Mark, Thread

_COMPRESSED = re.compile(r"compressed from:? ([\d,]*\d) to ([\d,]*\d) tokens", re.IGNORECASE)
_BY_ITSELF = "approached the input token limit"


@dataclass(frozen=True, slots=True)
class Compressed:
    """A compression as a note tells it: tokens before and after it, "auto" where the client began it by itself."""

    before: int
    after: int
    trigger: str | None


def compressed(text: str) -> Compressed | None:
    """The compression that a note tells with both figures, None where it tells none."""
    note = _COMPRESSED.search(text)
    if note is None:
        return None
    before, after = (int(figure.replace(",", "")) for figure in note.groups())
    return Compressed(before, after, "auto" if _BY_ITSELF in text else None)


def mark_shown(thread: Thread, kept: list[int]) -> None:
    """A compression shown by the list that follows it; one that a note told just before is the same."""
    mark = Mark(len(thread.entries), len(thread.calls), kept, outside=False)
    if thread.marks and thread.marks[-1].tokens_after is not None and thread.marks[-1].n_calls == mark.n_calls:
        told = thread.marks.pop()
        mark.trigger, mark.tokens_before, mark.tokens_after = told.trigger, told.tokens_before, told.tokens_after
    thread.marks.append(mark)


def mark_told(thread: Thread, note: Compressed) -> None:
    """A compression told by a note: the one just shown, else one whose list is not in the file.

    A prompt that waits for its reply is sent after it.
    """
    if not (thread.marks and thread.marks[-1].n_calls == len(thread.calls)):
        boundary = len(thread.entries)
        while boundary and thread.entries[boundary - 1].typed:
            boundary -= 1
        thread.marks.append(Mark(boundary, len(thread.calls), outside=False))
    mark = thread.marks[-1]
    mark.trigger, mark.tokens_before, mark.tokens_after = note.trigger, note.before, note.after
