"""A policy that is somebody's own program: one JSON document in, the new message list out, checked before it counts.

The engine starts no process: ``ask`` is given.  The document (``ctxweb.policy/1``) has the messages with their sizes
and words, the last usage, the window and the parameters; the answer is ``{"messages": [...]}`` whose entries are ids
of messages to keep in that order, ``{"id", "text"}`` for one to keep with other words, or ``{"text", "role"?,
"summary"?}`` for one to insert; ``{"messages": null}`` keeps the list.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from sessions.engine.base.words import words
from sessions.engine.policies._pairs import left_alone
from sessions.engine.policies.edits import marker, with_text
from sessions.engine.policies.parametric import TRIGGERS, remade
from sessions.engine.policies.parametric import ask as ask_conditions
from sessions.engine.policies.policy import Draft, EditFailed, Gate, Item, Layer, Policy, View
from sessions.engine.transcript.types import Block, Kind, Role

Ask = Callable[[dict[str, Any]], Any]

SCHEMA = "ctxweb.policy/1"
GATE = (*TRIGGERS, *words("capacity combine operator moment counted min_messages remaining_calls breaker usage"))


def command_policy(ask: Ask, label: str, own: Mapping[str, object]) -> Policy:
    """The policy whose edit is ``ask``; ``own`` are the program's own parameters, passed on as they are.

    It is asked where the parametric policy's triggers fire: by default at 80% of the window, at every request where
    none is set.
    """

    def edit(params: Any, view: View) -> list[Item] | None:
        return edited(view, ask(document(params, view, own)))

    return Policy(
        "command", label, "your own program", "Asks a program for the new list.",
        remade(GATE), layers=(Layer("command", label, gate, edit, drawn=True),),
        summary_calls=False, threshold_param="share",
    )  # fmt: skip


def gate(params: Any, view: View) -> Gate:
    """The triggers; none set: every request."""
    if all(getattr(params, name) is None for name in TRIGGERS):
        return Gate(True, "asked at every request", view.context, 0, ">=", "tokens")
    return ask_conditions(params, view)


def document(params: Any, view: View, own: Mapping[str, object]) -> dict[str, Any]:
    """What the program reads; tokens are display tokens, ``size`` is in the trigger's unit."""
    usage = view.usage
    return {
        "schema": SCHEMA,
        "request": view.request,
        "window": view.window,
        "overhead_tokens": view.overhead,
        "context_tokens": view.context,
        "usage": None if usage is None else {"input": usage.input, "output": usage.output, "tail": usage.tail},
        "params": {**dataclasses.asdict(params), **own},
        "compactions": view.state.n_events,
        "messages": [_message(view, item) for item in view.items],
    }


def _message(view: View, item: Item) -> dict[str, Any]:
    message = item.message
    return {
        "id": item.id,
        "role": message.role.value,
        "kinds": list(dict.fromkeys(block.kind.value for block in message.blocks)),
        "tokens": item.tokens,
        "size": item.size,
        "wire_bytes": view.tools.size_by(item, "wire_bytes"),
        "calls": sorted(message.call_ids()),
        "results": sorted(message.result_ids()),
        "tools": [b.name for b in message.blocks if b.kind is Kind.TOOL_USE],
        "typed": message.typed,
        "inserted": item.inserted,
        "edited": item.edited,
        "text": view.tools.text(item),
    }


def edited(view: View, answer: Any) -> list[Item] | None:
    """The list that an answer means, None where it keeps the list; raises EditFailed, naming the entry."""
    if not isinstance(answer, dict) or "messages" not in answer:
        raise EditFailed('the program\'s answer has no "messages"')
    entries = answer["messages"]
    if entries is None:
        return None
    if not isinstance(entries, list):
        raise EditFailed('"messages" is a list, or null to keep the list')
    at = {item.id: item for item in view.items}
    made: list[Item] = []
    seen: set[str] = set()
    for number, entry in enumerate(entries):
        item = _entry(view, at, entry, number)
        if item.id in seen:
            raise EditFailed(f"entry {number}: message {item.id!r} is kept twice")
        seen.add(item.id)
        made.append(item)
    _check_pairs(view, made)
    return made


def _entry(view: View, at: Mapping[str, Item], entry: Any, number: int) -> Item:
    facts = entry if isinstance(entry, dict) else {}
    known, words = entry if isinstance(entry, str) else facts.get("id"), facts.get("text")
    if known is not None:
        if known not in at:
            raise EditFailed(f"entry {number}: there is no message {str(known)[:60]!r} in the list")
        return at[known] if words is None else _reworded(view, at[known], str(words))
    if not isinstance(words, str):
        raise EditFailed(f'entry {number}: an id, {{"id", "text"}}, or {{"text"}} of a new message')
    role = facts.get("role", "user")
    if role not in {r.value for r in Role}:
        raise EditFailed(f"entry {number}: a role is user, assistant or system, not {str(role)[:40]!r}")
    draft = Draft(words[:160], view.tools.weigh(words), words, role=role, summary=bool(facts.get("summary", True)))
    return view.tools.draft(draft)


def _reworded(view: View, item: Item, words: str) -> Item:
    """The message with other words: those of its results, else of its text; calls stay, media go."""
    if view.tools.text(item) == words:
        return item
    wanted = Kind.TOOL_RESULT if item.message.result_ids() else Kind.TEXT
    blocks: list[Block] = []
    for block in item.message.blocks:
        if block.kind is Kind.TOOL_USE:
            blocks.append(block)
        elif block.kind is wanted and (wanted is Kind.TOOL_RESULT or not any(b.kind is wanted for b in blocks)):
            blocks.append(with_text(block, words))
    if not any(block.kind is wanted for block in blocks):
        blocks.insert(0, marker(words))
    return view.tools.rewrite(item, blocks, preview=words[:160])


def _check_pairs(view: View, made: list[Item]) -> None:
    """Tool pairs that were whole stay whole (policies 2.5, invariant 1)."""
    calls, results = left_alone(view.items, made)
    for call in sorted(results):
        raise EditFailed(f"the result of call {call!r} is kept, its call is not")
    for call in sorted(calls):
        raise EditFailed(f"call {call!r} is kept, its result is not")
