"""The account of a point in four steps, and the most useful thing to say where it tells no cause (verdicts 1, 3.26)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sessions.engine.base.words import counted
from sessions.engine.transcript.recorded_events import CUT_OFF, OWN_COUNT, ErrorKind, EventKind
from sessions.engine.transcript.types import Label, ProviderError, Role
from sessions.engine.weigh.calibration.context_windows import RECORDED, REFUSAL
from sessions.engine.why.account import CONTRADICTED, FACTS, RIVALS, Explanation
from sessions.engine.why.case import COMPACTION, Case
from sessions.engine.why.causes import CAUSES, SUMMARY_LONG, Evidence
from sessions.engine.why.ending import in_vain
from sessions.engine.why.filled import LEAST, PLAIN, brought, heaviest_words, newest_answer, said_row
from sessions.engine.why.runs import source_of
from sessions.engine.why.said import meaning_of, over_limit, quoted, shortened, unit_of
from sessions.engine.why.shared import withheld
from sessions.engine.why.sizes import WRONGLY, figure_of, left_after, size_of

HAPPENED, KNOWN, EXPLAINED, REMAINS = "happened", "known", "explained", "remains"
STEPS = {
    HAPPENED: "What happened",
    KNOWN: "What the agent knew",
    EXPLAINED: "What each explanation says",
    REMAINS: "What remains",
}
LARGE = 0.2
"""Share of the context from which one message or one source is named."""
CAME = 0.1
"""The same of what one tool's results since the last answer are."""
WITHOUT = "left out; the file holds no summary of them"
NONE_BEFORE = "no compaction is recorded before it"
NO_FIGURE = "the file holds no figure of it"
GROWN = 1.05
"""Share of the request before up to which what came since is no figure of its own."""
SERVERS = "server_log"
"""The format of logs in which a server tells its own window."""
WHOLE_REQUESTS = "wire_capture"
"""The format whose files hold all that was sent."""
FIGURE = re.compile(r"\d[\d,]*\d")
HELD = 0.7
"""Share of the tokens that a refusal names from which the file holds what was refused."""
THOUGHT = 0.1
"""Share of the window from which the reasoning of replies may be what a refusal counts and a usage does not."""
FAR, FAR_BY_TABLE = 0.8, 0.4
"""Share of a recorded window, and of one that a table names, under which a refusal shows that it was not the limit."""
LITTLE, LITTLE_TOKENS, POOR, POOR_TOKENS = 0.05, 2_000, 0.005, 500
"""Share of its context, and tokens, up to which what a compaction left is next to nothing; the same of a summary."""
MOST = 8
"""Explanations that are told, the best first."""


def account_of(
    case: Case, found: Sequence[Explanation], lead: Explanation, left: Sequence[str]
) -> tuple[Evidence, ...]:
    """The four steps as rows, each with the step it belongs to; ``found`` are the explanations, the best first."""
    beside = f"; not excluded: {', '.join(left)}" if left else ""
    steps = {
        HAPPENED: _happened(case),
        KNOWN: _known(case),
        EXPLAINED: _explained(case, found),
        REMAINS: [case.row(f"{_first(CAUSES[lead.cause])}{beside}", label="")],
    }
    return tuple(replace(row, step=step) for step, rows in steps.items() for row in rows)


def _happened(case: Case) -> Iterable[Evidence]:
    """Every event recorded there, its own words quoted."""
    for error in case.refused if case.error is None else (case.error,):
        what = "A compaction failed" if error.of_compaction else "A request was refused"
        times = f" {error.count:,} times" if error.count > 1 else ""
        yield case.row(f"{what}{times}: {quoted(error) or 'no words are recorded'}", error.count, "tries")
    if case.compaction is not None:
        by = {"auto": "by itself", "manual": "by command"}.get(case.trigger or "", "who asked is not recorded")
        yield case.row(f"The agent compacted, {by}")
    elif case.error is None:
        yield case.row("No compaction is recorded here")
    yield from case.switch_rows
    if case.previous is not None:
        n = len(case.run)
        text = f"The compaction before came {counted(n, 'request')} earlier"
        yield Evidence(text, case.previous.request, None, n, "requests", "recorded")
    if case.after is not None:
        yield case.row(f"After it the context held {case.after:,} tokens", case.after, label="measured")


