"""A model as judge of one event: it answers probes from the context after it, and says what it would do next.

What a judgement says is kept as a blob under the hash of what was judged, so that a page only looks it up.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sessions import selectors
from sessions.adapters.anthropic_client import Client
from sessions.adapters.anthropic_judge import NOT_FOUND, Action, answer_probe, grade, next_action
from sessions.adapters.prompts import Said
from sessions.engine.base.errors import BadParameter
from sessions.engine.base.words import no_compaction
from sessions.engine.policies.policy import Item
from sessions.engine.quality.asked import Question, own_probes
from sessions.engine.quality.assess import assess_recorded, assess_replay
from sessions.engine.quality.calls import TARGET_CHARS
from sessions.engine.reading import jsonio
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Content, Kind, Transcript
from sessions.models import Session
from sessions.services.indexed import index_of
from sessions.services.model_access import bucket
from sessions.services.model_summaries import (
    Estimate,
    SummaryWriter,
    Wanted,
    contents_of,
    estimate,
    keep_answer,
    kept_answer,
)

if TYPE_CHECKING:
    from sessions.adapters.anthropic_client import Access
    from sessions.engine.quality.assess import Assessment
    from sessions.engine.quality.index import Index
    from sessions.engine.quality.probes import Probe
    from sessions.engine.reading.texts import Texts

KIND = "judgement"
REPLICATES = 3
"""How often the next action is asked for, from the context before and from the one after: answers differ by chance."""
MOST_QUESTIONS = 12
OUT_TOKENS, ASKING_TOKENS = 150, 400
"""About what an answer weighs, and what stands around a conversation."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One question: what the model answered from the context alone, and how that was graded."""

    question: str
    critical: bool
    answer: str
    verdict: str
    reason: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a model made of one event.

    ``real`` is the (tool, target) that the agent called next, None where there was none; ``n_before`` and ``n_after``
    of ``n_asked`` answers say the same from the context before and after the event; ``n_tools_after`` the same tool.
    """

    model: str
    verdicts: tuple[Verdict, ...]
    real: tuple[str, str] | None
    n_asked: int
    n_before: int
    n_after: int
    n_tools_before: int
    n_tools_after: int

    def count(self, verdict: str) -> int:
        """How many questions were graded so."""
        return sum(one.verdict == verdict for one in self.verdicts)


def chosen_probes(found: Assessment) -> tuple[Probe, ...]:
    """The questions put to a model: critical ones first, then the newest, at most twelve."""
    probes = [answer.probe for answer in found.answers]
    return tuple(sorted(probes, key=lambda probe: (not probe.critical, -probe.source_message))[:MOST_QUESTIONS])


def judging_estimate(model: str, found: Assessment) -> Estimate:
    """About what judging an event takes: each question is a call with the whole context and a short one that grades."""
    n = len(chosen_probes(found))
    before, after = found.event.before_tokens + ASKING_TOKENS, found.event.after_tokens + ASKING_TOKENS
    calls = [after] * (n + REPLICATES) + [before] * REPLICATES + [ASKING_TOKENS] * n
    return estimate(model, tuple(Wanted(0, tokens, OUT_TOKENS) for tokens in calls))


def judgement_key(session: Session, options: Mapping[str, Any], model: str) -> str:
    """The hash under which a judgement is kept: the session's version, what is judged, and by which model."""
    said = jsonio.dumps([session.pk, session.version, {name: options[name] for name in sorted(options)}, model])
    return hashlib.sha256(said.encode()).hexdigest()


def kept_judgement(key: str) -> Judgement | None:
    """What is kept under a key; None where nothing is."""
    kept = kept_answer(key, KIND)
    if kept is None:
        return None
    found: Any = jsonio.loads(kept)
    verdicts = tuple(Verdict(**verdict) for verdict in found.pop("verdicts"))
    real = found.pop("real")
    return Judgement(verdicts=verdicts, real=tuple(real) if real else None, **found)


def judge(
    session: Session,
    options: Mapping[str, Any],
    model: str,
    access: Access,
    *,
    on_progress: Callable[[int, int], None],
    cancel: Callable[[], bool],
) -> None:
    """Judge the event that ``options`` name and keep what comes of it.

    Raises CallFailed, BadParameter where there is no such event, UnreadableInput.
    """
    with selectors.load_texts(session) as texts:
        transcript = selectors.load_weighed(session.pk).transcript
        index = index_of(session)
        found, written = _assessed(session, options, index, texts, model)
        written = {**index_texts(index, transcript), **written}
        with Client(access, bucket=bucket(access), cancel=cancel) as client:
            made = _judged(client, model, found, index, _Lists(transcript, texts, written), on_progress)
    data = jsonio.dumps(asdict(made)).encode("utf-8", "replace")
    keep_answer(judgement_key(session, options, model), KIND, data, model, session_id=session.pk)


