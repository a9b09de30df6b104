"""Cline's ``ui_messages.json``: what the client showed, from which requests and messages are put together (formats 17).

An ``api_req_started`` holds what was sent since the reply before, and the usage; what the model then said and did
stands behind it.  A growing ``conversationHistoryDeletedRange`` is a truncation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from sessions.engine.base.cline_window import allowed_of
from sessions.engine.base.words import words
from sessions.engine.models.model_info import model_info
from sessions.engine.reading.formats._assembly import Assembly
from sessions.engine.reading.formats._blocks import media_link, prompt_words, title_of, tool_use
from sessions.engine.reading.formats._counts import usage_at
from sessions.engine.reading.formats._provider_errors import Refusal, error_of
from sessions.engine.reading.formats._values import (
    Path,
    Record,
    as_dict,
    as_list,
    count_of,
    dollars_of,
    parsed,
    seconds,
    text_of,
)
from sessions.engine.reading.jsonio import Source, dumps
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Content, Kind, Origin, Role, Usage

CALLS = {
    "command": "execute_command", "use_mcp_server": "use_mcp_tool", "followup": "ask_followup_question",
    "completion_result": "attempt_completion", "plan_mode_respond": "plan_mode_respond", "new_task": "new_task",
    "browser_action": "browser_action", "browser_action_launch": "browser_action",
}  # fmt: skip
REPLIES = frozenset({"text", "reasoning", "tool", *CALLS})
SENT = words("task user_feedback user_feedback_diff command_output mcp_server_response browser_action_result")
CLASSIC = "cline_classic"
ERRORS = {
    "api_req_failed": EventKind.ERROR, "api_req_retry_delayed": EventKind.RETRY, "error_retry": EventKind.RETRY,
    "error": EventKind.ERROR,
}  # fmt: skip
RETRIED = ("api_req_retried", "api_req_retry_delayed")
"""What stands between two tries of a request that is written down once."""
MAX_REQUEST_CHARS = 50_000_000


@dataclass(slots=True)
class ApiRequest:
    """One ``api_req_started`` and what belongs to it: paths of what was sent and of what was replied."""

    entry: Record
    body: Record
    sent: list[Path]
    replied: list[Path] = field(default_factory=list)
    deleted: tuple[int, int] | None = None
    refusals: list[Refusal | None] = field(default_factory=list)
    n_earlier: int = 0
    condensed: int | None = None


def ui_contents(value: Any, path: Path) -> tuple[Content, ...]:
    """The blocks of what stands at ``path``: a request's text, pasted images, or one entry."""
    if path[-1] == "request":
        return (Content(Kind.TEXT, text=value if isinstance(value, str) else dumps(value)),)
    if path[-1] == "summary":
        return (Content(Kind.TEXT, text=text_of(value)),)
    if path[-1] == "images":
        return tuple(media_link(link, kind=Kind.IMAGE) for link in as_list(value) if isinstance(link, str))
    if path[-1] == "screenshot":
        return (media_link(text_of(value), kind=Kind.IMAGE),)
    return tuple(_entry_contents(value)) if isinstance(value, dict) else ()


def kind_of(entry: Any) -> str:
    """What an entry says or asks; nothing where it is no entry."""
    if not isinstance(entry, dict) or entry.get("type") not in ("say", "ask"):
        return ""
    return text_of(entry.get(entry["type"]))


