"""A model as judge of one event: it answers probes from the context after it, and says what it would do next.

What a judgement says is kept as a blob under the hash of what was judged, so that a page only looks it up.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

from sessions import selectors
from sessions.adapters.anthropic_client import Access, Client
from sessions.adapters.anthropic_judge import NOT_FOUND, Action, answer_probe, grade, next_action
from sessions.adapters.anthropic_summaries import Said
from sessions.engine.base.errors import BadParameter
from sessions.engine.base.words import no_compaction
from sessions.engine.policies.policy import Item
from sessions.engine.quality.assess import Assessment, assess_recorded, assess_replay
from sessions.engine.quality.calls import TARGET_CHARS
from sessions.engine.quality.index import Index
from sessions.engine.quality.probes import Probe, Question, own_probes
from sessions.engine.reading import jsonio
from sessions.engine.reading.texts import Texts
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Content, Kind, Transcript
from sessions.models import Session
from sessions.services import model_summaries
from sessions.services.indexed import index_of
from sessions.services.model_access import bucket

KIND = "judgement"
REPLICATES = 3
"""How often the next action is asked for, from the context before and from the one after: answers differ by chance."""
MAX_QUESTIONS = 12
Progress = Callable[[int, int], None]
OUT_TOKENS, ASKING_TOKENS = 150, 400
"""About what an answer weighs, and what stands around a conversation."""


class JudgingOptions(TypedDict):
    """What is judged, as JSON: event number ``event`` as ``recorded``, else as replayed (``replay``, ``summarizer``).

    ``horizon`` as ``assess_replay`` takes it; ``ask`` are a user's own probes, ``critical`` the kinds of generated
    probes whose failure is never accepted.
    """

    recorded: bool
    event: int
    horizon: int | None
    ask: list[str]
    critical: list[str]
    replay: dict[str, Any]
    summarizer: str


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """One question: what the model answered from the context alone, and how that was graded."""

    question: str
    critical: bool
    answer: str
    grade: str
    reason: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a model made of one event.

    ``actual_call`` is the (tool, target) that the agent called next, None where there was none.  Of ``n_asked`` answers
    ``n_same_call_before`` and ``n_same_call_after`` name that call from the context before and after the event,
    ``n_same_tool_before`` and ``n_same_tool_after`` at least its tool.
    """

    model: str
    answers: tuple[GradedAnswer, ...]
    actual_call: tuple[str, str] | None
    n_asked: int
    n_same_call_before: int
    n_same_call_after: int
    n_same_tool_before: int
    n_same_tool_after: int

    def count(self, grade: str) -> int:
        return sum(answer.grade == grade for answer in self.answers)


def chosen_probes(assessment: Assessment) -> tuple[Probe, ...]:
    """The questions put to a model: critical ones first, then the newest, at most twelve."""
    probes = [answer.probe for answer in assessment.answers]
    return tuple(sorted(probes, key=lambda probe: (not probe.critical, -probe.source_message))[:MAX_QUESTIONS])


def judging_estimate(model: str, assessment: Assessment) -> model_summaries.Estimate:
    """About what judging an event takes: each question is a call with the whole context and a short one that grades."""
    n = len(chosen_probes(assessment))
    before, after = assessment.event.before_tokens + ASKING_TOKENS, assessment.event.after_tokens + ASKING_TOKENS
    calls = [after] * (n + REPLICATES) + [before] * REPLICATES + [ASKING_TOKENS] * n
    return model_summaries.estimate(model, tuple(model_summaries.Wanted(0, tokens, OUT_TOKENS) for tokens in calls))


def judgement_key(session: Session, options: JudgingOptions, model: str) -> str:
    """The hash under which a judgement is kept: its fields, the session's version, what is judged, by which model."""
    fields = [*Judgement.__dataclass_fields__, *GradedAnswer.__dataclass_fields__]
    judged = jsonio.dumps([fields, session.pk, session.version, dict(sorted(options.items())), model])
    return hashlib.sha256(judged.encode()).hexdigest()


def kept_judgement(key: str) -> Judgement | None:
    """What is kept under a key; None where nothing is."""
    kept = model_summaries.kept_answer(key, KIND)
    if kept is None:
        return None
    values: dict[str, Any] = jsonio.loads(kept)
    values["answers"] = tuple(GradedAnswer(**answer) for answer in values["answers"])
    values["actual_call"] = tuple(values["actual_call"]) if values["actual_call"] else None
    return Judgement(**values)


