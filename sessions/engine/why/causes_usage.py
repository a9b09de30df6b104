"""Causes that lie in the usage a trigger counted: more than once, or from before a compaction (verdicts 3.2, 3.10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.types import Label
from sessions.engine.why.account import AFTER, AT_ONCE, COUNTED, SETTING, UNLISTED, Explanation, Fact
from sessions.engine.why.case import COMPACTION, ERROR, Case, Evidence
from sessions.engine.why.causes import ADDED, CACHE, CAUSES, DOUBLE, MEDIA, REASONING, STALE, UNSENT

if TYPE_CHECKING:
    from collections.abc import Iterable

REASONING_HEAD = 650
"""Bytes of an encrypted item that Codex does not count (policies 6.1)."""
EACH_TIME = 3
IMPOSSIBLE = 1.5
"""Times the longest window of a model from which a usage cannot be one context."""
EXCESS = 1.15
"""A recorder's figure over the true size by less than this share shows an estimate, not a mistake."""


def double_counted(case: Case) -> Iterable[Explanation]:
    """A usage that jumps to a multiple of what the context can hold, or a recorder's figure that is one."""
    usage, limit = case.usage, case.threshold
    if case.added_up:
        return
    yield from _impossible(case)
    if case.inclusive and usage is not None and case.last is not None:
        text = (
            f"The input of {usage.input:,} tokens is just over the {usage.cache_read:,} cached, request after request"
        )
        row = Evidence(text, case.last.index, None, usage.cache_read, "tokens", Label.MEASURED.value)
        because = "the cached tokens were added to an input that already held them"
        if limit is None or case.true < limit:
            yield Explanation(DOUBLE, COUNTED, because, (row, case.true_row), (UNLISTED,))
    elif case.is_spike and case.counted is not None and case.last is not None and case.run:
        expected = case.expected(case.run[-1])
        n = _multiple(case.counted, expected + (usage.output if usage else 0))
        others = len(case.spikes) - 1
        rows = [
            Evidence(
                f"Request {case.last.index} reports {case.counted:,} tokens; its content makes {expected:,}",
                case.last.index, None, case.counted, "tokens", Label.MEASURED.value,
            ),
            case.true_row,
        ]  # fmt: skip
        if others > 0:
            named = "other request of this session reports" if others == 1 else "other requests of this session report"
            text = f"{others} {named} a jump that falls back at the next"
            rows.append(Evidence(text, None, None, others, "requests", Label.MEASURED.value))
        because = f"the usage before it was counted {f'{n} times' if n else 'more than once'}"
        # Unless a later usage falls back, here or elsewhere, something that is not in the file may have come.
        is_shown = others > 0 or case.last.index in case.weighed.flagged or _reads_unsent(case)
        left = (() if is_shown else (UNLISTED,)) if n else (UNLISTED, "another call's usage")
        if limit is None or case.true < limit:
            yield Explanation(DOUBLE, COUNTED, because, tuple(rows), left)
    elif case.said is not None and case.what != ERROR and case.said > 1.4 * case.true and not case.is_blind:
        yield from _figure_doubled(case, case.said)


def _reads_unsent(case: Case) -> bool:
    """Whether the cache is said to have read more than was ever sent before in this run: so no context was."""
    before = [usage.context + usage.output for k in case.run[:-1] if (usage := case.request_of(k).usage)]
    return case.usage is not None and bool(before) and case.usage.cache_read > EXCESS * max(before)


def _impossible(case: Case) -> Iterable[Explanation]:
    """A usage far over the longest window of its model, which the text does not explain: that of several calls."""
    usage, model = case.usage, case.model
    most = max(model.window, model.long_window or 0)
    if usage is None or case.last is None or case.what != COMPACTION or not model.known or model.note:
        return
    if usage.context < IMPOSSIBLE * most or case.text > usage.context / IMPOSSIBLE:
        return
    figure = usage.context + usage.output
    text = f"Request {case.last.index} reports {figure:,} tokens; {model.name} takes {most:,} at most"
    row = Evidence(text, case.last.index, None, figure, "tokens", Label.MEASURED.value)
    held = Evidence(f"The text sent makes {case.text:,}", case.last.index, None, case.text, "tokens", "estimated")
    because = f"a usage of {figure:,} tokens, more than the model takes, adds up several calls"
    yield Explanation(DOUBLE, COUNTED, because, (row, held), (UNLISTED,))


