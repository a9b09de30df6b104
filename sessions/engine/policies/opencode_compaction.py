"""opencode's compaction, version 1: the head becomes a summary, the newest turns stay (policies 8.1, 8.3).

anomalyco/opencode ``packages/opencode/src/session/overflow.ts`` and ``compaction.ts``.  The last reply's tokens in full
against what is usable: ``input − reserved`` where the model limits the input, else ``context − output``.  The newest
two turns stay within min(15,000, max(2,000, a quarter of the usable)) tokens, a turn that does not fit is split; what
is before becomes a summary, which updates an earlier one, followed by the tail and a synthetic prompt to go on.  After
an overflow that the provider reported, the last prompt is sent again, its media replaced, in place of that prompt.

Earlier releases: 8,000 in place of 15,000 (``recent_cap``), and before that no tail (``tail_turns`` 0).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies import _opencode
from sessions.engine.policies._lists import apart, last_spent, prompts
from sessions.engine.policies.edits import drop_media
from sessions.engine.policies.params import Told, param, when
from sessions.engine.policies.policy import MAY_START_WITH_A_REPLY, Draft, Gate, Item, Policy, View

if TYPE_CHECKING:
    from sessions.engine.models.model_info import ModelInfo

GO_ON = "Go on with the next steps, or stop and ask where it is unclear how to proceed."
GO_ON_TOKENS = 20
MEDIA = "[Attached media]"


@dataclass(frozen=True, slots=True)
class Params(Told):
    """Limits of the model, and what stays."""

    max_output: int | None = _opencode.max_output_param()
    input_limit: int | None = _opencode.input_limit_param()
    reserved: int | None = when(
        None, "Reserved", "Under an input limit; none: min(20,000, output)", "tokens", 0, 1_000_000, 1_000
    )
    tail_turns: int = param(2, "Turns kept", "0: earlier releases, no tail", "turns", 0, 100)
    preserve_recent_tokens: int | None = param(
        None, "Tokens kept", "None: min(recent cap, max(2,000, a quarter of the usable))", "tokens", 0, 1_000_000, 500
    )
    recent_cap: int = param(15_000, "Recent cap", "8,000 in earlier releases", "tokens", 0, 1_000_000, 500)


def usable(params: Params, window: int, model: ModelInfo) -> int:
    """Tokens that may be used before it overflows."""
    output = _opencode.output_tokens(params.max_output, model)
    context, limit = _opencode.limits(params.input_limit, window, model)
    return _opencode.usable(context, output, limit, params.reserved)


def gate(params: Params, view: View) -> Gate:
    """Input, cache and output of the last reply ≥ usable; without usage the estimate of the whole context."""
    measure, limit = last_spent(params, view, view.size + view.overhead), usable(params, view.window, view.model)
    fires = measure >= limit or view.rejected
    reason = "tokens of the last reply" if measure >= limit or not fires else "the provider refuses: over the window"
    return Gate(fires, reason, measure, limit, ">=", "tokens")


def recent_budget(params: Params, limit: int) -> int:
    """Tokens of the tail."""
    if params.preserve_recent_tokens is not None:
        return params.preserve_recent_tokens
    return min(params.recent_cap, max(2_000, limit // 4))


def edit(params: Params, view: View) -> list[Item]:
    """Summary, tail, and a prompt to go on, or the last prompt again after a refusal."""
    system, rest = apart(view.items)
    limit = usable(params, view.window, view.model)
    again: list[Item] = []
    if view.rejected and (typed := prompts(rest)) and typed[-1] > 0:
        again = [drop_media(view, rest[typed[-1]], MEDIA)]
        head, tail = [item for n, item in enumerate(rest) if n != typed[-1]], list[Item]()
    else:
        start = _opencode.tail_start(rest, params.tail_turns, recent_budget(params, limit))
        cut = len(rest) if start is None else start
        head, tail = rest[:cut], rest[cut:]
    if not head:
        return list(view.items)
    mode = "merge" if view.state.last_summary else "fresh"
    summary = view.summarize(head, mode=mode, role="assistant")
    last = again or [view.tools.draft(Draft(GO_ON, GO_ON_TOKENS, GO_ON))]
    return [*system, *summary, *tail, *last]


POLICY = Policy(
    name="opencode_compaction", label="opencode compaction (V1)",
    source="anomalyco/opencode packages/opencode/src/session/overflow.ts, compaction.ts",
    help="Summarises all but the newest two turns when the last reply's tokens reach what is usable.",
    estimator="opencode",
    params=Params, gate=gate, edit=edit,
    threshold_param="reserved", tier="golden", caveats=(MAY_START_WITH_A_REPLY,),
)  # fmt: skip
