"""Messages with roles in any other JSON: what is read where no format knows a file (formats 84).

A list counts whose entries are messages: a role that chat completions know, in the entry or in its ``message``, beside
content or calls.  What else an entry says is read where its key is a usual one, in whatever spelling (``toolCalls``,
``tool_calls``): calls, results, usage, model, time, an error, and a summary that stands for all before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from sessions.engine.base.words import words
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import media_link, result_of
from sessions.engine.reading.formats._chat_blocks import SPEAKERS, chat_contents, parts_of, plain_key, plain_keys
from sessions.engine.reading.formats._counts import INPUTS, first_count, inclusive_usage, openai_usage, usage_of
from sessions.engine.reading.formats._end_reasons import cut_in, reasons_in
from sessions.engine.reading.formats._error_body import error_body
from sessions.engine.reading.formats._provider_errors import Refusal
from sessions.engine.reading.formats._records import first_records, inside, noted, records, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, seconds, text_of
from sessions.engine.transcript.recorded_events import CUT_OFF, EventKind
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Transcript, Usage

MAX_DEPTH, LEAST, MAX_BESIDE = 6, 2, 8
"""How deep a list may stand in a record, how many messages it has at least, how many are held against each other."""
SAID = ("content", "parts", "tool_calls", "function_call")
RUNS = frozenset({"runs", "turns", "rounds", "steps"})
"""Lists whose entries are parts of one session."""
FOLD = "message_group_id"
"""What in a message names the group whose summary stands for it."""
THREADS = ("topic_id", "conversation_id", "thread_id", "chat_id", "session_id")
IDS = ("session_id", "conversation_id", "thread_id", "id")
RESULTS = "tool_call_states"
_SUMMARY = re.compile(r"compact|compress|summar", re.IGNORECASE)
"""A role under which a summary stands for all before it."""
COMPACTION = ("summary_text", "summary", "text")
"""Where a record's own ``compaction`` has its summary; what it stands for has left the list."""
SUMMARY = "conversation_summary"
"""Continue's: the summary that is sent in place of its message and all before it."""
KERNEL_SUMMARY = "__summary__"
"""What the metadata of a summary by Semantic Kernel's reducer have."""
TIMES = ("timestamp", "created_at", "create_time", "time")
SETTINGS = words("settings config options llm llm_config model_config")
"""Objects beside a list that say how the model was asked."""
MODELS = words("model model_id model_name from_model")
WINDOWS = words("context_length context_window context_limit max_context_tokens num_ctx n_ctx")
SENT = ("prompt_tokens", "input_tokens", "total_input_tokens")
ANSWERED = ("completion_tokens", "output_tokens", "total_output_tokens")
Around = tuple[tuple[Record, Origin], ...]
"""The objects around a list, the outermost first, each with its place."""


class Found(NamedTuple):
    """A message of a list: itself with plain keys, its entry and place, its session, and what stands around that.

    ``key`` tells sessions apart; ``thread`` is the name of one where the file has it.
    """

    message: dict[str, Any]
    entry: Record
    origin: Origin
    key: str
    thread: str
    around: Around

    @property
    def role(self) -> Role | None:
        """Who speaks; None where a summary stands for all before it."""
        return SPEAKERS.get(text_of(self.message.get("role")))


def _message(entry: Any) -> dict[str, Any]:
    """The message that an entry of a list is or holds, with plain keys; {} where it is none."""
    for value in (entry, as_dict(entry).get("message")):
        plain = plain_keys(as_dict(value))
        role = text_of(plain.get("role"))
        is_kernels = any("content_type" in as_dict(one) for one in as_list(plain.get("items")))
        if (role in SPEAKERS or _SUMMARY.search(role)) and (is_kernels or any(key in plain for key in SAID)):
            return _with_items(plain) if is_kernels else plain
    return {}


