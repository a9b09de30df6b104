"""The values that flow through the engine, from an uploaded line to a diff row.

``Content`` is a block with its text: it lives only while it is measured or shown.  ``Block`` is what is known about
it without its text (sizes, media dimensions, call id); messages, replays and stored sessions hold blocks, so a
100 MB transcript stays small.  A message's text is read again from the upload through its ``Origin``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING

from sessions.engine.base.fast_frozen import fast_frozen, fast_frozen_by

if TYPE_CHECKING:
    from sessions.engine.transcript.recorded_events import RecordedEvent
    from sessions.engine.transcript.session_links import SessionLinks


class Role(StrEnum):
    """Who a message is from, in the Messages API's words."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


class Kind(StrEnum):
    """What a block is.  Unknown and encrypted blocks are ``opaque``: kept, counted in bytes, never dropped."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL_USE = "tool_use"
    TOOL_RESULT = "tool_result"
    IMAGE = "image"
    DOCUMENT = "document"
    OPAQUE = "opaque"


class Label(StrEnum):
    """How a token figure is known."""

    MEASURED = "measured"
    CALIBRATED = "calibrated"
    ESTIMATED = "estimated"


@fast_frozen
@dataclass(frozen=True, slots=True)
class Origin:
    """Where something stood in the upload: ``line`` from 1, ``offset`` and ``length`` in bytes of that line.

    ``path`` leads from the line's JSON value to the part meant, e.g. ``("messages", 3)``; empty for the whole line.
    """

    line: int
    offset: int
    length: int
    path: tuple[str | int, ...] = ()


@fast_frozen
@dataclass(frozen=True, slots=True)
class Content:
    """One block as parsed, with its text.

    ``text`` is the text of text, thinking and plain-string results, the compact JSON of arguments and opaque blocks.
    ``payload`` is a signature or an encrypted payload: bytes, never tokens.  ``data`` is base64 (images, documents),
    ``parts`` the content of a tool_result.
    """

    kind: Kind
    text: str = ""
    name: str = ""
    call_id: str = ""
    payload: str = ""
    media_type: str = ""
    data: str = ""
    url: str = ""
    is_error: bool = False
    target: str = ""
    parts: tuple[Content, ...] = ()


NOT_IN_FILE = "not in the file"
"""What is wrong with a picture that neither the file nor an address gives: no size is known, so none is charged."""


@dataclass(frozen=True, slots=True)
class Media:
    """An image or document as its header tells it: pixels are never decoded.

    ``width`` and ``height`` are 0 where the header cannot be read (``problem`` says why); ``n_base64`` is the length
    of the base64 text, ``n_url`` of the URL where it is only linked; ``sha256`` is of the decoded bytes.  A picture
    of which a file holds an id and no data has the problem ``NOT_IN_FILE``.
    """

    media_type: str
    n_base64: int = 0
    n_url: int = 0
    width: int = 0
    height: int = 0
    n_pages: int = 0
    sha256: str = ""
    problem: str = ""


@fast_frozen_by("n_chars")
@dataclass(frozen=True, slots=True)
class Block:
    """What is known about one block without its text.

    ``n_chars`` and ``n_bytes`` (UTF-8) are of the text; ``n_tokens`` is tiktoken's o200k_base count of it, unscaled
    (``approximate`` where the long-text guard had to cut inside a run); ``n_payload`` the bytes of a signature or an
    encrypted payload; ``target`` the file path or command that a tool call names; ``n_non_ascii`` how many of the
    characters are outside ASCII, ``n_json`` how many characters more the text has as JSON (escapes; for arguments and
    opaque blocks, which are JSON, the blanks that ``json.dumps`` puts between their parts). ``classes`` are how many
    of the UTF-8 bytes are digits, capitals, punctuation and blanks, then, where it has any, marks of redaction, those
    of them in a signed token, and separators inside of nested arguments (``tokens.text_facts``). ``cut`` names the
    rule by which the agent shortened the text before it sent it, "" where it did not: the sizes are of what was sent.
    """

    kind: Kind
    n_chars: int = 0
    n_bytes: int = 0
    n_tokens: int = 0
    n_payload: int = 0
    approximate: bool = False
    name: str = ""
    call_id: str = ""
    target: str = ""
    is_error: bool = False
    media: Media | None = None
    parts: tuple[Block, ...] = ()
    n_non_ascii: int = 0
    cut: str = ""
    n_json: int = 0
    classes: tuple[int, ...] = ()

    def leaves(self) -> Iterator[Block]:
        """The block itself, then every block inside it (a tool_result's parts)."""
        return chain((self,), *[part.leaves() for part in self.parts]) if self.parts else iter((self,))


@fast_frozen
@dataclass(frozen=True, slots=True)
class Message:
    """One unit that is or was in the context (replay-semantics 1).

    ``index`` is its position in the session's selected branch; ``id`` the native id, else ``L<line>``.  ``typed`` is
    a prompt typed by the user (not a tool result, attachment, meta line or summary).  ``summary`` marks the summary
    of a recorded compaction, ``compaction`` the index of the recorded compaction that made the message (summary and
    re-attached content), None for an original message.  ``planned`` marks a prompt sent while the client only plans,
    ``resumed`` the first message after the client was started again, ``afresh`` the first after one was told to clear
    the conversation: none before it is sent with it.
    """

    index: int
    id: str
    role: Role
    blocks: tuple[Block, ...]
    origins: tuple[Origin, ...] = ()
    preview: str = ""
    timestamp: float | None = None
    typed: bool = False
    meta: bool = False
    attachment: str = ""
    summary: bool = False
    compaction: int | None = None
    planned: bool = False
    resumed: bool = False
    afresh: bool = False
    _halves: tuple[frozenset[str], frozenset[str]] | None = field(default=None, init=False, repr=False, compare=False)

    def leaves(self) -> Iterator[Block]:
        """Every block of the message, parts of tool results included."""
        for block in self.blocks:
            if block.parts:
                return chain.from_iterable([each.leaves() for each in self.blocks])
        return iter(self.blocks)

    def call_ids(self) -> frozenset[str]:
        """Ids of the tool calls this message makes."""
        return (self._halves or self.halves())[0]

    def result_ids(self) -> frozenset[str]:
        """Ids of the tool calls this message answers."""
        return (self._halves or self.halves())[1]

    def halves(self) -> tuple[frozenset[str], frozenset[str]]:
        """Ids of the calls it makes and of those it answers, looked for once."""
        if self._halves is None:
            halves = Kind.TOOL_USE, Kind.TOOL_RESULT
            made = [frozenset([b.call_id for b in self.blocks if b.kind is kind and b.call_id]) for kind in halves]
            object.__setattr__(self, "_halves", tuple(made))
        return self._halves  # type: ignore[return-value]


@fast_frozen
@dataclass(frozen=True, slots=True)
class Usage:
    """Provider-reported tokens of one request, each counted once.

    ``input`` excludes cached tokens.  ``placeholder`` marks an ``output`` that is a streaming placeholder and never
    became final: the input side is right, the output is not (formats 3.3).  ``reasoning`` is the part of ``output``
    that was reasoning, 0 where the provider does not say; ``cache_write_1h`` the part of ``cache_write`` that is kept
    for an hour, the rest is kept for 5 minutes.  ``last_input`` is the whole input of the last call where the figures
    add up several that one request made (an advisor asked between, a server's tool), 0 where there was one.
    """

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    placeholder: bool = False
    reasoning: int = 0
    cache_write_1h: int = 0
    last_input: int = 0

    @property
    def context(self) -> int:
        """Tokens of the whole input, cached ones included, output excluded."""
        return self.last_input or self.input + self.cache_read + self.cache_write

    @property
    def added_up(self) -> int:
        """Tokens of every input that the figures add up, cached ones included: more than the context held."""
        return self.input + self.cache_read + self.cache_write


@fast_frozen
@dataclass(frozen=True, slots=True)
class Request:
    """One model call: the context sent and the reply, ``n_messages`` from the index ``message`` on.

    ``message`` is None when pending or off the selected branch, ``usage`` where none is reported (all zeros are none).
    ``aborted``: not sent again.  ``provider`` sold the model; ``window`` is its own, 0 where it is the transcript's.
    """

    index: int
    message: int | None
    usage: Usage | None = None
    on_branch: bool = True
    response_id: str = ""
    model: str = ""
    timestamp: float | None = None
    n_messages: int = 1
    aborted: bool = False
    provider: str = ""
    window: int = 0


@dataclass(frozen=True, slots=True)
class RecordedCompaction:
    """A compaction that the transcript records.

    ``boundary``: messages with an index below it left the context, except those in ``preserved``.  ``request`` is the
    first sent after it (their number if none), ``message`` the index of its summary.  ``outside``: what it removed is
    not in this session.  ``unseen``: not all that ``tokens_before``, then the client's own count, holds is in the file.
    ``by`` is the policy that made it, or "", ``standing`` the client's count of system prompt and tools.  ``reason`` is
    the client's own word for what started it, where that is neither a command nor a threshold.
    """

    boundary: int
    request: int
    message: int | None = None
    trigger: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    preserved: tuple[int, ...] = ()
    outside: bool = False
    unseen: bool = False
    by: str = ""
    standing: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ProviderError:
    """A request that the provider refused because of its size, as the transcript records it.

    ``kind`` is an ``ErrorKind``; ``request`` is the first answered after it (their number if
    none), ``message`` the number of messages before it.  ``tokens`` and ``limit`` are the figures that its text gives,
    if any, in tokens, or in bytes for a body; ``status`` is the HTTP status, or 0.  ``count`` is how often it was tried
    before the next answer; ``of_compaction``: it was to write a summary; ``code`` and ``words`` are its own.
    """

    kind: str
    request: int
    message: int
    tokens: int | None = None
    limit: int | None = None
    status: int = 0
    count: int = 1
    of_compaction: bool = False
    code: str = ""
    words: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class RecordedClearing:
    """Content that was cleared in place, as the transcript records it: no message left the list.

    ``what``: "results" or "thinking"; ``request`` and ``message`` as for a ProviderError; as far as it says,
    ``n_cleared`` results or turns, ``tokens_freed`` by its own count, the ``calls`` whose results they were.
    """

    what: str
    request: int
    message: int
    trigger: str | None = None
    n_cleared: int | None = None
    tokens_freed: int | None = None
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch that rewinds left: ``leaf`` is its last message's id, ``preview`` the first prompt that it alone has."""

    leaf: str
    preview: str
    n_messages: int
    n_requests: int
    timestamp: float | None = None
    selected: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """What of a file was not understood, ``part`` of a ``whole`` of blocks, records, roles, calls, usage or unread."""

    kind: str
    text: str
    part: int
    whole: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """One session: the messages of its selected branch, its requests in file order, its recorded compactions.

    Those of a stored session are read in parts, when they are looked at (``parts.Parts``). ``window`` is the context
    window the recording states, None where it does not; ``system`` holds the system prompt and tool definitions where
    the file has them (never compacted, not messages). ``branches`` lists every branch where a rewind left more than
    one, the latest first. ``errors`` are the requests refused for their size and the compactions that failed,
    ``events`` what else, ``clearings`` what was cleared in place, ``gaps`` what of its file was not understood.
    ``trigger_at`` is the tokens at which its requests ask the provider to compact, ``events_at`` the events over which
    its condenser acts, as the file states; None where it does not. ``project`` is the folder that the agent worked in.
    ``stated_usd`` is what the file itself says that its calls cost, in dollars, None where it does not.
    """

    id: str
    format: str
    messages: Sequence[Message]
    requests: Sequence[Request] = ()
    compactions: tuple[RecordedCompaction, ...] = ()
    parent_id: str | None = None
    parent_call_id: str = ""
    title: str = ""
    model: str = ""
    client: str = ""
    window: int | None = None
    system: tuple[Block, ...] = ()
    started_at: float | None = None
    ended_at: float | None = None
    warnings: tuple[str, ...] = ()
    branches: tuple[Branch, ...] = ()
    errors: tuple[ProviderError, ...] = ()
    clearings: tuple[RecordedClearing, ...] = ()
    gaps: tuple[Gap, ...] = ()
    trigger_at: int | None = None
    project: str = ""
    events_at: int | None = None
    events: tuple[RecordedEvent, ...] = ()
    stated_usd: float | None = None

    @property
    def branch(self) -> str:
        """The leaf of the selected branch; "" where there is only one."""
        return next((branch.leaf for branch in self.branches if branch.selected), "")

    def end_is_told(self) -> bool:
        """Whether an error or another event is recorded behind the last request."""
        requests = [*(error.request for error in self.errors), *(event.request for event in self.events)]
        return max(requests, default=-1) >= len(self.requests)

    @property
    def n_images(self) -> int:
        """Image blocks in messages, those inside tool results included."""
        return sum(leaf.kind is Kind.IMAGE for m in self.messages for leaf in m.leaves())

    @property
    def n_tool_calls(self) -> int:
        """Tool_use blocks in messages."""
        return sum(b.kind is Kind.TOOL_USE for m in self.messages for b in m.blocks)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A part of the upload that could not be read: nothing else is lost.  ``line`` from 1, ``offset`` in bytes."""

    line: int
    offset: int
    reason: str


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of some bytes of a file: lines and bytes of one sort, and whether a model ever gets them.

    ``is_part``: these bytes lie in lines that another fate counts.  ``is_opaque``: a type nobody knows, or encrypted.
    """

    name: str
    n_lines: int
    n_bytes: int
    is_context: bool
    is_part: bool = False
    is_opaque: bool = False


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a format made of one file: root session first, then its sub-agents.

    ``fates`` account for every byte of the file; ``kin`` links its sessions with those of other files.
    ``alternatives`` are the same sessions on the branches that were left: each has the id of one of ``transcripts``.
    ``places``: where base64 of media stands in the file (offset, bytes; by sha256), if looked for (``media_places``).
    """

    format: str = field(default="", kw_only=True)
    transcripts: tuple[Transcript, ...]
    skipped: tuple[Skipped, ...] = ()
    reason: str = ""
    warnings: tuple[str, ...] = field(default=())
    fates: tuple[Fate, ...] = ()
    kin: tuple[SessionLinks, ...] = ()
    alternatives: tuple[Transcript, ...] = ()
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """What of the file was not understood: all its sessions have the same."""
        return tuple(dict.fromkeys(gap for transcript in self.transcripts for gap in transcript.gaps))
