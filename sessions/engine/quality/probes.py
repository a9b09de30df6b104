"""Questions that a compacted context must still answer, asked without a model (seeds 3.4), beside a reader's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sessions.engine.base.errors import BadParameter
from sessions.engine.quality import facts as fact_kinds
from sessions.engine.quality.calls import READ, WRITE
from sessions.engine.quality.constraints import state_of
from sessions.engine.quality.index import Constraint, Index, Read, flat_text
from sessions.engine.quality.standing import GONE, MENTIONED, OPEN, RE_INJECTED, VERBATIM, Standing
from sessions.engine.transcript.types import Transcript

PER_KIND = 10
"""The newest of a kind that are asked."""
ACCEPT_SCORE = 0.9
QUESTIONS = {
    "intent": "What did the user ask for?", "file_path": "Which file was {verb}: {what}?",
    "file_changes": "What was changed in {what}?", "decision": "What was decided? ({what})",
    "rationale": "Why was it decided? ({what})", "error": "What went wrong? ({what})",
    "resolution": "How was it resolved? ({what})", "blocker": "What blocks the work? ({what})",
    "progress": "What is done? ({what})", "next_steps": "What comes next? ({what})",
    "constraint": "Which rule holds? ({what})",
}  # fmt: skip
CRITICAL = frozenset({"intent", "file_changes", "next_steps", "constraint"})
WHAT_CHARS = 120
OWN = "own"
"""The kind of a reader's own probe."""
MOST_OWN, MOST_CHARS = 20, 300


@dataclass(frozen=True, slots=True)
class Probe:
    """A question.

    ``kind`` is a key of ``QUESTIONS``; ``keywords`` are expected in the answer: any one of them where they are
    references, half of them where they are ``plain`` words.  ``source_message`` and ``source_block`` say where the
    answer stood.  A reader's own probe has ``places`` instead: every (message, block) that says one of its keywords.
    """

    kind: str
    question: str
    keywords: tuple[str, ...]
    source_message: int
    source_block: int
    critical: bool
    plain: bool = False
    constraint: Constraint | None = None
    places: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """A probe's state in a context, one of ``STATES``; passed where an answer stands (the skill's rule)."""

    probe: Probe
    state: str

    @property
    def passed(self) -> bool:
        """Whether an expected keyword is there at all."""
        return self.state in {VERBATIM, MENTIONED}


@dataclass(frozen=True, slots=True)
class Score:
    """Probes asked, by state, and critical ones gone; ``open`` ones depend on a summary without text: then no score."""

    n: int
    verbatim: int
    mentioned: int
    gone: int
    critical_failed: int
    open: int = 0

    @property
    def score(self) -> float | None:
        """The skill's pass rate, 0 to 1: it counts a mention as an answer, which published tests do not bear out."""
        return (self.n - self.gone) / self.n if self.n and not self.open else None

    @property
    def accepted(self) -> bool | None:
        """Score at least 90% and no critical probe failed; None without probes."""
        return None if self.score is None else self.score >= ACCEPT_SCORE and not self.critical_failed


def probes_before(index: Index, newest: int) -> tuple[Probe, ...]:
    """The probes of everything up to message ``newest``, at most ``PER_KIND`` of a kind, oldest first within a kind."""
    by_kind: dict[str, list[Probe]] = {kind: [] for kind in QUESTIONS}
    for probe in (*_of_facts(index, newest), *_of_files(index, newest), *_of_rules(index, newest)):
        by_kind[probe.kind].append(probe)
    return tuple(probe for group in by_kind.values() for probe in group[-PER_KIND:])


def _of_facts(index: Index, newest: int) -> Iterator[Probe]:
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for fact in index.facts:
        if fact.message <= newest and (fact.kind, fact.keywords) not in seen:
            seen.add((fact.kind, fact.keywords))
            question = QUESTIONS[fact.kind].format(what=fact.text[:WHAT_CHARS])
            yield Probe(fact.kind, question, fact.keywords, fact.message, fact.block, fact.kind in CRITICAL, fact.plain)


