"""The plain reasons: manual, a threshold passed, a change to a smaller model (verdicts 3.11, 3.22, 3.23)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from sessions.engine.agents.agent import EVERY_REQUEST, Threshold
from sessions.engine.base.words import counted
from sessions.engine.transcript.recorded_events import ErrorKind, settings_in
from sessions.engine.weigh.calibration.context_windows import RECORDED
from sessions.engine.why.account import COUNTED, ESTIMATE, FILLED, PASSED, SETTING, UNLISTED, Explanation, Fact
from sessions.engine.why.case import COMPACTION, MISSING, Case
from sessions.engine.why.causes import (
    CAUSES,
    CHANGED,
    DOUBLE,
    FALLBACK,
    MANUAL,
    OWN_REASON,
    REACHED,
    SWITCH,
    WINDOW,
    Evidence,
)
from sessions.engine.why.causes_window import CLOSE_BY, fitting
from sessions.engine.why.ending import command_before
from sessions.engine.why.filled import LEAST
from sessions.engine.why.shared import SOON
from sessions.engine.why.windows import narrowed

CLOSE_TO, BLIND = 0.97, 0.8
"""An estimate this near to a threshold may be at it; one without any usage beside it is that much less exact."""
MOST_NOT_HELD = 4 / 3
"""An agent's own count, over what the file holds, that may still be of messages the file lacks."""
SET = re.compile(r"\w*(?:token|context|compact|condens|compress|summari)\w*(?:threshold|trigger|limit)", re.IGNORECASE)
"""What a file calls a threshold of its own, in tokens from ``LEAST`` on."""
UNTOLD = ("a trigger that is not known", SETTING)
TWICE_OVER = 1.2
"""Times a threshold from which an answer of the session shows that it is none, or was off."""
FAR_UNDER, UNRECORDED = 0.5, "a reason that is not recorded"
"""Share of a threshold under which its size explains no compaction; what may have started it then."""
USUAL = (0.7, 1.02)
"""Where agents whose trigger is not known compact, as shares of the window (policies 3)."""
ALIKE, AT_LEAST, NEARLY = 0.004, 3, 0.02
"""Compactions within ``ALIKE`` of one figure are one threshold, from so many on; one ``NEARLY`` there may be at it."""


def manual(case: Case) -> Iterable[Explanation]:
    """The recorder says so; where it says nothing, a compaction under every threshold while the agent was idle."""
    compaction, limit = case.compaction, case.threshold
    if compaction is None:
        return
    share = case.share(case.true)
    if compaction.trigger == "manual":
        row = case.row("The transcript records the trigger as manual")
        at = f", at {share}" if case.true >= case.window // 100 and case.window_is_known else ""
        asked = f"somebody typed {compaction.reason}" if compaction.reason.startswith("/") else "somebody asked for it"
        yield Explanation(MANUAL, Fact.WORDS, f"{asked}{at}", (row,))
        return
    if compaction.trigger is None and (command := command_before(case)):
        row = case.row(f"{command} was typed right before it")
        left = (SETTING,) if limit is not None and case.figure >= limit else ()
        because = f"somebody asked for it: {command} was typed"
        yield Explanation(MANUAL, Fact.WORDS | Fact.TIMING, because, (row,), left)
        return
    if case.assumed is None or limit is None:
        # Under the threshold of a window that only we assume is not under the agent's own.
        return
    if compaction.trigger is None and case.figure < limit and case.is_idle:
        text = f"No trigger is recorded; at {share} it was under the threshold of {limit:,}, and the agent was idle"
        row = case.row(text, limit, label="rule")
        if case.is_blind or case.agent.asked != EVERY_REQUEST:
            # An estimate does not show that no threshold was reached, nor being idle who asked between two turns.
            return
        because = "somebody asked for it: it came below the threshold while the agent was idle"
        yield Explanation(MANUAL, Fact.TIMING, because, (row,), (SETTING,))