def _known(case: Case) -> Iterable[Evidence]:
    """Its rule, the figure that it would have used, its window by rank, the limit that a refusal names."""
    if case.weighed.transcript.trigger_at is not None:
        yield case.row("The request gives its own trigger", case.weighed.transcript.trigger_at)
    for one in case.thresholds:
        yield case.row(f"{one.name}: {one.tokens:,} tokens", one.tokens, label="rule")
    if not case.thresholds:
        yield case.row("The agent's trigger is not known", label="")
    yield case.row(_first(case.window_words), case.window, label="recorded" if case.window_is_known else "")
    yield from case.size_rows
    yield from said_row(case)


def _explained(case: Case, found: Sequence[Explanation]) -> Iterable[Evidence]:
    """What each predicts of this file, what of the record it accounts for, and what contradicts it."""
    for one in found[:MOST]:
        accounts = ", ".join(words for fact, words in FACTS.items() if fact & one.accounts == fact)
        out = f"Contradicted: {'; '.join(one.against)}" if one.against else f"Accounts for {accounts}"
        yield case.row(f"{_first(CAUSES[one.cause])}: {one.because}. {out}", label="")
    for rival in RIVALS.get(found[0].cause, ()) if found else ():
        out = CONTRADICTED[rival](case)
        yield case.row(f"{_first(CAUSES[rival])}: {f'contradicted, {out}' if out else 'not excluded'}", label="")


def _first(words: str) -> str:
    return words[0].upper() + words[1:]


ONCE = "no request was answered since the compaction before"


def most_useful(case: Case, contradicted: Iterable[Explanation]) -> str:
    """Its own words, the limit and what was over it, what speaks against its words, the largest growth, the figure."""
    error = case.error or next(iter(case.refused[-1:]), None)
    words = quoted(error) if error is not None and not over_limit(error) else ""
    against = next((one.against[0] for one in contradicted if one.cause == SUMMARY_LONG), "")
    if against:
        figures = [f"{against}: why it did not fit is not recorded"]
    elif case.error is not None:
        figures = _refused(case, case.error, words)
    elif begins := _begins(case):
        return begins
    else:
        figures = [figure_of(case)]
    told = words or _announced(case), *figures, _left_out(case), _growth(case)
    return "; ".join(filter(None, told)) or NO_FIGURE


def _begins(case: Case) -> str:
    """What of a compaction a file holds that begins with what it left, in a clause; else ""."""
    compaction = case.compaction
    if (
        compaction is None
        or not compaction.outside
        or case.position
        or case.previous
        or case.said
        or compaction.tokens_before
    ):
        return ""
    made = [message for message in case.weighed.transcript.messages if message.compaction == case.number]
    replies = sum(message.role is Role.ASSISTANT for message in made)
    none = "" if replies else ", none of them a reply"
    after = case.weighed.recorded.context[0] if case.weighed.steps else 0
    size = f"; the first request after it had {after:,} tokens" if after >= LEAST else ""
    return (
        f"the file begins with the {counted(len(made), 'message')} that it left{none}; what it took is not there{size}"
    )


def _left_out(case: Case) -> str:
    """How many messages a compaction took out of which the file holds no summary, in a clause; else ""."""
    n = len(case.gone) if case.compaction is not None and case.compaction.message is None else 0
    were = "was" if n == 1 else "were"
    return f"{counted(n, 'message')} {were} {WITHOUT}" if n else ""


def _announced(case: Case) -> str:
    """What the agent said when it began to compact, in a clause; else ""."""
    events = case.weighed.transcript.events if case.what == COMPACTION else ()
    begun = (e.words for e in events if e.kind == EventKind.COMPACTION_STARTED and e.request == case.request)
    said = next(filter(None, begun), "")
    return f'the agent says "{shortened(said)}"' if said else ""


def with_figures(case: Case, because: str) -> str:
    """A clause about a refusal after the figures that it lacks: sent and allowed, else what was answered before."""
    error = case.error
    figures = over_limit(error) or newest_before(case) if error is not None and error.kind != ErrorKind.BODY else ""
    if not all(figure in because for figure in FIGURE.findall(figures)):
        because = f"{figures}; {because}"
    because = "; ".join(filter(None, (_open_call(case), stated_left(case), because)))
    size, none = size_of(case, because), _none_before(case, because)
    left = "" if WITHOUT in because else _left_out(case)
    clauses = [because, _once(case, because), size, left_after(case, because + size), left, _left(case, because + size)]
    clauses += [_unnamed(case, because + size), _came(case, because), _fell(case), _shrunk(case)]
    return "; ".join(filter(None, (*clauses, none, in_vain(case))))