def _of_files(index: Index, newest: int) -> Iterator[Probe]:
    """Paths read or written, and for each file written what its newest change names."""
    last: dict[str, tuple[str, int, int]] = {}
    for call in index.calls:
        if call.verb in {READ, WRITE} and "/" in call.key + "/" and call.message <= newest and " " not in call.key:
            verb = "written" if call.verb == WRITE or last.get(call.key, ("",))[0] == "written" else "read"
            last[call.key] = (verb, call.message, call.block)
    for path, (verb, message, block) in sorted(last.items(), key=lambda entry: entry[1][1:]):
        question = QUESTIONS["file_path"].format(verb=verb, what=path)
        yield Probe("file_path", question, (path,), message, block, critical=False)
    for call in index.calls:
        if call.verb == WRITE and call.message <= newest and last.get(call.key, ("", 0, 0))[1:] == call[:2]:
            inside = [index.references[i] for i in index.blocks[call.message][call.block]]
            names = sorted(r.text for r in inside if r.kind == "identifier")[: fact_kinds.N_KEYWORDS]
            if names:
                question = QUESTIONS["file_changes"].format(what=call.key)
                yield Probe("file_changes", question, tuple(names), call.message, call.block, critical=True)


def _of_rules(index: Index, newest: int) -> Iterator[Probe]:
    for constraint in index.constraints:
        if constraint.message <= newest:
            question = QUESTIONS["constraint"].format(what=constraint.rule.text[:WHAT_CHARS])
            words = tuple(sorted(constraint.rule.words))
            m, b = constraint.places[0]
            yield Probe("constraint", question, words, m, b, critical=True, plain=True, constraint=constraint)


def answers(probes: Iterable[Probe], context: Standing, index: Index) -> tuple[Answer, ...]:
    """Each probe's state in a context."""
    return tuple(Answer(probe, _state(probe, context, index)) for probe in probes)


def _state(probe: Probe, context: Standing, index: Index) -> str:
    if probe.constraint:
        state = state_of(probe.constraint, context)
        return MENTIONED if state == RE_INJECTED else state
    if probe.places and any(context.has_block(*at) for at in probe.places):
        return VERBATIM
    place = (probe.source_message, probe.source_block)
    named = () if probe.plain else probe.keywords
    ids = [i for word in named if (i := index.id_of(word)) is not None]
    if context.has_block(*place) or any(context.has(index, i) for i in ids):
        return VERBATIM
    if any(place in inserted.holds for inserted in context.inserted) or any(context.mentions(i) for i in ids):
        return MENTIONED
    wanted = len(probe.keywords) / 2 if probe.plain else 1
    texts = (inserted.text.lower() for inserted in context.inserted if inserted.text)
    is_said = any(sum(word.lower() in text for word in probe.keywords) >= wanted for text in texts)
    return MENTIONED if is_said else context.missing


def score_of(found: Iterable[Answer]) -> Score:
    """Counts by state."""
    states = [(answer.state, answer.probe.critical) for answer in found]
    count = [state for state, _ in states].count
    failed = sum(critical and state == GONE for state, critical in states)
    return Score(len(states), count(VERBATIM), count(MENTIONED), count(GONE), failed, count(OPEN))


def advice(score: Score) -> str:
    """What the skill says to do with a result: accept it, or what to try instead; it is never accepted in silence."""
    if score.open:
        return "depends on the summary, which has no text"
    if score.accepted is None:
        return "no probes: nothing can be said"
    if score.accepted:
        return "accept"
    if score.critical_failed:
        return "retry with more detail, or keep 10 recent messages instead of 5; then fall back to the sliding window"
    return "retry with more detail; fall back to the sliding window"


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
    keywords = tuple(word.strip() for word in answer.split(",") if word.strip()) if mark else ()
    return (question + mark, keywords, critical) if keywords else (f"Is it still there: {rest}", (rest,), critical)