def own_reason(case: Case) -> Iterable[Explanation]:
    """The client recorded what started it, in a word of its own (verdicts 3.41)."""
    compaction = case.compaction
    if compaction is None or not compaction.reason or compaction.trigger == "manual":
        return
    size = case.said or case.true
    of_window = f" of {case.window:,}" if case.window_is_known else ""
    stood = f"; {size:,}{of_window} tokens" if size else ""
    row = case.row(f'The transcript records its reason as "{compaction.reason}"')
    advice = "Start the agent anew: its process was short of memory." if "memory" in compaction.reason else None
    because = f'the agent records "{compaction.reason}" as its reason{stood}'
    yield Explanation(OWN_REASON, Fact.WORDS, because, (row,), advice=advice)


def smaller_model(case: Case) -> Iterable[Explanation]:
    """The context passed the threshold of a smaller model that had just been changed to (verdicts 3.11)."""
    if case.what == MISSING or (case.error and case.error.kind != ErrorKind.CONTEXT):
        return
    changed = narrowed(case.weighed, case.position)
    if changed and case.larger >= (case.threshold or case.window):
        before, now = changed
        row = case.row(f"The window recorded last is {now:,} tokens, that of the last answer was {before:,}", now)
        because = f"the window was changed from {before:,} to {now:,} tokens, with {case.true:,} in the context"
        yield Explanation(SWITCH, FILLED | Fact.CHANGE, because, (row,))
        return
    if not case.switched or case.larger < (case.threshold or case.window):
        return
    size = f"the threshold of {case.usual:,}" if case.usual else f"all {case.window:,} tokens"
    because = f"the model was changed to {case.model.name}, and the context had passed {size}"
    yield Explanation(SWITCH, FILLED | Fact.CHANGE, because, case.switch_rows, (SETTING,))


def changed_model(case: Case) -> Iterable[Explanation]:
    """Nobody is known to have asked; it came far under every threshold where the model was changed (verdicts 3.11)."""
    is_own = case.what == COMPACTION and case.trigger != "manual" and case.position < len(case.weighed.steps)
    if not is_own or case.last is None or case.larger >= FAR_UNDER * (case.threshold or case.window):
        return
    before, now = case.models
    if case.last.usage is None or not now:
        return
    row = case.row(f"{before} answered right before it, {now} right after it")
    because = f"it came as the model was changed from {before} to {now}"
    yield Explanation(CHANGED, Fact.CHANGE | Fact.TIMING, because, (row, *case.switch_rows), (UNRECORDED,))


def stated(case: Case) -> Iterable[Explanation]:
    """The trigger that the requests themselves give the provider (verdicts 3.22)."""
    at = case.weighed.transcript.trigger_at
    if at is None:
        yield from _set(case)
        return
    figure = case.said or case.larger
    rule = case.row(f"The request asks for a compaction at {at:,} tokens", at)
    if figure >= at:
        left = () if case.said is not None else (ESTIMATE,)
        because = f"{figure:,} tokens passed the threshold that the request gives, {at:,}"
        yield Explanation(REACHED, PASSED | Fact.WORDS, because, (rule,), left)


def _set(case: Case) -> Iterable[Explanation]:
    """The threshold in tokens that the file sets (verdicts 3.22)."""
    figure = case.said or case.larger
    known = [(at, name) for name, at in settings_in(case.weighed.transcript.events, SET) if LEAST <= at <= figure]
    if case.compaction is None or case.trigger == "manual" or case.added_up or case.is_spike or not known:
        return
    at, name = max(known)
    if case.n_over(at) > SOON or case.shared.n_at_once >= AT_LEAST:
        return  # it was off, or something else makes it come at every request
    rule = case.row(f"The file sets {name} to {at:,}", at)
    left = () if case.said is not None or case.usage is not None else (ESTIMATE,)
    because = f"{figure:,} tokens passed {name}, {at:,}, which the file sets"
    yield Explanation(REACHED, PASSED | Fact.WORDS, because, (rule,), left)