def _figure_doubled(case: Case, said: int) -> Iterable[Explanation]:
    """The recorder's figure is a multiple of the true size, or has the cached part once more; else verdicts 3.25."""
    usage = case.usage
    again = usage.cache_read + usage.cache_write if usage else 0
    row = case.row(f"The agent recorded {said:,} tokens", said)  # fmt: skip
    # Where nearly all was cached, this is no more than a multiple.
    if (
        again < 0.9 * case.true
        and again
        and (case.same(said, case.true + again, 0.03) or case.same(said, (case.counted or 0) + again, 0.03))
    ):
        text = f"{again:,} of the request before were cached; once more they make the recorded figure"
        cached = Evidence(text, case.last.index if case.last else None, None, again, "tokens", "measured")
        because = "the cached tokens were counted a second time"
        yield Explanation(DOUBLE, COUNTED, because, (row, cached, case.true_row), (UNLISTED,))
        return
    n_summed = _summed(case, said)
    if n_summed:
        because = f"the usage of {n_summed} requests was added up as if it were one context"
        yield Explanation(DOUBLE, COUNTED, because, (row, case.true_row), (UNLISTED,))
        return
    n = _multiple(said, case.true)
    if said > case.window and case.window_is_known and not n and not case.media:
        because = "the agent recorded more than the window itself holds"
        yield Explanation(DOUBLE, COUNTED, because, (row, case.true_row), (UNLISTED,))
    elif n:
        rows = [row, case.true_row]
        if case.spikes:
            named = "request of this session reports" if len(case.spikes) == 1 else "requests of this session report"
            text = f"{len(case.spikes)} {named} a jump that falls back at the next"
            rows.append(Evidence(text, None, None, len(case.spikes), "requests", Label.MEASURED.value))
        close = case.same(said, n * case.true)
        left = [] if case.spikes else [UNLISTED] if close else [UNLISTED, SETTING]
        left += [CAUSES[MEDIA]] if case.media else []
        yield Explanation(DOUBLE, COUNTED, f"the context was counted {n} times", tuple(rows), tuple(left))
    elif not case.media:
        because = f"the agent counted {said:,} tokens, far more than was sent"
        yield Explanation(UNSENT, Fact.SIZE, because, (row, case.true_row), (UNLISTED, SETTING))


def _summed(case: Case, said: int) -> int | None:
    """How many of the newest requests' usages add up to the figure; None where no two to sixty do.

    Within 2%, and within a twentieth of one usage: a sum of many comes near to any figure.
    """
    total = 0
    for n, k in enumerate(reversed(case.run[-60:]), start=1):
        usage = case.request_of(k).usage
        size = usage.context + usage.output if usage else 0
        total += size
        if n >= 2 and case.same(said, total) and abs(said - total) <= 0.05 * size:
            return n if n > 2 or not _multiple(said, case.true) else None
        if total > 1.02 * said:
            return None
    return None


def _multiple(figure: int, once: int) -> int | None:
    """How many times ``once`` makes the figure, within 6%; None where it is no whole number from 2 to 5."""
    n = round(figure / once) if once > 0 else 0
    return n if 2 <= n <= 5 and abs(figure - n * once) <= 0.06 * n * once else None


def stale(case: Case) -> Iterable[Explanation]:
    """A compaction right after another: the last usage known is from before that one."""
    previous, limit = case.previous, case.threshold
    if previous is None or case.what != COMPACTION or previous.outside:
        return
    if limit is not None and case.true >= limit:
        return
    old = _old_figure(case)
    n_between = len(case.run)
    rows = [
        Evidence(
            f"The compaction before it came {n_between} request{'s' * (n_between != 1)} earlier, "
            f"before request {previous.request}",
            previous.request, None, n_between, "requests", "recorded",
        ),
        case.true_row,
    ]  # fmt: skip
    if old is not None and case.said is not None and case.said > EXCESS * case.true:
        index, figure = old
        text = f"The agent recorded {case.said:,} tokens: request {index}, from before that compaction, had {figure:,}"
        rows.insert(0, Evidence(text, index, None, case.said, "tokens", "recorded"))
        is_blind = case.is_blind and n_between > 0
        if is_blind and n_between > 1:
            # Two at one figure, with nothing measured between them, are as well two that reached one threshold.
            return
        because = "the agent still counted the usage from before the last compaction"
        known = COUNTED | Fact.TIMING
        left: tuple[str, ...] = (UNLISTED,) if is_blind else ()
        n = case.shared.n_at_once
        against = (f"{n} compactions came so, one request apart",) if n >= EACH_TIME else ()
        yield Explanation(STALE, known, because, tuple(rows), left, against)
    elif n_between == 0 and case.said is None:
        # Without anything said between, or a recorded trigger, it may be one compaction that is written down twice.
        messages = case.weighed.transcript.messages
        is_second = case.trigger is not None or any(messages[i].typed for i in case.tail)
        because = "no request was answered since the last compaction, so the newest usage is from before it"
        left = (SETTING,) if limit and is_second else (SETTING, "one compaction that is recorded twice")
        yield Explanation(STALE, Fact.TIMING, because, tuple(rows), left)
    elif n_between <= 2 and case.said is None and limit is not None and max(case.true, case.saw or 0) < 0.9 * limit:
        because = "it came right after another, while the context was under the threshold"
        yield Explanation(STALE, Fact.TIMING | Fact.SIZE, because, tuple(rows), (SETTING, UNLISTED))


