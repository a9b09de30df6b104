"""smolagents memories: the list of ``agent.memory.get_full_steps()`` or ``get_succinct_steps()`` (formats 88).

A step's output, its calls, what they brought and an error are messages of the next call (``ActionStep.to_messages``
of smolagents/memory.py); so are a plan and the order to carry it out.  A step without output is a call that failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import result_of
from sessions.engine.reading.formats._chat_blocks import chat_contents, parts_of
from sessions.engine.reading.formats._counts import usage_of
from sessions.engine.reading.formats._records import first_records, inside, records, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, seconds, text_of
from sessions.engine.transcript.types import Content, Message, Origin, Parsed, Role

STEP_KEYS = frozenset({"timing", "model_output", "observations"})
NUMBERS = frozenset({"step_number", "step"})
CARRY_OUT = "Now proceed and carry out this plan."
"""What stands behind every plan (``PlanningStep.to_messages``)."""


class _Format(Format):
    label = "smolagents"
    source = "smolagents agent memories (get_full_steps, get_succinct_steps; JSON)"
    coverage = Coverage(
        usage=YES, refusals=PARTLY, error="error of a step without model_output", model="raw.model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        found = first_records(head)
        if steps := [step for step in found if _is_step(step)]:
            return Sniff(90, f"{len(steps)} steps with step_number, model_output and observations")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        history = Assembly(measure)
        found = list(records(source))
        is_told = any("system_prompt" in record for record, _ in found)
        sent = ((as_list(record.get("model_input_messages")), at) for record, at in found)
        messages, at = next((one for one in sent if one[0] and not is_told), ([{}], Origin(1, 0, 0)))
        first = as_dict(messages[0])
        if text_of(first.get("role")) == "system" and "content" in first:
            place = inside(at, "model_input_messages", 0, "content")
            history.add(Role.SYSTEM, parts_of(first["content"]), [place])
        for record, origin in found:
            if not _add(history, record, origin):
                source.skip("an object that is no step of a memory", origin)
        made = [history.transcript(stem_of(source.name))]
        return read_as(made, "no steps of an agent's memory")

    def contents(self, values: Sequence[Any], message: Message) -> tuple[Content, ...]:
        """The blocks of a task, plan, reply, result or error, as the path of the last origin tells."""
        side = message.origins[-1].path[-1:]
        if message.role is Role.ASSISTANT:
            return _reply(as_dict(values[0]))
        calls = values[0] if len(values) > 1 else None
        return _said(values[-1], side, calls)


def _is_step(record: Record) -> bool:
    return record.keys() >= STEP_KEYS and bool(record.keys() & NUMBERS)


def _add(history: Assembly, record: Record, origin: Origin) -> bool:
    """The messages of one entry; whether it is one of a memory."""
    if _is_step(record) or record.keys() >= {"plan", "timing", "model_output_message"}:
        _step(history, record, origin)
    elif text_of(record.get("system_prompt")):
        history.add(Role.SYSTEM, parts_of(record["system_prompt"]), [inside(origin, "system_prompt")])
    elif text_of(record.get("task")):
        history.add(Role.USER, parts_of(record["task"]), [inside(origin, "task")], typed=True)
    else:
        return bool(record.keys() & {"output", "task", "system_prompt"})  # the final answer: the step before it said it
    return True


def _step(history: Assembly, record: Record, origin: Origin) -> None:
    """A reply with what came of it; without one its call failed."""
    end = seconds(as_dict(record.get("timing")).get("end_time"))
    model = text_of(as_dict(as_dict(record.get("model_output_message")).get("raw")).get("model"))
    said = _reply(record)
    if not said:
        history.fail(record.get("error"), model=model)
        return
    usage = usage_of(record.get("token_usage"))
    history.answer(said, [origin], usage=usage, model=model, timestamp=end)
    calls = record.get("tool_calls")
    for key in ("plan", "observations", "error"):
        if record.get(key):
            places = [inside(origin, "tool_calls")] if calls and key != "plan" else []
            found = _said(record[key], (key,), calls if places else None)
            history.add(Role.USER, found, [*places, inside(origin, key)], typed=False, timestamp=end)


def _reply(step: Record) -> tuple[Content, ...]:
    said = step.get("model_output") or step.get("plan")
    return chat_contents({"content": said, "tool_calls": step.get("tool_calls")})


def _said(value: Any, side: Sequence[str | int], calls: Any) -> tuple[Content, ...]:
    """A prompt, the order to carry out a plan, or what the calls of a step brought: one text, under the first."""
    is_error = side == ("error",)
    if is_error:
        value = f"Error:\n{text_of(as_dict(value).get('message')) or text_of(value)}"
    said = parts_of(CARRY_OUT if side == ("plan",) else value)
    first = as_dict(next(iter(as_list(calls)), None))
    return said if calls is None else (result_of(said, first.get("id"), is_error=is_error),)
