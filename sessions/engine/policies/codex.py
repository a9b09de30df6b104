"""Codex CLI: the limit (policies 6.1), local and remote compaction.

A prompt that starts a turn is not compacted: before a turn it is not in the history yet.

``codex_local`` (policies 6.2, 6.5): between turns the initial context that the next turn brings stands after the
summary.  Not replayed: compaction on a change to a model with a smaller window (a replay has one model) and the retries
of a summary call that is too long itself.

``codex_remote`` (policies 6.3, 6.4): which messages version 1 returns is the server's business: all typed ones are
assumed, as in the public recordings of that endpoint.  Messages of other agents are not told apart in transcripts and
go.  Shrinking the newest tool outputs so that the call fits changes the call alone, not what stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import NamedTuple

from sessions.engine.policies._lists import apart, is_answer, last_assistant, used
from sessions.engine.policies.edits import cut_text, result_chars, text_only
from sessions.engine.policies.params import FINE_TOKENS, PROMPT, TOKENS, Told, choice, param, when
from sessions.engine.policies.policy import Gate, Item, Policy, View
from sessions.engine.tokens.estimators.codex import stored_tokens
from sessions.engine.transcript.types import Kind, Message, Role

BYTES_PER_TOKEN = 4
AGENT_MESSAGE = "agent_message"
"""Type of the item that another agent's message is: it opens a turn, as a user message does."""


@dataclass(frozen=True, slots=True)
class Limit(Told):
    """The limit's configuration."""

    auto_compact_token_limit: int | None = when(
        None, "Configured limit", "Lowers the limit of nine tenths of the raw window; none: not configured", *PROMPT
    )
    scope: str = choice(
        ("total", "body_after_prefix"), "Counts", "All active tokens, or those beyond the initial prefix", group="when"
    )


class Parts(NamedTuple):
    """A history as compaction sees it: what is injected anew, what it works on, what came after it."""

    system: list[Item]
    initial: list[Item]
    history: list[Item]
    live: list[Item]


@dataclass(slots=True)
class Stored:
    """Tokens of encrypted reasoning in the first ``seen`` items: all of it, and what stands before the last boundary.

    A turn begins at a user message that is no wrapper (a summary is one), or at a message of another agent.  ``last``
    is the id of the newest of those items.  The policy's memory, so that a request costs what it adds.
    """

    seen: int = 0
    last: str = ""
    whole: int = 0
    before: int = 0

    def add(self, message: Message, reported: int) -> None:
        """The next message, and the tokens of reasoning that its reply ``reported``."""
        is_said = message.typed or (message.summary and message.role is Role.USER)
        if is_said or any(b.kind is Kind.OPAQUE and b.name == AGENT_MESSAGE for b in message.blocks):
            self.before = self.whole
        self.whole += stored_tokens(message, reported)


def limit(window: int, configured: int | None) -> int:
    """``min(configured, ⌊raw window·9/10⌋)`` tokens; a rollout's window is 95% of the raw one, which is meant here."""
    share = window * 9 // 10
    return share if configured is None else min(configured, share)


def gate(params: Limit, view: View) -> Gate:
    """Active tokens ≥ the limit, or ≥ the whole window: last usage, estimates of what came after, stored reasoning."""
    # What a turn that begins here brings is not in the history yet: all since the last reply or tool result.
    new = list(takewhile(lambda i: _is_said(i.message), reversed(view.items))) if view.newest_typed else []
    measure = used(view) - sum(item.size for item in new)
    if view.usage is not None:
        measure += stored_reasoning(view, len(view.items) - len(new))
    if params.scope == "body_after_prefix":
        measure = max(0, measure - view.overhead)
    threshold = min(limit(view.window, params.auto_compact_token_limit), view.window)
    reason = f"active tokens, {params.scope.replace('_', ' ')}"
    return Gate.at_least(measure, threshold, reason)


def stored_reasoning(view: View, stop: int) -> int:
    """Tokens of the encrypted reasoning before the last turn boundary among the first ``stop`` items."""
    held: Stored = view.state.memory.setdefault("stored reasoning", Stored())
    if held.seen > stop or (held.seen and view.items[held.seen - 1].id != held.last):
        held = view.state.memory["stored reasoning"] = Stored()
    for item in view.items[held.seen : stop]:
        held.add(item.message, view.tools.reported_reasoning(item))
        held.last = item.id
    held.seen = stop
    return held.before


def stored_before(messages: Sequence[Message], reported: Mapping[int, int]) -> int:
    """The same for messages that were compacted, without a prompt that began a turn; ``reported`` by message index."""
    stop = len(messages)
    while messages and messages[-1].typed and stop and _is_said(messages[stop - 1]):
        stop -= 1
    held = Stored()
    for message in messages[:stop]:
        held.add(message, reported.get(message.index, 0))
    return held.before


def _is_said(message: Message) -> bool:
    return message.role is not Role.ASSISTANT and not message.result_ids()


