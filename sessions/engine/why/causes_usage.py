"""What a trigger's figure can be made of: a usage more than once, or one from before (verdicts 3.2 to 3.5, 3.10)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sessions.engine.base.words import counted
from sessions.engine.transcript.types import Label
from sessions.engine.why.account import AT_ONCE, COUNTED, SETTING, UNLISTED, Explanation, Fact
from sessions.engine.why.causes import ADDED, CACHE, CAUSES, DOUBLE, MEDIA, REASONING, STALE, UNSENT, Evidence
from sessions.engine.why.causes_media import EXCESS
from sessions.engine.why.shared import agree, calls_added

if TYPE_CHECKING:
    from sessions.engine.why.case import Case

REASONING_HEAD = 650
"""Bytes of an encrypted item that Codex does not count (policies 6.1)."""
EACH_TIME = 3
IMPOSSIBLE = 1.5
"""Times the longest window of a model from which a usage cannot be one context."""
FAR = 1.4
"""Times the true size from which a recorder's figure asks for an explanation."""


def double_counted(case: Case) -> Iterable[Explanation]:
    """A usage that jumps to a multiple of what the context can hold, or a recorder's figure that is one."""
    usage, is_over = case.usage, case.threshold is not None and case.true >= case.threshold
    if case.added_up:
        return
    yield from _impossible(case)
    if case.inclusive and usage is not None:
        text = f"The input of {usage.input:,} tokens is just over the {usage.cache_read:,} cached, each time"
        row = case.measured(text, usage.cache_read)
        because = "the cached tokens were added to an input that already held them"
        found = Explanation(DOUBLE, COUNTED, because, (row,), (UNLISTED,))
    elif case.is_spike and case.counted is not None and case.last is not None and case.run:
        found = _spike(case, case.counted, case.last.index)
        if len(found.open) > 1 and case.counted < (case.usual or case.window):
            # A jump that nothing else shows, of no whole multiple, and that passed nothing: content the file lacks.
            return
    elif case.said is not None and case.said > FAR * case.true and not case.is_blind:
        yield from _figure_doubled(case, case.said)
        return
    else:
        return
    if not is_over:
        yield found


def _spike(case: Case, counted: int, index: int) -> Explanation:
    """A usage that jumps beyond its content."""
    expected, output = case.expected(case.run[-1]), case.usage.output if case.usage else 0
    n = _multiple(counted, expected + output)
    row = case.measured(f"Request {index} reports {counted:,} tokens; its content makes {expected:,}", counted)
    if calls := calls_added(case.weighed, case.run[-1]):
        because = (
            f"the usage of {calls} calls was added up to {counted:,} tokens, the last of them had about {expected:,}"
        )
        return Explanation(DOUBLE, COUNTED, because, (row, *_jumps_row(case)), (UNLISTED,))
    # Unless a later usage falls back, here or elsewhere, something that is not in the file may have come.
    before = [usage.context + usage.output for k in case.run[:-1] if (usage := case.request_of(k).usage)]
    reads_unsent = case.usage is not None and len(before) > 1 and case.usage.cache_read > EXCESS * max(before)
    is_shown = len(case.shared.spikes) > 1 or index in case.weighed.flagged or reads_unsent
    left = (() if is_shown else (UNLISTED,)) if n else (UNLISTED, "another call's usage")
    because = f"the usage before it was counted {f'{n} times' if n else 'more than once'}"
    return Explanation(DOUBLE, COUNTED, because, (row, *_jumps_row(case)), left)


def _jumps_row(case: Case) -> tuple[Evidence, ...]:
    n = len(case.shared.spikes)
    text = f"Usages of this session that jump and fall back at the next: {n}"
    return (Evidence(text, None, None, n, "requests", Label.MEASURED.value),) if n else ()


