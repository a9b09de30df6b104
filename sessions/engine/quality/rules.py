"""Rules that bind the agent, found in what others say to it (decision "What counts as lost")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from sessions.engine.quality.orders import binding, is_entry, stands
from sessions.engine.quality.references import HEADS, PATH, token_references, tokens_of
from sessions.engine.transcript.types import Message, Role

USER, MEMORY, SYSTEM = "user", "memory file", "system text"
MIN_CHARS, MAX_CHARS = 8, 300
MAX_PER_MESSAGE = 200
"""A message with more rules than this is a manual; its first 200 are tracked."""
MAX_RULES = 2_000
"""Different rules of a session that are tracked, the first: each is looked for in every list that a page judges."""

_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
_LED = re.compile(r"(?<=[.!?]\*\*)\s+")
"""Between a sentence in bold letters and what explains it: each can be the order."""
FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_WRAPPER = re.compile(r"<(local-command-\w+|command-\w+|bash-\w+)>.*?(?:</\1>|\Z)", re.DOTALL)
"""What a harness puts around commands that a person ran, with their output."""
_NUMBERED = re.compile(r"^[ \t]*\d+(?:→|\t|:(?!\d))", re.MULTILINE)
"""Line numbers of a file that was read."""
_REMINDER = re.compile(r"</?system-reminder>")
_BULLET = re.compile(r"^[\s>*#\-•\d.)\]\[(]+(?=\S)")
_CLAUSE = r"(?:^|[,;:.(–—]\s*|\bplease\s+)"
_SUBJECT = rf"(?:{_CLAUSE}|\b(?:and|but|also|so|just|then|or)\s+)"
_PROHIBITION = re.compile(
    rf"\bnever\b|\bmust(?:\s+not|n['’]t)\b|\b(?:should|may)\s+not\b|\bshouldn['’]t\b"
    rf"|{_SUBJECT}(?:do\s+not|don['’]?t)\s+\w+|{_CLAUSE}avoid\s+\w+",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"\buse\b[^.!?:]{1,80}?(?:,?\s+(?:and\s+)?not\s+|\binstead\s+of\s+|\brather\s+than\s+)(?P<no>`[^`]+`|[\w./@-]+)"
    r"|\b(?:prefer|write|run|call|take|choose|install)\b[^.!?:]{1,80}?\b(?:instead\s+of|rather\s+than)\s+"
    r"(?P<no2>`[^`]+`|[\w./@-]+)"
    r"|\binstead\s+of\s+(?P<no3>`[^`]+`|[\w./@-]+)[^.!?]{0,20}\buse\b",
    re.IGNORECASE,
)
_TAKEN = re.compile(r"\buse\s+([^.!?:,]{2,60}?),?\s+(?:and\s+)?not\b", re.IGNORECASE)
"""What is chosen in "use the primary source, not a secondary one"."""
_WHEN = re.compile(r"^(?:when(?:ever)?|before|after|if)\s+you\b[^,]{3,80},\s*", re.IGNORECASE)
_ADDED = re.compile(r",\s+(?:even|just|so|because|since|draft|not)\b", re.IGNORECASE)
ASKS = re.compile(
    r"\b(?:use[sd]?|using|only|always|must|should|prefer\w*|instead|rather|never|not|no|request\w*|requir\w*|instruct\w*|ask\w*|"
    r"ensur\w*|cit\w+|provid\w+)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:unless|except|without\s+(?:\w+\s+)?(?:asking|permission|approval)|before|until|if)\b", re.IGNORECASE
)
"""A prohibition under a condition cannot be matched against a call: whether the condition held is not recorded."""
NEGATION = re.compile(
    r"\b(?:never|not|no|avoid|without|don['’]?t|forbid\w*|must ?n['’]t|off[- ]limits|untouched)\b", re.IGNORECASE
)
_OBJECT = re.compile(
    r"(?:never|not|don['’]?t|avoid)\s+(?:ever\s+)?(?P<verb>\w+)(?:\s+(?:the|any|a|an|to|on|with|from|into|or|and))*",
    re.IGNORECASE,
)
CHANGE_VERBS = frozenset(
    """
    touch edit change modify update write overwrite delete remove rename move alter rewrite create add regenerate
    """.split()  # noqa: SIM905  readable as a list of words
)
LOCKFILES = ("package-lock.json", "yarn.lock", "pnpm-lock.yaml", "poetry.lock", "uv.lock", "Cargo.lock")
"""The names that "the lockfile" has."""
RUN_VERBS = frozenset(
    """
    use run execute call install invoke start push commit amend rebase merge deploy force
    """.split()  # noqa: SIM905  readable as a list of words
)
STOP = frozenset(
    """
    about after again also always any anything are and because been before being but can cannot could does doing don
    done dont else ever every for from have here how into its just make may must need never not now only other our
    out over please rather should some such sure than that the their them then there these they this those through
    under unless until use used using very want was were what when where which while will with without would you
    your instead session whole one rule rules important note remember
    """.split()  # noqa: SIM905  readable as a list of words
)
_WORDS = re.compile(r"[A-Za-z_][\w./-]{2,}")
_MEMORY_FILE = re.compile(
    r"(?:^|/)(?:CLAUDE(?:\.local)?\.md|AGENTS(?:\.override)?\.md|GEMINI\.md|MEMORY\.md|\.cursorrules|\.clinerules|\.roorules|\.windsurfrules|copilot-instructions\.md)$"
)
_NAMES_MEMORY = re.compile(r"\b(?:CLAUDE|AGENTS|GEMINI|MEMORY)\.md\b|\bclaudeMd\b")
_GIVEN_AS_MEMORY = re.compile(
    r"\s*(?:# (?:AGENTS|CLAUDE|GEMINI)\.md instructions\b|<(?:user_instructions|cursor_rules|user_rules|"
    r"always_applied_workspace_rules?|workspace_rules)\b|--- Context from: \S*(?:GEMINI|AGENTS|CLAUDE)\.md|"
    r"# \.(?:cline|roo|cursor|windsurf)rules\b)"
)
"""How agents put memory files into a message of their own: Codex, Cursor, Gemini CLI, Cline and Roo."""

_QUOTED = re.compile(r"\s*\[\d+\] (?:assistant|tool)\b[^\n:]*:")
"""How an agent quotes a conversation to another that reviews it: what an agent or a tool said there is no order."""


class Rule(NamedTuple):
    """One constraint.

    ``text`` is the sentence as said, ``source`` who said it, ``prohibits`` whether it forbids something, if only by
    naming what to take in its place; ``words`` are the content words of its main clause.  ``chooses``: it has the form
    "use X, not Y", and ``words`` are those of X alone.
    A tool call must not name ``forbidden_paths`` and ``forbidden_commands``; empty where none can be matched.
    """

    text: str
    source: str
    prohibits: bool
    words: frozenset[str]
    chooses: bool = False
    forbidden_paths: tuple[str, ...] = ()
    forbidden_commands: tuple[str, ...] = ()


def source_of(message: Message, text: str = "", read_path: str = "") -> str:
    """Who speaks in a block of a user or system message, "" where nobody gives rules (plain tool results).

    ``read_path`` is the file that a tool result holds: memory files bind the agent however they arrive.  A harness
    puts its reminders, memory files among them, into the user's message too; its own words and a skill's give none.
    """
    if read_path:
        return MEMORY if _MEMORY_FILE.search(read_path) else ""
    if message.compaction is not None or message.summary or _QUOTED.match(text):
        return ""
    if is_reminder(text):
        return MEMORY if _NAMES_MEMORY.search(text) else ""
    if _GIVEN_AS_MEMORY.match(text):
        return MEMORY
    if message.typed or message.role is Role.SYSTEM:
        return USER if message.typed else SYSTEM
    return MEMORY if "memory" in message.attachment.lower() or "rules" in message.attachment.lower() else ""


def is_reminder(text: str) -> bool:
    """Whether a text block of a user's message is the harness's own."""
    return text.lstrip().startswith("<system-reminder>")


def rules_in(text: str, source: str) -> Iterator[Rule]:
    """The rules in a text, in order, at most 200."""
    return islice((make_rule(line, source) for line, is_rule in judged(text, source) if is_rule), MAX_PER_MESSAGE)


def judged(text: str, source: str) -> Iterator[tuple[str, bool]]:
    """Every sentence of a text, and whether it is a rule."""
    bound = binding(text, user=source == USER)
    for line, heading, entry in _placed(prose(text)):
        yield line, any(stands(part, bound, heading, entry=entry) for part in _LED.split(line))


def prose(text: str) -> str:
    """A text without code, reminders' marks and what a harness puts around commands."""
    return _REMINDER.sub("\n", _WRAPPER.sub("\n", FENCE.sub("\n", _NUMBERED.sub("", text))))


