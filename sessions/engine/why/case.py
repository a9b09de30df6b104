"""What is known at a point of a session at which its context was compacted, refused, or should have been compacted.

A ``Case`` gathers the figures that the causes of a verdict weigh: what the gate saw, what was true, what came before.
All sizes are tokens unless named otherwise; steps are those of the recorded branch.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

from sessions.engine.agents.agent import ALWAYS, EVERY_REQUEST, WITH_TRIGGER, Agent, Beside, Threshold, writer_of
from sessions.engine.models.model_info import UNKNOWN_WINDOW, ModelInfo
from sessions.engine.transcript.recorded_events import ErrorKind
from sessions.engine.transcript.types import Label, ProviderError, RecordedCompaction, Request, Role, Usage
from sessions.engine.weigh.calibration.context_windows import DEFAULT, REFUSAL, SOURCES, ModelWindow
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why.cache_use import counts_twice
from sessions.engine.why.causes import Evidence
from sessions.engine.why.runs import Filled
from sessions.engine.why.shared import Shared, newest_refusal, position_of, thresholds_of
from sessions.engine.why.windows import differ, held_at

COMPACTION, ERROR, MISSING = "compaction", "error", "missing"
INCLUDED_TOKENS = 5_000
PARTIAL_FACTOR, PARTIAL_LEAST = 3, 20_000


@dataclass(frozen=True)
class Case:
    """A compaction, refused request or missing compaction; ``stop`` is the first message not yet in the context.

    ``number`` counts recorded compactions or errors from 0.
    """

    shared: Shared
    what: str
    number: int
    request: int
    stop: int
    compaction: RecordedCompaction | None = None
    error: ProviderError | None = None

    @property
    def weighed(self) -> Weighed:
        """The session."""
        return self.shared.weighed

    @cached_property
    def position(self) -> int:
        """The step before whose request it lies, the number of steps if none."""
        return position_of(self.weighed, self.request)

    @cached_property
    def agent(self) -> Agent:
        """The agent that wrote the session."""
        return writer_of(self.weighed.transcript)

    def row(
        self, text: str, figure: float | None = None, unit: str = "tokens", label: str = "recorded",
        message: int | None = None,
    ) -> Evidence:  # fmt: skip
        """A row that stands at this point."""
        return Evidence(text, self.request, message, figure, unit if figure is not None else "", label)

    def measured(self, text: str, figure: int) -> Evidence:
        """A row of the usage before."""
        return Evidence(text, self.last.index if self.last else None, None, figure, "tokens", Label.MEASURED.value)

    @cached_property
    def filled(self) -> Filled:
        """What came since the last compaction, what that one put there left out."""
        came = self.shared.runs.came(self.start, self.stop, self.shared.tool_of)
        ranked = tuple((name, tokens, came.counts[name]) for name, tokens in came.tokens.most_common())
        new = sum(self.weighed.tokens[i] for i in self.tail)
        return Filled(came.tokens.total(), len(self.run), ranked, came.heaviest, came.heaviest_tokens, new)

    @cached_property
    def previous(self) -> RecordedCompaction | None:
        """The recorded compaction before this point."""
        compactions = self.weighed.transcript.compactions
        if self.shared.is_shortened:
            return None
        if self.compaction is not None:
            return compactions[self.number - 1] if self.number else None
        return self.shared.runs.compaction_before(self.request, self.stop)

    @property
    def before(self) -> Case | None:
        """The point of the compaction before this one."""
        last = self.previous
        if last is None:
            return None
        known = self.weighed.transcript.compactions
        n = self.number - 1 if self.what == COMPACTION else next(n for n, c in enumerate(known) if c is last)
        return Case(self.shared, COMPACTION, n, last.request, last.boundary, last)

    @cached_property
    def run(self) -> range:
        """Steps since the previous compaction (or the start) up to this point, this one's own left out."""
        start = position_of(self.weighed, self.previous.request) if self.previous is not None else 0
        return range(min(start, self.position), self.position)

    @property
    def last(self) -> Request | None:
        """The request before this point, on the branch and since the previous compaction."""
        return self.request_of(self.run[-1]) if self.run else None

    @property
    def models(self) -> tuple[str, str]:
        """The models that answered right before this point and right after it, where they are two; else "" twice."""
        after = self.request_of(self.position).model if self.position < len(self.weighed.steps) else ""
        before = self.last.model if self.last else ""
        return (before, after) if differ(before, after) else ("", "")

    @property
    def own_window(self) -> int:
        """The window as the agent takes and records it: what it uses of the model's."""
        return self.agent.own_window(self.window)

    def share(self, tokens: int) -> str:
        """Which part of the window that is, as the agent takes it."""
        return f"{100 * tokens / self.own_window:.0f}% of {self.held.whose} window"

    @property
    def usage(self) -> Usage | None:
        """What the provider reported for the request before."""
        return self.last.usage if self.last else None

    @property
    def answered(self) -> Usage | None:
        """The usage of the newest answered request, also where a compaction came right after it."""
        return self.usage or (self.request_of(self.position - 1).usage if self.position else None)

    @cached_property
    def is_spike(self) -> bool:
        """Whether the usage before this point cannot be right: it jumps by more than its content explains."""
        return self.last is not None and self.last.index in self.shared.spikes

    @cached_property
    def inclusive(self) -> bool:
        """Whether the input already holds the cached tokens that are added to it, at the last three requests."""
        usages = [usage for k in self.run[-3:] if (usage := self.request_of(k).usage)]
        return all(usage.cache_read >= INCLUDED_TOKENS for usage in usages) and counts_twice(usages)

    @cached_property
    def counted(self) -> int | None:
        """Input and output of the request before, all tokens as reported: what a gate on the last usage sees."""
        return self.added_up or (self.usage.context + self.usage.output if self.usage else None)

    @cached_property
    def said(self) -> int | None:
        """The size that the recorder itself wrote down, None where it wrote none."""
        figure = self.compaction.tokens_before if self.compaction else self.error.tokens if self.error else None
        if self.error is not None and self.error.kind != ErrorKind.CONTEXT:
            return None
        kind = self.agent.own_figure
        own = self.error is not None or kind == ALWAYS or (kind == WITH_TRIGGER and bool(self.trigger))
        return figure if own or figure != self._computed() else None

    @property
    def counted_overhead(self) -> int | None:
        """System prompt and tools as the agent counted them, else all that it counted before anything was answered."""
        if self.compaction is None:
            return None
        if self.compaction.standing is None and self.said and self.position == 0 and self.compaction.unseen:
            listed = sum(self.weighed.tokens[i] for i in range(self.start, self.stop))
            return self.said - listed if self.said > 2 * listed else None
        return self.compaction.standing

    def _computed(self) -> int | None:
        """What a reader would compute for a compaction without a figure: the newest usage, output included."""
        usages = (self.request_of(k).usage for k in reversed(range(self.position)))
        return next((usage.context + usage.output for usage in usages if usage), None)

    @cached_property
    def tail(self) -> range:
        """The messages that came after the request before this point, its reply included."""
        steps = self.weighed.steps
        if self.run:
            return range(steps[self.run[-1]].stop, self.stop)
        start = steps[self.position].start if self.position < len(steps) else (steps[-1].stop if steps else 0)
        return range(start if self.previous is None else max(start, self.previous.boundary), self.stop)

    @cached_property
    def text(self) -> int:
        """Tokens of the text that the last request sent, by tiktoken alone, thinking left out."""
        until, stop = self.shared.text_until, self.weighed.steps[self.run[-1]].stop if self.run else self.stop
        return sum(until[i + 1] - until[i] for i in self.kept) + until[stop] - until[min(self.start, stop)]

    @cached_property
    def is_partial(self) -> bool:
        """Whether the text that was sent is three times the usage: a proxy leaves cached tokens out (verdicts 3.5)."""
        if self.usage is None or self.weighed.transcript.clearings:
            return False
        return self.text >= PARTIAL_LEAST and self.text > PARTIAL_FACTOR * self.usage.context

    @cached_property
    def after(self) -> int | None:
        """The measured context of the request after this point, what came in between left out; None if not known."""
        weighed, k = self.weighed, self.position
        if self.compaction is None or k >= len(weighed.steps) or weighed.recorded.labels[k] is not Label.MEASURED:
            return None
        messages = weighed.transcript.messages
        came = (i for i in range(self.stop, weighed.steps[k].stop) if messages[i].compaction is None)
        return weighed.recorded.context[k] - sum(weighed.tokens[i] for i in came)

    @property
    def added_up(self) -> int | None:
        """Input and output that the usage before adds up from several calls of one request; None where it was one."""
        usage = self.usage
        return usage.added_up + usage.output if usage and usage.last_input and usage.added_up > usage.context else None

    @cached_property
    def sent(self) -> int:
        """Tokens of the request before, as far as they can be right; without one, what a context starts with."""
        weighed = self.weighed
        if self.is_partial:
            return self.text
        if not self.run:
            kept = self.previous.preserved if self.previous else ()
            return weighed.overhead + sum(weighed.tokens[i] for i in kept)
        at = self.run[-1]
        if self.inclusive and self.usage is not None:
            return self.usage.input
        return self.expected(at) if self.is_spike else weighed.recorded.context[at]

    def expected(self, at: int) -> int:
        """The context of step ``at`` by the one before it and its messages."""
        weighed, step = self.weighed, self.weighed.steps[at]
        added = sum(weighed.tokens[step.start : step.stop])
        return (weighed.recorded.context[at - 1] if at else weighed.overhead) + added

    @cached_property
    def true(self) -> int:
        """Tokens of the list at this point: the request before as measured, its reply, and what came after it."""
        return self.sent + sum(self.weighed.tokens[i] for i in self.tail)

    @cached_property
    def beside(self) -> Beside:
        """Tokens that the agent adds to the last usage: Codex's stored reasoning (policies 6.1)."""
        messages = self.weighed.transcript.messages
        listed = [messages[i] for i in (*self.kept, *range(self.start, self.stop))]
        return self.agent.beside(listed, self.shared.reported) if self.usage is not None else Beside()

    @property
    def beside_rows(self) -> tuple[Evidence, ...]:
        """The same as a row, which says whether it is an estimate."""
        tokens, estimated = self.beside
        text = f"{self.agent.label} also counts {tokens:,} tokens of reasoning of earlier turns"
        text += ", estimated by usage: the file lacks it" if estimated else ""
        return (self.row(text, tokens, label=Label.ESTIMATED.value if estimated else "rule"),) if tokens else ()

    @property
    def larger(self) -> int:
        """The larger of what the trigger saw and what was true, in tokens."""
        return max(self.saw or 0, self.true)

    @property
    def figure(self) -> int:
        """The same with what the agent counts beside it."""
        return self.larger + self.beside.tokens

    @property
    def saw_row(self) -> Evidence:
        """What the gate saw, as a row: the recorder's figure, else the usage of the request before."""
        if self.said is not None:
            return self.row(f"The agent recorded {self.said:,} tokens", self.said)
        figure, index = self.saw or 0, self.last.index if self.last else None
        return self.measured(f"Request {index} reported {figure:,} tokens, output included", figure)

    @property
    def size_rows(self) -> tuple[Evidence, ...]:
        """What the gate saw, where that is known, and what was true, with its share of the window."""
        share = f"{100 * self.true / self.own_window:.0f}% of a window of {self.own_window:,}" if self.window else ""
        true = self.row(f"The context held {self.true:,} tokens, {share}", self.true, label=self.label.value)
        return (self.saw_row, true) if self.saw else (true,)

    @cached_property
    def is_blind(self) -> bool:
        """Whether no usage was reported since the compaction before: what was true is an estimate from the ground."""
        return all(self.request_of(k).usage is None for k in self.run)

    @property
    def is_idle(self) -> bool:
        """Whether the newest message was a reply without a tool call, so that the agent waited for its user."""
        messages = [self.weighed.transcript.messages[i] for i in self.tail]
        said = [m for m in messages if m.blocks and not m.meta and not m.attachment]
        last = said[-1] if said else None
        return last is not None and last.role is Role.ASSISTANT and not last.call_ids()

    @cached_property
    def refusal(self) -> ProviderError | None:
        """The newest refusal for tokens between the last answered request and this point."""
        return newest_refusal(self.refused)

    @cached_property
    def refused(self) -> list[ProviderError]:
        """The errors between the last answered request and this point, those behind a compaction left out."""
        runs = self.shared.runs
        return list(runs.errors_at(self.request) if self.compaction is None else runs.errors_before(self.number))

    @property
    def trigger(self) -> str | None:
        """Who started the compaction, None where that is not recorded."""
        return self.compaction.trigger if self.compaction else None

    def n_passed(self, limit: int) -> int:
        """Requests at or over ``limit``: of the run before an error, of the run from here on where one is missing."""
        return self.shared.runs.n_over(limit, self.run_on if self.what == MISSING else self.run)

    @property
    def run_on(self) -> range:
        """Steps from here on to the next compaction."""
        places = (position_of(self.weighed, c.request) for c in self.weighed.transcript.compactions)
        return range(self.position, min((k for k in places if k > self.position), default=len(self.weighed.steps)))

    @cached_property
    def label(self) -> Label:
        """How ``true`` is known: never measured, for it was not sent like this."""
        return Label.ESTIMATED if self.is_partial else self.weighed.weak_label

    @cached_property
    def saw(self) -> int | None:
        """What the gate saw as far as is known: the recorder's figure, else input and output of the last request."""
        return self.said if self.said is not None else self.counted

    @property
    def start(self) -> int:
        """The first message that the previous compaction left whole."""
        return self.previous.boundary if self.previous else 0

    @cached_property
    def kept(self) -> list[int]:
        """The messages before ``start`` that the previous compaction kept."""
        return [i for i in self.previous.preserved if i < self.start] if self.previous else []

    @cached_property
    def gone(self) -> frozenset[int]:
        """The messages that this compaction took out of the list."""
        if self.compaction is None:
            return frozenset()
        held = frozenset((*self.kept, *range(self.start, self.compaction.boundary)))
        return held.difference(self.compaction.preserved)

    @cached_property
    def media(self) -> list[int]:
        """Messages in the context that hold images or documents."""
        media = self.shared.media
        first = bisect_left(media, self.start)
        held = frozenset(media[:first])
        return [*(i for i in self.kept if i in held), *media[first : bisect_left(media, self.stop)]]

    @cached_property
    def held(self) -> ModelWindow:
        """The model and the window that this point was held against."""
        at, own = self.position, self.what == MISSING
        if self.trigger == "manual" and at > 0:
            at, own = at - 1, True
        found = held_at(self.weighed, at, self.larger, self.shared.windows, own=own)
        if self.error is not None and found.source == REFUSAL and found.window < UNKNOWN_WINDOW:
            # It was told only here: until then an agent of an unknown model had no more than its guess.
            return found._replace(window=UNKNOWN_WINDOW, source=DEFAULT)
        return found

    @property
    def model(self) -> ModelInfo:
        """The model of this point."""
        return self.held.model

    @property
    def switched(self) -> str:
        """The model of a larger window that was given up right before this point, "" where none was."""
        return self.held.before

    @property
    def switch_rows(self) -> tuple[Evidence, ...]:
        """The change to a smaller window right before this point, as rows."""
        if not self.switched:
            return ()
        text = f"The model was changed from {self.switched} to {self.model.name}, which takes {self.window:,} tokens"
        label = "recorded" if self.weighed.transcript.window == self.window else "rule"
        return (self.row(text, self.window, label=label),)

    @property
    def window(self) -> int:
        """The window in tokens: that of the model at this point, long only where not a wrong usage speaks for it."""
        return self.held.window

    @property
    def assumed(self) -> int | None:
        """The window that the agent works with, None where only we assume one."""
        return self.window if self.window_is_known or self.agent.assumes_window else None

    @property
    def window_words(self) -> str:
        """The window and where it comes from, in a clause."""
        return f"a window of {self.window:,} tokens, {SOURCES[self.held.source]}"

    @property
    def window_is_known(self) -> bool:
        """Whether the window is recorded, shown by the session or in the table of models."""
        return self.held.is_known

    @cached_property
    def thresholds(self) -> tuple[Threshold, ...]:
        """Thresholds of this session's agent at its window, () where none is known."""
        unhindered = {"n_over": self.n_over} if self.what == COMPACTION else {}
        return thresholds_of(self.weighed.transcript, self.window, self.model, **unhindered)

    @property
    def threshold(self) -> int | None:
        """The lowest of them."""
        return min((one.tokens for one in self.thresholds), default=None)

    @property
    def usual(self) -> int | None:
        """The one of the agent's present version."""
        return self.thresholds[0].tokens if self.thresholds else None

    @property
    def met(self) -> int | None:
        """The highest that the context or the gate's figure reached, else the usual one."""
        return max((one.tokens for one in self.thresholds if one.tokens <= self.larger), default=self.usual)

    @cached_property
    def peak_before(self) -> int:
        """The largest context of this run before the last request; 0 right after a change to a smaller window."""
        return 0 if self.switched else self.shared.runs.peak(self.run[:-1])

    def n_over(self, limit: int) -> int:
        """Requests of this run, the last one left out, whose context was at or over ``limit`` of the same window."""
        return 0 if self.switched else self.shared.runs.n_over(limit, self.run[:-1])

    def is_asked(self, limit: int) -> bool:
        """Whether its trigger was asked at or over ``limit`` before: at the end of a turn, if not at every request."""
        weighed, messages = self.weighed, self.weighed.transcript.messages
        if self.agent.asked == EVERY_REQUEST:
            return True
        run = range(self.position, len(weighed.steps)) if self.what == MISSING else self.run
        over = [weighed.steps[k] for k in run if weighed.recorded.context[k] >= limit]
        spans = [range(step.start, step.stop) for step in over]
        if self.what == ERROR and self.true >= limit:
            spans.append(self.tail)
        return any(messages[i].typed for span in spans for i in span)

    def request_of(self, k: int) -> Request:
        """The request of step ``k``."""
        return self.weighed.transcript.requests[self.weighed.steps[k].request]
