"""Inspect AI evaluation logs: ``.eval`` (a zip archive) and ``.json``; every sample is a session (formats 14).

Model events are requests; one whose reply is not among the messages (a grader's, a sub-agent's) is off the branch.
A compaction event is a recorded compaction: what the next model event was no longer sent has left the context.

A message's origins are its own place, then one for each attachment it uses: the last step of that path is the hash.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source
from sessions.engine.reading.formats._anthropic_blocks import block_of
from sessions.engine.reading.formats._assembly import Assembly, with_unique_ids
from sessions.engine.reading.formats._blocks import definitions, media_link, opaque, result_of
from sessions.engine.reading.formats._chat_blocks import ROLES, call_of, parts_of
from sessions.engine.reading.formats._counts import exclusive_usage, inclusive_usage
from sessions.engine.reading.formats._provider_errors import Refusal, error_of
from sessions.engine.reading.formats._records import inside, object_of, objects_in
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, count_of, seconds, text_of
from sessions.engine.reading.jsonio import JsonProblem
from sessions.engine.transcript.recorded_events import CUT_OFF, CUT_REASONS, ErrorKind, EventKind
from sessions.engine.transcript.types import Content, Kind, Message, Origin, Parsed, Role, Skipped, Transcript, Usage

HEADERS = ("header.json", "_journal/start.json")
SAMPLES = "samples/"
PROTOCOL = "attachment://"
Part = tuple[dict[str, Any], Path]


def is_message(value: Any) -> bool:
    """An object with a role that Inspect knows."""
    return isinstance(value, dict) and text_of(value.get("role")) in ROLES


def resolved(value: Any, attachments: Record) -> Any:
    """``value`` with every reference to an attachment replaced by its text; unknown ones stay."""
    if isinstance(value, str):
        found = attachments.get(value.removeprefix(PROTOCOL)) if value.startswith(PROTOCOL) else None
        return found if isinstance(found, str) else value
    if isinstance(value, list):
        return [resolved(item, attachments) for item in value]
    if isinstance(value, dict):
        return {key: resolved(item, attachments) for key, item in value.items()}
    return value


def contents_of_message(message: Record) -> tuple[Content, ...]:
    """The blocks of a message whose attachments are resolved; a tool's message is one result.

    The provider is sent a failed tool's error in place of an empty content.
    """
    content = message.get("content")
    parts = tuple(_part(part) for part in content) if isinstance(content, list) else parts_of(content)
    if message.get("role") == "tool":
        error = as_dict(message.get("error"))
        if not parts and text_of(error.get("message")):
            parts = parts_of(error["message"])
        call_id, name = text_of(message.get("tool_call_id")), text_of(message.get("function"))
        return (result_of(parts, call_id, is_error=bool(error), name=name),)
    return (*parts, *map(call_of, as_list(message.get("tool_calls"))))


def _hashes(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if value.startswith(PROTOCOL):
            yield value.removeprefix(PROTOCOL)
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _hashes(item)


def _part(part: Any) -> Content:
    if not isinstance(part, dict):
        return block_of(part)
    kind = part.get("type")
    if kind == "reasoning":
        # Where it is redacted, the reasoning is an encrypted payload and the summary is the text.
        text, shown, signature = (text_of(part.get(key)) for key in ("reasoning", "summary", "signature"))
        text, payload = (shown, text + signature) if part.get("redacted") else (text, signature)
        return Content(Kind.THINKING, text=text, payload=payload)
    if kind == "image" and text_of(part.get("image")):
        return media_link(part["image"], kind=Kind.IMAGE)
    if kind == "document" and text_of(part.get("document")):
        name = text_of(part.get("filename"))
        return media_link(part["document"], text_of(part.get("mime_type")), Kind.DOCUMENT, name)
    if kind == "tool_use":
        return opaque(part, "tool_use")
    return block_of(part)


@dataclass(slots=True)
class CompactionEvent:
    """A compaction event before reply ``before`` (index into the entries), with what was sent after it.

    ``summary`` is the entry it made; ``unlisted`` its summary where only the next model event's input has it.
    """

    event: Record
    before: int
    sent: set[str] = field(default_factory=set)
    summary: int | None = None
    unlisted: Part | None = None


class Sample:
    """A sample with what is needed to find its parts: where it stands, attachments, pool, events."""

    def __init__(self, source: Source, value: Record, origin: Origin) -> None:
        self.value, self.origin = value, origin
        old = as_dict(value.get("transcript"))
        self._listed = as_list(value.get("events")) or as_list(old.get("events"))
        self.events = [event for event in self._listed if isinstance(event, dict)]
        self.attachments = as_dict(value.get("attachments")) or as_dict(old.get("content"))
        self.attachments_path: Path = ("attachments",) if value.get("attachments") else ("transcript", "content")
        self.pool = as_list(value.get("message_pool")) or as_list(as_dict(value.get("events_data")).get("messages"))
        self.models = [event for event in self.events if event.get("event") == "model" and _answered(event)]
        messages = as_list(value.get("messages"))
        listed: list[Part] = [(m, ("messages", place)) for place, m in enumerate(messages) if is_message(m)]
        # A sample that crashed has none: those of its last model event.
        self.entries = listed or (self.inputs(self.models[-1]) if self.models else [])
        unfit = [position for position, message in enumerate(messages) if not is_message(message)]
        for n in unfit:
            source.skip(f"message {n} of a sample has no role", origin)

    def origins(self, message: Any, path: Path) -> list[Origin]:
        """Where a message stands, then where its attachments do, each once."""
        names = [name for name in dict.fromkeys(_hashes(message)) if isinstance(self.attachments.get(name), str)]
        return [inside(self.origin, *path), *(inside(self.origin, *self.attachments_path, name) for name in names)]

    def inputs(self, event: Record) -> list[Part]:
        """The messages a model event was sent, written out or as ranges of the pool."""
        position = next((i for i, other in enumerate(self._listed) if other is event), 0)
        stem: Path = ("events", position) if self.value.get("events") else ("transcript", "events", position)
        sent = enumerate(as_list(event.get("input")))
        found: list[Part] = [(message, (*stem, "input", place)) for place, message in sent if is_message(message)]
        pool: Path = ("message_pool",) if self.value.get("message_pool") else ("events_data", "messages")
        for span in as_list(event.get("input_refs")):
            ends = [end for end in as_list(span) if isinstance(end, int)]
            if len(ends) == 2:
                places = range(max(0, ends[0]), min(ends[1], len(self.pool)))
                found += [(self.pool[place], (*pool, place)) for place in places if is_message(self.pool[place])]
        return found


def session_of(sample: Sample, native_id: str, measure: Measured, facts: dict[str, Any]) -> Transcript:
    """The session of one sample; ``facts`` are fields of Transcript that the log's header knows."""
    replies = _replies(sample)
    marks = _marks(sample, replies)
    history = Assembly(measure)
    by_reply = {place: event for event, place in replies if place is not None}
    waiting = [event for event, _ in replies]
    for place, (message, path) in enumerate(sample.entries):
        if place in by_reply:
            while waiting and waiting[0] is not by_reply[place]:
                _off_branch(history, waiting.pop(0))
        for mark in marks:
            if (place == mark.summary) or (mark.summary is None and place == mark.before):
                _compact(history, sample, mark)
        made = any(mark.summary == place for mark in marks)
        _add(history, sample, message, path, event=by_reply.get(place), made=made)
        if place in by_reply and waiting:
            waiting.pop(0)
    for event in waiting:
        _off_branch(history, event)
    for mark in marks:
        if mark.before >= len(sample.entries) and mark.summary is None:
            _compact(history, sample, mark)
    _refusals(history, sample, {id(event) for event in by_reply.values()})
    history.fail(resolved(sample.value.get("error"), sample.attachments), kind=EventKind.SESSION_END)
    limit = as_dict(sample.value.get("limit"))
    if limit.get("type"):
        history.event(EventKind.SESSION_END, f"limit of {limit['type']}: {limit.get('limit')}")
    tools = definitions(resolved(sample.models[0].get("tools"), sample.attachments)) if sample.models else ()
    started, ended = (seconds(sample.value.get(key)) for key in ("started_at", "completed_at"))
    return history.transcript(native_id, system=measure(tools), started_at=started, ended_at=ended, **facts)


