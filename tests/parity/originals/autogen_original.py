"""AutoGen's own model contexts."""

from __future__ import annotations

import asyncio

from _pipe import requests, serve, text
from autogen_core import FunctionCall
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    HeadAndTailChatCompletionContext,
    TokenLimitedChatCompletionContext,
)
from autogen_core.models import AssistantMessage, FunctionExecutionResult, FunctionExecutionResultMessage, UserMessage


class Client:
    """Counts what the case says that each message weighs."""

    def __init__(self, sizes):
        self.sizes = sizes

    def count_tokens(self, messages, *, tools=()):
        return sum(self.sizes[id(message)] for message in messages)


def built(given):
    if given["role"] == "user":
        return UserMessage(content=text(given["chars"]), source="user")
    if given["role"] == "assistant":
        calls = [FunctionCall(id=c["id"], name=c["name"], arguments="{}") for c in given["calls"]]
        if calls:
            return AssistantMessage(content=calls, thought=text(given["chars"]), source="assistant")
        return AssistantMessage(content=text(given["chars"]), source="assistant")
    results = [
        FunctionExecutionResult(content=text(r["chars"]), name="", call_id=r["id"], is_error=False)
        for r in given["results"]
    ]
    return FunctionExecutionResultMessage(content=results)


def views(case):
    return asyncio.run(_views(case))


async def _views(case):
    params, messages = case["params"], [built(given) for given in case["messages"]]
    position = {id(message): n for n, message in enumerate(messages)}
    sizes = {id(message): size for message, size in zip(messages, case["sizes"])}
    kinds = {
        "autogen_buffered": lambda: BufferedChatCompletionContext(params["buffer_size"]),
        "autogen_head_tail": lambda: HeadAndTailChatCompletionContext(params["head_size"], params["tail_size"]),
        "autogen_token_limited": lambda: TokenLimitedChatCompletionContext(
            Client(sizes), token_limit=params["token_limit"]
        ),
    }
    context, found, start = kinds[case["policy"]](), [], 0
    for k in requests(case["messages"]):
        for message in messages[start:k]:
            await context.add_message(message)
        start = k
        found.append([signature(m, position, case["messages"]) for m in await context.get_messages()])
    return found


def signature(message, position, given):
    n = position.get(id(message))
    if n is None:
        return ["new", len(message.content), 0, [], []]
    calls = [[c["id"], 2] for c in given[n].get("calls", ())]
    return [n, given[n].get("chars", 0), 0, calls, [[r["id"], r["chars"]] for r in given[n].get("results", ())]]


if __name__ == "__main__":
    serve(views)
