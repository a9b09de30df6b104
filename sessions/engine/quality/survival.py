"""Which compaction lost this?  Any text, followed through the events of a replay or of the recording.

Only the first loss counts: that the text returns later (a user says it again, a tool reads it again) is not considered.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.quality.index import Read, flat_text
from sessions.engine.quality.standing import GONE, MENTIONED, VERBATIM, flat
from sessions.engine.transcript.types import Transcript

if TYPE_CHECKING:
    from sessions.engine.quality.assess import Assessment


@dataclass(frozen=True, slots=True)
class TextFate:
    """The text's state before and after event ``number``: each one of ``standing.STATES``."""

    number: int
    request: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Survival:
    """Where a text stands and how long it survives.

    ``places`` are (message, block) of the originals that say it; ``fates`` are of the events after its first place;
    ``lost_at`` is the first event after which it is gone though it was there before, None for never.
    """

    text: str
    places: tuple[tuple[int, int], ...]
    fates: tuple[TextFate, ...]
    lost_at: int | None


def survival(text: str, transcript: Transcript, read: Read, assessments: Iterable[Assessment]) -> Survival:
    """Follow a text (case and spacing aside) through events in order; reads every message once."""
    wanted = flat(text)
    places = tuple(
        (message.index, block_number)
        for message in transcript.messages
        if wanted and message.compaction is None
        for block_number, content in enumerate(read(message))
        if wanted in flat(flat_text(content))
    )
    fates: list[TextFate] = []
    for assessment in assessments:
        if not places or places[0][0] > assessment.before.newest:
            continue
        states = []
        for context in (assessment.before, assessment.after):
            if any(context.has_block(message, block) for message, block in places):
                states.append(VERBATIM)
            else:
                is_mentioned = any(wanted in flat(insertion.text) for insertion in context.inserted)
                states.append(MENTIONED if is_mentioned else context.missing)
        fates.append(TextFate(assessment.number, assessment.event.request, states[0], states[1]))
    lost_at = next((fate.number for fate in fates if fate.before != GONE and fate.after == GONE), None)
    return Survival(text, places, tuple(fates), lost_at)
