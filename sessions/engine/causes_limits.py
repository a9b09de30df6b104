"""Causes that lie in what a count was held against: the window, the overhead, what is retained, the body's bytes.

And the plain ones: compacted by hand, or a threshold honestly reached.  Sizes are tokens unless named otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.case import COMPACTION, ERROR, MISSING, Candidate, Case, Evidence
from sessions.engine.ladders import SET_WINDOWS, Rung, ladder, usual_windows
from sessions.engine.sizes import estimator_named
from sessions.engine.types import Kind, Label, Role

if TYPE_CHECKING:
    from collections.abc import Iterable

MANUAL, REACHED, WINDOW, OVERHEAD, RETAINED, BODY = (
    "manual", "threshold_reached", "wrong_window", "overhead_near_threshold", "retained_through_compaction",
    "body_size_limit",
)  # fmt: skip
BODY_LIMITS = (
    (32_000_000, "32 MB, the API's request limit"), (26_214_400, "25 MiB"), (20_971_520, "20 MiB"),
    (16_777_216, "16 MiB"), (10_485_760, "10 MiB"), (8_388_608, "8 MiB"),
)  # fmt: skip
"""Bytes that providers, gateways and harnesses allow a request's body."""
LEAST_CONTEXT = 8_000
"""Tokens: a context smaller than this is a test's, not one that a fixed overhead fills."""
SERVER_LEAST = 50_000
"""The smallest trigger that Anthropic's server-side compaction takes (policies 5.3)."""
CLOSE_TO = 0.97
"""An estimate this near to a threshold may be at it."""
USUAL = (0.7, 1.02)
"""Where harnesses whose gate is not known compact, as shares of the window (policies 3)."""


def manual(case: Case) -> Iterable[Candidate]:
    """The recorder says so; where it says nothing, a compaction under every threshold while the agent was idle."""
    compaction, limit = case.compaction, case.threshold
    if compaction is None:
        return
    share = f"{100 * case.true / case.window:.0f} % of the window"
    if compaction.trigger == "manual":
        row = Evidence("The transcript records the trigger as manual", case.request, None, None, "", "recorded")
        yield Candidate(MANUAL, 1.0, "somebody asked for it", (row, _size_row(case)))
        return
    if compaction.trigger is None and limit is not None and max(case.true, case.saw or 0) < limit and _is_idle(case):
        text = f"No trigger is recorded; at {share} it was under the threshold of {limit:,}, and the agent was idle"
        row = Evidence(text, case.request, None, limit, "tokens", "rule")
        yield Candidate(MANUAL, 0.6, "it came below the threshold while the agent was idle", (row, _size_row(case)))


def _is_idle(case: Case) -> bool:
    """Whether the newest message was a reply without a tool call, so that the agent waited for its user."""
    messages = [case.weighed.transcript.messages[i] for i in case.tail]
    said = [m for m in messages if not m.meta and not m.attachment]
    last = said[-1] if said else None
    return last is not None and last.role is Role.ASSISTANT and not last.call_ids()


def _size_row(case: Case) -> Evidence:
    share = 100 * case.true / case.window
    text = f"The context held {case.true:,} tokens, {share:.0f} % of a window of {case.window:,}"
    return Evidence(text, case.request, None, case.true, "tokens", case.label.value)


def _saw_row(case: Case) -> Evidence:
    figure = case.saw or 0
    if case.said is not None:
        return Evidence(f"The recorder wrote down {figure:,} tokens", case.request, None, figure, "tokens", "recorded")
    index = case.last.index if case.last else None
    text = f"Request {index} reported {figure:,} tokens, output included"
    return Evidence(text, index, None, figure, "tokens", Label.MEASURED.value)


