"""opencode session exports: ``{info, messages: [{info, parts}]}``, the messages alone, or a run's events (formats 10).

A tool part holds a call and its result: the results of a reply are a message of their own after it, because a reply
weighs its recorded output.  A compaction is a user entry with a ``compaction`` part and a reply marked ``summary``; the
call that wrote the summary is a request off the branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, each_place
from sessions.engine.reading.formats import _opencode_run as run
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import is_prompt, media_link, opaque, result_of, text_blocks, tool_use
from sessions.engine.reading.formats._branch import RESULTS, Clearing
from sessions.engine.reading.formats._counts import exclusive_usage
from sessions.engine.reading.formats._provider_errors import Refusal, failed_compaction
from sessions.engine.reading.formats._records import (
    NOT_PRINTED,
    first_records,
    has_columns,
    inside,
    noted,
    records,
    rows_of,
    stem_of,
)
from sessions.engine.reading.formats._traces import decoded
from sessions.engine.reading.formats._values import (
    Record,
    as_dict,
    as_list,
    count_of,
    dollars_of,
    seconds,
    text_of,
    written,
)
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.recorded_events import SILENT, ErrorKind, EventKind
from sessions.engine.transcript.types import Content, Kind, Message, Origin, Parsed, Role, Transcript, Usage

PART, DATA = run.PART, "data"
COLUMNS = {"session": ("id", "title"), "message": ("id", "session_id", DATA), PART: ("message_id", "session_id", DATA)}
NOT_SENT = frozenset({"step-start", "step-finish", "patch", "snapshot", "agent", "retry"})
ENCRYPTED = ("signature", "reasoningEncryptedContent", "redactedData", "thoughtSignature")
ABORTED = "MessageAbortedError"
"""The error of a reply that its user broke off."""


def _entries(source: Source, session: str) -> Iterator[tuple[dict[str, Any], list[Origin]]]:
    """A session's messages as its export has them, ``{info, parts}``, each with the places of its parts."""
    parts: dict[str, list[tuple[dict[str, Any], Origin]]] = {}
    for row, origin in rows_of(source, PART, "WHERE session_id = ? ORDER BY message_id, id", (session,)):
        held = as_dict(decoded(row.get(DATA)))
        if held:
            parts.setdefault(text_of(row.get("message_id")), []).append((held, inside(origin, DATA)))
    for row, origin in rows_of(source, "message", "WHERE session_id = ? ORDER BY time_created, id", (session,)):
        found = parts.get(text_of(row.get("id")), [])
        info = {**as_dict(decoded(row.get(DATA))), "id": row.get("id")}
        places = [place for _, place in found] or [inside(origin, DATA)]
        yield {"info": info, "parts": [part for part, _ in found]}, places


def parts_contents(entry: Record) -> tuple[Content, ...]:
    """What an entry says, shows and calls; its results are not among it."""
    return tuple(content for part in as_list(entry.get("parts")) for content in _part(part))


def result_contents(parts: Any) -> tuple[Content, ...]:
    """The results that tool parts hold, in order; a call still running has none.

    What a tool gave out, and the files it attached: ``metadata`` repeats the output and is not sent.
    """
    found = []
    for part in map(as_dict, as_list(parts)):
        state = as_dict(part.get("state"))
        if part.get("type") == "tool" and state.get("status") in ("completed", "error"):
            failed = state["status"] == "error"
            output = state.get("error") if failed else state.get("output")
            files = tuple(content for item in as_list(state.get("attachments")) for content in _part(item))
            found.append(result_of(text_blocks(written(output or "")) + files, part.get("callID"), is_error=failed))
    return tuple(found)


def _part(part: Any) -> tuple[Content, ...]:
    if not isinstance(part, dict):
        return (Content(Kind.OPAQUE, text=dumps(part)),)
    kind = text_of(part.get("type"))
    if kind in NOT_SENT or part.get("ignored") is True:
        return ()
    if kind == "text" and isinstance(part.get("text"), str):
        return text_blocks(part["text"])
    if kind == "file":
        return _file(part)
    if kind == "reasoning":
        # Signatures and encrypted reasoning stand in the providers' metadata.
        holders = [as_dict(holder) for holder in as_dict(part.get("metadata")).values()]
        payload = "".join(text_of(holder.get(key)) for holder in holders for key in ENCRYPTED)
        return (Content(Kind.THINKING, text=text_of(part.get("text")), payload=payload),)
    arguments = as_dict(part.get("state")).get("input")
    return (tool_use(arguments, part.get("tool"), part.get("callID")) if kind == "tool" else opaque(part),)


