"""Microsoft Agent Framework's own compaction strategies."""

from __future__ import annotations

import asyncio
import json

from _pipe import arguments, requests, serve, text
from agent_framework import Content, Message
from agent_framework._compaction import (
    ContextWindowCompactionStrategy,
    TokenBudgetComposedStrategy,
    ToolResultCompactionStrategy,
    TruncationStrategy,
    apply_compaction,
)


class Characters:
    """Characters sent by 4, each content rounded up, as our ``chars_per_4``."""

    def count_tokens(self, serialised):
        return sum(-(-self.chars(content) // 4) for content in json.loads(serialised)["contents"])

    def chars(self, content):
        kind = content["type"]
        if kind == "function_call":
            return len(content["call_id"]) + len(content["name"]) + len(content["arguments"])
        if kind == "function_result":
            return len(content["call_id"]) + len(content["result"])
        return len(content["text"])


def built(n, given):
    if given["role"] == "tool":
        contents = [Content.from_function_result(r["id"], result=text(r["chars"])) for r in given["results"]]
    else:
        contents = [Content.from_text(text(given["chars"]))] if given["chars"] else []
        for c in given.get("calls", ()):
            words = json.dumps(arguments(c["args"]), separators=(",", ":"))
            contents.append(Content.from_function_call(c["id"], c["name"], arguments=words))
    return Message(role=given["role"], contents=contents, message_id=f"m{n}")


def signature(message):
    words, calls, results = 0, [], []
    for content in message.contents:
        if content.type == "function_call":
            calls.append([content.call_id, len(content.arguments)])
        elif content.type == "function_result":
            results.append([content.call_id, len(content.result)])
        else:
            words += len(content.text)
    who = int(message.message_id.rsplit("_m", 1)[-1].removeprefix("m"))
    return [who, words, 0, calls, results]


def strategies(case):
    params, tokenizer = case["params"], Characters()
    first_user = params["first_user"] == "on"
    whole = ContextWindowCompactionStrategy(
        max_context_window_tokens=case["window"], max_output_tokens=params["max_output"], tokenizer=tokenizer,
        tool_eviction_threshold=params["eviction"], truncation_threshold=params["truncation"],
        keep_last_tool_call_groups=params["keep_last"], preserve_first_user_group=first_user,
    )  # fmt: skip
    if params["phases"] == "threshold":
        return [whole]
    budget = whole.input_budget_tokens
    evict, cut = int(budget * params["eviction"]), int(budget * params["truncation"])
    collapse = ToolResultCompactionStrategy(keep_last_tool_call_groups=params["keep_last"])
    truncate = TruncationStrategy(
        max_n=cut, compact_to=evict, tokenizer=tokenizer, preserve_first_user_group=first_user
    )
    return [
        TokenBudgetComposedStrategy(token_budget=evict, tokenizer=tokenizer, strategies=[collapse]),
        TokenBudgetComposedStrategy(token_budget=cut, tokenizer=tokenizer, strategies=[truncate]),
    ]


async def views(case):
    messages = [built(n, given) for n, given in enumerate(case["messages"])]
    made, held, found, start = strategies(case), [], [], 0
    for k in requests(case["messages"]):
        held += messages[start:k]
        start = k
        sent = held
        for strategy in made:
            sent = await apply_compaction(held, strategy=strategy, tokenizer=strategy.tokenizer)
        found.append([signature(message) for message in sent])
    return found


if __name__ == "__main__":
    serve(lambda case: asyncio.run(views(case)))
