"""What the Codex policies share: the limit, active tokens, retained user messages (policies 6.1, 6.2, 6.4).

openai/codex ``codex-rs/core/src`` as carried in ``just-every/code`` (2026-08-12): ``compact.rs``,
``compact_remote_v2.rs``, ``context_manager/history.rs``, ``utils/string/src/truncate.rs``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine.edits import cut_text
from sessions.engine.params import param
from sessions.engine.policies._lists import apart, is_answer, last_assistant, used
from sessions.engine.policy import Gate
from sessions.engine.types import Block, Kind, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.policy import Item, View

BYTES_PER_TOKEN = 4


def limit_param() -> Any:
    """The limit of the configuration."""
    return param(
        None, label="Configured limit", help="Lowers the limit of nine tenths of the raw window; none: not configured",
        unit="tokens", group="when", low=0, high=2_000_000, step=1_000, optional=True,
    )  # fmt: skip


def scope_param() -> Any:
    """Which tokens count."""
    return param(
        "total", label="Counts", help="All active tokens, or those beyond the initial prefix", group="when",
        choices=("total", "body_after_prefix"),
    )  # fmt: skip


class Parts(NamedTuple):
    """A history as compaction sees it: what is injected anew, what it works on, what came after it."""

    system: list[Item]
    initial: list[Item]
    history: list[Item]
    live: list[Item]


def limit(window: int, configured: int | None) -> int:
    """``min(configured, ⌊raw window·9/10⌋)`` tokens; a rollout's window is 95 % of the raw one, which is meant here."""
    share = window * 9 // 10
    return share if configured is None else min(configured, share)


def gate(view: View, configured: int | None, scope: str) -> Gate:
    """Active tokens ≥ the limit, or ≥ the whole window: last usage in full and estimates of what came after."""
    measure = used(view)
    if scope == "body_after_prefix":
        measure = max(0, measure - view.overhead)
    threshold = min(limit(view.window, configured), view.window)
    return Gate(measure >= threshold, f"active tokens, {scope.replace('_', ' ')}", measure, threshold, ">=", "tokens")


def parts(items: Sequence[Item]) -> Parts:
    """Developer messages; the wrappers before the first prompt; the history; a prompt typed since the last reply."""
    system, rest = apart(items)
    first = next((n for n, item in enumerate(rest) if item.message.typed or not _is_wrapper(item)), len(rest))
    replied = last_assistant(rest)
    newest = rest[replied + 1 :] if replied >= first else []
    live = newest if newest and newest[-1].message.typed and not any(is_answer(i) for i in newest) else []
    return Parts(system, rest[:first], rest[first : len(rest) - len(live)], live)


def _is_wrapper(item: Item) -> bool:
    """AGENTS.md, environment and permission notes: from the user, not typed."""
    message = item.message
    return message.role is Role.USER and not item.inserted and not message.summary and not message.result_ids()


def retained(view: View, items: Sequence[Item], budget: int, *, least: int = 0, media: bool = False) -> list[Item]:
    """Typed user messages newest first within ``budget`` tokens, in their order again.

    The first that overflows is middle-truncated to what is left and the scan stops.  Text alone unless ``media``,
    which weighs nothing; every message weighs ``least`` tokens or more.
    """
    kept: list[Item] = []
    left = budget
    for item in reversed(items):
        if not item.message.typed:
            continue
        if left <= 0:
            break
        plain = item if media else _text_only(view, item)
        tokens = max(least, text_tokens(plain))
        if tokens > left:
            kept.append(_truncated(view, plain, left))
            break
        kept.append(plain)
        left -= tokens
    return kept[::-1]


def text_tokens(item: Item) -> int:
    """UTF-8 bytes of a message's text / 4, rounded up; its parts are joined by newlines."""
    texts = [block.n_bytes for block in item.message.blocks if block.kind is Kind.TEXT]
    return -(-(sum(texts) + max(0, len(texts) - 1)) // BYTES_PER_TOKEN)


def _text_only(view: View, item: Item) -> Item:
    texts = [block for block in item.message.blocks if block.kind is Kind.TEXT]
    return item if len(texts) == len(item.message.blocks) else view.tools.rewrite(item, texts)


def _truncated(view: View, item: Item, tokens: int) -> Item:
    """Half of the budget from the head, half from the tail, and a word on what went."""
    whole = text_tokens(item)
    texts = [block for block in item.message.blocks if block.kind is Kind.TEXT]
    others = [block for block in item.message.blocks if block.kind is not Kind.TEXT]
    joined = replace(
        texts[0],
        n_chars=sum(b.n_chars for b in texts), n_bytes=sum(b.n_bytes for b in texts),
        n_tokens=sum(b.n_tokens for b in texts), n_non_ascii=sum(b.n_non_ascii for b in texts),
    )  # fmt: skip
    n_chars = joined.n_chars * min(tokens * BYTES_PER_TOKEN, joined.n_bytes) // max(1, joined.n_bytes)
    cut: Block = cut_text(joined, n_chars, f"…{whole - tokens} tokens truncated…")
    return view.tools.rewrite(item, [cut, *others])
