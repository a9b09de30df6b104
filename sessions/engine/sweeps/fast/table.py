"""Which policies a sweep may jump with, by what they do: their gate and their edit."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from sessions.engine.policies import (
    _parametric,
    anthropic_api,
    anthropic_on_demand,
    buzz_handoff,
    claude_code,
    cline_agentic,
    codex,
    compression,
    copilot_chat,
    crush,
    gemini_compression,
    goose,
    inspect_summary,
    langchain_clear_tool_uses,
    langchain_summarization,
    none,
    openai_compact_threshold,
    opencode_compaction,
    opencode_compaction_v2,
    pi,
    roo_code,
)
from sessions.engine.policies._claude_ladder import DEFAULT_MAX_OUTPUT, WRITTEN, ladder
from sessions.engine.policies._parametric import CUTS
from sessions.engine.sweeps.fast import (
    part_background,
    part_cline,
    part_codex,
    part_gemini,
    part_handoff,
    part_langchain,
    part_opencode,
    part_pi,
    part_summary,
    part_tail,
)
from sessions.engine.sweeps.fast.clearing import Clearing, by_api, by_langchain
from sessions.engine.sweeps.fast.jump import Jump
from sessions.engine.sweeps.fast.part import Partial
from sessions.engine.sweeps.fast.put_back import PutBack
from sessions.engine.sweeps.fast.track import track_of
from sessions.engine.sweeps.fast.whole import Measure, Whole
from sessions.engine.types import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.model_info import ModelInfo
    from sessions.engine.policy import Policy


def parametric(params: Any, window: int) -> Jump | None:
    """How a sweep may jump: one threshold on the context, everything but the newest replaced or dropped."""
    limits = [params.share, params.tokens, params.reserve]
    others = (params.kilobytes, params.messages, params.turns, params.idle_minutes, params.reclaim,
              params.remaining_calls, params.target)  # fmt: skip
    plain = params.counted == "context" and params.moment == "mid-turn" and not params.min_messages
    whole = params.edit in CUTS and not params.keep_first and params.merge == "off"
    if not (plain and whole) or sum(v is not None for v in limits) != 1 or any(v is not None for v in others):
        return None
    if params.keep_unit in {"turns", "replies"} or params.summary_cap is not None or params.capacity == "effective":
        return None
    limit = params.tokens
    if params.share is not None:
        limit = int(window * params.share) // 100
    elif params.reserve is not None:
        limit = window - params.reserve
    by_messages = params.keep_unit == "messages"
    return Jump(
        limit, params.operator,
        keep_messages=params.keep_last if by_messages else None,
        keep_tokens=None if by_messages else params.keep_last,
        inserted=0 if params.edit == "truncate" else None,
        breaker=params.breaker,
    )  # fmt: skip


def claude(params: Any, window: int, known: Facts) -> Whole | None:
    """Claude Code's ladder and its full compaction, where no other layer acts and no notes are kept."""
    idle = params.micro == "off" and params.reactive == "off" and params.session_memory == "off"
    uncut = params.result_chars is None and params.message_chars is None
    if not (idle and uncut) or params.usage != "recorded" or params.auto != "on":
        return None
    if not known.is_plain or (params.max_output is None and len(known.max_outputs) > 1):
        return None
    max_output = params.max_output
    if max_output is None:
        max_output = min(known.max_outputs) or DEFAULT_MAX_OUTPUT
    steps = ladder(params, window, max_output)
    return Whole(
        min(steps.compact, steps.blocked),
        Measure("claude_code", tail=params.tail == "on", written=params.output == WRITTEN),
        PutBack(params.max_files, params.file_tokens, params.files_budget, params.skill_tokens, params.skills_budget),
        params.breaker, params.rapid_refills, params.rapid_turns,
    )  # fmt: skip


def never(params: Any, window: int) -> Jump:
    """No compaction: no context reaches the threshold."""
    del params, window
    return Jump(sys.maxsize, keep_messages=1, inserted=0)


Rule = Jump | Whole | Partial | Clearing
"""How a policy may be jumped over."""


class Facts(NamedTuple):
    """What decides on a session: windows and maximum outputs of its models; whether the list is ever more than shown.

    ``is_plain``: no client counted what is not in the file, and no compaction put tool calls or results back.
    """

    windows: frozenset[int]
    max_outputs: frozenset[int]
    is_plain: bool


_FACTS: WeakKeyDictionary[Weighed, Facts] = WeakKeyDictionary()


def know_facts(weighed: Weighed, facts: Facts) -> None:
    """Take the facts of a session as they were found before."""
    _FACTS[weighed] = facts


def facts_of(weighed: Weighed) -> Facts:
    """What decides on a session, found once."""
    if weighed not in _FACTS:
        transcript, kinds = weighed.transcript, (Kind.TOOL_USE, Kind.TOOL_RESULT)
        made = (m for m in transcript.messages if m.compaction is not None)
        tools = any(block.kind in kinds for message in made for block in message.blocks)
        unseen = any(compaction.unseen for compaction in transcript.compactions)
        _FACTS[weighed] = Facts(
            frozenset(held.window for held in weighed.held), frozenset(held.model.max_output for held in weighed.held),
            not tools and not unseen,
        )  # fmt: skip
    return _FACTS[weighed]


