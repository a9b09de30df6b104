"""Pages, terminal and guides say one word for one thing, in short sentences, and count by the plural helper.

The words are those of docs/glossary.md; each pattern below stands for a word that was replaced.
"""

from __future__ import annotations

import ast
import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from tests.arch.repository import ROOT, files, nobody, relative, templates, text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NEVER = {
    r"honest\w*|falsely": "say what is, or how sure",
    r"over-count\w*": "overcount",
    r"futile": "thrashing",
    r"sub-agents?": "subagent",
    r"headroom": "room left",
    r"regret": "above cheapest possible",
    r"paid back": "pays off after",
    r"carried|carry bill": "unused context",
    r"AUROC|telephone game|tokens × requests": "say it in plain words",
    r"hand-off": "summary",
    r"oracle": "best possible summary",
    r"(?<!message )(?<!at )floors?": "limit",
    r"gates?": "trigger",
    r"\blab": "Replay",
    r"rungs?|ladders?": "threshold",
    r"taken out": "redacted or removed",
    r"event 0": "compaction 1",
    r"in hand": "selected",
    r"read again": "re-read",
    r"transcript bytes|display tokens|pressure bytes": "bytes, tokens, adjusted bytes",
    r"holding the trajectory|trajector\w+": "session",
    r"harness(?:es)?": "agent",
    r"given again later|held fixed|worth it from|usages? not believed|never reaches the model": "say it in plain words",
    r"estimate less measurement": "estimation error",
}  # fmt: skip
"""Words that no reader meets, each with what is said in its place."""
ALLOWED = {
    "trajector": ("sessions/engine/reading/formats", "README.md"),
    "transcript bytes": (
        "ctxweb/commands/inspect.py",
        "sessions/engine/why/causes_floor.py",
        "docs/guides/tune-your-trigger.md",
    ),
    "harness": ("README.md",),
    "read again": ("docs/anthropic.md", "docs/keep.md"),
    "gate": ("docs/guides/tune-your-trigger.md",),
}
"""Columns and names of files that are promised, and places where a word means something else."""
ANY = re.compile("|".join(NEVER), re.IGNORECASE)
BANNED = [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), instead) for pattern, instead in NEVER.items()]
LONGEST = 18
CODE = (
    "sessions/pages/", "sessions/engine/why/", "sessions/engine/sweeps/advice.py", "sessions/services/",
    "sessions/runs/", "ctxweb/commands/", "ctxweb/cli.py",
)  # fmt: skip
GUIDES = ("README.md", "docs/guides/", "docs/team.md", "docs/settings.md", "docs/anthropic.md", "docs/keep.md")
HAND_MADE = re.compile(r"\w\(s\)|!= 1 %\}e?s\{%|== 1 %\}\{% else %\}e?s\{%")

APART = re.compile(r"(?:^|\d)[ \u00a0\u202f]%(?![\w({])")
"""A percentage with room before its sign; the part of an f-string behind a value begins with that room."""


def said_by(template: str) -> list[str]:
    """What a template shows: its texts and its titles, labels and placeholders, tags and values left out."""
    unseen = r"{%\s*comment.*?endcomment\s*%}|{#.*?#}|<(script|style|svg)\b.*?</\1>"
    bare = re.sub(unseen, " ", template, flags=re.DOTALL)
    bare = re.sub(r"{%\s*(?:end)?(?:if|else|elif|for|empty|with|block)\b.*?%}", "\n", bare)
    bare = re.sub(r"{{.*?}}|{%.*?%}", "0", bare)
    shown = re.findall(r'(?:title|aria-label|placeholder)="([^"]*)"', bare)
    inline = re.sub(r"</?(?:strong|em|code|a|q|span|b|kbd)\b[^>]*>", "", bare)
    shown += re.sub(r"<[^>]*>", "\n", inline).split("\n")
    return [unescape(one).strip() for one in shown if one.strip()]


def written_in(module: Path) -> Iterator[str]:
    """Texts of more than one word in a module, docstrings left out."""
    tree = ast.parse(text(module))
    apart = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        said = node.value if isinstance(node, ast.Constant) and id(node) not in apart else None
        if isinstance(said, str) and " " in said.strip() and not said.lstrip().startswith("{%"):
            yield said


def banned_in(said: str, where: str = "") -> list[str]:
    """Words of ``said`` that no reader meets."""
    if not ANY.search(said):
        return []
    return [
        f"{found[0]!r} ({instead})"
        for pattern, instead in BANNED
        for found in pattern.finditer(said)
        if not any(found[0].lower().startswith(word) and where.startswith(to) for word, to in ALLOWED.items())
    ]


def everything() -> Iterator[tuple[str, str]]:
    """Where something is said, and what."""
    for path in templates():
        for said in said_by(text(path)):
            yield relative(path), said
    for path in files(".py"):
        if relative(path).startswith(CODE):
            for said in written_in(path):
                yield relative(path), said
    for path in files(".md"):
        if relative(path).startswith(GUIDES):
            yield from ((relative(path), line) for line in text(path).splitlines())


def test_no_banned_word_is_shown() -> None:
    offenders = [
        f"{where}: {word}: {said.strip()[:90]}" for where, said in everything() for word in banned_in(said, where)
    ]
    nobody(offenders, "One word for one thing.")


def test_sentences_of_templates_are_short() -> None:
    """A value counts as a word."""
    offenders = [
        f"{relative(path)}: {len(sentence.split())} words: {sentence.strip()[:110]}"
        for path in templates()
        for said in said_by(text(path))
        for sentence in re.split(r"(?<=[.!?:;])\s+", said)
        if len(sentence.split()) > LONGEST
    ]
    nobody(offenders, f"At most {LONGEST} words.")


def test_plurals_come_from_the_helper() -> None:
    offenders = [f"{relative(path)}: {found[0]}" for path in templates() for found in HAND_MADE.finditer(text(path))]
    nobody(offenders, 'Use {% plural n "message" %}.')


def test_percentages_are_written_in_one_way() -> None:
    """84%, in pages, terminal and docs."""
    said = [(relative(path), one) for path in templates() for one in said_by(text(path))]
    for path in files(".py"):
        if relative(path).startswith(("sessions/", "ctxweb/")):
            constants = (node.value for node in ast.walk(ast.parse(text(path))) if isinstance(node, ast.Constant))
            said += [(relative(path), one) for one in constants if isinstance(one, str)]
    said += [(relative(path), line) for path in files(".md") for line in text(path).splitlines()]
    nobody(
        [f"{where}: {one.strip()[:90]}" for where, one in said if APART.search(one) and one != " %"], "84%, not 84 %."
    )


@pytest.mark.parametrize("said", ["The gate fires.", "20 tokens of Headroom", "an over-counted image"])
def test_a_banned_word_is_found(said: str) -> None:
    assert banned_in(said)
    assert (ROOT / "docs/glossary.md").is_file()


def test_what_a_template_shows_is_read() -> None:
    shown = said_by('<p title="Its gate">{% if a.gate %}The <strong>{{ n }}</strong> one.{% endif %}</p>')
    assert shown == ["Its gate", "The 0 one."]