def _impossible(case: Case) -> Iterable[Explanation]:
    """A usage far over the longest window of its model, which the text does not explain: that of several calls."""
    usage, model = case.usage, case.model
    most = max(model.window, model.long_window or 0)
    if usage is None or not model.known or model.note:
        return
    if usage.context < IMPOSSIBLE * most or case.text > usage.context / IMPOSSIBLE:
        return
    figure = usage.context + usage.output
    row = case.measured(f"The usage is {figure:,} tokens; {model.name} takes {most:,} at most", figure)
    held = case.row(f"The text sent makes {case.text:,}", case.text, label=Label.ESTIMATED.value)
    because = f"a usage of {figure:,} tokens, more than the model takes, adds up several calls"
    yield Explanation(DOUBLE, COUNTED, because, (row, held), (UNLISTED,))


def _figure_doubled(case: Case, said: int) -> Iterable[Explanation]:
    """The recorder's figure is a multiple of the true size, or has the cached part once more; else verdicts 3.25."""
    usage, n, summed = case.usage, _multiple(said, case.true), _summed(case, said)
    again = usage.cache_read + usage.cache_write if usage else 0
    twice = any(agree(said, base + again, 0.03) for base in (case.true, case.counted or 0))
    rows: tuple[Evidence, ...] = (case.row(f"The agent recorded {said:,} tokens", said),)
    left: tuple[str, ...] = (UNLISTED,)
    # Where nearly all was cached, this is no more than a multiple.
    if 0 < again < 0.9 * case.true and twice:
        rows += (case.measured(f"{again:,} of the request before were cached", again),)
        because = "the cached tokens were counted a second time"
    elif summed:
        because = f"the usage of {summed} requests was added up as if it were one context"
    elif n:
        because, rows = f"the context was counted {n} times", (*rows, *_jumps_row(case))
        left = () if case.shared.spikes else left if agree(said, n * case.true) else (*left, SETTING)
        left += (CAUSES[MEDIA],) if case.media else ()
    elif case.media:
        return
    elif said > case.window and case.window_is_known:
        because = "the agent recorded more than the window itself holds"
    elif usage is None:
        return  # what was sent right before is not measured
    else:
        because = f"the agent counted {said:,} tokens, far more than was sent"
        yield Explanation(UNSENT, Fact.SIZE, because, rows, (UNLISTED, SETTING))
        return
    yield Explanation(DOUBLE, COUNTED, because, rows, left)


def _summed(case: Case, said: int) -> int | None:
    """How many of the newest requests' usages add up to the figure; None where no two to sixty do.

    Within 2%, and within a twentieth of one usage: a sum of many comes near to any figure.
    """
    total = 0
    for n, k in enumerate(reversed(case.run[-60:]), start=1):
        usage = case.request_of(k).usage
        size = usage.context + usage.output if usage else 0
        total += size
        if n >= 2 and agree(said, total) and abs(said - total) <= 0.05 * size:
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
    previous, limit, n = case.previous, case.threshold, len(case.run)
    if previous is None or previous.outside or (limit is not None and case.true >= limit):
        return
    text = f"The compaction before it came {counted(n, 'request')} earlier, before request {previous.request}"
    rows: tuple[Evidence, ...] = (Evidence(text, previous.request, None, n, "requests", "recorded"),)
    old = _old_figure(case) if case.said is not None and case.said > EXCESS * case.true else None
    if old is not None:
        if case.is_blind and n > 1:
            # Two at one figure, with nothing measured between them, are as well two that reached one threshold.
            return
        text = f"The agent recorded {case.said:,} tokens: request {old[0]}, from before that compaction, had {old[1]:,}"
        rows = (Evidence(text, old[0], None, case.said, "tokens", "recorded"), *rows)
        because = "the agent still counted the usage from before the last compaction"
        left = (UNLISTED,) if n and (case.is_blind or case.shared.lacks_content) else ()
        n_so = case.shared.n_at_once
        against = (f"{n_so} compactions came so, one request apart",) if n_so >= EACH_TIME else ()
        yield Explanation(STALE, COUNTED | Fact.TIMING, because, rows, left, against)
    elif n == 0 and case.said is None:
        # Without anything said between, or a recorded trigger, it may be one compaction that is written down twice.
        is_second = case.trigger is not None or any(case.weighed.transcript.messages[i].typed for i in case.tail)
        because = "no request was answered since the last compaction, so the newest usage is from before it"
        open_ = (SETTING,) if limit and is_second else (SETTING, "one compaction that is recorded twice")
        yield Explanation(STALE, Fact.TIMING, because, rows, open_)
    elif n <= 2 and case.said is None and limit is not None and case.larger < 0.9 * limit:
        because = "it came right after another, while the context was under the threshold"
        yield Explanation(STALE, Fact.TIMING | Fact.SIZE, because, rows, (SETTING, UNLISTED))


