"""What a session weighs as sections and back: a process reads these instead of weighing the session anew."""

from __future__ import annotations

from collections.abc import Mapping

from sessions.engine.models.model_info import ModelInfo, model_info, with_window
from sessions.engine.packing.columns import Named, dump, load
from sessions.engine.packing.section_file import Sections
from sessions.engine.transcript.parts import Parts
from sessions.engine.transcript.types import Label, Transcript
from sessions.engine.weigh.calibration.context_windows import ModelWindow
from sessions.engine.weigh.calibration.growth import Step
from sessions.engine.weigh.calibration.prior import Prior
from sessions.engine.weigh.calibration.scale import Scale
from sessions.engine.weigh.calibration.series import Loss, RecordedSeries
from sessions.engine.weigh.calibration.stays import Stays, Way
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.weigh.calibration.weights import Own


def _named(model: ModelInfo) -> str:
    """A model by its name, and by its window where a client or a seller gives it another."""
    if model == model_info(model.name):
        return f" {model.name}"
    return f"{model.window},{model.long_window or 0},{int(model.input_limited)} {model.name}"


def _called(written: str) -> ModelInfo:
    figures, name = written.split(" ", 1)
    if not figures:
        return model_info(name)
    window, long, is_limit = map(int, figures.split(","))
    return with_window(name, window, long=long or None, is_limit=is_limit == 1)


MODEL = Named(ModelInfo, _named, _called)
CLASSES = (Label, Step, Scale, Prior, Own, Way, Stays, RecordedSeries, Loss, ModelWindow, MODEL)
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
    return Weighed(
        transcript=transcript, steps=steps, others=others, known=(held, recorded), **plain, **columns
    )  # fmt: skip


def _others(others: Mapping[int, Own]) -> tuple[tuple[Own, ...], tuple[int, ...], tuple[int, ...]]:
    """The rules that other messages weigh by, each once, then by message which; rules hold mappings: no hash."""
    owns: list[Own] = []
    seen: dict[int, int] = {}
    for own in others.values():
        if id(own) not in seen:
            seen[id(own)] = owns.index(own) if own in owns else len(owns)
            owns += [own] if seen[id(own)] == len(owns) else []
    return tuple(owns), tuple(others), tuple(seen[id(own)] for own in others.values())