def read_ui(entries: Sequence[Any], source: Source, assembly: Assembly) -> None:
    """Messages, requests and truncations of the entries, in order."""
    shown: Counter[str] = Counter()
    calls, last, ended = _calls(entries, source, shown)
    before: tuple[int, int] | None = None
    places: dict[int, int] = {}
    used: Usage | None = None
    is_classic = any(call.deleted for call in calls) or any("conversationHistoryIndex" in call.entry for call in calls)
    # The title is what the session was asked for, before any request.
    first: Record = next((e for e in entries if kind_of(e) in ("task", "text", "api_req_started")), {})
    asked = "" if kind_of(first) == "api_req_started" else text_of(first.get("text"))
    assembly.title = title_of(prompt_words([asked]))
    whole = _includes_cached(calls)
    twice = "The tokens sent include the cached ones here: the client, which adds these again, counts them twice"
    assembly.note(whole, twice)
    assembly.spent = sum(dollars_of(call.body.get("cost")) for call in calls)
    for n_call, call in enumerate(calls):
        usage, sold = usage_at(call.body, "cline ui whole" if whole else "cline ui"), sold_by(call.entry)
        start = _start(call.entry, 2 * n_call)
        if call.deleted and call.deleted != before:
            _truncation(assembly, call.deleted, places)
            before = call.deleted
        elif call.condensed is not None:
            _condensed(assembly, entries[call.condensed], call.condensed, source.size)
        elif is_classic:
            _thinned(assembly, used, usage, sold["model"])
        used = usage or used
        sent = _message(assembly, Role.USER, entries, call.sent, source.size, typed=n_call == 0)
        for refusal in call.refusals:
            assembly.refuse(refusal)
        reply = _message(assembly, Role.ASSISTANT, entries, call.replied, source.size)
        places |= {place: index for place, index in ((start, sent), (start + 1, reply)) if index is not None}
        if usage or (reply is not None and not call.body.get("cancelReason")):
            assembly.request(reply, usage, timestamp=seconds(call.entry.get("ts")), **sold)
    _message(assembly, Role.USER, entries, last, source.size)
    for refusal in ended:
        assembly.refuse(refusal)
    named = ", ".join(f"{n} {kind}" for kind, n in sorted(shown.items()))
    assembly.note(shown, f"The client's own entries, not context: {named}")


LEAST_ALIKE, FOLLOWS = 3, 0.9
"""Requests, and the share of the one before that was read, from which the tokens sent include the cached ones."""


def _calls(
    entries: Sequence[Any], source: Source, shown: Counter[str]
) -> tuple[list[ApiRequest], list[Path], list[Refusal | None]]:
    """Every request with its entries, what was sent after the last one, and the compactions that failed after it."""
    calls: list[ApiRequest] = []
    waiting: list[int] = []
    told: list[Refusal | None] = []
    condensed: int | None = None
    for position, entry in enumerate(entries):
        kind = kind_of(entry)
        if not kind:
            source.skip(f"entry {position} neither says nor asks anything")
            continue
        if kind == "api_req_started":
            body = _body(entry)
            call = ApiRequest(entry, body, _sent_paths(entries, waiting, position, body))
            stopped = Refusal(EventKind.INTERRUPTION) if body.get("cancelReason") == "user_cancelled" else None
            call.refusals = [*told, error_of(body.get("streamingFailedMessage")), stopped]
            call.condensed = condensed
            told, condensed = [], None
            if calls and not calls[-1].replied and not usage_at(calls[-1].body, "cline ui"):
                _retried(calls, call)
            calls.append(call)
            waiting = []
        elif kind in SENT or (kind == "text" and not calls):
            waiting.append(position)
        elif kind in REPLIES and calls:
            if not _repeats(entry, entries, calls[-1].replied):
                calls[-1].replied.append((position,))
        else:
            shown[kind] += 1
            if kind in ("condense_context", "sliding_window_truncation"):
                condensed = position
            elif kind == "condense_context_error":
                told.append(error_of(entry.get("text"), of_compaction=True))
            elif calls:
                _tried(calls[-1], kind, entry, told)
        if calls and (deleted := _range(entry.get("conversationHistoryDeletedRange"))):
            calls[-1].deleted = deleted
    return calls, [(position,) for position in waiting], told