def sentences(text: str) -> Iterator[str]:
    """Sentences and lines of prose, bullets taken off; too short and too long ones are left out."""
    return (sentence for sentence, *_ in _placed(text))


def _placed(text: str) -> Iterator[tuple[str, str, bool]]:
    """Each sentence, its heading (a line with a colon heads the list below it), whether it is of a list of skills."""
    section = heads = ""
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith("#"):
            section = heads = bare
            continue
        item = _BULLET.sub("", bare)
        if bare and item == bare:
            heads = section
        entry = is_entry(item)
        for piece in _SENTENCE.split(bare):
            sentence = _BULLET.sub("", " ".join(piece.split()))
            if MIN_CHARS <= len(sentence) <= MAX_CHARS:
                yield sentence, heads, entry
        if bare.rstrip("*").endswith(":"):
            heads = bare


def make_rule(sentence: str, source: str) -> Rule:
    """The rule that a sentence states."""
    prohibits = bool(_PROHIBITION.search(sentence))
    choice = _CHOICE.search(sentence)
    conditional = _CONDITION.search(sentence)
    paths, commands = _forbidden(sentence) if prohibits and not conditional else ((), ())
    if choice and not conditional:
        other = next(word for word in choice.groups() if word)
        if other.startswith("`") or other.rstrip(".,:") in HEADS:
            commands = (*commands, other.strip("`").rstrip(".,:"))
    taken = _TAKEN.search(sentence) if choice else None
    # What is asked, without when it is and why.
    main = _ADDED.split(_WHEN.sub("", sentence, count=1), maxsplit=1)[0] or sentence
    words = content_words(taken.group(1) if taken else main)
    return Rule(
        sentence, source, prohibits or bool(choice), words or content_words(sentence), bool(taken and words), paths,
        commands,
    )  # fmt: skip


