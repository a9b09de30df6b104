"""What a provider's side did to the context in one call: compactions, clearings, a refusal (formats 4, 6 and 60)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sessions.engine.reading.formats._clearings import RESULTS, THINKING, Clearing
from sessions.engine.reading.formats._counts import count_of, first_count, usage_of
from sessions.engine.reading.formats._items import COMPACTION_TYPES
from sessions.engine.reading.formats._provider_errors import Refusal, error_of, failed_compaction
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.transcript.types import Content, Usage

CLEARED = {
    "clear_tool_uses_20250919": (RESULTS, "cleared_tool_uses"),
    "clear_thinking_20251015": (THINKING, "cleared_thinking_turns"),
}
ENDPOINT = "response.compaction"
LEAST_ERROR = 400
CUT_OFF = "Answers that ended where the context window did"


@dataclass(frozen=True, slots=True)
class ServerEdits:
    """One call's edits.

    ``asked``: the call asked for a summary alone, which a later request sends in place of what it stands for.
    ``compacted``: the reply holds a compaction of the server's own; ``from_next``: it counts from the next call on,
    else from this one.  ``spent`` is the summary's own usage where it is told apart.  ``is_cut_off``: the answer ended
    where the context window did.  ``is_flagged``: a tracer says that the call's conversation was compacted, from
    ``tokens_before`` by its own count.  ``ended``: the error that its run ended with right after it.
    """

    asked: bool = False
    compacted: bool = False
    from_next: bool = False
    spent: Usage | None = None
    clearings: tuple[Clearing, ...] = ()
    error: Refusal | None = None
    is_cut_off: bool = False
    is_flagged: bool = False
    tokens_before: int | None = None
    ended: Refusal | None = None


def edits_of(request: Record, response: Record, status: int = 0) -> ServerEdits:
    """What the server did; ``status`` is the answer's HTTP status, 0 where not recorded."""
    items = [as_dict(item) for item in (*as_list(response.get("content")), *as_list(response.get("output")))]
    marks = [item for item in items if text_of(item.get("type")) in COMPACTION_TYPES]
    done = [item for item in marks if _is_whole(item)]
    asks = isinstance(request.get("compaction"), dict) or response.get("object") == ENDPOINT
    status = status if status >= LEAST_ERROR else 0
    error = _error(response, status)
    if response and ((asks and not done) or len(done) < len(marks)):
        error = error if error and error.of_size else failed_compaction(status, error)
    return ServerEdits(
        asked=asks,
        compacted=bool(done) and not asks,
        from_next="output" in response,
        spent=next((usage_of(step) for step in iterations(response) if step.get("type") == "compaction"), None),
        clearings=tuple(_clearings(response)),
        error=error,
        is_cut_off=response.get("stop_reason") == "model_context_window_exceeded",
    )


def error_in(document: Record) -> Refusal | None:
    """The error in a recorded call whose answer is an error: under ``response``, or in the response itself."""
    held = document.get("response")
    response = as_dict(held) if "response" in document else document
    status = first_count(response, "status_code", "statusCode", "status") or count_of(document.get("status_code"))
    return _error(response, status if status >= LEAST_ERROR else 0)


def is_compaction(content: Content) -> bool:
    """Whether a block stands for what was compacted on the server."""
    return content.name in COMPACTION_TYPES


def iterations(response: Record) -> list[dict[str, Any]]:
    """The parts that a call's usage lists: the compaction apart from the reply."""
    return [as_dict(step) for step in as_list(as_dict(response.get("usage")).get("iterations"))]


def _is_whole(item: Record) -> bool:
    """A block without content is a compaction that failed and changed nothing."""
    return any(item.get(key) for key in ("content", "encrypted_content", "summary"))


def _clearings(response: Record) -> list[Clearing]:
    edits = [as_dict(edit) for edit in as_list(as_dict(response.get("context_management")).get("applied_edits"))]
    found = []
    for edit in edits:
        what, key = CLEARED.get(text_of(edit.get("type")), ("", ""))
        n, freed = count_of(edit.get(key)), count_of(edit.get("cleared_input_tokens"))
        if what and (n or freed):
            found.append(Clearing(what, "auto", n or None, freed or None))
    return found


def _error(response: Record, status: int) -> Refusal | None:
    """An error in place of an answer: the Messages API's, Chat's, that of a failed response, a gateway's flat one."""
    error = response.get("error")
    return error_of(error or (response if status else None), status)
