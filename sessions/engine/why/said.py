"""What failed a request, in its own words: quoted, and what they mean where they name a cause (verdicts 3.17)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.why.causes import CHANGES, GREW

if TYPE_CHECKING:
    from sessions.engine.transcript.types import ProviderError

MOST_QUOTED = 120
_LEAD = re.compile(r"^\W*(?:(?:execution failed|api error|[a-z]*error(?: (?!code)[a-z-]+){0,5}): *)+", re.IGNORECASE)
"""What clients put before the words of whoever refused."""
_TAG = re.compile(r"</?[a-z-]+>")
_ADDED_UP = re.compile(r"_tokens_limit of (\d+) \(\w+=(\d+)\)")
_GREW = re.compile(r"\bfrom (\d[\d,]{3,}) to (\d[\d,]{3,})\b")


class Meaning(NamedTuple):
    """What an error's words say, in a clause, and what to do about it."""

    pattern: re.Pattern[str]
    because: str
    advice: str


def _meaning(pattern: str, because: str, advice: str) -> Meaning:
    return Meaning(re.compile(pattern, re.IGNORECASE), because, advice)


MEANINGS = (
    _meaning(
        r"extra usage|billing|credit balance|insufficient.{0,20}(?:quota|funds|balance)|payment"
        r"|not (?:in|on) your plan",
        "the plan does not cover it", "Enable it in the plan, or choose a model that the plan covers.",
    ),
    _meaning(
        r"inflat|increased from|(?:larger|longer|bigger) than (?:the )?(?:original|before)|not beneficial"
        r"|(?:did|does) not (?:reduce|shrink)",
        "the summary was no smaller than what it was to replace", CHANGES[GREW],
    ),
    _meaning(r"cancel+ed|aborted|interrupted by", "it was broken off", ""),
    _meaning(r"^compaction started$", "it began and never ended", ""),
    _meaning(
        r"UsageLimitExceeded|\b(?:input|output|total)_tokens_limit\b", "the run's own limit on added-up usage was met",
        "Raise the limit that the run was given, or do the work in several runs.",
    ),
    _meaning(
        r"rate.?limit|too many requests|\b429\b|quota|(?:usage|session|weekly|daily) limit"
        r"|hit your limit|tokens per minute",
        "a limit on use was met", "Wait until the limit resets.",
    ),
    _meaning(
        r"high demand|overloaded|at capacity|\b5(?:02|03|29)\b|unavailable|try again later",
        "the service was overloaded", "Try again later.",
    ),
    _meaning(
        r"time.?out|timed out|network|connection|socket|stream (?:disconnected|closed|ended|error)|ECONN|fetch failed"
        r"|terminated|broken pipe|premature",
        "the connection broke", "Try again on a stable connection.",
    ),
    _meaning(
        r"\b40[13]\b|unauthori[sz]ed|authentication|api key|(?:key|token) (?:has )?expired|forbidden|not logged in",
        "the sign-in was refused", "Sign in again.",
    ),
    _meaning(
        r"model.{0,60}(?:not found|not supported|does not exist|not available)|unknown model|no such model",
        "the model was not to be had", "Choose a model that the provider offers.",
    ),
    _meaning(
        r"empty (?:summary|response|reply)|(?:no|without) (?:summary|content|text)", "no summary came back",
        "Compact with another model.",
    ),
    _meaning(
        r"max_tokens|max_completion_tokens|invalid.{0,40}(?:request|param|value|argument)|unsupported|not (?:a )?valid",
        "the request was not accepted as it was made", "Update the agent, or change the setting that the error names.",
    ),
)  # fmt: skip
"""The first that fits counts."""


def meaning_of(words: str) -> Meaning | None:
    """What the words of an error say beside any size; None where they name no cause that is known."""
    return next((one for one in MEANINGS if one.pattern.search(words)), None)


def figures_of(error: ProviderError) -> str:
    """What its words say was passed, or that a compaction made its list larger, in a clause; "" without figures."""
    if found := _ADDED_UP.search(error.words):
        return f"{int(found[2]):,} of {int(found[1]):,} tokens: "
    grown = _GREW.search(error.words)
    before, after = (int(figure.replace(",", "")) for figure in grown.groups()) if grown else (0, 0)
    return f"{before:,} tokens became {after:,}: " if before < after else ""


def quoted(error: ProviderError) -> str:
    """Its own words between quotes, 120 characters at most; "" where none are kept."""
    said = _TAG.sub(" ", error.words).strip()
    said = _LEAD.sub("", said).strip() or said
    cut = said if len(said) <= MOST_QUOTED else f"{said[: MOST_QUOTED - 1].rstrip()}…"
    return f'"{cut}"' if cut else ""
