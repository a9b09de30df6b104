"""What became of the bytes of a file: context, pictures, encrypted payloads, or nothing a model ever sees.

A file's fates are disjoint in bytes and add up to its size.  Whole lines are counted once; a fate that is ``part`` of
lines counted elsewhere (``toolUseResult`` beside a message) says how many lines have it.
"""

from __future__ import annotations

from collections.abc import Iterable

from sessions.engine.transcript.types import Block, Fate, Origin, Parsed

MESSAGES = "message text and tool data"
MEDIA = "images and documents (base64)"
ENCRYPTED = "signatures and encrypted payloads"
SYSTEM = "system prompt and tools"
AROUND = "JSON around messages"
SKIPPED = "lines that could not be read"
BLANK = "line ends and blanks"
ELSEWHERE = "everything else in the file"


class Tally:
    """Adds up fates while a file is read."""

    def __init__(self) -> None:
        self._found: dict[str, list[int]] = {}
        self._kinds: dict[str, tuple[bool, bool, bool]] = {}

    def add(
        self, name: str, n_lines: int, n_bytes: int, *, context: bool = False, part: bool = False, opaque: bool = False
    ) -> None:
        """Count lines and bytes for a fate; the first call for a name says what kind it is."""
        self._kinds.setdefault(name, (context, part, opaque))
        held = self._found.setdefault(name, [0, 0])
        held[0] += n_lines
        held[1] += n_bytes

    def message(self, blocks: Iterable[Block], n_bytes: int, around: str = AROUND) -> None:
        """Count a line of a message: ``n_bytes`` of it that are not counted otherwise, told apart by its blocks."""
        text, media, encrypted = weights(blocks)
        self.add(MESSAGES, 1, min(text, n_bytes), context=True)
        if media:
            self.add(MEDIA, 1, media, context=True, part=True)
        if encrypted:
            self.add(ENCRYPTED, 1, encrypted, context=True, part=True, opaque=True)
        self.add(around, 1, max(0, n_bytes - text - media - encrypted), part=True)

    def fates(self, size: int, n_skipped: int) -> tuple[Fate, ...]:
        """All fates, the largest first; what is left of the file's ``size`` are skipped lines, or ends of lines."""
        left = max(0, size - sum(n_bytes for _, n_bytes in self._found.values()))
        if n_skipped:
            n_ends = min(left, sum(n[0] for name, n in self._found.items() if not self._kinds[name][1]))
            self.add(SKIPPED, n_skipped, left - n_ends)
            left = n_ends
        if left:
            self.add(BLANK, 0, left, part=True)
        rows = [Fate(name, n[0], n[1], *self._kinds[name]) for name, n in self._found.items()]
        return tuple(sorted(rows, key=lambda fate: (-fate.n_bytes, fate.name)))


def weights(blocks: Iterable[Block]) -> tuple[int, int, int]:
    """Bytes of text, of base64 and of signatures and encrypted payloads in blocks, parts included."""
    text = media = encrypted = 0
    for block in blocks:
        for leaf in block.leaves() if block.parts else (block,):
            text += leaf.n_bytes
            encrypted += leaf.n_payload
            if leaf.media is not None:
                media += leaf.media.n_base64
    return text, media, encrypted


def fallback(parsed: Parsed, size: int, n_lines: int) -> tuple[Fate, ...]:
    """Fates for a format that does not tell line types: what messages hold against the ``size`` of the file.

    A span of the file that several messages show (a prompt repeated in every call) is weighed once.
    """
    tally = Tally()
    seen: set[tuple[Origin, ...]] = set()
    lines: set[int] = set()
    text = media = encrypted = 0
    for transcript in parsed.transcripts:
        for message in transcript.messages:
            if message.origins in seen:
                continue
            seen.add(message.origins)
            lines.update(origin.line for origin in message.origins)
            found = weights(message.blocks)
            text, media, encrypted = text + found[0], media + found[1], encrypted + found[2]
    tally.add(MESSAGES, len(lines), text, context=True)
    prompts = sum(sum(weights(system)) for system in {transcript.system for transcript in parsed.transcripts})
    if prompts:
        tally.add(SYSTEM, 0, prompts, context=True, part=True)
    if media:
        tally.add(MEDIA, 0, media, context=True, part=True)
    if encrypted:
        tally.add(ENCRYPTED, 0, encrypted, context=True, part=True, opaque=True)
    others = max(0, n_lines - len(lines) - len(parsed.skipped)) if len(lines) > 1 else 0
    if (left := size - prompts - text - media - encrypted) > 0:
        tally.add(ELSEWHERE, others, left, part=not others)
    if parsed.skipped:
        tally.add(SKIPPED, len(parsed.skipped), 0)
    return tally.fates(0, 0)


def merged(several: Iterable[Iterable[Fate]]) -> tuple[Fate, ...]:
    """The fates of several files as if they were one."""
    tally = Tally()
    for fates in several:
        for f in fates:
            tally.add(f.name, f.n_lines, f.n_bytes, context=f.is_context, part=f.is_part, opaque=f.is_opaque)
    return tally.fates(0, 0)


def unsent(fates: Iterable[Fate]) -> tuple[int, int]:
    """Bytes that never reach a model, and all bytes."""
    every = tuple(fates)
    return sum(f.n_bytes for f in every if not f.is_context), sum(f.n_bytes for f in every)


def sentence(fates: Iterable[Fate]) -> str:
    """What never reaches the model, largest parts first, in words for a reader; "" without bytes."""
    every = tuple(fates)
    n_unsent, n_all = unsent(every)
    if not n_all:
        return ""
    named = [f"{f.name} {share(f.n_bytes, n_all)}" for f in every if not f.is_context and 100 * f.n_bytes >= n_all]
    most = f": {', '.join(named[:3])}" if named else ""
    return f"{share(n_unsent, n_all)} of this file is not sent to the model{most}"


def share(part: int, whole: int) -> str:
    """A share of bytes in words: "43%", "0.4%", "under 0.1%"."""
    value = 100 * part / whole if whole else 0.0
    if 0 < value < 0.05:
        return "under 0.1%"
    return f"{value:.0f}%" if value >= 9.95 or not value else f"{value:.1f}%"
