"""The views that a link can show: what each freezes, says and draws.  Adding one is one entry of ``VIEWS``."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.http import QueryDict
from django.urls import reverse

from sessions.engine import report
from sessions.pages.diff.context import build_diff, build_run
from sessions.pages.links import redaction
from sessions.pages.replay.context import build_replay
from sessions.pages.session import facts
from sessions.pages.session import state as session_state
from sessions.pages.session.chart import pressure_json
from sessions.pages.ui import figures
from sessions.pages.ui.addresses import Urls
from sessions.pages.ui.labelled import format_label
from sessions.runs import replay_state, replays
from sessions.runs.overview import overview

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sessions.engine.redact import Choice
    from sessions.models import Session
    from sessions.runs.replay_state import ReplayState


@dataclass(frozen=True, slots=True)
class SharedView:
    """One view of a session as links show it.

    ``frozen`` makes the stored state of a query; ``claim`` a line that says what there is to see; ``options`` how it
    was replayed; ``context`` what the template needs, given what the stranger looks at, the link's own path
    and what to take out;
    ``document`` the same as JSON.
    """

    shows: str
    template: str
    json_words: str
    frozen: Callable[[Mapping[str, str]], str]
    claim: Callable[[Session, str], str]
    options: Callable[[str], str]
    context: Callable[[Session, str, Mapping[str, str], str, Choice], dict[str, Any]]
    document: Callable[[Session, str], dict[str, Any]]
    address: Callable[[Session], str]


def about(session: Session, choice: Choice) -> str:
    """Title, format, model and length of a session, cleaned."""
    lengths = f"{session.n_messages:,} messages, {session.n_requests:,} requests"
    parts = [format_label(session.format), session.model or "model not recorded", lengths]
    title, *rest = (redaction.cleaned(part, choice) for part in (str(session), *parts))
    return f"{title}. {', '.join(rest)}."


def _stored(state: str) -> ReplayState:
    return replay_state.parse(QueryDict(state).dict())


# ---- session


def _session_frozen(query: Mapping[str, str]) -> str:
    return session_state.query(session_state.SessionState(measure=session_state.parse(query).measure)).removeprefix("?")


def _session_context(
    session: Session, state: str, looking: Mapping[str, str], base: str, choice: Choice
) -> dict[str, Any]:
    view = overview(session.pk)
    measure = session_state.parse(QueryDict(state).dict()).measure
    shown = tuple(replace(fact, message=None) for fact in facts.facts(view, replays.spent(session.pk)))
    return {
        "facts": redaction.cleaned(shown, choice),
        "opening": redaction.cleaned(facts.opening(view), choice),
        "headline": redaction.cleaned(view.headline, choice),
        "view": {"shares": view.shares, "bytes_label": view.bytes_label, "tokens_label": view.tokens_label},
        "figure": redaction.cleaned_figure(pressure_json(view, measure), choice),
    }


def _session_document(session: Session, state: str) -> dict[str, Any]:
    """``ctxweb.inspect/1`` of this session alone; what the upload skipped is not the stranger's business."""
    found = report.session_document(overview(session.pk).weighed)
    return {"schema": "ctxweb.inspect/1", "format": session.format, "sessions": [found], "skipped": []}


# ---- replay and diff


def _replay_frozen(query: Mapping[str, str]) -> str:
    return replay_state.query(replay_state.parse(query))


def _options(state: str) -> str:
    return shlex.join(replay_state.arguments(_stored(state)))


def _looked(state: str, looking: Mapping[str, str]) -> ReplayState:
    return replay_state.frozen(_stored(state), replay_state.parse(looking))


def _urls(base: str) -> Urls:
    """``base`` is the link's replay path; its diff stands beside it."""
    return Urls(replay=base, diff=f"{base.removesuffix('replay/')}diff/", frozen=True)


def _replay_claim(session: Session, state: str) -> str:
    ran = replays.run(session.pk, _stored(state))
    n = len(ran.replay.events)
    peak = max((tokens for tokens in ran.replay.context_tokens if tokens is not None), default=0)
    found = f"{n:,} compaction{'' if n == 1 else 's'}, {session.n_compactions:,} recorded"
    return f"{ran.replay.policy.label}: {found}, peak {figures.count(peak)} tokens"


def _replay_context(
    session: Session, state: str, looking: Mapping[str, str], base: str, choice: Choice
) -> dict[str, Any]:
    looked = _looked(state, looking)
    view = build_replay(session, looked, _urls(base))
    figure = redaction.cleaned_figure(view.figure, choice)
    return {"replay": redaction.cleaned(replace(view, figure=figure), choice), "state": looked}


def _replay_document(session: Session, state: str) -> dict[str, Any]:
    document: dict[str, Any] = replays.document(replays.run(session.pk, _stored(state)))
    return document


def _diff_claim(session: Session, state: str) -> str:
    stored = _stored(state)
    events = replays.run(session.pk, stored).replay.events
    if not events:
        return _replay_claim(session, state)
    event = events[min(stored.event or 0, len(events) - 1)]
    n = f"{event.n_before:,} → {event.n_after:,} messages"
    return f"Event {event.index}: {n}, {event.before_tokens:,} → {event.after_tokens:,} tokens"


def _diff_context(
    session: Session, state: str, looking: Mapping[str, str], base: str, choice: Choice
) -> dict[str, Any]:
    looked = _looked(state, looking)
    return {"diff": redaction.cleaned(build_diff(session, looked, _urls(base)), choice), "state": looked}


def rows_context(session: Session, state: str, looking: Mapping[str, str], base: str, choice: Choice) -> dict[str, Any]:
    """One unfolded run of the diff; no lines where none is asked for."""
    return {"lines": redaction.cleaned(build_run(session, _looked(state, looking), _urls(base)), choice)}


NOBODY = "Nobody can reach the rest of your library from it."
CHART = "Anyone with the link sees this chart, these settings and every compaction, as they are now."
LISTS = "Anyone with the link sees the lists before and after this compaction, and its replay."
PRESSURE = "Anyone with the link sees this session's figures and its pressure chart."


def _at(name: str) -> Callable[[Session], str]:
    return lambda session: reverse(f"sessions:{name}", args=[session.pk])


VIEWS = {
    "session": SharedView(
        shows=f"{PRESSURE} {NOBODY}",
        template="sessions/links/_session.html",
        json_words="Session",
        frozen=_session_frozen,
        claim=lambda session, _: redaction.session_claim(session),
        options=lambda _: "",
        context=_session_context,
        document=_session_document,
        address=_at("session"),
    ),
    "replay": SharedView(
        shows=f"{CHART} {NOBODY}",
        template="sessions/replay/_view.html",
        json_words="Replay",
        frozen=_replay_frozen,
        claim=_replay_claim,
        options=_options,
        context=_replay_context,
        document=_replay_document,
        address=_at("replay"),
    ),
    "diff": SharedView(
        shows=f"{LISTS} {NOBODY}",
        template="sessions/diff/_view.html",
        json_words="Replay",
        frozen=_replay_frozen,
        claim=_diff_claim,
        options=_options,
        context=_diff_context,
        document=_replay_document,
        address=_at("diff"),
    ),
}
