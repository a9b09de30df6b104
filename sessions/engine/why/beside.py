"""What an agent counts of a context beside the usage that was reported: Codex's stored reasoning (policies 6.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.agent import Beside
from sessions.engine.types import Label
from sessions.engine.why.case import Evidence

if TYPE_CHECKING:
    from sessions.engine.why.case import Case


def beside(case: Case) -> Beside:
    """Tokens that the agent adds to the last usage; none where no usage was reported."""
    return case.once("beside", lambda: _beside(case)) if case.usage is not None else Beside()


def figure_of(case: Case) -> int:
    """The larger of what the gate saw and what was true, with what the agent counts beside it, in tokens."""
    return max(case.saw or 0, case.true) + beside(case).tokens


def beside_rows(case: Case) -> tuple[Evidence, ...]:
    """The same as a row, which says whether it is an estimate."""
    tokens, estimated = beside(case)
    if not tokens:
        return ()
    text = f"{case.agent.label} also counts {tokens:,} tokens of reasoning of earlier turns"
    text += ", estimated by usage: the file lacks it" if estimated else ""
    label = Label.ESTIMATED.value if estimated else "rule"
    return (Evidence(text, case.request, None, tokens, "tokens", label),)


def _beside(case: Case) -> Beside:
    messages = case.weighed.transcript.messages
    listed = [messages[i] for i in (*case.kept, *range(case.start, case.stop))]
    return case.agent.beside(listed, case.shared.reported)