def index_texts(index: Index, transcript: Transcript) -> dict[str, str]:
    """What recorded compactions wrote, by message id."""
    return {transcript.messages[m].id: text for m, text in index.products.items()}


def _assessed(
    session: Session, options: Mapping[str, Any], index: Index, texts: Texts, model: str
) -> tuple[Assessment, Mapping[str, str]]:
    """The event, and the texts of what its replay inserted."""
    weighed = selectors.load_weighed(session.pk)
    asked = Question(own_probes(options["ask"], weighed.transcript, texts.of), frozenset(options["critical"]))
    event = options["event"]
    written: Mapping[str, str] = {}
    if options["recorded"]:
        all_found = assess_recorded(weighed, index, horizon=options["horizon"], asked=asked)
        n_events = len(all_found)
    else:
        made = replay(
            weighed, texts=texts, summarizer=options["summarizer"],
            writer=SummaryWriter(model) if options["summarizer"] == "anthropic" else None, **options["replay"],
        )  # fmt: skip
        all_found = assess_replay(made, index, horizon=options["horizon"], only=event, asked=asked)
        n_events, written = len(made.events), made.wording(index.sketch_of)
    found = next((one for one in all_found if one.number == event), None)
    if found is None:
        raise BadParameter(no_compaction(event, n_events))
    return found, written


@dataclass(frozen=True, slots=True)
class _Lists:
    """Message lists as a model reads them; ``written`` are the texts of inserted items by id."""

    transcript: Transcript
    texts: Texts
    written: Mapping[str, str]

    def said(self, items: Iterable[Item]) -> tuple[Said, ...]:
        return tuple(Said(place, str(item.message.role), self._contents(item)) for place, item in enumerate(items))

    def _contents(self, item: Item) -> tuple[Content, ...]:
        at = item.message.index
        if item.id in self.written or at < 0:
            return (Content(Kind.TEXT, text=self.written.get(item.id) or item.message.preview),)
        return contents_of(item, self.transcript.messages[at], self.texts)


def _judged(  # noqa: PLR0917
    client: Client, model: str, found: Assessment, index: Index, lists: _Lists, on_progress: Callable[[int, int], None]
) -> Judgement:
    after = lists.said(found.event.after)
    verdicts: list[Verdict] = []
    for probe in chosen_probes(found):
        said = answer_probe(client, model, after, probe.question)
        expected = probe.constraint.rule.text if probe.constraint else ", ".join(probe.keywords)
        if said.found:
            graded = grade(client, model, probe.question, expected, said.text)
            verdicts.append(Verdict(probe.question, probe.critical, said.text, graded.verdict, graded.reason))
        else:
            verdicts.append(Verdict(probe.question, probe.critical, NOT_FOUND, "wrong", "the context does not say"))
        on_progress(len(verdicts), 0)
    call = next((call for call in index.calls if call.message > found.before.newest), None)
    if call is None:
        return Judgement(model, tuple(verdicts), None, 0, 0, 0, 0, 0)
    tools = sorted({known.name for known in index.calls})
    from_after = next_action(client, model, after, tools, REPLICATES)
    on_progress(len(verdicts) + 1, 0)
    from_before = next_action(client, model, lists.said(found.event.before), tools, REPLICATES)
    on_progress(len(verdicts) + 2, 0)
    real = (call.name, call.key)
    return Judgement(
        model, tuple(verdicts), real, REPLICATES, _same(from_before, real), _same(from_after, real),
        sum(one.tool == real[0] for one in from_before), sum(one.tool == real[0] for one in from_after),
    )  # fmt: skip


def _same(actions: Sequence[Action], real: tuple[str, str]) -> int:
    """How many actions are the real one: the same tool on the same target, spacing aside, as far as it is known."""
    wanted = " ".join(real[1].split())
    known = TARGET_CHARS if len(real[1]) >= TARGET_CHARS else None
    return sum(one.tool == real[0] and " ".join(one.target.split())[:known] == wanted[:known] for one in actions)
