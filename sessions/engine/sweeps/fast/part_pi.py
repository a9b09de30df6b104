"""What pi's compaction leaves, by prefix sums: the newest messages that reach a size, and the names of files."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine.edits import marker
from sessions.engine.estimators._counts import up
from sessions.engine.policies import pi
from sessions.engine.sweeps.fast.counts import REPLY, USED, Count, next_over, some_steps
from sessions.engine.sweeps.fast.field import ASSISTANT_ROLE, TOOL_ROLE, USER_ROLE
from sessions.engine.sweeps.fast.left import Left
from sessions.engine.sweeps.fast.part import Leaver, Partial
from sessions.engine.sweeps.fast.part_handoff import made
from sessions.engine.sweeps.fast.track import messages_of
from sessions.engine.tokenizer import count
from sessions.engine.types import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.model_info import ModelInfo
    from sessions.engine.policy import Gate
    from sessions.engine.sweeps.fast.field import Field
    from sessions.engine.sweeps.fast.part import Asked
    from sessions.engine.sweeps.fast.products import Product
    from sessions.engine.types import Message
    from sessions.engine.walk import Walk

PLAIN_NAME = re.compile(r"[A-Za-z0-9/][^\r\n]*[A-Za-z0-9]|[A-Za-z0-9]")
"""Names that stand on lines of their own as they are counted by themselves."""


def rule(params: Any, window: int, model: ModelInfo | None) -> Partial | None:
    """The reserve and what is kept."""
    del model
    if params.usage != "recorded":
        return None
    by_turns = params.when == "turns"
    limit = pi.most(params, window) + 1
    edit = Recent(params.keep_recent, by_turns)
    return Partial(limit, Count(pi.POLICY.estimator, REPLY if by_turns else USED), edit, most=window)


class Files(NamedTuple):
    """Positions of calls that name a file for the first time to read or to write it.

    ``tokens`` and ``chars`` are those of the text that names the files of the first n of these calls, for every n.
    """

    places: tuple[int, ...]
    tokens: tuple[int, ...]
    chars: tuple[int, ...]


def files_of(messages: Sequence[Message]) -> Files:
    """The files that a session names."""
    read, written, places, tokens, chars = Names("read-files"), Names("modified-files"), list[int](), [0], [0]
    for position, message in enumerate(messages):
        for block in message.blocks:
            if block.kind is not Kind.TOOL_USE or not block.target:
                continue
            name, is_new = block.name.lower(), False
            if name in pi.WRITERS and block.target not in written.names:
                written.add(block.target)
                read.drop(block.target)
                is_new = True
            if name in pi.READERS and block.target not in read.names and block.target not in written.names:
                read.add(block.target)
                is_new = True
            if is_new:
                places.append(position)
                tokens.append(tokens_of(read, written))
                chars.append(read.n_chars + written.n_chars + 2 * bool(read.names and written.names))
    return Files(tuple(places), tuple(tokens), tuple(chars))


def tokens_of(read: Names, written: Names) -> int:
    """Tokens of the text that names them."""
    sections = [each for each in (read, written) if each.names]
    if any(each.n_odd for each in sections):
        return marker("\n\n".join(each.text() for each in sections)).n_tokens
    between = marker(f"</{read.tag}>\n\n<{written.tag}>").n_tokens - _ends(read, written) if len(sections) > 1 else 0
    return sum(each.n_tokens for each in sections) + between


def _ends(read: Names, written: Names) -> int:
    return marker(f"</{read.tag}>").n_tokens + marker(f"<{written.tag}>").n_tokens


@dataclass
class Names:
    """Names of files under a tag, and what their text comes to where lines do not run into each other.

    ``n_odd`` are those that may: that begin or end with no ASCII letter, digit or slash, or hold a line's end.
    """

    tag: str
    names: dict[str, int] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    n_odd: int = 0
    n_own: int = 0
    n_own_chars: int = 0

    def add(self, name: str) -> None:
        """One name more."""
        tokens = count(f"\n{name}").n_tokens
        self.names[name] = tokens
        insort(self.order, name)
        self._change(name, tokens, 1)

    def drop(self, name: str) -> None:
        """One name less, where it is there."""
        tokens = self.names.pop(name, None)
        if tokens is not None:
            del self.order[bisect_left(self.order, name)]
            self._change(name, tokens, -1)

    def _change(self, name: str, tokens: int, sign: int) -> None:
        self.n_own, self.n_own_chars = self.n_own + sign * tokens, self.n_own_chars + sign * (len(name) + 1)
        self.n_odd += sign * (not PLAIN_NAME.fullmatch(name))

    @property
    def n_tokens(self) -> int:
        """Tokens of the section; its first line runs into the tag before it."""
        first = self.order[0]
        head = marker(f"<{self.tag}>\n{first}").n_tokens - self.names[first]
        return head + self.n_own + marker(f"\n</{self.tag}>").n_tokens

    @property
    def n_chars(self) -> int:
        """Characters of the section."""
        return len(f"<{self.tag}>\n</{self.tag}>") + self.n_own_chars if self.names else 0

    def text(self) -> str:
        """The section."""
        return f"<{self.tag}>\n" + "\n".join(self.order) + f"\n</{self.tag}>"


@dataclass(frozen=True, slots=True)
class Recent:
    """The newest messages that reach ``keep`` stay; ``by_turns``: asked between turns alone."""

    keep: int
    by_turns: bool

    def leaver(self, field: Field) -> Leaver | None:
        """None where requests brought no message, or a summary stands among the messages."""
        products = [field.products.usual, *field.products.near.values()]
        plain = not field.has_empty and not field.kinds.summaries and all(product.alone for product in products)
        return PiLeaver(field, self) if plain else None


class PiLeaver(Leaver):
    """See ``policies.pi``."""

    writes = True

    def __init__(self, field: Field, edit: Recent) -> None:
        super().__init__(field)
        self.edit = edit
        roles, stops = field.kinds.roles, field.track.stops
        self.users = [n for n, role in enumerate(roles) if role == USER_ROLE]
        self.valid = [n for n, role in enumerate(roles) if role != TOOL_ROLE]
        asked = [k for k, stop in enumerate(stops) if k and roles[stop - 1] in {USER_ROLE, ASSISTANT_ROLE}]
        self.asked = some_steps(asked, field.heights)
        self.files: Files = field.kept("pi files", lambda: files_of(messages_of(field.weighed)), (Files,))

    def starts_over(self, rule: Partial) -> bool:
        """Between turns it waits for the first usage."""
        return not self.edit.by_turns and self.first() >= rule.limit

    def may_stay_on(self, rule: Partial, left: Left) -> bool:
        """By usage, and between requests by size."""
        size = 0 if self.edit.by_turns else left.size + self.field.track.overhead
        return max(left.tokens, size) >= rule.limit

    def next(self, rule: Partial, low: int, offset: int, held: Left) -> int | None:
        """Between turns, or where the provider refuses."""
        if not self.edit.by_turns:
            return super().next(rule, low, offset, held)
        here = self.field
        found = self.asked.next_over(low, rule.limit - offset, here.track.n_steps)
        if rule.most is None:
            return found
        return min(found, next_over(here.track.tops, here.tops_peaks, low, rule.most + 1 - offset))

    def leave(self, rule: Partial, held: Left, step: int, before: int) -> Left | None:
        """The summary, the names of files, what is kept, what is about to be sent."""
        here, stop, roles = self.field, self.field.track.stops[step], self.field.kinds.roles
        end, measure = stop, here.heights[step] + before - here.track.tops[step]
        if self.edit.by_turns and measure >= rule.limit and roles[stop - 1] == USER_ROLE:
            last = bisect_left(here.kinds.replies, stop) - 1
            end = max(held.cut, here.kinds.replies[last] + 1) if last >= 0 else held.cut
        if end <= held.cut:
            return None
        cut = self._cut(held.cut, end)
        number = bisect_right(self.users, cut) - 1
        two = roles[cut] != USER_ROLE and number >= 0 and self.users[number] > held.cut
        product, base = here.products.at(step), here.track.overhead + here.lead
        put_in, size, n = self._put_in(product, bisect_left(self.files.places, cut))
        tokens = here.track.overhead + here.standing(cut, step) + put_in
        size += here.sized.system + here.size_of(cut, stop)
        written = product.summary + put_in - product.tokens
        return Left(tokens, size, cut, base, n, written, 2 if two else 1, (made(n),))

    def _cut(self, start: int, end: int) -> int:
        """``pi.find_cut`` of the messages from ``start`` to ``end``."""
        sums, valid = self.field.sized.sums, self.valid
        first = bisect_left(valid, start)
        if first >= len(valid) or valid[first] >= end:
            return start
        reached = min(end - 1, bisect_right(sums, sums[end] - self.edit.keep) - 1)
        if reached >= start:
            place = bisect_left(valid, reached)
            if place < len(valid) and valid[place] < end:
                return valid[place]
        return valid[first]

    def _put_in(self, product: Product, n: int) -> tuple[int, int, int]:
        """The summary, and the names that the first ``n`` calls read and wrote: tokens, size and how many messages."""
        tokens, n_chars = self.files.tokens[n], self.files.chars[n]
        if product.room is not None:
            tokens = min(tokens, product.room)
        if not n_chars or (product.room is not None and not tokens):
            return product.tokens, product.size, product.n
        return product.tokens + tokens, product.size + up(n_chars, 4), product.n + 1

    def ask(self, walk: Walk, asked: Asked) -> Gate:
        """With the newest message."""
        view = self.view(walk, asked)
        view.items = [walk.items[self.field.track.newest[asked.step]]]
        return walk.drawn.gate(walk.params, view)
