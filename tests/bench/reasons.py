"""Why a session's estimates miss a target: the tested growths sorted by what stands in them, computed, not told."""

from __future__ import annotations

import statistics
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.transcript.types import Kind
from sessions.engine.weigh.calibration.growth import ends_turn

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Request, Transcript
    from sessions.engine.weigh.calibration.growth import Step
    from sessions.engine.weigh.calibration.weighed import Weighed

MIN_SHARE = 0.15
"""A sort of growths is named when it holds at least this share of the absolute error."""
UNRECORDED = (60, 180)
"""Tokens of the reminders that Claude Code added in versions that did not record them as attachments."""
UNLIKE_RATIO = 0.05
LONG_TOKENS, LONG_SIGNATURE = 500, 2_000
HIDDEN = "hidden additions of over 500 tokens (files, notices, modes)"
SEARCHED = "pages that the provider's own web search read (counted by the usage, not in the file)"
REPLACED = "text that the file has replaced by REDACTED"


class Error(NamedTuple):
    """One tested growth: what stands in it, and its error and size in tokens."""

    sort: str
    error: int
    measured: int


def reason(full: Weighed, trained: Weighed, measured: list[Request], n_training: int) -> str:
    """The sorts of growths that hold most of the error, and what the fit on all usage says otherwise."""
    errors = [error for pair in pairwise(measured[n_training:]) if (error := _error(full, trained, *pair))]
    whole = sum(abs(error.error) for error in errors) or 1
    sorts = sorted({e.sort for e in errors}, key=lambda sort: -sum(abs(e.error) for e in errors if e.sort == sort))
    parts = []
    for sort in sorts:
        own = [e for e in errors if e.sort == sort]
        share = sum(abs(e.error) for e in own) / whole
        if share >= MIN_SHARE:
            middle = statistics.median(e.error for e in own)
            n_own = "1 growth" if len(own) == 1 else f"{len(own)} growths"
            parts.append(f"{share:.0%} of the error in {n_own} with {sort} (median {middle:+,.0f} tokens)")
    return "; ".join([*_fit_notes(full, trained, n_training), *parts])


def _fit_notes(full: Weighed, trained: Weighed, n_training: int) -> list[str]:
    notes = []
    if not trained.n_growths:
        notes.append(f"{n_training} requests to train on leave fewer than five clean growths: the prior holds")
    if full.n_growths and (
        abs(full.ratio / trained.ratio - 1) > UNLIKE_RATIO or abs(full.wrapper - trained.wrapper) > 5
    ):
        notes.append(
            f"all usage would fit {full.ratio:.2f} and a wrapper of {full.wrapper} tokens,"
            f" the trained third {trained.ratio:.2f} and {trained.wrapper}"
        )
    return notes


def _error(full: Weighed, trained: Weighed, before: Request, after: Request) -> Error | None:
    if not before.usage or not after.usage:
        return None
    step = next(s for s in full.steps if s.request == after.index)
    estimated = (trained.estimated[after.index] or 0) - (trained.estimated[before.index] or 0)
    measured = after.usage.context - before.usage.context
    sort = sort_of(full.transcript, step, before, estimated - measured, measured)
    return Error(sort, estimated - measured, measured)


def sort_of(transcript: Transcript, step: Step, before: Request, error: int, measured: int) -> str:
    """What a growth holds that may explain its error; the first that applies."""
    messages = transcript.messages[step.start : step.stop]
    images = any(leaf.kind is Kind.IMAGE for m in messages for leaf in m.leaves())
    long = any(leaf.n_tokens > LONG_TOKENS for m in messages[1:] for leaf in m.leaves())
    output, placeholder = (before.usage.output, before.usage.placeholder) if before.usage else (0, False)
    reminder = transcript.format == "claude_code" and UNRECORDED[0] <= -error <= UNRECORDED[1]
    sorts = (
        (step.compaction is not None, "a recorded compaction"),
        (placeholder, "a reply whose output is a streaming placeholder"),
        (any(m.attachment for m in messages), "an attachment whose surrounding text is not recorded"),
        (measured < output, "less than the reply before: thinking or other output that was not sent again"),
        (images, "an image"),
        (reminder, "60 to 180 tokens that are not in the transcript (reminders)"),
        (long, f"a result of over {LONG_TOKENS} tokens, unlike the text trained on"),
        (any(map(ends_turn, messages)), "a prompt"),
    )
    return next((sort for applies, sort in sorts if applies), "short tool results")


def rest_of(transcript: Transcript, step: Step, error: int, measured: int) -> str:
    """Where the error of a growth of Claude Code comes from: what is not in the file, thinking, or a kind of text."""
    messages = transcript.messages[step.start : step.stop]
    leaves = [leaf for message in messages for leaf in message.leaves()]
    heaviest = max(leaves, key=lambda leaf: leaf.n_tokens, default=None)
    names = {block.call_id: block.name for m in messages for block in m.blocks if block.kind is Kind.TOOL_USE}
    tools = sorted({names.get(leaf.call_id, "?") for leaf in leaves if leaf.kind is Kind.TOOL_RESULT})
    sorts = (
        (abs(error) > LONG_TOKENS and _searched(transcript, step), SEARCHED),
        (-error > max(LONG_TOKENS, measured / 3), HIDDEN),
        (UNRECORDED[0] <= -error <= UNRECORDED[1], "hidden additions of 60 to 180 tokens (reminders)"),
        (UNRECORDED[0] <= error <= UNRECORDED[1] and measured < 4 * error, "a reminder by the rule that did not come"),
        (any(leaf.kind is Kind.IMAGE for leaf in leaves), "an image"),
        (any(map(ends_turn, messages)), "a prompt"),
        (any(leaf.n_payload > LONG_SIGNATURE for leaf in leaves), "thinking with a signature of over 2,000 characters"),
        (heaviest is not None and heaviest.kind is Kind.TOOL_USE, "arguments of a call"),
        (len(tools) > 1, "results of several tools"),
        (len(tools) == 1, f"results of {tools[0] if tools else ''}"),
    )
    return next((sort for applies, sort in sorts if applies), "a reply alone")


def _searched(transcript: Transcript, step: Step) -> bool:
    """Whether the reply before a request or the one to it searched the web: its usage counts what was found."""
    request = transcript.requests[step.request]
    start = step.stop if request.message is None else request.message
    messages = transcript.messages[step.start : start + request.n_messages]
    return any(block.name == "web_search" for message in messages for block in message.blocks)
