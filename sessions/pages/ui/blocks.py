"""Blocks with their text, made safe and short enough to show."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt

from sessions.engine.quality.calls import arguments_of, strings_of
from sessions.engine.reading import jsonio
from sessions.engine.transcript.types import Block, Content, Kind
from sessions.pages.ui.addresses import media_url, small_url

SHORT, LONG = 4_000, 200_000
"""Characters of a text shown at once, and after "show all"; the download has everything."""
LONG_STRING = 400
OPENING = 90
"""Characters of a block that a folded row shows."""
_TAG = re.compile(r'(<(?:"[^"]*"|[^">])*>|&#?\w+;)')
TAGS = {
    "p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong",
    "s", "a", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip


NOTHING = SafeString("")


@dataclass(frozen=True, slots=True)
class ShownBlock:
    """One block to render with ``blocks/<kind>.html``.

    ``html`` is safe Markdown (text and thinking), ``text`` plain text (tool input, results, opaque), ``opening``
    the first words of either, of a call the path or command it names; ``n_chars`` counts its parts' characters too,
    ``n_left`` are characters that are not shown.
    ``is_match``: a word is marked in it (``marked``).
    """

    kind: str
    name: str = ""
    html: SafeString = NOTHING
    text: str = ""
    opening: str = ""
    n_chars: int = 0
    n_left: int = 0
    n_payload: int = 0
    is_error: bool = False
    is_match: bool = False
    media_type: str = ""
    url: str = ""
    link: str = ""
    width: int = 0
    height: int = 0
    call_id: str = ""
    parts: tuple[ShownBlock, ...] = ()

    @property
    def small(self) -> str:
        return small_url(self.url)

    @property
    def has_image(self) -> bool:
        return any(part.kind == "image" for part in self.parts)


_markdown = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table").enable("strikethrough")


def rendered(text: str) -> SafeString:
    """Markdown as HTML: raw HTML is text, images are dropped, links lead out without a referrer."""
    html = _markdown.render(text)
    links = {"a": {"href", "title"}, "code": {"class"}}
    clean = nh3.clean(
        html,
        tags=TAGS,
        attributes=links,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    return SafeString(clean)


def shown(contents: Sequence[Content], blocks: Sequence[Block], *, whole: bool) -> tuple[ShownBlock, ...]:
    """The blocks of a message; ``whole`` lifts the cap of a text from 4,000 to 200,000 characters."""
    limit = LONG if whole else SHORT
    facts = list(blocks) + [None] * max(0, len(contents) - len(blocks))
    return tuple(_one(content, block, limit) for content, block in zip(contents, facts, strict=False))


def _one(content: Content, block: Block | None, limit: int) -> ShownBlock:
    kind = str(content.kind)
    common: dict[str, Any] = {"kind": kind, "name": content.name, "call_id": content.call_id}
    common |= {"is_error": content.is_error, "n_payload": len(content.payload.encode("utf-8", "replace"))}
    if content.kind in (Kind.IMAGE, Kind.DOCUMENT):
        return ShownBlock(**common, **_media(content, block))
    text = _pretty(content.text) if content.kind in (Kind.TOOL_USE, Kind.OPAQUE) else content.text
    cut, left = text[:limit], max(len(text) - limit, 0)
    opening = (_named(content, block) or text)[:OPENING]
    common |= {"n_chars": len(content.text), "n_left": left, "opening": opening}
    if content.kind in (Kind.TEXT, Kind.THINKING):
        return ShownBlock(**common, html=rendered(cut))
    inner = block.parts if block else ()
    facts = list(inner) + [None] * max(0, len(content.parts) - len(inner))
    parts = tuple(_one(part, fact, limit) for part, fact in zip(content.parts, facts, strict=False))
    if parts:
        words = [part for part in parts if part.kind not in (Kind.IMAGE, Kind.DOCUMENT)]
        common["n_chars"] += sum(part.n_chars for part in words)
        common["opening"] = common["opening"] or next((part.opening for part in words if part.opening), "")
    return ShownBlock(**common, text=cut, parts=parts)


def _named(content: Content, block: Block | None) -> str:
    """The path or command that a call names, else the first words among its arguments; "" of anything else."""
    if content.kind is not Kind.TOOL_USE:
        return ""
    target = block.target if block else content.target
    return " ".join((target or next(strings_of(arguments_of(content)), "")).split())


def marked(block: ShownBlock, pattern: re.Pattern[str]) -> ShownBlock:
    """The same block with what ``pattern`` finds between ``<mark>`` and its end."""
    parts = tuple(marked(part, pattern) for part in block.parts)
    html, text = _mark(block.html, pattern), _mark(escape(block.text), pattern)
    found = html is not None or text is not None or any(part.is_match for part in parts)
    return replace(block, html=html or block.html, text=text or block.text, parts=parts, is_match=found)


def _mark(html: str, pattern: re.Pattern[str]) -> SafeString | None:
    """Safe HTML with marks in its text, never in a tag or an entity; None where there is nothing to mark."""
    pieces = _TAG.split(html)
    pieces[::2] = (pattern.sub(lambda hit: f"<mark>{hit[0]}</mark>" if hit[0] else "", piece) for piece in pieces[::2])
    said = "".join(pieces)
    return SafeString(said) if said != html else None


def _media(content: Content, block: Block | None) -> dict[str, Any]:
    media = block.media if block else None
    sha256 = media.sha256 if media else ""
    link = content.url if content.url.startswith(("http://", "https://")) else ""
    return {
        "media_type": content.media_type,
        "url": media_url(content.kind, sha256, content.media_type),
        "link": link,
        "width": media.width if media else 0,
        "height": media.height if media else 0,
        "n_chars": len(content.data),
    }


def _pretty(text: str) -> str:
    try:
        return json.dumps(jsonio.loads(text.encode("utf-8", "replace")), indent=2, ensure_ascii=False)
    except (jsonio.JsonProblem, ValueError, RecursionError):
        return text


def raw_json(values: Sequence[Any], *, whole: bool) -> tuple[str, int]:
    """The message's lines as indented JSON with long strings cut, and how many characters are left out."""
    text = "\n\n".join(json.dumps(_cut(value), indent=2, ensure_ascii=False) for value in values)
    limit = LONG if whole else SHORT * 2
    return text[:limit], max(len(text) - limit, 0)


def _cut(value: Any) -> Any:
    """The value with strings longer than 400 characters cut, and said so (base64 would fill the page)."""
    if isinstance(value, str) and len(value) > LONG_STRING:
        return f"{value[:LONG_STRING]}… {len(value) - LONG_STRING:,} more characters"
    if isinstance(value, dict):
        return {key: _cut(inner) for key, inner in value.items()}
    return [_cut(inner) for inner in value] if isinstance(value, list) else value
