"""Base64 of images and documents counted as text, by the trigger or by who bills for the provider (verdicts 3.1)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from sessions.engine.transcript.recorded_events import ErrorKind
from sessions.engine.transcript.types import Label
from sessions.engine.why.account import AFTER, AT_ONCE, SETTING, UNLISTED, Explanation, Fact
from sessions.engine.why.case import ERROR, MISSING, Case
from sessions.engine.why.causes import CAUSES, DOUBLE, MEDIA, Evidence
from sessions.engine.why.culprits import has_media
from sessions.engine.why.shared import agree

RULES = (
    ("characters ÷ 4", 4.0), ("characters ÷ 3", 3.0), ("characters ÷ 3.5", 3.5), ("one byte a token", 1.0),
    ("a text tokenizer", 1.47), ("bytes ÷ 4", 16 / 3), ("characters ÷ 6", 6.0),
)  # fmt: skip
"""How harnesses, and gateways, are known to count base64 as text: characters a token (estimators 4, 13)."""
DENSE, LOOSE = 1.0, 6.5
"""Characters of base64 a token, by whatever tokenizer a provider or a gateway runs over it."""
EXCESS = 1.15
"""A recorder's figure over the true size by less than this share shows an estimate, not a mistake."""
CLOSE, NEAR = 0.05, 0.15


def media_as_text(case: Case) -> Iterable[Explanation]:
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
    elif case.what != MISSING and case.said is None:
        yield from _possible(case)


def _accounts(case: Case) -> Fact:
    """A refusal right before a compaction is of the same base64."""
    return AFTER if case.refusal is not None else AT_ONCE


def _billed(case: Case) -> Explanation | None:
    """A measured growth at a step with media that the base64 explains and the image rule does not."""
    weighed = case.weighed
    steps, recorded = weighed.steps, weighed.recorded
    for k in reversed(case.run):
        span = [i for i in range(steps[k].start, steps[k].stop) if has_media(weighed.transcript.messages[i])]
        if not span or k == 0 or recorded.labels[k] is not Label.MEASURED or steps[k].compaction is not None:
            continue
        growth = recorded.context[k] - recorded.context[k - 1]
        by_rule = sum(weighed.tokens[steps[k].start : steps[k].stop])
        base64 = _base64(case, span)
        known = any(agree(growth, by_rule + round(base64 / n), 0.15) for _, n in RULES)
        if growth > 4 * by_rule + 4_000 and (known or DENSE <= base64 / (growth - by_rule) <= LOOSE):
            worst = max(span, key=lambda i: _base64(case, [i]))
            text = f"The provider's usage grew by {growth:,} tokens at request {steps[k].request}: "
            text += f"the image rule explains {by_rule:,}, its base64 as text explains the rest"
            grown = Evidence(text, steps[k].request, worst, growth, "tokens", Label.MEASURED.value)
            rows = (_culprit(case, worst), grown)
            because = f"the provider, or a gateway before it, billed the base64 of message {worst} as text"
            return Explanation(MEDIA, _accounts(case) | Fact.FIGURE, because, rows, (UNLISTED,))
    return None


def _matching(case: Case, said: int) -> Explanation | None:
    """The recorder's own figure is what one of the rules makes of the media in the context.

    Not where it is the provider's usage of the request before, nor by a rule whose count earlier requests refute.
    """
    reported = (case.counted or 0) + sum(case.weighed.tokens[i] for i in case.tail)
    if case.what != ERROR and case.usage and reported > EXCESS * case.true and agree(said, reported):
        return None
    limit, found = case.usual or case.window, []
    for span, is_recent in _spans(case):
        rest = case.true - sum(_media_tokens(case, i) for i in span)
        for name, per in RULES:
            if case.what == ERROR or not _was_over(case, limit, per, is_recent=is_recent):
                predicted = rest + round(_base64(case, span) / per)
                found.append((abs(predicted - said) / said, name, span, predicted))
    off, name, span, predicted = min(found, key=lambda one: one[0], default=(NEAR + 1, "", [], 0))
    if off > NEAR:
        return None
    worst = max(span, key=lambda i: _base64(case, [i]))
    text = f"Base64 by {name} makes {predicted:,} of this context; the agent recorded {said:,}"
    rows = (_culprit(case, worst), case.row(text, predicted, label=Label.ESTIMATED.value, message=worst))
    because = f"the base64 of message {worst} was counted as text ({name})"
    # Without a usage the size beside it has no system prompt and no tools.
    left = [] if off <= CLOSE and not case.is_blind else [UNLISTED]
    if any(agree(said, n * case.true) for n in range(2, 6)):
        left.append(CAUSES[DOUBLE])
    return Explanation(MEDIA, _accounts(case) | Fact.FIGURE, because, rows, tuple(left))


def _spans(case: Case) -> list[tuple[list[int], bool]]:
    """The messages with media in the context, then those that came since the request before; and whether they did."""
    recent = [i for i in case.media if i in case.tail]
    return [(span, is_recent) for span, is_recent in ((case.media, False), (recent, True)) if span]


def _possible(case: Case) -> Iterable[Explanation]:
    """No figure of the gate: for the first time the naive count reaches a threshold that the true size does not."""
    limit = case.threshold or case.window * 4 // 5
    if case.what == ERROR:
        if case.error is None or case.error.kind != ErrorKind.CONTEXT:
            return
        limit = case.error.limit or case.window
    if case.true >= 0.9 * limit:
        return
    for span, is_recent in reversed(_spans(case)):
        naive = case.true + _base64(case, span) // 4 - sum(_media_tokens(case, i) for i in span)
        if naive < limit or _was_over(case, limit, is_recent=is_recent):
            continue
        worst = max(span, key=lambda i: _base64(case, [i]))
        text = f"With base64 by characters ÷ 4 this context makes {naive:,} tokens, over {limit:,}; "
        text += f"without it {case.true:,}"
        rows = (_culprit(case, worst), case.row(text, naive, label=Label.ESTIMATED.value, message=worst))
        because = f"message {worst} holds base64 that, counted as text, fills the window"
        yield Explanation(MEDIA, _accounts(case), because, rows, (SETTING,))
        return


def _was_over(case: Case, limit: int, per: float = 4.0, *, is_recent: bool) -> bool:
    """Whether base64, ``per`` characters a token, stood over the limit before in this run, and nothing came of it.

    Of recent media that of one step on the usage before it, of all media at three requests.
    """
    weighed, messages = case.weighed, case.weighed.transcript.messages
    if is_recent:
        for k in case.run[1:]:
            step = weighed.steps[k]
            span = [i for i in range(step.start, step.stop) if has_media(messages[i])]
            if span and weighed.recorded.context[k - 1] + _base64(case, span) / per >= limit:
                return True
        return False
    n, seen, media = 0, 0.0, deque(case.media)
    for k in case.run[:-1]:
        while media and media[0] < weighed.steps[k].stop:
            nearest = media.popleft()
            seen += _base64(case, [nearest]) / per - _media_tokens(case, nearest)
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
    text = f"Message {index}: {base64:,} characters of base64, {tokens:,} tokens by the provider's rule{factor}"
    return Evidence(text, None, index, base64, "characters", Label.ESTIMATED.value)