def _tried(call: ApiRequest, kind: str, entry: Record, told: list[Refusal | None]) -> None:
    """The error of a try, or that another one follows; what comes after a whole reply is of the next request."""
    if kind in ERRORS:
        is_next = call.replied and usage_at(call.body, "cline ui")
        of, start = (told, 0) if is_next else (call.refusals, call.n_earlier)
        error = error_of(entry.get("text"), kind=ERRORS[kind])
        # One try that failed is written down as the request's, as a question and as a retry.
        known = (one for one in of[start:] if one and one.words and error and one.kind == error.kind)
        of += [error] if error and not any(one.words in error.words for one in known) else []
    if kind in RETRIED:
        call.n_earlier = len(call.refusals)


def _retried(calls: list[ApiRequest], call: ApiRequest) -> None:
    """A request that failed is sent again: what it sent is this one's, once."""
    failed = calls.pop()
    call.refusals, call.n_earlier = failed.refusals + call.refusals, len(failed.refusals)
    call.condensed = failed.condensed if call.condensed is None else call.condensed
    is_same = failed.body.get("request") == call.body.get("request")
    call.sent = failed.sent or call.sent if is_same else failed.sent + call.sent


def _sent_paths(entries: Sequence[Any], waiting: Sequence[int], position: int, body: Record) -> list[Path]:
    """The request's own text with the images it does not hold; without it, the entries that were sent."""
    if not text_of(body.get("request")):
        return [(place,) for place in waiting]
    paths: list[Path] = [(position, "text", "request")]
    for place in waiting:
        if as_list(entries[place].get("images")):
            paths.append((place, "images"))
        if kind_of(entries[place]) == "browser_action_result" and text_of(_body(entries[place]).get("screenshot")):
            paths.append((place, "text", "screenshot"))
    return paths


def _message(
    assembly: Assembly, role: Role, entries: Sequence[Any], paths: Sequence[Path], size: int, *, typed: bool = False
) -> int | None:
    contents = [content for path in paths for content in ui_contents(_at(entries, path), path)]
    if not contents:
        return None
    said = any(kind_of(entries[int(path[0])]) in ("task", "user_feedback") for path in paths)
    return assembly.add(
        role,
        contents,
        [Origin(1, 0, size, path) for path in paths],
        typed=role is Role.USER and (typed or said),
        timestamp=seconds(entries[int(paths[0][0])].get("ts")),
    )


def _condensed(assembly: Assembly, entry: Record, position: int, size: int) -> None:
    """Roo's own record: a summary in place of all before it, or a number of messages after the first hidden."""
    facts = as_dict(entry.get("contextCondense") or entry.get("contextTruncation"))
    before = count_of(facts.get("prevContextTokens")) or None
    live = [message.index for message in assembly.messages if message.index not in assembly.gone]
    if kind_of(entry) == "sliding_window_truncation":
        assembly.forget(live[1 : 1 + count_of(facts.get("messagesRemoved"))], trigger="auto", tokens_before=before)
        return
    compaction = assembly.forget(live, tokens_before=before)
    if text_of(facts.get("summary")):
        path = (position, "contextCondense", "summary")
        summary = (Content(Kind.TEXT, text=facts["summary"]),)
        assembly.summary(summary, [Origin(1, 0, size, path)], compaction, timestamp=seconds(entry.get("ts")))


def _truncation(assembly: Assembly, deleted: tuple[int, int], places: Mapping[int, int]) -> None:
    """Entries ``deleted[0]`` to ``deleted[1]`` of the API history, both included, left the context."""
    start, stop = deleted
    gone = {index for place, index in places.items() if start <= place <= stop}
    if not gone:
        return
    boundary = max(gone) + 1
    kept = tuple(index for index in range(boundary) if index not in gone)
    assembly.compaction(boundary, preserved=kept, trigger="auto", by=CLASSIC)


