"""What holds of every replay, whatever the policy and the session: one place for the quick test and the long one.

Of a step that stands whole and unedited the list holds its measured growth, less what left of it beside a compaction;
of any other step the tokens of the messages that are left (estimates moved by the session's own calibration, so either
may be the larger); of what a policy inserted its tokens.  None of these is negative, so a context is never below the
overhead and what the list holds (replay-semantics 3).
"""

from __future__ import annotations

import math
from collections import Counter

from sessions.engine.base.registry import plugins
from sessions.engine.costs.caching import WHOLE, cache_use
from sessions.engine.costs.cost import summary_tokens, totals
from sessions.engine.costs.prices import PER_MILLION, step_prices
from sessions.engine.policies.params import specs
from sessions.engine.replays.diff import diff_event
from sessions.engine.replays.replay import replay_of, walk_of
from sessions.engine.weigh.outputs import outputs

POLICIES = sorted(plugins("policies"))
LOW = (0.25, 0.5)
"""Shares of the largest recorded context at which a policy's own threshold is set."""


def settings_of(policy, weighed):
    """The defaults, and low thresholds: each as options of ``replay``."""
    top = max(weighed.recorded.context, default=0)
    window = max(1_000, top)
    found = [{}, {"window": window}]
    chosen = plugins("policies")[policy]
    spec = next((spec for spec in specs(chosen.params) if spec.name == chosen.threshold_param), None)
    if spec is not None:
        found += [{"window": window, "params": {spec.name: _low(spec, share, top, weighed)}} for share in LOW]
    return found


def _low(spec, share, top, weighed):
    """A threshold that a session of its size passes, in the parameter's own unit."""
    if spec.whole:
        value = spec.whole * share
    elif "tokens" in spec.bounds:
        value = top * share
    elif "chars" in spec.bounds or "bytes" in spec.bounds:
        value = 4 * top * share
    else:
        value = min(40, len(weighed.transcript.messages)) * share
    value = min(max(value, spec.low), spec.high)
    return math.ceil(value) if spec.is_whole else value