def _refusals(history: Assembly, sample: Sample, own: Container[int]) -> None:
    """Model events that failed for the size, or that the model's window cut short, before the next answered one.

    ``own`` are those whose reply is among the messages, by identity: of these the last may end at a limit.
    """
    n_before, cut = 0, ""
    for event in sample.events:
        if event.get("event") != "model":
            continue
        output = as_dict(event.get("output"))
        refusal = error_of(resolved(event.get("error") or output.get("error"), sample.attachments))
        stops = [text_of(as_dict(choice).get("stop_reason")) for choice in as_list(output.get("choices"))]
        if refusal is None and "model_length" in stops:
            refusal = error_of(resolved(output.get("completion"), sample.attachments)) or Refusal(ErrorKind.CONTEXT)
        if id(event) in own:
            cut = next((stop for stop in stops if stop in CUT_REASONS), "") if refusal is None else ""
        n_before += _answered(event)
        if refusal is not None:
            place = next((r.message for r in history.requests[n_before:] if r.message is not None), None)
            history.refused.append((refusal, len(history.messages) if place is None else place, n_before))
    if cut:
        history.event(EventKind.SESSION_END, f"{CUT_OFF}: {cut}")


def event_usage(event: Record) -> Usage | None:
    """Usage of a model event; whether ``input_tokens`` holds cached ones too is told by ``total_tokens``.

    A total of input and output alone includes them (older logs of OpenAI models); otherwise they were counted apart.
    """
    usage = as_dict(as_dict(event.get("output")).get("usage"))
    fresh, output = count_of(usage.get("input_tokens")), count_of(usage.get("output_tokens"))
    read, write = count_of(usage.get("input_tokens_cache_read")), count_of(usage.get("input_tokens_cache_write"))
    together = count_of(usage.get("total_tokens")) == fresh + output
    build = inclusive_usage if together else exclusive_usage
    reasoning = count_of(usage.get("reasoning_tokens"))
    return build(fresh, output, cache_read=read, cache_write=write, reasoning=reasoning)