def _unnamed(case: Case, told: str) -> str:
    """That neither a refusal for its size nor the file names a limit, in a clause; else ""."""
    error = case.error
    if error is None or error.kind != ErrorKind.CONTEXT or error.of_compaction or error.tokens or error.limit:
        return ""
    if case.held.source in {RECORDED, REFUSAL} or "limit" in told or "window" in told or FIGURE.search(error.words):
        return ""
    return "no limit is recorded"


def _came(case: Case, because: str) -> str:
    """The tool whose results, a good part of the context, came since the last answer before a refusal; else ""."""
    error, sums, counts = case.error, Counter[str](), Counter[str]()
    if error is None or not case.run or error.kind not in (ErrorKind.CONTEXT, ErrorKind.COMPACTION, EventKind.ERROR):
        return ""
    for i in case.tail:
        if case.weighed.transcript.messages[i].result_ids():
            name = source_of(case.weighed.transcript.messages[i], case.shared.tool_of)
            sums[name] += case.weighed.tokens[i]
            counts[name] += 1
    name, tokens = max(sums.items(), key=lambda one: one[1], default=("", 0))
    if name in PLAIN or name in because or tokens < max(LEAST, CAME * case.true):
        return ""
    return f"{counted(counts[name], 'result')} of {name}, about {tokens:,} tokens, came right before it"


def _fell(case: Case) -> str:
    """That the next request had half or less, though the compaction failed, in a clause; else ""."""
    weighed, k = case.weighed, case.position
    if case.error is None or not case.error.of_compaction or case.usage is None or k >= len(weighed.steps):
        return ""
    after = weighed.recorded.context[k]
    is_less = weighed.recorded.labels[k] is Label.MEASURED and 2 * after <= case.usage.context
    is_next = any(one.request == case.request for one in weighed.transcript.compactions)
    return f"the next request had {after:,} all the same" if is_less and not is_next else ""


def _shrunk(case: Case) -> str:
    """That the record has a smaller list after the compaction that it says failed, in a clause; else ""."""
    error = case.error
    made = [one for one in case.weighed.transcript.compactions if one.request == case.request and one.tokens_after]
    if error is None or not error.of_compaction or not made or case.weighed.transcript.messages:
        return ""
    before, after = made[-1].tokens_before or 0, made[-1].tokens_after or 0
    return f"though the record has {before:,} tokens brought down to {after:,}" if after < before else ""


def _open_call(case: Case) -> str:
    """The call that a compaction took out while it waited for its result, in a clause; else ""."""
    if case.compaction is None or not case.gone:
        return ""
    messages, at = case.weighed.transcript.messages, case.compaction.boundary
    # A result may come twice: that it is still to come, and what it came to.
    open_calls = frozenset[str]().union(*(messages[i].call_ids() for i in case.gone))
    late = [message for message in messages[at:] if message.result_ids() & open_calls] if open_calls else []
    if not late:
        return ""
    call = min(late[0].result_ids() & open_calls)
    said = f"it took the call of {case.shared.tool_of.get(call) or 'a tool'}, whose result came after it"
    is_answered = any(message.role is Role.ASSISTANT for message in messages[late[0].index :])
    return said if is_answered else f"{said}, and no answer followed"


def stated_left(case: Case) -> str:
    """What the record itself says that this compaction, or the last one, left, in a clause; else ""."""
    told = [event for event in case.weighed.transcript.events if event.kind == EventKind.COMPACTION_LEFT]
    if case.what == COMPACTION:
        return next((event.words for event in told if event.request == case.request), "")
    words = next((event.words for event in reversed(told) if event.request <= case.request), "")
    return f"the last compaction{words.removeprefix('it')}" if words.startswith("it left") else words


def _once(case: Case, because: str) -> str:
    """That nothing was answered between a compaction and the one before, or that one took nothing out; else ""."""
    previous = case.previous
    if previous is None or case.run or ONCE in because:
        return ""
    if case.compaction is not None:
        return ONCE
    is_vain = case.before is not None and not case.before.gone and not previous.outside
    if is_vain:
        return "the compaction right before took nothing out"
    return ONCE if case.error is not None and case.error.kind != EventKind.SESSION_END else ""


def _left(case: Case, told: str) -> str:
    """That a compaction left next to nothing, by the record's own figures or its summary, in a clause; else ""."""
    before, after = (case.compaction.tokens_before, case.compaction.tokens_after) if case.compaction else (None, None)
    if before and after and after <= min(LITTLE * before, LITTLE_TOKENS) and f"{after:,} after" not in told:
        return f"it left next to nothing, {after:,} of {before:,} tokens"
    place = case.compaction.message if case.compaction else None
    if place is not None and (withheld(message := case.weighed.transcript.messages[place]) or not message.blocks):
        return ""  # what it said is not in the file, or that it is empty is told
    size, gone = case.weighed.tokens[place] if place is not None else 0, sum(case.weighed.tokens[i] for i in case.gone)
    return f"its summary has {size:,} tokens for {gone:,}" if 0 < size <= min(POOR * gone, POOR_TOKENS) else ""