def judge(
    session: Session,
    options: JudgingOptions,
    model: str,
    access: Access,
    *,
    on_progress: Progress,
    cancel: Callable[[], bool],
) -> None:
    """Judge the event of ``options`` and keep that; raises CallFailed, BadParameter for no event, UnreadableInput."""
    with selectors.load_texts(session) as texts:
        transcript = selectors.load_weighed(session.pk).transcript
        index = index_of(session)
        assessment, written = _assessed(session, options, index, texts, model)
        recorded = {transcript.messages[m].id: text for m, text in index.products.items()}
        lists = _Lists(transcript, texts, {**recorded, **written})
        with Client(access, bucket=bucket(access), cancel=cancel) as client:
            judgement = _judged(client, model, assessment, index, lists, on_progress)
    data = jsonio.dumps(asdict(judgement)).encode("utf-8", "replace")
    model_summaries.keep_answer(judgement_key(session, options, model), KIND, data, model, session_id=session.pk)


def _assessed(
    session: Session, options: JudgingOptions, index: Index, texts: Texts, model: str
) -> tuple[Assessment, Mapping[str, str]]:
    """The event, and the texts of what its replay inserted."""
    weighed = selectors.load_weighed(session.pk)
    asked = Question(own_probes(options["ask"], weighed.transcript, texts.of), frozenset(options["critical"]))
    event = options["event"]
    written: Mapping[str, str] = {}
    if options["recorded"]:
        assessments = tuple(assess_recorded(weighed, index, horizon=options["horizon"], asked=asked))
        n_events = len(assessments)
    else:
        writer = model_summaries.SummaryWriter(model) if options["summarizer"] == "anthropic" else None
        replayed = replay(weighed, texts=texts, summarizer=options["summarizer"], writer=writer, **options["replay"])
        assessments = tuple(assess_replay(replayed, index, horizon=options["horizon"], only=event, asked=asked))
        n_events, written = len(replayed.events), replayed.wording(index.sketch_of)
    assessment = next((candidate for candidate in assessments if candidate.number == event), None)
    if assessment is None:
        raise BadParameter(no_compaction(event, n_events))
    return assessment, written


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
        return model_summaries.contents_of(item, self.transcript.messages[at], self.texts)


def _judged(  # noqa: PLR0917
    client: Client, model: str, assessment: Assessment, index: Index, lists: _Lists, on_progress: Progress
) -> Judgement:
    after = lists.said(assessment.event.after)
    answers: list[GradedAnswer] = []
    for probe in chosen_probes(assessment):
        answer = answer_probe(client, model, after, probe.question)
        expected = probe.constraint.rule.text if probe.constraint else ", ".join(probe.keywords)
        if answer.found:
            graded = grade(client, model, probe.question, expected, answer.text)
            answers.append(GradedAnswer(probe.question, probe.critical, answer.text, graded.verdict, graded.reason))
        else:
            answers.append(GradedAnswer(probe.question, probe.critical, NOT_FOUND, "wrong", "the context does not say"))
        on_progress(len(answers), 0)
    call = next((call for call in index.calls if call.message > assessment.before.newest), None)
    if call is None:
        return Judgement(model, tuple(answers), None, 0, 0, 0, 0, 0)
    tools = sorted({called.name for called in index.calls})
    from_after = next_action(client, model, after, tools, REPLICATES)
    on_progress(len(answers) + 1, 0)
    from_before = next_action(client, model, lists.said(assessment.event.before), tools, REPLICATES)
    on_progress(len(answers) + 2, 0)
    actual_call = (call.name, call.key)
    return Judgement(
        model, tuple(answers), actual_call, REPLICATES,
        _n_same_call(from_before, actual_call), _n_same_call(from_after, actual_call),
        sum(action.tool == call.name for action in from_before), sum(action.tool == call.name for action in from_after),
    )  # fmt: skip


def _n_same_call(actions: Sequence[Action], actual_call: tuple[str, str]) -> int:
    """How many actions are the actual call: its tool on its target, spacing aside, as far as the target is known."""
    tool, actual_target = actual_call
    n_known = TARGET_CHARS if len(actual_target) >= TARGET_CHARS else None
    target = " ".join(actual_target.split())[:n_known]
    return sum(action.tool == tool and " ".join(action.target.split())[:n_known] == target for action in actions)
