"""The subagents of a session beside its sweep: how many of each type, their largest context, what to set for them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.urls import reverse

from sessions.engine.base.errors import UnreadableInput
from sessions.models import Session
from sessions.pages.sweep import rows as sweep_rows
from sessions.pages.sweep import state as urlstate
from sessions.pages.sweep.picks import advised
from sessions.runs import sweeps

SECONDS = sweeps.INLINE_SECONDS
"""The types whose sweep is not begun by then are a link to it."""


class TypeRow:
    """Subagents of one type; ``setting`` and ``says`` are "" where their sweep has not been run; ``href`` is that."""

    def __init__(self, name: str, those: Sequence[Session], state: urlstate.SweepState, *, is_late: bool) -> None:
        some = list(those[: urlstate.MAX_SESSIONS])
        own = replace(state, **urlstate.of_several(some))
        self.setting, self.says = ("", "") if is_late else _advised(own, some, len(those))
        self.type, self.n = name, len(those)
        self.n_compacted = sum(one.n_compactions > 0 for one in those)
        self.peak, self.label = those[0].peak_context, those[0].peak_label
        self.href = f"{reverse('sessions:sweeps')}?{urlstate.query(own)}"


def type_rows(state: urlstate.SweepState, kinds: Mapping[str, Sequence[Session]]) -> tuple[TypeRow, ...]:
    """A row for each type, with the setting that follows from a sweep of its subagents over the same settings.

    Those of a type stand by their largest context, as ``by_type`` gives them.
    """
    started = time.perf_counter()
    return tuple(
        TypeRow(name, those, state, is_late=time.perf_counter() - started > SECONDS) for name, those in kinds.items()
    )


def _advised(state: urlstate.SweepState, some: Sequence[Session], n: int) -> tuple[str, str]:
    """The setting in words, and why; "" for what a page does not wait for; ``some`` are the largest of ``n``."""
    try:
        swept = sweeps.swept(urlstate.options_of(state, some), some)
    except UnreadableInput:  # the file of one of them is gone: that takes nothing from their parent's page
        return "", ""
    if not swept.complete:
        return "", ""
    advice, setting, _ = advised(swept, dict(state.floors))
    sentence = f"{advice.sentence} Of the {len(some)} largest." if len(some) < n else advice.sentence
    keys = [axis.key for axis in swept.sweeps[0].axes]
    return sweep_rows.setting_words(setting, keys) if setting else "", sentence
