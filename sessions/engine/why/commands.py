"""A command to compact that somebody typed, and that nothing followed (verdicts 3.39)."""

from __future__ import annotations

import re

from sessions.engine.transcript.types import Role
from sessions.engine.why.case import COMPACTION, Case

COMMAND = re.compile(r"/(?:compact|compress|condense|summarize)\b")


def in_vain(case: Case) -> str:
    """The command that was typed since the last answer, and that no compaction followed, in a clause; else ""."""
    compactions, messages = case.weighed.transcript.compactions, case.weighed.transcript.messages
    if case.what == COMPACTION or (case.error and case.error.of_compaction):
        return ""
    if case.previous not in (*compactions[-1:], None):
        return ""
    typed = (messages[i].preview for i in range(case.tail.start, len(messages)) if messages[i].role is Role.USER)
    given = next((found[0] for preview in typed if (found := COMMAND.match(preview))), "")
    return f"{given} was typed, and no compaction followed" if given else ""
