"""OpenHands V0 events: actions and observations as blocks (formats 12).

A call's arguments are those of the model's response where the event carries it, else the action's own.  Only the
first action of a response repeats the response's text.
"""

from __future__ import annotations

from typing import Any

from sessions.engine.reading.formats._blocks import media_link, text_blocks, tool_use
from sessions.engine.reading.formats._provider_errors import Refusal, error_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Role

NOT_CONTEXT = frozenset(
    {"change_agent_state", "null", "condensation", "condensation_request", "start", "stop", "pause", "resume"}
)
NOT_CONTEXT_SEEN = frozenset({"agent_state_changed", "null", "user_rejected_state"})
_NOT_ARGUMENTS = frozenset(
    {"thought", "hidden", "confirmation_state", "blocking", "is_static", "cwd", "security_risk", "is_confirmed"}
)

RECALL = "recall"
RESOLVED = "event-"
"""How the ids start that the resolver's events get."""
FAILED = "[Error occurred in processing last action]"
MAX_CHARS = 30_000
"""Characters of an observation that are sent (``max_message_chars``): its first and last halves, words between."""
CUT = "\n[... Observation truncated due to length ...]\n"
_WHOLE = ("read", "browse", RECALL)
"""Observations that are sent whole, or that something else cuts."""


def is_event(value: Any) -> bool:
    """An action or an observation, as V0 writes them."""
    return isinstance(value, dict) and (_is_action(value) or isinstance(value.get("observation"), str))


def is_resolved(holder: Any) -> bool:
    """What the issue resolver writes: its events have no source and, in older files, no id."""
    found = as_dict(holder)
    return "git_patch" in found and isinstance(found.get("history"), list) and ("issue" in found or "success" in found)


def with_source(event: Record, position: int) -> Record:
    """An event at ``position`` with what its writer left out (formats 12, ours).

    An action is the agent's, but for a message that waits for no answer; an observation answers the action before it.
    """
    if "source" in event:
        return event
    said = event.get("action") == "message" and as_dict(event.get("args")).get("wait_for_response") is not True
    source = "environment" if not _is_action(event) else "user" if said else "agent"
    facts = {"source": source, "id": f"{RESOLVED}{position}"}
    return {**facts, **event} if _is_action(event) else {**facts, "cause": f"{RESOLVED}{position - 1}", **event}


def role_of(event: Record) -> Role | None:
    """Whom the event speaks for in the context; None where it never gets there."""
    if _is_action(event):
        action = event["action"]
        if action in NOT_CONTEXT:
            return None
        if action == "system":
            return Role.SYSTEM
        if action == RECALL:
            return Role.USER  # nothing of it is sent, but the condensers count it
        return Role.ASSISTANT if event.get("source") == "agent" else Role.USER
    return None if event.get("observation") in NOT_CONTEXT_SEEN else Role.USER


def contents_of_event(event: Record) -> tuple[Content, ...]:
    """The blocks of an action or an observation."""
    return _action(event) if _is_action(event) else _observation(event)


def event_id(event: Record) -> str:
    """The event's number as text, empty where it has none."""
    number = event.get("id")
    return str(number) if isinstance(number, (int, str)) and not isinstance(number, bool) else ""


def response_of(event: Record) -> Record:
    """The model's response that an action carries, empty where it does not."""
    return as_dict(as_dict(event.get("tool_call_metadata")).get("model_response"))


def forgotten_ids(event: Record) -> set[str]:
    """Ids of the events that a condensation takes out: a list, or a range of numbers with both ends."""
    args = as_dict(event.get("args"))
    listed = args.get("forgotten_event_ids")
    if isinstance(listed, list):
        return {str(number) for number in listed if isinstance(number, (int, str))}
    start, end = args.get("forgotten_events_start_id"), args.get("forgotten_events_end_id")
    if isinstance(start, int) and isinstance(end, int) and 0 <= end - start < 10_000_000:
        return {str(number) for number in range(start, end + 1)}
    return set()


def error_of_event(event: Record) -> Refusal | None:
    """What a change of the agent's state tells, or an error that is a refusal: other errors are the model's to read."""
    kind, told = event.get("observation"), as_dict(event.get("extras")).get("reason") or event.get("content")
    error = error_of(told) if kind in ("error", "agent_state_changed") else None
    return error if error and (error.of_size or kind != "error") else None


def _is_action(event: Record) -> bool:
    return isinstance(event.get("action"), str) and bool(event["action"])


