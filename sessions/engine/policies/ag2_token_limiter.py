"""AG2 MessageTokenLimiter: every message cut to a length, then the newest that fit (policies 11.10).

ag2ai/ag2 ``autogen/agentchat/contrib/capabilities/transforms.py`` (0.14.0; 1.x has another design).  Applied to a
copy of the history at every call, newest message first: each is cut to ``max_tokens_per_message``; the first for
which ``max_tokens − counted − max_tokens_per_message`` is under 0 is cut to what is left of ``max_tokens`` and ends the
list, older ones go.  A message without text (calls alone) passes free.  Nothing happens while all together have fewer
than ``min_tokens``.  Tokens are of texts and tool results alone; the original counts with the tokenizer of
gpt-3.5-turbo, here o200k.

The original's defaults are no limits at all, with which it sends the newest two messages (an overflow of its own
arithmetic): here 4,000 and the window.  It splits tool pairs (``orphans``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sessions.engine.params import param
from sessions.engine.policies._client import client, shown
from sessions.engine.policies._pairs import mended, orphans_param
from sessions.engine.policy import MAY_LOSE_THE_REQUEST, MAY_START_WITH_A_REPLY, Gate, Layer, Policy, View
from sessions.engine.types import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.policy import Item
    from sessions.engine.types import Block

TEXTS = (Kind.TEXT, Kind.TOOL_RESULT)
SCALED = ("n_chars", "n_bytes", "n_non_ascii")


@dataclass(frozen=True, slots=True)
class Params:
    """The three limits."""

    max_tokens: int | None = param(
        None, label="Tokens in all", help="None: the window", unit="tokens", group="when", low=0, high=10_000_000,
        step=1_000, optional=True,
    )  # fmt: skip
    max_tokens_per_message: int = param(
        4_000, label="Tokens per message", help="Longer messages are cut", unit="tokens", low=0, high=10_000_000,
        step=100,
    )  # fmt: skip
    min_tokens: int = param(
        0, label="From", help="Nothing happens under it", unit="tokens", group="when", low=0, high=10_000_000,
        step=1_000,
    )  # fmt: skip
    orphans: str = orphans_param()


def text_tokens(item: Item) -> int | None:
    """Tokens of a message's texts; None for one without text."""
    texts = [block for block in item.message.blocks if block.kind in TEXTS]
    return sum(_tokens(block) for block in texts) if texts else None


def _tokens(block: Block) -> int:
    return sum(leaf.n_tokens for leaf in block.leaves())


def plan(tokens: Sequence[int | None], per_message: int, most: int) -> list[tuple[int, int | None]]:
    """Positions kept, oldest first, each with the tokens it is cut to (None: it has no text)."""
    kept: list[tuple[int, int | None]] = []
    counted = 0
    for position in range(len(tokens) - 1, -1, -1):
        mine = tokens[position]
        if mine is None:
            kept.append((position, None))
            continue
        if most - counted - per_message < 0:
            kept.append((position, min(mine, most - counted)))
            break
        kept.append((position, min(mine, per_message)))
        counted += min(mine, per_message)
    return kept[::-1]


def _total(view: View) -> tuple[list[int | None], int]:
    """Tokens of each message that the client holds, and together; what was counted before is remembered."""
    held = client(view).items
    known: list[int | None]
    known, total = view.state.memory.get("tokens", ([], 0))
    if len(known) > len(held):
        known, total = [], 0
    added = [text_tokens(item) for item in held[len(known) :]]
    known += added
    total += sum(n for n in added if n)
    view.state.memory["tokens"] = (known, total)
    return known, total


def _most(params: Params, view: View) -> int:
    return view.window if params.max_tokens is None else params.max_tokens


def gate(params: Params, view: View) -> Gate:
    """All texts at or over the lower limit, and something to cut or to leave out."""
    tokens, total = _total(view)
    fires = not params.min_tokens or total >= params.min_tokens
    if fires:
        kept = plan(tokens, params.max_tokens_per_message, _most(params, view))
        fires = len(kept) < len(tokens) or any(cut != tokens[position] for position, cut in kept)
    return Gate(fires, "tokens of all texts", total, _most(params, view), ">", "tokens")


def edit(params: Params, view: View) -> list[Item]:
    """What is sent, cut."""
    everything = client(view)
    held = everything.items
    tokens, _ = _total(view)
    kept = plan(tokens, params.max_tokens_per_message, _most(params, view))
    left = [held[p] if cut == tokens[p] else _cut(view, held[p], cut or 0) for p, cut in kept]
    return shown(view, mended(view, everything.halves, left) if params.orphans == "drop" else left)


def _cut(view: View, item: Item, n_tokens: int) -> Item:
    """A message whose texts together are cut to ``n_tokens`` from their start; the rest in proportion."""
    blocks: list[Block] = []
    left = n_tokens
    for block in item.message.blocks:
        whole = _tokens(block)
        if block.kind not in TEXTS or whole <= left:
            blocks.append(block)
            left -= whole if block.kind in TEXTS else 0
            continue
        facts = {name: sum(getattr(leaf, name) for leaf in block.leaves()) * left // whole for name in SCALED}
        blocks.append(replace(block, **facts, n_tokens=left, approximate=True, parts=(), media=None))
        left = 0
    return view.tools.rewrite(item, blocks)


POLICY = Policy(
    name="ag2_token_limiter",
    label="AG2 message token limiter",
    source="ag2ai/ag2 MessageTokenLimiter 0.14.0",
    help="Cuts long messages and sends the newest that fit.",
    estimator="tiktoken_o200k",
    params=Params,
    layers=(Layer("ag2_token_limiter", "Token limit", gate, edit, cheap=True, drawn=True),),
    summary_calls=False,
    threshold_param="max_tokens",
    tier="differential",
    caveats=(MAY_START_WITH_A_REPLY, MAY_LOSE_THE_REQUEST),
)