def content_words(text: str) -> frozenset[str]:
    """Words that carry the meaning: three letters or more, no function words, lower case, endings taken off."""
    words = (word.lower().strip("./-") for word in _WORDS.findall(text))
    return frozenset(_stem(word) for word in words if word not in STOP and len(word) > 2)


def _stem(word: str) -> str:
    """A word without -ation, -ing, -ed, -es, -s or -e, where four letters are left: "touched" and "touch" are one."""
    for ending in ("ation", "ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4 and "." not in word:
            return word[: -len(ending)]
    return word


def _forbidden(sentence: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Paths not to be changed, commands not to be run, as named behind a prohibition: npm in "pnpm, never npm"."""
    found = _OBJECT.search(sentence)
    if not found:
        return (), ()
    verb, rest = found.group("verb").lower(), sentence[found.end() :]
    rest = re.split(r"\b(?:instead|but|because|use)\b", rest, maxsplit=1)[0]
    paths = tuple(sorted(r.text for token in tokens_of(rest) for r in token_references(token) if r.kind == PATH))
    quoted = tuple(re.findall(r"`([^`]{2,80})`", rest))
    if verb in CHANGE_VERBS:
        lockfile = re.search(r"\block ?files?\b", rest, re.IGNORECASE)
        return paths or (LOCKFILES if lockfile else ()), ()
    commands = [q for q in quoted if q.strip() and (q.split()[0] in HEADS or verb in RUN_VERBS)]
    words = rest.replace("`", "").split()
    if not commands and verb in HEADS | RUN_VERBS:
        named = [verb, *words] if verb in HEADS else words
        first = named[0].strip(".,;:") if named else ""
        if first in HEADS:
            second = named[1].strip(".,;:") if len(named) > 1 and named[0] == first else ""
            commands.append(
                f"{first} {second}" if second.isalpha() and second not in STOP and second != "directly" else first
            )
        elif verb in {"push", "commit", "amend", "rebase", "merge"}:
            commands.append(f"git {verb}")
    return (), tuple(commands)
