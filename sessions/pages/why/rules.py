"""Rules at each recorded compaction, as the Why page shows them once their texts are read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from sessions.pages.ui.addresses import message_place

if TYPE_CHECKING:
    from sessions.engine.quality.broken import RulesAfter

CHARS = 240


@dataclass(frozen=True, slots=True)
class BrokenRow:
    """A rule that was said, lost and broken, with both messages."""

    number: int
    text: str
    source: str
    said_at: int
    said_href: str
    broken_at: int
    broken_href: str
    broken_by: str
    may_stand: bool


@dataclass(frozen=True, slots=True)
class SteeringRow:
    """A text of a tool result that addresses the summariser."""

    numbers: str
    text: str
    message: int
    href: str


@dataclass(frozen=True, slots=True)
class RulesView:
    """What the pane shows; ``lost`` says for each compaction how many rules stand nowhere after it."""

    lost: tuple[tuple[int, int, int], ...]
    broken: tuple[BrokenRow, ...]
    steering: tuple[SteeringRow, ...]


def build_rules(session_id: str, found: Iterable[RulesAfter]) -> RulesView:
    """The pane of a session."""
    base = reverse("sessions:session", args=[session_id])
    every = tuple(found)
    broken = tuple(
        BrokenRow(
            one.compaction + 1, _cut(rule.text), rule.source, rule.said_at, message_place(base, rule.said_at),
            rule.broken_at, message_place(base, rule.broken_at), _cut(rule.broken_by), rule.may_stand,
        )
        for one in every
        for rule in one.broken
    )  # fmt: skip
    said: dict[tuple[int, str], list[int]] = {}
    for one in every:
        for steered in one.steering:
            said.setdefault(steered, []).append(one.compaction + 1)
    steering = tuple(
        SteeringRow(", ".join(map(str, numbers)), _cut(text), message, message_place(base, message))
        for (message, text), numbers in said.items()
    )
    return RulesView(tuple((o.compaction + 1, o.n_lost, o.n_rules) for o in every if o.n_rules), broken, steering)


def _cut(text: str) -> str:
    return text if len(text) <= CHARS else f"{text[: CHARS - 1]}\N{HORIZONTAL ELLIPSIS}"
