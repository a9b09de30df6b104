"""Turns parsed contents into blocks: sizes, token tickets and media facts, the text itself let go.

Sizes follow replay-semantics 1: ``n_bytes`` is UTF-8 of the text, ``n_payload`` UTF-8 of a signature or an encrypted
payload.  Token counts are tickets of a TokenCounter until ``settle`` replaces them, so that parsing goes on meanwhile.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import replace

from sessions.engine.packing import packed_sequence
from sessions.engine.packing.memory import give_back
from sessions.engine.reading.images import media_facts
from sessions.engine.tokens.text_facts import ARGUMENTS, PROSE, VALUE
from sessions.engine.tokens.tokenizer import Counts, TokenCounter
from sessions.engine.transcript.lazy_messages import LazyMessages
from sessions.engine.transcript.types import NOT_IN_FILE, Block, Content, Kind, Media, Parsed, Transcript

OnMedia = Callable[[str, str, bytes], None]
"""Called for each base64 image or document: sha256 of the decoded bytes, media type, bytes."""

_ADDRESSES = frozenset({"http", "https", "gs", "s3"})
_STANDARD = bytes.maketrans(b"-_", b"+/")
_LOOKS = {Kind.TOOL_USE: ARGUMENTS, Kind.OPAQUE: VALUE}
_WITHOUT_TOKENS = frozenset({Kind.IMAGE, Kind.DOCUMENT})


class Measure:
    """Measures contents of one file; blocks come back with tickets in ``n_tokens``."""

    def __init__(self, counter: TokenCounter, on_media: OnMedia | None = None) -> None:
        self._counter, self._on_media = counter, on_media

    def __call__(self, contents: Iterable[Content]) -> tuple[Block, ...]:
        """One block per content, parts of tool results inside theirs."""
        return tuple(self._block(content) for content in contents)

    def _block(self, content: Content) -> Block:
        text = content.text
        return Block(
            kind=content.kind,
            n_chars=len(text),
            n_bytes=utf8_length(text),
            n_tokens=self._counter.submit(text, _LOOKS.get(content.kind, PROSE)),
            n_payload=utf8_length(content.payload),
            name=content.name,
            call_id=content.call_id,
            target=content.target,
            is_error=content.is_error,
            media=self._media(content) if content.data or content.url or content.kind in _WITHOUT_TOKENS else None,
            parts=self(content.parts) if content.parts else (),
        )

    def _media(self, content: Content) -> Media:
        if not content.data:
            # An address leads to the picture; an id (``file-service://``, ``blob://``) or a path on a disk does not.
            scheme, found, _ = content.url.partition("://")
            is_missing = content.kind is Kind.IMAGE and not (found and scheme.lower() in _ADDRESSES)
            problem = NOT_IN_FILE if is_missing else ""
            return Media(content.media_type, n_url=utf8_length(content.url), problem=problem)
        decoded, problem = decoded_media(content.data)
        sha256 = hashlib.sha256(decoded).hexdigest() if decoded else ""
        facts = media_facts(content.media_type, content.data)
        if self._on_media and decoded:
            self._on_media(sha256, content.media_type, decoded)
        problems = "; ".join(filter(None, (problem, facts.problem)))
        return replace(facts, n_url=utf8_length(content.url), sha256=sha256, problem=problems)


def utf8_length(text: str) -> int:
    """Bytes of ``text`` in UTF-8; a lone surrogate counts three, as the replacement character does."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def decoded_media(data: str | bytes) -> tuple[bytes, str]:
    """The bytes of base64 ``data`` (white space, URL-safe letters and missing padding allowed), and what is wrong."""
    raw = data.encode("ascii", "ignore") if isinstance(data, str) else data
    try:
        return binascii.a2b_base64(raw, strict_mode=True), ""
    except binascii.Error:
        pass
    raw = b"".join(raw.split()).translate(_STANDARD).rstrip(b"=")
    try:
        decoded = base64.b64decode(raw + b"=" * (-len(raw) % 4))
    except binascii.Error:
        return b"", "the data is not base64"
    exact = len(decoded) == len(raw) * 3 // 4 and len(raw) % 4 != 1
    return decoded, "" if exact else "the base64 holds characters that do not belong there"


def settle(parsed: Parsed, counter: TokenCounter) -> Parsed:
    """``parsed`` with real token counts in place of tickets; waits until the counter is done."""
    counts = counter.results()
    is_long = any(isinstance(transcript.messages, LazyMessages) for transcript in parsed.transcripts)
    if is_long:
        give_back()
    settled = replace(
        parsed,
        transcripts=tuple(_transcript(transcript, counts) for transcript in parsed.transcripts),
        alternatives=tuple(_transcript(transcript, counts) for transcript in parsed.alternatives),
    )
    if is_long:
        give_back()
    return settled


def _transcript(transcript: Transcript, counts: Counts) -> Transcript:
    messages = transcript.messages
    blocks = messages.blocks() if isinstance(messages, LazyMessages) else (b for m in messages for b in m.blocks)
    targets = {b.call_id: b.target for b in blocks if b.kind is Kind.TOOL_USE and b.target}
    unsettled = messages.taken() if isinstance(messages, LazyMessages) else messages
    settled = (replace(message, blocks=_settled(message.blocks, counts, targets)) for message in unsettled)
    if len(messages) >= packed_sequence.PACKED_FROM:
        from sessions.engine.packing.pack import folded

        messages = folded(settled)
    else:
        messages = tuple(settled)
    return replace(transcript, messages=messages, system=_settled(transcript.system, counts, targets))


def _settled(blocks: tuple[Block, ...], counts: Counts, targets: dict[str, str]) -> tuple[Block, ...]:
    return tuple(_settled_block(block, counts, targets) for block in blocks)


def _settled_block(block: Block, counts: Counts, targets: dict[str, str]) -> Block:
    """The block with what was counted; a result also learns what its call named (a read of a .json file is JSON)."""
    target = targets.get(block.call_id, "") if block.kind is Kind.TOOL_RESULT and not block.target else block.target
    parts = _settled(block.parts, counts, targets) if block.parts else ()
    if block.n_tokens >= 0:
        return block if target == block.target and not parts else replace(block, target=target, parts=parts)
    counted = counts.of(block.n_tokens)
    # Built field by field: dataclasses.replace costs three times as much, and this runs for every block of a file.
    return Block(
        block.kind, block.n_chars, block.n_bytes, counted.n_tokens, block.n_payload,
        block.approximate or counted.approximate, block.name, block.call_id, target, block.is_error, block.media,
        parts, counted.facts.n_non_ascii, block.cut, counted.facts.n_json, counted.facts.classes,
    )  # fmt: skip
