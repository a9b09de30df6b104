"""The history of a LangGraph thread: its checkpoints, each with all messages of the state (formats 20)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sessions.engine.reading.formats import _langchain_messages as dumped
from sessions.engine.reading.formats._assembly import Assembly
from sessions.engine.reading.formats._blocks import is_prompt
from sessions.engine.reading.formats._records import inside
from sessions.engine.reading.formats._values import Record, as_dict, as_list, first_text, seconds, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Origin

State = tuple[Record, Origin]
Add = Callable[[Any, Origin], int | None]


def place_of(state: Record, key: str, at: str = "checkpoint") -> str:
    """A name in a checkpoint of the API's, or in the config of a snapshot."""
    config = as_dict(as_dict(state.get("parent_config" if at != "checkpoint" else "config")).get("configurable"))
    return first_text(as_dict(state.get(at)), key) or first_text(config, key)


def histories(placed: Iterable[State]) -> tuple[list[list[State]], list[State]]:
    """The states of each thread and graph of which there are several, oldest first; and the other records."""
    groups: dict[tuple[str, str], list[State]] = {}
    others: list[State] = []
    for state, at in placed:
        thread, held = place_of(state, "thread_id"), as_dict(state.get("values")).get("messages")
        if thread and isinstance(held, list) and place_of(state, "checkpoint_id"):
            groups.setdefault((thread, place_of(state, "checkpoint_ns")), []).append((state, at))
        else:
            others.append((state, at))
    alone = [state for states in groups.values() if len(states) == 1 for state in states]
    return [list(_way(states))[::-1] for states in groups.values() if len(states) > 1], others + alone


def _way(states: list[State]) -> Iterator[State]:
    """From the newest state to its parents; where one is missing, on to the next older one."""
    ranked = sorted(states, key=lambda state: seconds(state[0].get("created_at")) or 0, reverse=True)
    known = {place_of(state, "checkpoint_id") for state, _ in states}
    wanted = ""
    for state, at in ranked:
        if wanted not in known or place_of(state, "checkpoint_id") == wanted:
            wanted = place_of(state, "checkpoint_id", "parent_checkpoint")
            yield state, at


def follow(history: Assembly, states: Iterable[State], add: Add) -> None:
    """The messages as they came, by id; those that a state holds no more left with what stands in their place."""
    live: dict[str, int] = {}
    for state, at in states:
        messages = enumerate(as_list(as_dict(state.get("values")).get("messages")))
        held = [(_key(value), value, inside(at, "values", "messages", n)) for n, value in messages]
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
            elif (index := add(value, place)) is not None:
                live[key] = index
        live = {key: index for key, index in live.items() if key in keys}
        for task in as_list(state.get("tasks")):
            history.fail(as_dict(task).get("error"))


def _key(value: Any) -> str:
    return text_of(dumped.fields_of(value).get("id")) or dumps(value)
