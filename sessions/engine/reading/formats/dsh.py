"""Sessions of DeepSeek Harness (``dsh``): an append-only log of numbered events, one a line (formats 65).

Messages are the events that change what the model sees: one at its end, or one in place of a part of it, which is a
compaction where a summary stands there, and a clearing where a result was cut.
"""

from __future__ import annotations

from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Head, Measured, Records, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly
from sessions.engine.reading.formats._blocks import title_of
from sessions.engine.reading.formats._dsh_events import DshReading, event_contents, is_dsh_event, is_dsh_header
from sessions.engine.reading.formats._records import first_objects, objects, stem_of
from sessions.engine.reading.formats._values import Record, count_of, text_of
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.session_links import SessionLinks
from sessions.engine.transcript.types import Parsed, Skipped


class _Dsh:
    name = "dsh"
    label = "DeepSeek Harness"
    source = "Sessions of DeepSeek Harness, ~/.dsh/sessions/…/session.jsonl, also packed with zstd"
    coverage = Coverage(
        "0 to 4", usage=YES, images=PARTLY, compactions=YES, refusals=YES, subagents=PARTLY, live=YES,
        records=Records(
            error="failure in llm, step and turn events", compaction="compaction/summary",
            failed="compaction/end error", who="sourceCommandId", begun="compaction/start and no end",
            clearing="tool results emptied by surfaceOp", window="request/context contextWindow",
            model="provenance.model",
        ),
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        events = [value for value in lines if is_dsh_event(value)]
        opened = any(is_dsh_header(value) for value in lines[:1])
        if events and (opened or 2 * len(events) > len(lines)):
            return Sniff(94, f"{len(events)} of the first {len(lines)} records are events, as {events[0]['type']}")
        return Sniff(0, "a line opens a session of DeepSeek Harness, but no event follows") if opened else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        skipped: list[Skipped] = []
        reading, header = DshReading(Assembly(measure)), dict[str, Any]()
        for line, value in objects(source, skipped):
            if is_dsh_header(value):
                header = header or value
                reading.seeded = count_of(value.get("seedLength"))
            elif is_dsh_event(value):
                reading.take(value, line.at())
            else:
                skipped.append(line.skipped(f"no event: {text_of(value.get('type'))!r}"))
        made = reading.made
        for _ in filter(None, reading.begun.values()):
            made.event(EventKind.COMPACTION_STARTED)
        made.note(reading.n_replaced, f"Messages that a plugin replaced: {reading.n_replaced}; both are shown")
        transcript = made.transcript(
            text_of(header.get("id")) or stem_of(source.name),
            self.name,
            title=title_of(reading.title),
            system=measure(reading.system),
            window=reading.window,
            project=text_of(header.get("cwd")),
        )
        kin = (SessionLinks(transcript.id, home=_home(header)),) if _home(header) else ()
        return Parsed(self.name, (transcript,) if made.messages else (), tuple(skipped), kin=kin)

    contents = each_value(event_contents)


def _home(header: Record) -> str:
    """The session that made this one as a subagent's; a fork is a session of its own."""
    return text_of(header.get("parentSession")) if header.get("origin") == "subagent" else ""


FORMAT = _Dsh()