def _answered(event: Record) -> bool:
    return not event.get("pending") and (bool(_reply(event)) or event_usage(event) is not None)


def _reply(event: Record) -> dict[str, Any]:
    choices = as_list(as_dict(event.get("output")).get("choices"))
    return as_dict(as_dict(choices[0]).get("message")) if choices else {}


def _replies(sample: Sample) -> list[tuple[dict[str, Any], int | None]]:
    """Every model event with the place of its reply among the entries: by id, else by equal content, in order."""
    replies = [place for place, (message, _) in enumerate(sample.entries) if message["role"] == "assistant"]
    by_id = {text_of(sample.entries[place][0].get("id")): place for place in reversed(replies)}
    found: list[tuple[dict[str, Any], int | None]] = []
    newest = -1
    for event in sample.models:
        reply = _reply(event)
        native = text_of(reply.get("id"))
        place: int | None = by_id.get(native) if native else None
        if place is None and not (native and native not in by_id and all(by_id)):
            said = _said(reply, sample)
            options = (p for p in replies if p > newest and _said(sample.entries[p][0], sample) == said)
            place = next(options, None)
        place = place if place is not None and place > newest else None
        newest = newest if place is None else place
        found.append((event, place))
    return found


def _said(message: Record, sample: Sample) -> Any:
    calls = [as_dict(call).get("id") for call in as_list(message.get("tool_calls"))]
    return resolved(message.get("content"), sample.attachments), calls


def _marks(sample: Sample, replies: Sequence[tuple[Record, int | None]]) -> list[CompactionEvent]:
    """Compaction events; the summary is the first message after the last reply that is marked as one."""
    places = {id(event): place for event, place in replies if place is not None}
    listed = {text_of(message.get("id")) for message, _ in sample.entries}
    used: set[int | None] = set()
    marks: list[CompactionEvent] = []
    newest = -1
    for event, later in zip(sample.events, _next_replies(sample.events, places), strict=True):
        newest = places.get(id(event), newest)
        if event.get("event") != "compaction":
            continue
        before = places[id(later)] if later is not None else len(sample.entries)
        mark = CompactionEvent(event, before)
        mark.sent = {text_of(m.get("id")) for m, _ in sample.inputs(later)} if later is not None else set()
        between = range(newest + 1, before)
        mark.summary = next((n for n in between if _is_summary(sample.entries[n][0]) and n not in used), None)
        if mark.summary is None and later is not None:
            sent = reversed(sample.inputs(later))
            mark.unlisted = next((p for p in sent if _is_summary(p[0]) and text_of(p[0].get("id")) not in listed), None)
        used.add(mark.summary)
        marks.append(mark)
    return marks


def _next_replies(events: Sequence[Record], places: Mapping[int, int]) -> list[Record | None]:
    """For each event the first from it on that has a reply among the sample's messages."""
    found: list[Record | None] = []
    later: Record | None = None
    for event in reversed(events):
        later = event if id(event) in places else later
        found.append(later)
    return found[::-1]


def _is_summary(message: Record) -> bool:
    return bool(as_dict(message.get("metadata")).get("summary"))


def _compact(history: Assembly, sample: Sample, mark: CompactionEvent) -> None:
    known = mark.sent - {""}
    made_one = mark.summary is not None or mark.unlisted is not None
    gone = [m.index for m in history.messages if m.id not in known] if known or made_one else []
    before = count_of(mark.event.get("tokens_before"))
    facts: dict[str, Any] = {"tokens_before": before} if before else {}
    compaction = history.forget(gone, trigger="auto", outside=False, **facts)
    if mark.unlisted is not None:
        message, path = mark.unlisted
        contents = contents_of_message(resolved(message, sample.attachments))
        history.summary(contents, sample.origins(message, path), compaction, id=text_of(message.get("id")))


