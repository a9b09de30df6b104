"""Messages of the Vercel AI SDK: ModelMessages and UIMessages, as applications store them (formats 44).

A ModelMessage is what was sent.  A UIMessage holds calls with their results; ``step-start`` divides the requests of one
answer.  Usage that an application keeps in the metadata is its own and mostly a sum: it is not used.  A result of the
SDK's own call has the usage of each step.
"""

from __future__ import annotations

from typing import Any

from sessions.engine.base.words import counted
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_place
from sessions.engine.reading.formats._ai_sdk_parts import has_result, is_call, is_display, parts_of
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._counts import first_count, sdk_usage, usage_of
from sessions.engine.reading.formats._records import first_records, inside, records, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, seconds, text_of
from sessions.engine.transcript.recorded_events import CUT_OFF, CUT_REASONS, EventKind
from sessions.engine.transcript.types import Content, Origin, Parsed, Role, Transcript

ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.USER}
STEPS = "steps"
ANSWERS = ("tool-result", "tool-error")
USAGE_KEYS = frozenset({"inputTokens", "promptTokens"})
CALLS = ("tool-call", "tool-result")
UI_PARTS = frozenset({"step-start", "dynamic-tool", "tool-invocation", "source-url", "source-document", "file"})


class _Format(Format):
    label = "Vercel AI SDK"
    source = "ModelMessages, UIMessages and results of generateText of the Vercel AI SDK, 4 to 6 (JSON or JSONL)"
    coverage = Coverage("4 to 6", usage=PARTLY, images=YES, end="finishReason length", model="response.modelId")

    def sniff(self, head: Head) -> Sniff | None:
        listed = {STEPS: head.document} if isinstance(head.document, list) else {}
        if n_steps := sum(len(_result_steps(record)) for record in (listed, *first_records(head))):
            return Sniff(90, f"{counted(n_steps, 'step')} with finishReason and usage, as generateText returns them")
        found = [m if isinstance(m := record.get("messages"), list) else [record] for record in first_records(head)]
        entries = [entry for held in found for entry in held if _is_entry(entry)]
        said = [[as_dict(part) for part in as_list(entry.get("content"))] for entry in entries]
        model = sum(any(p.get("type") in CALLS and isinstance(p.get("toolCallId"), str) for p in one) for one in said)
        shown = sum(_is_ui(entry) for entry in entries)
        if shown and 2 * shown > len(entries):
            return Sniff(90, f"{shown} of {len(entries)} messages are UIMessages: a role and parts with a type")
        if model:
            return Sniff(88, f"{model} of {len(entries)} messages have parts of type tool-call or tool-result")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """A session for every record with messages; messages that stand alone are one session."""
        stem, flat = stem_of(source.name), Reading(measure)
        found: list[Transcript] = []
        listed = source.head().document
        if isinstance(listed, list) and _result_steps({STEPS: listed}):
            # The steps alone, as a program keeps them of a result.
            _read_steps(flat.history, {STEPS: listed}, Origin(1, 0, source.size), ())
            return read_as([flat.finish(stem, "")])
        for record, origin in records(source):
            if isinstance(record.get("messages"), list):
                reading = Reading(measure)
                for position, entry in enumerate(record["messages"]):
                    reading.take(entry, inside(origin, "messages", position), source)
                title = text_of(record.get("title"))
                found.append(reading.finish(text_of(record.get("id")) or stem, title))
            elif _result_steps(record):
                reading = Reading(measure)
                _read_steps(reading.history, record, origin, (STEPS,))
                found.append(reading.finish(stem, ""))
            else:
                flat.take(record, origin, source)
        found.append(flat.finish(stem, ""))
        return read_as(found, "no messages of the AI SDK")

    contents = each_place(lambda value, origin, message: _blocks(value, origin, message.role))


def _blocks(value: Any, origin: Origin, role: Role) -> tuple[Content, ...]:
    """The blocks of a step, of a UIMessage's part, or of a ModelMessage's content."""
    if _is_step(as_dict(value)):
        return _step_contents(value, role)
    return parts_of([value] if "parts" in origin.path else value, role)


class Reading:
    """One session in the making."""

    def __init__(self, measure: Measured) -> None:
        self.history = Assembly(measure)
        self.n_shown = 0
        self.n_usage = 0

    def take(self, entry: Any, origin: Origin, source: Source) -> None:
        """A message at ``origin``; ``source`` skips what is none."""
        if not _is_entry(entry):
            source.skip("no message with a role and content or parts", origin)
            return
        self.n_usage += any("usage" in key.lower() for key in as_dict(entry.get("metadata")))
        if isinstance(entry.get("parts"), list):
            self.n_shown += sum(is_display(part) and part.get("type") != "step-start" for part in entry["parts"])
            for number, places in enumerate(_steps(entry["parts"])):
                self._step(entry, places, origin, number)
            return
        role, place = ROLES[entry["role"]], inside(origin, "content")
        contents, native, time = parts_of(entry["content"], role), text_of(entry.get("id")), _time(entry)
        if contents or role is Role.ASSISTANT:
            self.history.say(role, contents, [place], id=native, timestamp=time)

    def _step(self, entry: Record, places: list[int], origin: Origin, number: int) -> None:
        """One request of a UIMessage and the results of its calls; all of a user's message."""
        role, parts, time = ROLES[entry["role"]], entry["parts"], _time(entry)
        native = text_of(entry.get("id"))
        native = f"{native}.{number}" if number and native else native
        contents = tuple(content for place in places for content in parts_of([parts[place]], role))
        where = [inside(origin, "parts", place) for place in places]
        index = self.history.add(role, contents, where, id=native, timestamp=time)
        if role is not Role.ASSISTANT:
            return
        self.history.request(index)
        answered = [place for place in places if has_result(parts[place])]
        if results := tuple(content for place in answered for content in parts_of([parts[place]], Role.USER)):
            where = [inside(origin, "parts", place) for place in answered]
            native = f"{native}.results" if native else ""
            self.history.add(Role.USER, results, where, id=native, timestamp=time)

    def finish(self, native_id: str, title: str) -> Transcript:
        """The session, with what of it was not used."""
        self.history.note(self.n_shown, f"Parts that are shown and never sent: {self.n_shown}")
        self.history.note(self.n_usage, f"Messages with usage in their metadata: {self.n_usage}; the sums are not used")
        return self.history.transcript(native_id, title=title)


