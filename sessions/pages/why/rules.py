"""Rules at each recorded compaction, as the Why page shows them once their texts are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sessions.engine.quality.broken import Broken, RulesAfter


@dataclass(frozen=True, slots=True)
class RulesView:
    """What the pane shows: compactions before which rules were said, and the rules broken after one, by its number.

    ``steering`` are texts of tool results that address the summariser: message, text, compactions.
    """

    compactions: tuple[RulesAfter, ...]
    broken: tuple[tuple[int, Broken], ...]
    steering: tuple[tuple[int, str, str], ...]


def build_rules(found: Sequence[RulesAfter]) -> RulesView:
    """The pane of a session."""
    said: dict[tuple[int, str], list[str]] = {}
    for one in found:
        for steered in one.steering:
            said.setdefault(steered, []).append(str(one.compaction + 1))
    return RulesView(
        tuple(one for one in found if one.n_rules),
        tuple((one.compaction + 1, rule) for one in found for rule in one.broken),
        tuple((message, text, ", ".join(numbers)) for (message, text), numbers in said.items()),
    )