def reached(case: Case) -> Iterable[Candidate]:
    """What the gate saw, and the true size, are at or over a threshold of this harness that was not reached before."""
    if case.what == MISSING:
        return
    if case.what == COMPACTION and case.weighed.transcript.errors and _refused_here(case):
        yield Candidate(REACHED, 0.9, "the provider had refused the request as too long", (_size_row(case),))
        return
    if case.what == ERROR:
        return
    fitting = [rung for rung in case.rungs if max(case.saw or 0, case.true) >= rung.tokens >= case.peak_before]
    passed = [rung for rung in case.rungs if case.true >= CLOSE_TO * rung.tokens]
    rung = max((r for r in fitting if r in passed), default=None)
    if rung is not None:
        score = 0.95 if case.compaction and case.compaction.trigger == "auto" else 0.9
        yield _honest(case, rung, _doubted(case, score))
    elif passed:
        late = max(passed)
        n = case.n_over(late.tokens)
        if n:
            yield _honest(case, late, _doubted(case, 0.75), f"{n} requests before")
        else:
            because = f"{case.true:,} tokens had come within 3 % of the threshold of {late.tokens:,}"
            yield Candidate(REACHED, _doubted(case, 0.65), because, _sizes(case))
    elif case.weighed.transcript.format == "anthropic_messages":
        yield from _server(case)
    elif not case.rungs:
        yield from _usual(case)


def _doubted(case: Case, score: float) -> float:
    """Less sure where the window is only assumed, or where a longer one may have been asked for."""
    if not case.window_is_known:
        return score - 0.2
    return score


def _honest(case: Case, rung: Rung, score: float, late: str = "") -> Candidate:
    """The threshold was reached."""
    figure = max(case.saw or 0, case.true)
    text = f"{rung.name} is {rung.tokens:,} tokens at a window of {case.window:,}"
    rows = (
        *_sizes(case),
        Evidence(text, case.request, None, rung.tokens, "tokens", "rule"),
    )
    if late:
        because = f"the context had reached the threshold of {rung.tokens:,} tokens {late}"
        return Candidate(REACHED, score, because, rows)
    return Candidate(REACHED, score, f"{figure:,} tokens had reached the threshold of {rung.tokens:,}", rows)


def _server(case: Case) -> Iterable[Candidate]:
    """Server-side compaction: the request names its own trigger, 50,000 tokens or more (policies 5.3)."""
    figure = max(case.saw or 0, case.true)
    if figure >= SERVER_LEAST:
        because = f"{figure:,} tokens had reached the trigger that the request itself gives the API"
        yield Candidate(REACHED, 0.6, because, _sizes(case))


def _usual(case: Case) -> Iterable[Candidate]:
    low, high = USUAL
    measured = any(r.usage for r in case.weighed.transcript.requests)
    if measured and case.window_is_known and low * case.window <= case.true <= high * case.window:
        because = f"the context had reached {100 * case.true / case.window:.0f} % of the window"
        yield Candidate(REACHED, 0.55, because, (_size_row(case),))


def _refused_here(case: Case) -> bool:
    """Whether a request was refused for its tokens between the last answered one and this compaction."""
    return any(e.kind == "context" and e.request == case.request for e in case.weighed.transcript.errors)


def unsaid_window(case: Case) -> Iterable[Candidate]:
    """A threshold honestly reached on the plain window of a model that also has a long one: was that asked for?"""
    model, limit = case.weighed.model, case.threshold
    if case.what != COMPACTION or case.weighed.window_source != "model" or limit is None or not model.long_window:
        return
    if case.window >= model.long_window or max(case.saw or 0, case.true) < limit:
        return
    share = 100 * case.true / model.long_window
    because = (
        f"had the long window of {model.long_window:,} been asked for, which is not recorded, it came at {share:.0f} %"
    )
    yield Candidate(WINDOW, 0.5, because, (_size_row(case),))


def wrong_window(case: Case) -> Iterable[Candidate]:
    """The gate held the context against another window, or against the wrong share of it."""
    if case.what == ERROR:
        yield from _refused_window(case)
        return
    figure, limit = max(case.saw or 0, case.true), case.threshold
    if case.what == MISSING or limit is None or figure >= limit or case.true < 0.6 * figure:
        return
    compaction = case.compaction
    if compaction is not None and compaction.trigger == "manual":
        return
    auto = compaction is not None and compaction.trigger == "auto"
    found = _fitting(case, figure, usual_windows(case.weighed), 0.04) or _fitting(case, figure, SET_WINDOWS, 0.012)
    if found:
        rung, window = found
        text = f"{rung.name} would be {rung.tokens:,} at a window of {window:,}; the session's is {case.window:,}"
        rows = (*_sizes(case), _window_row(case, text, rung.tokens))
        score = (0.85 if auto else 0.65) if case.window_is_known else 0.45
        if window not in usual_windows(case.weighed):
            score -= 0.15
        because = f"the gate, or a setting, took the window for {window:,} tokens instead of {case.window:,}"
        yield Candidate(WINDOW, score, because, rows)
    elif auto or not _is_idle(case):
        text = f"The lowest threshold known for it is {limit:,} tokens; no other window's threshold fits"
        because = f"the gate fired at {100 * figure / case.window:.0f} % of the window, under its usual threshold"
        rows = (_size_row(case), _window_row(case, text, limit))
        yield Candidate(WINDOW, 0.5 if auto else 0.4, because, rows, is_fallback=True)