def _old_figure(case: Case) -> tuple[int, int] | None:
    """A request before the previous compaction whose usage is the recorder's figure now, within 2%."""
    if case.said is None or case.previous is None:
        return None
    if case.previous.tokens_before and agree(case.said, case.previous.tokens_before):
        return max(0, case.previous.request - 1), case.previous.tokens_before
    for k in range(case.run.start - 1, max(-1, case.run.start - 40), -1):
        request = case.request_of(k)
        if request.usage and agree(case.said, request.usage.context + request.usage.output, 0.005):
            return request.index, request.usage.context + request.usage.output
    return None


def cache_left_out(case: Case) -> Iterable[Explanation]:
    """The recorder's own figure is the input without what the cache read or wrote (verdicts 3.5)."""
    usage, said = case.usage, case.said
    if usage is None or case.is_spike or case.switched or said is None:
        return
    fresh = usage.input + usage.output
    if case.true > 1.25 * said and agree(said, fresh, 0.05):
        text = f"Input without cached tokens and output: {fresh:,}; the agent recorded {said:,}"
        because = "the agent counted the input without the cached tokens"
        yield Explanation(CACHE, COUNTED, because, (case.measured(text, fresh),))


def added_usage(case: Case) -> Iterable[Explanation]:
    """The usage before adds up several calls of one request, and the context was that of the last (verdicts 3.3)."""
    figure, limit = case.added_up, case.threshold
    if figure is None or case.usage is None or case.true >= (limit or case.window):
        return
    if max(figure, case.said or 0) < 0.97 * (limit or case.window // 2):
        return
    total, last = f"{case.usage.added_up:,}", f"{case.usage.context:,}"
    row = case.measured(f"The usage before reports {total} tokens of several calls; the last had {last}", figure)
    because = f"the usage adds up several calls of one request, {total} tokens; the context held {last}"
    yield Explanation(ADDED, AT_ONCE | Fact.FIGURE, because, (row,))


def reasoning(case: Case) -> Iterable[Explanation]:
    """Encrypted reasoning of earlier turns added to a usage that holds it already (verdicts 3.4)."""
    limit = case.usual
    if case.agent.name != "codex" or limit is None or case.counted is None:
        return
    figure = case.counted + sum(case.weighed.tokens[i] for i in case.tail)
    if figure >= limit or case.trigger == "manual":
        return
    messages = case.weighed.transcript.messages
    typed = max((i for i in range(case.start, case.stop) if messages[i].typed), default=case.start)
    held = (block for i in range(case.start, typed) for block in messages[i].leaves())
    extra = sum(max(0, block.n_payload * 3 // 4 - REASONING_HEAD) // 4 for block in held if block.n_payload)
    if not extra or figure + extra < limit:
        return
    text = f"Encrypted reasoning of earlier turns makes {extra:,} tokens by Codex's rule; with it {figure + extra:,}"
    rule = case.row(f"Codex's limit is {limit:,} tokens", limit, label="rule")
    rows = (case.row(text, extra, label=Label.ESTIMATED.value), rule)
    because = f"{extra:,} tokens of earlier reasoning were counted once more, beside a usage of {case.counted:,}"
    yield Explanation(REASONING, AT_ONCE | Fact.FIGURE, because, rows, (SETTING,))
