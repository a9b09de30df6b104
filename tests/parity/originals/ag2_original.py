"""AG2's own message transforms; a token is a character, as in the lists."""

from __future__ import annotations

from _pipe import requests, serve, text
from autogen.agentchat.contrib.capabilities import transforms, transforms_util


class Characters:
    """A tokenizer that needs no file: every character is a token."""

    def encode(self, words):
        return list(words)

    def decode(self, tokens):
        return "".join(tokens)


transforms.tiktoken.encoding_for_model = lambda _model: Characters()
transforms_util.token_count_utils.count_token = lambda words, *_: len(words)
transforms.token_count_utils.get_max_token_limit = lambda _model: 10**12


def built(n, given):
    if given["role"] == "tool":
        return {"role": "tool", "content": text(sum(r["chars"] for r in given["results"])), "n": n}
    content = text(given["chars"]) if given["chars"] or not given.get("calls") else None
    return {"role": given["role"], "content": content, "n": n}


def views(case):
    params = case["params"]
    if case["policy"] == "ag2_history_limiter":
        transform = transforms.MessageHistoryLimiter(
            params["max_messages"], keep_first_message=params["keep_first_message"] == "on"
        )
    else:
        transform = transforms.MessageTokenLimiter(
            max_tokens_per_message=params["max_tokens_per_message"],
            max_tokens=params["max_tokens"],
            min_tokens=params["min_tokens"],
        )
    messages = [built(n, given) for n, given in enumerate(case["messages"])]
    return [
        [signature(m, case["messages"]) for m in transform.apply_transform(messages[:k])]
        for k in requests(case["messages"])
    ]


def signature(message, given):
    n = message["n"]
    calls = [[c["id"], 2] for c in given[n].get("calls", ())]
    length = len(message["content"] or "")
    if given[n]["role"] == "tool":
        return [n, 0, 0, [], [[given[n]["results"][0]["id"], length]]]
    return [n, length, 0, calls, []]


if __name__ == "__main__":
    serve(views)
