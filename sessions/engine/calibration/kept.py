"""What a session weighs as sections and back: a process reads these instead of weighing the session anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.calibration.growth import Step
from sessions.engine.calibration.held import Held
from sessions.engine.calibration.losses import Loss
from sessions.engine.calibration.prior import Prior
from sessions.engine.calibration.scale import Scale
from sessions.engine.calibration.series import RecordedSeries
from sessions.engine.calibration.stays import Stays, Way
from sessions.engine.calibration.weighed import Weighed
from sessions.engine.calibration.weights import Own
from sessions.engine.columns import Named, dump, load
from sessions.engine.model_info import ModelInfo, model_info
from sessions.engine.parts import Parts
from sessions.engine.types import Label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.engine.sealed import Sections
    from sessions.engine.types import Transcript

MODEL = Named(ModelInfo, lambda model: model.name, model_info)
CLASSES = (Label, Step, Scale, Prior, Own, Way, Stays, RecordedSeries, Loss, Held, MODEL)
COLUMNS = ("tokens", "labels", "thinking", "estimated")
PLAIN = (
    "model", "scale", "ratio_label", "n_growths", "overhead", "overhead_label", "flagged", "warnings", "history",
    "hidden", "shifts", "way",
)  # fmt: skip
"""Fields of a weighed session that are kept as they are."""


def sections_of(weighed: Weighed) -> dict[str, bytes]:
    """Everything that weighing made of the transcript, its window and its recorded series."""
    values: dict[str, object] = {
        "plain": tuple(getattr(weighed, name) for name in PLAIN),
        "columns": tuple(getattr(weighed, name) for name in COLUMNS),
        "steps": weighed.steps,
        "others": _others(weighed.others),
        "derived": (len(weighed.steps), weighed.holds, weighed.recorded),
    }
    return {name: dump(value, CLASSES) for name, value in values.items()}


def weighed_of(transcript: Transcript, sections: Sections) -> Weighed:
    """The session as it was weighed; its steps are read when they are looked at."""
    plain = dict(zip(PLAIN, load(sections["plain"], CLASSES), strict=True))
    columns = dict(zip(COLUMNS, load(sections["columns"], CLASSES), strict=True))
    n_steps, held, recorded = load(sections["derived"], CLASSES)
    owns, indices, places = load(sections["others"], CLASSES)
    others = dict(zip(indices, map(owns.__getitem__, places), strict=True))
    steps: Parts[Step] = Parts(n_steps, max(n_steps, 1), lambda _: load(sections["steps"], CLASSES))
    weighed = Weighed(transcript=transcript, steps=steps, others=others, **plain, **columns)
    weighed.__dict__.update(holds=held, recorded=recorded)
    return weighed


def _others(others: Mapping[int, Own]) -> tuple[tuple[Own, ...], tuple[int, ...], tuple[int, ...]]:
    """The rules that other messages weigh by, each once, then by message which; rules hold mappings: no hash."""
    owns: list[Own] = []
    seen: dict[int, int] = {}
    for own in others.values():
        if id(own) not in seen:
            seen[id(own)] = owns.index(own) if own in owns else len(owns)
            owns += [own] if seen[id(own)] == len(owns) else []
    return tuple(owns), tuple(others), tuple(seen[id(own)] for own in others.values())
