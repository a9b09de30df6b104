"""Turns parsed contents into blocks: sizes, token tickets and media facts, the text itself let go.

Sizes follow replay-semantics 1: ``n_bytes`` is UTF-8 of the text, ``n_payload`` UTF-8 of a signature or an encrypted
payload.  Token counts are tickets of a TokenCounter until ``settle`` replaces them, so that parsing goes on meanwhile.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import string
from collections.abc import Callable, Iterable
from dataclasses import replace
from json.encoder import encode_basestring
from typing import TYPE_CHECKING

from sessions.engine.images import media_facts
from sessions.engine.types import NOT_IN_FILE, Block, Content, Kind, Media, Message, Parsed, Transcript

if TYPE_CHECKING:
    from sessions.engine.tokenizer import Counts, TokenCounter

OnMedia = Callable[[str, str, bytes], None]
"""Called with the sha256 of the decoded bytes, the media type and the bytes of each base64 image or document."""

_ADDRESSES = frozenset({"http", "https", "gs", "s3"})
_STANDARD = bytes.maketrans(b"-_", b"+/")
_JSON = frozenset({Kind.TOOL_USE, Kind.OPAQUE})
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_STRUCTURE = re.compile(r"[][{},:]")
MARK = "REDACTED"
"""What tools that take secrets out of transcripts leave in their place."""
_SIGNED = re.compile(rf"(?<=\?){MARK}|(?<={MARK}\.){MARK}")
_WITHOUT_TOKENS = frozenset({Kind.IMAGE, Kind.DOCUMENT})
_CLASSES = tuple(chars.encode() for chars in (string.digits, string.ascii_uppercase, string.punctuation, " "))


class Measure:
    """Measures contents of one file; blocks come back with tickets in ``n_tokens``."""

    def __init__(self, counter: TokenCounter, on_media: OnMedia | None = None) -> None:
        self._counter = counter
        self._on_media = on_media

    def __call__(self, contents: Iterable[Content]) -> tuple[Block, ...]:
        """One block per content, parts of tool results inside theirs."""
        return tuple(self._block(content) for content in contents)

    def _block(self, content: Content) -> Block:
        text = content.text
        n_bytes = utf8_length(text)
        return Block(
            kind=content.kind,
            n_chars=len(text),
            n_bytes=n_bytes,
            n_tokens=self._counter.submit(text),
            n_payload=utf8_length(content.payload),
            name=content.name,
            call_id=content.call_id,
            target=content.target,
            is_error=content.is_error,
            media=self._media(content) if content.data or content.url or content.kind in _WITHOUT_TOKENS else None,
            parts=self(content.parts) if content.parts else (),
            n_non_ascii=0 if n_bytes == len(text) else len(text) - len(text.encode("ascii", "ignore")),
            n_json=json_blanks(text) if content.kind in _JSON else json_escapes(text),
            classes=text_classes(text, arguments=content.kind is Kind.TOOL_USE),
        )

    def _media(self, content: Content) -> Media:
        if not content.data:
            missing = content.kind is Kind.IMAGE and not _is_address(content.url)
            problem = NOT_IN_FILE if missing else ""
            return Media(content.media_type, n_url=utf8_length(content.url), problem=problem)
        decoded, problem = decoded_media(content.data)
        sha256 = hashlib.sha256(decoded).hexdigest() if decoded else ""
        facts = media_facts(content.media_type, content.data)
        if self._on_media and decoded:
            self._on_media(sha256, content.media_type, decoded)
        problems = "; ".join(filter(None, (problem, facts.problem)))
        return replace(facts, n_url=utf8_length(content.url), sha256=sha256, problem=problems)


def _is_address(url: str) -> bool:
    """Whether a link leads to the picture; an id (``file-service://``, ``blob://``) or a path on a disk does not."""
    scheme, found, _ = url.partition("://")
    return bool(found) and scheme.lower() in _ADDRESSES


def utf8_length(text: str) -> int:
    """Bytes of ``text`` in UTF-8; a lone surrogate counts three, as the replacement character does."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-8", "surrogatepass"))


def text_classes(text: str, *, arguments: bool = False) -> tuple[int, ...]:
    """How many bytes of ``text`` are digits, capitals, punctuation and blanks; () for an empty text.

    What sets code, listings, JSON and paths apart from prose (estimators 7.3).  Three numbers more where one of them is
    not 0: marks of redaction, those of them that stand for a part of a signed token, and of ``arguments`` the
    separators inside of lists and objects that are arguments.
    """
    if not text:
        return ()
    data = text.encode("utf-8", "surrogatepass")
    sizes = tuple([len(data) - len(data.translate(None, each)) for each in _CLASSES])
    n_marks = text.count(MARK)
    n_signed = len(_SIGNED.findall(text)) if n_marks else 0
    n_nested = _nested_separators(text) if arguments else 0
    return (*sizes, n_marks, n_signed, n_nested) if n_marks or n_nested else sizes


def json_escapes(text: str) -> int:
    """Characters that JSON adds to a text, its quotes left out: ``json.dumps(text, ensure_ascii=False)``."""
    return len(encode_basestring(text)) - 2 - len(text)


def json_blanks(compact: str) -> int:
    """Blanks that ``json.dumps`` puts into compact JSON: one after each comma and colon outside of strings."""
    bare = _JSON_STRING.sub("", compact)
    return bare.count(",") + bare.count(":")


def _nested_separators(compact: str) -> int:
    """Commas and colons of compact JSON that stand inside of its parts, not between them."""
    found, depth = 0, 0
    for mark in _STRUCTURE.findall(_JSON_STRING.sub("", compact)):
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
        else:
            found += depth > 1
    return found


def decoded_media(data: str) -> tuple[bytes, str]:
    """The bytes of base64 ``data`` (white space, URL-safe letters and missing padding allowed), and what is wrong."""
    raw = data.encode("ascii", "ignore")
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
    return replace(
        parsed,
        transcripts=tuple(_transcript(transcript, counts) for transcript in parsed.transcripts),
        alternatives=tuple(_transcript(transcript, counts) for transcript in parsed.alternatives),
    )


def _transcript(transcript: Transcript, counts: Counts) -> Transcript:
    targets = {
        b.call_id: b.target for m in transcript.messages for b in m.blocks if b.kind is Kind.TOOL_USE and b.target
    }
    messages = tuple(_message(message, counts, targets) for message in transcript.messages)
    return replace(transcript, messages=messages, system=_settled(transcript.system, counts, targets))


def _message(message: Message, counts: Counts, targets: dict[str, str]) -> Message:
    return replace(message, blocks=_settled(message.blocks, counts, targets))


def _settled(blocks: tuple[Block, ...], counts: Counts, targets: dict[str, str]) -> tuple[Block, ...]:
    return tuple(_settled_block(block, counts, targets) for block in blocks)


def _settled_block(block: Block, counts: Counts, targets: dict[str, str]) -> Block:
    """The block with its count; a result also learns what its call named (a read of a .json file is JSON)."""
    target = targets.get(block.call_id, "") if block.kind is Kind.TOOL_RESULT and not block.target else block.target
    if block.n_tokens >= 0 and not block.parts and target == block.target:
        return block
    counted = counts.of(block.n_tokens)
    # Built field by field: dataclasses.replace costs three times as much, and this runs for every block of a file.
    return Block(
        block.kind, block.n_chars, block.n_bytes, counted.n_tokens, block.n_payload,
        block.approximate or counted.approximate, block.name, block.call_id, target, block.is_error, block.media,
        _settled(block.parts, counts, targets) if block.parts else (), block.n_non_ascii, block.cut, block.n_json,
        block.classes,
    )  # fmt: skip
