"""Sessions of Google's Agent Development Kit, and its sets of conversations to test agents with (formats 71).

An event of the model is one call.  A compaction is an event that names a range of time: what lies in it left, what
lies behind it stayed.  Agents that ran side by side are told apart by their branch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._gemini_parts import content_of, field_of, gemini_usage, key_of, parts_of
from sessions.engine.reading.formats._records import first_records, inside, objects_in, records, stem_of
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, seconds, text_of
from sessions.engine.transcript.recorded_events import CUT_OFF, EventKind
from sessions.engine.transcript.types import Content, Origin, Parsed, Role, Transcript

Events = Sequence[tuple[Record, Origin]]
SESSION, CASES, EVENT = "session", "cases", "event"
LIMIT = "MAX_TOKENS"
SPOKEN = ("content", "inputTranscription", "outputTranscription")
"""Where an event says something: its content, or what was heard of it."""


def _contents(value: Any) -> tuple[Content, ...]:
    """The blocks of a content, of what was heard, or of a list of bare calls or results."""
    if isinstance(value, list):
        return parts_of([{"functionResponse" if "response" in as_dict(one) else "functionCall": one} for one in value])
    return content_of(value) if isinstance(value, dict) and (value.get("parts") or value.get("text")) else ()


class _Format(Format):
    label = "Google ADK"
    source = "Sessions of Google ADK, as adk run --save_session and its API write them; eval sets (JSON or JSONL)"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES, refusals=YES, subagents=PARTLY,
        error="errorCode, errorMessage", compaction="actions.compaction", who="always auto", model="modelVersion",
        interruption="interrupted", end="finishReason MAX_TOKENS",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        """Sessions by their app and user, cases by their conversations, events by author and invocation."""
        found = [record for record in first_records(head) if _kind_of(record)]
        if not found:
            return None
        if all(_kind_of(record) == SESSION and not record["events"] for record in found):
            return Sniff(0, "a session of Google ADK, but without events")
        return Sniff(94, f"{len(found)} of Google ADK's; the first is {_kind_of(found[0])}")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """A session each; events without one are of one session; each case of an eval set is its own."""
        stem = stem_of(source.name)
        loose: list[tuple[Record, Origin]] = []
        found: list[Transcript] = []
        for record, origin in records(source, lambda one: bool(_kind_of(one)), "nothing of Google ADK's"):
            kind = _kind_of(record)
            if kind == EVENT:
                loose.append((record, origin))
            elif kind == SESSION:
                events = list(objects_in(record["events"], inside(origin, "events"), source, "event"))
                found += _sessions(text_of(record.get("id")) or stem, events, measure)
            else:
                key = key_of(record, "evalCases")
                cases = objects_in(as_list(record.get(key)), inside(origin, key), source, "case")
                found += [_tested(*case, stem, measure) for case in cases]
        return read_as([*found, *_sessions(stem, loose, measure)], "no event with content")

    contents = each_value(_contents)


def _kind_of(record: Record) -> str:
    """What a record is of Google ADK's; "" for nothing."""
    if text_of(field_of(record, "appName")) and text_of(field_of(record, "userId")):
        return SESSION if isinstance(record.get("events"), list) else ""
    if any("conversation" in as_dict(case) for case in as_list(field_of(record, "evalCases"))):
        return CASES
    invoked = text_of(field_of(record, "invocationId")) and text_of(record.get("author"))
    return EVENT if invoked and ("content" in record or "actions" in record) else ""


def _sessions(name: str, events: Events, measure: Measured) -> Iterator[Transcript]:
    """The session, and one of its own for each branch where there are several."""
    branches = {branch for event, _ in events if (branch := text_of(event.get("branch")))}
    readings: dict[str, _Reading] = {}
    standing = _standing(events)
    for position, (event, origin) in enumerate(events):
        branch = text_of(event.get("branch")) if len(branches) > 1 else ""
        readings.setdefault(branch, _Reading(Assembly(measure))).take(event, origin, stands=position in standing)
    for branch, reading in readings.items():
        history, n = reading.history, reading.n_lost
        history.note(n, f"Requests on a branch that was left: {n}, counted, not among the messages")
        parent = name if branch and "" in readings else ""
        yield history.transcript(f"{name}.{branch}" if branch else name, parent_id=parent)


def _standing(events: Events) -> frozenset[int]:
    """Positions of the events that no later one took back to before its invocation."""
    standing: list[int] = []
    begun: dict[str, int] = {}
    for position, (event, _) in enumerate(events):
        begun.setdefault(text_of(field_of(event, "invocationId")), position)
        back = text_of(field_of(as_dict(event.get("actions")), "rewindBeforeInvocationId"))
        first = begun.get(back, position) if back else position
        while standing and standing[-1] >= first:
            standing.pop()
        standing += [] if back else [position]
    return frozenset(standing)


