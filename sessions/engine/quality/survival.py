"""Which compaction lost a text first, in a replay or in the recording; that it may return later is not considered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sessions.engine.quality.assess import Assessment
from sessions.engine.quality.index import Read, flat_text
from sessions.engine.quality.standing import GONE, MENTIONED, VERBATIM, Standing, flat
from sessions.engine.transcript.types import Transcript


@dataclass(frozen=True, slots=True)
class TextFate:
    """The text's state before and after event ``number``: each one of ``standing.STATES``."""

    number: int
    request: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Survival:
    """Where a text stands, as (message, block), its fates from there on, and the first event after which it is gone."""

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
        before, after = (_state(wanted, places, context) for context in (assessment.before, assessment.after))
        fates.append(TextFate(assessment.number, assessment.event.request, before, after))
    lost_at = next((fate.number for fate in fates if fate.before != GONE and fate.after == GONE), None)
    return Survival(text, places, tuple(fates), lost_at)


def _state(wanted: str, places: Iterable[tuple[int, int]], context: Standing) -> str:
    if any(context.has_block(*place) for place in places):
        return VERBATIM
    return MENTIONED if any(wanted in flat(inserted.text) for inserted in context.inserted) else context.missing
