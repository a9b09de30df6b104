"""Kimi Code sessions: the wire file of one agent, one record a line (formats 40).

Usage is that of ``usage.record``, each call once; a compaction's own call is counted off the branch.  The recorder's
sizes of a compaction count messages alone, so its figures here are those of the calls around it.
"""

from __future__ import annotations

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Head, Measured, Records, Sniff, Source, each_value
from sessions.engine.reading.formats._jsonl import first_objects, objects
from sessions.engine.reading.formats._kimi_blocks import kimi_contents
from sessions.engine.reading.formats._kimi_reading import KimiReading
from sessions.engine.reading.formats._preview import stem_of
from sessions.engine.reading.formats._thread import session_of
from sessions.engine.reading.formats._values import as_dict, as_list, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed

FIRST = 20
"""The metadata line may follow a runner's own lines, at most so many."""


class KimiCode:
    """The format's entry in the registry."""

    name = "kimi_code"
    label = "Kimi Code"
    source = "Wire files of Kimi Code, protocol 1.4, ~/.kimi-code/sessions/…/agents/<agent>/wire.jsonl (JSONL)"
    coverage = Coverage(
        "protocol 1.4", usage=YES, images=YES, compactions=YES, refusals=YES, subagents=PARTLY, live=YES,
        records=Records(
            error="error in a record", compaction="context.apply_compaction",
            who="full_compaction.begin source", clearing="micro_compaction.apply", model="llm.request model",
        ),
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        """A metadata line with a protocol version, and records of a context or of its turns."""
        lines = first_objects(head)
        opened = any(value.get("type") == "metadata" and "protocol_version" in value for value in lines[:FIRST])
        if not opened:
            return None
        records = [value for value in lines if text_of(value.get("type")).startswith(("context.", "turn.", "llm."))]
        if records:
            return Sniff(95, f"metadata with a protocol_version, and {len(records)} records of a context or its turns")
        return Sniff(0, "metadata with a protocol_version, but no record of a context")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """One session: the agent's."""
        reading = KimiReading(measure)
        for line, record in objects(source, reading.skipped):
            reading.take(record, Origin(line.number, line.offset, line.length))
        reading.finish()
        transcript = session_of(
            reading.thread,
            id=_session_id(source.name),
            format=self.name,
            otherwise=reading.model,
            system=measure(_system(reading)),
            warnings=tuple(reading.notes),
        )
        found = (transcript,) if transcript.messages or transcript.requests else ()
        return Parsed(self.name, found, tuple(reading.skipped))

    contents = each_value(kimi_contents)


def _session_id(name: str) -> str:
    """The session's folder, with the agent's where it is not the main one; the file's name elsewhere."""
    folders = name.replace("\\", "/").split("/")
    if len(folders) > 3 and folders[-3] == "agents":
        return folders[-4] if folders[-2] == "main" else f"{folders[-4]}.{folders[-2]}"
    return stem_of(name)


def _system(reading: KimiReading) -> tuple[Content, ...]:
    prompt = (Content(Kind.TEXT, text=reading.system),) if reading.system else ()
    return prompt + tuple(
        Content(Kind.TEXT, text=dumps(tool), name=text_of(as_dict(tool).get("name"))) for tool in as_list(reading.tools)
    )


FORMAT = KimiCode()
