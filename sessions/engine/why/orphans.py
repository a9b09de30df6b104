"""Results that a compaction parted from their calls: a list that providers of either kind of call refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.base.words import counted

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Message, Transcript

TAKEN = 4
"""Requests answered behind a summary from which the list is one that is taken."""


def parted_results(transcript: Transcript) -> int:
    """Results kept, or right behind the newest summary, whose calls are not sent; 0 where ids tell nothing.

    Where several requests were answered since, the provider took the list.
    """
    newest = next((message for message in reversed(transcript.messages) if message.summary), None)
    if newest is None:
        return 0
    if sum((request.message or 0) > newest.index for request in transcript.requests) >= TAKEN:
        return 0  # a list that was answered is taken as it is
    kept = _kept(transcript, newest)
    called: set[str] = set().union(*(message.call_ids() for message in kept))
    parted: set[str] = set().union(*(message.result_ids() for message in kept)) - called
    for message in transcript.messages[newest.index + 1 :]:
        ids = message.result_ids()
        if not ids:
            break
        parted |= ids - called
    return len(parted) if any(message.call_ids() for message in transcript.messages) else 0


def _kept(transcript: Transcript, summary: Message) -> list[Message]:
    """The messages before a summary that are sent with it."""
    if summary.compaction is None:
        return list(transcript.messages[: summary.index])
    made = transcript.compactions[summary.compaction]
    preserved = [transcript.messages[index] for index in made.preserved]
    return preserved + list(transcript.messages[made.boundary : summary.index])


def parted_sentence(transcript: Transcript) -> str:
    """The same in a sentence; "" where there is none."""
    n = parted_results(transcript)
    if not n:
        return ""
    stand = f"{counted(n, 'tool result')} {'stands' if n == 1 else 'stand'}"
    return f"After its summary {stand} without {'its call' if n == 1 else 'their calls'}: providers refuse such a list."
