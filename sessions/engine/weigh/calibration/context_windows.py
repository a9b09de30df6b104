"""Which window a model of a session has, and from where: the one statement of it in code (replay-semantics 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sessions.engine.agents.agent import USUAL_WINDOWS
from sessions.engine.models.model_info import UNKNOWN_WINDOW, ModelInfo, model_info, offered
from sessions.engine.transcript.recorded_events import ErrorKind
from sessions.engine.transcript.types import Transcript
from sessions.engine.weigh.calibration.growth import Step

RECORDED, REFUSAL, ANSWER, CLIENT = "recorded", "refusal", "answer", "client"
MODEL, LONG, DEFAULT = "model", "model, long window", "default"

SOURCES = {
    RECORDED: "recorded in the transcript", REFUSAL: "named by the provider when it refused a request",
    ANSWER: "the least that holds what was answered", CLIENT: "what this client, or who sells the model, makes of it",
    MODEL: "the model's", LONG: "the model's long one: the client asked for it",
    DEFAULT: "assumed, the model is not known",
}  # fmt: skip
"""Where a window comes from, in words."""
WHOSE = {CLIENT: "the client's", MODEL: "the model's", LONG: "the model's"}
"""Of which a window is that no record of the session names, only a table."""


class ModelWindow(NamedTuple):
    """A model and the window in tokens it is held against; ``source`` is one of the seven above.

    ``before`` is the model of a larger window that was given up right before this point, "" where none was.
    """

    model: ModelInfo
    window: int
    source: str
    before: str = ""

    @property
    def whose(self) -> str:
        """Of which the window is, before its noun: of "the model's" only a table says it."""
        return WHOSE.get(self.source, "the")

    @property
    def is_known(self) -> bool:
        """Whether anything says so: a window that is assumed, or the least that holds what was answered, is not."""
        return self.source not in {DEFAULT, ANSWER}


def window_of(
    transcript: Transcript, name: str, flagged: frozenset[int] = frozenset(), *, as_client_assumes: bool = False
) -> ModelWindow:
    """The window of a model of the session, "" for the one it is about; ``flagged`` requests prove nothing.

    A recorded window is that of the model used last, and others of the session take no more without evidence: the
    client bounds them too.  A model that is not known takes the session's window.  Where the session's own model shows
    that the client asked for its long window, its other models that have one take theirs.  ``as_client_assumes``: the
    window that the client works with for a model that is known, whatever was refused or answered.
    """
    own = name or transcript.model
    info, by_client = offered(transcript, own)
    if transcript.window and name in {"", main_model(transcript)}:
        return ModelWindow(info, transcript.window, RECORDED)
    window, source = (info.window, MODEL) if info.known and info.window else (UNKNOWN_WINDOW, DEFAULT)
    if by_client:
        window, source = info.window, CLIENT
    elif name not in {"", transcript.model} and (source == DEFAULT or info.note):
        window, source = window_of(transcript, "", flagged, as_client_assumes=as_client_assumes).window, DEFAULT
    if transcript.window and not as_client_assumes:
        window = min(window, transcript.window)
    stands = as_client_assumes and source != DEFAULT
    limit, shown = 0 if stands else _refused_at(transcript, own), _largest_measured_context(transcript, own, flagged)
    if limit and limit >= shown:
        return ModelWindow(info, limit, REFUSAL)
    longest = info.long_window or 0
    if window < longest >= shown and (shown > window or _is_long(transcript, own, flagged)):
        return ModelWindow(info, longest, LONG)
    if window < shown <= max(USUAL_WINDOWS) and not stands:
        return ModelWindow(info, min(w for w in USUAL_WINDOWS if w >= shown), ANSWER)
    return ModelWindow(info, window, source)


def source_words(transcript: Transcript, source: str) -> str:
    """Where the session's window comes from, in words, with the source of a table's row."""
    _, row = offered(transcript, transcript.model)
    return f"{SOURCES[source]} ({row})" if source == CLIENT else SOURCES[source]


def main_model(transcript: Transcript) -> str:
    """The model that the session's own window is of: the one used last where the transcript records a window."""
    last = (r.model for r in reversed(transcript.requests) if r.model and r.on_branch)
    return next(last, transcript.model) if transcript.window else transcript.model


def windows_of(
    transcript: Transcript, flagged: frozenset[int], *, as_client_assumes: bool = False
) -> dict[str, ModelWindow]:
    """What holds for every model that the session names, "" for the one it is about."""
    main = main_model(transcript)
    found = {"": window_of(transcript, "", flagged, as_client_assumes=as_client_assumes)}
    for name in {r.model for r in transcript.requests if r.model}:
        held = found[""] if name == main else window_of(transcript, name, flagged, as_client_assumes=as_client_assumes)
        found[name] = held._replace(model=model_info(name)) if name == main != transcript.model else held
    return found


def windows_at_steps(transcript: Transcript, steps: Sequence[Step], flagged: frozenset[int]) -> tuple[ModelWindow, ...]:
    """What holds at every step: from a change of model on, that model and its window."""
    known, name = windows_of(transcript, flagged), ""
    found: list[ModelWindow] = []
    for step in steps:
        name = transcript.requests[step.request].model or name
        window = transcript.requests[step.request].window
        found.append(known[name]._replace(window=window, source=RECORDED) if window else known[name])
    return tuple(found)


def _largest_measured_context(transcript: Transcript, name: str, flagged: frozenset[int]) -> int:
    """The largest context measured with a model; requests that name none count for the session's own."""
    asked = (r for r in transcript.requests if (r.model or transcript.model) == name and r.index not in flagged)
    return max((r.usage.context for r in asked if r.usage), default=0)


def _refused_at(transcript: Transcript, name: str) -> int:
    """The window that the provider named when it refused a request of a model, in tokens; 0 where it named none."""
    requests = transcript.requests
    limits = [
        error.limit
        for error in transcript.errors
        if error.kind == ErrorKind.CONTEXT and error.limit
        and ((requests[min(error.request, len(requests) - 1)].model if requests else "") or transcript.model) == name
    ]  # fmt: skip
    return max(limits, default=0)


def _is_long(transcript: Transcript, name: str, flagged: frozenset[int]) -> bool:
    """Whether another model of the session is the one it is about, and shows its long window."""
    if name == transcript.model:
        return False
    main = window_of(transcript, "", flagged, as_client_assumes=True)
    return main.model.long_window is not None and main.window >= main.model.long_window
