"""Entries of the Export menu: the message list as documents that other tools read."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from sessions.engine.base import registry
from sessions.engine.reports.export import SIDES
from sessions.engine.reports.exports import ExportTarget
from sessions.models import Session


@dataclass(frozen=True, slots=True)
class Download:
    """One download; ``carry`` names what the link keeps of its own where the page's address has moved on."""

    words: str
    url: str
    carry: str = ""


def session_choices(session: Session) -> tuple[Download, ...]:
    """The whole session in every target."""
    return tuple(Download(f"Messages as {target.label}", _url(session, target)) for target in _targets())


def diff_choices(session: Session, query: str) -> tuple[Download, ...]:
    """Both sides of the event in every target; ``query`` is the replay's state without "?"."""
    rest = f"&{query}" if query else ""
    return tuple(
        Download(f"List {side} as {target.label}", f"{_url(session, target)}?side={side}{rest}", "side")
        for side in SIDES
        for target in _targets()
    )


def request_choices(session: Session, lists: list[tuple[str, str, str]]) -> tuple[Download, ...]:
    """Lists sent at requests in every target: each its words, its policy and the query of its replay and request."""
    return tuple(
        Download(
            f"List {words} as {target.label}",
            # With its policy, which tells a replay's list from the recording's own.
            f"{_url(session, target)}?{'' if query.startswith('policy=') else f'policy={policy}&'}{query}",
        )
        for words, policy, query in lists
        for target in _targets()
    )


def _url(session: Session, target: ExportTarget) -> str:
    return reverse("sessions:export", args=[session.pk, target.suffix.removeprefix(".")])


def _targets() -> list[ExportTarget]:
    """By label, ctxweb's own lines first."""
    found: list[ExportTarget] = list(registry.plugins("exports").values())
    return sorted(found, key=lambda target: (target.name != "jsonl", target.label))
