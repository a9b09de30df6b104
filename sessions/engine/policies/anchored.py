"""The anchored summary of the context-compression skill: forced sections, merged and never rewritten (seeds 3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

NOTHING = "None."
JOINER = "; "
BECAUSE = " (because: "


@dataclass(frozen=True, slots=True)
class AnchoredSummary:
    """One anchored summary.

    ``files`` are (path, changes) in the order first touched, ``decisions`` (decision, rationale, "" where none was
    given); the others are lines.  ``count`` is how many compressions it has been through.
    """

    intent: str = ""
    rules: tuple[str, ...] = ()
    files: tuple[tuple[str, tuple[str, ...]], ...] = ()
    decisions: tuple[tuple[str, str], ...] = ()
    technical: tuple[str, ...] = ()
    state: str = ""
    blockers: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    count: int = 1


def merge(old: AnchoredSummary, new: AnchoredSummary) -> AnchoredSummary:
    """The skill's rule: the new intent if there is one; files per path; decisions and errors appended, each once.

    State, blockers and next steps are replaced; rules and technical context are appended like decisions.
    """
    files = dict(old.files)
    for path, changes in new.files:
        files[path] = once((*files.get(path, ()), *changes))
    return AnchoredSummary(
        intent=new.intent or old.intent,
        rules=once((*old.rules, *new.rules)),
        files=tuple(files.items()),
        decisions=tuple(dict.fromkeys((*old.decisions, *new.decisions))),
        technical=once((*old.technical, *new.technical)),
        state=new.state,
        blockers=new.blockers,
        errors=once((*old.errors, *new.errors)),
        next_steps=new.next_steps,
        count=old.count + 1,
    )


def once(lines: Iterable[str]) -> tuple[str, ...]:
    """Lines in order, each the first time it comes."""
    return tuple(dict.fromkeys(lines))


def render(summary: AnchoredSummary) -> str:
    """Markdown with one heading per section; every section is there, "None." rather than missing."""
    decisions = [f"{what}{BECAUSE}{why})" if why else what for what, why in summary.decisions]
    sections = (
        ("Session Intent", [summary.intent] if summary.intent else []),
        ("Rules", _bullets(summary.rules)),
        ("Files Modified", _bullets(f"`{path}`: {JOINER.join(changes)}" for path, changes in summary.files)),
        ("Decisions Made", _bullets(decisions)),
        ("Technical Context", _bullets(summary.technical)),
        ("Current State", [summary.state] if summary.state else []),
        ("Blockers", _bullets(summary.blockers)),
        ("Errors Encountered", _bullets(summary.errors)),
        ("Next Steps", _bullets(summary.next_steps)),
        ("Compressions", [str(summary.count)]),
    )
    return "\n\n".join("\n".join((f"## {title}", *(lines or [NOTHING]))) for title, lines in sections)


def parse(text: str) -> AnchoredSummary | None:
    """The summary that ``render`` wrote; None for any other text."""
    parts: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        if line.startswith("## "):
            current = parts.setdefault(line[3:], [])
        elif current is not None and line and line != NOTHING:
            current.append(line)
    if "Session Intent" not in parts or "Compressions" not in parts:
        return None
    found = AnchoredSummary(
        intent=" ".join(parts["Session Intent"]),
        rules=_lines(parts, "Rules"),
        files=tuple(_file(line) for line in _lines(parts, "Files Modified")),
        decisions=tuple(_decision(line) for line in _lines(parts, "Decisions Made")),
        technical=_lines(parts, "Technical Context"),
        state=" ".join(parts.get("Current State", ())),
        blockers=_lines(parts, "Blockers"),
        errors=_lines(parts, "Errors Encountered"),
        next_steps=_lines(parts, "Next Steps"),
    )
    counted = parts["Compressions"]
    return replace(found, count=int(counted[0])) if counted and counted[0].isdigit() else found


def _bullets(lines: Iterable[str]) -> list[str]:
    return [f"- {line}" for line in lines]


def _lines(parts: dict[str, list[str]], title: str) -> tuple[str, ...]:
    return tuple(line.removeprefix("- ") for line in parts.get(title, ()))


def _file(line: str) -> tuple[str, tuple[str, ...]]:
    path, _, changes = line.removeprefix("`").partition("`: ")
    return path, tuple(changes.split(JOINER)) if changes else ()


def _decision(line: str) -> tuple[str, str]:
    what, _, why = line.partition(BECAUSE)
    return what, why.removesuffix(")")


NINE = (
    "Primary Request and Intent", "Key Technical Concepts", "Files and Code", "Errors and Fixes", "Problem Solving",
    "All User Messages", "Pending Tasks", "Current Work", "Next Step",
)  # fmt: skip
"""The sections that the layered pipeline's summary must cover (seeds 1.2)."""


def render_nine(summary: AnchoredSummary, user_messages: Sequence[str], fixes: Sequence[str]) -> str:
    """The same facts under the nine sections; ``user_messages`` and ``fixes`` are lines."""
    decisions = [f"{what}{BECAUSE}{why})" if why else what for what, why in summary.decisions]
    contents: tuple[Sequence[str], ...] = (
        [summary.intent] if summary.intent else [],
        _bullets((*summary.rules, *summary.technical)),
        _bullets(f"`{path}`: {JOINER.join(changes)}" for path, changes in summary.files),
        _bullets(summary.errors),
        _bullets((*decisions, *fixes)),
        _bullets(user_messages),
        _bullets(summary.blockers),
        [summary.state] if summary.state else [],
        _bullets(summary.next_steps[:1]),
    )
    return "\n\n".join(
        "\n".join((f"## {title}", *(lines or [NOTHING]))) for title, lines in zip(NINE, contents, strict=True)
    )
