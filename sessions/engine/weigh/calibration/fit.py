"""How well a session's estimates fit what its provider reported: every growth of the context, and the overhead.

The estimate of a growth is the difference of two estimated contexts (replay-semantics 1), so that it never sees the
usage it is held against, but for the ratio that was fitted on all of them.  Parts of the overhead are named where the
file holds them; skill lists, deferred tools, memory and the like are messages and no part: they are named with theirs.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

from sessions.engine.reading.noted_events import CONTEXT_HEAD, context_output
from sessions.engine.reading.texts import Texts
from sessions.engine.transcript.types import Label, Role
from sessions.engine.weigh.calibration.growth import Step, explained_jump
from sessions.engine.weigh.calibration.weighed import Weighed

REST = "not in the transcript"
STANDING = {
    "skill_listing": "skill list", "deferred_tools_delta": "deferred tools", "agent_listing_delta": "agent list",
    "mcp_instructions_delta": "MCP instructions", "nested_memory": "memory", "memory": "memory",
}  # fmt: skip
"""Attachments that stand for the whole session, by what they are."""


@dataclass(frozen=True, slots=True)
class FitPoint:
    """One growth in tokens, at the request that first sent ``message``: its heaviest that was not measured itself."""

    request: int
    message: int
    measured: int
    estimated: int

    @property
    def rest(self) -> int:
        """Estimate less measurement, in tokens."""
        return self.estimated - self.measured


@dataclass(frozen=True, slots=True)
class FlaggedRequest:
    """A request whose usage is shown, but neither fitted nor replayed: its reported context in tokens, and why."""

    request: int
    context_tokens: int
    why: str


def fit_points(weighed: Weighed) -> tuple[FitPoint, ...]:
    """Every growth between two requests that report usage, but at a recorded compaction or where one is flagged."""
    found = []
    requests = weighed.transcript.requests
    for before, step in itertools.pairwise(weighed.steps):
        then, now = requests[before.request].usage, requests[step.request].usage
        earlier, later = weighed.estimated[before.request], weighed.estimated[step.request]
        message = _heaviest(weighed, step)
        if not then or not now or earlier is None or later is None or message is None:
            continue
        if not step.restarts and not {before.request, step.request} & weighed.flagged:
            estimated = later - earlier - weighed.shifts.get(step.request, 0)
            found.append(FitPoint(step.request, message, now.context - then.context, estimated))
    return tuple(found)


def _heaviest(weighed: Weighed, step: Step) -> int | None:
    """The message of a step that weighs most, one that was not measured itself before one that was."""
    span = range(step.start, step.stop)
    return max(span, key=lambda i: (weighed.labels[i] is not Label.MEASURED, weighed.tokens[i]), default=None)


def median_error(points: Sequence[FitPoint]) -> float | None:
    """The median of |estimate − measurement| ÷ measurement over growths that are positive, None without any."""
    errors = [abs(point.rest) / point.measured for point in points if point.measured > 0]
    return median(errors) if errors else None


def worst_points(points: Sequence[FitPoint]) -> tuple[FitPoint, ...]:
    """The five growths that the estimate misses by most tokens, the worst first."""
    return tuple(sorted(points, key=lambda point: (-abs(point.rest), point.request))[:5])


def p95_error(points: Sequence[FitPoint]) -> float | None:
    """The 95th percentile of the same errors, None without any."""
    errors = sorted(abs(point.rest) / point.measured for point in points if point.measured > 0)
    return errors[min(len(errors) - 1, int(0.95 * len(errors)))] if errors else None


def flagged_usages(weighed: Weighed) -> tuple[FlaggedRequest, ...]:
    """The requests whose usage cannot be right, in order, and why."""
    found = []
    for number, step in enumerate(weighed.steps):
        usage = weighed.transcript.requests[step.request].usage
        if step.request not in weighed.flagged or not usage:
            continue
        why = "it reports an output and no input at all"
        if usage.context and number:
            before = weighed.transcript.requests[weighed.steps[number - 1].request].usage
            jump = usage.context - (before.context if before else 0)
            most = explained_jump(weighed.transcript, step)
            why = f"the context jumps by {jump:,} tokens, of which {most:,.0f} at most are explained, and falls back"
        found.append(FlaggedRequest(step.request, usage.context, why))
    return tuple(found)


def fit_summary(weighed: Weighed) -> dict[str, Any]:
    """``fit`` in ``ctxweb.inspect/1``: figures in tokens, errors as shares of the growth, null where not measured."""
    points, scale = fit_points(weighed), weighed.scale
    middle, high = median_error(points), p95_error(points)
    return {
        "n_growths": weighed.n_growths,
        "ratio": round(scale.ratio, 4),
        "wrapper": scale.wrapper,
        "prompt_wrapper": scale.prompt,
        "image_frame": scale.frame,
        "attachments": dict(scale.attachments),
        "hidden": {"requests": len(weighed.hidden), "tokens": sum(weighed.hidden.values())},
        "shifts": [{"request": at, "tokens": tokens} for at, tokens in sorted(weighed.shifts.items())],
        "stays": {
            "thinking": weighed.way.thinking.value,
            "reasoning": "sent again" if weighed.way.reasoning else "not sent again",
            "n_growths": weighed.way.growths,
        },
        "label": weighed.ratio_label.value,
        "n_measured": len(points),
        "median_error": None if middle is None else round(middle, 4),
        "p95_error": None if high is None else round(high, 4),
        "effective_window": max(0, weighed.window - weighed.overhead),
        "worst": [
            {
                "request": point.request,
                "message": point.message,
                "measured_growth": point.measured,
                "estimated_growth": point.estimated,
                "residual": point.rest,
            }
            for point in worst_points(points)
        ],
        "flagged": [dataclasses.asdict(flagged) for flagged in flagged_usages(weighed)],
    }


def fit_document(weighed: Weighed) -> dict[str, Any]:
    """``fit`` of ``ctxweb.why/1``: growths in tokens, their median error as a share, the overhead's parts."""
    points = fit_points(weighed)
    error = median_error(points)
    return {
        "ratio": round(weighed.ratio, 4),
        "ratio_label": weighed.ratio_label.value,
        "n_growths": weighed.n_growths,
        "median_error": None if error is None else round(error, 4),
        "overhead": weighed.overhead,
        "overhead_label": weighed.overhead_label.value,
        "history": weighed.history,
        "overhead_parts": [
            {"name": p.name, "tokens": p.tokens, "label": p.label.value} for p in overhead_parts(weighed)
        ],
        "flagged_requests": sorted(weighed.flagged),
        "growths": [dataclasses.asdict(point) for point in points],
    }


