"""ATIF trajectories, the Agent Trajectory Interchange Format 1.2 to 1.7 (formats 18).

A step is one message, and a second one for what was observed.  Copied context is in the context and is no request:
its call was counted in the trajectory it was copied from.  Embedded sub-trajectories are sessions of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_place
from sessions.engine.reading.formats._anthropic_blocks import block_of
from sessions.engine.reading.formats._assembly import Assembly, with_unique_ids
from sessions.engine.reading.formats._blocks import blocks_of, definitions, opaque, text_blocks, tool_use
from sessions.engine.reading.formats._counts import usage_at
from sessions.engine.reading.formats._records import inside, misread, objects_in, stem_of
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, count_of, seconds, text_of, written
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Transcript, Usage

TOKEN_ARRAYS = ("prompt_token_ids", "completion_token_ids", "logprobs")
MAX_NESTED = 20
ROLES = {"system": Role.SYSTEM, "user": Role.USER, "agent": Role.ASSISTANT}


def step_contents(step: Record) -> tuple[Content, ...]:
    """What was said in a step: reasoning, the message, the tool calls; without the observation."""
    thoughts = text_blocks(written(step.get("reasoning_content") or ""), Kind.THINKING)
    calls = [
        tool_use(call.get("arguments"), call.get("function_name"), call.get("tool_call_id"))
        if isinstance(call, dict)
        else opaque(call)
        for call in as_list(step.get("tool_calls"))
    ]
    return (*thoughts, *message_contents(step.get("message")), *calls)


def observed_contents(observation: Any) -> tuple[Content, ...]:
    """The results of a step: one that names its call is a tool result, any other is text (formats 18)."""
    return tuple(content for result in as_list(as_dict(observation).get("results")) for content in _result(result))


def message_contents(message: Any) -> tuple[Content, ...]:
    """A message or a result's content: a string, or a list of text and image parts."""
    if message is None or isinstance(message, (str, list)):
        return blocks_of(message, _part)
    return (Content(Kind.OPAQUE, text=dumps(message)),)


def references(step: Any) -> Iterator[tuple[Record, str]]:
    """Every reference to a sub-trajectory in a step, with the id of the call it answers."""
    for result in as_list(as_dict(as_dict(step).get("observation")).get("results")):
        refs = as_dict(result).get("subagent_trajectory_ref")
        for ref in refs if isinstance(refs, list) else [refs]:
            if isinstance(ref, dict):
                yield ref, text_of(result.get("source_call_id"))


def is_compaction(step: Record) -> bool:
    """A system step that stands for a compaction: it refers to the trajectories that summarised, or says so."""
    if step.get("source") != "system":
        return False
    managed = as_dict(as_dict(step.get("extra")).get("context_management"))
    return managed.get("type") == "compaction" or any(True for _ in references(step))


def usage_of(step: Record) -> Usage | None:
    """Usage of a step's call, until 1.3 under ``usage``; ``prompt_tokens`` includes the cached ones."""
    return usage_at(as_dict(step["metrics"] if "metrics" in step else step.get("usage")), "atif")


def _result(result: Any) -> tuple[Content, ...]:
    if not isinstance(result, dict):
        return (opaque(result),)
    call_id, content = text_of(result.get("source_call_id")), result.get("content")
    if not call_id:
        return message_contents(content)
    parts = () if isinstance(content, str) else message_contents(content)
    return (Content(Kind.TOOL_RESULT, text=text_of(content), call_id=call_id, parts=parts),)


def _part(part: Any) -> Content:
    held = as_dict(as_dict(part).get("source")) if as_dict(part).get("type") == "image" else {}
    data, place = text_of(held.get("data")), text_of(held.get("path")) or text_of(held.get("url"))
    if data or place:
        return Content(Kind.IMAGE, media_type=text_of(held.get("media_type")), data=data, url=place)
    return block_of(part)