class Checked:
    """A replay made request by request, with what is not so of it: ``wrong`` has one line for each."""

    def __init__(self, weighed, policy, **options):
        self.walk = walk_of(weighed, policy, **options)
        self.weighed, self.wrong = weighed, []
        self.asked = 0
        ask, send = self.walk._ask, self.walk._send

        def checked_ask(k, added):
            context = self.walk.context
            self.asked = self.tokens_of(context.items) + context.empty
            event = ask(k, added)
            if event is not None:
                self.check_event(event)
            return event

        def checked_send(k, cached):
            send(k, cached)
            self.check_sent(k)

        self.walk._ask, self.walk._send = checked_ask, checked_send
        self.walk.run()
        self.replay = replay_of(self.walk, options.get("summarizer", "recorded"))
        self.check_whole()

    def must(self, holds, what):
        """Note what is not so."""
        if not holds:
            self.wrong.append(what)

    def tokens_of(self, items):
        """Display tokens of a list with the overhead, added up from its messages alone."""
        context = self.walk.context
        total = self.weighed.overhead
        steps = {}
        for item in items:
            self.must(item.tokens >= 0, f"message {item.id} weighs {item.tokens}")
            if item.inserted:
                total += item.tokens
            else:
                steps.setdefault(item.step, []).append(item)
        for step, held in steps.items():
            whole = len(held) == context.members[step] and not any(item.edited for item in held)
            total += context.weights[step] if whole else sum(item.tokens for item in held)
            total += context.history if step == 0 and not whole else 0
            self.must(context.weights[step] >= 0, f"step {step} weighs {context.weights[step]}")
        return total

    def check_event(self, event):
        """Before and after are sums of their lists, kept + edited + dropped is before, nothing grew."""
        at = f"event {event.index} at request {event.request}"
        before, after, rows = event.before, event.after, diff_event(event, self.weighed)
        ops = Counter({"moved": "kept"}.get(row.op, row.op) for row in rows)
        self.must(event.before_tokens == self.asked, f"{at}: before is {event.before_tokens}, its list {self.asked}")
        self.must(event.before_tokens >= event.after_tokens, f"{at}: grew to {event.after_tokens}")
        freed = sum(layer.freed_tokens for layer in event.layers)
        self.must(freed == event.before_tokens - event.after_tokens, f"{at}: its layers freed {freed}")
        counted = (event.kept, event.edited, event.dropped, event.inserted)
        shown = (ops["kept"], ops["edited"], ops["dropped"], ops["inserted"])
        self.must(counted == shown, f"{at}: {counted} counted, {shown} shown")
        self.must(sum(counted[:3]) == len(before), f"{at}: kept, edited and dropped are not before")
        self.must(len(after) == event.n_after, f"{at}: {len(after)} messages, not {event.n_after}")
        weighs = sum(row.tokens_before for row in rows), sum(row.tokens_after for row in rows)
        listed = sum(item.tokens for item in before), sum(item.tokens for item in after)
        self.must(weighs == listed, f"{at}: rows weigh {weighs}, lists {listed}")

    def check_sent(self, k):
        """What a request sends is the sum of its list; never below the overhead and what nothing can take away."""
        walk, context = self.walk, self.walk.context
        shown = walk.context_tokens[walk.steps[k].request]
        if walk.base != "full":
            self.must(shown == self.weighed.recorded.context[k], f"step {k}: not as recorded")
            return
        listed = self.tokens_of(context.items) + context.empty
        self.must(shown == listed, f"step {k}: {shown} shown, {listed} listed")
        newest = [item for item in context.items if item.step == k and not item.inserted]
        floor = self.weighed.overhead + sum(item.tokens for item in context.items if item.inserted)
        floor += min(self.weighed.recorded.growths[k], sum(item.tokens for item in newest)) if newest else 0
        self.must(shown >= floor, f"step {k}: {shown} is below {floor}")
        self.must(context.empty >= 0, f"step {k}: requests without messages weigh {context.empty}")

    def check_whole(self):
        """An unchanged context is as recorded; totals are sums of rows."""
        made, weighed = self.replay, self.weighed
        changed = [k for k, step in enumerate(weighed.steps) if step.compaction is not None]
        changed += [k for k, step in enumerate(weighed.steps) if made.events and step.request == made.events[0].request]
        for k in range(min(changed, default=len(weighed.steps))):
            sent = made.context_tokens[weighed.steps[k].request]
            self.must(sent == weighed.recorded.context[k], f"step {k}: {sent}, not as recorded")
        if made.events and made.base == "full":
            last = made.events[-1]
            after = made.context_tokens[last.request]
            self.must(after == last.after_tokens, f"event {last.index} left {last.after_tokens}, {after} was sent")
        self.check_totals(totals(made))

    def check_totals(self, sums):
        """Compactions, largest context, tokens, calls and dollars."""
        made, calls = self.replay, list(self.calls())
        sent = made.sent.tokens
        rows = {
            "compactions": (sums.compactions, len(made.events)),
            "peak": (sums.peak_context_tokens, max(sent, default=0)),
            "calls": (sums.summary_calls, len(calls)),
            "output": (sums.output_tokens, sum(outputs(self.weighed)) + sum(written for *_, written in calls)),
            "sent": (sums.sent_tokens, sum(sent) + sum(tokens for _, tokens, _ in calls)),
        }
        for name, (one, other) in rows.items():
            self.must(one == other, f"{name}: {one} in all, {other} by rows")
        if sums.cost is not None:
            by_row = sum(self.dollars(calls))
            close = math.isclose(sums.cost.low, by_row, rel_tol=1e-4, abs_tol=1e-4)
            self.must(close, f"cost: {sums.cost.low} in all, {by_row} by rows")
            self.must(sums.cost.low <= sums.cost.high, "the upper end of the cost is the lower")

    def calls(self):
        """Every summary call: its step, tokens that it reads, tokens that it writes."""
        made = self.replay
        if not made.policy.summary_calls:
            return
        steps = {step.request: k for k, step in enumerate(self.weighed.steps)}
        for event in made.events:
            for n in range(event.summary_calls):
                yield steps[event.request], event.before_tokens, 0 if n else summary_tokens(event)
        for attempt in made.attempts:
            for _ in range(attempt.summary_calls):
                yield steps[attempt.request], attempt.tokens, 0

    def dollars(self, calls):
        """What every request and every call costs by itself."""
        made, use = self.replay, cache_use(self.weighed)
        prices = step_prices(self.weighed, None)
        for k, (sent, cached) in enumerate(zip(*made.sent, strict=True)):
            read = cached * use.shares[k] / WHOLE + (min(use.start, sent) if not k else 0)
            yield _price(prices[k].at(sent), use, sent - read, read, outputs(self.weighed)[k])
        for k, tokens, written in calls:
            priced = prices[k].at(tokens)
            if made.policy.shares_prefix:
                read = min(tokens, made.sent.tokens[k - 1]) * use.shares[k] / WHOLE
                yield _price(priced, use, tokens - read, read, written)
            else:
                yield (tokens * priced.input + written * priced.output) / PER_MILLION


def _price(prices, use, fresh, read, written):
    return (fresh * use.blended(prices).fresh() + read * prices.cache_read + written * prices.output) / PER_MILLION


def violations(weighed, policy, **options):
    """What is not so of one replay."""
    return Checked(weighed, policy, **options).wrong
