"""What a recorded compaction cost: rules lost and broken, files and commands asked for again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from sessions.pages.ui.addresses import message_place

if TYPE_CHECKING:
    from sessions.engine.quality.broken import RulesAfter
    from sessions.engine.why.aftermath import Aftermath
    from sessions.runs.overview import Overview

RULE_CHARS = 90


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule that was lost and broken, and the message that broke it."""

    text: str
    message: int
    href: str


@dataclass(frozen=True, slots=True)
class Harm:
    """What one compaction cost: rules that stand nowhere after it, and what was read or run again, in tokens.

    ``n_rules`` is None where rules were not looked at.
    """

    n_lost: int
    n_rules: int | None
    broken: tuple[BrokenRule, ...]
    n_files: int
    n_commands: int
    tokens_again: int
    label: str


def harm_of(session_id: str, view: Overview, one: Aftermath, rules: RulesAfter | None) -> Harm:
    """What came of one compaction; ``rules`` None: they were not looked at."""
    base = reverse("sessions:session", args=[session_id])
    n_files = sum(row.what == "file" for row in one.again)
    return Harm(
        n_lost=rules.n_lost if rules else 0,
        n_rules=rules.n_rules if rules else None,
        broken=tuple(
            BrokenRule(_cut(rule.text), rule.broken_at, message_place(base, rule.broken_at))
            for rule in (rules.broken if rules else ())
        ),
        n_files=n_files,
        n_commands=len(one.again) - n_files,
        tokens_again=one.tokens_again,
        label=str(view.weighed.weak_label),
    )


def _cut(text: str) -> str:
    return text if len(text) <= RULE_CHARS else f"{text[: RULE_CHARS - 1]}…"