@dataclass(slots=True)
class File:
    """What reading a file needs everywhere; ``sessions`` are the ids of the trajectories that it holds side by side."""

    source: Source
    measure: Measured
    sessions: set[str] = field(default_factory=set)


class _Format(Format):
    label = "ATIF"
    source = "Agent Trajectory Interchange Format 1.2 to 1.7 (JSON)"
    coverage = Coverage(
        "1.2 to 1.7", usage=YES, images=YES, compactions=YES, subagents=YES, live=PARTLY,
        compaction="a step copied as context", model="model_name",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        document = as_dict(head.document)
        if _parts(document):
            return Sniff(94, "it holds an ATIF trajectory as parent, and those of its children")
        version = text_of(document.get("schema_version"))
        if version.startswith("ATIF-") and isinstance(document.get("steps"), list):
            return Sniff(95, f"schema_version is {version} and it has steps")
        if version.startswith("ATIF-"):
            return Sniff(0, f"schema_version is {version}, but it has no list of steps")
        if isinstance(document.get("steps"), list) and "agent" in document:
            return Sniff(0, "it has an agent and steps, but no schema_version of ATIF")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        document = source.document()
        parts = _parts(document) or [(document, ())]
        if not _is_trajectory(parts[0][0]):
            raise misread("no ATIF trajectory: it has no list of steps")
        file, home = File(source, measure), ""
        file.sessions = {text_of(part.get("session_id")) for part, _ in parts}
        told = [pair for step in parts[0][0]["steps"] for pair in references(step)]
        calls = {text_of(ref.get("session_id")) or text_of(ref.get("trajectory_id")): call for ref, call in told}
        found: list[Transcript] = []
        for number, (part, path) in enumerate(parts):
            named = text_of(part.get("session_id")) or text_of(part.get("trajectory_id"))
            native_id = named or (f"{stem_of(source.name)}.{number}" if number else stem_of(source.name))
            found += _trajectories(part, path, native_id, (home, calls.get(named, "") if home else ""), file)
            home = home or native_id
        return Parsed(with_unique_ids(found))

    contents = each_place(
        lambda value, origin, _: (observed_contents if origin.path[-1] == "observation" else step_contents)(value)
    )


def _is_trajectory(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("steps"), list)


def _parts(document: Any) -> list[tuple[Record, Path]]:
    """A parent's trajectory and its children's, where a file holds them side by side; empty for any other file."""
    if not isinstance(document, dict) or "steps" in document or not _is_trajectory(document.get("parent")):
        return []
    if not text_of(document["parent"].get("schema_version")).startswith("ATIF-"):
        return []
    found: list[tuple[Record, Path]] = [(document["parent"], ("parent",))]
    for key in ("child", "children", "subagents"):
        held = document.get(key)
        listed = [(held, (key,))] if isinstance(held, dict) else [(c, (key, n)) for n, c in enumerate(as_list(held))]
        found += [(child, path) for child, path in listed if _is_trajectory(child)]
    return found


def _trajectories(
    document: Record, path: Path, native_id: str, parent: tuple[str, str], file: File
) -> Iterator[Transcript]:
    """This trajectory and, after it, those embedded in it, each linked to the call that refers to it."""
    steps = [step for step in document["steps"] if isinstance(step, dict)]
    assembly = _assembled(document, path, file)
    agent = as_dict(document.get("agent"))
    children = as_list(document.get("subagent_trajectories"))
    known = {text_of(child.get("trajectory_id")) for child in children if isinstance(child, dict)} | file.sessions
    assembly.warnings += _notes(document, steps, known - {""})
    yield assembly.transcript(
        native_id,
        parent_id=parent[0],
        parent_call_id=parent[1],
        model=text_of(agent.get("model_name")),
        client=" ".join(filter(None, (text_of(agent.get("name")), text_of(agent.get("version"))))),
        system=file.measure(definitions(agent.get("tool_definitions"))),
    )
    calls = {text_of(ref.get("trajectory_id")): call for step in steps for ref, call in references(step)}
    for position, child in enumerate(children):
        place = (*path, "subagent_trajectories", position)
        if not _is_trajectory(child) or len(place) > 2 * MAX_NESTED:
            file.source.skip(f"sub-trajectory {position} has no steps, or is nested too deep")
            continue
        name = text_of(child.get("trajectory_id"))
        child_id = name or text_of(child.get("session_id")) or f"{native_id}.{position}"
        yield from _trajectories(child, place, child_id, (native_id, calls.get(name, "")), file)


def _assembled(document: Record, path: Path, file: File) -> Assembly:
    assembly = Assembly(file.measure)
    model = text_of(as_dict(document.get("agent")).get("model_name"))
    for step, place in objects_in(
        document["steps"], Origin(1, 0, file.source.size, (*path, "steps")), file.source, "step"
    ):
        if is_compaction(step):
            # Its summary is what the step observed; in a continuation it is in the next file.
            boundary, made = len(assembly.messages), len(assembly.compactions)
            summary = _observation(assembly, step, place, summary=True, compaction=made)
            assembly.compaction(boundary, message=summary, trigger=None)
        else:
            role, copied = ROLES.get(text_of(step.get("source")), Role.USER), step.get("is_copied_context") is True
            native_id, at = _native_id(step), seconds(step.get("timestamp"))
            index = assembly.add(role, step_contents(step), (place,), id=native_id, timestamp=at)
            if role is Role.ASSISTANT and not copied and step.get("llm_call_count") != 0:
                assembly.request(index, usage_of(step), model=text_of(step.get("model_name")) or model)
            _observation(assembly, step, place)
    return assembly


def _observation(assembly: Assembly, step: Record, place: Origin, **facts: Any) -> int | None:
    """What a step observed, as a message after it; its index, None where there is nothing."""
    contents = observed_contents(step.get("observation"))
    if not contents:
        return None
    native_id = f"{_native_id(step)}.observation" if _native_id(step) else ""
    origin, at = inside(place, "observation"), seconds(step.get("timestamp"))
    return assembly.add(Role.USER, contents, (origin,), id=native_id, typed=False, timestamp=at, **facts)


def _notes(document: Record, steps: Sequence[Record], embedded: set[str]) -> Iterator[str]:
    others = [
        text_of(ref.get("trajectory_path")) or text_of(ref.get("session_id")) or text_of(ref.get("trajectory_id"))
        for step in steps
        for ref, _ in references(step)
        if not {text_of(ref.get("trajectory_id")), text_of(ref.get("session_id"))} & embedded
    ]
    if others:
        yield f"Sub-trajectories in other files: {', '.join(others)}"
    if further := text_of(document.get("continued_trajectory_ref")):
        yield f"The session continues in {further}"
    if copied := sum(step.get("is_copied_context") is True for step in steps):
        yield f"Steps copied from another trajectory: {copied}, in the context, their calls counted there"
    metrics = [as_dict(step.get("metrics")) for step in steps]
    if numbers := sum(len(as_list(held.get(key))) for held in metrics for key in TOKEN_ARRAYS):
        yield f"Token ids and log-probabilities: {numbers:,} numbers of the recorder's, not context"
    if several := sum(count_of(step.get("llm_call_count")) > 1 for step in steps):
        yield f"Steps that stand for several calls: {several}; their usage is a sum, not one context"
    stated = count_of(as_dict(document.get("final_metrics")).get("total_prompt_tokens"))
    counted = sum(use.context for step in steps if not step.get("is_copied_context") and (use := usage_of(step)))
    if stated and stated != counted:
        rest = "sub-agents, earlier files or aborted calls make the difference"
        yield f"The recorder's total is {stated:,} prompt tokens, its steps sum to {counted:,}; {rest}"


def _native_id(step: Record) -> str:
    native = step.get("step_id")
    return str(native) if isinstance(native, (int, str)) and not isinstance(native, bool) else ""
