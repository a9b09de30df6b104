"""LangChain message dumps: ``messages_to_dict``, ``dumpd`` constructors, the flat form of graph states (formats 20).

``SummarizationMiddleware`` puts a summary before the messages that it keeps and removes the others; deepagents keeps
every message and writes beside them what a call is sent instead.  Neither says at which call: it is the first whose
measured context is smaller than that of the one before, else the first behind the summary.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats import _langchain_messages as dumped
from sessions.engine.reading.formats._assembly import Assembly, Kept, read_as
from sessions.engine.reading.formats._blocks import is_prompt
from sessions.engine.reading.formats._chat_blocks import SPEAKERS
from sessions.engine.reading.formats._records import cleared_before, first_records, inside, records, stem_of
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, first_text, seconds, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Origin, Parsed, Role, Transcript

Entry = tuple[Any, Origin]
State = tuple[Record, Origin]
EVENT = "_summarization_event"
LIST_KEYS = ("messages", "chat_history", "history")
SUMMARY_PATH = (EVENT, "summary_message")


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


class _Format(Format):
    label = "LangChain"
    source = "langchain-core messages_to_dict and dumpd, LangGraph states, a thread's history (JSON or JSONL)"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES, refusals=YES, error="error of a checkpoint's task",
        compaction="lc_source summarization, _summarization_event, messages that a checkpoint holds no more",
        who="lc_source summarization: auto",
        model="response_metadata.model_name",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        first = map(_state, first_records(head))
        found = [value for record, _, key in first for value in (record[key] if key else [record])]
        if isinstance(head.document, list):
            found += [item for items in head.document[:20] if isinstance(items, list) for item in items]
        shapes = [shape for value in found if (shape := dumped.shape_of(value))]
        if shapes:
            return Sniff(92, f"{len(shapes)} of the first {len(found)} entries are messages as {shapes[0]} writes them")
        is_dumped = any(isinstance(value, dict) and value.get("lc") == 1 for value in found)
        return Sniff(0, "serialised LangChain objects, but no messages") if is_dumped else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        stem = stem_of(source.name)
        found: list[Transcript] = []
        document = source.head().document
        is_list = isinstance(document, list) and not any(isinstance(item, list) for item in document)
        threads, others = _histories(records(source)) if is_list else ([], None)
        for states in threads:
            assembly = Assembly(measure)
            _follow(assembly, states, source)
            found.append(assembly.transcript(_place_of(states[0][0], "thread_id")))
        placed = records(source) if others is None else others
        for number, (entries, state) in enumerate(_conversations(source, placed)):
            assembly = Assembly(measure)
            # How many messages of a deepagents state its summary stands for.
            told = as_dict(as_dict(state[0]).get(EVENT)).get("cutoff_index") if state else None
            cutoff = told if isinstance(told, int) and not isinstance(told, bool) and told > 0 else None
            for position, (value, origin) in enumerate(entries):
                if state and position == cutoff:
                    _add(assembly, state[0][EVENT].get("summary_message"), inside(state[1], *SUMMARY_PATH), source)
                _add(assembly, value, origin, source)
            settle_summaries(assembly)
            # What ``ClearToolUsesEdit`` leaves of a result that it emptied.
            n_cleared = sum(m.preview == "[cleared]" and bool(m.result_ids()) for m in assembly.messages)
            assembly.note(*cleared_before(n_cleared))
            found.append(assembly.transcript(f"{stem}.{number}" if number else stem))
        return read_as(found, "no messages of LangChain's")

    contents = each_value(dumped.langchain_contents)


def _add(assembly: Assembly, value: Any, origin: Origin, source: Source) -> int | None:
    fields = dumped.fields_of(value)
    if not fields:
        source.skip("an entry that is no message", origin)
        return None
    role = SPEAKERS.get(fields["role"], Role.USER)
    in_run, native_id = assembly.follows_reply(), text_of(fields.get("id"))
    facts: dict[str, Any] = {}
    if dumped.is_summary(fields):
        facts = {"typed": False, "summary": True, "compaction": len(assembly.summaries)}
    index = assembly.add(role, dumped.langchain_contents(value), (origin,), id=native_id, **facts)
    usage = dumped.langchain_usage(fields)
    if role is Role.ASSISTANT and not facts and (usage or native_id or not in_run):
        native = dumped.response_fact(fields, "id") or native_id
        model = dumped.response_fact(fields, "model_name", "model")
        assembly.request(index, usage, response_id=native, model=model)
    return index


def _state(record: Record) -> tuple[Record, Path, str]:
    """The state that a record is, or holds as a thread's ``values``, the path to it, and where its messages are."""
    if key := _list_key(record):
        return record, (), key
    held = as_dict(record.get("values"))
    key = _list_key(held)
    return (held, ("values",), key) if key else (record, (), "")


