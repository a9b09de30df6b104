"""One ATIF step to blocks: a reply and what was observed are two messages of the context (formats 18)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sessions.engine.reading.formats._anthropic_blocks import block_of
from sessions.engine.reading.formats._blocks import tool_use
from sessions.engine.reading.formats._counts import usage_at
from sessions.engine.reading.formats._values import Record, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Usage

TOKEN_ARRAYS = ("prompt_token_ids", "completion_token_ids", "logprobs")


def step_contents(step: Any) -> tuple[Content, ...]:
    """What was said in a step: reasoning, the message, the tool calls; without the observation."""
    if not isinstance(step, dict):
        return (Content(Kind.OPAQUE, text=dumps(step)),)
    reasoning = step.get("reasoning_content")
    found: list[Content] = []
    if reasoning:
        found.append(Content(Kind.THINKING, text=reasoning if isinstance(reasoning, str) else dumps(reasoning)))
    found += message_contents(step.get("message"))
    calls = step.get("tool_calls")
    found += [_call(call) for call in (calls if isinstance(calls, list) else [])]
    return tuple(found)


def observed_contents(observation: Any) -> tuple[Content, ...]:
    """The results of a step: one that names its call is a tool result, any other is text (formats 18)."""
    return tuple(content for result in results_of(observation) for content in _result(result))


def message_contents(message: Any) -> tuple[Content, ...]:
    """A message or a result's content: a string, or a list of text and image parts."""
    if message is None or message == "":
        return ()
    if isinstance(message, str):
        return (Content(Kind.TEXT, text=message),)
    if isinstance(message, list):
        return tuple(_part(part) for part in message)
    return (Content(Kind.OPAQUE, text=dumps(message)),)


def results_of(observation: Any) -> list[Any]:
    """The list of results, empty where there is none."""
    results = observation.get("results") if isinstance(observation, dict) else None
    return results if isinstance(results, list) else []


def references(step: Record) -> Iterator[tuple[Record, str]]:
    """Every reference to a sub-trajectory in a step, with the id of the call it answers."""
    for result in results_of(step.get("observation")):
        refs = result.get("subagent_trajectory_ref") if isinstance(result, dict) else None
        for ref in refs if isinstance(refs, list) else [refs]:
            if isinstance(ref, dict):
                yield ref, text_of(result.get("source_call_id"))


def is_compaction(step: Record) -> bool:
    """A system step that stands for a compaction: it refers to the trajectories that summarised, or says so."""
    if step.get("source") != "system":
        return False
    extra = step.get("extra")
    managed = extra.get("context_management") if isinstance(extra, dict) else None
    if isinstance(managed, dict) and managed.get("type") == "compaction":
        return True
    return any(True for _ in references(step))


def usage_of(step: Record) -> Usage | None:
    """Usage of a step's call, until 1.3 under ``usage``; ``prompt_tokens`` includes the cached ones."""
    metrics = step["metrics"] if "metrics" in step else step.get("usage")
    if not isinstance(metrics, dict):
        return None
    return usage_at(metrics, "atif")


def n_token_numbers(step: Record) -> int:
    """Token ids and log-probabilities the recorder keeps beside a step."""
    metrics = step.get("metrics")
    arrays = [metrics.get(key) for key in TOKEN_ARRAYS] if isinstance(metrics, dict) else []
    return sum(len(array) for array in arrays if isinstance(array, list))


def _call(call: Any) -> Content:
    if not isinstance(call, dict):
        return Content(Kind.OPAQUE, text=dumps(call))
    return tool_use(call.get("arguments"), call.get("function_name"), call.get("tool_call_id"))


def _result(result: Any) -> tuple[Content, ...]:
    if not isinstance(result, dict):
        return (Content(Kind.OPAQUE, text=dumps(result)),)
    call_id, content = text_of(result.get("source_call_id")), result.get("content")
    if not call_id:
        return message_contents(content)
    if isinstance(content, str):
        return (Content(Kind.TOOL_RESULT, text=content, call_id=call_id),)
    return (Content(Kind.TOOL_RESULT, call_id=call_id, parts=message_contents(content)),)


def _part(part: Any) -> Content:
    source = part.get("source") if isinstance(part, dict) and part.get("type") == "image" else None
    if isinstance(source, dict):
        data = text_of(source.get("data"))
        place = text_of(source.get("path")) or text_of(source.get("url"))
        if data or place:
            return Content(Kind.IMAGE, media_type=text_of(source.get("media_type")), data=data, url=place)
    return block_of(part)