def _fitting(case: Case, figure: int, windows: Iterable[int], share: float) -> tuple[Rung, int] | None:
    """The threshold of another window that was first reached here, overshot by no more than ``share`` or one step."""
    near = [
        (figure - rung.tokens, rung, window)
        for window in windows
        if window < 0.95 * case.window
        for rung in ladder(case.weighed, window)[:1]
        if case.peak_before < rung.tokens <= figure <= rung.tokens + max(share * rung.tokens, _overshoot(case))
    ]
    return min(near)[1:] if near else None


def _sizes(case: Case) -> tuple[Evidence, ...]:
    """What the gate saw, where that is known, and what was true."""
    return (_saw_row(case), _size_row(case)) if case.saw else (_size_row(case),)


def _window_row(case: Case, text: str, figure: int) -> Evidence:
    return Evidence(text, case.request, None, figure, "tokens", "rule")


def _overshoot(case: Case) -> int:
    """By how much the context grew since the gate was asked before, as far as that is less than a tenth of it."""
    growth = max(0, case.true - (case.peak_before or case.true))
    return growth if growth <= 0.1 * case.true else 0


def _refused_window(case: Case) -> Iterable[Candidate]:
    error = case.error
    if error is None or error.kind != "context":
        return
    limit = error.limit
    if limit and error.tokens and error.tokens < limit:
        text = f"The request had {error.tokens:,} tokens; with the reply's reserve it passed the window of {limit:,}"
        row = Evidence(text, case.request, None, error.tokens, "tokens", "recorded")
        yield Candidate(WINDOW, 0.8, "the room that the reply reserves was left out of the window's share", (row,))
        return
    if limit and case.window >= 1.2 * limit and case.weighed.window_source != "default":
        text = f"The provider's limit is {limit:,} tokens, the session's window {case.window:,}"
        row = Evidence(text, case.request, None, limit, "tokens", "recorded")
        because = f"the gate worked with a window of {case.window:,} tokens; the provider's is {limit:,}"
        yield Candidate(WINDOW, 0.9, because, (row, _size_row(case)))
        return
    real = limit or case.window
    rungs = ladder(case.weighed, real)
    usual = rungs[0].tokens if rungs else real * 19 // 20
    n = case.n_over(usual)
    if n >= 2 and case.true < 3 * real:
        text = f"At {n} requests before it the context was already at or over {usual:,} tokens, and nothing fired"
        row = Evidence(text, case.request, None, n, "requests", Label.MEASURED.value)
        because = "the gate seems to have been held against a larger window than the provider's"
        yield Candidate(WINDOW, 0.5, because, (row, _size_row(case)))


def overhead(case: Case) -> Iterable[Candidate]:
    """System prompt and tools alone take most of the threshold, so that little conversation is enough."""
    limit = case.threshold or (max(case.saw or 0, case.true) if case.what != MISSING else case.window)
    if case.error is not None and case.error.kind == "context":
        limit = case.error.limit or case.window
    own = case.weighed.overhead
    if case.threshold is None and case.error is None and (case.usage is None or case.true < LEAST_CONTEXT):
        return
    if not limit or own < 0.5 * limit or case.true < 0.9 * limit:
        return
    share = f"{100 * own / limit:.0f} % of {limit:,}"
    text = f"System prompt, tools and what the harness hides weigh {own:,} tokens, {share}"
    row = Evidence(text, None, None, own, "tokens", case.weighed.overhead_label.value)
    score = min(0.95, 0.6 + 0.35 * (own / limit - 0.5) / 0.35)
    if case.threshold is None and case.error is None:
        score -= 0.15
    yield Candidate(
        OVERHEAD, score, f"{own:,} tokens of fixed overhead stand against {limit:,}", (row, _size_row(case))
    )