def _list_key(record: Record) -> str:
    """Under what a state or a record holds messages; "" where it holds none."""
    return next((key for key in LIST_KEYS if any(dumped.shape_of(item) for item in as_list(record.get(key)))), "")


def _conversations(
    source: Source, placed: Iterable[tuple[Record, Origin]]
) -> Iterator[tuple[list[Entry], Entry | None]]:
    """The lists of messages in the file: it may be one itself, hold one, or hold several; each with its state."""
    loose: list[Entry] = []
    document = source.head().document
    if isinstance(document, list) and any(isinstance(item, list) for item in document):
        for number, items in enumerate(document):
            place = Origin(1, 0, source.size, (number,))
            yield [(item, inside(place, position)) for position, item in enumerate(as_list(items))], None
        return
    for whole, place in placed:
        record, path, key = _state(whole)
        origin = inside(place, *path)
        if key:
            held = enumerate(record[key])
            yield [(item, inside(origin, key, position)) for position, item in held], (record, origin)
        else:
            loose.append((record, origin))
    if loose:
        yield loose, None


def _place_of(state: Record, key: str, at: str = "checkpoint") -> str:
    """A name in a checkpoint of the API's, or in the config of a snapshot."""
    config = as_dict(as_dict(state.get("parent_config" if at != "checkpoint" else "config")).get("configurable"))
    return first_text(as_dict(state.get(at)), key) or first_text(config, key)


def _histories(placed: Iterable[State]) -> tuple[list[list[State]], list[State]]:
    """The states of each thread and graph of which there are several, oldest first; and the other records."""
    groups: dict[tuple[str, str], list[State]] = {}
    others: list[State] = []
    for state, at in placed:
        thread, held = _place_of(state, "thread_id"), as_dict(state.get("values")).get("messages")
        if thread and isinstance(held, list) and _place_of(state, "checkpoint_id"):
            groups.setdefault((thread, _place_of(state, "checkpoint_ns")), []).append((state, at))
        else:
            others.append((state, at))
    alone = [state for states in groups.values() if len(states) == 1 for state in states]
    return [list(_way(states))[::-1] for states in groups.values() if len(states) > 1], others + alone


def _way(states: list[State]) -> Iterator[State]:
    """From the newest state to its parents; where one is missing, on to the next older one."""
    ranked = sorted(states, key=lambda state: seconds(state[0].get("created_at")) or 0, reverse=True)
    known = {_place_of(state, "checkpoint_id") for state, _ in states}
    wanted = ""
    for state, at in ranked:
        if wanted not in known or _place_of(state, "checkpoint_id") == wanted:
            wanted = _place_of(state, "checkpoint_id", "parent_checkpoint")
            yield state, at


def _follow(history: Assembly, states: Iterable[State], source: Source) -> None:
    """The messages as they came, by id; those that a state holds no more left with what stands in their place."""
    live: dict[str, int] = {}
    for state, at in states:
        messages = enumerate(as_list(as_dict(state.get("values")).get("messages")))
        named = ((text_of(dumped.fields_of(value).get("id")) or dumps(value), n, value) for n, value in messages)
        held = [(key, value, inside(at, "values", "messages", n)) for key, n, value in named]
        keys = {key for key, _, _ in held}
        gone = [index for key, index in live.items() if key not in keys]
        last_kept = max((n for n, (key, _, _) in enumerate(held) if key in live), default=len(held))
        says = any(key not in live and dumped.is_summary(dumped.fields_of(value)) for key, value, _ in held)
        compaction = history.forget(gone, trigger="auto" if says else None) if gone else None
        for n, (key, value, place) in enumerate(held):
            if key in live:
                continue
            contents = dumped.langchain_contents(value)
            fields = dumped.fields_of(value)
            is_summary = dumped.is_summary(fields)
            if is_summary and compaction is None:  # made before the first state that is told
                compaction = history.forget((), outside=True)
            is_made = n < last_kept and fields.get("role") != "assistant" and is_prompt(contents)
            waits = compaction is not None and history.compactions[compaction].message is None
            if compaction is not None and waits and (is_summary or is_made):
                native, time = text_of(fields.get("id")), seconds(state.get("created_at"))
                live[key] = history.summary(contents, [place], compaction, id=native, timestamp=time)
            elif (index := _add(history, value, place, source)) is not None:
                live[key] = index
        live = {key: index for key, index in live.items() if key in keys}
        for task in as_list(state.get("tasks")):
            history.fail(as_dict(task).get("error"))