def _thinned(assembly: Assembly, before: Usage | None, after: Usage | None, model: str) -> None:
    """Repeated reads became notes, which alone was enough: a fall with an unmoved range (policies 11.3).

    The request before had reached what the client allows of the model's window, and no message left.
    """
    if before is None or after is None:
        return
    total = before.context + before.output
    if after.context < before.context and total >= allowed_of(model_info(model).window):
        kept = tuple(range(len(assembly.messages)))
        assembly.compaction(len(kept), preserved=kept, trigger="auto", tokens_before=total, by=CLASSIC)


def _entry_contents(entry: Record) -> Iterator[Content]:
    kind, text = kind_of(entry), text_of(entry.get("text"))
    if kind == "reasoning":
        yield Content(Kind.THINKING, text=text or text_of(entry.get("reasoning")))
    elif kind == "tool":
        yield tool_use(text, _body(entry).get("tool"), "")
    elif kind in CALLS:
        yield tool_use(text, CALLS[kind], "")
    elif kind == "browser_action_result":
        body = _body(entry)
        rest = {key: value for key, value in body.items() if key != "screenshot"}
        yield Content(Kind.TEXT, text=dumps(rest) if body else text)
        if text_of(body.get("screenshot")):
            yield media_link(body["screenshot"], kind=Kind.IMAGE)
    elif text:
        yield Content(Kind.TEXT, text=text)
    yield from ui_contents(entry.get("images"), ("images",))


def _repeats(entry: Record, entries: Sequence[Any], replied: Sequence[Path]) -> bool:
    """Whether an entry is the one before it once more: completion results are both said and asked."""
    if not replied:
        return not text_of(entry.get("text")) and not text_of(entry.get("reasoning"))
    last = entries[int(replied[-1][0])]
    return not text_of(entry.get("text")) or (kind_of(last) == kind_of(entry) and last.get("text") == entry.get("text"))


def _body(entry: Record) -> Record:
    """The JSON object in an entry's text, empty where there is none."""
    text = text_of(entry.get("text"))
    return as_dict(parsed(text)) if text.startswith("{") and len(text) <= MAX_REQUEST_CHARS else {}


def _at(entries: Sequence[Any], path: Path) -> Any:
    entry = entries[int(path[0])]
    if len(path) == 1:
        return entry
    return _body(entry).get(str(path[-1])) if path[1] == "text" else entry.get(path[1])


def _includes_cached(calls: Sequence[ApiRequest]) -> bool:
    """Whether a provider's ``tokensIn`` includes what the cache read: that follows the ``tokensIn`` before."""
    pairs = [(count_of(call.body.get("tokensIn")), count_of(call.body.get("cacheReads"))) for call in calls]
    pairs = [pair for pair in pairs if pair[0]]
    read = [(before[0], sent, cached) for before, (sent, cached) in pairwise(pairs) if cached]
    follow = sum(FOLLOWS * before <= cached <= before / FOLLOWS for before, _, cached in read)
    # What was cut, and another model, begin anew: most follow, and none reads more than was sent.
    return follow >= max(LEAST_ALIKE, FOLLOWS * len(read)) and all(cached <= sent for _, sent, cached in read)


def sold_by(entry: Record) -> dict[str, str]:
    """The model that an entry names and who sold it: the session's file and the extension's name them differently."""
    info = as_dict(entry.get("modelInfo"))
    model = text_of(info.get("id")) or text_of(info.get("modelId"))
    return {"model": model, "provider": text_of(info.get("provider")) or text_of(info.get("providerId"))}


def _start(entry: Record, otherwise: int) -> int:
    """Where in the API history what a request sent begins."""
    index = entry.get("conversationHistoryIndex")
    return index + 1 if isinstance(index, int) and not isinstance(index, bool) and index >= -1 else otherwise


def _range(value: Any) -> tuple[int, int] | None:
    is_pair = isinstance(value, list) and len(value) == 2 and all(type(n) is int for n in value)
    return (value[0], value[1]) if is_pair and 0 <= value[0] <= value[1] else None
