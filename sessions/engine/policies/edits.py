"""Edits that many policies share: results cleared or cut, media dropped, arguments shortened; pairs are never split.

Those of an item return a new one, or the very item given where nothing changes (the no-op rule, policies 2.5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import lru_cache
from operator import is_

from sessions.engine.policies.policy import Item, ResultPlace, View
from sessions.engine.tokens.text_facts import json_escapes
from sessions.engine.tokens.tokenizer import count
from sessions.engine.transcript.copies import remade
from sessions.engine.transcript.types import Block, Kind, Message

MARKERS = 16_384
"""How many markers are remembered: some policies write another one for every result of a long session."""
MEDIA = (Kind.IMAGE, Kind.DOCUMENT)


@lru_cache(maxsize=MARKERS)
def marker(text: str) -> Block:
    """A text block of a marker that a policy writes, counted exactly."""
    n_bytes, n_json = len(text.encode()), json_escapes(text)
    return Block(Kind.TEXT, n_chars=len(text), n_bytes=n_bytes, n_tokens=count(text).n_tokens, n_json=n_json)


def result_chars(block: Block) -> int:
    """Characters of a tool result's text, its parts included."""
    return sum([leaf.n_chars for leaf in block.leaves()]) if block.parts else block.n_chars


def result_tokens(item: Item, block: Block) -> int:
    """Display tokens of one block of a message: its share of the message's by tiktoken's count."""
    if item.message.blocks == (block,):
        return item.tokens if sum([leaf.n_tokens for leaf in block.leaves()]) else 0
    whole = sum([leaf.n_tokens for leaf in item.message.leaves()])
    mine = sum([leaf.n_tokens for leaf in block.leaves()])
    return item.tokens * mine // whole if whole else 0


def with_text(block: Block, text: str) -> Block:
    """A block whose whole content is ``text``: its parts are gone."""
    mark = marker(text)
    return remade(
        Block, block, n_chars=mark.n_chars, n_bytes=mark.n_bytes, n_tokens=mark.n_tokens, n_non_ascii=0,
        n_json=mark.n_json, parts=(), media=None,
    )  # fmt: skip


def cut_text(block: Block, n_chars: int, text: str) -> Block:
    """A block cut to ``n_chars`` of its characters plus ``text``; tokens and bytes of the rest in proportion.

    The count is approximate: a replay holds sizes, and where the cut falls decides the true one.
    """
    whole = result_chars(block)
    kept = min(n_chars, whole)
    mark = marker(text)

    def part(value: int) -> int:
        return value * kept // whole if whole else 0

    leaves = [leaf for leaf in block.leaves() if leaf.kind not in MEDIA]
    return remade(
        Block,
        block,
        n_chars=kept + mark.n_chars,
        n_bytes=part(sum([leaf.n_bytes for leaf in leaves])) + mark.n_bytes,
        n_tokens=part(sum([leaf.n_tokens for leaf in leaves])) + mark.n_tokens,
        n_non_ascii=part(sum([leaf.n_non_ascii for leaf in leaves])),
        n_json=part(sum([leaf.n_json for leaf in leaves])) + mark.n_json,
        approximate=True,
        parts=(),
        media=None,
    )


def edit_blocks(view: View, item: Item, change: Callable[[Block], Block | None]) -> Item:
    """``item`` with every block passed through ``change`` (None drops it); the same item where none changed."""
    blocks = item.message.blocks
    changed = [change(block) for block in blocks]
    if all(map(is_, changed, blocks)):
        return item
    return view.tools.rewrite(item, [new for new in changed if new is not None])


def edit_results(view: View, item: Item, call_ids: AbstractSet[str], change: Callable[[Block], Block]) -> Item:
    """``item`` with the results of ``call_ids`` passed through ``change``."""
    return edit_blocks(view, item, lambda b: change(b) if b.kind is Kind.TOOL_RESULT and b.call_id in call_ids else b)


def clear_results(view: View, item: Item, call_ids: AbstractSet[str], text: str) -> Item:
    """The results of ``call_ids`` in a message replaced by ``text``, media included; what was replaced stays."""

    def change(block: Block) -> Block:
        new = with_text(block, text)
        return block if item.edited and new == block else new

    def make() -> Item:
        return edit_results(view, item, call_ids, change)

    return view.tools.once(item, text, "" in call_ids, make) if item.message.result_ids() <= call_ids else make()


def clear_places(view: View, places: Iterable[ResultPlace], text: str) -> dict[int, Item]:
    """The messages that hold these results, each of them replaced by ``text``, by position."""
    patch: dict[int, Item] = {}
    for position, block in places:
        patch[position] = clear_results(view, patch.get(position, view.items[position]), {block.call_id}, text)
    return patch


def drop_media(view: View, item: Item, words: Callable[[Block], str]) -> Item:
    """Images and documents of a message, those inside results too, each replaced by its ``words``; "" leaves it."""
    for block in item.message.blocks:
        if block.parts or block.kind in MEDIA:
            return edit_blocks(view, item, lambda block: _in_words(block, words))
    return item


def _in_words(block: Block, words: Callable[[Block], str]) -> Block:
    if block.kind in MEDIA and (text := words(block)):
        return marker(text)
    parts = tuple([_in_words(part, words) for part in block.parts])
    return block if parts == block.parts else replace(block, parts=parts)


def thinks(message: Message) -> bool:
    """Whether a message has a thinking block."""
    return any(block.kind is Kind.THINKING for block in message.blocks)


def text_only(view: View, item: Item) -> Item:
    """A message without what is no text."""
    return edit_blocks(view, item, lambda block: block if block.kind is Kind.TEXT else None)


def drop_thinking(view: View, item: Item) -> Item:
    """A message without its thinking blocks."""
    return edit_blocks(view, item, lambda block: None if block.kind is Kind.THINKING else block)