def _add(
    history: Assembly, sample: Sample, message: dict[str, Any], path: Path, *, event: Record | None, made: bool
) -> None:
    role = ROLES[message["role"]]
    contents = contents_of_message(resolved(message, sample.attachments))
    origins = sample.origins(message, path)
    native = text_of(message.get("id"))
    if made and role is Role.USER:
        history.summary(contents, origins, len(history.compactions) - 1, id=native)
    elif role is not Role.ASSISTANT:
        first = "source" not in message and not history.requests
        typed = message["role"] == "user" and (message.get("source") == "input" or first)
        history.add(role, contents, origins, id=native, typed=typed)
    elif event is None and message.get("source", "generate") == "generate":
        history.reply(contents, origins, id=native, model=text_of(message.get("model")))
    elif event is None:
        history.add(role, contents, origins, id=native)
    else:
        stamp = seconds(event.get("completed") or event.get("timestamp"))
        index = history.add(role, contents, origins, id=native, timestamp=stamp)
        history.request(index, event_usage(event), model=text_of(event.get("model")))


def _off_branch(history: Assembly, event: Record) -> None:
    time, model = seconds(event.get("completed") or event.get("timestamp")), text_of(event.get("model"))
    history.request(None, event_usage(event), model=model, timestamp=time, on_branch=False)


class _Format(Format):
    label = "Inspect"
    source = "inspect_ai logs of versions 2 and 3 (.eval or .json)"
    coverage = Coverage(
        "2 and 3", usage=YES, images=YES, compactions=YES,
        error="model event's error", compaction="event compaction", who="always auto",
        end="sample's error and limit", model="model event's model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        if head.members:
            n_samples = sum(_is_sample(name) for name in head.members)
            header = next((name for name in HEADERS if name in head.members), "")
            if header and n_samples:
                return Sniff(95, f"a zip archive with {header} and {n_samples} samples")
            return Sniff(0, f"a zip archive, but without {'samples' if header else HEADERS[0]}")
        document = as_dict(head.document)
        if not isinstance(document.get("eval"), dict):
            return None
        samples = [sample for sample in as_list(document.get("samples")) if isinstance(sample, dict)]
        if any("messages" in sample or "events" in sample for sample in samples):
            return Sniff(95, f"an object with eval, and {len(samples)} samples with messages")
        return Sniff(0, "it has an eval, but no samples with messages (a log written without samples?)")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        transcripts: list[Transcript] = []
        header = _header(source)
        evaluation = as_dict(header.get("eval"))
        client = text_of(as_dict(evaluation.get("packages")).get("inspect_ai"))
        facts = {"model": text_of(evaluation.get("model")), "client": client}
        for value, origin in _samples(source):
            sample = Sample(source, value, origin)
            native, epoch = value.get("id"), value.get("epoch")
            if not isinstance(native, (str, int)) or isinstance(native, bool):
                native, epoch = origin.path[-1], None
            name = f"{native}_epoch_{epoch}" if isinstance(epoch, int) else str(native)
            transcript = session_of(sample, name, measure, facts)
            if transcript.messages:
                transcripts.append(transcript)
            else:
                source.skip(f"sample {transcript.id} holds no messages", origin)
        return Parsed(with_unique_ids(transcripts))

    def contents(self, values: Sequence[Any], message: Message) -> tuple[Content, ...]:
        """The blocks of a message; the values after the first are its attachments."""
        pairs = zip(message.origins[1:], values[1:], strict=False)
        attachments = {str(origin.path[-1]): value for origin, value in pairs}
        return contents_of_message(resolved(values[0], attachments))


def _is_sample(name: str) -> bool:
    return name.startswith(SAMPLES) and name.endswith(".json")


def _header(source: Source) -> Record:
    if source.archive() is None:
        return as_dict(source.document())
    for name in HEADERS:
        with suppress(JsonProblem):
            return as_dict(source.member(name))
    return {}


def _samples(source: Source) -> Iterator[tuple[Record, Origin]]:
    archive = source.archive()
    if archive is None:
        samples = as_list(object_of(source, "an Inspect log").get("samples"))
        yield from objects_in(samples, Origin(1, 0, source.size, ("samples",)), source, "sample")
        return
    names = [name for name in archive.names if _is_sample(name)]
    for position, name in enumerate(names, 1):
        if source.on_progress:
            source.on_progress(source.size * position // len(names))
        try:
            value = source.member(name)
        except JsonProblem as problem:
            source.skipped.append(Skipped(1, problem.position, f"{name}: {problem.reason}"))
            continue
        if isinstance(value, dict):
            yield value, Origin(1, 0, source.size, (name,))
        else:
            source.skip(f"{name} is not an object")
