"""The views that a link can show: what each freezes, says and draws.  Adding one is one entry of ``VIEWS``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.http import QueryDict

from sessions.engine.base import registry
from sessions.engine.base.errors import BadParameter
from sessions.engine.quality.baseline import change_words
from sessions.engine.reports import report
from sessions.engine.sweeps.sweep import WINDOW
from sessions.models import Session
from sessions.pages.diff.compared import compared
from sessions.pages.diff.context import DiffView, build_diff
from sessions.pages.links import redaction
from sessions.pages.links.opened import Opened, stored
from sessions.pages.replay.context import build_replay
from sessions.pages.session import facts
from sessions.pages.session import state as session_state
from sessions.pages.session.chart import pressure_json
from sessions.pages.sweep.rows import policy_words, said_setting
from sessions.pages.ui import figures
from sessions.pages.ui.labelled import client_words
from sessions.runs import losses, replay_state, replays
from sessions.runs.overview import overview
from sessions.runs.ranges import gate_of
from sessions.runs.replay_state import ReplayState


@dataclass(frozen=True, slots=True)
class SharedView:
    """One view of a session as links show it.

    ``frozen`` makes the stored state of a query; ``claim`` a line that says what there is to see; ``options`` how it
    was replayed; ``context`` what the template needs of a link as somebody opened it; ``document`` the same as JSON,
    None where there is nothing to show.
    """

    shows: str
    template: str
    json_words: str
    frozen: Callable[[Mapping[str, str]], str]
    claim: Callable[[Session, str], str]
    options: Callable[[Opened], str]
    context: Callable[[Opened], dict[str, Any]]
    document: Callable[[Opened], dict[str, Any] | None]


def about(opened: Opened) -> str:
    """Title, format, model and length of a session, cleaned; beside one compaction alone only format and model.

    A title is the first prompt, which the compaction need not hold; lengths tell of what else there is.
    """
    session, choice = opened.session, opened.choice
    parts = [client_words(session), session.model or "model not recorded"]
    if opened.alone:
        return f"{', '.join(redaction.cleaned(part, choice) for part in parts)}."
    parts.append(f"{figures.plural(session.n_messages, 'message')}, {figures.plural(session.n_requests, 'request')}")
    title, *rest = (redaction.cleaned(part, choice) for part in (str(session), *parts))
    return f"{title.rstrip('. ')}. {', '.join(rest)}."


def headline(opened: Opened) -> str:
    """Why the session compacted, or not; nothing beside one compaction alone: it tells of the others."""
    return "" if opened.alone else str(redaction.cleaned(overview(opened.session.pk).headline, opened.choice))


def gaps(opened: Opened) -> tuple[str, ...]:
    """What of the session was not understood; that there is something, beside one compaction alone."""
    found = opened.weighed.transcript.gaps
    if opened.alone:
        return ("Parts of the session are not read",) if found else ()
    return tuple(redaction.cleaned(gap.text, opened.choice) for gap in found)


def _session_frozen(query: Mapping[str, str]) -> str:
    return session_state.query(session_state.SessionState(measure=session_state.parse(query).measure)).removeprefix("?")


def _session_context(opened: Opened) -> dict[str, Any]:
    view, choice = overview(opened.session.pk), opened.choice
    measure = session_state.parse(QueryDict(opened.link.state).dict()).measure
    shown = tuple(replace(fact, message=None) for fact in facts.facts(view, replays.recording(opened.session.pk).cost))
    return {
        "facts": redaction.cleaned(shown, choice),
        "opening": redaction.cleaned(facts.opening(view), choice),
        "view": {
            "shares": view.shares,
            "bytes_label": view.bytes_label,
            "tokens_label": view.tokens_label,
            "messages": range(opened.session.n_messages),
            "n_images": view.n_images,
            "weighed": {"transcript": {"requests": range(opened.session.n_requests)}},
        },
        "figure": redaction.cleaned_figure(pressure_json(view, measure), choice),
    }


def _session_document(opened: Opened) -> dict[str, Any]:
    """``ctxweb.inspect/1`` of this session alone; what the upload skipped is not the stranger's business."""
    session = opened.session
    found = report.session_document(overview(session.pk).weighed)
    return {"schema": "ctxweb.inspect/1", "format": session.format, "sessions": [found], "skipped": []}


def wrong(view: str, session: Session, query: Mapping[str, str]) -> dict[str, str]:
    """What a replay's address asks for that is not there, by field; a session's own address cannot be wrong."""
    return {} if view == "session" else dict(replay_state.parse(query, overview(session.pk).weighed).errors)


def _replay_frozen(query: Mapping[str, str]) -> str:
    return replay_state.query(replay_state.parse(query))


def _options(opened: Opened) -> str:
    """How it was replayed: "Claude Code auto-compact, percent override 30%"."""
    state, plain = opened.setting, ReplayState()
    words = [policy_words(state.policy), *(said_setting(state.policy, name, value) for name, value in state.params)]
    words += [said_setting(state.policy, WINDOW, state.window)] if state.window is not None else []
    words += ["along the recorded context"] if state.base != plain.base else []
    words += [f"counted with {registry.get('estimators', state.estimator).label}"] if state.estimator else []
    words += [f"summary {state.summarizer}"] if state.summarizer != plain.summarizer else []
    return ", ".join(words + ([f"summary calls fail: {state.fail}"] if state.fail else []))


def _replay_context(opened: Opened) -> dict[str, Any]:
    view = build_replay(opened.session, opened.state, opened.urls)
    figure = redaction.cleaned_figure(view.figure, opened.choice)
    return {"replay": redaction.cleaned(replace(view, figure=figure), opened.choice), "state": opened.state}


