"""Codex CLI rollouts: ``rollout-<time>-<id>.jsonl``, one ``{timestamp, type, payload}`` a line (formats 7).

The context is the ``response_item`` lines alone, each a message; ``event_msg`` lines repeat them for the screen.  One
model call is the run of items from the model up to the next ``token_count``, which is counted once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source
from sessions.engine.reading.formats import _codex_reading as rollout
from sessions.engine.reading.formats._codex_cut import cut_contents, cut_named
from sessions.engine.reading.formats._items import ITEM_TYPES, item_contents
from sessions.engine.reading.formats._records import first_objects, noted, objects, stem_of, unread_notes
from sessions.engine.reading.formats._thread import session_of
from sessions.engine.reading.formats._values import as_dict, text_of
from sessions.engine.transcript.session_links import SessionLinks, Spawn
from sessions.engine.transcript.types import Content, Kind, Message, Parsed, Transcript


def transcript_of(reading: rollout.CodexReading, name: str) -> Transcript:
    """One session; items that a roll-back took off stay out of the messages, their calls are counted."""
    meta, window = reading.meta, rollout.raw_window(reading.window)
    for call in reading.thread.calls:
        call.window = 0 if call.window == window else call.window
    # The session that started this one as a sub-agent.
    agent = as_dict(as_dict(meta.get("source")).get("subagent"))
    parents = [text_of(as_dict(part).get("parent_thread_id")) for part in (*agent.values(), meta)]
    instructions = rollout.instructions_of(meta)
    found = session_of(
        reading.thread,
        id=text_of(meta.get("id")) or stem_of(name),
        parent_id=next(filter(None, parents), None),
        otherwise=reading.model,
        client=text_of(meta.get("cli_version")),
        project=text_of(meta.get("cwd")),
        window=window or None,
        system=reading.measure((Content(Kind.TEXT, text=instructions),)) if instructions else (),
    )
    n_failed = sum(call.failed for call in reading.thread.calls)
    n_left = sum(request.message is None and not request.on_branch for request in found.requests)
    left = f"Requests whose reply is not among the messages (rolled back or not recorded): {n_left}, counted"
    notes = noted(
        (n_failed, f"Replies aborted or failed without usage: {n_failed}; not counted as requests"), (n_left, left)
    )
    started, ended = min(reading.times, default=None), max(reading.times, default=None)
    return replace(found, started_at=started, ended_at=ended, warnings=notes)


class _Format(Format):
    label = "Codex"
    source = "Rollouts of Codex CLI 0.2 to 0.144, ~/.codex/sessions (JSONL)"
    coverage = Coverage(
        "0.2 to 0.144", usage=YES, images=YES, compactions=YES, refusals=YES, subagents=YES, live=YES,
        error="event error, codex_error_info", compaction="compacted", window="model_context_window",
        who="its place in the turn", retry="event stream_error", interruption="turn_aborted",
        model="turn_context.model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        typed = [value for value in lines if text_of(value.get("type")) in rollout.NOT_ITEMS]
        if fitting := [value for value in typed if isinstance(value.get("payload"), dict)]:
            kind = fitting[0]["type"]
            return Sniff(95, f"{len(fitting)} of the first {len(lines)} records have a type, as {kind}, and a payload")
        if typed:
            return Sniff(0, f"a line has `type: {typed[0]['type']}`, but no payload")
        opens = bool(lines) and {"id", "timestamp"} <= lines[0].keys() and "type" not in lines[0]
        if opens and any(text_of(value.get("type")) in ITEM_TYPES for value in lines[1:]):
            return Sniff(85, "line 1 opens a session with an id, and response items follow (before the envelope)")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        reading = rollout.CodexReading(source, measure)
        for line, value in objects(source):
            rollout.read_line(reading, line, value)
        transcript = transcript_of(reading, source.name)
        found = (transcript,) if transcript.messages or transcript.requests else ()
        repeats, cut, estimates = reading.n_repeats, reading.n_cut, reading.n_estimates
        alone = f"{reading.n_cut_bytes:,} bytes stand in the file alone"
        notes = noted(
            (repeats, f"Token counts that repeat the call before: {repeats:,}, counted once"),
            (cut, f"Tool outputs that Codex cuts before it sends them: {cut:,}; {alone}"),
            (estimates, f"Token counts without a call (the client's estimate): {estimates:,}, not counted"),
        )
        spawns = tuple(Spawn(call, agent) for call, agent in reading.spawned.items())
        return Parsed(
            found,
            warnings=(*unread_notes(reading.unknown), *notes),
            fates=reading.tally.fates(source.size, len(source.skipped)),
            kin=tuple(SessionLinks(t.id, home=t.parent_id or "", spawns=spawns) for t in found),
        )

    def contents(self, values: Sequence[Any], message: Message) -> tuple[Content, ...]:
        """The blocks of a message's item, as its history held them: tool outputs may be cut."""
        found = tuple(content for value in values for content in item_contents(value))
        cut = next((cut for block in message.blocks if (cut := cut_named(block.cut))), None)
        return cut_contents(found, cut) if cut else found
