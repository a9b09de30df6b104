"""One model call as a trace or a proxy recorded it: what was sent, what came back, what it cost (formats 16, 20).

What the provider's side did to the context in a call are compactions, clearings, a refusal (formats 4, 6 and 60).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sessions.engine.reading.formats import Sniff
from sessions.engine.reading.formats._branch import RESULTS, THINKING, Clearing
from sessions.engine.reading.formats._counts import first_count, usage_of
from sessions.engine.reading.formats._items import COMPACTION_TYPES
from sessions.engine.reading.formats._provider_errors import Refusal, error_of, failed_compaction
from sessions.engine.reading.formats._records import inside, pair_in
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, text_of
from sessions.engine.transcript.recorded_events import APPLIED_EDITS
from sessions.engine.transcript.types import Content, Kind, Origin, Role, Usage

CLEARED = {
    "clear_tool_uses_20250919": (RESULTS, "cleared_tool_uses"),
    "clear_thinking_20251015": (THINKING, "cleared_thinking_turns"),
}
LEAST_ERROR = 400
CUT_OFF = "Answers that ended where the context window did"
T = TypeVar("T")
MAX_ANCESTORS = 100


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


def edits_of(request: Record, response: Record, status: int = 0, *, to_compact: bool = False) -> ServerEdits:
    """What the server did; ``status`` is the answer's HTTP status, 0 where not recorded.

    ``to_compact``: the request was sent to the address that compacts.
    """
    items = [as_dict(item) for item in (*as_list(response.get("content")), *as_list(response.get("output")))]
    marks = [item for item in items if text_of(item.get("type")) in COMPACTION_TYPES]
    # a block without content is a compaction that failed and changed nothing
    done = [item for item in marks if any(item.get(key) for key in ("content", "encrypted_content", "summary"))]
    asks = to_compact or isinstance(request.get("compaction"), dict) or response.get("object") == "response.compaction"
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
    response = as_dict(document.get("response", document))
    status = first_count(response, "status_code", "statusCode", "status") or count_of(document.get("status_code"))
    return _error(response, status if status >= LEAST_ERROR else 0)


def is_compaction(content: Content) -> bool:
    """Whether a block stands for what was compacted on the server."""
    return content.name in COMPACTION_TYPES


def iterations(response: Record) -> list[dict[str, Any]]:
    """The parts that a call's usage lists: the compaction apart from the reply."""
    return [as_dict(step) for step in as_list(as_dict(response.get("usage")).get("iterations"))]


def _clearings(response: Record) -> list[Clearing]:
    edits = [as_dict(edit) for edit in as_list(as_dict(response.get("context_management")).get(APPLIED_EDITS))]
    found = []
    for edit in edits:
        what, key = CLEARED.get(text_of(edit.get("type")), ("", ""))
        n, freed = count_of(edit.get(key)), count_of(edit.get("cleared_input_tokens"))
        if what and (n or freed):
            found.append(Clearing(what, "auto", n or None, freed or None))
    return found


def _error(response: Record, status: int) -> Refusal | None:
    """An error in place of an answer: the Messages API's, Chat's, that of a failed response, a gateway's flat one."""
    return error_of(response.get("error") or (response if status else None), status)


@dataclass(slots=True)
class CallMessage:
    """One message of a call, with its blocks while the file is read.

    ``is_summary``: it stands for what the client compacted before the list began; ``meta``: the client's own words.
    """

    role: Role
    contents: tuple[Content, ...]
    origins: tuple[Origin, ...]
    id: str = ""
    key: int = 0
    calls: frozenset[str] = frozenset()
    timestamp: float | None = None
    is_summary: bool = False
    meta: bool = False

    def __post_init__(self) -> None:
        self.key = hash((self.role, tuple(part for content in self.contents for part in _key(content))))
        self.calls = frozenset(c.call_id for c in self.contents if c.kind is Kind.TOOL_USE and c.call_id)


@dataclass(slots=True)
class TracedCall:
    """One model call: what was sent, what came back, what it cost.

    ``caller`` is the tool call it was made inside, ``continues`` the response whose history the server keeps for it,
    ``edits`` what the provider's side did to the context in it, ``window`` the room that is recorded for it.  ``span``
    is its own id, ``above`` those of the spans around it up to ``owner``, a tool or an agent.  ``is_counted`` says that
    the usage is the provider's own and no tracer's estimate.  ``notes`` are to be said of the session, ``trigger_at``
    is above how many tokens it asks the server to compact.  ``prefills``: what it sends of the assistant at the end
    begins the reply.  ``is_log``: it is a list of messages, and no call at all.
    """

    sent: list[CallMessage]
    replied: list[CallMessage]
    usage: Usage | None = None
    model: str = ""
    response_id: str = ""
    timestamp: float | None = None
    group: str = ""
    caller: str = ""
    system: tuple[Content, ...] = ()
    continues: str = ""
    edits: ServerEdits = field(default_factory=ServerEdits)
    span: str = ""
    trace: str = ""
    above: tuple[str, ...] = ()
    owner: str = ""
    is_counted: bool = False
    window: int = 0
    notes: tuple[str, ...] = ()
    trigger_at: int | None = None
    prefills: bool = False
    is_log: bool = False


