"""The documentation as its Markdown says it, where no site is built, and the glossary's sentences."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.token import Token


def _code(_renderer: object, tokens: Sequence[Token], at: int, _options: object, _env: object) -> str:
    """A block of code, which the keys reach where it scrolls."""
    return f'<pre tabindex="0"><code>{escape(tokens[at].content)}</code></pre>\n'


_markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
_markdown.add_render_rule("fence", _code)


@dataclass(frozen=True, slots=True)
class Text:
    """One document: its title and its HTML."""

    title: str
    html: SafeString


def text_of(name: str) -> Text | None:
    """The document that the site has at ``name`` ("guides/find-why/", "" for the start); None for no such one."""
    root, bare = Path(settings.MANUAL), name.strip("/")
    places = [f"{bare}.md", posixpath.join(bare, "README.md"), posixpath.join(bare, "index.md")]
    place = next((one for one in places if (root / one).is_file()), None)
    if place is None:
        return None
    tokens = _markdown.parse((root / place).read_text(encoding="utf-8"))
    headings = [tokens[at + 1].content for at, one in enumerate(tokens) if one.type == "heading_open"]
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", slugify(tokens[at + 1].content))
        for inner in token.children or ():
            _lead(inner, place)
    html = _markdown.renderer.render(tokens, _markdown.options, {})
    return Text(headings[0] if headings else bare, SafeString(html))  # our own documents, without raw HTML


def contents() -> list[tuple[str, str]]:
    """Address and title of every document, in the order of its path."""
    root = Path(settings.MANUAL)
    paths = sorted(path.relative_to(root) for path in root.rglob("*.md"))
    heads = [(_address(path.as_posix()), (root / path).read_text(encoding="utf-8")) for path in paths]
    return [(address, text.removeprefix("# ").partition("\n")[0]) for address, text in heads]


def _lead(token: Token, place: str) -> None:
    """A link or an image of the document at ``place``, as an address of this server."""
    name = {"link_open": "href", "image": "src"}.get(token.type)
    target, _, anchor = str(token.attrs.get(name or "", "")).partition("#")
    if name is None or not target or ":" in target:
        return
    found = posixpath.normpath(posixpath.join(posixpath.dirname(place), target))
    if found.startswith(".."):  # a file of the source, outside the documentation
        token.attrs.pop(name)
        return
    token.attrSet(name, f"{_address(found)}#{anchor}" if anchor else _address(found))


def _address(place: str) -> str:
    """Where a file of the documentation is; a document below its name, as the site has it."""
    if place.endswith(".md"):
        place = f"{place.removesuffix('.md').removesuffix('README').removesuffix('index').rstrip('/')}/".lstrip("/")
    return reverse("sessions:manual_page", args=[place]) if place else reverse("sessions:manual")


@cache
def glossary() -> dict[str, str]:
    """What each word means, by the word, from the table of docs/glossary.md."""
    path = Path(settings.MANUAL) / "glossary.md"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    rows = [line.strip("|").split(" | ") for line in lines if line.startswith("| ")]
    return {row[0].strip(): row[1].strip().rstrip("|").strip() for row in rows if len(row) == 2}
