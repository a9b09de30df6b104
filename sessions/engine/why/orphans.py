"""Results that a compaction parted from their calls: a list that providers of either kind of call refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.base.words import counted

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript


def parted_results(transcript: Transcript) -> int:
    """Results right behind the newest summary whose calls are in no message before them; 0 where ids tell nothing."""
    newest = next((m.index for m in reversed(transcript.messages) if m.summary), None)
    if newest is None:
        return 0
    called: set[str] = set().union(*(message.call_ids() for message in transcript.messages[:newest]))
    parted: set[str] = set()
    for message in transcript.messages[newest + 1 :]:
        ids = message.result_ids()
        if not ids:
            break
        parted |= ids - called
    return len(parted) if any(message.call_ids() for message in transcript.messages) else 0


def parted_sentence(transcript: Transcript) -> str:
    """The same in a sentence; "" where there is none."""
    n = parted_results(transcript)
    if not n:
        return ""
    stand = f"{counted(n, 'tool result')} {'stands' if n == 1 else 'stand'}"
    return f"After its summary {stand} without {'its call' if n == 1 else 'their calls'}: providers refuse such a list."
