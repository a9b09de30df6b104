"""SWE-agent trajectories: ``history`` is the session, ``trajectory`` its steps told a second time (formats 13).

A step may repeat the whole prompt (``messages``, ``query``): it is read only where there is no history.  Tokens are
totals of the run, never usage of a call.  Entries of other agents are sessions of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly, with_unique_ids
from sessions.engine.reading.formats._chat_blocks import ROLES, chat_contents, is_entry
from sessions.engine.reading.formats._provider_errors import end_of, error_of
from sessions.engine.reading.formats._records import noted, object_of, stem_of
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, count_of, parsed, text_of
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Origin, Parsed, Role, Transcript

Found = tuple[dict[str, Any], Path]
STEP_KEYS = frozenset({"action", "observation", "response", "thought", "state"})
LAST_WORDS = "Exit due to "
"""How the entry begins by which a run that met an error says which."""


class _Format(Format):
    label = "SWE-agent"
    source = "SWE-agent 0.6 to 1.1 trajectories and demonstrations (.traj)"
    coverage = Coverage(
        "0.6 to 1.1", usage=PARTLY, images=YES, refusals=YES, subagents=YES, live=PARTLY,
        error="info.exit_status",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        document = head.document
        if not isinstance(document, dict):
            return None
        history = [entry for entry in as_list(document.get("history")) if is_entry(entry)]
        if any("agent" in entry or "message_type" in entry for entry in history):
            return Sniff(90, "history holds entries with a role and an agent")
        if any(isinstance(s, dict) and len(s.keys() & STEP_KEYS) > 2 for s in as_list(document.get("trajectory"))):
            return Sniff(85, "trajectory holds steps with an action, an observation and a response")
        return Sniff(0, "it has a history with roles, but no entry names an agent") if history else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        document = object_of(source, "a trajectory")
        history = list(enumerate(as_list(document.get("history"))))
        for n in [n for n, entry in history if not is_entry(entry)]:
            source.skip(f"entry {n} of history has no role and content")
        found: list[Found] = [(entry, ("history", n)) for n, entry in history if is_entry(entry)]
        found = found or list(_steps(document))
        agents: dict[str, list[Found]] = {}
        for entry, path in found:
            agents.setdefault(text_of(entry.get("agent")), []).append((entry, path))
        stem = stem_of(source.name)
        transcripts: list[Transcript] = []
        for agent, entries in agents.items():
            facts = {"parent_id": stem, "title": agent} if transcripts else {"warnings": _totals(document)}
            native_id = f"{stem}.{agent}" if transcripts else stem
            placed = [(entry, Origin(1, 0, source.size, path)) for entry, path in entries]
            transcripts.append(_session(native_id, placed, document, Assembly(measure), facts))
        return Parsed(with_unique_ids(transcripts))

    contents = each_value(chat_contents)


def _steps(document: Record) -> Iterator[Found]:
    """Without a history: the first step's prompt, then every step's response and observation."""
    for position, step in enumerate(as_list(document.get("trajectory"))):
        if not isinstance(step, dict):
            continue
        key = next((key for key in ("messages", "query") if isinstance(step.get(key), list)), "")
        for place, entry in enumerate(step[key] if key and not position else []):
            if is_entry(entry):
                yield entry, ("trajectory", position, key, place)
        for key, role in (("response", "assistant"), ("observation", "user")):
            if isinstance(step.get(key), str) and step[key]:
                yield {"role": role, "content": step[key], "observed": True}, ("trajectory", position, key)


def _session(
    native_id: str,
    entries: Sequence[tuple[Record, Origin]],
    document: Record,
    history: Assembly,
    facts: dict[str, Any],
) -> Transcript:
    for entry, place in entries:
        role = ROLES[entry["role"]]
        contents = chat_contents(entry["content"] if entry.get("observed") else entry)
        if role is Role.ASSISTANT and not entry.get("is_demo"):
            history.reply(contents, [place])
            continue
        # The first user entry that is no demonstration is the task; later ones are observations.
        is_user = entry["role"] == "user" and not entry.get("is_demo") and not entry.get("observed")
        typed = is_user and not history.requests and not any(message.typed for message in history.messages)
        history.add(role, contents, [place], typed=typed)
    info = as_dict(document.get("info"))
    # The run's configuration, which newer files hold as JSON text.
    settings = document.get("replay_config")
    config = as_dict(parsed(settings) if isinstance(settings, str) else settings)
    model = as_dict(as_dict(config.get("agent")).get("model"))
    ended = end_of(info.get("exit_status"))
    said = text_of(entries[-1][0].get("content")) if entries else ""
    if ended and not ended.of_size and said.startswith(LAST_WORDS):
        # The status says that it ended, the last entry by what.
        ended = error_of(said, kind=EventKind.SESSION_END) or ended
    if ended and ended.of_size and not ended.limit:
        # The run's own limit, which the next prompt would have passed.
        ended = ended._replace(limit=count_of(model.get("max_input_tokens")) or None)
    history.refuse(ended)
    version = text_of(info.get("swe_agent_version"))
    return history.transcript(native_id, client=version, **{"model": text_of(model.get("name")), **facts})


def _totals(document: Record) -> tuple[str, ...]:
    stats = as_dict(as_dict(document.get("info")).get("model_stats"))
    sent, received = count_of(stats.get("tokens_sent")), count_of(stats.get("tokens_received"))
    totals = f"{sent:,} tokens sent and {received:,} received in {count_of(stats.get('api_calls')):,} calls"
    return noted((sent or received, f"The file reports totals of the run only ({totals}): no usage of single calls"))
