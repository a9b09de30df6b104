"""Takes the facts of an anchored summary out of messages, without a model: by who said what and by marker words.

The marker words are the skill's (seeds 3.4); every line is one that stands in a message, shortened.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.anchored import AnchoredSummary, once
from sessions.engine.types import Kind, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sessions.engine.policy import Item

LINE_CHARS = 200
MOST = {
    "rules": 30,
    "files": 50,
    "changes": 6,
    "decisions": 30,
    "technical": 20,
    "blockers": 8,
    "errors": 20,
    "next": 8,
}
"""How many lines a section takes from one compaction: the latest, but for rules and files, which are the first."""
RULE = re.compile(r"\b(never|always|must|do not|don't|only|before you|make sure|instead of)\b", re.IGNORECASE)
DECISION = re.compile(
    r"\b(decided|chose|choose|will use|going with|selected|settled on|opted|the fix is|instead of)\b", re.IGNORECASE
)
RATIONALE = re.compile(r"\b(?:because|since|so that|as)\b\s+(.+)", re.IGNORECASE)
ERROR = re.compile(
    r"\b(error|failed|failure|exception|traceback|fatal|panic|cannot|not found|denied|refused)\b", re.IGNORECASE
)
FIX = re.compile(r"\b(fixed|resolved|solved|works now|passes now|the problem was|root cause)\b", re.IGNORECASE)
BLOCKER = re.compile(r"\b(blocked|waiting (?:for|on)|unclear|need(?:s)? your|awaiting|todo|pending)\b", re.IGNORECASE)
NEXT = re.compile(
    r"\b(next|then i(?:'ll| will)|i(?:'ll| will) (?:now )?|let me|remaining|still (?:need|to do))\b", re.IGNORECASE
)
WRITES = re.compile(r"write|edit|create|patch|replace|insert|update|delete|apply|mv|rm", re.IGNORECASE)
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


class Statement(NamedTuple):
    """What one message says: its role, whether it was typed, and its texts by kind of block."""

    item: Item
    text: str
    results: str


def read(items: Sequence[Item], text_of: Callable[[Item], Sequence[tuple[Kind, str]]]) -> list[Statement]:
    """The texts of messages, those of tool results apart; ``text_of`` gives (kind, text) per block."""
    found = []
    for item in items:
        blocks = text_of(item)
        said = "\n".join(text for kind, text in blocks if kind is Kind.TEXT)
        results = "\n".join(text for kind, text in blocks if kind is Kind.TOOL_RESULT)
        found.append(Statement(item, said, results))
    return found


def extract(said: Sequence[Statement]) -> AnchoredSummary:
    """The anchored summary of some messages; an earlier summary among them counts as what it says."""
    replies = [s for s in said if s.item.message.role is Role.ASSISTANT]
    prompts = [s for s in said if s.item.message.role is Role.USER and not s.results and s.text.strip()]
    typed = [s for s in prompts if s.item.message.typed] or prompts
    state = next((line(s.text) for s in reversed(replies) if s.text.strip()), "")
    return AnchoredSummary(
        intent=line(typed[0].text) if typed else "",
        rules=once(_marked(prompts, RULE))[: MOST["rules"]],
        files=_files(said),
        decisions=tuple(dict.fromkeys(_decision(text) for text in _marked(replies, DECISION)))[-MOST["decisions"] :],
        technical=_commands(said),
        state=state,
        blockers=once(_marked(replies[-20:], BLOCKER))[-MOST["blockers"] :],
        errors=once(_errors(said))[-MOST["errors"] :],
        next_steps=once(_marked(replies[-3:], NEXT))[-MOST["next"] :],
    )


def user_lines(said: Sequence[Statement]) -> list[str]:
    """All that the user typed, a line each."""
    return [line(s.text) for s in said if s.item.message.typed and s.text.strip()]


def fixes(said: Sequence[Statement]) -> list[str]:
    """Sentences of the agent that say what solved something."""
    return list(once(_marked([s for s in said if s.item.message.role is Role.ASSISTANT], FIX)))[-MOST["errors"] :]


def line(text: str, most: int = LINE_CHARS) -> str:
    """The text on one line, shortened; never a heading or a bullet of its own."""
    flat = " ".join(text.split())
    flat = flat.lstrip("#-* ")
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


def _sentences(text: str) -> Iterator[str]:
    for part in SENTENCE.split(text):
        if part.strip():
            yield part


def _marked(said: Iterable[Statement], marker: re.Pattern[str]) -> Iterator[str]:
    for one in said:
        for sentence in _sentences(one.text):
            if marker.search(sentence) and (short := line(sentence)):
                yield short


def _decision(sentence: str) -> tuple[str, str]:
    match = RATIONALE.search(sentence)
    if match is None or not match.start():
        return sentence, ""
    return sentence[: match.start()].rstrip(" ,;:"), match[1].rstrip(" .)")


def _files(said: Sequence[Statement]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Paths that a writing tool named, with what was done to each."""
    files: dict[str, tuple[str, ...]] = {}
    for one in said:
        for block in one.item.message.blocks:
            if block.kind is Kind.TOOL_USE and block.target and WRITES.search(block.name) and " " not in block.target:
                done = once((*files.get(block.target, ()), block.name))
                files[block.target] = done[: MOST["changes"]]
    return tuple(files.items())[: MOST["files"]]


def _commands(said: Sequence[Statement]) -> tuple[str, ...]:
    """Files only read and commands run, the latest."""
    found = [
        line(f"{block.name} {block.target}")
        for one in said
        for block in one.item.message.blocks
        if block.kind is Kind.TOOL_USE and block.target and not WRITES.search(block.name)
    ]
    return once(reversed(found))[: MOST["technical"]][::-1]


def _errors(said: Sequence[Statement]) -> Iterator[str]:
    """The first line of an error in every result that is one or says so early on."""
    for one in said:
        failed = any(block.is_error for block in one.item.message.blocks)
        head = one.results[:20_000].splitlines()
        found = next((text for text in head if ERROR.search(text)), head[0] if failed and head else "")
        if found and (failed or ERROR.search(found[:400])) and (short := line(found)):
            yield short
