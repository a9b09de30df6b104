"""browser-use agent histories: ``{history: [{model_output, result, state, metadata}]}`` (formats 20).

A step is a user message with the browser's state and screenshot, the reply with its actions, and the actions' results.
browser-use takes each state out of the context after its reply; the file does not record what was sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import media_link, text_blocks, tool_use
from sessions.engine.reading.formats._records import inside, object_of, objects_in, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, seconds, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.recorded_events import NOT_ALL_SENT, OWN_ESTIMATE
from sessions.engine.transcript.types import Content, Kind, Message, Origin, Parsed, Role

STEP_KEYS = frozenset({"model_output", "result", "state"})
NOT_SHOWN = frozenset({"screenshot", "screenshot_path", "interacted_element"})


class _Format(Format):
    label = "browser-use"
    source = "browser-use AgentHistoryList.save_to_file (JSON)"
    coverage = Coverage(usage=PARTLY, images=YES, live=PARTLY, error="result.error of a step without a reply")

    def sniff(self, head: Head) -> Sniff | None:
        history = as_list(as_dict(head.document).get("history"))
        if steps := [step for step in history if isinstance(step, dict) and step.keys() >= STEP_KEYS]:
            return Sniff(90, f"history holds {len(steps)} steps with model_output, result and state")
        if any(isinstance(step, dict) and "model_output" in step for step in history):
            return Sniff(0, "history holds a model_output, but no result and state beside it")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        document = object_of(source, "a history")
        assembly, estimates = Assembly(measure), list[int]()
        whole = Origin(1, 0, source.size, ("history",))
        for step, origin in objects_in(as_list(document.get("history")), whole, source, "step"):
            _add(assembly, step, origin)
            estimates.append(count_of(as_dict(step.get("metadata")).get("input_tokens")))
        known = list(filter(None, estimates))
        span = f"{min(known, default=0):,} to {max(known, default=0):,} tokens a step"
        dropped = "browser-use drops each step's state and screenshot after its reply"
        assembly.warnings.append(f"{dropped}; {NOT_ALL_SENT}")
        assembly.note(known, f"input_tokens in the file ({span}) are browser-use's {OWN_ESTIMATE}, not usage")
        return read_as([assembly.transcript(stem_of(source.name))])

    def contents(self, values: Sequence[Any], message: Message) -> tuple[Content, ...]:
        """The blocks of a step's state, of its reply or of its results, as the origin's path tells."""
        path = message.origins[0].path
        position, side = int(path[1]), path[2] if len(path) > 2 else "state"
        if side == "model_output":
            return _reply(values[0], position)
        return _results(values[0], position) if side == "result" else _state(values[0])


def _add(assembly: Assembly, step: Record, origin: Origin) -> None:
    """The messages of one step; a step whose model call failed has no reply and its error as a result."""
    metadata, position = as_dict(step.get("metadata")), int(origin.path[-1])
    number = count_of(metadata.get("step_number")) or position
    start, end = seconds(metadata.get("step_start_time")), seconds(metadata.get("step_end_time"))
    if state := _state(step):
        assembly.add(Role.USER, state, [origin], id=f"step-{number}.state", typed=False, timestamp=start)
    output = step.get("model_output")
    if isinstance(output, dict):
        reply, place = _reply(output, position), [inside(origin, "model_output")]
        assembly.answer(reply, place, id=f"step-{number}", timestamp=end)
    else:
        for result in map(as_dict, as_list(step.get("result"))):
            assembly.fail(result.get("error"))
    if results := _results(step.get("result"), position):
        native = f"step-{number}.results"
        assembly.add(Role.USER, results, [inside(origin, "result")], id=native, typed=False, timestamp=end)


def _state(step: Record) -> tuple[Content, ...]:
    """What the browser showed: the state message where the file keeps it, else address, title and tabs."""
    state = as_dict(step.get("state"))
    shown = {key: value for key, value in state.items() if key not in NOT_SHOWN}
    text = text_of(step.get("state_message")) or (dumps(shown) if shown else "")
    picture = text_of(state.get("screenshot")) or text_of(state.get("screenshot_path"))
    return (*text_blocks(text), *([media_link(picture, kind=Kind.IMAGE)] if picture else []))


def _reply(output: Record, position: int) -> tuple[Content, ...]:
    """Thinking, what the model noted as compact JSON, and one call for each action, numbered ``step.action``."""
    notes = {key: value for key, value in output.items() if key not in ("action", "thinking")}
    return (
        *text_blocks(text_of(output.get("thinking")), Kind.THINKING),
        *text_blocks(dumps(notes) if notes else ""),
        *(_call(action, f"{position}.{place}") for place, action in enumerate(as_list(output.get("action")))),
    )


def _call(action: Any, call_id: str) -> Content:
    """An action is an object with its name as the only key that holds something."""
    named = [key for key, value in as_dict(action).items() if value is not None]
    if len(named) != 1:
        return Content(Kind.TOOL_USE, text=dumps(action), call_id=call_id)
    return tool_use(dumps(action[named[0]]), named[0], call_id)


def _results(results: Any, position: int) -> tuple[Content, ...]:
    """What actions brought, in their order; an action that was not reached has no result."""
    return tuple(_result(result, f"{position}.{place}") for place, result in enumerate(as_list(results)))


def _result(result: Any, call_id: str) -> Content:
    held = as_dict(result)
    said = "\n".join(filter(None, (text_of(held.get(key)) for key in ("extracted_content", "error"))))
    text = said or ("" if held else dumps(result))
    return Content(Kind.TOOL_RESULT, text=text, call_id=call_id, is_error=bool(held.get("error")))
