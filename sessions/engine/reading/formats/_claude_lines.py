"""Lines of a Claude Code file: what each is, its blocks, the facts the chain needs, its message (formats 3.1 to 3.4).

``line_contents`` is the single way from a line's JSON value to blocks: parsing measures what it returns, and reading a
message again returns the same.  Lines are grouped by ``message.id``, their usage is counted once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from sys import intern
from typing import Any

from sessions.engine.base import limits
from sessions.engine.base.words import words
from sessions.engine.reading.formats._anthropic_blocks import contents_of
from sessions.engine.reading.formats._blocks import is_prompt, opaque, preview_of, prompt_words
from sessions.engine.reading.formats._branch import RESULTS, Clearing
from sessions.engine.reading.formats._claude_attachments import attachment_contents, attachment_name
from sessions.engine.reading.formats._claude_bodies import ClaudeBody, ClaudeFacts, Shelves
from sessions.engine.reading.formats._counts import usage_of
from sessions.engine.reading.formats._provider_errors import MAX_CHARS, MAX_WORDS, Refusal, error_of
from sessions.engine.reading.formats._values import Measured, Record, as_dict, as_list, count_of, seconds, text_of
from sessions.engine.reading.jsonio import Line
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Block, Content, Kind, Message, Role, Usage

SYNTHETIC_MODEL = "<synthetic>"
UI_TYPES = words("""
    progress system summary file-history-snapshot queue-operation last-prompt ai-title custom-title
    permission-mode mode result