def _floor(case: Case) -> int:
    """What the context weighed right after the previous compaction, beyond the overhead; 0 where not known."""
    previous = case.previous
    if previous is None or not case.run:
        return 0
    after = case.weighed.recorded.context[case.run[0]]
    return after if case.request_of(case.run[0]).index not in case.spikes else 0


def retained(case: Case) -> Iterable[Candidate]:
    """The previous compaction left most of the threshold standing, so that it was soon reached again."""
    if case.previous is None or case.what == MISSING:
        return
    floor = _floor(case)
    limit = case.threshold or max(case.saw or 0, case.true)
    if case.error is not None:
        limit = case.error.limit or case.window
    if floor < 0.6 * limit or case.true < 0.9 * limit or case.weighed.overhead >= 0.5 * limit:
        return
    first = case.weighed.steps[case.run[0]].request
    text = (
        f"Right after the compaction before, request {first} already held {floor:,} tokens, {100 * floor / limit:.0f} %"
    )
    rows = [Evidence(f"{text} of {limit:,}", first, None, floor, "tokens", Label.MEASURED.value)]
    rows += [*_kept_media(case), _size_row(case)]
    text = f"Requests since then: {len(case.run)}"
    rows.append(Evidence(text, first, None, len(case.run), "requests", "recorded"))
    score = min(0.93, 0.7 + 0.8 * (floor / limit - 0.6)) - (0.2 if len(case.run) > 40 else 0)
    yield Candidate(
        RETAINED, score, f"the compaction before had left {floor:,} of {limit:,} tokens standing", tuple(rows)
    )


def _kept_media(case: Case) -> list[Evidence]:
    """Images and documents that the previous compaction kept."""
    previous = case.previous
    messages = case.weighed.transcript.messages
    kept = previous.preserved if previous else ()
    made = [i for i in range(previous.boundary, case.stop) if messages[i].compaction is not None] if previous else []
    media = [leaf for i in (*kept, *made) for leaf in messages[i].leaves() if leaf.kind in (Kind.IMAGE, Kind.DOCUMENT)]
    if not media:
        return []
    tokens = sum(case.weighed.image_tokens(leaf) for leaf in media)
    text = f"It kept {len(media)} images or documents, {tokens:,} tokens by the provider's rule"
    return [Evidence(text, None, None, tokens, "tokens", Label.ESTIMATED.value)]


def body_size(case: Case) -> Iterable[Candidate]:
    """The request's bytes, not its tokens: the provider said so, or the transcript's bytes reach a known limit."""
    said = [e for e in case.weighed.transcript.errors if e.kind == "body" and e.request == case.request]
    n_bytes = _wire_bytes(case)
    row = Evidence(
        f"The messages alone weigh {n_bytes:,} transcript bytes as base64 and text", case.request, None, n_bytes,
        "bytes", "transcript",
    )  # fmt: skip
    if case.error is not None:
        if case.error.kind == "body":
            because = "the provider refused the request for its bytes, not for its tokens"
            yield Candidate(BODY, 0.95, because, (_refusal_row(case, case.error.status), row, _size_row(case)))
        return
    if said:
        because = "the provider had refused the request for its bytes"
        yield Candidate(BODY, 0.93, because, (_refusal_row(case, said[-1].status), row, _size_row(case)))
        return
    if case.what == MISSING or case.true >= 0.7 * (case.threshold or case.window):
        return
    for limit, name in BODY_LIMITS:
        if 0.92 * limit <= n_bytes <= 1.08 * limit and n_bytes - _step_bytes(case) < limit:
            near = Evidence(f"A known limit of request bodies is {name}", None, None, limit, "bytes", "rule")
            yield Candidate(BODY, 0.62, f"the request's body had come near {name}", (row, near, _size_row(case)))
            return


def _step_bytes(case: Case) -> int:
    """Transcript bytes of what came with and since the last request: before them the limit was not passed."""
    sizes = case.weighed.sizes(estimator_named("wire_bytes"))
    start = case.weighed.steps[case.run[-1]].start if case.run else case.tail.start
    return sum(sizes[start : case.stop])


def _refusal_row(case: Case, status: int) -> Evidence:
    text = f"The provider refused the request as too large{f' (HTTP {status})' if status else ''}"
    return Evidence(text, case.request, None, status or None, "", "recorded")


def _wire_bytes(case: Case) -> int:
    sizes = case.weighed.sizes(estimator_named("wire_bytes"))
    return sum(sizes[i] for i in case.context)