def _diff_context(opened: Opened) -> dict[str, Any]:
    view = build_diff(opened.session, opened.state, opened.urls)
    if opened.alone:  # what the replay says besides is of the other compactions
        own = replace(view, error="")
        view = replace(own, events=()) if isinstance(own, DiffView) else replace(own, quiet="")
    return {"diff": redaction.cleaned(view, opened.choice), "state": opened.state}


def _diff_document(opened: Opened) -> dict[str, Any] | None:
    """``ctxweb.diff/1`` of the compaction alone; None where there is none to show."""
    ran, state = replays.run(opened.session.pk, opened.senders), opened.senders
    try:
        if state.between is not None:
            found = report.between_document(ran.replay, *state.between)
        elif opened.compaction is not None:
            found = report.diff_document(ran.replay, opened.compaction.index)
        else:
            return None
    except BadParameter:
        return None
    return {**found, "warnings": []}  # they are of the whole replay


def verdicts(opened: Opened) -> tuple[tuple[int, str], ...]:
    """Why the recording compacted, a line for each of the first compactions; nothing beside one alone."""
    if opened.alone:
        return ()
    view = overview(opened.session.pk)
    return tuple((verdict.request, verdict.sentence) for verdict in view.verdicts[:MOST_VERDICTS])


MOST_VERDICTS = 5
NOBODY = "Nobody can reach the rest of your library from it."
CHART = "Anyone with the link sees this replay, every compaction of it and the messages' texts, redacted."
LISTS = "Anyone with the link sees the lists before and after this compaction, with their texts, redacted."
PRESSURE = "Anyone with the link sees this session's figures and its pressure chart."


VIEWS = {
    "session": SharedView(
        shows=f"{PRESSURE} {NOBODY}",
        template="sessions/links/_session.html",
        json_words="Session",
        frozen=_session_frozen,
        claim=lambda session, _: session_claim(session),
        options=lambda _: "",
        context=_session_context,
        document=_session_document,
    ),
    "replay": SharedView(
        shows=f"{CHART} {NOBODY}",
        template="sessions/replay/_view.html",
        json_words="Replay",
        frozen=_replay_frozen,
        claim=lambda session, state: replay_claim(session, stored(state)),
        options=_options,
        context=_replay_context,
        document=lambda opened: dict(replays.document(replays.run(opened.session.pk, opened.setting))),
    ),
    "diff": SharedView(
        shows=f"{LISTS} {NOBODY}",
        template="sessions/diff/_view.html",
        json_words="Compaction",
        frozen=_replay_frozen,
        claim=lambda session, state: diff_claim(session, stored(state)),
        options=_options,
        context=_diff_context,
        document=_diff_document,
    ),
}


SAME = "The same setting"
"""What a reply says that moved nothing."""


def session_claim(session: Session) -> str:
    """One line that says why a session is worth a look."""
    if session.is_hurt_by_overcount:
        return f"Message {session.worst_message:,} is overcounted {figures.factor(session.worst_overcount)}"
    n = session.n_compactions
    return f"{figures.plural(session.n_messages, 'message')}, {figures.plural(n, 'compaction')} recorded"


def replay_claim(session: Session, state: ReplayState) -> str:
    """A replay against the session as recorded: where it compacts, the change of the cost, what it loses."""
    ran, gate = replays.run(session.pk, state), gate_of(overview(session.pk).weighed, state, {})
    at = "" if gate is None or state.policy == "none" else f" at {gate.threshold:,} {gate.unit}"
    return f"{ran.replay.policy.label}{at}: {', '.join((_paid(session, ran), *_lost(session, ran)))}"


def _paid(session: Session, ran: replays.ReplayRun) -> str:
    """What the table says of the cost against its baseline; of the compactions where there is no price."""
    base = replays.recording(session.pk).totals
    if ran.totals.cost is not None and base.cost is not None:
        change = change_words(ran.totals, base)
        return f"{change} {'as' if change.startswith('the same') else 'than'} recorded"
    return f"{figures.plural(ran.totals.compactions, 'compaction')}, {base.compactions:,} recorded"


def diff_claim(session: Session, state: ReplayState) -> str:
    """The two lists that are shown in figures, which tell nothing of other compactions."""
    two = compared(session.pk, state)
    if two is None:
        return "No compaction with this setting"
    what = f"Compaction {two.event.index + 1}" if two.event else two.heading.title.capitalize()
    n = f"{len(two.before):,} → {figures.plural(len(two.after), 'message')}"
    return f"{what}: {n}, {two.tokens_before:,} → {two.tokens_after:,} tokens"


def against(session: Session, before: ReplayState, after: ReplayState) -> str:
    """What moving the threshold to another setting comes to, against the recording as beside it; "" where it stays."""
    weighed = overview(session.pk).weighed
    gates = [gate_of(weighed, state, {}) for state in (before, after)]
    if gates[0] is None or gates[1] is None or gates[0].threshold == gates[1].threshold:
        return ""
    ran = replays.run(session.pk, after)
    moved = f"At {gates[1].threshold:,} instead of {gates[0].threshold:,} {gates[1].unit}"
    return f"{moved}: {', '.join((_paid(session, ran), *_lost(session, ran)))}"


def _lost(session: Session, ran: replays.ReplayRun) -> tuple[str, ...]:
    """Rules lost in words; nothing where that is not at hand."""
    found = losses.of_replay(session, ran.replay)
    if found is None:
        return ()
    if found.n_open and not found.n_rules + found.n_gone:
        return ("losses depend on the summary",)
    return (figures.lost(found.n_rules, found.n_gone),)
