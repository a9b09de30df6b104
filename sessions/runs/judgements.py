"""What a model as judge says of the chosen event, or what asking it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings

from sessions.runs import replays
from sessions.services import summary_jobs
from sessions.services.judging import chosen_probes, judgement_key, judging_estimate, kept_judgement

if TYPE_CHECKING:
    from sessions.engine.quality.assess import Assessment
    from sessions.models import Session
    from sessions.runs.judged import Judging
    from sessions.services.judging import Judgement
    from sessions.services.model_summaries import Estimate


@dataclass(frozen=True, slots=True)
class JudgeView:
    """``found`` is what is kept, else ``estimate`` what asking takes; ``job`` is one under way, "" where there is none.

    Of ``n_questions`` some are graded correct, partial and wrong, which are not added up either.
    """

    found: Judgement | None
    estimate: Estimate
    job: str
    n_questions: int
    n_correct: int
    n_partial: int
    n_wrong: int


def judging_options(wanted: Judging, found: Assessment, *, recorded: bool) -> dict[str, Any]:
    """What is judged, as JSON: the event and everything of the address that changes what is asked."""
    return {
        "recorded": recorded,
        "event": found.number,
        "horizon": wanted.horizon,
        "ask": list(wanted.ask),
        "critical": sorted(wanted.kinds),
        "replay": {} if recorded else replays.options(wanted.replay),
        "summarizer": "" if recorded else wanted.replay.summarizer,
    }


def build_judging(session: Session, wanted: Judging, found: Assessment, *, recorded: bool) -> JudgeView:
    """What is kept of the event's judgement, and what one takes: two queries."""
    model = settings.ANTHROPIC_MODEL
    kept = kept_judgement(judgement_key(session, judging_options(wanted, found, recorded=recorded), model))
    job = summary_jobs.running(session)
    return JudgeView(
        kept,
        judging_estimate(model, found),
        str(job.pk) if job else "",
        len(kept.verdicts) if kept else len(chosen_probes(found)),
        *(kept.count(verdict) if kept else 0 for verdict in ("correct", "partial", "wrong")),
    )
