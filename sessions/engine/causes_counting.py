"""Causes that lie in what a gate counted: media as text, usage counted twice, stale, or without its cached tokens.

Each function gives the candidates that fit a case; a hypothesis about a gate is held against the earlier requests of
the same session, where that gate would have fired and did not (peers 6.4 for the reports behind them).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.case import COMPACTION, ERROR, MISSING, Candidate, Case, Evidence
from sessions.engine.culprits import has_media
from sessions.engine.types import Label

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MEDIA, DOUBLE, STALE, CACHE = (
    "image_or_document_as_text", "usage_double_counted", "usage_stale_after_compaction", "cache_tokens_left_out"
)  # fmt: skip
RULES = (
    ("characters ÷ 4", 4.0), ("characters ÷ 3", 3.0), ("characters ÷ 3.5", 3.5), ("one byte a token", 1.0),
    ("a text tokenizer", 1.47), ("bytes ÷ 4", 16 / 3),
)  # fmt: skip
"""How harnesses, and gateways, are known to count base64 as text: characters a token (estimators 4, 13)."""
EXCESS = 1.15
"""A recorder's figure over the true size by less than this share shows an estimate, not a mistake."""
CLOSE, NEAR = 0.05, 0.15


def media_as_text(case: Case) -> Iterable[Candidate]:
    """Base64 counted as text by the gate, or billed as text by the provider or a gateway between."""
    if not case.media:
        return
    billed = _billed(case)
    if billed:
        yield billed
    if case.true >= (case.threshold or case.window):
        return
    if case.said is not None and case.said > EXCESS * case.true:
        found = _matching(case, case.said)
        if found:
            yield found
    elif case.what != MISSING and not (case.said is not None and case.threshold and case.said >= case.threshold):
        yield from _possible(case)


def _billed(case: Case) -> Candidate | None:
    """A measured growth at a step with media that the base64 explains and the image rule does not."""
    weighed = case.weighed
    steps, recorded = weighed.steps, weighed.recorded
    for k in reversed(case.run):
        span = [i for i in range(steps[k].start, steps[k].stop) if has_media(weighed.transcript.messages[i])]
        if not span or k == 0 or recorded.labels[k] is not Label.MEASURED or steps[k].compaction is not None:
            continue
        growth = recorded.weights[k]
        by_rule = sum(weighed.tokens[steps[k].start : steps[k].stop])
        base64 = _base64(case, span)
        if growth > 4 * by_rule + 4_000 and any(case.same(growth, by_rule + round(base64 / n), 0.15) for _, n in RULES):
            worst = max(span, key=lambda i: _base64(case, [i]))
            rows = (
                _culprit(case, worst),
                Evidence(
                    f"The provider's usage grew by {growth:,} tokens at request {steps[k].request}: "
                    f"the image rule explains {by_rule:,}, its base64 as text explains the rest",
                    steps[k].request, worst, growth, "tokens", Label.MEASURED.value,
                ),
            )  # fmt: skip
            because = f"the provider, or a gateway before it, billed the base64 of message {worst} as text"
            return Candidate(MEDIA, 0.88, because, rows)
    return None


def _matching(case: Case, said: int) -> Candidate | None:
    """The recorder's own figure is what one of the rules makes of the media in the context."""
    best: tuple[float, str, Sequence[int], int] | None = None
    recent = [i for i in case.media if i in case.tail]
    spans: list[Sequence[int]] = [span for span in (case.media, recent) if span]
    for span in spans:
        rest = case.true - sum(_media_tokens(case, i) for i in span)
        for name, per in RULES:
            predicted = rest + round(_base64(case, span) / per)
            off = abs(predicted - said) / said
            if best is None or off < best[0]:
                best = off, name, span, predicted
    if best is None or best[0] > NEAR:
        return None
    off, name, span, predicted = best
    worst = max(span, key=lambda i: _base64(case, [i]))
    rows = (
        _culprit(case, worst),
        Evidence(
            f"Base64 by {name} makes {predicted:,} of this context; the gate recorded {said:,}",
            case.request, worst, predicted, "tokens", Label.ESTIMATED.value,
        ),
        _true_row(case),
    )  # fmt: skip
    because = f"the base64 of message {worst} was counted as text ({name})"
    return Candidate(MEDIA, 0.95 if off <= CLOSE else 0.8, because, rows)


def _possible(case: Case) -> Iterable[Candidate]:
    """No figure of the gate: the naive count reaches a threshold that the true size does not.

    Refuted where the same count stood over it at earlier requests and nothing happened.
    """
    limit = case.threshold or case.window * 4 // 5
    if case.true >= 0.9 * limit or case.what == ERROR:
        return
    recent = [i for i in case.media if i in case.tail]
    for span, is_recent in ((recent, True), (case.media, False)):
        if not span:
            continue
        naive = case.true + _base64(case, span) // 4 - sum(_media_tokens(case, i) for i in span)
        was_over = _step_was_over(case, limit) if is_recent else _was_over(case, limit)
        if naive < limit or was_over:
            continue
        worst = max(span, key=lambda i: _base64(case, [i]))
        rows = (
            _culprit(case, worst),
            Evidence(
                f"With base64 by characters ÷ 4 this context makes {naive:,} tokens, over {limit:,}; "
                f"without it {case.true:,}",
                case.request, worst, naive, "tokens", Label.ESTIMATED.value,
            ),
        )  # fmt: skip
        because = f"message {worst} holds base64 that, counted as text, fills the window"
        yield Candidate(MEDIA, 0.7 if is_recent else 0.6, because, rows)
        return