_MODELS: WeakKeyDictionary[Weighed, ModelInfo | None] = WeakKeyDictionary()


def model_of(weighed: Weighed) -> ModelInfo | None:
    """The model of all requests; None where it changes."""
    if weighed not in _MODELS:
        models = list({id(held.model): held.model for held in weighed.held}.values())
        _MODELS[weighed] = models[0] if all(model == models[0] for model in models) else None
    return _MODELS[weighed]


def crushed(params: Any, window: int, known: Facts) -> Whole | None:
    """crush: what is left of the window against what has to be."""
    plain = params.usage == "recorded" and known.is_plain
    return Whole(crush.threshold(params, window), Measure(crush.POLICY.estimator)) if plain else None


def by_context(name: str) -> Callable[[Any, int, Facts], Whole | None]:
    """A server that replaces the whole list where the context reaches a figure, the parameter ``name``."""

    def rule(params: Any, window: int, known: Facts) -> Whole | None:
        del window, known
        if getattr(params, "pause_after_compaction", "off") == "on":
            return None
        over = getattr(params, "crosses", "reached") == "exceeded"
        return Whole(getattr(params, name) + over, Measure("tiktoken_o200k", context=True))

    return rule


def steps_of(policy: Policy) -> tuple[tuple[Any, Any], ...]:
    """What a policy does: the gates that it asks, in order, each with its edit."""
    return tuple((layer.gate, layer.edit) for layer in policy.pipeline)


WHOLE: dict[tuple[tuple[Any, Any], ...], Callable[[Any, int, Facts], Whole | None]] = {
    steps_of(claude_code.POLICY): claude,
    steps_of(crush.POLICY): crushed,
    steps_of(anthropic_api.COMPACT): by_context("trigger"),
    steps_of(openai_compact_threshold.POLICY): by_context("compact_threshold"),
}
"""The same of policies that leave a summary of everything, by all their gates and edits."""

PARTS: dict[tuple[tuple[Any, Any], ...], Callable[[Any, int, ModelInfo | None], Partial | None]] = {
    steps_of(codex.LOCAL): part_codex.local,
    steps_of(codex.REMOTE): part_codex.remote,
    steps_of(opencode_compaction.POLICY): part_opencode.first_version,
    steps_of(opencode_compaction_v2.POLICY): part_opencode.second_version,
    steps_of(pi.POLICY): part_pi.rule,
    steps_of(langchain_summarization.POLICY): part_langchain.rule,
    steps_of(cline_agentic.POLICY): part_cline.agentic,
    steps_of(gemini_compression.POLICY): part_gemini.rule,
    steps_of(roo_code.POLICY): part_handoff.roo,
    steps_of(anthropic_api.SDK): part_handoff.sdk,
    steps_of(goose.POLICY): part_summary.by_goose,
    steps_of(inspect_summary.POLICY): part_summary.by_inspect,
    steps_of(anthropic_on_demand.ON_DEMAND): part_summary.on_demand,
    steps_of(anthropic_on_demand.BACKGROUND): part_background.background,
    steps_of(buzz_handoff.POLICY): part_handoff.buzz,
}
"""The same of policies that leave a part of the list; the model is None where it changes."""

CLEARS: dict[tuple[tuple[Any, Any], ...], Callable[[Any], Clearing | None]] = {
    steps_of(anthropic_api.USES): by_api,
    steps_of(langchain_clear_tool_uses.POLICY): by_langchain,
}
"""The same of policies that clear old results at every request."""

RULES: dict[tuple[Any, Any], Callable[[Any, int], Jump | None]] = {
    (_parametric.gate, _parametric.edit): parametric,
    (none.gate, none.edit): never,
}
"""By gate and edit: what a policy's parameters and a window in tokens come to as a jump, None where they do not."""


TAILS: dict[tuple[tuple[Any, Any], ...], Callable[[Any, int, int], Partial | None]] = {
    steps_of(copilot_chat.POLICY): part_tail.copilot,
    steps_of(compression.ANCHORED): part_tail.skill,
    steps_of(compression.OPAQUE): part_tail.skill,
    steps_of(compression.REGENERATIVE): part_tail.skill,
    ((_parametric.gate, _parametric.edit),): part_tail.parametric,
}
"""The same of policies that leave the newest messages, by parameters, window and overhead in tokens."""


def jump_of(weighed: Weighed, policy: Policy, params: Any, window: int | None) -> Rule | None:
    """How a sweep may jump between this policy's compactions over a session; None where it has to replay it.

    ``window`` None is the session's own, which does not jump where a change of model changes it.
    """
    if window is None and len(facts_of(weighed).windows) > 1:
        return None
    if track_of(weighed) is None:
        return None
    size = window or weighed.window
    whole = WHOLE.get(steps_of(policy))
    if whole is not None:
        return whole(params, size, facts_of(weighed))
    part = PARTS.get(steps_of(policy))
    if part is not None:
        return part(params, size, model_of(weighed))
    clears = CLEARS.get(steps_of(policy))
    if clears is not None:
        return clears(params)
    rule = RULES.get((policy.gate, policy.edit))
    jump = rule(params, size) if rule else None
    tail = TAILS.get(steps_of(policy))
    return tail(params, size, weighed.overhead) if jump is None and tail else jump