def ancestors(parent: str, by_id: Mapping[str, T], parent_of: Callable[[T], str]) -> list[T]:
    """What stands above something whose parent is ``parent``, the nearest first; a ring ends somewhere."""
    found: list[T] = []
    above = by_id.get(parent)
    while above is not None and len(found) < MAX_ANCESTORS:
        found.append(above)
        above = by_id.get(parent_of(above))
    return found


def answered(calls: Iterable[TracedCall]) -> list[TracedCall]:
    """The calls in order of time, without those that failed: no reply, usage or error (replay-semantics 1)."""
    found = sorted(calls, key=lambda call: call.timestamp or 0)
    return [call for call in found if call.replied or call.usage or call.edits.error] or found[-1:]


def one_layer(calls: Sequence[TracedCall]) -> list[TracedCall]:
    """Each call once, where spans of two layers describe it: the inner one stays, the outer one wraps it.

    What the outer span of a single call says better is taken from it: messages with roles and calls, and usage as the
    provider counted it (formats 16).
    """
    by_span = {call.span: call for call in calls if call.span}
    wrappers = {span for call in calls for span in call.above if span in by_span} - {""}
    inner = [call for call in calls if not call.span or call.span not in wrappers]
    n_inside = Counter(span for call in inner for span in set(call.above))
    for call in inner:
        for span in call.above:
            outer = by_span.get(span)
            if outer is not None and outer is not call:
                call.system, call.model = call.system or outer.system, call.model or outer.model
                call.caller = call.caller or outer.caller
                if n_inside[span] == 1:
                    call.sent = max(call.sent, outer.sent, key=_told)
                    call.replied = max(call.replied, outer.replied, key=_told)
                    if not call.usage or (outer.is_counted and not call.is_counted):
                        call.usage, call.is_counted = outer.usage, outer.is_counted
    return inner


def _told(messages: Sequence[CallMessage]) -> tuple[int, int, int]:
    """How well messages are told: calls and results, no opaque blocks, then how many they are."""
    kinds = [content.kind for said in messages for content in said.contents]
    n_tool = kinds.count(Kind.TOOL_USE) + kinds.count(Kind.TOOL_RESULT)
    return n_tool, -kinds.count(Kind.OPAQUE), len(messages)


def _key(content: Content) -> tuple[object, ...]:
    """What makes two blocks the same although one is an echo: not the thinking, not how arguments are written."""
    if content.kind is Kind.THINKING:
        return ()
    if content.kind is Kind.TOOL_USE:
        # Without an id of its own it has its name for one (formats 8), which tells nothing.
        is_named = content.call_id not in ("", content.name) and not content.call_id.startswith(f"{content.name}#")
        return (content.kind, content.name, content.call_id if is_named else "".join(content.text.split()))
    parts = tuple(part for inner in content.parts for part in _key(inner))
    return (content.kind, content.call_id, content.text.strip(), content.data, content.url, parts)


Take = Callable[[TracedCall, Record, Origin], None]


@dataclass(frozen=True, slots=True)
class ProviderApi:
    """How an API writes a message, a request and a response, and what a call takes from either.

    ``says`` is what a response shows, by which it is known as ``sure``ly; ``request_shape`` judges any other document.
    """

    said_at: Callable[[Any, Origin], CallMessage]
    is_request: Callable[[Record], object]
    is_response: Callable[[Record], object]
    ask: Take
    answer: Take
    sure: int
    says: Callable[[Record], str]
    request_shape: Callable[[Record, Record | None], Sniff | None]
    list_shape: Callable[[list[Any]], Sniff | None]

    def pair(self, value: Any) -> tuple[Record | None, Record | None]:
        return pair_in(value, self.is_request, self.is_response) if isinstance(value, dict) else (None, None)

    def shape(self, document: Any) -> Sniff | None:
        """How much a document looks like the API, and why."""
        if isinstance(document, list):
            return self.list_shape(document)
        if not isinstance(document, dict):
            return None
        request, response = self.pair(document)
        if response is None:
            return self.request_shape(document, request)
        pair = " with its request" if request is not None else ""
        return Sniff(self.sure, f"a response{pair}: {self.says(response)}")

    def call(self, document: Record, whole: Origin) -> TracedCall:
        request, response = self.pair(document)
        named = any(isinstance(document.get(key), dict) for key in ("request", "response"))
        call = TracedCall([], [], edits=ServerEdits(error=error_in(document)))
        if request is not None:
            self.ask(call, request, inside(whole, "request") if named else whole)
        if response is not None:
            self.answer(call, response, inside(whole, "response") if named else whole)
        return call

    def calls(self, documents: Iterable[Any], whole: Origin) -> list[TracedCall]:
        """The calls of a list; one of messages is a record without any."""
        values = list(documents)
        pairs = [self.call(one, inside(whole, n)) for n, one in enumerate(values) if self.pair(one) != (None, None)]
        return pairs or [self.log(values, whole)]

    def log(self, values: Iterable[Any], at: Origin) -> TracedCall:
        """What was said, without a call."""
        return TracedCall([self.said_at(value, inside(at, n)) for n, value in enumerate(values)], [], is_log=True)
