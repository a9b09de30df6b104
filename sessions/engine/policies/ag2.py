"""AG2's transforms of a copy of the history, at every call (policies 11.10).

``order`` says whether the two oldest messages trade places, as they do there.  Tokens are of texts and tool results
alone; the original counts with the tokenizer of gpt-3.5-turbo, here o200k.  Its defaults are no limits at all, with
which it sends the newest two messages (an overflow of its own arithmetic): here 4,000 and the window.  It splits tool
pairs (``orphans``).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sessions.engine.policies._caveats import MAY_LOSE_THE_REQUEST, MAY_START_WITH_A_REPLY
from sessions.engine.policies._client import client, shown_cut
from sessions.engine.policies._lists import TOOL, role_of
from sessions.engine.policies._pairs import orphans_param
from sessions.engine.policies.params import MANY_TOKENS, MESSAGES, choice, param, when
from sessions.engine.policies.policy import Gate, Item, Layer, Policy, View
from sessions.engine.transcript.types import Block, Kind, Role


@dataclass(frozen=True, slots=True)
class HistoryParams:
    """How many messages; the original has no default for it."""

    max_messages: int = when(20, "Messages", "At most so many are sent", *MESSAGES)
    keep_first_message: str = choice(("on", "off"), "Keep the first message", "Whatever its age", default="off")
    order: str = choice(
        ("original", "straight"),
        "Order",
        "Original: the oldest message kept trades places with the one after it; straight: it does not",
    )
    orphans: str = orphans_param()


def stretches(
    n: int, max_messages: int, is_tool: Callable[[int], bool], *, keep_first: bool, straight: bool = False
) -> list[tuple[int, int]]:
    """The stretches (from, to) that are sent of ``n`` messages, in the order sent."""
    if n <= max_messages:
        return [(0, n)]
    first = [(0, 1)] if keep_first else []
    if max_messages == len(first):
        return first
    newest = n - max_messages + len(first)
    if is_tool(newest):
        return [*first, (newest + 1, n)]
    if keep_first or straight or newest + 1 == n:
        return [*first, (newest, n)]
    return [(newest + 1, newest + 2), (newest, newest + 1), (newest + 2, n)]


def history_gate(params: HistoryParams, view: View) -> Gate:
    """More messages than the limit."""
    return Gate.over(len(client(view).items), params.max_messages, "all messages of the history", "messages")


def history_edit(params: HistoryParams, view: View) -> list[Item]:
    """The messages sent."""
    held = client(view).items
    spans = stretches(
        len(held),
        params.max_messages,
        lambda position: role_of(held[position]) == TOOL,
        keep_first=params.keep_first_message == "on",
        straight=params.order == "straight",
    )
    return shown_cut(view, spans, orphans=params.orphans)


HISTORY = Policy(
    name="ag2_history_limiter", label="AG2 message history limiter",
    source="ag2ai/ag2 MessageHistoryLimiter 0.14.0",
    help="Sends only the last messages, the first one too if asked to.",
    params=HistoryParams,
    layers=(Layer("ag2_history_limiter", "History limit", history_gate, history_edit, cheap=True),),
    summary_calls=False, threshold_param="max_messages", tier="differential",
    caveats=(MAY_START_WITH_A_REPLY, MAY_LOSE_THE_REQUEST),
)  # fmt: skip


TEXTS = (Kind.TEXT, Kind.TOOL_RESULT)
SCALED = ("n_chars", "n_bytes", "n_non_ascii", "n_json")


@dataclass(frozen=True, slots=True)
class LimiterParams:
    """The three limits."""

    max_tokens: int | None = when(None, "Tokens in all", "None: the window", *MANY_TOKENS)
    max_tokens_per_message: int = param(
        4_000, "Tokens per message", "Longer messages are cut", "tokens", 0, 10_000_000, 100
    )
    min_tokens: int = when(0, "From", "Nothing happens under it", *MANY_TOKENS)
    orphans: str = orphans_param()


def text_tokens(item: Item) -> int | None:
    """Tokens of a message's texts; None for a reply without text: its content is null, an empty prompt's is empty."""
    texts = [block for block in item.message.blocks if block.kind in TEXTS]
    return None if not texts and item.message.role is Role.ASSISTANT else sum(_tokens(block) for block in texts)


def _tokens(block: Block) -> int:
    return sum(leaf.n_tokens for leaf in block.leaves())


@dataclass(slots=True)
class Counted:
    """Tokens of each message of the client; ``until[n]`` are those of the first n, each cut to ``per_message``."""

    per_message: int
    tokens: list[int | None] = field(default_factory=list)
    until: list[int] = field(default_factory=lambda: [0])
    total: int = 0
    long: list[int] = field(default_factory=list)

    def count(self, mine: int | None) -> None:
        """One more message, with the tokens of its texts."""
        if mine is not None and mine > self.per_message:
            self.long.append(len(self.tokens))
        self.tokens.append(mine)
        self.until.append(self.until[-1] + min(mine or 0, self.per_message))
        self.total += mine or 0

    def ends_at(self, most: int) -> int:
        """Position of the message that is cut to what is left of ``most`` and ends the list; under 0 where none is."""
        position = bisect_left(self.until, self.until[-1] - (most - self.per_message)) - 2
        while position >= 0 and self.tokens[position] is None:
            position -= 1
        return position

    def plan(self, most: int) -> tuple[int, dict[int, int]]:
        """Position of the oldest message kept, and the tokens that those are cut to which are cut."""
        end = self.ends_at(most)
        cuts = dict.fromkeys(self.long[bisect_right(self.long, end) :], self.per_message)
        if end >= 0:
            left = most - (self.until[-1] - self.until[end + 1])
            if left < (self.tokens[end] or 0):
                cuts[end] = left
        return max(0, end), cuts

    def is_shortened(self, most: int) -> bool:
        """Whether ``plan`` leaves anything out or cuts anything."""
        position = self.ends_at(most)
        if position < 0:
            return bool(self.long)
        counted, mine = self.until[-1] - self.until[position + 1], self.tokens[position] or 0
        return position > 0 or (bool(self.long) and self.long[-1] > 0) or mine > most - counted


def _counted(params: LimiterParams, view: View) -> Counted:
    """What the client holds, counted; what was counted before is remembered."""
    held = client(view).items
    known: Counted | None = view.state.memory.get("tokens")
    if known is None or len(known.tokens) > len(held):
        known = view.state.memory["tokens"] = Counted(params.max_tokens_per_message)
    for item in held[len(known.tokens) :]:
        known.count(text_tokens(item))
    return known


def _most(params: LimiterParams, view: View) -> int:
    return view.window if params.max_tokens is None else params.max_tokens


def token_gate(params: LimiterParams, view: View) -> Gate:
    """All texts at or over the lower limit, and something to cut or to leave out."""
    found, most = _counted(params, view), _most(params, view)
    fires = (not params.min_tokens or found.total >= params.min_tokens) and found.is_shortened(most)
    return Gate(fires, "tokens of all texts", found.total, most, ">", "tokens")


def token_edit(params: LimiterParams, view: View) -> list[Item]:
    """What is sent, cut."""
    held = client(view).items
    first, cuts = _counted(params, view).plan(_most(params, view))
    edited = {position: _cut(view, held[position], tokens) for position, tokens in cuts.items()}
    return shown_cut(view, [(first, len(held))], orphans=params.orphans, edited=edited)


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


TOKEN = Policy(
    name="ag2_token_limiter", label="AG2 message token limiter",
    source="ag2ai/ag2 MessageTokenLimiter 0.14.0",
    help="Cuts long messages and sends the newest that fit.",
    params=LimiterParams, layers=(Layer("ag2_token_limiter", "Token limit", token_gate, token_edit, cheap=True),),
    summary_calls=False, threshold_param="max_tokens", tier="differential",
    caveats=(MAY_START_WITH_A_REPLY, MAY_LOSE_THE_REQUEST),
)  # fmt: skip

POLICIES = (HISTORY, TOKEN)
