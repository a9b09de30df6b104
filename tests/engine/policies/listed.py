"""Message lists in a few letters, and a view of one: for what policies do with positions, sizes and pairs.

``lists("s2 u3 a4:c r9:c n1 i5 z6")`` are a system message of 2, a typed prompt of 3, a reply of 4 that calls c, a
result of 9 for c, an untyped user message of 1, an inserted message of 5 and a recorded summary of 6.  A size is
tokens, gate units, characters and bytes alike.  A result after ``!`` is an error: ``r9:!c``; ``t7`` is a reply that
thinks and says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from sessions.engine.models.model_info import model_info
from sessions.engine.policies import ag2
from sessions.engine.policies.edits import result_chars
from sessions.engine.policies.policy import Draft, Item, State, SummaryFailed, View
from sessions.engine.transcript.types import Block, Kind, Message, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROLES = {"s": Role.SYSTEM, "a": Role.ASSISTANT, "t": Role.ASSISTANT}


def block(kind: Kind, size: int, **facts: Any) -> Block:
    """A block of ``size`` tokens, characters and bytes."""
    return Block(kind, n_chars=size, n_bytes=size, n_tokens=size, **facts)


def lists(text: str, name: str = "Read") -> list[Item]:
    """The list that ``text`` describes; ids are the positions."""
    return [_item(n, word, name) for n, word in enumerate(text.split())]


def _item(n: int, word: str, name: str) -> Item:
    head, _, ids = word.partition(":")
    letter, size = head[0], int(head[1:] or 1)
    calls = ids.split(",") if ids else []
    if letter == "r":
        first = size - (len(calls) - 1)
        blocks = [
            block(Kind.TOOL_RESULT, first if k == 0 else 1, call_id=call.strip("!"), is_error=call[:1] == "!")
            for k, call in enumerate(calls)
        ]
    else:
        blocks = [block(Kind.THINKING if letter == "t" else Kind.TEXT, size)] if size else []
        blocks += [Block(Kind.TOOL_USE, call_id=call, name=name, target=f"/{call}") for call in calls]
    message = Message(
        n, str(n), ROLES.get(letter, Role.USER), tuple(blocks), typed=letter == "u", summary=letter == "z"
    )
    return Item(str(n), message, size, size, n, inserted=letter == "i")


@dataclass
class Desk:
    """The tools of a view: a summary weighs ``summary``; what was asked is noted."""

    summary: int = 7
    fails: bool = False
    asked: list[tuple[list[str], dict[str, Any]]] = field(default_factory=list)

    def summarize(self, dropped: Sequence[Item], attachments: Sequence[Draft] = (), **how: Any) -> tuple[Item, ...]:
        """One message, and the attachments."""
        if self.fails:
            raise SummaryFailed("no answer")
        self.asked.append(([item.id for item in dropped], {**how, "attachments": list(attachments)}))
        made = replace(_item(0, f"i{self.summary}", ""), id="new")
        return (made, *(self.draft(draft) for draft in attachments))

    def draft(self, draft: Draft) -> Item:
        """An inserted message."""
        return replace(_item(0, f"i{draft.tokens}", ""), id=draft.preview)

    def rewrite(self, item: Item, blocks: Sequence[Block], preview: str | None = None) -> Item:
        """Weighed anew, by characters."""
        size = sum(result_chars(b) for b in blocks)
        return replace(item, message=replace(item.message, blocks=tuple(blocks)), tokens=size, size=size, edited=True)

    def once(self, item: Item, edit: str, detail: object, make: Callable[[], Item]) -> Item:
        """Made every time."""
        del item, edit, detail
        return make()

    def text(self, item: Item) -> str:
        """As many x as it weighs."""
        return "x" * item.size

    def weigh(self, text: str) -> int:
        """A token a character."""
        return len(text)

    def size_by(self, item: Item, estimator: str) -> int:
        """The same by every estimator."""
        return item.size

    def reported_reasoning(self, item: Item) -> int:
        """None was reported."""
        return 0


def seen(items: Sequence[Item] | str, model: str = "gpt-4.1", **facts: Any) -> View:
    """A view of a list; everything that ``facts`` do not say follows from it."""
    held = lists(items) if isinstance(items, str) else list(items)
    size = sum(item.size for item in held)
    results = [n for n, item in enumerate(held) if any(b.kind is Kind.TOOL_RESULT for b in item.message.blocks)]
    plain: dict[str, Any] = {
        "request": 1, "size": size, "usage": None, "window": 1_000, "overhead": 0,
        "context": size + facts.get("overhead", 0), "model": model_info(model), "state": State(), "tools": Desk(),
        "results": results,
    }  # fmt: skip
    return View(held, **{**plain, **facts})


def told(**facts: Any) -> Any:
    """Parameters, as a policy's functions read them."""
    return SimpleNamespace(**facts)


def ids(items: Sequence[Item]) -> str:
    """The ids of a list, in a row."""
    return " ".join(item.id for item in items)


def kept(spans: Sequence[tuple[int, int]]) -> str:
    """The positions in stretches from and to, in a row."""
    return " ".join(str(n) for start, stop in spans for n in range(start, stop))


def planned(tokens: list[int | None], per_message: int, most: int) -> list[tuple[int, int | None]]:
    """What AG2's token limiter keeps of messages with so many tokens: positions, each with what it is cut to."""
    counted = ag2.Counted(per_message)
    for mine in tokens:
        counted.count(mine)
    first, cuts = counted.plan(most)
    return [(position, cuts.get(position, tokens[position])) for position in range(first, len(tokens))]
