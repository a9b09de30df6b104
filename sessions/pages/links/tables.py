"""The figures of a link as rows, for CSV and JSON lines: requests of a replay or session, lines of one compaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine.replays.diff import diff_lists
from sessions.pages.diff.compared import compared
from sessions.pages.links.redaction import cleaned
from sessions.runs import replays
from sessions.runs.handout import row_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessions.pages.links.opened import Opened

REQUESTS = ("request", "recorded_tokens", "tokens", "compaction")
LINES = ("message", "op", "role", "kinds", "tokens_before", "tokens_after")
COLUMNS = {"session": REQUESTS[:2], "replay": REQUESTS, "diff": LINES}
"""By view. Tokens are of the whole context, requests and messages count from 0, compactions from 1."""


def rows(opened: Opened) -> Iterator[dict[str, Any]]:
    """One row for each request, or for each line of the compaction that the link shows alone."""
    return _lines(opened) if opened.alone else _requests(opened)


def _requests(opened: Opened) -> Iterator[dict[str, Any]]:
    recorded = replays.as_sent(opened.session.pk).replay.context_tokens
    if opened.link.view == "session":
        yield from ({"request": at, "recorded_tokens": tokens} for at, tokens in enumerate(recorded))
        return
    ran = replays.run(opened.session.pk, opened.setting).replay
    numbers = {event.request: event.index + 1 for event in ran.events}
    for at, (before, tokens) in enumerate(zip(recorded, ran.context_tokens, strict=True)):
        yield {"request": at, "recorded_tokens": before, "tokens": tokens, "compaction": numbers.get(at)}


def _lines(opened: Opened) -> Iterator[dict[str, Any]]:
    two = compared(opened.session.pk, opened.senders)
    for row in diff_lists(two.before, two.after, two.first.weighed) if two else ():
        found = row_document(row)
        yield {
            "message": found["message"],
            "op": found["op"],
            "role": cleaned(found["role"], opened.choice),
            "kinds": " ".join(found["kinds"]),
            "tokens_before": found["before"],
            "tokens_after": found["after"],
        }
