"""How many tokens every reply had: as recorded, else what it weighs by estimate, bounded by what was measured after it.

A streaming placeholder is no output (formats 3.3): the reply's own size stands for it.  The growth measured at the next
request bounds that: what is written of a call may be more than the model wrote (a plan that the client put in).
"""

from __future__ import annotations

from sessions.engine.base.session_cache import Remembered
from sessions.engine.transcript.types import Kind, Label, Transcript
from sessions.engine.weigh.calibration.weighed import Weighed

OUTPUTS: Remembered[tuple[int, ...]] = Remembered("outputs")


def outputs(weighed: Weighed) -> tuple[int, ...]:
    """Tokens of the reply of every step's request; 0 where it has none on the branch.  Made once."""
    return weighed.cache.value(OUTPUTS, lambda: tuple(_output(weighed, k) for k in range(len(weighed.steps))))


def reported_reasoning(transcript: Transcript) -> dict[int, int]:
    """Tokens of reasoning that each reply reports, by the index of its first message that thinks."""
    found: dict[int, int] = {}
    for request in transcript.requests:
        first = request.message
        if first is None or request.usage is None or not request.usage.reasoning:
            continue
        reply = transcript.messages[first : first + request.n_messages]
        thinks = (m.index for m in reply if any(block.kind is Kind.THINKING for block in m.blocks))
        if (index := next(thinks, None)) is not None:
            found[index] = request.usage.reasoning
    return found


def _output(weighed: Weighed, k: int) -> int:
    request = weighed.transcript.requests[weighed.steps[k].request]
    first = request.message
    if first is None:
        return 0
    weight = sum(weighed.tokens[first : first + request.n_messages])
    if request.usage is None or not request.usage.placeholder:
        return weight
    most = _growth_after(weighed, k)
    return weight if most is None else min(weight, max(most, request.usage.output))


def _growth_after(weighed: Weighed, k: int) -> int | None:
    """What the next request measured more, in tokens; None if unknown, as where a prompt may have ended thinking."""
    if k + 1 >= len(weighed.steps):
        return None
    step, labels = weighed.steps[k + 1], weighed.recorded.labels
    typed = any(message.typed for message in weighed.transcript.messages[step.start : step.stop])
    if step.restarts or typed or {labels[k], labels[k + 1]} != {Label.MEASURED}:
        return None
    return weighed.recorded.context[k + 1] - weighed.recorded.context[k]