def _old_figure(case: Case) -> tuple[int, int] | None:
    """A request before the previous compaction whose usage is the recorder's figure now, within 2%."""
    if case.said is None or case.previous is None:
        return None
    steps, requests = case.weighed.steps, case.weighed.transcript.requests
    if case.previous.tokens_before and case.same(case.said, case.previous.tokens_before):
        return max(0, case.previous.request - 1), case.previous.tokens_before
    stop = case.run.start
    for k in range(stop - 1, max(-1, stop - 40), -1):
        usage = requests[steps[k].request].usage
        if usage and case.same(case.said, usage.context + usage.output, 0.005):
            return steps[k].request, usage.context + usage.output
    return None


def cache_left_out(case: Case) -> Iterable[Explanation]:
    """The recorder's own figure is the input without what the cache read or wrote (verdicts 3.5)."""
    usage = case.usage
    if usage is None or case.is_spike or case.switched or case.what != COMPACTION or case.said is None:
        return
    fresh = usage.input + usage.output
    if case.true > 1.25 * case.said and case.same(case.said, fresh, 0.05):
        text = f"Input without cached tokens and output: {fresh:,}; the agent recorded {case.said:,}"
        index = case.last.index if case.last else None
        rows = (Evidence(text, index, None, fresh, "tokens", Label.MEASURED.value), case.true_row)
        yield Explanation(CACHE, COUNTED, "the agent counted the input without the cached tokens", rows)


def added_usage(case: Case) -> Iterable[Explanation]:
    """The usage before adds up several calls of one request, and the context was that of the last (verdicts 3.3)."""
    figure, limit = case.added_up, case.threshold
    if figure is None or case.usage is None or case.last is None or case.what != COMPACTION:
        return
    if case.true >= (limit or case.window) or max(figure, case.said or 0) < 0.97 * (limit or case.window // 2):
        return
    one = case.usage.context
    total = case.usage.added_up
    text = f"Request {case.last.index} reports {total:,} tokens of several calls; the last had {one:,}"
    row = Evidence(text, case.last.index, None, figure, "tokens", Label.MEASURED.value)
    because = (
        f"the usage adds up several calls of one request, {case.usage.added_up:,} tokens; the context held {one:,}"
    )
    yield Explanation(ADDED, AFTER | Fact.FIGURE, because, (row, case.true_row))


def reasoning(case: Case) -> Iterable[Explanation]:
    """Encrypted reasoning of earlier turns added to a usage that holds it already (verdicts 3.4)."""
    limit = case.usual
    if case.what != COMPACTION or case.agent.name != "codex" or limit is None or case.counted is None:
        return
    figure = case.counted + sum(case.weighed.tokens[i] for i in case.tail)
    if figure >= limit or case.trigger == "manual":
        return
    messages = case.weighed.transcript.messages
    typed = [i for i in range(case.start, case.stop) if messages[i].typed]
    held = (b for i in range(case.start, typed[-1] if typed else case.start) for b in messages[i].leaves())
    extra = sum(max(0, b.n_payload * 3 // 4 - REASONING_HEAD) // 4 for b in held if b.n_payload)
    if not extra or figure + extra < limit:
        return
    text = f"Encrypted reasoning of earlier turns makes {extra:,} tokens by Codex's rule; with it {figure + extra:,}"
    rule = case.row(f"Codex's limit is {limit:,} tokens", limit, label="rule")
    rows = (case.row(text, extra, label=Label.ESTIMATED.value), *case.size_rows, rule)
    because = f"{extra:,} tokens of earlier reasoning were counted once more, beside a usage of {case.counted:,}"
    yield Explanation(REASONING, AT_ONCE | Fact.FIGURE, because, rows, (SETTING,))