def parts(items: Sequence[Item]) -> Parts:
    """Developer messages; the wrappers before the first prompt; the history; a prompt typed since the last reply."""
    system, rest = apart(items)
    first = next((n for n, item in enumerate(rest) if item.message.typed or not is_wrapper(item)), len(rest))
    replied = last_assistant(rest)
    newest = rest[replied + 1 :] if replied >= first else []
    live = newest if newest and newest[-1].message.typed and not any(is_answer(i) for i in newest) else []
    return Parts(system, rest[:first], rest[first : len(rest) - len(live)], live)


def compacted(found: Parts, users: list[Item], made: Sequence[Item]) -> list[Item]:
    """Retained user messages and what stands for the rest; the initial context in its place."""
    if found.live:
        return [*found.system, *users, *made, *found.initial, *found.live]
    return [*found.system, *users[:-1], *found.initial, *users[-1:], *made]


def is_wrapper(item: Item) -> bool:
    """AGENTS.md, environment and permission notes: from the user, not typed."""
    message = item.message
    return message.role is Role.USER and not item.inserted and not message.summary and not message.result_ids()


def retained(view: View, items: Sequence[Item], budget: int, *, least: int = 0, media: bool = False) -> list[Item]:
    """Typed user messages within ``budget`` tokens, in their order (policies 6.2).

    Text alone unless ``media``, which weighs nothing; every message weighs ``least`` tokens or more.
    """
    kept: list[Item] = []
    left = budget
    for item in reversed(items):
        if not item.message.typed:
            continue
        if left <= 0:
            break
        plain = item if media else text_only(view, item)
        tokens = max(least, text_tokens(plain))
        if tokens > left:
            kept.append(truncated(view, plain, left))
            break
        kept.append(plain)
        left -= tokens
    return kept[::-1]


def text_tokens(item: Item) -> int:
    """UTF-8 bytes of a message's text / 4, rounded up; its parts are joined by newlines."""
    texts = [block.n_bytes for block in item.message.blocks if block.kind is Kind.TEXT]
    return -(-(sum(texts) + max(0, len(texts) - 1)) // BYTES_PER_TOKEN)


def truncated(view: View, item: Item, tokens: int) -> Item:
    """Half of the budget from the head, half from the tail, and a word on what went."""
    whole = text_tokens(item)
    texts = [block for block in item.message.blocks if block.kind is Kind.TEXT]
    others = [block for block in item.message.blocks if block.kind is not Kind.TEXT]
    joined, n_bytes = replace(texts[0], parts=tuple(texts[1:])), sum(block.n_bytes for block in texts)
    n_chars = result_chars(joined) * min(tokens * BYTES_PER_TOKEN, n_bytes) // max(1, n_bytes)
    return view.tools.rewrite(item, [cut_text(joined, n_chars, f"…{whole - tokens} tokens truncated…"), *others])


@dataclass(frozen=True, slots=True)
class LocalParams(Limit):
    """The limit's configuration and what stays."""

    mode: str = choice(
        ("summary", "token_budget"), "Mode", "Summarise, or (token budget) start a fresh window without a summary"
    )
    user_message_tokens: int = param(20_000, "User messages kept", "Newest first, by UTF-8 bytes / 4", *FINE_TOKENS)


def local_edit(params: LocalParams, view: View) -> list[Item]:
    """Retained user messages, the initial context in its place, the summary; in token-budget mode a fresh window."""
    found = parts(view.items)
    if not found.history:
        return list(view.items)
    if params.mode == "token_budget":
        return [*found.system, *found.initial, *found.live]
    users = retained(view, found.history, params.user_message_tokens)
    return compacted(found, users, view.summarize(found.history))


LOCAL = Policy(
    name="codex_local", label="Codex local compaction",
    source="openai/codex codex-rs/core compact.rs, session/turn.rs (as in just-every/code, 2026-08-12)",
    help="At nine tenths of the window keeps 20,000 tokens of user messages and a summary.", estimator="codex",
    params=LocalParams, gate=gate, edit=local_edit,
    shares_prefix=True, threshold_param="auto_compact_token_limit", tier="golden",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RemoteParams(Limit):
    """The limit's configuration, the version, and what stays."""

    version: str = choice(
        ("v1", "v2"), "Version", "v1: the server chooses what stays; v2: the client retains user messages", default="v2"
    )
    retained_tokens: int = param(64_000, "Messages retained", "Version 2: user messages, newest first", *TOKENS)


def remote_edit(params: RemoteParams, view: View) -> list[Item]:
    """User messages, then one opaque item; the initial context as in local compaction."""
    found = parts(view.items)
    if not found.history:
        return list(view.items)
    if params.version == "v1":
        users = [item for item in found.history if item.message.typed]
    else:
        users = retained(view, found.history, params.retained_tokens, least=1, media=True)
    return compacted(found, users, view.summarize(found.history, mode="opaque", role="assistant"))


REMOTE = Policy(
    name="codex_remote", label="Codex remote compaction",
    source="openai/codex codex-rs/core compact_remote.rs, compact_remote_v2.rs (as in just-every/code, 2026-08-12)",
    help="At nine tenths of the window keeps user messages and one opaque item written by the server.",
    estimator="codex",
    params=RemoteParams, gate=gate, edit=remote_edit,
    shares_prefix=True, threshold_param="auto_compact_token_limit", tier="golden",
)  # fmt: skip

POLICIES = (LOCAL, REMOTE)