def reached(case: Case) -> Iterable[Explanation]:
    """What the trigger saw, and the true size, are at or over a threshold of this agent that was not reached before."""
    if case.switched or case.trigger == "manual" or case.weighed.transcript.trigger_at is not None:
        return
    if case.is_spike and case.usual is not None and (case.counted or 0) >= case.usual > case.true:
        because = f"the provider's own usage, {case.counted:,} tokens, passed {case.usual:,}"
        yield Explanation(REACHED, Fact.SIZE, because, (), (CAUSES[DOUBLE], UNLISTED))
        return
    figure, held = case.figure, case.true + case.beside.tokens
    met = [one for one in case.thresholds if figure >= one.tokens >= case.peak_before]
    close = BLIND if case.said is not None and case.is_blind else CLOSE_TO
    passed = [one for one in case.thresholds if held >= close * one.tokens]
    threshold = max((one for one in met if one in passed), default=None)
    yield from _repeated(case)
    if threshold is not None:
        left = []
        if threshold.tokens != case.usual and case.n_over(case.usual or 0) > SOON:
            # An older version's, or a setting that comes to the same: the file tells neither.
            left.append(SETTING)
        yield _normal(case, threshold, _doubted(case, left))
    elif passed:
        late = max(passed)
        n = case.n_over(late.tokens)
        if n or max(case.shared.runs.contexts[: case.position], default=0) > TWICE_OVER * late.tokens:
            left = [SETTING] if 0 < n <= SOON or not case.is_asked(late.tokens) else [SETTING, "a trigger that was off"]
            before = f"{counted(n, 'request')} before" if n else "long before"
            yield _normal(case, late, _doubted(case, left), before)
        else:
            because = f"{held:,} tokens came within 3% of the threshold of {late.tokens:,}"
            rows = case.beside_rows
            yield Explanation(REACHED, PASSED, because, rows, _doubted(case, [ESTIMATE]))
    elif own := _own_count(case):
        yield own
    elif case.assumed is None and case.thresholds and (found := fitting(case, figure, case.agent.windows, CLOSE_BY)):
        one, window = found
        because = f"{figure:,} tokens passed the threshold of a window of {window:,}; the model's is not known"
        fit = case.row(f"{one.name} is {one.tokens:,} there", one.tokens, label="rule")
        yield Explanation(FALLBACK, PASSED, because, (fit,), (SETTING, CAUSES[WINDOW]))
    elif (
        not case.thresholds and case.window_is_known and (case.shared.has_usage or (case.said is not None and case.run))
    ):
        # The agent's trigger is not known: where others compact.
        yield from _at_usual(case, case.said or case.true, ())


def _own_count(case: Case) -> Explanation | None:
    """The agent started it, and its own figure passed a threshold that what the file holds did not (verdicts 3.22)."""
    compaction, said = case.compaction, case.said
    if compaction is None or compaction.trigger != "auto" or said is None:
        return None
    threshold = max((one for one in case.thresholds if one.tokens <= said), default=None)
    if threshold is None or not (compaction.unseen or said <= MOST_NOT_HELD * case.true):
        return None
    because = f"the agent counted {said:,} tokens, which passed {threshold.name}, {threshold.tokens:,}"
    text = f"The file holds {case.true:,} of them"
    held = case.row(text, case.true, label=case.label.value)
    left = _doubted(case, [] if compaction.unseen else [SETTING])
    return Explanation(REACHED, COUNTED, because, (case.saw_row, held), left)