def _with_items(plain: dict[str, Any]) -> dict[str, Any]:
    """A message of Semantic Kernel, whose ``items`` have types of their own, with blocks as its content."""
    blocks = []
    for item in map(as_dict, plain["items"]):
        kind, held = item.get("content_type"), {"id": item.get("id"), "name": item.get("name")}
        if kind == "function_call":
            blocks.append({"type": "tool_use", **held, "input": item.get("arguments")})
        elif kind == "function_result":
            blocks.append({"type": "tool_result", "tool_use_id": item.get("id"), "content": item.get("result")})
        else:
            blocks.append(item | ({"type": kind} if kind else {}))
    is_summary = as_dict(plain.get("metadata")).get(KERNEL_SUMMARY)
    return plain | {"content": blocks} | ({"role": "summary"} if is_summary else {})


def _messages(record: Record, origin: Origin) -> Iterator[Found]:
    """The messages of a record in their order: the record itself, or all in its lists.

    What stands in an entry of a list is about that entry alone, unless the list is of the runs of one session.
    """
    if own := _message(record):
        thread = _first_text(own, THREADS)
        yield Found(own, record, origin, thread, thread, ())
        return
    waiting: list[tuple[Any, Origin, Around, str]] = [(record, origin, (), "")]
    while waiting:
        value, place, around, path = waiting.pop()
        if isinstance(value, dict):
            around = (*around, (value, place))
            inner = [(part, inside(place, key), around, f"{path}.{key}") for key, part in value.items()]
        elif isinstance(value, list):
            held = [(entry, _message(entry), inside(place, n)) for n, entry in enumerate(value)]
            if sum(bool(message) for _, message, _ in held) >= max(LEAST, len(held) // 2):
                of = next((name for one, _ in around if (name := _first_text(plain_keys(one), IDS))), "")
                for entry, message, at in held:
                    thread = _first_text(message, THREADS)
                    if message:
                        yield Found(message, as_dict(entry), at, thread or f"{of}{path}", thread or of, around)
                continue
            is_run = bool(place.path) and place.path[-1] in RUNS
            inner = [
                (entry, at, around if is_run else (), path if is_run else f"{path}[{n}]")
                for n, (entry, _, at) in enumerate(held)
            ]
        else:
            continue
        is_deep = len(place.path) - len(origin.path) >= MAX_DEPTH
        waiting += [one for one in reversed(inner) if not is_deep and isinstance(one[0], (dict, list))]


def _first_text(record: Record, keys: tuple[str, ...]) -> str:
    """The first of these that is a name: a text, or a whole number."""
    found = (record.get(key) for key in keys)
    return next((str(name) for name in found if name and isinstance(name, (str, int)) and name is not True), "")


def _repeats(some: list[Found], other: list[Found]) -> bool:
    """Whether the messages of ``some`` stand in ``other``, in their order."""
    entries = iter([one.entry for one in other])
    return all(any(entry == one.entry for entry in entries) for one in some)


def _once(lists: list[list[Found]]) -> list[list[Found]]:
    """The lists, but for those that repeat one beside them in the same object: what is sent, and all that was said."""
    groups: dict[tuple[int, str], list[list[Found]]] = {}
    for found in lists:
        holder = id(found[0].around[-1][0]) if found[0].around else id(found)
        groups.setdefault((holder, found[0].thread), []).append(found)
    again: set[int] = set()
    for beside in groups.values():
        for n, found in enumerate(beside[:MAX_BESIDE]):
            others = [other for k, other in enumerate(beside[:MAX_BESIDE]) if (-len(other), k) < (-len(found), n)]
            if any(_repeats(found, other) for other in others):
                again.add(id(found))
    return [found for found in lists if id(found) not in again]


def _told_beside(around: Around, n_replies: int) -> list[Record]:
    """What lists of as many entries as there are replies tell of each: its usage, and the event that it was cut off."""
    told: list[dict[str, Any]] = [{} for _ in range(n_replies)]
    for record, _ in around if n_replies >= LEAST else ():
        for entries in map(as_list, record.values()):
            if len(entries) != n_replies or not all(isinstance(one, dict) and not _message(one) for one in entries):
                continue
            for n, entry in enumerate(map(plain_keys, entries)):
                kind = EventKind.SESSION_END if n + 1 == n_replies else EventKind.REPLY_CUT
                if reason := cut_in(reasons_in(entry)):
                    told[n]["cut"] = Refusal(kind, words=f"{CUT_OFF}: {reason}", code=reason)
                if _usage({"usage": entry}):
                    told[n]["usage"] = entry
    return list(told)


def _session(found: list[Found], name: str, measure: Measured) -> Transcript:
    history, around = Assembly(measure), found[0].around
    outer: dict[str, Any] = {}
    for record, _ in around:
        outer |= plain_keys(record)
    pairs = [(one, plain_keys(one.entry) | one.message) for one in found]
    new = [(one, plain) for one, plain in pairs if plain.get("from_history") is not True]
    told = iter(_told_beside(around, sum(one.role is Role.ASSISTANT for one, _ in new)))
    folded = _folded(around)
    last = {text_of(plain.get(FOLD)): n for n, (_, plain) in enumerate(new)}
    for record, origin in around[-1:]:
        # PicoClaw sends it before the messages that it kept: what it stands for is not in the file.
        if text_of(record.get("summary")) and text_of(record.get("key")) and "updated" in record:
            history.summary(parts_of(record["summary"]), [inside(origin, "summary")], history.forget(()))
    for n, (one, plain) in enumerate(new):
        _add(history, one, plain, next(told, {}) if one.role is Role.ASSISTANT else {})
        fold = text_of(plain.get(FOLD))
        if fold in folded and last[fold] == n:
            value, origin = folded[fold]
            _summarised(history, parts_of(value), origin, None)
    n_again = len(pairs) - len(new)
    for record, origin in around:
        said = as_dict(record.get("compaction"))
        if held := next((key for key in COMPACTION if text_of(said.get(key))), ""):
            # What it took has left the list already.
            history.event(EventKind.COMPACTION_STARTED, " ".join(said[held].split()))
            history.summary(parts_of(said[held]), [inside(origin, "compaction", held)], history.forget(()))
    settings = [outer, *(plain_keys(outer[key]) for key in SETTINGS if isinstance(outer.get(key), dict))]
    if error := next((outer[key] for key in ("error", "last_error", "error_message") if outer.get(key)), None):
        history.fail(error)
    history.note(n_again, f"Messages marked as sent again from history: {n_again}; each is read once")
    history.note(True, "Read by its messages: of what else this file records, only the usual is known")
    return history.transcript(
        name,
        title=text_of(outer.get("title")),
        window=next((n for one in settings if (n := first_count(one, *WINDOWS))), 0),
        otherwise=next(filter(None, map(_model, settings)), ""),
    )


def _folded(around: Around) -> dict[str, tuple[Any, Origin]]:
    """The summaries of a LobeHub export's groups of messages, which may be empty, by their ids."""
    return {
        text_of(group.get("id")): (group.get("content"), inside(origin, "messageGroups", n, "content"))
        for record, origin in around
        for n, group in enumerate(map(as_dict, as_list(record.get("messageGroups"))))
        if group.get("type") == "compression"
    }


def _add(history: Assembly, one: Found, plain: Record, beside: Record) -> None:
    model, contents = _model(plain), _contents(one.entry)
    time = next((time for key in TIMES if (time := seconds(plain.get(key))) is not None), None)
    # A tool's error is a result's; an answer that says anything beside its error was given.
    is_error = False
    if one.role is Role.ASSISTANT and (error := plain.get("error")):
        history.fail(error, model=model)
        said, words = " ".join(content.text for content in contents).strip(), error_body(error).words
        is_error = not said or said in words or words in said
    if one.role is None and contents:
        _summarised(history, contents, one.origin, time)
        return
    if one.role is Role.ASSISTANT:
        if contents and not is_error:
            usage = _usage(plain) or _usage(beside)
            history.answer(contents, [one.origin], usage=usage, model=model, timestamp=time)
            history.refuse(beside.get("cut"))
    elif one.role is not None and contents:
        history.add(one.role, contents, [one.origin], timestamp=time)
    for key, value in one.entry.items():
        if plain_key(key) == RESULTS and (results := _results(value)):
            history.add(Role.USER, results, [inside(one.origin, key)], typed=False, timestamp=time)
        if plain_key(key) == SUMMARY and text_of(value):
            _summarised(history, parts_of(value), inside(one.origin, key), time)


def _summarised(history: Assembly, contents: tuple[Content, ...], origin: Origin, time: float | None) -> None:
    """A summary that stands for all before it: what an earlier one stood for has left already."""
    new = range(max(history.summaries, default=0), len(history.messages))
    history.summary(contents, [origin], history.forget(new), timestamp=time)


def _contents(value: Any) -> tuple[Content, ...]:
    """A message with its pictures; or the results, or the summary, beside one."""
    if not isinstance(value, dict):
        return _results(value) if isinstance(value, list) else parts_of(value)
    message = _message(value)
    pictures = [plain_keys(as_dict(one)) for key in ("image_list", "images") for one in as_list(message.get(key))]
    links = [link for one in pictures if (link := text_of(one.get("url")) or text_of(one.get("data")))]
    return (*chat_contents(message), *(media_link(link, kind=Kind.IMAGE) for link in links))


def _results(value: Any) -> tuple[Content, ...]:
    """The results that stand beside the message that asked for them (Continue's ``toolCallStates``)."""
    states = [state for one in as_list(value) if (state := plain_keys(as_dict(one))).get("output")]
    said = [[parts_of(as_dict(one).get("content")) for one in as_list(state["output"])] for state in states]
    return tuple(
        result_of(tuple(chain.from_iterable(parts)), state.get("tool_call_id"))
        for parts, state in zip(said, states, strict=True)
    )


def _usage(plain: Record) -> Usage | None:
    lobe = as_dict(as_dict(plain.get("metadata")).get("usage"))
    if sent := count_of(lobe.get("totalInputTokens")):
        # LobeHub's names of what one call was sent and answered.
        read = min(count_of(lobe.get("inputCachedTokens")), sent)
        return inclusive_usage(sent, count_of(lobe.get("totalOutputTokens")), cache_read=read)
    for key in ("usage", "metrics", "token_usage", "usage_metadata", "metadata"):
        counts = plain_keys(as_dict(plain.get(key)))
        if "prompt_tokens" not in counts and any(count_of(counts.get(kept)) for kept in INPUTS[1:]):
            return usage_of(counts)
        named = {
            "input_tokens": first_count(counts, *SENT), "output_tokens": first_count(counts, *ANSWERED),
            "cached_input_tokens": first_count(counts, "cached_input_tokens", "input_cached_tokens"),
        }  # fmt: skip
        if found := openai_usage(counts | named):
            return found
    return None


def _model(plain: Record) -> str:
    """The model that a record names, or the extras or the usage beside a message do."""
    beside = [plain, *(plain_keys(as_dict(plain.get(key))) for key in ("extra", "usage", "metadata"))]
    values = (held.get(key) for held in beside for key in MODELS)
    return next((found for value in values if (found := text_of(value) or text_of(as_dict(value).get("id")))), "")


class _Format(Format):
    label = "Lists of messages"
    source = "Messages with roles under any keys of other JSON (Continue, Agno, LobeChat, nanobot and their likes)"
    coverage = Coverage(
        usage=PARTLY, images=YES, compactions=PARTLY, refusals=PARTLY,
        error="error of a message", compaction="conversationSummary", model="model beside it",
        window="contextLength and the like",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        found = [one for record in first_records(head) for one in _messages(record, Origin(1, 0, 0))]
        # Lines with more than a message are some agent's log, whose other lines are not to be left out.
        has_more = any(one.origin.path or "message" in one.entry or "type" in one.entry for one in found)
        is_log = head.document is None and has_more
        if is_log or len(found) < LEAST or not {Role.USER, Role.ASSISTANT} <= {one.role for one in found}:
            return None
        return Sniff(5, f"{len(found)} messages with a role and content; what else the file records is not known")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        sessions: dict[str, list[Found]] = {}
        for record, origin in records(source):
            found = list(_messages(record, origin))
            if not found:
                source.skip("an object without messages", origin)
            for one in found:
                sessions.setdefault(one.key, []).append(one)
        stem, lists = stem_of(source.name), _once(list(sessions.values()))
        made = [_session(found, found[0].thread or stem, measure) for found in lists]
        n_again = len(sessions) - len(lists)
        notes = noted((n_again, f"Lists that repeat the messages of one beside them: {n_again}; each is read once"))
        return read_as(made, "no list of messages with roles", warnings=notes)

    contents = each_value(_contents)