class OverheadPart(NamedTuple):
    """A part by name, in tokens; ``message`` is where it stands among the messages, None for a part of the overhead."""

    name: str
    tokens: int
    label: Label
    message: int | None = None


def overhead_parts(weighed: Weighed, texts: Texts | None = None) -> tuple[OverheadPart, ...]:
    """Parts of the overhead, adding up to it: what the file holds of it, and what only the first usage shows.

    With ``texts``, the output of Claude Code's ``/context`` names its parts: the client's own estimates.
    """
    inside = _from_context_output(weighed, texts) or _from_system(weighed)
    whole = sum(part.tokens for part in inside)
    if whole > weighed.overhead:
        # Providers write tool definitions shorter than the JSON in the file: shares of what was measured.
        inside = [p._replace(tokens=p.tokens * weighed.overhead // whole, label=Label.ESTIMATED) for p in inside]
        whole = sum(part.tokens for part in inside)
    if weighed.overhead > whole:
        inside.append(OverheadPart(REST, weighed.overhead - whole, weighed.overhead_label))
    return tuple(inside)


def _from_system(weighed: Weighed) -> list[OverheadPart]:
    parts: dict[str, int] = {}
    for block in weighed.transcript.system:
        name = f"tool {block.name}" if block.name else "system prompt"
        parts[name] = parts.get(name, 0) + block.n_tokens
    return [OverheadPart(name, round(n * weighed.ratio), weighed.ratio_label) for name, n in parts.items() if n]


def _from_context_output(weighed: Weighed, texts: Texts | None) -> list[OverheadPart]:
    """What the newest output of ``/context`` in the messages says, without messages and free space."""
    if texts is None:
        return []
    for message in reversed(weighed.transcript.messages):
        if message.role is Role.USER and CONTEXT_HEAD in message.preview:
            found = context_output(texts.plain(message))
            if found:
                return [OverheadPart(name, tokens, Label.ESTIMATED) for name, tokens in found.items()]
    return []


def standing_parts(weighed: Weighed) -> Iterator[OverheadPart]:
    """Messages that stand for the whole session, none of them part of the overhead."""
    for message in weighed.transcript.messages:
        if message.attachment in STANDING:
            name, index = STANDING[message.attachment], message.index
            yield OverheadPart(name, weighed.tokens[index], weighed.labels[index], index)
