"""What a transcript records beside messages, compactions, clearings and refusals for size (formats 21.1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

CUT_OFF = "the reply was cut off"
"""How the words of a ``SESSION_END`` or ``REPLY_CUT`` begin whose reply ended at a limit."""

CUT_REASONS = frozenset({
    "length", "max_tokens", "max-tokens", "max_output_tokens", "model_length", "model_context_window_exceeded",
})  # fmt: skip
"""The words in which providers say that a reply ended at a limit."""
CUTS = "cuts"
"""The code of ``SETTINGS`` of a server that cuts a prompt for which it has no room."""
SERVER = "server"
"""The same of one that tells how its context is divided, and cut no prompt."""
USUAL_REASONS = frozenset({"auto", "manual", "threshold", "context_limit", "token_limit", "context_window_exceeded"})
"""Clients' words for what started a compaction that say no more than a command, or a size that was reached."""
EMBEDDING = "the call for embeddings failed"
"""How the words of an error begin that is of a call beside the conversation's."""
BESIDE = "beside"
"""The code of ``SUBAGENT`` of a call that the agent made for itself beside the conversation."""
NOT_ALL_SENT = "here they stay in the context"
"""What a warning says of messages that the agent took out again, which its file does not record."""
OWN_ESTIMATE = "own estimate"
"""What a warning says that tells an agent's estimate of its context, where no usage is recorded."""
OF_TURNS = "counts of turns"
"""How a warning begins that tells usage of several calls together, of a session whose single calls have none."""
STILL_OVER = "still over its threshold"
"""What the words of a ``COMPACTION_LEFT`` say where the next one is due at once."""
NOT_SHRUNK = "the compression did not shrink the list"
"""How the words of a failed compaction begin of which the record has two counts and no words."""
SILENT = "no summary came back"
"""The words of a failed compaction whose call ended without a word, a token or an error."""
UNCOUNTED = "the tokens of its summary could not be counted"
"""The words of a failed compaction of which the record has a number for that alone."""
APPLIED_EDITS = "applied_edits"
"""Where an answer of the API tells what it cleared of the whole list that it was sent."""
OWN_COUNT = "own count of the last call"
"""What a warning says that quotes an agent's count beside its messages."""


def own_reason(word: str) -> str:
    """A client's word for what started a compaction; "" where it says a command, or a size that was reached."""
    return "" if word in USUAL_REASONS else word.replace("_", " ")


class ErrorKind(StrEnum):
    """What a provider refused, or what failed, because of the size of a request."""

    CONTEXT = "context"
    """More tokens than the window holds."""
    BODY = "body"
    """More bytes than a request may have."""
    MEDIA = "media"
    """A picture or document that is too large, or too many of them."""
    COMPACTION = "compaction"
    """No request: a compaction that was tried."""
    GAVE_UP = "thrashing"
    """Made up by the agent itself: it stopped, full again after each of several compactions."""


class EventKind(StrEnum):
    """The kinds of such events."""

    ERROR = "error"
    RETRY = "retry"
    INTERRUPTION = "interruption"
    COMPACTION_STARTED = "compaction started"
    COMPACTION_CANCELLED = "compaction cancelled"
    COMPACTION_LEFT = "compaction left"
    """What the record itself says that a compaction left."""
    MODEL_CHANGE = "model change"
    SESSION_END = "session end"
    REPLY_CUT = "reply cut off"
    """A reply that ended at a limit and that others followed; without a code, any that may have ended at one."""
    SUBAGENT = "subagent refused"
    CONTEXT_LISTED = "context listed"
    SETTINGS = "settings"
    LIMIT_SET = "limit set"
    """A limit of prompts or replies that the file sets; its code is the key."""
    CACHE_UNREAD = "cache never read"
    CACHE_NOTED = "cache noted"
    """What the provider, or a tracer, says of what was read from the cache."""


ATTEMPTS = frozenset({EventKind.COMPACTION_STARTED, EventKind.COMPACTION_CANCELLED})
"""Compactions that did not come about."""
ENDS = ATTEMPTS | {EventKind.ERROR, EventKind.SESSION_END}
"""Events that end a session when no answer follows; an interruption is its user's."""
TROUBLES = ENDS | {EventKind.RETRY, EventKind.INTERRUPTION, EventKind.REPLY_CUT, EventKind.SUBAGENT}
"""Events after which nobody says that no error is recorded."""


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """What else a transcript records: an error that is no refusal for size, a retry, an interruption, an end.

    ``kind`` is an ``EventKind``; ``request``, ``message``, ``status``, ``code`` and ``words`` as for a ProviderError,
    ``count`` how often the same came in a row before the same answer.
    """

    kind: str
    request: int
    message: int
    words: str = ""
    code: str = ""
    status: int = 0
    count: int = 1


def settings_in(events: Sequence[RecordedEvent], names: re.Pattern[str]) -> list[tuple[str, int]]:
    """What a file sets under ``names``, whole numbers alone, each with its name."""
    told = [event for event in events if event.kind == EventKind.LIMIT_SET and names.fullmatch(event.code)]
    known = ((one.code, one.words.rpartition(" ")[2].replace(",", "")) for one in told)
    return [(name, int(figure)) for name, figure in known if figure.isdigit()]
