"""The founding systems' rules restated over plain lists, from docs/rules/seeds.md alone: nothing here uses the engine.

A list is one of dictionaries as the Messages API has them, each with ``at``: its position in the session, or "new".
What a rule takes from outside (a summary's text, the provider's usage, what a message weighs) is given to it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Messages = list[dict[str, Any]]


def content(message: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    held = message["content"]
    return [] if isinstance(held, str) else [block for block in held if block["type"] == kind]


def results(messages: Messages) -> list[dict[str, Any]]:
    return [block for message in messages for block in content(message, "tool_result")]


def json_length(messages: Messages) -> int:
    """``len(json.dumps(messages, default=str, ensure_ascii=False))``."""
    bare = [{key: value for key, value in message.items() if key != "at"} for message in messages]
    return len(json.dumps(bare, default=str, ensure_ascii=False))


def new(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text, "at": "new"}


def saved(result: dict[str, Any], n_chars: int) -> str:
    return result["content"][:n_chars] + f"<persisted-output> full text: .tool_results/{result['tool_use_id']}.txt"


# -- 1. The layered pipeline


def budget(messages: Messages, p: dict[str, Any]) -> None:
    """Results of the last user message: the largest first while over, those at most so large are left alone."""
    last = max((n for n, m in enumerate(messages) if m["role"] == "assistant"), default=-1)
    held = results(messages[last + 1 :])
    for result in sorted(held, key=lambda r: -len(r["content"])):
        total = sum(len(r["content"]) for r in held)
        if total > p["results_limit"] and len(result["content"]) > p["large_result"]:
            result["content"] = saved(result, p["preview"])


def snip(messages: Messages, p: dict[str, Any], tail: int) -> Messages:
    """The first few and the last few around one marker; a result stays with its call; a lone marker is left alone."""
    if len(messages) <= p["max_messages"]:
        return messages
    head, start = p["head"], len(messages) - tail
    while head < len(messages) and head and content(messages[head], "tool_result"):
        head += 1
    if content(messages[start], "tool_result"):
        start -= 1
    middle = messages[head:start]
    if not middle or (len(middle) == 1 and "conversation snipped]" in str(middle[0]["content"])):
        return messages
    words = f"[{len(middle)} messages from the middle of the conversation snipped]"
    return [*messages[:head], new(words), *messages[start:]]


def micro_v1(messages: Messages, p: dict[str, Any]) -> None:
    """All but the newest results, where longer than the least, become one line."""
    names = {call["id"]: call["name"] for message in messages for call in content(message, "tool_use")}
    held = results(messages)
    for result in held[: len(held) - p["keep_results"]] if len(held) > p["keep_results"] else []:
        if len(result["content"]) > p["min_chars"]:
            result["content"] = f"[Previous: used {names.get(result['tool_use_id'], 'tool')}]"


def micro_v2(messages: Messages, p: dict[str, Any]) -> None:
    """The same of the results before the last reply, until the list is at most the target."""
    last = max((n for n, m in enumerate(messages) if m["role"] == "assistant"), default=0)
    seen = results(messages[:last])
    for result in seen[: max(0, len(seen) - p["keep_results"])]:
        if json_length(messages) <= p["limit"] * p["target"] // 100:
            return
        if len(result["content"]) > p["min_chars"]:
            result["content"] = f"[Result saved to .tool_results/{result['tool_use_id']}.txt]"


def fit(messages: Messages, p: dict[str, Any]) -> None:
    """The largest first, new ones too, where a marker and a preview are shorter, until at most the target."""
    for result in sorted(results(messages), key=lambda r: -len(r["content"])):
        if json_length(messages) <= p["limit"] * p["target"] // 100:
            return
        if len(cut := saved(result, p["fit_preview"])) < len(result["content"]):
            result["content"] = cut


def layered_v1(messages: Messages, p: dict[str, Any], window: int, tokens: Callable, summary: Callable) -> Messages:
    budget(messages, p)
    messages = snip(messages, p, p["max_messages"] - p["head"])
    micro_v1(messages, p)
    if sum(tokens(m) for m in messages) > window - p["max_output"] - p["buffer"]:
        return [new(summary())]
    return messages


def layered_v2(messages: Messages, p: dict[str, Any], summary: Callable) -> Messages:
    budget(messages, p)
    messages = snip(messages, p, p["max_messages"] - p["head"] - 1)
    for layer in (micro_v2, fit):
        if json_length(messages) > p["limit"]:
            layer(messages, p)
    return [new(summary())] if json_length(messages) > p["limit"] else messages


def quarter_tokens(message: dict[str, Any]) -> int:
    """Characters of each block as sent by 4, up: text, call id, name, arguments."""
    if isinstance(message["content"], str):
        return -(-len(message["content"]) // 4)
    return sum(-(-size // 4) for size in map(block_chars, message["content"]))


def block_chars(block: dict[str, Any]) -> int:
    if block["type"] == "tool_use":
        arguments = json.dumps(block["input"], separators=(",", ":"), ensure_ascii=False)
        return len(block["id"]) + len(block["name"]) + len(arguments)
    if block["type"] == "tool_result":
        return len(block["tool_use_id"]) + len(block["content"])
    return len(block.get("text", block.get("thinking", "")))


# -- 2. The handoff


def wire_bytes(message: dict[str, Any]) -> int:
    """UTF-8 of texts, and of each call's id, name and compact arguments."""
    held = message["content"]
    return len(held.encode()) if isinstance(held, str) else sum(map(block_bytes, held))


