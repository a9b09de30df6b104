"""What the AI SDK's ``generateText`` returns: steps, each a request with its usage (formats 44)."""

from __future__ import annotations

from typing import Any

from sessions.engine.base.words import counted
from sessions.engine.reading.formats._ai_sdk_parts import is_display, parts_of
from sessions.engine.reading.formats._assembly import Assembly
from sessions.engine.reading.formats._counts import first_count, inclusive_usage, usage_of
from sessions.engine.reading.formats._records import inside
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, seconds, text_of
from sessions.engine.transcript.recorded_events import CUT_OFF, CUT_REASONS, EventKind
from sessions.engine.transcript.types import Content, Origin, Role, Usage

STEPS = "steps"
ANSWERS = ("tool-result", "tool-error")
USAGE_KEYS = frozenset({"inputTokens", "promptTokens"})


def steps_of(record: Record) -> list[Record]:
    """The steps of a result: each has usage, why it ended, and what was said; nothing where it is none."""
    found = [as_dict(step) for step in as_list(record.get(STEPS))]
    are_steps = all(
        isinstance(s.get("finishReason"), str) and USAGE_KEYS & as_dict(s.get("usage")).keys() for s in found
    )
    return [*found] if are_steps and all("content" in step or "text" in step for step in found) else []


def step_contents(step: Record, role: Role) -> tuple[Content, ...]:
    """What the model said in a step, or what its tools answered; version 4 has no list of it."""
    parts = [as_dict(part) for part in as_list(step.get("content"))]
    if not parts:
        thought = text_of(step.get("reasoningText")) or text_of(step.get("reasoning"))
        said = [{"type": "reasoning", "text": thought}, {"type": "text", "text": text_of(step.get("text"))}]
        calls = [{**as_dict(one), "type": "tool-call"} for one in as_list(step.get("toolCalls"))]
        answers = [{**as_dict(one), "type": "tool-result"} for one in as_list(step.get("toolResults"))]
        parts = [*(part for part in said if part["text"]), *calls, *answers]
    wanted = [part for part in parts if (part.get("type") in ANSWERS) == (role is Role.USER) and not is_display(part)]
    return parts_of([_plain(part) for part in wanted], role)


def _plain(part: Record) -> Record:
    """A part of a step as a message has it: a tool's output is its bare value, and an error a part of its own."""
    if part.get("type") == "tool-error":
        error = part.get("error")
        return {**part, "type": "tool-result", "output": {"type": "error-json", "value": error}}
    if part.get("type") == "tool-result" and "output" in part:
        return {key: value for key, value in part.items() if key != "output"} | {"result": part["output"]}
    return part


def read_steps(history: Assembly, record: Record, origin: Origin) -> None:
    """Every step a request, and the results of its calls behind it."""
    steps = steps_of(record)
    for n, step in enumerate(steps):
        place, told = inside(origin, STEPS, n), as_dict(step.get("response"))
        time, model = seconds(told.get("timestamp")), text_of(told.get("modelId"))
        facts: dict[str, Any] = {"usage": _usage(step), "model": model, "response_id": text_of(told.get("id"))}
        history.answer(step_contents(step, Role.ASSISTANT), [place], timestamp=time, **facts)
        if results := step_contents(step, Role.USER):
            history.add(Role.USER, results, [place], timestamp=time)
    reason = text_of(steps[-1].get("finishReason"))
    if reason in CUT_REASONS:
        history.event(EventKind.SESSION_END, f'{CUT_OFF}: it ends with "{reason}"')
    total = first_count(as_dict(record.get("totalUsage")), "inputTokens", "promptTokens")
    history.note(total, f"totalUsage has {total:,} input tokens, the sum of {counted(len(steps), 'step')} and no size")


def _usage(step: Record) -> Usage | None:
    """The provider's own counts where they are passed on, else the SDK's, whose input includes the cache from 6 on."""
    own = as_dict(as_dict(as_dict(step.get("providerMetadata")).get("anthropic")).get("usage"))
    held = as_dict(step.get("usage"))
    sent, made = as_dict(held.get("inputTokenDetails")), as_dict(held.get("outputTokenDetails"))
    return usage_of(own) or inclusive_usage(
        first_count(held, "inputTokens", "promptTokens"),
        first_count(held, "outputTokens", "completionTokens"),
        cache_read=count_of(sent.get("cacheReadTokens")) or count_of(held.get("cachedInputTokens")),
        cache_write=count_of(sent.get("cacheWriteTokens")),
        reasoning=count_of(made.get("reasoningTokens")) or count_of(held.get("reasoningTokens")),
    )