class _Reading:
    """A session in the making; ``ranges`` are the times that the summaries in the context stand for."""

    def __init__(self, history: Assembly) -> None:
        self.history = history
        self.ranges: dict[int, tuple[float, float]] = {}
        self.n_lost = 0

    def take(self, event: Record, origin: Origin, *, stands: bool) -> None:
        """One event; a piece of a stream comes again whole, and what was taken back was sent, but is not there."""
        actions = as_dict(event.get("actions"))
        key = next((key for name in SPOKEN if isinstance(event.get(key := key_of(event, name)), dict)), "")
        usage = gemini_usage(field_of(event, "usageMetadata"))
        facts: dict[str, Any] = {"timestamp": seconds(event.get("timestamp"))}
        asked: dict[str, Any] = {"usage": usage, "model": text_of(field_of(event, "modelVersion"))}
        contents = _contents(event[key]) if key else ()
        if event.get("partial") is True:
            return
        if isinstance(actions.get("compaction"), dict) and stands:
            self._compaction(actions["compaction"], inside(origin, "actions", "compaction"), facts)
        elif _is_reply(event, key) and (contents or usage):
            self.history.end_run()
            if contents and stands:
                self.history.reply(contents, [inside(origin, key)], id=text_of(event.get("id")), **facts, **asked)
            else:
                self.n_lost += not stands
                self.history.request(None, on_branch=stands, **facts, **asked)
        elif contents and stands:
            self.history.add(Role.USER, contents, [inside(origin, key)], id=text_of(event.get("id")), **facts)
        # How the event's call ended, where it did not end well.
        code, reason = (text_of(field_of(event, name)) for name in ("errorCode", "finishReason"))
        if LIMIT in (code, reason):
            self.history.event(EventKind.SESSION_END, f"{CUT_OFF}: {LIMIT}")
        elif code or field_of(event, "errorMessage"):
            self.history.fail({"code": code, "message": field_of(event, "errorMessage")}, model=asked["model"])
        if event.get("interrupted") is True:
            self.history.event(EventKind.INTERRUPTION)

    def _compaction(self, compaction: Record, origin: Origin, facts: dict[str, Any]) -> None:
        """What lies in its range leaves, a summary with it where all that it stands for does."""
        history, key = self.history, key_of(compaction, "compactedContent")
        start, end = (seconds(field_of(compaction, name)) or 0.0 for name in ("startTimestamp", "endTimestamp"))
        covered = [n for n, (first, last) in self.ranges.items() if start <= first and last <= end]
        others = [n for n in history.summaries if n not in covered]
        gone = [m.index for m in history.messages if not m.summary and start <= (m.timestamp or 0.0) <= end]
        number = history.forget([*gone, *covered], trigger="auto", outside=not gone)
        if contents := _contents(compaction.get(key)):
            history.summaries[:] = covered
            made = history.summary(contents, [inside(origin, key)], number, **facts)
            history.summaries += others
            self.ranges = {n: time for n, time in self.ranges.items() if n not in covered} | {made: (start, end)}


def _is_reply(event: Record, key: str) -> bool:
    """Whether the model said it: by the content's role, where it has one."""
    role = text_of(as_dict(event.get(key)).get("role"))
    return role == "model" if role else event.get("author") != "user" and not key.startswith("input")


def _tested(case: Record, origin: Origin, stem: str, measure: Measured) -> Transcript:
    """The conversation of a case: what is typed, which calls are due, and what is answered."""
    history = Assembly(measure)
    for position, value in enumerate(as_list(case.get("conversation"))):
        place = inside(origin, "conversation", position)
        facts: dict[str, Any] = {"timestamp": seconds(field_of(as_dict(value), "creationTimestamp"))}
        for is_reply, said, path in _turn(as_dict(value)):
            if contents := _contents(said):
                history.end_run()
                role = Role.ASSISTANT if is_reply else Role.USER
                history.say(role, contents, [inside(place, *path)], **facts)
    return history.transcript(text_of(field_of(case, "evalId")) or stem)


def _turn(turn: Record) -> Iterator[tuple[bool, Any, Path]]:
    """What is said in one turn of a case: whether the model says it, the value, and the way to it."""
    for name, is_reply in (("userContent", False), ("intermediateData", True), ("finalResponse", True)):
        key = key_of(turn, name)
        if name != "intermediateData":
            yield is_reply, turn.get(key), (key,)
            continue
        held = as_dict(turn.get(key))
        events = key_of(held, "invocationEvents")
        for position, value in enumerate(as_list(held.get(events))):
            event = as_dict(value)
            yield _is_reply(event, "content"), event.get("content"), (key, events, position, "content")
        for inner, is_call in ((key_of(held, "toolUses"), True), (key_of(held, "toolResponses"), False)):
            yield is_call, held.get(inner), (key, inner)