def block_bytes(block: dict[str, Any]) -> int:
    if block["type"] == "tool_use":
        arguments = json.dumps(block["input"], separators=(",", ":"), ensure_ascii=False)
        return len((block["id"] + block["name"] + arguments).encode())
    if block["type"] == "tool_result":
        return len((block["tool_use_id"] + block["content"]).encode())
    return len(block["text"].encode())


def truncated(messages: Messages, cap: int) -> Messages:
    """The oldest whole turn goes while over the cap, never the last."""
    while sum(map(wire_bytes, messages)) > cap:
        turn = next((n for n, m in enumerate(messages) if n and is_prompt(m)), None)
        if turn is None:
            break
        messages = messages[turn:]
    return messages


def is_prompt(message: dict[str, Any]) -> bool:
    return message["role"] == "user" and isinstance(message["content"], str) and message["at"] != "new"


def buzz_handoff(messages: Messages, p: dict[str, Any], window: int, known: tuple | None, summary: Callable):
    """The list as sent, and whether it was handed over; ``known``: input of the last request and bytes sent with it;
    ``left`` in ``p``: handoffs that may still be made."""
    share = window // 10 * 9
    threshold = min(share, window - p["max_output"]) if p["reserve_output"] == "on" else share
    size = sum(map(wire_bytes, messages))
    if known is None:
        due = size > min(threshold, p["max_history_bytes"] // 10 * 9)
    else:
        due = known[0] + size - known[1] >= threshold
    if due and p["left"]:
        live = [m for m in messages if is_prompt(m)][-1:]
        return [new(summary()), *live], True
    return truncated(messages, p["max_history_bytes"]), False


# -- 3. Anchored compression


def whole_pairs(messages: Messages, cut: int, latest: int) -> int:
    """The nearest place for a cut that splits no pair: on over the results, back to the call where that is too far."""

    def splits(at: int) -> bool:
        called = {call["id"] for m in messages[:at] for call in content(m, "tool_use")}
        return any(r["tool_use_id"] in called for r in results(messages[at:]))

    ahead = next(at for at in range(cut, len(messages) + 1) if not splits(at))
    return ahead if ahead <= latest else next(at for at in range(cut, -1, -1) if not splits(at))


def sliding(messages: Messages, p: dict[str, Any], window: int, weight: Callable) -> Messages:
    latest = max(0, len(messages) - p["keep_last"])
    cut = 0
    while cut < latest and sum(map(weight, messages[cut:])) > window * p["target"] // 100:
        cut += 1
    if p["max_messages"] is not None:
        cut = min(latest, max(cut, len(messages) - p["max_messages"]))
    return messages[whole_pairs(messages, cut, latest) :]


def summarised(messages: Messages, p: dict[str, Any], *, merge: bool, summary: Callable) -> Messages:
    """All but the last few become one message; merged: only where there is something besides the last summary."""
    latest = max(0, len(messages) - p["keep_last"])
    cut = whole_pairs(messages, latest, latest)
    if not [m for m in messages[:cut] if not merge or m["at"] != "new"]:
        return messages
    return [new(summary()), *messages[cut:]]
