"""What remains of the explanations of a point: what each accounts for, and what contradicts it (verdicts 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntFlag, auto
from typing import TYPE_CHECKING

from sessions.engine.why import causes

if TYPE_CHECKING:
    from sessions.engine.why.case import Case
    from sessions.engine.why.causes import Evidence


class Fact(IntFlag):
    """What of a record an explanation accounts for; a later one weighs more than all before it."""

    SIZE = auto()
    RULE = auto()
    CONTENT = auto()
    TIMING = auto()
    FLOOR = auto()
    FIGURE = auto()
    CHANGE = auto()
    WORDS = auto()
    OUTCOME = auto()


FACTS = {
    Fact.OUTCOME: "what it left",
    Fact.WORDS: "its own words or mark",
    Fact.CHANGE: "the event right before it",
    Fact.FIGURE: "the figure that was counted",
    Fact.FLOOR: "what stood there before anything came",
    Fact.TIMING: "when it came",
    Fact.CONTENT: "what had come since",
    Fact.RULE: "the agent's rule",
    Fact.SIZE: "the size of the context",
}
PASSED = Fact.SIZE | Fact.RULE
FILLED = PASSED | Fact.CONTENT
COUNTED = PASSED | Fact.FIGURE
AT_ONCE = FILLED | Fact.TIMING
STANDING = AT_ONCE | Fact.FLOOR
AFTER = AT_ONCE | Fact.CHANGE
ALL = Fact(sum(FACTS))
OVERSHOOT = 0.02
MOST_OPEN = 2
"""An explanation beside which more than so many others stand says nothing."""
UNLISTED, SETTING, ESTIMATE = "content that the file lacks", "a setting that is not recorded", "a size only estimated"
"""What a file often cannot exclude."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One explanation of a point: what of the record it ``accounts`` for, what it says, and the rows that show it.

    ``open`` are other explanations that the file does not exclude beside it, in words; ``against`` the figures or marks
    of the file that contradict it, in words: then it is out.  ``advice`` replaces what is advised for its cause.
    """

    cause: str
    accounts: Fact
    because: str
    evidence: tuple[Evidence, ...] = ()
    open: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    advice: str | None = None

    @property
    def is_settled(self) -> bool:
        """Whether at most one other is left."""
        return len(self.open) <= 1


def remaining(found: Iterable[Explanation]) -> list[Explanation]:
    """Those that nothing contradicts and no better one takes with it, the best first (verdicts 1)."""
    standing = [one for one in found if not one.against and len(one.open) <= MOST_OPEN]
    settled = [one for one in standing if one.is_settled]
    left = [one for one in standing if not any(_is_part(one, more) for more in settled)]
    left.sort(key=lambda one: (not one.is_settled, -one.accounts, len(one.open)))
    alone = left and not left[0].open and left[0].accounts & (Fact.WORDS | Fact.OUTCOME)
    return left[:1] if alone else left


def _is_part(one: Explanation, more: Explanation) -> bool:
    return one.cause != more.cause and one.accounts != more.accounts and one.accounts & more.accounts == one.accounts


def beside(case: Case, lead: Explanation, rivals: Sequence[Explanation]) -> tuple[str, ...]:
    """What the file leaves open beside the leading one, in words; what is only possible, where nothing else is open."""
    names = [causes.CAUSES[cause] for cause in RIVALS.get(lead.cause, ()) if not CONTRADICTED[cause](case)]
    if lead.cause in SIZED and case.is_blind and case.said is None:
        names.append(ESTIMATE)
    found = [*lead.open, *names, *(causes.CAUSES[one.cause] for one in rivals if one.is_settled)]
    return tuple(dict.fromkeys(found or [causes.CAUSES[one.cause] for one in rivals[:1]]))


RIVALS: dict[str, tuple[str, ...]] = {
    causes.REACHED: (causes.MANUAL, causes.WINDOW),
    causes.REFILLED: (causes.MANUAL, causes.WINDOW),
    causes.ONE_MESSAGE: (causes.MANUAL, causes.FALLBACK),
    causes.OVERHEAD: (causes.MANUAL, causes.WINDOW),
    causes.RETAINED: (causes.MANUAL,),
    causes.MEDIA: (causes.CACHE,),
    causes.FALLBACK: (causes.CACHE,),
    causes.WINDOW: (causes.CACHE,),
}
"""The rivals of a cause that its own figures do not rule out."""
SIZED = frozenset(
    {causes.REACHED, causes.REFILLED, causes.ONE_MESSAGE, causes.OVERHEAD, causes.RETAINED, causes.WINDOW}
)
"""Causes that rest on the size of a context: without a usage, or a figure of the recorder's, that is only estimated."""


def _not_manual(case: Case) -> str:
    """It is no compaction, the recorder says auto, the agent was at work, or the threshold had just been passed."""
    if case.compaction is None:
        return "it is no compaction"
    if case.trigger == "auto":
        return "the record says that it was automatic"
    if not case.is_idle:
        return "the agent was at work"
    limit = case.met
    just = limit is not None and case.peak_before < limit <= case.true <= (1 + OVERSHOOT) * limit
    return f"{case.true:,} tokens are the first over {limit:,}" if just else ""


def _not_window(case: Case) -> str:
    """The window is recorded, shown by a larger context, or that of the model, and nothing speaks for another."""
    return case.window_words if case.window_is_known else ""


def _not_fallback(case: Case) -> str:
    limit = case.error.limit if case.error is not None else None
    return f"the refusal names {limit:,}" if limit else _not_window(case)


def _not_cache(case: Case) -> str:
    """The usage is what the text makes: nothing is left out of it."""
    return "" if case.is_partial else f"the usage is not far under the text sent, {case.text:,} tokens"


CONTRADICTED: dict[str, Callable[[Case], str]] = {
    causes.MANUAL: _not_manual,
    causes.WINDOW: _not_window,
    causes.FALLBACK: _not_fallback,
    causes.CACHE: _not_cache,
}
"""By rival: the figure or mark of the file that contradicts it at a point, in words; "" where none does."""
