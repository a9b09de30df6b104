"""What stands for dropped messages at every step, by a summarizer whose summary weighs the same whatever is dropped."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.sizes import message_size
from sessions.engine.summaries import Brief, Summaries, drafted_message
from sessions.engine.types import Role

if TYPE_CHECKING:
    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.summaries import WrittenSummary
    from sessions.engine.sweeps.fast.jump import Kept
    from sessions.engine.types import Message

FIXED_SIZE = frozenset({"recorded", "stub"})
"""Summarizers whose summary weighs the same whatever is dropped."""
FAR = -1_000_000_000
"""A request far from every recorded compaction."""


class Product(NamedTuple):
    """What is inserted at a step: display tokens, those of summaries, size in the gate's unit, how many messages.

    ``room`` is what is left for files put back, in tokens, None where all of that stays; ``source`` who wrote it.
    ``stays``: some of it is a system message, which no later compaction drops.  ``alone``: all of it are summaries.
    """

    tokens: int
    summary: int
    size: int
    n: int
    room: int | None
    source: str
    stays: bool
    alone: bool


class Products(NamedTuple):
    """The products of a session: those at steps beside recorded compactions, and ``usual`` at all others."""

    near: dict[int, Product]
    usual: Product

    def at(self, step: int) -> Product:
        """What is inserted at a step."""
        return self.near.get(step, self.usual)

    @property
    def stay(self) -> bool:
        """Whether any holds a system message."""
        return self.usual.stays or any(product.stays for product in self.near.values())


def products_of(summaries: Summaries, most: int | None = None) -> Products:
    """What the summarizer inserts anywhere in its session; ``most`` caps what it writes itself, in display tokens."""
    weighed = summaries.weighed
    beside = {c.request + n for c in weighed.transcript.compactions for n in (-1, 0, 1)}
    near = {
        k: _product(summaries, weighed, step.request, most)
        for k, step in enumerate(weighed.steps)
        if step.request in beside
    }
    return Products(near, _product(summaries, weighed, FAR, most))


def kept_products(summaries: Summaries, kept: Kept) -> Products:
    """What the summarizer inserts; kept where it reads what the recording's compactions made."""
    make = partial(products_of, summaries)
    if summaries.argument is not None or summaries.summarizer.takes_number:
        return make()
    name = f"products {summaries.summarizer.name} {summaries.estimator.name}"
    return kept(name, make, (Products, Product))


def product_messages(summaries: Summaries, request: int) -> list[Message]:
    """The messages that stand for what is dropped at a request."""
    return _messages(summaries, _written(summaries, request))


def _written(summaries: Summaries, request: int, most: int | None = None) -> WrittenSummary:
    written = summaries.summarizer.write(Brief(summaries.weighed, request, (), summaries.argument))
    if most is None:
        return written
    return written._replace(drafts=tuple(d._replace(tokens=min(d.tokens, most)) for d in written.drafts))


def _messages(summaries: Summaries, written: WrittenSummary) -> list[Message]:
    ratio = summaries.weighed.ratio
    return list(written.messages) or [drafted_message(draft, "", ratio) for draft in written.drafts]


def _product(summaries: Summaries, weighed: Weighed, request: int, most: int | None) -> Product:
    written = _written(summaries, request, most)
    estimator, model = summaries.estimator, weighed.model
    messages = _messages(summaries, written)
    if written.messages:
        tokens = [weighed.tokens[m.index] for m in messages]
    else:
        tokens = [draft.tokens for draft in written.drafts]
    return Product(
        sum(tokens),
        sum(n for n, message in zip(tokens, messages, strict=True) if message.summary),
        sum(message_size(message, estimator, model) for message in messages),
        len(messages),
        written.room if written.messages else None,
        written.source,
        any(message.role is Role.SYSTEM for message in messages),
        all(message.summary for message in messages),
    )
