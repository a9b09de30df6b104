"""The model and the context window that hold at a request, and what disproves a window that was only assumed.

A window that a transcript records stands.  One of the model table, or the default, never stands against evidence: a
context measured above it, or a limit that the provider named when it refused a request, raises it; what nobody knew
of an unlisted model takes that limit either way.  Such a window is called inferred (replay-semantics 4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.agent import USUAL_WINDOWS
from sessions.engine.model_info import UNKNOWN_WINDOW, ModelInfo, model_info

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.calibration.growth import Step
    from sessions.engine.types import Transcript

RECORDED, MODEL, LONG, INFERRED, DEFAULT = "recorded", "model", "model, long window", "inferred", "default"


class Held(NamedTuple):
    """A model and the window in tokens it is held against; ``source`` is one of the five above."""

    model: ModelInfo
    window: int
    source: str


def held_by(transcript: Transcript, name: str, flagged: frozenset[int] = frozenset()) -> Held:
    """The window of a model of the session, "" for the one it is about; ``flagged`` requests prove nothing.

    A recorded window is that of the model used last, and others of the session take no more without evidence: the
    client bounds them too.  A model that is not known takes the session's window.  Where the session's own model shows
    that the client asked for its long window, its other models that have one take theirs.  A limit that the provider
    named stands above what was measured; a context that no usual window holds was counted wrongly and proves nothing.
    """
    info = model_info(name or transcript.model)
    if transcript.window and name in {"", main_model(transcript)}:
        return Held(info, transcript.window, RECORDED)
    window, source = (info.window, MODEL) if info.known and info.window else (UNKNOWN_WINDOW, DEFAULT)
    own = name or transcript.model
    if name not in {"", transcript.model} and (source == DEFAULT or info.note):
        window, source = held_by(transcript, "", flagged).window, DEFAULT
    if transcript.window:
        window = min(window, transcript.window)
    limit = _limit(transcript, own)
    shown, longest = limit or _largest(transcript, own, flagged), info.long_window or 0
    if window < longest >= shown and (shown > window or _is_long(transcript, own)):
        return Held(info, longest, LONG)
    if limit and (limit > window or source == DEFAULT):
        return Held(info, limit, INFERRED)
    if window < shown <= max(USUAL_WINDOWS):
        return Held(info, min(w for w in USUAL_WINDOWS if w >= shown), INFERRED)
    return Held(info, window, source)


def main_model(transcript: Transcript) -> str:
    """The model that the session's own window is of: the one used last where the transcript records a window."""
    last = (r.model for r in reversed(transcript.requests) if r.model and r.on_branch)
    return next(last, transcript.model) if transcript.window else transcript.model


def held_at_steps(transcript: Transcript, steps: Sequence[Step], flagged: frozenset[int]) -> tuple[Held, ...]:
    """What holds at every step: from a change of model on, that model and its window."""
    known: dict[str, Held] = {}
    found: list[Held] = []
    name, main = "", main_model(transcript)
    for step in steps:
        name = transcript.requests[step.request].model or name
        if name not in known:
            known[name] = held_by(transcript, "" if name == main else name, flagged)
            if name == main != transcript.model:
                known[name] = known[name]._replace(model=model_info(name))
        window = transcript.requests[step.request].window
        found.append(known[name]._replace(window=window, source=RECORDED) if window else known[name])
    return tuple(found)


def _largest(transcript: Transcript, name: str, flagged: frozenset[int]) -> int:
    """The largest context measured with a model; requests that name none count for the session's own."""
    return max(
        (
            r.usage.context
            for r in transcript.requests
            if r.usage and r.index not in flagged and (r.model or transcript.model) == name
        ),
        default=0,
    )


def _limit(transcript: Transcript, name: str) -> int:
    """The window that the provider named when it refused a request of a model, in tokens; 0 where it named none."""
    requests = transcript.requests
    limits = [
        error.limit
        for error in transcript.errors
        if error.kind == "context" and error.limit
        and (requests[min(error.request, len(requests) - 1)].model if requests else "") in {"", name}
    ]  # fmt: skip
    return max(limits, default=0)


def _is_long(transcript: Transcript, name: str) -> bool:
    """Whether another model of the session is the one it is about, and shows its long window."""
    return name != transcript.model and held_by(transcript, "").source == LONG