def _step_was_over(case: Case, limit: int) -> bool:
    """Whether the base64 of an earlier step of this run, as text on the usage before it, stood over the limit."""
    weighed, messages = case.weighed, case.weighed.transcript.messages
    for k in case.run[1:]:
        step = weighed.steps[k]
        span = [i for i in range(step.start, step.stop) if has_media(messages[i])]
        if span and weighed.recorded.context[k - 1] + _base64(case, span) // 4 >= limit:
            return True
    return False


def _was_over(case: Case, limit: int) -> bool:
    """Whether base64 as text stood over the limit at three earlier requests of this run."""
    weighed, n = case.weighed, 0
    seen = 0
    media = iter(case.media)
    nearest = next(media, None)
    for k in case.run[:-1]:
        while nearest is not None and nearest < weighed.steps[k].stop:
            seen += _base64(case, [nearest]) // 4 - _media_tokens(case, nearest)
            nearest = next(media, None)
        n += weighed.recorded.context[k] + seen >= limit
    return n >= 3


def _base64(case: Case, span: Iterable[int]) -> int:
    """Characters of base64 in the messages."""
    messages = case.weighed.transcript.messages
    return sum(leaf.media.n_base64 for i in span for leaf in messages[i].leaves() if leaf.media)


def _media_tokens(case: Case, index: int) -> int:
    return sum(case.weighed.image_tokens(leaf) for leaf in case.weighed.transcript.messages[index].leaves())


def _culprit(case: Case, index: int) -> Evidence:
    tokens, base64 = _media_tokens(case, index), _base64(case, [index])
    factor = f", ×{base64 / tokens:,.0f}" if tokens else ""
    return Evidence(
        f"Message {index}: {base64:,} characters of base64, {tokens:,} tokens by the provider's rule{factor}",
        None, index, base64, "characters", Label.ESTIMATED.value,
    )  # fmt: skip


def _true_row(case: Case) -> Evidence:
    text = f"The context held {case.true:,} tokens"
    return Evidence(text, case.request, None, case.true, "tokens", case.label.value)


def double_counted(case: Case) -> Iterable[Candidate]:
    """A usage that jumps to a multiple of what the context can hold, or a recorder's figure that is one."""
    usage, limit = case.usage, case.threshold
    if case.inclusive and usage is not None and case.last is not None:
        text = (
            f"The input of {usage.input:,} tokens is just over the {usage.cache_read:,} cached, request after request"
        )
        row = Evidence(text, case.last.index, None, usage.cache_read, "tokens", Label.MEASURED.value)
        score = 0.85 if limit is None or case.true < limit else 0.3
        yield Candidate(DOUBLE, score, "the cached tokens were added to an input that already held them", (row,))
    elif case.is_spike and case.counted is not None and case.last is not None and case.run:
        expected = case.expected(case.run[-1])
        n = _multiple(case.counted, expected + (usage.output if usage else 0))
        others = len(case.spikes) - 1
        rows = [
            Evidence(
                f"Request {case.last.index} reports {case.counted:,} tokens; its content makes {expected:,}",
                case.last.index, None, case.counted, "tokens", Label.MEASURED.value,
            ),
            _true_row(case),
        ]  # fmt: skip
        if others > 0:
            text = f"{others} other requests of this session report a jump that falls back at the next"
            rows.append(Evidence(text, None, None, others, "requests", Label.MEASURED.value))
        because = f"the usage before it was counted {f'{n} times' if n else 'more than once'}"
        score = (0.9 if n else 0.6) + (0.05 if others > 0 else 0)
        yield Candidate(DOUBLE, score if limit is None or case.true < limit else 0.3, because, tuple(rows))
    elif case.said is not None and case.what != ERROR and case.said > 1.4 * case.true:
        yield from _figure_doubled(case, case.said)