def _time(entry: Record) -> float | None:
    return seconds(entry.get("createdAt") or as_dict(entry.get("metadata")).get("createdAt"))


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or text_of(entry.get("role")) not in ROLES:
        return False
    return isinstance(entry.get("parts"), list) or isinstance(entry.get("content"), (str, list))


def _is_ui(entry: Record) -> bool:
    """A UIMessage: its parts are of the SDK's types, and those of text have it under ``text``."""
    parts = [part for part in as_list(entry.get("parts")) if isinstance(part, dict)]
    return bool(parts) and "info" not in entry and all(map(_is_ui_part, parts))


def _is_ui_part(part: Record) -> bool:
    kind = text_of(part.get("type"))
    if kind in ("text", "reasoning"):
        return isinstance(part.get("text", part.get("reasoning")), str)
    return kind in UI_PARTS or kind.startswith("data-") or is_call(part)


def _steps(parts: list[Any]) -> list[list[int]]:
    """Positions of the parts of every step, those that are only shown left out."""
    steps: list[list[int]] = [[]]
    for position, part in enumerate(parts):
        if as_dict(part).get("type") == "step-start" and steps[-1]:
            steps.append([])
        elif part not in (None, "") and not is_display(part):
            steps[-1].append(position)
    return [step for step in steps if step]


def _result_steps(record: Record) -> list[Record]:
    """The steps of a result: each has usage, why it ended, and what was said; nothing where it is none."""
    found: list[Record] = [as_dict(step) for step in as_list(record.get(STEPS))]
    return found if all(map(_is_step, found)) else []


def _is_step(step: Record) -> bool:
    told = isinstance(step.get("finishReason"), str) and ("content" in step or "text" in step)
    return told and bool(USAGE_KEYS & as_dict(step.get("usage")).keys())


def _step_contents(step: Record, role: Role) -> tuple[Content, ...]:
    """What the model said in a step, or what its tools answered; version 4 has no list of it."""
    parts = [as_dict(part) for part in as_list(step.get("content"))]
    if not parts:
        thought = text_of(step.get("reasoningText")) or text_of(step.get("reasoning"))
        said = [{"type": "reasoning", "text": thought}, {"type": "text", "text": text_of(step.get("text"))}]
        calls = [{**as_dict(one), "type": "tool-call"} for one in as_list(step.get("toolCalls"))]
        answers = [{**as_dict(one), "type": "tool-result"} for one in as_list(step.get("toolResults"))]
        parts = [*(part for part in said if part["text"]), *calls, *answers]
    wanted = [part for part in parts if (part.get("type") in ANSWERS) == (role is Role.USER) and not is_display(part)]
    return parts_of([_plain(part) for part in wanted], role)


def _plain(part: Record) -> Record:
    """A part of a step as a message has it: a tool's output is its bare value, and an error a part of its own."""
    if part.get("type") == "tool-error":
        error = part.get("error")
        return {**part, "type": "tool-result", "output": {"type": "error-json", "value": error}}
    if part.get("type") == "tool-result" and "output" in part:
        return {key: value for key, value in part.items() if key != "output"} | {"result": part["output"]}
    return part


def _read_steps(history: Assembly, record: Record, origin: Origin, path: tuple[str, ...]) -> None:
    """Every step a request, and the results of its calls behind it; ``path`` leads to the steps."""
    steps = _result_steps(record)
    for n, step in enumerate(steps):
        place, told = inside(origin, *path, n), as_dict(step.get("response"))
        time, model = seconds(told.get("timestamp")), text_of(told.get("modelId"))
        # The provider's own counts where they are passed on, else the SDK's, whose input includes the cache from 6 on.
        own = as_dict(as_dict(step.get("providerMetadata")).get("anthropic"))
        usage = usage_of(own.get("usage")) or sdk_usage(step.get("usage"))
        facts: dict[str, Any] = {"usage": usage, "model": model, "response_id": text_of(told.get("id"))}
        history.answer(_step_contents(step, Role.ASSISTANT), [place], timestamp=time, **facts)
        if results := _step_contents(step, Role.USER):
            history.add(Role.USER, results, [place], timestamp=time)
    reason = text_of(steps[-1].get("finishReason"))
    if reason in CUT_REASONS:
        history.event(EventKind.SESSION_END, f'{CUT_OFF}: it ends with "{reason}"')
    total = first_count(as_dict(record.get("totalUsage")), "inputTokens", "promptTokens")
    history.note(total, f"totalUsage has {total:,} input tokens, the sum of {counted(len(steps), 'step')} and no size")