def _file(part: Record) -> tuple[Content, ...]:
    """An image or a document; text files and folders are sent as synthetic text parts instead."""
    media_type, url = text_of(part.get("mime")), text_of(part.get("url"))
    if media_type in ("text/plain", "application/x-directory"):
        return ()
    return (media_link(url, media_type, name=text_of(part.get("filename"))) if url else opaque(part),)


def _contents(value: Any, origin: Origin, message: Message) -> tuple[Content, ...]:
    """What an entry says; where the origin leads to its parts, the results among them."""
    if PART in (*origin.path[:1], *origin.path[-1:]):
        parts = [decoded(value)]
        is_answer = any(block.kind is Kind.TOOL_RESULT for block in message.blocks)
        return result_contents(parts) if is_answer else parts_contents({"parts": parts})
    return result_contents(value) if isinstance(value, list) else parts_contents(as_dict(decoded(value)))


class _Format(Format):
    label = "opencode"
    source = "opencode export, messages alone, opencode run --format json, ~/.local/share/opencode/opencode.db"
    coverage = Coverage(
        "1.1 to 1.4", usage=YES, images=YES, compactions=YES, refusals=YES, subagents=YES,
        error="info.error", compaction="part compaction", who="part's auto",
        clearing="state.time.compacted", interruption="MessageAbortedError", model="modelID",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        if all(has_columns(head, table, *columns) for table, columns in COLUMNS.items()):
            return Sniff(95, "a database with sessions, messages and parts as opencode keeps them")
        document = as_dict(head.document)
        if not isinstance(document.get("messages"), list):
            return _sniff_alone(first_records(head))
        entries = [entry for entry in document["messages"] if _is_entry(entry)]
        if entries and isinstance(document.get("info"), dict):
            return Sniff(95, "info, and messages that each have info with a role and parts")
        return Sniff(0, "messages have info and parts, but the document has no info") if entries else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        if source.database() is not None:
            rows = rows_of(source, "session", "ORDER BY rowid")
            found = [_session(_entries(source, text_of(row.get("id"))), row, measure) for row, _ in rows]
            return Parsed(tuple(transcript for transcript in found if transcript.messages))
        document = source.head().document
        if not isinstance(document, dict) or not isinstance(document.get("messages"), list):
            return Parsed(tuple(_alone(source, measure)))
        placed = [(entry, Origin(1, 0, source.size, ("messages", n))) for n, entry in enumerate(document["messages"])]
        listed = [(entry, [place]) for entry, place in placed if _is_entry(entry)]
        for n in [place.path[-1] for entry, place in placed if not _is_entry(entry)]:
            source.skip(f"message {n} has no info with a role and parts")
        info = as_dict(document.get("info"))
        transcript = _session(listed, {**info, "id": text_of(info.get("id")) or stem_of(source.name)}, measure)
        return read_as([transcript])

    contents = each_place(_contents)


def _sniff_alone(records: Sequence[Record]) -> Sniff | None:
    """Messages without the export around them: each names its session, or holds parts of opencode's own types."""
    entries = [record for record in records if _is_entry(record)]
    infos = [entry["info"] for entry in entries]
    own = [info for info in infos if "sessionID" in info or text_of(info.get("id")).startswith("msg_")]
    if own and 2 * len(entries) > len(records):
        return Sniff(93, f"{len(entries)} of the first {len(records)} records have info with opencode's ids, and parts")
    if entries:
        return Sniff(0, "records have info with a role and parts, but no id of opencode's")
    events = [record for record in records if run.is_event(record)]
    if events and 2 * len(events) > len(records):
        return Sniff(93, f"{len(events)} of the first {len(records)} records are events of opencode run")
    return None


def _alone(source: Source, measure: Measured) -> Iterator[Transcript]:
    """The sessions that messages without an export belong to, or a run's events, in the order of their first one."""
    is_run = any(map(run.is_event, first_records(source.head())))
    if is_run:
        sessions = run.sessions_of(records(source, run.is_event, "no event of a run"))
    else:
        sessions = {}
        for record, origin in records(source, _is_entry, "no info with a role and parts"):
            sessions.setdefault(text_of(record["info"].get("sessionID")), []).append((record, [origin]))
    for native, listed in sessions.items():
        transcript = _session(listed, {"id": native or stem_of(source.name)}, measure)
        if transcript.messages:
            notes = noted((is_run, NOT_PRINTED))
            yield replace(transcript, warnings=(*transcript.warnings, *notes))


def _session(entries: Iterable[tuple[Record, list[Origin]]], facts: Record, measure: Measured) -> Transcript:
    """One session of its messages; ``facts`` are those of the session itself."""
    reading = _Reading(Assembly(measure))
    for entry, places in entries:
        if _is_entry(entry):
            reading.take(entry, places)
    reading.settle({})
    reading.prune()
    return reading.history.transcript(
        text_of(facts.get("id")),
        title=text_of(facts.get("title")),
        client=text_of(facts.get("version")),
        project=text_of(facts.get("directory")),
        parent_id=text_of(facts.get("parent_id")) or text_of(facts.get("parentID")),
        system=measure(reading.system),
    )


class _Reading:
    def __init__(self, history: Assembly) -> None:
        self.history = history
        self.system: tuple[Content, ...] = ()
        self.pruned: dict[float, list[str]] = {}
        self._open: int | None = None
        self._marked: Callable[[Record], None] | None = None

    def prune(self) -> None:
        """Note the results that opencode emptied later on, each time at its place; they are shown as first sent."""
        history = self.history
        for time, calls in sorted(self.pruned.items()):
            n_messages = sum(m.timestamp is not None and m.timestamp <= time for m in history.messages)
            n_requests = sum(r.timestamp is not None and r.timestamp <= time for r in history.requests)
            named = tuple(filter(None, calls))
            history.cleared.append((Clearing(RESULTS, "auto", len(calls), calls=named), n_messages, n_requests))

    def take(self, entry: Record, places: list[Origin]) -> None:
        """One entry: a prompt, a reply with its results, or one side of a compaction."""
        info = entry["info"]
        self.settle(entry)
        self.history.spent += dollars_of(info.get("cost"))
        native, time = text_of(info.get("id")), seconds(as_dict(info.get("time")).get("created"))
        said: dict[str, Any] = {"contents": parts_contents(entry), "origins": places, "id": native, "timestamp": time}
        if info["role"] == "user":
            self._take_user(entry, said)
        elif info.get("summary") is True:
            self._take_summary(entry, said)
        else:
            self._take_reply(info, said)
            self._take_results(entry, places, native)

    def _take_user(self, entry: Record, said: dict[str, Any]) -> None:
        mark = next((p for p in as_list(entry["parts"]) if as_dict(p).get("type") == "compaction"), None)
        if text_of(entry["info"].get("system")) and not self.system:
            self.system = (Content(Kind.TEXT, text=entry["info"]["system"]),)
        if mark is not None:

            def settled(following: Record) -> None:
                self._open = None if self._has_failed(mark, following) else self._compact(mark)
                self.history.add(Role.USER, typed=False, compaction=self._open, **said)

            self._marked = settled
            return
        own = [part for part in as_list(entry["parts"]) if not as_dict(part).get("synthetic")]
        index = self.history.add(Role.USER, typed=is_prompt(parts_contents({"parts": own})), **said)
        self.history.remember(said["id"], index)

    def settle(self, following: Record) -> None:
        """What the mark of a compaction comes to, as the entry after it tells; {} where none follows."""
        marked, self._marked = self._marked, None
        if marked is not None:
            marked(following)

    def _has_failed(self, mark: Record, following: Record) -> bool:
        """Whether the call that was to write the summary ended in an error, or wrote none: the list stays as it was."""
        info = as_dict(following.get("info"))
        if info.get("summary") is not True or not (info.get("error") or _is_silent(following)):
            return False
        if mark.get("overflow") is True:
            self.history.refuse_once(Refusal(ErrorKind.CONTEXT))
        if text_of(as_dict(info.get("error")).get("name")) == ABORTED:
            self.history.event(EventKind.COMPACTION_CANCELLED, "aborted")
        elif info.get("error"):
            self.history.fail(info["error"], of_compaction=True)
        return True

    def _compact(self, mark: Record) -> int:
        """Everything leaves but the tail from ``tail_start_id``; what it weighed is that of the last reply's call."""
        place = len(self.history.messages)
        tail = self.history.by_id.get(text_of(mark.get("tail_start_id")), place)
        trigger = {True: "auto", False: "manual"}.get(mark["auto"]) if isinstance(mark.get("auto"), bool) else None
        if mark.get("overflow") is True:
            self.history.refuse_once(Refusal(ErrorKind.CONTEXT))
        before = next((r.usage for r in reversed(self.history.requests) if r.on_branch), None)
        weight = before.context + before.output if before else None
        return self.history.forget(range(tail), trigger=trigger, tokens_before=weight)

    def _take_summary(self, entry: Record, said: dict[str, Any]) -> None:
        """A summary; its call's usage is a request that the conversation never saw."""
        info = entry["info"]
        usage = _usage(info.get("tokens"))
        if _is_silent(entry):
            self.history.refuse(failed_compaction()._replace(words=SILENT))
            return
        if info.get("error"):
            # No summary: what was said of it stays in the list (``_has_failed``).
            if said["contents"]:
                self.history.add(Role.ASSISTANT, **said)
            return
        if self._open is None:
            self._open = self._compact({})
        if usage is not None:
            self.history.request(None, usage, on_branch=False, timestamp=said["timestamp"], **_sold(info))
        self.history.next_request(self._open)
        self.history.summary(compaction=self._open, **said)
        self._open = None

    def _take_reply(self, info: Record, said: dict[str, Any]) -> None:
        usage = _usage(info.get("tokens"))
        if text_of(as_dict(info.get("error")).get("name")) == ABORTED:
            self.history.fail(info["error"], kind=EventKind.INTERRUPTION)
        else:
            self.history.fail(info.get("error"), model=text_of(info.get("modelID")))
        index = self.history.add(Role.ASSISTANT, **said)
        if usage is not None or (said["contents"] and not info.get("error")):
            self.history.request(index, usage, response_id=said["id"], **_sold(info))
        self.history.remember(said["id"], index)

    def _take_results(self, entry: Record, places: list[Origin], native: str) -> None:
        parts = as_list(entry["parts"])
        for part in map(as_dict, parts):
            time = seconds(as_dict(as_dict(part.get("state")).get("time")).get("compacted"))
            if time is not None:
                self.pruned.setdefault(time, []).append(text_of(part.get("callID")))
        results = result_contents(parts)
        if results:
            # An event of a run is a part, or an error that has none.
            apart = [place for place in places if PART in (*place.path[:1], *place.path[-1:])]
            places = apart or [inside(place, "parts") for place in places]
            ended = [as_dict(as_dict(as_dict(p).get("state")).get("time")).get("end") for p in parts]
            times = [time for time in map(seconds, ended) if time is not None]
            native = f"{native}.results" if native else ""
            self.history.add(Role.USER, results, places, id=native, typed=False, timestamp=max(times, default=None))


def _is_entry(value: Any) -> bool:
    info = as_dict(value).get("info")
    return isinstance(info, dict) and info.get("role") in ("user", "assistant") and isinstance(value.get("parts"), list)


def _sold(info: Record) -> dict[str, str]:
    """The model of a reply and who sold it."""
    return {"model": text_of(info.get("modelID")), "provider": text_of(info.get("providerID"))}


def _is_silent(entry: Record) -> bool:
    """Whether a call that was to write a summary ended without a word, a token or an error (kilocode 13983)."""
    info = as_dict(entry.get("info"))
    ended = as_dict(info.get("time")).get("completed") is not None
    usage = _usage(info.get("tokens"))
    is_empty = not usage or not usage.context + usage.output
    return ended and is_empty and not info.get("error") and not parts_contents(entry)


def _usage(tokens: Any) -> Usage | None:
    """Input excludes the cache.  Reasoning stands beside the output only where the total says so."""
    counts = as_dict(tokens)
    cache = as_dict(counts.get("cache"))
    fresh, output, reasoning = (count_of(counts.get(key)) for key in ("input", "output", "reasoning"))
    read, write = count_of(cache.get("read")), count_of(cache.get("write"))
    apart = reasoning and count_of(counts.get("total")) == fresh + output + reasoning + read + write
    whole = output + reasoning if apart else output
    return exclusive_usage(fresh, whole, cache_read=read, cache_write=write, reasoning=reasoning)