def _figure_doubled(case: Case, said: int) -> Iterable[Candidate]:
    """The recorder's figure is a multiple of the true size, or the true size with the cached part once more."""
    usage = case.usage
    again = usage.cache_read + usage.cache_write if usage else 0
    row = Evidence(
        f"The gate recorded {said:,} tokens", case.request, None, said, "tokens", "recorded"
    )  # fmt: skip
    if again and (case.same(said, case.true + again, 0.03) or case.same(said, (case.counted or 0) + again, 0.03)):
        text = f"{again:,} of the request before were cached; once more they make the recorded figure"
        cached = Evidence(text, case.last.index if case.last else None, None, again, "tokens", "measured")
        because = "the cached tokens were added to an input that already held them"
        yield Candidate(DOUBLE, 0.9, because, (row, cached, _true_row(case)))
        return
    n_summed = _summed(case, said)
    if n_summed:
        because = f"the usage of {n_summed} requests was added up as if it were one context"
        yield Candidate(DOUBLE, 0.85, because, (row, _true_row(case)))
        return
    n = _multiple(said, case.true)
    if said > case.window and case.window_is_known and not n and not case.media:
        because = "the gate recorded more than the window itself holds"
        yield Candidate(DOUBLE, 0.65, because, (row, _true_row(case)))
    elif n and not case.media:
        rows = [row, _true_row(case)]
        if case.spikes:
            text = f"{len(case.spikes)} requests of this session report a jump that falls back at the next"
            rows.append(Evidence(text, None, None, len(case.spikes), "requests", Label.MEASURED.value))
        score = 0.9 if case.spikes else 0.8
        yield Candidate(DOUBLE, score, f"the context was counted {n} times", tuple(rows))
    elif not case.media:
        because = "the gate recorded far more than the context held"
        yield Candidate(DOUBLE, 0.45, because, (row, _true_row(case)))


def _summed(case: Case, said: int) -> int | None:
    """How many of the newest requests' usages add up to the figure, within 2 %; None where no two to sixty do."""
    total = 0
    for n, k in enumerate(reversed(case.run[-60:]), start=1):
        usage = case.request_of(k).usage
        total += usage.context + usage.output if usage else 0
        if n >= 2 and case.same(said, total):
            return n if n > 2 or not _multiple(said, case.true) else None
        if total > 1.02 * said:
            return None
    return None


def _multiple(figure: int, once: int) -> int | None:
    """How many times ``once`` makes the figure, within 6 %; None where it is no whole number from 2 to 5."""
    n = round(figure / once) if once > 0 else 0
    return n if 2 <= n <= 5 and abs(figure - n * once) <= 0.06 * n * once else None


def stale(case: Case) -> Iterable[Candidate]:
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
            f"The compaction before it came {n_between} requests earlier, before request {previous.request}",
            previous.request, None, n_between, "requests", "recorded",
        ),
        _true_row(case),
    ]  # fmt: skip
    if old is not None and case.said is not None and case.said > EXCESS * case.true:
        index, figure = old
        text = f"The gate recorded {case.said:,} tokens: request {index}, from before that compaction, had {figure:,}"
        rows.insert(0, Evidence(text, index, None, case.said, "tokens", "recorded"))
        yield Candidate(STALE, 0.93, "the gate still saw the usage from before the compaction", tuple(rows))
    elif n_between == 0 and case.said is None:
        because = "no request had been answered since the compaction before, so the last usage was from before it"
        yield Candidate(STALE, 0.7 if limit else 0.55, because, tuple(rows))
    elif n_between <= 2 and case.said is None and limit is not None and case.true < 0.9 * limit:
        because = "it came right after another, while what had been measured since was under the threshold"
        yield Candidate(STALE, 0.6, because, tuple(rows))


def _old_figure(case: Case) -> tuple[int, int] | None:
    """A request before the previous compaction whose usage is the recorder's figure now, within 2 %."""
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


def cache_left_out(case: Case) -> Iterable[Candidate]:
    """A gate that sees the input without what the cache read or wrote."""
    usage, limit = case.usage, case.threshold
    if usage is None or case.is_spike:
        return
    fresh = usage.input + usage.output
    if case.what == COMPACTION:
        if case.said is not None and case.true > 1.25 * case.said and case.same(case.said, fresh, 0.05):
            text = f"Input without cached tokens and output: {fresh:,}; the gate recorded {case.said:,}"
            index = case.last.index if case.last else None
            rows = (Evidence(text, index, None, fresh, "tokens", Label.MEASURED.value), _true_row(case))
            yield Candidate(CACHE, 0.93, "the gate saw the input without the cached tokens", rows)
        return
    limit = case.usual or case.window * 9 // 10
    over, uncached = _uncached(case, limit)
    if over >= 2 and uncached is not None and uncached < limit / 2:
        text = (
            f"Over {over} requests at or over {limit:,} tokens, the input without cached tokens "
            f"was never more than {uncached:,}"
        )
        rows = (Evidence(text, case.request, None, uncached, "tokens", Label.MEASURED.value), _true_row(case))
        because = "the gate may have seen the input without the cached tokens, which never reached the threshold"
        past = case.what == ERROR or max(case.weighed.recorded.context[case.run.start :], default=0) >= case.window
        yield Candidate(CACHE, 0.65 if past else 0.5, because, rows)


def _uncached(case: Case, limit: int) -> tuple[int, int | None]:
    """Requests of this run at or over the limit, and the largest input without cached tokens among them."""
    requests, steps = case.weighed.transcript.requests, case.weighed.steps
    run = case.run if case.what == ERROR else range(case.run.start, len(steps))
    usages = [requests[steps[k].request].usage for k in run if requests[steps[k].request].index not in case.spikes]
    over = [u for u in usages if u and u.context >= limit]
    return len(over), max((u.input for u in over), default=None)
