"""Entries of the Export menu: the message list as documents that other tools read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.urls import reverse

from sessions.engine.base import registry
from sessions.engine.reports.export import SIDES
from sessions.engine.reports.exports import ExportTarget
from sessions.models import Session
from sessions.pages.ui.addresses import with_query


@dataclass(frozen=True, slots=True)
class Download:
    """One download; ``carry`` names what the link keeps of its own where the page's address has moved on."""

    words: str
    url: str
    carry: str = ""


def choices(session: Session, lists: Iterable[tuple[str, str, str]] = (("Messages", "", ""),)) -> list[Download]:
    """Lists in every target, ctxweb's own lines first: each its words, its query, and what its link keeps."""
    found: list[ExportTarget] = list(registry.plugins("exports").values())
    targets = sorted(found, key=lambda target: (target.name != "jsonl", target.label))
    paths = {
        target.label: reverse("sessions:export", args=[session.pk, target.suffix.removeprefix(".")])
        for target in targets
    }
    return [
        Download(f"{words} as {label}", with_query(path, query), carry)
        for words, query, carry in lists
        for label, path in paths.items()
    ]


def event_lists(query: str) -> list[tuple[str, str, str]]:
    """Both sides of an event; ``query`` is the replay's state without "?"."""
    return [(f"List {side}", "&".join(filter(None, (f"side={side}", query))), "side") for side in SIDES]


def request_list(words: str, policy: str, query: str) -> tuple[str, str, str]:
    """The list sent at a request, with its policy, which tells a replay's list from the recording's own."""
    return f"List {words}", query if query.startswith("policy=") else f"policy={policy}&{query}", ""