""")
INTERRUPTED, API_ERROR = "[Request interrupted by user", "API Error"
UNTYPED_PREFIXES = (
    "<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>", "<bash-stdout>", "<bash-stderr>",
    "<task-notification>", INTERRUPTED,
)  # fmt: skip
RESUMED, AFRESH, NO_REPLY = "SessionStart:resume", "SessionStart:clear", "No response requested."
TRIGGERS, CLEARED = ("auto", "manual"), "[Old tool result content cleared"
_CLOSING = re.compile(r"</local-command-std(?:err|out)>\s*\Z")
COMMAND_ERROR = re.compile(r"\A<local-command-std(?:err>|out>(?=Error))")
PLACEHOLDER_CHARS_PER_TOKEN = 8
_SNAKE = re.compile(r"_([a-z])")


@dataclass(frozen=True, slots=True)
class Rare:
    """What few lines record: compactions, refusals, sub-agents, prompts; ``cut``: a reply that reached its maximum."""

    resumed: bool = False
    afresh: bool = False
    cleared: bool = False
    cut: bool = False
    boundary: Record | None = None
    clearing: Clearing | None = None
    refusal: Refusal | None = None
    prompts: tuple[tuple[str, str], ...] = ()
    prompt: str = ""
    agents: tuple[tuple[str, str], ...] = ()


NOTHING = Rare()
"""What most lines have of it."""


@dataclass(slots=True)
class ClaudeRecord:
    """One chained line, ``order`` of the file from 0: how it finds its place; the ``shelves`` have what it holds."""

    order: int
    shelves: Shelves
    uuid: str
    parent: str
    session: str
    sidechain: bool
    agent: str
    role: Role | None = None
    response_id: str = ""
    attachment: str = ""
    summary: bool = False
    rare: Rare = NOTHING

    @property
    def facts(self) -> ClaudeFacts:
        """What the line records beside its content."""
        return self.shelves.facts[self.order]

    @property
    def body(self) -> ClaudeBody:
        """Its content."""
        return self.shelves.bodies[self.order]

    @property
    def is_message(self) -> bool:
        """Whether the line is, or is part of, a message."""
        return self.role is not None


def record_of(
    line: Line, value: Record, order: int, shelves: Shelves, measure: Measured
) -> tuple[ClaudeRecord, ClaudeFacts, ClaudeBody]:
    """The record of a line that is an object, and what goes on the shelves with it; measured when it is a message."""
    role = role_of(value)
    contents = () if role is None else line_contents(value)
    blocks = measure(contents)
    rare = _marks(value)
    if _is_start(value):
        rare["resumed"] = True
    if _is_clear(value):
        rare["afresh"] = True
    if any(content.kind is Kind.TOOL_RESULT and content.text.startswith(CLEARED) for content in contents):
        rare["cleared"] = True
    if role is not Role.ASSISTANT and (refusal := _refusal(value)):
        rare.setdefault("refusal", refusal)
    said, title = dict[str, Any](), ""
    if role is Role.ASSISTANT:
        said = _reply(value, contents, rare)
    elif role is not None:
        said, title = _said(value, contents, rare)
    facts = ClaudeFacts(line.at(), seconds(value.get("timestamp")), **said)
    body = ClaudeBody(blocks, preview_of(contents) if contents else "", title)
    attachment, is_said = value.get("attachment"), role not in (None, Role.ASSISTANT)
    record = ClaudeRecord(
        order=order,
        shelves=shelves,
        uuid=text_of(value.get("uuid")),
        parent=text_of(value.get("parentUuid")) or text_of(value.get("logicalParentUuid")),
        session=intern(text_of(value.get("sessionId")) or text_of(value.get("session_id"))),
        sidechain=value.get("isSidechain") is True,
        agent=intern(text_of(value.get("agentId"))),
        role=role,
        response_id=text_of(as_dict(value.get("message")).get("id")) if role is Role.ASSISTANT else "",
        attachment=intern(attachment_name(attachment)) if is_said and isinstance(attachment, dict) else "",
        summary=is_said and value.get("isCompactSummary") is True,
        rare=Rare(**rare) if rare else NOTHING,
    )
    return record, facts, body


def _marks(value: Record) -> dict[str, Any]:
    """What a system line records of a compaction, a clearing, a failure; in snake case in SDK streams (formats 3.6)."""
    if value.get("type") != "system":
        return {}
    kind = text_of(value.get("subtype"))
    if kind == "compact_boundary":
        return {"boundary": as_dict(_camel(value.get("compactMetadata") or value.get("compact_metadata")))}
    if kind == "microcompact_boundary":
        facts = as_dict(value.get("microcompactMetadata"))
        trigger, ids = text_of(facts.get("trigger")), as_list(facts.get("compactedToolIds"))
        saved = count_of(facts.get("tokensSaved")) or None
        named = tuple(filter(None, map(text_of, ids)))
        known = trigger if trigger in TRIGGERS else None
        return {"clearing": Clearing(RESULTS, known, len(ids) or None, saved, named)}
    failed = value.get("compact_result") == "failed"
    return {"refusal": error_of(value.get("compact_error"), of_compaction=True)} if failed else {}


def _camel(value: Any) -> Any:
    """The names of a record's fields, in snake case too, as Claude Code's own files write them."""
    if not isinstance(value, dict):
        return value
    return {_SNAKE.sub(lambda found: found[1].upper(), key): _camel(item) for key, item in value.items()}


def _is_start(value: Record) -> bool:
    """Whether a line shows that the client was started again on this session: its hook, or the reply it makes up."""
    message, data = as_dict(value.get("message")), as_dict(value.get("data"))
    if value.get("type") == "progress":
        return text_of(data.get("hookName")) == RESUMED
    made_up = value.get("type") == "assistant" and message.get("model") == SYNTHETIC_MODEL
    return made_up and [c.text for c in contents_of(message.get("content"))] == [NO_REPLY]


def _is_clear(value: Record) -> bool:
    """Whether a line begins the conversation anew in the same file: the hook of a clear that hangs from nothing."""
    if value.get("parentUuid") or value.get("logicalParentUuid") or not value.get("uuid"):
        return False
    return AFRESH in (as_dict(value.get(key)).get("hookName") for key in ("data", "attachment"))


def _refusal(value: Record) -> Refusal | None:
    """What a line of the client says of a request refused for its size, or of a compaction that failed."""
    kind, message = value.get("type"), as_dict(value.get("message"))
    if kind == "system" and value.get("subtype") == "api_error":
        told = value.get("error") or value.get("cause")
        return error_of(told, kind=EventKind.RETRY) or Refusal(EventKind.RETRY)
    made_up = kind == "assistant" and message.get("model") == SYNTHETIC_MODEL
    if made_up or (kind == "assistant" and value.get("isApiErrorMessage")):
        texts = [text_of(value.get("errorDetails")), *(c.text for c in contents_of(message.get("content")))]
        body = {"code": value.get("error"), "message": texts[0], "detail": "\n".join(texts[1:])}
        error = error_of(body, count_of(value.get("apiErrorStatus")))
        # A client makes replies up for other reasons, too: "No response requested.", a command's words.
        is_told = error is None or error.of_size or value.get("isApiErrorMessage") or texts[-1].startswith(API_ERROR)
        return error if is_told else None
    if kind == "result" and value.get("is_error"):
        words = text_of(value.get("result")) or "; ".join(map(text_of, as_list(value.get("errors"))))
        return Refusal(EventKind.SESSION_END, code=text_of(value.get("subtype")), words=words[:MAX_WORDS])
    said = value.get("content") if kind == "system" else message.get("content")
    first = said[0].get("text") if isinstance(said, list) and len(said) == 1 and isinstance(said[0], dict) else said
    if kind == "user" and text_of(first).startswith(INTERRUPTED):
        # The client's own words where the user broke a reply or a tool off.
        return Refusal(EventKind.INTERRUPTION, words=text_of(first)[:MAX_WORDS])
    if isinstance(said, str) and (found := COMMAND_ERROR.search(said[:MAX_CHARS])):
        told = error_of(_CLOSING.sub("", said[found.end() :]))
        return told if told and told.of_compaction else None
    return None


def role_of(value: Record) -> Role | None:
    """The role of a line that is a message, else None.

    Messages are user, assistant and attachment lines, and lines of an unknown type that carry a ``message`` with a
    role; ``<synthetic>`` and API-error replies are not (replay-semantics 1).
    """
    kind, message = text_of(value.get("type")), value.get("message")
    if kind == "attachment":
        return Role.USER if isinstance(value.get("attachment"), dict) else None
    named = text_of(as_dict(message).get("role"))
    if kind == "assistant" or (kind not in UI_TYPES and kind != "user" and named == "assistant"):
        synthetic = isinstance(message, dict) and message.get("model") == SYNTHETIC_MODEL
        return None if synthetic or value.get("isApiErrorMessage") or message is None else Role.ASSISTANT
    if kind == "user":
        return None if message is None else Role.USER
    if kind in UI_TYPES or not named:
        return None
    return Role.SYSTEM if named == "system" else Role.USER


def line_contents(value: Record) -> tuple[Content, ...]:
    """The blocks of one message line; ``toolUseResult`` is the client's copy and is not among them."""
    attachment = value.get("attachment")
    if value.get("type") == "attachment" and isinstance(attachment, dict):
        return attachment_contents(attachment, value.get("rendered"))
    message = value.get("message")
    if isinstance(message, dict) and not isinstance(message.get("content"), (str, list)):
        return (opaque(message, name="message"),)
    return contents_of(message["content"] if isinstance(message, dict) else message)


