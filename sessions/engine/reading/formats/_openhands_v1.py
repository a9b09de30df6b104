"""OpenHands V1 (software agent SDK) events as blocks (formats 12)."""

from __future__ import annotations

from typing import Any

from sessions.engine.base.words import words
from sessions.engine.reading.formats import _blocks as blocks
from sessions.engine.reading.formats._anthropic_blocks import block_of
from sessions.engine.reading.formats._counts import inclusive_usage
from sessions.engine.reading.formats._values import ROLES, Record, as_dict, as_list, count_of, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Role, Usage

CONTEXT_KINDS = set(
    words("""
    SystemPromptEvent MessageEvent ActionEvent ObservationEvent UserRejectObservation AgentErrorEvent
    CondensationSummaryEvent
""")
)
OTHER_KINDS = set(
    words("""
    Condensation CondensationRequest ConversationStateUpdateEvent ConversationErrorEvent PauseEvent
    LLMCompletionLogEvent TokenEvent StreamingDeltaEvent HookExecutionEvent ACPToolCallEvent
""")
)
KINDS = CONTEXT_KINDS | OTHER_KINDS
FAILURES = ("ConversationErrorEvent", "ServerErrorEvent")


def is_event(value: Any) -> bool:
    """An event with a kind, as the SDK writes them."""
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        return False
    return value["kind"] in KINDS or ("source" in value and "timestamp" in value)


def role_of(event: Record) -> Role | None:
    """Whom the event speaks for in the context; None where it never gets there."""
    kind = event.get("kind")
    if kind == "SystemPromptEvent":
        return Role.SYSTEM
    if kind == "ActionEvent":
        return Role.ASSISTANT
    if kind == "MessageEvent":
        native = text_of(as_dict(event.get("llm_message")).get("role"))
        from_agent = not native and event.get("source") == "agent"
        return Role.ASSISTANT if from_agent else ROLES.get(native, Role.USER)
    return Role.USER if kind in CONTEXT_KINDS else None


def contents_of_event(event: Record) -> tuple[Content, ...]:
    """The blocks of one event."""
    kind = event.get("kind")
    if kind == "SystemPromptEvent":
        return (*_parts(event.get("system_prompt")), *_parts(event.get("dynamic_context")))
    if kind == "MessageEvent":
        message = as_dict(event.get("llm_message"))
        said = (*_parts(message.get("content")), *_parts(event.get("extended_content")))
        calls = (_call(as_dict(call), "", "") for call in as_list(message.get("tool_calls")))
        return (*_thinking(message, ""), *said, *calls)
    if kind == "ActionEvent":
        said = _parts(event.get("thought"))
        named = text_of(event.get("tool_name")), text_of(event.get("tool_call_id"))
        call = _call(as_dict(event.get("tool_call")), *named)
        if not call.text and (action := event.get("action")) is not None:
            call = Content(Kind.TOOL_USE, dumps(action), call.name, call.call_id, target=blocks.target_of(action))
        return (*_thinking(event, "\n".join(content.text for content in said)), *said, call)
    if kind in ("Condensation", "CondensationSummaryEvent"):
        return _parts(event.get("summary"))
    return (_result(event),)


def forgotten_ids(event: Record) -> set[str]:
    """Ids of the events a condensation takes out."""
    return {text for text in as_list(event.get("forgotten_event_ids")) if isinstance(text, str)}


def condenser_limit(settings: Any) -> int | None:
    """``max_size`` of the condenser that an evaluation's metadata or a conversation's state names, None without one."""
    found = as_dict(settings)
    holders = (found, as_dict(found.get("agent")), as_dict(found.get("agent_config")))
    named = (as_dict(holder.get(key)) for holder in holders for key in ("condenser", "condenser_config"))
    return next((limit for condenser in named if (limit := count_of(condenser.get("max_size")))), None)


class CallUsage:
    """Usage of single calls from the running totals that state updates report.

    Totals are not per call (formats 12): the growth between two updates is taken as one call's usage only where the
    update's own ``per_turn_token`` says the same.
    """

    def __init__(self) -> None:
        self.pending: Usage | None = None
        self.model = ""
        self.window = 0
        self._last = (0, 0, 0, 0)

    def update(self, event: Record) -> None:
        """Take in a state update; other events and totals that do not belong to the agent change nothing."""
        if event.get("key") != "stats":
            return
        by_use = as_dict(as_dict(event.get("value")).get("usage_to_metrics"))
        metrics = as_dict(by_use.get("default") or by_use.get("agent"))
        usage = as_dict(metrics.get("accumulated_token_usage"))
        if not usage:
            return
        keys = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens")
        sent, output, read, write = now = tuple(count_of(usage.get(key)) for key in keys)
        before, self._last = self._last, (sent, output, read, write)
        grown = [later - earlier for later, earlier in zip(now, before, strict=True)]
        self.model = text_of(metrics.get("model_name")) or self.model
        self.window = count_of(usage.get("context_window")) or self.window
        one_call = min(grown) >= 0 and grown[0] + grown[1] == count_of(usage.get("per_turn_token"))
        if any(grown):
            self.pending = inclusive_usage(*grown[:2], cache_read=grown[2], cache_write=grown[3]) if one_call else None

    def take(self) -> Usage | None:
        """The usage of the call that was just reported, once."""
        found, self.pending = self.pending, None
        return found


def _thinking(holder: Record, said: str) -> tuple[Content, ...]:
    """Thinking once: blocks with their signatures, else the plain text, unless what is said repeats it."""
    listed = as_list(holder.get("thinking_blocks"))
    found = [block_of(b) if as_dict(b).get("type") == "thinking" else blocks.opaque(b) for b in listed]
    plain = text_of(holder.get("reasoning_content"))
    if plain and not found and plain.strip() not in said:
        found.append(Content(Kind.THINKING, text=plain))
    item = holder.get("responses_reasoning_item")
    if isinstance(item, dict):
        found.append(blocks.opaque(item, "reasoning"))
    return tuple(found)


def _call(call: Record, name: str, call_id: str) -> Content:
    function = as_dict(call.get("function"))
    arguments = call.get("arguments", function.get("arguments"))
    named = text_of(call.get("name")) or text_of(function.get("name")) or name
    return blocks.tool_use(arguments, named, text_of(call.get("id")) or call_id)


def _result(event: Record) -> Content:
    call_id = text_of(event.get("tool_call_id")) or text_of(event.get("action_id"))
    refused = event.get("error") or event.get("rejection_reason")
    if event.get("kind") != "ObservationEvent" and refused is not None:
        parts, failed = _parts(refused), True
    else:
        observation = event.get("observation")
        held = as_dict(observation)
        content = next((held[key] for key in ("content", "output", "result") if held.get(key)), None)
        parts = _parts(content if content is not None else observation if not held else None)
        if not parts and held and "content" not in held:
            parts = (blocks.opaque(held, text_of(held.get("kind"))),)
        failed = bool(held.get("is_error"))
    return blocks.result_of(parts, call_id, is_error=failed)


def _parts(content: Any) -> tuple[Content, ...]:
    """Text and images, alone or in a list; anything else is opaque."""
    if isinstance(content, list):
        return tuple(part for item in content for part in _parts(item))
    text = content.get("text") if isinstance(content, dict) else content
    if isinstance(text, str) or content is None:
        return (Content(Kind.TEXT, text=text),) if text else ()
    links = as_list(as_dict(content).get("image_urls"))
    if links and all(isinstance(link, str) for link in links):
        return tuple(blocks.media_link(link, kind=Kind.IMAGE) for link in links)
    return (blocks.opaque(content),)
