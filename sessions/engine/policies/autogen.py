"""The model contexts of AutoGen (policies 11.10).

AutoGen holds all results of one reply in one message, where ours may be several: all that lead are left out.  A pair
that the head's end splits is left out.  Without a limit the original asks the model client for what remains of its
window: here the window.  The count is the model client's own: o200k tokens here.  The original splits tool pairs
(``orphans``).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from sessions.engine.policies._caveats import MAY_LOSE_THE_REQUEST, MAY_START_WITH_A_REPLY
from sessions.engine.policies._client import client, shown_cut
from sessions.engine.policies._lists import TOOL, has_calls, role_of
from sessions.engine.policies._pairs import mended, orphans_param
from sessions.engine.policies.edits import marker
from sessions.engine.policies.params import LIMIT, MESSAGES, when
from sessions.engine.policies.policy import Draft, Gate, Item, Layer, Policy, View


@dataclass(frozen=True, slots=True)
class BufferedParams:
    """The buffer."""

    buffer_size: int = when(10, "Buffer", "Newest messages shown to the model; the original has no default", *MESSAGES)


def start(items: Sequence[Item], buffer_size: int) -> int:
    """Position of the first message shown: the last ``buffer_size``, leading tool results left out."""
    first = max(0, len(items) - buffer_size)
    while first < len(items) and role_of(items[first]) == TOOL:
        first += 1
    return first


def buffered_gate(params: BufferedParams, view: View) -> Gate:
    """More messages than the buffer holds, or a tool result at its start."""
    first = start(view.items, params.buffer_size)
    return Gate(first > 0, "messages in the list", len(view.items), params.buffer_size, ">", "messages")


def buffered_edit(params: BufferedParams, view: View) -> list[Item]:
    """The messages shown."""
    return mended(view, view.items, view.items[start(view.items, params.buffer_size) :])


BUFFERED = Policy(
    name="autogen_buffered", label="AutoGen buffered context",
    source="microsoft/autogen BufferedChatCompletionContext 0.7.5",
    help="Shows the model only the last N messages.",
    params=BufferedParams, layers=(Layer("autogen_buffered", "Buffer", buffered_gate, buffered_edit, cheap=True),),
    summary_calls=False, threshold_param="buffer_size", tier="differential",
    caveats=(MAY_START_WITH_A_REPLY, MAY_LOSE_THE_REQUEST),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class HeadTailParams:
    """Head and tail; the original has no defaults."""

    head_size: int = when(5, "Head", "Oldest messages shown", *MESSAGES)
    tail_size: int = when(20, "Tail", "Newest messages shown", *MESSAGES)


def spans(items: Sequence[Item], head_size: int, tail_size: int) -> tuple[int, int]:
    """Where the head ends and where the tail starts."""
    head = min(head_size, len(items))
    if head and has_calls(items[head - 1]):
        head -= 1
    return head, start(items, tail_size)


def head_tail_gate(params: HeadTailParams, view: View) -> Gate:
    """More messages than head and tail hold together."""
    limit = params.head_size + params.tail_size
    return Gate.over(len(client(view).items), limit, "all messages of the context", "messages")


def head_tail_edit(params: HeadTailParams, view: View) -> list[Item]:
    """Head, marker, tail."""
    held = client(view).items
    head, tail = spans(held, params.head_size, params.tail_size)
    text = f"Skipped {len(held) - params.head_size - params.tail_size} messages."
    note = view.tools.draft(Draft(text, marker(text).n_tokens, text))
    return shown_cut(view, [(0, head), (tail, len(held))], note=[note])


HEAD_TAIL = Policy(
    name="autogen_head_tail", label="AutoGen head and tail",
    source="microsoft/autogen HeadAndTailChatCompletionContext 0.7.5",
    help="Shows the model the first and the last messages and says how many it skipped.",
    params=HeadTailParams,
    layers=(Layer("autogen_head_tail", "Head and tail", head_tail_gate, head_tail_edit, cheap=True),),
    summary_calls=False, threshold_param="tail_size", tier="differential", caveats=(MAY_LOSE_THE_REQUEST,),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TokenParams:
    """The limit."""

    token_limit: int | None = when(
        None, "Token limit", "Messages leave while the count is over it; none: the window", *LIMIT
    )
    orphans: str = orphans_param()


def fitting(items: Sequence[Item], until: Sequence[int], limit: int) -> list[tuple[int, int]]:
    """The stretches around the middle of ``items`` that weigh ``limit`` at most."""
    n = len(items)
    if until[n] <= limit:
        head, tail = n, n
    else:
        # What always leaves at len // 2 leaves a head and a tail of equal lengths, the head longer by the odd one.
        def weight(kept: int) -> int:
            return until[(kept + 1) // 2] + until[n] - until[n - kept // 2]

        kept = bisect_right(range(1, n + 1), limit, key=weight)
        head, tail = (kept + 1) // 2, n - kept // 2
    return [(int(head > 0 and role_of(items[0]) == TOOL), head), (tail, n)]


def token_gate(params: TokenParams, view: View) -> Gate:
    """All messages together over the limit."""
    limit = view.window if params.token_limit is None else params.token_limit
    return Gate.over(client(view).size, limit, "tokens of all messages")


def token_edit(params: TokenParams, view: View) -> list[Item]:
    """What is left of all messages."""
    held = client(view)
    limit = view.window if params.token_limit is None else params.token_limit
    return shown_cut(view, fitting(held.items, held.until, limit), orphans=params.orphans)


TOKEN = Policy(
    name="autogen_token_limited", label="AutoGen token limit",
    source="microsoft/autogen TokenLimitedChatCompletionContext 0.7.5",
    help="Takes messages out of the middle until the rest fits.",
    params=TokenParams, layers=(Layer("autogen_token_limited", "Token limit", token_gate, token_edit, cheap=True),),
    summary_calls=False, threshold_param="token_limit", tier="differential", caveats=(MAY_LOSE_THE_REQUEST,),
)  # fmt: skip

POLICIES = (BUFFERED, HEAD_TAIL, TOKEN)
