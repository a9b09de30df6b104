"""What is compared: each policy's original, how its cases are drawn, and how the original is installed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.parity.lists import Shape, Spec

Params = dict[str, Any]


@dataclass(frozen=True)
class Environment:
    """Where an original runs: its packages, and the distribution whose version is reported."""

    name: str
    packages: tuple[str, ...]
    version_of: str
    tool: str = "pip"
    python: str = ""


@dataclass(frozen=True)
class Original:
    """One policy and its original.

    ``draw`` gives parameters and the window for a list whose messages weigh ``sizes`` characters in all.
    """

    policy: str
    environment: Environment
    script: str
    draw: Callable[[random.Random, int, int], tuple[Params, int]]
    shape: Shape = field(default_factory=Shape)
    label: str = ""
    summary: int = 50
    estimator: str = ""


LANGCHAIN = Environment("langchain", ("langchain", "deepagents"), "langchain")
AUTOGEN = Environment("autogen", ("autogen-core",), "autogen-core")
AG2 = Environment("ag2", ("ag2<1",), "ag2")


def some(rng: random.Random, whole: int) -> int:
    """A limit that a list of ``whole`` is over at some point, mostly."""
    return max(1, int(whole * rng.uniform(0.05, 1.1)))


def langchain_trim(rng: random.Random, n_chars: int, n_messages: int) -> tuple[Params, int]:
    kinds = ("any", "any", "user", "assistant", "tool")
    params = {
        "max_tokens": some(rng, n_chars // 4 + 5 * n_messages),
        "strategy": rng.choice(("last", "last", "first")),
        "include_system": "on",
        "start_on": rng.choice(kinds),
        "end_on": rng.choice(kinds),
        "orphans": "keep",
    }
    if params["strategy"] == "first":
        params["start_on"] = "any"
    return params, 1_000_000


def langchain_clear(rng: random.Random, n_chars: int, n_messages: int) -> tuple[Params, int]:
    return {
        "trigger": some(rng, n_chars // 4 + 5 * n_messages),
        "keep": rng.randint(0, 5),
        "clear_at_least": rng.choice((0, 0, rng.randint(1, 1 + n_chars // 8))),
        "clear_tool_inputs": rng.choice(("on", "off")),
    }, 1_000_000


def langchain_summarization(rng: random.Random, n_chars: int, n_messages: int) -> tuple[Params, int]:
    window = some(rng, 2 * n_chars) + 200
    kind = rng.choice(("fraction", "tokens", "messages", "two"))
    params: Params = {
        "trigger_fraction": round(rng.uniform(0.1, 1), 2) if kind in {"fraction", "two"} else None,
        "trigger_tokens": some(rng, n_chars // 3) if kind == "tokens" else None,
        "trigger_messages": rng.randint(2, n_messages + 1) if kind in {"messages", "two"} else None,
        "combine": rng.choice(("any", "all")),
        "keep_messages": rng.randint(1, 12),
        "usage": rng.choice(("recorded", "none")),
    }
    kept = rng.choice(("messages", "tokens", "fraction"))
    params["keep_tokens"] = some(rng, n_chars // 6) if kept == "tokens" else None
    params["keep_fraction"] = round(rng.uniform(0.01, 0.6), 2) if kept == "fraction" else None
    return params, window


def autogen_buffered(rng: random.Random, _n_chars: int, n_messages: int) -> tuple[Params, int]:
    return {"buffer_size": rng.randint(1, n_messages + 1)}, 1_000_000


def autogen_head_tail(rng: random.Random, _n_chars: int, n_messages: int) -> tuple[Params, int]:
    return {"head_size": rng.randint(1, n_messages), "tail_size": rng.randint(1, n_messages)}, 1_000_000


def autogen_token_limited(rng: random.Random, n_chars: int, _n_messages: int) -> tuple[Params, int]:
    return {"token_limit": some(rng, n_chars), "orphans": "keep"}, 1_000_000


def ag2_history(rng: random.Random, _n_chars: int, n_messages: int) -> tuple[Params, int]:
    return {
        "max_messages": rng.randint(1, n_messages + 1),
        "keep_first_message": rng.choice(("on", "off")),
        "orphans": "keep",
    }, 1_000_000


def ag2_tokens(rng: random.Random, n_chars: int, _n_messages: int) -> tuple[Params, int]:
    most = some(rng, n_chars)
    return {
        "max_tokens": most,
        "max_tokens_per_message": rng.choice((rng.randint(0, 400), some(rng, n_chars))),
        "min_tokens": rng.choice((0, rng.randint(0, most))),
        "orphans": "keep",
    }, 1_000_000


JOINED = Shape(joined=True)

ORIGINALS = (
    Original("langchain_trim", LANGCHAIN, "langchain_original.py", langchain_trim),
    Original("langchain_clear_tool_uses", LANGCHAIN, "langchain_original.py", langchain_clear),
    Original("langchain_summarization", LANGCHAIN, "langchain_original.py", langchain_summarization),
    Original("autogen_buffered", AUTOGEN, "autogen_original.py", autogen_buffered, JOINED),
    Original("autogen_head_tail", AUTOGEN, "autogen_original.py", autogen_head_tail, JOINED),
    Original("autogen_token_limited", AUTOGEN, "autogen_original.py", autogen_token_limited, JOINED),
    Original("ag2_history_limiter", AG2, "ag2_original.py", ag2_history),
    Original("ag2_token_limiter", AG2, "ag2_original.py", ag2_tokens),
)