def _reply(value: Record, contents: tuple[Content, ...], rare: dict[str, Any]) -> dict[str, Any]:
    """Fields of a reply's facts; the prompts that its calls give go to ``rare``."""
    message = value.get("message")
    if not isinstance(message, dict):
        return {}
    blocks = [as_dict(block) for block in as_list(message.get("content"))]
    given = ((text_of(block.get("id")), as_dict(block.get("input")).get("prompt")) for block in blocks)
    if prompts := tuple((call, prompt_hash(prompt)) for call, prompt in given if isinstance(prompt, str)):
        rare["prompts"] = prompts
    if message.get("stop_reason") == "max_tokens":
        rare["cut"] = True
    return {
        "model": intern(text_of(message.get("model"))),
        "usage": usage_of(message.get("usage")),
        "stopped": bool(message.get("stop_reason")),
        "n_visible": sum([len(c.text) + len(c.name) for c in contents]),
    }


def _said(value: Record, contents: tuple[Content, ...], rare: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The same of what is no reply: whether a person typed it, and its title; hashes and agents go to ``rare``."""
    meta = value.get("isMeta") is True
    if isinstance(value.get("attachment"), dict):
        return {"meta": meta}, ""
    results = [c for c in contents if c.kind is Kind.TOOL_RESULT]
    texts = [c.text for c in contents if c.kind is Kind.TEXT]
    by_client = bool(texts) and texts[0].startswith(UNTYPED_PREFIXES)
    typed = is_prompt(contents) and not (meta or value.get("isCompactSummary") is True or by_client)
    agent = text_of(as_dict(value.get("toolUseResult")).get("agentId"))
    if agent and results:
        rare["agents"] = ((agent, results[0].call_id),)
    if not typed:
        return {"meta": meta}, ""
    rare["prompt"] = prompt_hash("\n".join(texts))
    return {"meta": meta, "typed": True, "planned": value.get("permissionMode") == "plan"}, prompt_words(texts)


def prompt_hash(prompt: str) -> str:
    """By what a prompt is found again in another file: the same in every process; "" for a blank one."""
    text = prompt.strip().encode("utf-8", "replace")
    return hashlib.sha256(text).hexdigest()[:16] if text else ""


@dataclass(slots=True)
class ClaudeMessage:
    """A message in the making, which stands at its ``first`` line: a response, or one user or attachment line."""

    first: ClaudeRecord
    more: list[ClaudeRecord] | None = None

    @property
    def records(self) -> Sequence[ClaudeRecord]:
        """All its lines."""
        return (self.first, *self.more) if self.more else (self.first,)

    def add(self, record: ClaudeRecord) -> None:
        """One line more."""
        self.more = self.more or []
        self.more.append(record)

    @property
    def is_reply(self) -> bool:
        """Whether it is a model's."""
        return self.first.role is Role.ASSISTANT


def units_of(records: Sequence[ClaudeRecord]) -> list[ClaudeMessage]:
    """Messages in file order; responses without an id are one per run of assistant lines."""
    units: list[ClaudeMessage] = []
    replies: dict[str, ClaudeMessage] = {}
    run: ClaudeMessage | None = None
    for record in records:
        if not record.is_message:
            continue
        if record.role is Role.ASSISTANT and record.response_id:
            if known := replies.get(record.response_id):
                known.add(record)
                continue
            replies[record.response_id] = unit = ClaudeMessage(record)
            units.append(unit)
            run = None
        elif record.role is Role.ASSISTANT and run:
            run.add(record)
        else:
            units.append(ClaudeMessage(record))
            run = units[-1] if record.role is Role.ASSISTANT else None
    return units


def reply_usage(unit: ClaudeMessage) -> Usage | None:
    """The last and largest usage of a response's lines, ``placeholder`` where its output never became final.

    A placeholder is an output that no line with a stop reason confirms and that is too small for what was written:
    8 characters or more for each token.
    """
    lines = [record.facts for record in unit.records]
    reported = [facts.usage for facts in lines if facts.usage]
    if not reported:
        return None
    best = max(reversed(reported), key=lambda usage: (usage.output, usage.context))
    n_visible = sum([facts.n_visible for facts in lines])
    stopped = any(facts.stopped for facts in lines)
    unfinished = not stopped and n_visible >= PLACEHOLDER_CHARS_PER_TOKEN * best.output
    return replace(best, placeholder=True) if unfinished and n_visible else best


def blocks_of(unit: ClaudeMessage) -> list[Block]:
    """The blocks of a unit's message."""
    return [block for record in unit.records for block in record.body.blocks]


def is_cut_thinking(unit: ClaudeMessage) -> bool:
    """Whether a reply reached its maximum while it only thought: the client does not send it again."""
    if not any(record.rare.cut for record in unit.records):
        return False
    return all(block.kind is Kind.THINKING for block in blocks_of(unit))


def message_of(
    unit: ClaudeMessage, index: int, native_id: str, compaction: int | None, *, resumed: bool, afresh: bool
) -> Message:
    """The message of a unit at ``index``."""
    record, facts, body, more = unit.first, unit.first.facts, unit.first.body, unit.more
    bodies = [body, *[each.body for each in more]] if more else None
    previews = [each.preview for each in bodies or ()]
    return Message(
        index=index,
        id=native_id,
        role=record.role or Role.USER,
        blocks=tuple([block for each in bodies for block in each.blocks]) if bodies else body.blocks,
        origins=(facts.origin, *[each.facts.origin for each in more]) if more else (facts.origin,),
        preview=" · ".join(filter(None, previews))[: limits.PREVIEW_CHARS] if bodies else body.preview,
        timestamp=facts.timestamp,
        typed=facts.typed,
        meta=facts.meta,
        attachment=record.attachment,
        summary=record.summary,
        compaction=compaction,
        planned=facts.planned,
        resumed=resumed,
        afresh=afresh,
    )
