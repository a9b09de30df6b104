"""Takes the facts of an anchored summary out of messages, without a model: by who said what and by marker words.

The marker words are the skill's (seeds 3.4); every line is one that stands in a message, shortened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sessions.engine.policies.anchored import AnchoredSummary, once
from sessions.engine.transcript.types import Kind, Message, Role

LINE_CHARS = 200
MOST = {
    "rules": 30, "files": 50, "changes": 6, "decisions": 30, "technical": 20, "blockers": 8, "errors": 20, "next": 8,
}  # fmt: skip
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


class Sketch(NamedTuple):
    """What an anchored summary may take from one message, each line shortened.

    ``first`` is the beginning of its text; the lines are those with a marker word, at most as many as a section takes.
    ``files`` are (path, tool) of writing calls, ``used`` of the others; ``failed`` is the first line of an error.
    """

    is_reply: bool = False
    is_prompt: bool = False
    is_typed: bool = False
    first: str = ""
    rules: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    used: tuple[str, ...] = ()
    failed: str = ""


def sketch(message: Message, blocks: Iterable[tuple[Kind, str]]) -> Sketch:
    """The sketch of a message; ``blocks`` are (kind, text) of its blocks, tool results apart from the rest."""
    texts = list(blocks)
    said = "\n".join(text for kind, text in texts if kind is Kind.TEXT)
    results = "\n".join(text for kind, text in texts if kind is Kind.TOOL_RESULT)
    is_reply = message.role is Role.ASSISTANT
    is_prompt = message.role is Role.USER and not results and bool(said.strip())
    calls = [block for block in message.blocks if block.kind is Kind.TOOL_USE and block.target]
    failed = any(block.is_error for block in message.blocks)
    sentences = [part for part in SENTENCE.split(said) if part.strip()] if is_reply or is_prompt else []

    def marked(marker: re.Pattern[str]) -> tuple[str, ...]:
        found = (line(sentence) for sentence in sentences if marker.search(sentence))
        return once(short for short in found if short)

    return Sketch(
        is_reply, is_prompt, message.typed, line(said),
        rules=marked(RULE)[: MOST["rules"]] if is_prompt else (),
        decisions=marked(DECISION)[-MOST["decisions"] :] if is_reply else (),
        blockers=marked(BLOCKER)[-MOST["blockers"] :] if is_reply else (),
        next_steps=marked(NEXT)[-MOST["next"] :] if is_reply else (),
        fixes=marked(FIX)[-MOST["errors"] :] if is_reply else (),
        files=tuple((b.target, b.name) for b in calls if WRITES.search(b.name) and " " not in b.target),
        used=tuple(line(f"{b.name} {b.target}") for b in calls if not WRITES.search(b.name)),
        failed=_failed(results, failed=failed),
    )  # fmt: skip


def extract(said: Sequence[Sketch]) -> AnchoredSummary:
    """The anchored summary of some messages; an earlier summary among them counts as what it says."""
    replies = [s for s in said if s.is_reply]
    prompts = [s for s in said if s.is_prompt]
    typed = [s for s in prompts if s.is_typed] or prompts
    decisions = (_decision(text) for s in replies for text in s.decisions)
    used = [what for s in said for what in s.used]
    return AnchoredSummary(
        intent=typed[0].first if typed else "",
        rules=once(text for s in prompts for text in s.rules)[: MOST["rules"]],
        files=_files(said),
        decisions=tuple(dict.fromkeys(decisions))[-MOST["decisions"] :],
        technical=once(reversed(used))[: MOST["technical"]][::-1],
        state=next((s.first for s in reversed(replies) if s.first), ""),
        blockers=once(text for s in replies[-20:] for text in s.blockers)[-MOST["blockers"] :],
        errors=once(s.failed for s in said if s.failed)[-MOST["errors"] :],
        next_steps=once(text for s in replies[-3:] for text in s.next_steps)[-MOST["next"] :],
    )


def fixes(said: Sequence[Sketch]) -> list[str]:
    """Sentences of the agent that say what solved something."""
    return list(once(text for s in said if s.is_reply for text in s.fixes))[-MOST["errors"] :]


def line(text: str, most: int = LINE_CHARS) -> str:
    """The text on one line, shortened; never a heading or a bullet of its own."""
    flat = " ".join(text.split())
    flat = flat.lstrip("#-* ")
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


def _decision(sentence: str) -> tuple[str, str]:
    match = RATIONALE.search(sentence)
    if match is None or not match.start():
        return sentence, ""
    return sentence[: match.start()].rstrip(" ,;:"), match[1].rstrip(" .)")


def _files(said: Sequence[Sketch]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Paths that a writing tool named, with what was done to each."""
    files: dict[str, tuple[str, ...]] = {}
    for one in said:
        for path, tool in one.files:
            files[path] = once((*files.get(path, ()), tool))[: MOST["changes"]]
    return tuple(files.items())[: MOST["files"]]


def _failed(results: str, *, failed: bool) -> str:
    """The first line of an error in a result that is one or says so early on, "" where it is none."""
    if not results:
        return ""
    head = results[:20_000].splitlines()
    found = next((text for text in head if ERROR.search(text)), head[0] if failed and head else "")
    return line(found) if found and (failed or ERROR.search(found[:400])) else ""
