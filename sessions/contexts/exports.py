"""Entries of the Export menu: the message list as documents that other tools read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from sessions.engine import registry
from sessions.engine.export import SIDES

if TYPE_CHECKING:
    from sessions.engine.exports import Target
    from sessions.models import Session


@dataclass(frozen=True, slots=True)
class Choice:
    """One download."""

    words: str
    url: str


def session_choices(session: Session) -> tuple[Choice, ...]:
    """The whole session in every target."""
    return tuple(Choice(f"Messages as {target.label}", _url(session, target)) for target in _targets())


def diff_choices(session: Session, query: str) -> tuple[Choice, ...]:
    """Both sides of the event in every target; ``query`` is the replay's state without "?"."""
    rest = f"&{query}" if query else ""
    return tuple(
        Choice(f"List {side} as {target.label}", f"{_url(session, target)}?side={side}{rest}")
        for side in SIDES
        for target in _targets()
    )


def _url(session: Session, target: Target) -> str:
    return reverse("sessions:export", args=[session.pk, target.suffix.removeprefix(".")])


def _targets() -> list[Target]:
    """By label, ctxweb's own lines first."""
    found: list[Target] = list(registry.plugins("exports").values())
    return sorted(found, key=lambda target: (target.name != "jsonl", target.label))
