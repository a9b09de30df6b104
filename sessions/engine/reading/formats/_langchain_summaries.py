"""Summaries in LangChain's states, and what they stand for (formats 20 and 60).

``SummarizationMiddleware`` puts a summary before the messages that it keeps and removes the others; deepagents keeps
every message and writes beside them what a call is sent instead.  Neither says at which call: it is the first whose
measured context is smaller than that of the one before, else the first behind the summary.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from sessions.engine.reading.formats._assembly import Assembly, Kept
from sessions.engine.reading.formats._values import Record, as_dict
from sessions.engine.transcript.types import Message, Role

EVENT = "_summarization_event"


def is_summary(fields: Record) -> bool:
    """Whether a message's fields say that the middleware wrote it."""
    return as_dict(fields.get("additional_kwargs")).get("lc_source") == "summarization"


def cutoff_of(record: Any) -> int | None:
    """How many messages of a deepagents state its summary stands for; None without one."""
    cutoff = as_dict(as_dict(record).get(EVENT)).get("cutoff_index")
    return cutoff if isinstance(cutoff, int) and not isinstance(cutoff, bool) and cutoff > 0 else None


def is_cleared(message: Message) -> bool:
    """Whether ``ClearToolUsesEdit`` emptied the message's result."""
    return message.preview == "[cleared]" and bool(message.result_ids())


def settle_summaries(assembly: Assembly) -> None:
    """The compactions of the summaries among the messages; an earlier summary left with what the next one replaced."""
    systems = [m.index for m in assembly.messages if m.role is Role.SYSTEM]
    smaller, replies = _smaller(assembly), [r.index for r in assembly.requests if r.message is not None]
    places = [assembly.requests[index].message or 0 for index in replies]
    kept = Kept()
    for place in [m.index for m in assembly.messages if m.summary]:
        system = kept.of(systems[: bisect_left(systems, place)])
        after = replies[bisect_right(places, place)] if places and places[-1] > place else len(assembly.requests)
        at = bisect_left(smaller, after)
        request = smaller[at] if at < len(smaller) else after
        earlier = (assembly.requests[index].usage for index in range(request - 1, -1, -1))
        before = next(filter(None, earlier), None)
        assembly.compaction(
            place,
            message=place,
            request=request,
            trigger="auto",
            tokens_before=before.context + before.output if before else None,
            preserved=system,
            outside=place == len(system),
        )


def _smaller(assembly: Assembly) -> list[int]:
    """Replies of which the request is smaller than the one before it whose size is known, ascending."""
    found, known = [], None
    for request in assembly.requests:
        size = request.usage.context if request.usage else None
        if size is not None and known and size < known and request.message is not None:
            found.append(request.index)
        known = known if size is None else size
    return found
