"""The transcript of a Codex rollout from what one pass over it collected (replay-semantics 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sessions.engine.reading.formats._codex_reading import CodexReading, raw_window
from sessions.engine.reading.formats._preview import stem_of
from sessions.engine.reading.formats._thread import session_of
from sessions.engine.reading.formats._values import Record, text_of
from sessions.engine.transcript.types import Content, Kind, Request, Transcript


def transcript_of(reading: CodexReading, name: str) -> Transcript:
    """One session; items that a roll-back took off stay out of the messages, their calls are counted."""
    meta, window = reading.meta, raw_window(reading.window)
    for call in reading.thread.calls:
        call.window = 0 if call.window == window else call.window
    instructions = _instructions(meta)
    found = session_of(
        reading.thread,
        id=text_of(meta.get("id")) or stem_of(name),
        format="codex",
        parent_id=_parent(meta),
        otherwise=reading.model,
        client=text_of(meta.get("cli_version")),
        project=text_of(meta.get("cwd")),
        window=window or None,
        system=reading.measure((Content(Kind.TEXT, text=instructions),)) if instructions else (),
    )
    return replace(
        found,
        started_at=min(reading.times, default=None),
        ended_at=max(reading.times, default=None),
        warnings=_warnings(reading, found.requests),
    )


def _instructions(meta: Record) -> str:
    base = meta.get("base_instructions")
    return text_of(base.get("text")) if isinstance(base, dict) else text_of(base)


def _parent(meta: Record) -> str | None:
    """The session that started this one as a sub-agent."""
    source = meta.get("source")
    agent = source.get("subagent") if isinstance(source, dict) else None
    for part in agent.values() if isinstance(agent, dict) else ():
        if isinstance(part, dict) and text_of(part.get("parent_thread_id")):
            return text_of(part["parent_thread_id"])
    return text_of(meta.get("parent_thread_id")) or None


def _warnings(reading: CodexReading, requests: Sequence[Request]) -> tuple[str, ...]:
    n_failed = sum(call.failed for call in reading.thread.calls)
    n_left = sum(request.message is None and not request.on_branch for request in requests)
    notes = []
    if n_failed:
        notes.append(f"Replies aborted or failed without usage: {n_failed}; not counted as requests")
    if n_left:
        notes.append(f"Requests whose reply is not among the messages (rolled back or not recorded): {n_left}, counted")
    return tuple(notes)
