"""Which probes are asked: those made from the session, and a reader's own; and which of them are critical."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sessions.engine.base.errors import BadParameter
from sessions.engine.quality.index import Index, Read, flat_text
from sessions.engine.quality.probes import CRITICAL, QUESTIONS, Probe, probes_before
from sessions.engine.transcript.types import Transcript

OWN = "own"
"""The kind of a reader's own probe."""
MOST_OWN, MOST_CHARS = 20, 300


@dataclass(frozen=True, slots=True)
class Question:
    """``own`` are a reader's probes; ``critical`` the generated kinds whose failure is never accepted."""

    own: tuple[Probe, ...] = ()
    critical: frozenset[str] = CRITICAL

    def before(self, index: Index, newest: int) -> tuple[Probe, ...]:
        """The probes of everything up to message ``newest``; an own one is asked once its answer has been said."""
        made = (replace(probe, critical=probe.kind in self.critical) for probe in probes_before(index, newest))
        return (*made, *(probe for probe in self.own if probe.source_message <= newest))


AS_GENERATED = Question()


def critical_kinds(names: str) -> frozenset[str]:
    """Kinds by name, separated by commas; "none" for none; raises BadParameter for one that does not exist."""
    found = frozenset(name.strip() for name in names.split(",") if name.strip()) - {"none"}
    unknown = sorted(found - QUESTIONS.keys())
    if unknown:
        raise BadParameter(f"there is no kind of probe {unknown[0]!r}: known are {', '.join(QUESTIONS)}, none")
    return found


def own_probes(lines: Iterable[str], transcript: Transcript, read: Read) -> tuple[Probe, ...]:
    """A probe from each line: ``Which port? 5433, PORT``, with ``!`` in front where it is critical.

    What follows the question mark are keywords, any of which answers; without one the line itself is.  One that no
    message says is left out, since it can be lost nowhere.  Reads every message once.  Raises BadParameter for more
    than 20 lines, or one of more than 300 characters.
    """
    asked = [_parsed(line) for line in (line.strip() for line in lines) if line.strip("! ")]
    if len(asked) > MOST_OWN:
        raise BadParameter(f"at most {MOST_OWN} questions of your own, not {len(asked)}")
    if not asked:
        return ()
    places: list[list[tuple[int, int]]] = [[] for _ in asked]
    for message in transcript.messages:
        if message.compaction is None:
            for number, content in enumerate(read(message)):
                text = flat_text(content).lower()
                for found, (_, keywords, _) in zip(places, asked, strict=True):
                    if any(word.lower() in text for word in keywords):
                        found.append((message.index, number))
    return tuple(
        Probe(OWN, question, keywords, *found[0], critical, places=tuple(found))
        for (question, keywords, critical), found in zip(asked, places, strict=True)
        if found
    )


def _parsed(line: str) -> tuple[str, tuple[str, ...], bool]:
    """(question, keywords, whether it is critical)."""
    if len(line) > MOST_CHARS:
        raise BadParameter(f"a question has at most {MOST_CHARS} characters, not {len(line):,}")
    critical, rest = line.startswith("!"), line.lstrip("! ")
    question, mark, answer = rest.rpartition("?")
    keywords = _words(answer) if mark else ()
    return (question + mark, keywords, critical) if keywords else (f"Is it still there: {rest}", (rest,), critical)


def _words(text: str) -> tuple[str, ...]:
    found: Sequence[str] = [word.strip() for word in text.split(",")]
    return tuple(word for word in found if word)