def _action(event: Record) -> tuple[Content, ...]:
    args = as_dict(event.get("args"))
    if event["action"] == RECALL:
        return ()
    if event["action"] in ("system", "message"):
        return (*_text(args.get("content") or event.get("message")), *_images(args.get("image_urls")))
    metadata = as_dict(event.get("tool_call_metadata"))
    if not metadata and event.get("source") != "agent":
        return _text(args.get("command") or event.get("message"))
    said, call = _from_response(event, metadata)
    if call is not None:
        return (*said, call)
    thought = () if event["action"] == "think" else _text(args.get("thought"))
    arguments = {k: v for k, v in args.items() if k not in _NOT_ARGUMENTS or (k == "thought" and not thought)}
    return (*thought, tool_use(arguments, event["action"], text_of(metadata.get("tool_call_id")) or event_id(event)))


def _from_response(event: Record, metadata: Record) -> tuple[tuple[Content, ...], Content | None]:
    """What the response says before its first call, and the call this event is about."""
    choices = as_list(response_of(event).get("choices"))
    message = as_dict(as_dict(next(iter(choices), None)).get("message"))
    wanted = text_of(metadata.get("tool_call_id"))
    for position, call in enumerate(as_list(message.get("tool_calls"))):
        function = as_dict(as_dict(call).get("function"))
        arguments = function.get("arguments")
        if as_dict(call).get("id") == wanted and arguments is not None:
            name = text_of(function.get("name")) or text_of(metadata.get("function_name"))
            return (_said(message) if position == 0 else ()), tool_use(arguments, name, wanted)
    return (), None


def _said(message: Record) -> tuple[Content, ...]:
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    texts = [text_of(part.get("text")) if isinstance(part, dict) else text_of(part) for part in parts]
    thought = text_blocks(text_of(message.get("reasoning_content")), Kind.THINKING)
    return (*thought, *(Content(Kind.TEXT, text=text) for text in texts if text))


def _observation(event: Record) -> tuple[Content, ...]:
    extras = as_dict(event.get("extras"))
    text = _text(_observed(event, extras))
    if event.get("observation") == RECALL:
        # What a recall put into the prompt: the repository's instructions and triggered knowledge.
        texts = [extras.get("repo_instructions"), extras.get("additional_agent_instructions")]
        texts += [as_dict(item).get("content") for item in as_list(extras.get("microagent_knowledge"))]
        return (*text, *(block for told in texts for block in _text(told)))
    pictures = _images(extras.get("image_urls")) or _images([extras.get("screenshot") or extras.get("set_of_marks")])
    call_id = text_of(as_dict(event.get("tool_call_metadata")).get("tool_call_id"))
    cause = event.get("cause")
    if not call_id and ((isinstance(cause, int) and not isinstance(cause, bool)) or str(cause).startswith(RESOLVED)):
        call_id = str(cause)
    failed = event.get("observation") == "error" or event.get("success") is False
    if not call_id:
        return (*text, *pictures)
    plain = text[0].text if text and not pictures else ""
    parts = (*text, *pictures) if pictures else ()
    return (Content(Kind.TOOL_RESULT, text=plain, call_id=call_id, is_error=failed, parts=parts),)


def _observed(event: Record, extras: Record) -> Any:
    """What an observation says, in the words in which OpenHands tells the model (``to_agent_observation``).

    A command's output stands between what the shell put around it; the directory and the exit code follow.  Of a long
    one the middle is left out, as ``truncate_content`` does.
    """
    content = event.get("content") if event.get("content") is not None else event.get("message")
    kind = event.get("observation")
    if not isinstance(content, str) or kind in _WHOLE:
        return content
    if kind == "error":
        return f"{_cut(content)}\n{FAILED}"
    metadata = as_dict(extras.get("metadata")) if kind == "run" else {}
    if not metadata:
        return _cut(content)
    said = f"{text_of(metadata.get('prefix'))}{content}{text_of(metadata.get('suffix'))}"
    for words, key in (("Current working directory", "working_dir"), ("Python interpreter", "py_interpreter_path")):
        if metadata.get(key):
            said += f"\n[{words}: {text_of(metadata[key])}]"
    code = metadata.get("exit_code")
    if isinstance(code, int) and code != -1:
        said += f"\n[Command finished with exit code {code}]"
    return _cut(said)


def _cut(text: str) -> str:
    half = MAX_CHARS // 2
    return text if len(text) <= MAX_CHARS else text[:half] + CUT + text[-half:]


def _images(links: Any) -> tuple[Content, ...]:
    return tuple(media_link(link, kind=Kind.IMAGE) for link in as_list(links) if isinstance(link, str) and link)


def _text(value: Any) -> tuple[Content, ...]:
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (Content(Kind.TEXT, text=value),)
    return (Content(Kind.OPAQUE, text=dumps(value)),)