def _repeated(case: Case) -> Iterable[Explanation]:
    """Three automatic compactions or more at one figure are a threshold, whoever set it (verdicts 3.22)."""
    figure = case.said or case.saw
    if figure is None or case.compaction is None:
        return
    known = case.shared.figures
    middle = known[len(known) // 2] if known else 0
    n, least, spread = max(alike(known, figure), alike(known, middle))
    if n < AT_LEAST or n < 0.6 * len(known):
        return
    row = case.row(f"{n} of {len(known)} compactions came within {spread:,} tokens of {least:,}", least)
    if not (1 - ALIKE) * least <= figure <= (1 + ALIKE) * (least + spread):
        if (1 - NEARLY) * least <= figure < least:
            because = f"{figure:,} tokens are {100 * (1 - figure / least):.1f}% under where {n} others came, {least:,}"
            yield Explanation(REACHED, Fact.SIZE, because, (row,), (SETTING, "another trigger"))
        return
    near = next((one for one in case.thresholds if 0 <= one.tokens - least <= 0.02 * one.tokens), None)
    whose = f", a little under {near.name}, {near.tokens:,}" if near else ""
    because = f"{n} compactions came within {spread:,} tokens of {least:,}: a threshold that was set{whose}"
    yield Explanation(REACHED, Fact.SIZE, because, (row,), ("a count that fell together",))


def alike(known: Sequence[int], figure: int) -> tuple[int, int, int]:
    """How many figures lie about one, the least of them, and their spread."""
    first, last = bisect_left(known, (1 - ALIKE) * figure), bisect_right(known, (1 + ALIKE) * figure)
    return (last - first, known[first], known[last - 1] - known[first]) if last > first else (0, 0, 0)


def _doubted(case: Case, left: list[str]) -> tuple[str, ...]:
    """What is left open, another window with it where this one is only assumed."""
    return tuple(left if case.window_is_known else [*left, CAUSES[WINDOW]])


def _normal(case: Case, threshold: Threshold, left: tuple[str, ...], late: str = "") -> Explanation:
    """The threshold was passed: by what the recorder wrote down, where it wrote it, else by what we know of it."""
    said = case.said or 0
    figure = next((n for n in (said, case.saw or 0) if n >= threshold.tokens), case.figure)
    text = f"{threshold.name} is {threshold.tokens:,} tokens at a window of {case.window:,}"
    rows = (*case.beside_rows, case.row(text, threshold.tokens, label="rule"), *_long_row(case))
    usable = f" ({case.own_window:,} of it usable)" if case.own_window != case.window else ""
    earlier = case.shared.windows_until[case.position]
    usable += f", recorded as {case.agent.own_window(earlier):,} before" if earlier > TWICE_OVER * case.window else ""
    known = f", at {'a' if case.window_is_known else 'an assumed'} window of {case.window:,}{usable}"
    if late:
        because = f"the context had passed the threshold of {threshold.tokens:,} tokens {late}{known}"
        return Explanation(REACHED, PASSED, because, rows, left)
    kept, guessed = case.beside
    size = f"{figure:,} tokens"
    if kept and figure == case.figure:
        whose = "that the file lacks" if guessed else "of earlier turns"
        size = f"{'about ' if guessed else ''}{size}, {kept:,} of them reasoning {whose},"
        left = (*left, ESTIMATE) if figure - guessed < threshold.tokens else left
    because = f"{size} passed {threshold.name}, {threshold.tokens:,}{known}"
    return Explanation(REACHED, PASSED, because, rows, left)


def _long_row(case: Case) -> tuple[Evidence, ...]:
    """What share it was of the model's long window, which nothing in the transcript shows to be asked for."""
    long = case.model.long_window
    if not long or case.window >= long or case.weighed.window_source != "model":
        return ()
    text = f"With the window of {long:,} (not recorded): {100 * case.true / long:.0f}%"
    return (case.row(text, long, label="rule"),)


def usual_outside(case: Case) -> Iterable[Explanation]:
    """Where others compact: of a list that is not in the file, where the agent wrote down its count and its window."""
    transcript = case.weighed.transcript
    if case.said is None or transcript.window != case.window or case.thresholds or case.trigger == "manual":
        return
    yield from _at_usual(case, case.said, (case.saw_row,))


def _at_usual(case: Case, figure: int, rows: tuple[Evidence, ...]) -> Iterable[Explanation]:
    if USUAL[0] * case.window <= figure <= USUAL[1] * case.window:
        known = f", recorded as {case.own_window:,}" if case.held.source == RECORDED and figure > case.window else ""
        because = f"the context had reached {case.share(figure)}{known}"
        yield Explanation(REACHED, Fact.SIZE, because, rows, UNTOLD)
