"""Base64 of images and documents counted as text, by the trigger or by whoever bills for the provider (verdicts 3.1).

A hypothesis about a gate is held against the earlier requests of the same session, where that gate would have fired
and did not (estimators 13 names the reports behind it).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sessions.engine.transcript.types import Label
from sessions.engine.why.account import AFTER, AT_ONCE, SETTING, UNLISTED, Explanation, Fact
from sessions.engine.why.case import ERROR, MISSING, Case
from sessions.engine.why.causes import CAUSES, DOUBLE, MEDIA
from sessions.engine.why.culprits import has_media
from sessions.engine.why.evidence import Evidence
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
            rows = (
                _culprit(case, worst),
                Evidence(
                    f"The provider's usage grew by {growth:,} tokens at request {steps[k].request}: "
                    f"the image rule explains {by_rule:,}, its base64 as text explains the rest",
                    steps[k].request, worst, growth, "tokens", Label.MEASURED.value,
                ),
            )  # fmt: skip
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
    best: tuple[float, str, Sequence[int], int] | None = None
    recent = [i for i in case.media if i in case.tail]
    spans: list[Sequence[int]] = [span for span in (case.media, recent) if span]
    for span in spans:
        rest = case.true - sum(_media_tokens(case, i) for i in span)
        for name, per in RULES:
            predicted = rest + round(_base64(case, span) / per)
            if case.what != ERROR and _refuted(case, per, is_recent=span is recent):
                continue
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
            f"Base64 by {name} makes {predicted:,} of this context; the agent recorded {said:,}",
            case.request, worst, predicted, "tokens", Label.ESTIMATED.value,
        ),
    )  # fmt: skip
    because = f"the base64 of message {worst} was counted as text ({name})"
    # Without a usage the size beside it has no system prompt and no tools.
    left = [] if off <= CLOSE and not case.is_blind else [UNLISTED]
    if any(agree(said, n * case.true) for n in range(2, 6)):
        left.append(CAUSES[DOUBLE])
    return Explanation(MEDIA, _accounts(case) | Fact.FIGURE, because, rows, tuple(left))


def _refuted(case: Case, per: float, *, is_recent: bool) -> bool:
    """Whether base64 counted at ``per`` characters a token stood over the threshold before, and nothing came of it."""
    limit = case.usual or case.window
    return _step_was_over(case, limit, per) if is_recent else _was_over(case, limit, per)


def _possible(case: Case) -> Iterable[Explanation]:
    """No figure of the gate: the naive count reaches a threshold that the true size does not.

    Refuted where the same count stood over it at earlier requests and nothing happened.
    """
    limit = case.threshold or case.window * 4 // 5
    if case.what == ERROR:
        if case.error is None or case.error.kind != "context":
            return
        limit = case.error.limit or case.window
    if case.true >= 0.9 * limit:
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
        yield Explanation(MEDIA, _accounts(case), because, rows, (SETTING,))
        return


def _step_was_over(case: Case, limit: int, per: float = 4.0) -> bool:
    """Whether the base64 of an earlier step of this run, as text on the usage before it, stood over the limit."""
    weighed, messages = case.weighed, case.weighed.transcript.messages
    for k in case.run[1:]:
        step = weighed.steps[k]
        span = [i for i in range(step.start, step.stop) if has_media(messages[i])]
        if span and weighed.recorded.context[k - 1] + _base64(case, span) / per >= limit:
            return True
    return False


def _was_over(case: Case, limit: int, per: float = 4.0) -> bool:
    """Whether base64 as text stood over the limit at three earlier requests of this run."""
    weighed, n = case.weighed, 0
    seen = 0.0
    media = iter(case.media)
    nearest = next(media, None)
    for k in case.run[:-1]:
        while nearest is not None and nearest < weighed.steps[k].stop:
            seen += _base64(case, [nearest]) / per - _media_tokens(case, nearest)
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