def _none_before(case: Case, because: str) -> str:
    """That no compaction was recorded before a request that failed without a cause, where a size is told; else ""."""
    error = case.error
    if error is None or error.kind != EventKind.ERROR or not newest_before(case) or NONE_BEFORE in because:
        return ""
    return NONE_BEFORE if _is_first(case) else ""


def newest_before(case: Case) -> str:
    """What was answered right before a refusal whose words name neither a figure nor a cause; else ""."""
    error, usage = case.error, case.usage
    if error is None or error.tokens or error.limit or error.of_compaction:
        return ""
    if meaning_of(error.words) or error.words.startswith(CUT_OFF):
        return ""
    answer = newest_answer(case)
    if not answer or usage is None or not far_under(case):
        return answer
    if case.held.source == RECORDED:
        who = "server has room for" if case.weighed.transcript.format == SERVERS else "agent counts with"
        return f"{answer}, of the {case.own_window:,} that the {who}"
    return f"{answer}, {case.share(usage.context)}: why it was too long is not recorded"


def far_under(case: Case) -> bool:
    """Whether a refusal that names no figure came far under the window that is recorded, or known for the model."""
    error, usage = case.error, case.usage
    if error is None or error.kind != ErrorKind.CONTEXT or error.limit or error.of_compaction or usage is None:
        return False
    share = FAR if case.held.source == RECORDED else FAR_BY_TABLE if case.window_is_known else 0
    return usage.context < share * case.own_window


def _refused(case: Case, error: ProviderError, words: str) -> list[str]:
    """What a refusal names and its words do not say as it is written here, what stood before it, what came."""
    unit = unit_of(error)
    sent, limit = f"{error.tokens or 0:,} {unit} were sent", f"the limit is {error.limit or 0:,} {unit}"
    named = ((error.tokens, sent), (error.limit, limit))
    found = [said for figure, said in named if figure and f"{figure:,}" not in words and not over_limit(error)]
    if error.kind not in (ErrorKind.CONTEXT, ErrorKind.COMPACTION):
        return found
    is_measured = case.usage is not None and not case.is_partial
    if case.usage is not None and is_measured and not newest_before(case):
        answered = (usage.context for k in case.run if (usage := case.request_of(k).usage))
        most = max((n for n in answered if n < (error.limit or 0)), default=0)
        earlier = f", an earlier one {most:,}" if most > WRONGLY * case.usage.context else ""
        found.append(f"the request before had {case.usage.context:,}{earlier}")
    elif not is_measured and (case.true < HELD * error.tokens if error.tokens else case.true):
        is_said = "in the messages" in over_limit(error) or case.weighed.transcript.format == WHOLE_REQUESTS
        rest = "" if is_said else ": the rest (system prompt, tools, what was attached or left out) is not in it"
        them = f"of them{rest}{', by estimate' if is_said else ''}"
        found.append(f"the file holds about {case.true:,} {them if error.tokens else 'tokens'}")
    found += [note for note in case.weighed.transcript.warnings if OWN_COUNT in note]
    thought = sum(usage.reasoning for k in case.run if (usage := case.request_of(k).usage))
    if not error.tokens and thought >= THOUGHT * case.window:
        found.append(f"{thought:,} tokens of reasoning are in the replies since, which may be sent again uncounted")
    return [*found, NONE_BEFORE] if _is_first(case) else found


def _is_first(case: Case) -> bool:
    """Whether something was answered, and no compaction was recorded or tried in the whole session."""
    is_tried = any(one.of_compaction for one in case.weighed.transcript.errors)
    return bool(case.run) and not is_tried and not case.weighed.transcript.compactions


def _growth(case: Case) -> str:
    """The largest growth before it: one message, or one source, that is a good part of the context."""
    found, least = case.filled, max(LEAST, LARGE * case.true)
    if found.heaviest is None:
        return ""
    if found.heaviest_tokens >= least:
        return heaviest_words(case)
    if case.error is not None and case.usage is not None and (said := brought(case.weighed, case.run, case.sent)):
        return said
    name, tokens, n = found.by_source[0]
    part = "most of it" if 2 * tokens >= case.true else "the largest part"
    return f"{part} {name}, {tokens:,} in {counted(n, 'message')}" if tokens >= least else ""
